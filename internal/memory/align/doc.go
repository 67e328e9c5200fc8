// Package align says what in one run is the same thing as what in another: files,
// functions, lines, data objects and threads, although paths, names, numbers and
// addresses differ. It is made once for a pair of runs, and nothing else compares
// names of two runs.
//
//   - text.go, function.go, lines.go: lines of two versions of a source file
//   - object.go: names of data objects and threads without numbers of chance
//   - align.go: keys of groups
package align
