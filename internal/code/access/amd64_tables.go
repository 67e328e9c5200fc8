package access

import (
	"golang.org/x/arch/x86/x86asm"

	"github.com/isobath/isobath/internal/data/refs"
)

// direction says what an instruction does with its memory operand at position
// i. The first operand is the destination in nearly all of them; the tables
// hold the others.
func direction(op x86asm.Op, i int) refs.Op {
	switch {
	// ADD EAX, [RBX] only reads; an exchange writes wherever its operand stands.
	case modifies[op] && (i == 0 || op == x86asm.XCHG):
		return refs.Modify
	case i > 0 || reads[op]:
		return refs.Load
	}
	return refs.Store
}

// general64 is the number of a register operand of any width.
func general64(r x86asm.Reg) uint8 {
	if r >= x86asm.AX && r <= x86asm.R15W {
		return uint8(r - x86asm.AX)
	}
	return general(r)
}

func stringSize(op x86asm.Op) (uint32, bool) {
	switch op {
	case x86asm.MOVSB, x86asm.CMPSB, x86asm.SCASB, x86asm.LODSB, x86asm.STOSB:
		return 1, true
	case x86asm.MOVSW, x86asm.CMPSW, x86asm.SCASW, x86asm.LODSW, x86asm.STOSW:
		return 2, true
	case x86asm.MOVSD, x86asm.CMPSD, x86asm.SCASD, x86asm.LODSD, x86asm.STOSD:
		return 4, true
	case x86asm.MOVSQ, x86asm.CMPSQ, x86asm.SCASQ, x86asm.LODSQ, x86asm.STOSQ:
		return 8, true
	}
	return 0, false
}

func set(ops ...x86asm.Op) map[x86asm.Op]bool {
	m := make(map[x86asm.Op]bool, len(ops))
	for _, op := range ops {
		m[op] = true
	}
	return m
}

// untouched have a memory operand and touch no data.
var untouched = set(x86asm.LEA, x86asm.NOP, x86asm.CLFLUSH, x86asm.INVLPG)

// modifies read their first operand and write it back.
var modifies = set(
	x86asm.ADD, x86asm.ADC, x86asm.SUB, x86asm.SBB, x86asm.AND, x86asm.OR, x86asm.XOR,
	x86asm.INC, x86asm.DEC, x86asm.NEG, x86asm.NOT,
	x86asm.SHL, x86asm.SHR, x86asm.SAR, x86asm.ROL, x86asm.ROR, x86asm.RCL, x86asm.RCR, x86asm.SHLD, x86asm.SHRD,
	x86asm.XCHG, x86asm.XADD, x86asm.CMPXCHG, x86asm.CMPXCHG8B, x86asm.CMPXCHG16B,
	x86asm.BTS, x86asm.BTR, x86asm.BTC,
)

// bitTest take a bit offset from a register that may lead out of the operand.
var bitTest = set(x86asm.BT, x86asm.BTS, x86asm.BTR, x86asm.BTC)

// reads have their memory operand first and only read it.
var reads = set(
	x86asm.CMP, x86asm.TEST, x86asm.BT, x86asm.JMP, x86asm.LCALL, x86asm.LJMP,
	x86asm.MUL, x86asm.IMUL, x86asm.DIV, x86asm.IDIV,
	x86asm.FLD, x86asm.FILD, x86asm.FBLD, x86asm.FLDCW, x86asm.FLDENV, x86asm.FRSTOR, x86asm.FXRSTOR, x86asm.FXRSTOR64,
	x86asm.FADD, x86asm.FSUB, x86asm.FSUBR, x86asm.FMUL, x86asm.FDIV, x86asm.FDIVR, x86asm.FCOM, x86asm.FCOMP,
	x86asm.FIADD, x86asm.FISUB, x86asm.FISUBR, x86asm.FIMUL, x86asm.FIDIV, x86asm.FIDIVR, x86asm.FICOM, x86asm.FICOMP,
	x86asm.LDMXCSR, x86asm.VLDMXCSR, x86asm.XRSTOR, x86asm.XRSTOR64, x86asm.XRSTORS, x86asm.XRSTORS64,
	x86asm.LGDT, x86asm.LIDT, x86asm.LLDT, x86asm.LTR, x86asm.LMSW, x86asm.VERR, x86asm.VERW,
)

// sizes are those the decoder does not give.
var sizes = map[x86asm.Op]uint32{
	x86asm.FXSAVE: 512, x86asm.FXSAVE64: 512, x86asm.FXRSTOR: 512, x86asm.FXRSTOR64: 512,
	x86asm.FNSAVE: 108, x86asm.FRSTOR: 108, x86asm.FNSTENV: 28, x86asm.FLDENV: 28,
	x86asm.FBLD: 10, x86asm.FBSTP: 10, x86asm.CMPXCHG8B: 8, x86asm.CMPXCHG16B: 16,
	x86asm.FNSTCW: 2, x86asm.FLDCW: 2, x86asm.FNSTSW: 2,
}
