// Package engine answers questions about tables: the selection language, the
// questions, and the embedded column kernel.
//
// In: tables, selections as text, questions.
//
// Out: counts, sums, densities, quantiles, groups, rows.
//
// Imported by: memory, domain and app.
//
//   - query: the language and the questions; naive says what is right,
//     enginetest compares any engine with it
//   - kernel: codes, bitsets, pair matrices, prefix-sum cubes
package engine
