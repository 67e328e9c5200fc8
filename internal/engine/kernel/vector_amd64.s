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

// func compare8(out *uint64, codes *uint8, n int, from, length uint8)
//
// Sets a bit for each of 64 n codes with from <= code <= from + length: the
// distance from the first, as a number without sign, is at most the length.
TEXT ·compare8(SB), NOSPLIT, $0-26
	MOVQ out+0(FP), DI
	MOVQ codes+8(FP), SI
	MOVQ n+16(FP), CX
	VPBROADCASTB from+24(FP), Y0
	VPBROADCASTB length+25(FP), Y1

nextCompare:
	VMOVDQU (SI), Y2
	VMOVDQU 32(SI), Y3
	VPSUBB Y0, Y2, Y2
	VPSUBB Y0, Y3, Y3
	VPMINUB Y1, Y2, Y4
	VPMINUB Y1, Y3, Y5
	VPCMPEQB Y2, Y4, Y4
	VPCMPEQB Y3, Y5, Y5
	VPMOVMSKB Y4, AX
	VPMOVMSKB Y5, DX
	SHLQ $32, DX
	ORQ DX, AX
	MOVQ AX, (DI)
	ADDQ $64, SI
	ADDQ $8, DI
	DECQ CX
	JNZ nextCompare
	VZEROUPPER
	RET

// The sums of a group are one vector: a count of rows below a sum of values in
// the low half, the sum of their squares in the high one. Four values v become
// four such vectors, v << countBits + 1 beside v * v, and each is added to that
// of its group.

DATA ones<>+0(SB)/8, $1
DATA ones<>+8(SB)/8, $1
DATA ones<>+16(SB)/8, $1
DATA ones<>+24(SB)/8, $1
GLOBL ones<>(SB), RODATA|NOPTR, $32

#define SPREAD \
	VPMOVZXDQ (DX), Y0     \ // four values
	VPMULUDQ Y0, Y0, Y1    \ // squares
	VPSLLQ $21, Y0, Y0     \ // countBits
	VPADDQ Y7, Y0, Y0      \
	VPUNPCKLQDQ Y1, Y0, Y2 \ // those of rows 0 and 2
	VPUNPCKHQDQ Y1, Y0, Y3 \ // those of rows 1 and 3
	VEXTRACTI128 $1, Y2, X4 \
	VEXTRACTI128 $1, Y3, X5

#define ADD \
	ADDQ R8, R8               \ // 16 bytes are two times eight
	ADDQ R9, R9               \
	ADDQ R10, R10             \
	ADDQ R11, R11             \
	VPADDQ (DI)(R8*8), X2, X2 \
	VMOVDQU X2, (DI)(R8*8)    \
	VPADDQ (DI)(R9*8), X3, X3 \
	VMOVDQU X3, (DI)(R9*8)    \
	VPADDQ (DI)(R10*8), X4, X4 \
	VMOVDQU X4, (DI)(R10*8)   \
	VPADDQ (DI)(R11*8), X5, X5 \
	VMOVDQU X5, (DI)(R11*8)

// func sum8(t *packed, groups *uint8, values *uint32, n int)
//
// Adds 4 n values.
TEXT ·sum8(SB), NOSPLIT, $0-32
	MOVQ t+0(FP), DI
	MOVQ groups+8(FP), SI
	MOVQ values+16(FP), DX
	MOVQ n+24(FP), CX
	VMOVDQU ones<>(SB), Y7

nextSum8:
	SPREAD
	MOVBLZX (SI), R8
	MOVBLZX 1(SI), R9
	MOVBLZX 2(SI), R10
	MOVBLZX 3(SI), R11
	ADD
	ADDQ $4, SI
	ADDQ $16, DX
	DECQ CX
	JNZ nextSum8
	VZEROUPPER
	RET

// func sum16(t *packed, groups *uint16, values *uint32, n int)
//
// Adds 4 n values.
TEXT ·sum16(SB), NOSPLIT, $0-32
	MOVQ t+0(FP), DI
	MOVQ groups+8(FP), SI
	MOVQ values+16(FP), DX
	MOVQ n+24(FP), CX
	VMOVDQU ones<>(SB), Y7

nextSum16:
	SPREAD
	MOVWLZX (SI), R8
	MOVWLZX 2(SI), R9
	MOVWLZX 4(SI), R10
	MOVWLZX 6(SI), R11
	ADD
	ADDQ $8, SI
	ADDQ $16, DX
	DECQ CX
	JNZ nextSum16
	VZEROUPPER
	RET
