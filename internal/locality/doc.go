// Package locality says how far apart the uses of data lie, what another
// machine, layout or order would make of the same references, and which lines
// threads fight for.
//
// In: streams of references, their objects and types, descriptions of machines.
//
// Out: reuse distances and what follows from them (derived); misses, gains and
// shared lines (modelled), always with the machine they belong to.
//
// Imported by: app and the commands.
//
//   - reuse: distances, histograms and the one pass over a trace
//   - layout: objects, their elements and fields, and where each came from
//   - platform: caches and TLBs of a machine: from a topology, a preset, by hand
//   - replay: the references through a machine, with addresses or order changed
//   - advice: which changes to try, their rank, their text and code
//   - views: what pictures of a replay show, for any selection of references
//   - answer: the shapes in which commands and the page get all that
//   - sharing: lines that several threads use, over all schedules
package locality
