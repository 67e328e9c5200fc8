// Package engine answers questions about tables: the selection language, the
// questions, the embedded column kernel, and ClickHouse beyond one machine.
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
//   - clickhouse: runs kept on one server or on the shards of a cluster, and the
//     same questions as SQL
package engine
