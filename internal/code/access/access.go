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

// Flow says what runs after an instruction.
type Flow uint8

// The flows that recorders look at. All but Straight end a block of code.
const (
	Straight Flow = iota // the next instruction
	Call
	Return
	Jump   // always elsewhere
	Branch // elsewhere or the next instruction
)

// FlowARM64 says what runs after an instruction of AArch64.
func FlowARM64(word uint32) Flow {
	switch {
	case word&0xfc000000 == 0x94000000, // BL
		word&0xfffffc1f == 0xd63f0000, word&0xfefff800 == 0xd63f0800: // BLR, BLRAA and its kind
		return Call
	case word&0xfffffc1f == 0xd65f0000, word&0xfffffbff == 0xd65f0bff: // RET, RETAA, RETAB
		return Return
	case word&0xfc000000 == 0x14000000, // B
		word&0xfffffc1f == 0xd61f0000, word&0xfefff800 == 0xd61f0800: // BR, BRAA and its kind
		return Jump
	case word&0xff000000 == 0x54000000, word&0x7e000000 == 0x34000000, word&0x7e000000 == 0x36000000: // B.cond, CBZ, TBZ
		return Branch
	}
	return Straight
}

// Vectors gives the vector and mask registers of a thread. Only gathers,
// scatters and masked moves ask for them.
type Vectors interface {
	// Vector returns register n, its low bytes first.
	Vector(n int) [64]byte
	// Mask returns mask register n of AVX-512.
	Mask(n int) uint64
}
