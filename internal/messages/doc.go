// Package messages explains message-passing traces: who was late, in which
// logical step, and why.
//
// In: OTF2 archives, and traces of other formats made into one.
//
// Out: operations, messages, partitions, steps, lateness (logical/metrics.go),
// causes, pictures of timelines.
//
// Imported by: app and the commands.
//
//   - trace: operations and messages of an archive
//   - logical: partitions, steps, metrics, causes, comparisons
//   - whatif: the run again with changed durations
//   - timeline: windows of a trace at the resolution of a screen
//   - exchange: traces for Paraver, CTF and viewers of timelines
//   - mpiprog: small MPI programs with known answers, for tests
package messages
