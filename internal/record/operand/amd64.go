package operand

import (
	"encoding/binary"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"github.com/isobath/isobath/internal/code/access"
)

// Numbers of registers in instructions.
const (
	rax = iota
	rcx
	rdx
	rbx
	rsp
	rbp
	rsi
	rdi
)

// allAMD64 is every general register.
const allAMD64 = 1<<16 - 1

// DecodeAMD64 decodes the code of one function from its first byte. It returns
// the function and the targets of its direct jumps, inside and outside.
func DecodeAMD64(code []byte, pc uint64) (*Function, []uint64) {
	forms := make([]access.AMD64, 0, len(code)/4)
	f := &Function{insts: make([]inst, 0, len(code)/4), biased: true, flags: func(r *Registers) flags { return flagsOf(r[flagsAMD64]) }}
	var targets []uint64
	for at := 0; at < len(code); {
		in, form, target := decodeAMD64(code[at:], pc+uint64(at))
		in.code = len(forms)
		forms = append(forms, form)
		f.insts = append(f.insts, in)
		if target != 0 {
			targets = append(targets, target)
		}
		at += int(in.len)
	}
	f.eval = func(f *Function, i int, bias uint64, r *Registers) (Access, bool) {
		in := &f.insts[i]
		regs := access.RegsAMD64{PC: in.pc + bias}
		copy(regs.General[:], r[:16])
		var room [2]access.Access
		got := forms[in.code].Accesses(&regs, nil, room[:0])
		if len(got) == 0 {
			return Access{}, false
		}
		return Access{Addr: got[0].Addr, Size: got[0].Size, Op: got[0].Op}, true
	}
	return f, targets
}

// decodeAMD64 decodes one instruction. Bytes that are none become an
// instruction of one byte that ends every walk.
func decodeAMD64(code []byte, pc uint64) (inst, access.AMD64, uint64) {
	in := inst{pc: pc, len: 1, flow: broken, loads: none, stores: none}
	form, err := access.DecodeAMD64(code)
	if err != nil {
		return in, form, 0
	}
	in.len, in.flow = uint8(form.Len), straight
	x, err := x86asm.Decode(code, 64)
	if err != nil {
		return in, form, 0 // ENDBR, which access knows and which does nothing
	}
	uses, obstacle, accesses := form.Uses()
	in.accesses, in.uses = accesses, uses
	switch obstacle {
	case access.NeedsSegment:
		in.why = Segment
	case access.NeedsVector:
		in.why = Vector
	}
	in.pauses = x.Op == x86asm.PAUSE
	target := flowAMD64(&x, &in)
	in.target = target
	if in.flow == straight {
		effectsAMD64(&x, &in)
		in.sets = setterAMD64(&x)
		movesAMD64(&x, &in)
		in.limit = limitAMD64(&x)
		in.pads = x.Op == x86asm.NOP
	}
	if form.Repeats {
		// It jumps to itself: interrupted, it has run some of its rounds.
		in.repeats, target = true, pc
		in.filled = filledBytes[x.Op]
		in.copies = x.Op == x86asm.MOVSB || x.Op == x86asm.MOVSW || x.Op == x86asm.MOVSD || x.Op == x86asm.MOVSQ
	}
	return in, form, target
}

// filledBytes are the string instructions that write at rdi, and how much at once.
var filledBytes = map[x86asm.Op]uint8{x86asm.MOVSB: 1, x86asm.MOVSW: 2, x86asm.MOVSD: 4, x86asm.MOVSQ: 8, x86asm.STOSB: 1, x86asm.STOSW: 2, x86asm.STOSD: 4, x86asm.STOSQ: 8}

// movesAMD64 marks plain moves between memory and a general register, and
// arithmetic whose second operand is in memory.
func movesAMD64(x *x86asm.Inst, in *inst) {
	combine := combinations[x.Op]
	if x.Op != x86asm.MOV && x.Op != x86asm.MOVSXD && x.Op != x86asm.MOVZX && combine == nil {
		return
	}
	r, first := x.Args[0].(x86asm.Reg)
	if !first {
		r, _ = x.Args[1].(x86asm.Reg)
	}
	if n, _, ok := generalAMD64(r); ok && r >= x86asm.EAX && r <= x86asm.R15 && r != x86asm.RIP {
		_, toMemory := x.Args[0].(x86asm.Mem)
		_, fromMemory := x.Args[1].(x86asm.Mem)
		switch {
		case fromMemory:
			in.loads, in.signed, in.combine = n, x.Op == x86asm.MOVSXD, combine
		case combine != nil:
		case toMemory && x.DataSize == 64:
			in.stores = n
		}
	}
}

// combinations are what instructions make of a register and of memory.
var combinations = map[x86asm.Op]func(dst, src uint64) uint64{
	x86asm.ADD: func(dst, src uint64) uint64 { return dst + src },
	x86asm.SUB: func(dst, src uint64) uint64 { return dst - src },
	x86asm.AND: computations[x86asm.AND], x86asm.OR: computations[x86asm.OR], x86asm.XOR: computations[x86asm.XOR],
}

// limitAMD64 is what an instruction leaves of the register it writes: one of 32
// bits clears the upper half, and a widening move all that it did not read.
func limitAMD64(x *x86asm.Inst) limit {
	r, _ := x.Args[0].(x86asm.Reg)
	n, wide, ok := generalAMD64(r)
	if bits := registerBits(r); !ok || bits < 32 || !writesFirst[x.Op] && !strings.HasPrefix(x.Op.String(), "CMOV") || x.Op == x86asm.CMPXCHG {
		return limit{}
	}
	l := limit{register: n, unused: 32}
	_, fromMemory := x.Args[1].(x86asm.Mem)
	switch {
	case x.Op == x86asm.MOVZX && fromMemory:
		l.unused = uint8(64 - 8*x.MemBytes)
	case (x.Op == x86asm.MOVSX || x.Op == x86asm.MOVSXD) && fromMemory && wide:
		l.unused, l.signed = uint8(64-8*x.MemBytes), true
	case wide:
		return limit{}
	}
	return l
}

// flowAMD64 sets where control goes, and returns the target of a direct jump.
// Calls have none: what they call begins a function.
func flowAMD64(x *x86asm.Inst, in *inst) uint64 {
	name := x.Op.String()
	switch x.Op {
	case x86asm.JMP, x86asm.LJMP, x86asm.CALL, x86asm.LCALL, x86asm.RET, x86asm.LRET, x86asm.UD0, x86asm.UD1, x86asm.UD2,
		x86asm.HLT, x86asm.INT, x86asm.ICEBP, x86asm.SYSRET, x86asm.SYSEXIT, x86asm.IRET, x86asm.IRETD, x86asm.IRETQ, x86asm.SYSENTER:
		in.flow = leave
	case x86asm.LOOP, x86asm.LOOPE, x86asm.LOOPNE:
		in.flow, in.loses, in.when = branch, 1<<rcx, unknownCondition
	case x86asm.XBEGIN:
		in.flow, in.when = branch, unknownCondition
	default:
		if !strings.HasPrefix(name, "J") {
			return 0
		}
		in.flow, in.when = branch, conditionAMD64(x)
	}
	in.calls = x.Op == x86asm.CALL || x.Op == x86asm.LCALL
	rel, ok := x.Args[0].(x86asm.Rel)
	in.indirect = !ok && x.Op == x86asm.JMP
	if !ok || x.Op == x86asm.CALL {
		return 0
	}
	return in.pc + uint64(x.Len) + uint64(int64(rel))
}

// conditionAMD64 is in the low bits of the opcode: 70 to 7F, and 0F 80 to 0F 8F.
func conditionAMD64(x *x86asm.Inst) condition {
	switch first, second := x.Opcode>>24, x.Opcode>>16&0xff; {
	case first&0xf0 == 0x70:
		return condition(first & 15)
	case first == 0x0f && second&0xf0 == 0x80:
		return condition(second & 15)
	}
	return unknownCondition // JRCXZ
}

// generalAMD64 returns the number of a general register of any width, and
// whether it is a whole one.
func generalAMD64(a x86asm.Arg) (n uint8, whole, ok bool) {
	r, isReg := a.(x86asm.Reg)
	switch {
	case !isReg:
		return none, false, false
	case r >= x86asm.RAX && r <= x86asm.R15:
		return uint8(r - x86asm.RAX), true, true
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return uint8(r - x86asm.EAX), false, true
	case r >= x86asm.AX && r <= x86asm.R15W:
		return uint8(r - x86asm.AX), false, true
	case r >= x86asm.AL && r <= x86asm.BL:
		return uint8(r - x86asm.AL), false, true
	case r >= x86asm.AH && r <= x86asm.BH:
		return uint8(r - x86asm.AH), false, true
	case r >= x86asm.SPB && r <= x86asm.R15B:
		return uint8(r-x86asm.SPB) + rsp, false, true
	}
	return none, false, false
}

// effectsAMD64 says what a straight instruction does to general registers.
// What is not known to be harmless loses all registers it names, and if it
// names none, all there are.
func effectsAMD64(x *x86asm.Inst, in *inst) {
	if undoable(x, in) || computed(x, in) {
		return
	}
	if regs, ok := implicit[x.Op]; ok {
		in.loses |= regs
	}
	if x.Op == x86asm.IMUL && x.Args[1] == nil {
		in.loses |= 1<<rax | 1<<rdx
		return
	}
	switch {
	case readsOnly[x.Op]:
		return
	case writesFirst[x.Op], strings.HasPrefix(x.Op.String(), "SET"), strings.HasPrefix(x.Op.String(), "CMOV"):
		if n, _, ok := generalAMD64(x.Args[0]); ok {
			in.loses |= bit(n)
		}
		return
	}
	named := false
	for _, a := range x.Args {
		if a == nil {
			break
		}
		named = true
		if n, _, ok := generalAMD64(a); ok {
			in.loses |= bit(n)
		}
	}
	if _, known := implicit[x.Op]; !named && !known {
		in.loses |= allAMD64
	}
}

// undoable fills in effects that can be undone, of 64-bit registers.
func undoable(x *x86asm.Inst, in *inst) bool {
	dst, whole, ok := generalAMD64(x.Args[0])
	switch x.Op {
	case x86asm.PUSH, x86asm.POP, x86asm.PUSHFQ, x86asm.PUSHF, x86asm.POPFQ, x86asm.POPF:
		return stackEffect(x, in)
	}
	if ok && !whole {
		return narrow(x, in, dst)
	}
	if !ok {
		return false
	}
	set := func(e effect) bool {
		in.effects = append(in.effects, e)
		return true
	}
	src, srcWhole, isReg := generalAMD64(x.Args[1])
	imm, isImm := x.Args[1].(x86asm.Imm)
	switch x.Op {
	case x86asm.ADD, x86asm.SUB:
		sign := int64(1)
		if x.Op == x86asm.SUB {
			sign = -1
		}
		switch {
		case isImm:
			return set(effect{kind: add, dst: dst, src: none, imm: sign * int64(imm)})
		case isReg && srcWhole && src != dst:
			return set(effect{kind: add, dst: dst, src: src, scale: sign})
		}
	case x86asm.INC:
		return set(effect{kind: add, dst: dst, src: none, imm: 1})
	case x86asm.DEC:
		return set(effect{kind: add, dst: dst, src: none, imm: -1})
	case x86asm.NEG:
		return set(effect{kind: negate, dst: dst})
	case x86asm.NOT:
		return set(effect{kind: invert, dst: dst})
	case x86asm.XCHG:
		if isReg && srcWhole {
			return set(effect{kind: exchange, dst: dst, src: src})
		}
	case x86asm.MOV:
		if isReg && srcWhole && src != dst {
			return set(effect{kind: move, dst: dst, src: src})
		}
		if isImm {
			return set(effect{kind: move, dst: dst, src: none, imm: int64(imm)})
		}
	case x86asm.LEA:
		return lea(x, in, dst)
	}
	return false
}

// narrow fills in effects of 32-bit registers, which can be followed but not
// undone.
func narrow(x *x86asm.Inst, in *inst, dst uint8) bool {
	if r, _ := x.Args[0].(x86asm.Reg); r < x86asm.EAX || r > x86asm.R15L {
		return false
	}
	src, _, isReg := generalAMD64(x.Args[1])
	imm, isImm := x.Args[1].(x86asm.Imm)
	if !isReg {
		src = none
	}
	sign := int64(1)
	e := effect{kind: add32, dst: dst, src: src, imm: int64(imm)}
	switch {
	case x.Op == x86asm.SUB && (isReg || isImm):
		sign = -1
		e.imm = -e.imm
	case x.Op == x86asm.ADD && (isReg || isImm):
	case x.Op == x86asm.INC:
		e.src, e.imm = none, 1
	case x.Op == x86asm.DEC:
		e.src, e.imm = none, -1
	case x.Op == x86asm.MOV && (isReg || isImm):
		e.kind = move32
	case x.Op == x86asm.XOR && src == dst && isReg:
		e = effect{kind: move32, dst: dst, src: none}
	default:
		return false
	}
	e.scale = sign
	in.effects = append(in.effects, e)
	return true
}

// computations are what instructions make of their first operand and the other.
var computations = map[x86asm.Op]func(dst, src uint64) uint64{
	x86asm.AND: func(dst, src uint64) uint64 { return dst & src },
	x86asm.OR:  func(dst, src uint64) uint64 { return dst | src },
	x86asm.XOR: func(dst, src uint64) uint64 { return dst ^ src },
	x86asm.SHL: func(dst, src uint64) uint64 { return dst << (src & 63) },
}

// computed fills in effects that can be followed but not undone: logic, shifts
// by a constant and widening moves between registers.
func computed(x *x86asm.Inst, in *inst) bool {
	if x.Op == x86asm.CDQE {
		in.effects = append(in.effects, effect{kind: compute, dst: rax, src: none, scale: 1, value: func(dst, _ uint64) uint64 { return uint64(int64(int32(dst))) }})
		return true
	}
	dst, wide, ok := generalAMD64(x.Args[0])
	if r, _ := x.Args[0].(x86asm.Reg); !ok || !wide && (r < x86asm.EAX || r > x86asm.R15L) {
		return false
	}
	src, _, isReg := generalAMD64(x.Args[1])
	imm, isImm := x.Args[1].(x86asm.Imm)
	e := effect{kind: compute, dst: dst, src: src, imm: int64(imm), scale: 1}
	switch f := computations[x.Op]; {
	case f != nil && (isImm || isReg && x.Op != x86asm.SHL):
		e.value = f
	case (x.Op == x86asm.SHR || x.Op == x86asm.SAR) && isImm:
		e.value = shiftRight(x.Op == x86asm.SAR, wide)
	case (x.Op == x86asm.MOVZX || x.Op == x86asm.MOVSX || x.Op == x86asm.MOVSXD) && isReg:
		bits := registerBits(x.Args[1].(x86asm.Reg))
		if bits == 0 {
			return false
		}
		e.scale, e.value = 0, widen(bits, x.Op != x86asm.MOVZX)
	default:
		return false
	}
	if !wide {
		whole := e.value
		e.value = func(dst, src uint64) uint64 { return uint64(uint32(whole(dst, src))) }
	}
	in.effects = append(in.effects, e)
	return true
}

func shiftRight(signed, wide bool) func(dst, src uint64) uint64 {
	return func(dst, src uint64) uint64 {
		switch {
		case wide && signed:
			return uint64(int64(dst) >> (src & 63))
		case wide:
			return dst >> (src & 63)
		case signed:
			return uint64(int64(int32(dst)) >> (src & 31))
		}
		return uint64(uint32(dst)) >> (src & 31)
	}
}

func widen(bits int, signed bool) func(dst, src uint64) uint64 {
	return func(_, src uint64) uint64 {
		if signed {
			return uint64(int64(src) << (64 - bits) >> (64 - bits))
		}
		return src << (64 - bits) >> (64 - bits)
	}
}

// registerBits is the width of a general register or of one that is the low
// part of it; 0 for the second bytes, AH and its kind.
func registerBits(r x86asm.Reg) int {
	switch {
	case r >= x86asm.RAX && r <= x86asm.R15:
		return 64
	case r >= x86asm.EAX && r <= x86asm.R15L:
		return 32
	case r >= x86asm.AX && r <= x86asm.R15W:
		return 16
	case r >= x86asm.AL && r <= x86asm.BL, r >= x86asm.SPB && r <= x86asm.R15B:
		return 8
	}
	return 0
}

// setterAMD64 says what a straight instruction does to the flags.
func setterAMD64(x *x86asm.Inst) setter {
	kind, computed := computedFlags[x.Op]
	if !computed {
		if keepsFlags(x) {
			return setter{}
		}
		return setter{kind: lose}
	}
	s := setter{kind: kind, b: none}
	r, _ := x.Args[0].(x86asm.Reg)
	bits := registerBits(r)
	if bits == 0 {
		return setter{kind: lose}
	}
	s.a, _, _ = generalAMD64(r)
	s.unused = uint8(64 - bits)
	switch b := x.Args[1].(type) {
	case x86asm.Reg:
		if registerBits(b) != bits {
			return setter{kind: lose}
		}
		s.b, _, _ = generalAMD64(b)
	case x86asm.Imm:
		s.imm = int64(b)
	case nil:
		s.imm = 1
		if x.Op == x86asm.DEC {
			s.imm = -1
		}
	default:
		return setter{kind: lose}
	}
	return s
}

// computedFlags are the instructions whose flags are worked out.
var computedFlags = map[x86asm.Op]setKind{x86asm.CMP: setSub, x86asm.SUB: setSub, x86asm.ADD: setAdd, x86asm.TEST: setAnd, x86asm.AND: setAnd,
	x86asm.INC: setStep, x86asm.DEC: setStep}

// keepsFlags reports whether an instruction leaves the flags alone: moves, and
// vector instructions but for the comparing ones.
func keepsFlags(x *x86asm.Inst) bool {
	name := x.Op.String()
	if flagless[x.Op] || strings.HasPrefix(name, "SET") || strings.HasPrefix(name, "CMOV") || strings.HasPrefix(name, "PREFETCH") {
		return true
	}
	if strings.Contains(name, "COMIS") || strings.Contains(name, "TEST") || strings.Contains(name, "STRI") || strings.Contains(name, "STRM") {
		return false
	}
	for _, a := range x.Args {
		if r, ok := a.(x86asm.Reg); ok && r >= x86asm.M0 && r <= x86asm.K7 {
			return true
		}
	}
	return false
}

// lea is an addition or a move where its operand has the right shape.
func lea(x *x86asm.Inst, in *inst, dst uint8) bool {
	m, ok := x.Args[1].(x86asm.Mem)
	if !ok || x.AddrSize != 64 {
		return false
	}
	base, _, hasBase := generalAMD64(m.Base)
	index, _, hasIndex := generalAMD64(m.Index)
	if m.Scale == 0 {
		hasIndex = false
	}
	switch {
	case m.Base == x86asm.RIP:
		in.effects = append(in.effects, effect{kind: move, dst: dst, src: biasAMD64, imm: int64(in.pc) + int64(x.Len) + m.Disp})
	case hasBase && base == dst && !hasIndex:
		in.effects = append(in.effects, effect{kind: add, dst: dst, src: none, imm: m.Disp})
	case hasBase && base == dst && hasIndex && index != dst:
		in.effects = append(in.effects, effect{kind: add, dst: dst, src: index, scale: int64(m.Scale), imm: m.Disp})
	case hasIndex && index == dst && m.Scale == 1 && hasBase && base != dst:
		in.effects = append(in.effects, effect{kind: add, dst: dst, src: base, scale: 1, imm: m.Disp})
	case hasBase && base != dst && !hasIndex:
		in.effects = append(in.effects, effect{kind: move, dst: dst, src: base, imm: m.Disp})
	case hasIndex:
		if !hasBase {
			base = none
		}
		in.effects = append(in.effects, effect{kind: sum, dst: dst, src: base, index: index, scale: int64(m.Scale), imm: m.Disp})
	default:
		return false
	}
	return true
}

// stackEffect is that of pushes and pops on the stack pointer.
func stackEffect(x *x86asm.Inst, in *inst) bool {
	size := int64(8)
	if x.DataSize == 16 {
		size = 2
	}
	if strings.HasPrefix(x.Op.String(), "PUSH") {
		size = -size
	} else if n, _, ok := generalAMD64(x.Args[0]); ok {
		in.loses |= bit(n)
		if n == rsp {
			return true
		}
	}
	in.effects = append(in.effects, effect{kind: add, dst: rsp, src: none, imm: size})
	return true
}

func opSet(ops ...x86asm.Op) map[x86asm.Op]bool {
	m := make(map[x86asm.Op]bool, len(ops))
	for _, op := range ops {
		m[op] = true
	}
	return m
}

// flagless leave the flags alone.
var flagless = opSet(x86asm.MOV, x86asm.MOVZX, x86asm.MOVSX, x86asm.MOVSXD, x86asm.LEA, x86asm.PUSH, x86asm.POP, x86asm.NOP, x86asm.NOT, x86asm.BSWAP,
	x86asm.XCHG, x86asm.CDQE, x86asm.CWDE, x86asm.CDQ, x86asm.CQO, x86asm.LEAVE, x86asm.PAUSE, x86asm.LFENCE, x86asm.MFENCE, x86asm.SFENCE,
	x86asm.VZEROUPPER, x86asm.VZEROALL, x86asm.MOVNTI)

// readsOnly write no general register.
var readsOnly = opSet(x86asm.CMP, x86asm.TEST, x86asm.BT, x86asm.NOP, x86asm.OUT,
	x86asm.PREFETCHNTA, x86asm.PREFETCHT0, x86asm.PREFETCHT1, x86asm.PREFETCHT2, x86asm.PREFETCHW,
	x86asm.CVTSI2SD, x86asm.CVTSI2SS, x86asm.PINSRB, x86asm.PINSRD, x86asm.PINSRQ, x86asm.PINSRW,
	x86asm.VPINSRB, x86asm.VPINSRD, x86asm.VPINSRQ, x86asm.VPINSRW, x86asm.VCVTSI2SD, x86asm.VCVTSI2SS,
	x86asm.PAUSE, x86asm.LFENCE, x86asm.MFENCE, x86asm.SFENCE, x86asm.CLC, x86asm.STC, x86asm.CMC, x86asm.CLD, x86asm.STD, x86asm.EMMS,
	x86asm.VZEROUPPER, x86asm.VZEROALL, x86asm.FWAIT, x86asm.FNOP, x86asm.SAHF, x86asm.CLFLUSH,
	x86asm.FLD1, x86asm.FLDZ, x86asm.FLDPI, x86asm.FLDL2E, x86asm.FLDL2T, x86asm.FLDLG2, x86asm.FLDLN2, x86asm.FABS, x86asm.FCHS, x86asm.FSQRT,
	x86asm.FSIN, x86asm.FCOS, x86asm.FSINCOS, x86asm.FPATAN, x86asm.FPTAN, x86asm.FPREM, x86asm.FPREM1, x86asm.FRNDINT, x86asm.FSCALE,
	x86asm.FTST, x86asm.FXAM, x86asm.FXTRACT, x86asm.FYL2X, x86asm.FYL2XP1, x86asm.F2XM1, x86asm.FINCSTP, x86asm.FDECSTP, x86asm.FNCLEX, x86asm.FNINIT,
	x86asm.FUCOMPP, x86asm.FCOMPP)

// writesFirst write their first operand and, but for what implicit says, no
// other register.
var writesFirst = opSet(x86asm.MOV, x86asm.MOVZX, x86asm.MOVSX, x86asm.MOVSXD, x86asm.MOVBE, x86asm.LEA,
	x86asm.ADD, x86asm.ADC, x86asm.SUB, x86asm.SBB, x86asm.AND, x86asm.OR, x86asm.XOR, x86asm.INC, x86asm.DEC, x86asm.NEG, x86asm.NOT,
	x86asm.SHL, x86asm.SHR, x86asm.SAR, x86asm.ROL, x86asm.ROR, x86asm.RCL, x86asm.RCR, x86asm.SHLD, x86asm.SHRD,
	x86asm.IMUL, x86asm.BSF, x86asm.BSR, x86asm.BSWAP, x86asm.BTS, x86asm.BTR, x86asm.BTC, x86asm.POPCNT, x86asm.LZCNT, x86asm.TZCNT,
	x86asm.CRC32, x86asm.MOVD, x86asm.MOVQ, x86asm.CMPXCHG, x86asm.MOVNTI)

// implicit are the registers that instructions change without naming them.
var implicit = map[x86asm.Op]uint32{
	x86asm.MUL: 1<<rax | 1<<rdx, x86asm.DIV: 1<<rax | 1<<rdx, x86asm.IDIV: 1<<rax | 1<<rdx,
	x86asm.CBW: 1 << rax, x86asm.CWDE: 1 << rax, x86asm.CDQE: 1 << rax, x86asm.CWD: 1 << rdx, x86asm.CDQ: 1 << rdx, x86asm.CQO: 1 << rdx,
	x86asm.CMPXCHG: 1 << rax, x86asm.CMPXCHG8B: 1<<rax | 1<<rdx, x86asm.CMPXCHG16B: 1<<rax | 1<<rdx,
	x86asm.CPUID: 1<<rax | 1<<rbx | 1<<rcx | 1<<rdx, x86asm.RDTSC: 1<<rax | 1<<rdx, x86asm.RDTSCP: 1<<rax | 1<<rdx | 1<<rcx,
	x86asm.RDPMC: 1<<rax | 1<<rdx, x86asm.XGETBV: 1<<rax | 1<<rdx, x86asm.SYSCALL: 1<<rax | 1<<rcx | 1<<11,
	x86asm.LEAVE: 1<<rsp | 1<<rbp, x86asm.ENTER: 1<<rsp | 1<<rbp, x86asm.LAHF: 1 << rax, x86asm.XLATB: 1 << rax,
	x86asm.MOVSB: stringRegs, x86asm.MOVSW: stringRegs, x86asm.MOVSD: stringRegs, x86asm.MOVSQ: stringRegs,
	x86asm.CMPSB: stringRegs, x86asm.CMPSW: stringRegs, x86asm.CMPSD: stringRegs, x86asm.CMPSQ: stringRegs,
	x86asm.SCASB: stringRegs, x86asm.SCASW: stringRegs, x86asm.SCASD: stringRegs, x86asm.SCASQ: stringRegs,
	x86asm.STOSB: stringRegs, x86asm.STOSW: stringRegs, x86asm.STOSD: stringRegs, x86asm.STOSQ: stringRegs,
	x86asm.LODSB: stringRegs, x86asm.LODSW: stringRegs, x86asm.LODSD: stringRegs, x86asm.LODSQ: stringRegs,
	x86asm.PCMPESTRI: 1 << rcx, x86asm.PCMPISTRI: 1 << rcx, x86asm.VPCMPESTRI: 1 << rcx, x86asm.VPCMPISTRI: 1 << rcx,
}

const stringRegs = 1<<rsi | 1<<rdi | 1<<rcx | 1<<rax

// farTargetsAMD64 returns the targets, within low and high, of jumps with a
// 32-bit distance anywhere in a text. It looks at every byte: what only looks
// like a jump adds a join, which is safe, and rarely lands in the function.
func farTargetsAMD64(text []byte, pc uint64, yield func(target uint64)) {
	for i := 0; i+5 <= len(text); i++ {
		switch {
		case text[i] == 0xe9:
			yield(pc + uint64(i) + 5 + uint64(int64(int32(binary.LittleEndian.Uint32(text[i+1:])))))
		case text[i] == 0x0f && text[i+1]&0xf0 == 0x80 && i+6 <= len(text):
			yield(pc + uint64(i) + 6 + uint64(int64(int32(binary.LittleEndian.Uint32(text[i+2:])))))
		}
	}
}
