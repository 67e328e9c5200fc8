// Package code says what a program counter, an instruction and the raw bits of
// a sample mean.
//
// In: executables, stacks, instruction bytes, bits that a processor recorded.
//
// Out: functions, lines, objects, callers, operands; the level that served a
// sample (datasrc).
//
// Imported by: formats, record and everything after them.
//
//   - symbol: ELF and DWARF
//   - unwind: call stacks from saved stacks
//   - access: what an instruction reads and writes
//   - datasrc: levels from data sources, bits of IBS and SPE
//   - perfevent: the records of perf_event_open
//   - spe: packets of the Arm Statistical Profiling Extension
package code
