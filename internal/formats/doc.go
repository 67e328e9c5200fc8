// Package formats recognises foreign files by their content and names the
// reader of each.
//
// In: files and folders of other programs: hostile until checked.
//
// Out: tables, references, archives, meshes, machines, with notes about what
// was repaired or left out.
//
// Imported by: record, messages, loops, domain, app.
//
//   - one package a format, each exporting one Format
//   - foreign: what a format is; known.go here: the list of them all, in the
//     order in which files are tried
//   - compressed, delimited, tabular, xmlwalk, hdf5: what several readers
//     share
//   - topofile, reffile: opening any description of a machine, any trace of
//     references
package formats
