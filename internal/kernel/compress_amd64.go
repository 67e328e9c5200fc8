package kernel

import "golang.org/x/sys/cpu"

// hasCompress says whether the processor can pick the elements of a vector that
// a mask names (AVX-512 VBMI2: Ice Lake, Zen 4 and later).
var hasCompress = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VBMI2 && cpu.X86.HasPOPCNT

//go:noescape
func compress8(dst, src *uint8, words *uint64, n int)

//go:noescape
func compress16(dst, src *uint16, words *uint64, n int)

//go:noescape
func compress32(dst, src *uint32, words *uint64, n int)
