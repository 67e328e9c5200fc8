// Package unwind finds the callers of a sample from a copy of its registers and
// of the top of its stack, by the unwind tables that compilers leave in programs
// for exceptions and debuggers.
//
// Tables holds the call frame information of one file (.eh_frame, found through
// .eh_frame_hdr where there is one, and .debug_frame) and answers with the rules
// of one instruction; Unwinder applies rules frame by frame over the mappings of
// a process. Nothing but the copied stack and registers is read, so where either
// does not suffice the chain ends early and says why.
//
// Sources: DWARF 5, sections 2.5 and 6.4; Linux Standard Base, "Exception
// Frames"; DWARF for the Arm 64-bit Architecture (pointer authentication).
// Recordings and programs are of unknown origin: every loop is bounded by the
// bytes it reads or by a constant, and damage costs callers, never the sample.
package unwind
