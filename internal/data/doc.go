// Package data is what everything is about once it has been read: typed
// columns with unit and provenance, run bundles, streams of references,
// meshes, sources.
//
// In: columns and files of readers and recorders.
//
// Out: tables, runs, references and meshes, with where each value comes from.
//
// Imported by: every area but base.
//
//   - table: columns, dictionaries, Arrow
//   - samples: the canonical columns, what they mean, when they can be used
//   - kind: samples, references, traces, meshes, topologies
//   - run: the folder NAME.isobath
//   - refs: a stream of memory references
//   - grid: cells, points and arrays of a simulation
//   - source: finding the source files of a program
//   - privacy: what a run tells about people, and runs that do not
//   - gaps: what a recording lost, and when
package data
