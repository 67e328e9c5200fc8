package unwind

import (
	"encoding/binary"

	"golang.org/x/arch/x86/x86asm"
)

// Code that is in no file has no tables. What it still does before it returns may
// be plain to see, though: instructions that give its stack back, and the return.
// The processor is about to run just these, so they say where the caller is. Short
// functions between an interpreter and its program, as CPython makes one for each
// of its functions, are all like that.

// leaving is how many instructions are looked at before the return, longestLeaving
// how many bytes they may have.
const (
	leaving        = 12
	longestLeaving = 64
)

// leave goes to the caller of generated code. False leaves the frame as it was.
func (f *frame) leave(code []byte) bool {
	out := *f
	run := out.leaveX86
	if f.machine == arm {
		run = out.leaveARM
	}
	code = code[:min(len(code), longestLeaving)]
	for range leaving {
		size, returned, ok := run(code)
		if !ok {
			return false
		}
		if returned {
			out.cfa, _ = out.get(out.sp)
			*f = out
			return out.pc != 0
		}
		code = code[size:]
	}
	return false
}

// x86Numbers are those that tables give to registers, in the order of their encoding.
var x86Numbers = [...]int{0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15}

func x86Number(a x86asm.Arg) (int, bool) {
	r, ok := a.(x86asm.Reg)
	if !ok || r < x86asm.RAX || r > x86asm.R15 {
		return 0, false
	}
	return x86Numbers[r-x86asm.RAX], true
}

// leaveX86 does what an instruction of an epilogue does, and nothing else.
func (f *frame) leaveX86(code []byte) (size int, returned, ok bool) {
	in, err := x86asm.Decode(code, 64)
	if err != nil {
		return 0, false, false
	}
	sp, known := f.get(f.sp)
	if !known {
		return 0, false, false
	}
	switch first, isReg := x86Number(in.Args[0]); {
	case in.Op == x86asm.NOP:
		return in.Len, false, true
	case in.Op == x86asm.ADD && isReg && first == f.sp:
		n, ok := in.Args[1].(x86asm.Imm)
		f.set(f.sp, sp+uint64(n))
		return in.Len, false, ok && n > 0
	case in.Op == x86asm.POP && isReg && first != f.sp:
		v, stop := f.load(sp, wordBytes)
		f.set(first, v)
		f.set(f.sp, sp+wordBytes)
		return in.Len, false, stop == None
	case in.Op == x86asm.LEAVE:
		const rbp = 6
		at, ok := f.get(rbp)
		v, stop := f.load(at, wordBytes)
		f.set(rbp, v)
		f.set(f.sp, at+wordBytes)
		return in.Len, false, ok && at >= sp && stop == None
	case in.Op == x86asm.RET && in.Args[0] == nil:
		v, stop := f.load(sp, wordBytes)
		f.pc = v
		f.set(f.sp, sp+wordBytes)
		f.set(f.address, v)
		return in.Len, true, stop == None
	}
	return 0, false, false
}

// Instructions of the epilogue that compilers for ARM make: LDP x29, x30, [sp], #n
// with n in words, in seven bits, and RET.
const (
	armLoadPair     = 0xa8c07bfd
	armLoadPairMask = 0xffc07fff
	armReturn       = 0xd65f03c0
	armNop          = 0xd503201f
)

func (f *frame) leaveARM(code []byte) (size int, returned, ok bool) {
	const fp, lr, bytes = 29, 30, 4
	if len(code) < bytes {
		return 0, false, false
	}
	sp, known := f.get(f.sp)
	switch word := binary.LittleEndian.Uint32(code); {
	case !known:
	case word == armNop:
		return bytes, false, true
	case word&armLoadPairMask == armLoadPair:
		n := word >> 15 & 0x7f * wordBytes
		a, stop := f.load(sp, wordBytes)
		b, more := f.load(sp+wordBytes, wordBytes)
		f.set(fp, a)
		f.set(lr, b)
		f.set(f.sp, sp+uint64(n))
		return bytes, false, stop == None && more == None && n >= 2*wordBytes && n < 64*wordBytes
	case word == armReturn:
		v, ok := f.get(lr)
		f.pc = v
		return bytes, true, ok
	}
	return 0, false, false
}
