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
//   - foreign: what a format is, and opening what is found, packed or not
//   - known.go here: the list of them all, in the order in which files are
//     tried; door.go: Identify, and opening by kind
//   - tracecopy: what readers of message traces make OTF2 archives with
//   - compressed, delimited, tabular, xmlwalk, hdf5: what several readers
//     share
package formats
