// Package base knows nothing of the subject: files that are whole or not
// there, loops over all processors, the terminal, pictures of pixels, and what
// tests share.
//
// In: bytes, numbers, pictures.
//
// Out: the same, written, drawn or said.
//
// Imported by: everything.
//
//   - budget: the memory of the process, claimed before it is used
//   - scratch: temporary files and folders, and what killed processes left of them
//   - plainfile: files of data that are opened: no pipes, no devices
//   - wholefile: files and folders that are whole or not there
//   - term: progress, tables and colours of a terminal
//   - parallel: loops and goroutines with an owner, a context and a recover
//   - stat: laws of chance, ranks, false discoveries
//   - canvas: what pictures are drawn on; SVG
//   - raster: a canvas of pixels
//   - findings: sentences about lines of code, for editors and code hosts
//   - tracks: slices, flows, counters and samples for timeline viewers
//   - crash: what a user can attach to a report of a fault
//   - redact: command lines without their secrets
//   - test: the root of the repository, shared data, real peers
package base
