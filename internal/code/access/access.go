// Package access finds the memory accesses that one instruction makes, from
// its bytes and the registers before it runs: address, size, load or store, in
// the order in which the processor makes them.
//
// An instruction is decoded once into a few operands; working out addresses
// from registers is then cheap enough to be done at every step of a program.
package access

import "github.com/isobath/isobath/internal/data/refs"

// Access is one read or write of memory by an instruction.
type Access struct {
	Addr uint64
	Size uint32 // bytes; 0 where the instruction does not say (XSAVE)
	Op   refs.Op
}

// Flow says what an instruction does to the call stack.
type Flow uint8

// The flows that recorders look at.
const (
	Straight Flow = iota // everything else
	Call
	Return
)

// Vectors gives the vector and mask registers of a thread. Only gathers,
// scatters and masked moves ask for them.
type Vectors interface {
	// Vector returns register n, its low bytes first.
	Vector(n int) [64]byte
	// Mask returns mask register n of AVX-512.
	Mask(n int) uint64
}
