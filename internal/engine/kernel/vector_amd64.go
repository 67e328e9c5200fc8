package kernel

import "golang.org/x/sys/cpu"

// hasCompress says whether the processor can pick the elements of a vector that
// a mask names (AVX-512 VBMI2: Ice Lake, Zen 4 and later).
var hasCompress = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VBMI2 && cpu.X86.HasPOPCNT

// hasVectors says whether it has vectors of 32 bytes (AVX2: since 2013).
var hasVectors = cpu.X86.HasAVX2

//go:noescape
func compress8(dst, src *uint8, words *uint64, n int)

//go:noescape
func compress16(dst, src *uint16, words *uint64, n int)

//go:noescape
func compress32(dst, src *uint32, words *uint64, n int)

//go:noescape
func compare8(out *uint64, codes *uint8, n int, from, length uint8)

//go:noescape
func sum8(t *packed, groups *uint8, values *uint32, n int)

//go:noescape
func sum16(t *packed, groups *uint16, values *uint32, n int)
