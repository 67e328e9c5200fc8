// Package memory explains sampled memory accesses: metrics, findings, command
// search, cache lines, spread, first touch, allocations, profiles, comparisons.
//
// In: tables, an engine, a machine.
//
// Out: ranked sentences, groups and windows, each with the selection that
// shows it.
//
// Imported by: app and the commands.
//
//   - guide: metrics over windows, clusters, findings
//   - command: what typed words mean
//   - align: what in one run is the same thing as what in another
//   - compare: two sides of runs, and whether they differ by more than chance
//   - trial: two commands in pairs, and whether one is slower
//   - study: many runs: how a metric grows, where it changed, which are odd
//   - resources: any column folded onto caches, nodes and CPUs
//   - assembly: the instructions of a function with their samples
//   - cacheline, spread, firsttouch, allocated, heatmap, profile: one question each
package memory
