// Package app is the program as people meet it: opening anything, serving the
// page, the printed sheet, the built-in examples.
//
// In: files and folders, requests of a browser.
//
// Out: JSON, pictures, pages.
//
// Imported by: cmd/isobath alone.
//
//   - dataset: a run or a foreign file with its machine, sources and engine
//   - refset: a trace of references with its objects and machines
//   - sides: the runs of both sides of a comparison
//   - server: the HTTP interface of the page
//   - sheet: one page about a run, to send to a colleague
//   - demo: the built-in examples
//   - agent: the same answers for agents and editors
//   - damagetest, localitytest: damaged files and recorded programs for tests
package app
