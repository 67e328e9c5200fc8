#include "textflag.h"

// Each takes n words of 64 bits that say which of 64 n elements to keep, and
// writes those one after the other. It stores whole vectors, so up to 64 bytes
// beyond the last element are overwritten.

// func compress8(dst, src *uint8, words *uint64, n int)
TEXT ·compress8(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ words+16(FP), DX
	MOVQ n+24(FP), CX

next8:
	MOVQ (DX), AX
	KMOVQ AX, K1
	VMOVDQU8 (SI), Z0
	VPCOMPRESSB.Z Z0, K1, Z1
	VMOVDQU8 Z1, (DI)
	POPCNTQ AX, AX
	ADDQ AX, DI
	ADDQ $64, SI
	ADDQ $8, DX
	DECQ CX
	JNZ next8
	VZEROUPPER
	RET

// func compress16(dst, src *uint16, words *uint64, n int)
TEXT ·compress16(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ words+16(FP), DX
	MOVQ n+24(FP), CX
	ADDQ CX, CX // 32 elements at a time

next16:
	MOVL (DX), AX
	KMOVD AX, K1
	VMOVDQU16 (SI), Z0
	VPCOMPRESSW.Z Z0, K1, Z1
	VMOVDQU16 Z1, (DI)
	POPCNTL AX, AX
	LEAQ (DI)(AX*2), DI
	ADDQ $64, SI
	ADDQ $4, DX
	DECQ CX
	JNZ next16
	VZEROUPPER
	RET

// func compress32(dst, src *uint32, words *uint64, n int)
TEXT ·compress32(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ words+16(FP), DX
	MOVQ n+24(FP), CX
	SHLQ $2, CX // 16 elements at a time

next32:
	MOVWLZX (DX), AX
	KMOVW AX, K1
	VMOVDQU32 (SI), Z0
	VPCOMPRESSD.Z Z0, K1, Z1
	VMOVDQU32 Z1, (DI)
	POPCNTL AX, AX
	LEAQ (DI)(AX*4), DI
	ADDQ $64, SI
	ADDQ $2, DX
	DECQ CX
	JNZ next32
	VZEROUPPER
	RET
