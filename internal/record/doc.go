// Package record observes a running program: sampled accesses, every reference
// of a function, or its messages.
//
// In: a command or a process.
//
// Out: a run; never harm to the program.
//
// Imported by: app and the commands.
//
//   - sampler, pmu, operand: samples by counters, or by a timer and the
//     interrupted instruction
//   - pyframe: functions of Python, read of threads that stand still
//   - heap, target: allocations and objects
//   - step, reftrace: every reference
//   - mpitrace: MPI calls to OTF2
//   - ccache: small C sources, compiled once with the user's compiler
//   - ability: what this machine allows
//   - model: levels where the hardware does not say
package record
