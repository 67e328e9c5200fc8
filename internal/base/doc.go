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
//   - wholefile: files and folders that are whole or not there
//   - term: progress, tables and colours of a terminal
//   - raster: pixels of our own drawings
//   - test: the root of the repository, shared data, real peers
package base
