package operand

import (
	"encoding/binary"

	"github.com/isobath/isobath/internal/data/refs"
)

// The classes of A64 instructions follow "Top-level encodings for A64" of the
// Arm Architecture Reference Manual; names of fields are those used there.

const allARM64 = 1<<32 - 1

// memARM64 is the memory operand of a load or store.
type memARM64 struct {
	base   uint8 // 31 is sp; none for a place near the instruction
	index  uint8
	extend uint8 // option field of a register offset: 2 uxtw, 3 lsl, 6 sxtw, 7 sxtx
	shift  uint8
	disp   int64
	size   uint32
	op     refs.Op
}

// DecodeARM64 decodes the code of one function. It returns the function and the
// targets of its direct jumps, inside and outside.
func DecodeARM64(code []byte, pc uint64) (*Function, []uint64) {
	f := &Function{insts: make([]inst, 0, len(code)/4), flags: func(*Registers) flags { return flags{} }}
	mems := make([]memARM64, 0, len(code)/16)
	var targets []uint64
	for at := 0; at+4 <= len(code); at += 4 {
		in := inst{pc: pc + uint64(at), len: 4, loads: none, stores: none}
		var m memARM64
		if in.target = decodeARM64(binary.LittleEndian.Uint32(code[at:]), &in, &m); in.target != 0 {
			targets = append(targets, in.target)
		}
		if in.accesses {
			in.code = len(mems)
			mems = append(mems, m)
		}
		f.insts = append(f.insts, in)
	}
	f.eval = func(f *Function, i int, bias uint64, r *Registers) (Access, bool) {
		m := &mems[f.insts[i].code]
		return Access{Addr: m.addr(f.insts[i].pc+bias, r), Size: m.size, Op: m.op}, true
	}
	return f, targets
}

func (m *memARM64) addr(pc uint64, r *Registers) uint64 {
	a := pc
	if m.base != none {
		a = r[m.base]
	}
	a += uint64(m.disp)
	if m.index != none {
		v := r[m.index]
		switch m.extend {
		case 2:
			v = uint64(uint32(v))
		case 6:
			v = uint64(int64(int32(v)))
		}
		a += v << m.shift
	}
	return a
}

func field(w uint32, high, low int) uint32 { return w >> low & (1<<(high-low+1) - 1) }

func signed(v uint32, bits int) int64 { return int64(v) << (64 - bits) >> (64 - bits) }

// decodeARM64 decodes one instruction and returns the target of a direct jump.
func decodeARM64(w uint32, in *inst, m *memARM64) uint64 {
	switch op := field(w, 28, 25); {
	case op == 0 || op == 1 || op == 3:
		in.flow = broken
	case op == 2: // SVE: its loads have addresses of many forms, and it may write any register
		in.accesses, in.why, in.loses = w>>31 == 1, Vector, allARM64
	case op&0b1110 == 0b1000:
		immediateARM64(w, in)
	case op&0b1110 == 0b1010:
		return branchARM64(w, in)
	case op&0b0101 == 0b0100:
		memoryARM64(w, in, m)
	case op&0b0111 == 0b0101:
		registerARM64(w, in)
	default:
		vectorARM64(w, in)
	}
	return 0
}

// loseZ marks a register that is written, where 31 is the zero register.
func (in *inst) loseZ(r uint32) {
	if r != 31 {
		in.loses |= 1 << r
	}
}

// immediateARM64 handles data processing with an immediate.
func immediateARM64(w uint32, in *inst) {
	rd, rn := field(w, 4, 0), field(w, 9, 5)
	if field(w, 28, 23) != 0b100010 { // not ADD or SUB
		// AND, ORR and EOR may write sp; ANDS writes the zero register.
		if field(w, 28, 23) == 0b100100 && field(w, 30, 29) == 3 {
			in.sets = setter{kind: lose}
		}
		if field(w, 28, 23) == 0b100100 && field(w, 30, 29) != 3 {
			in.loses |= 1 << rd
			return
		}
		in.loseZ(rd)
		return
	}
	imm := int64(field(w, 21, 10)) << (12 * field(w, 22, 22))
	compareARM64(in, w, rn, none, imm)
	subtracts, compares, wide := field(w, 30, 30) == 1, field(w, 29, 29) == 1, w>>31 == 1
	if subtracts {
		imm = -imm
	}
	switch {
	case compares && rd == 31: // CMP, CMN
	case !wide:
		in.loses |= 1 << rd
	case rd == rn:
		in.effects = append(in.effects, effect{kind: add, dst: uint8(rd), src: none, imm: imm})
	default:
		in.effects = append(in.effects, effect{kind: move, dst: uint8(rd), src: uint8(rn), imm: imm})
	}
}

// conditionsARM64 are the conditions of B.cond. The carry is the reverse of a
// borrow, so only after a subtraction are those of unsigned order known.
var conditionsARM64 = [16]condition{ifZero, ifNotZero, ifNotBelow, ifBelow, ifSign, ifNoSign, ifOverflow, ifNoOverflow,
	ifAbove, ifNotAbove, ifNotLess, ifLess, ifGreater, ifNotGreater, unknownCondition, unknownCondition}

// general31 is a register where 31 is the zero register.
func general31(r uint32) uint8 {
	if r == 31 {
		return none
	}
	return uint8(r)
}

// unusedARM64 is how many bits of registers an instruction of 32 bits leaves out.
func unusedARM64(w uint32) uint8 { return uint8(32 * (1 - w>>31)) }

// compareARM64 sets the flags by a subtraction; other ways are not followed.
func compareARM64(in *inst, w, rn uint32, b uint8, imm int64) {
	if field(w, 29, 29) == 0 {
		return
	}
	in.sets = setter{kind: lose}
	if field(w, 30, 30) == 1 {
		in.sets = setter{kind: setSub, unused: unusedARM64(w), a: uint8(rn), b: b, imm: imm}
	}
}

// branchARM64 handles branches and system instructions.
func branchARM64(w uint32, in *inst) uint64 {
	to := func(v uint32, bits int) uint64 { return in.pc + uint64(signed(v, bits)*4) }
	switch {
	case field(w, 30, 26) == 0b00101: // B, BL
		in.flow, in.calls = leave, w>>31 == 1
		if !in.calls {
			return to(field(w, 25, 0), 26)
		}
	case field(w, 30, 25) == 0b011010: // CBZ, CBNZ
		in.flow, in.when = branch, ifRegisterZero+condition(field(w, 24, 24))
		in.sets = setter{a: general31(field(w, 4, 0)), unused: unusedARM64(w)}
		return to(field(w, 23, 5), 19)
	case field(w, 31, 24) == 0b01010100: // B.cond
		in.flow, in.when = branch, conditionsARM64[field(w, 3, 0)]
		return to(field(w, 23, 5), 19)
	case field(w, 30, 25) == 0b011011: // TBZ, TBNZ
		in.flow, in.when = branch, ifBitZero+condition(field(w, 24, 24))
		in.sets = setter{a: general31(field(w, 4, 0)), imm: int64(field(w, 31, 31)<<5 | field(w, 23, 19))}
		return to(field(w, 18, 5), 14)
	case field(w, 31, 25) == 0b1101011: // BR, BLR, RET, ERET
		in.flow = leave
		opc := field(w, 24, 21)
		in.indirect = opc == 0 || opc == 8 // BR, BRAA
		in.calls = opc == 1 || opc == 9    // BLR, BLRAA
	case field(w, 31, 24) == 0b11010100: // SVC, BRK, HLT
		in.flow = leave
		if w&0x1f == 1 && field(w, 23, 21) == 0 {
			in.flow, in.loses = straight, 1 // SVC returns its result in x0
		}
	case field(w, 31, 22) == 0b1101010100: // system: MRS writes Rt, as SYSL
		in.pauses = w == 0xd503203f || w == 0xd503205f // YIELD, WFE
		if field(w, 21, 21) == 1 {
			in.loseZ(field(w, 4, 0))
		}
	default:
		in.flow = broken
	}
	return 0
}

// registerARM64 handles data processing with registers.
func registerARM64(w uint32, in *inst) {
	rd, rn, rm := field(w, 4, 0), field(w, 9, 5), field(w, 20, 16)
	if field(w, 28, 21) == 0b11010010 { // CCMP, CCMN
		in.sets = setter{kind: lose}
		return
	}
	if field(w, 28, 24) == 0b01010 && field(w, 30, 29) == 3 || field(w, 28, 21) == 0b11010000 { // ANDS, BICS; ADCS, SBCS, RMIF
		in.sets = setter{kind: lose}
	}
	wide := w>>31 == 1
	shifted := field(w, 28, 24) == 0b01011 && field(w, 21, 21) == 0 && field(w, 23, 22) == 0
	plain := wide && shifted && rd != 31 && rm != 31
	if field(w, 28, 24) == 0b01011 {
		compareARM64(in, w, rn, general31(rm), 0)
		if !shifted || field(w, 15, 10) != 0 || rn == 31 {
			in.sets = setter{kind: lose}
		}
	}
	amount := int64(1) << field(w, 15, 10)
	if field(w, 30, 30) == 1 {
		amount = -amount
	}
	// ORR Xd, XZR, Xm is MOV.
	moves := wide && field(w, 30, 24) == 0b0101010 && field(w, 23, 21) == 0 && rn == 31 && field(w, 15, 10) == 0 && rd != 31 && rm != 31 && rd != rm
	extended := field(w, 28, 24) == 0b01011 && field(w, 21, 21) == 1
	switch {
	case moves:
		in.effects = append(in.effects, effect{kind: move, dst: uint8(rd), src: uint8(rm)})
	case plain && rn == rd && rm != rd:
		in.effects = append(in.effects, effect{kind: add, dst: uint8(rd), src: uint8(rm), scale: amount})
	case plain && rm == rd && rn != rd && rn != 31 && amount == 1:
		in.effects = append(in.effects, effect{kind: add, dst: uint8(rd), src: uint8(rn), scale: 1})
	case extended && field(w, 29, 29) == 0:
		in.loses |= 1 << rd // may be sp
	default:
		in.loseZ(rd)
	}
}

// vectorARM64 handles floating point and vectors: those that move to a general
// register lose it.
func vectorARM64(w uint32, in *inst) {
	if field(w, 31, 24) == 0b00011110 && field(w, 21, 21) == 1 && (field(w, 13, 10) == 0b1000 || field(w, 11, 10) == 0b01) {
		in.sets = setter{kind: lose} // FCMP, FCCMP
	}
	switch {
	case field(w, 30, 24) == 0b0011110 && field(w, 21, 21) == 0, // fixed point
		field(w, 30, 24) == 0b0011110 && field(w, 15, 10) == 0,                            // integer
		field(w, 31, 31) == 0 && field(w, 29, 21) == 0b001110000 && field(w, 10, 10) == 1: // SMOV, UMOV
		in.loseZ(field(w, 4, 0))
	}
}

// memoryARM64 handles loads and stores.
func memoryARM64(w uint32, in *inst, m *memARM64) {
	*m = memARM64{base: uint8(field(w, 9, 5)), index: none}
	in.accesses = true
	switch {
	case field(w, 31, 31) == 0 && field(w, 29, 24) == 0b001100, field(w, 31, 31) == 0 && field(w, 29, 24) == 0b001101:
		structureARM64(w, in, m)
	case field(w, 29, 24) == 0b001000:
		exclusiveARM64(w, in, m)
	case field(w, 29, 28) == 0b01 && field(w, 25, 24) == 0b00:
		literalARM64(w, in, m)
	case field(w, 29, 27) == 0b101:
		pairARM64(w, in, m)
	case field(w, 29, 27) == 0b111:
		singleARM64(w, in, m)
	default: // RCpc unscaled, tags, copies of memory
		in.why, in.loses = Vector, allARM64
	}
	in.uses = bit(m.base) | bit(m.index)
}

// literalARM64 is a load from a place near the instruction.
func literalARM64(w uint32, in *inst, m *memARM64) {
	m.base, m.disp, m.op = none, signed(field(w, 23, 5), 19)*4, refs.Load
	opc, vector := field(w, 31, 30), field(w, 26, 26) == 1
	m.size = 4 << opc
	if !vector {
		switch opc {
		case 2:
			m.size = 4 // LDRSW
		case 3:
			in.accesses = false // prefetch
			return
		}
		in.loseZ(field(w, 4, 0))
	}
}

// exclusiveARM64 is exclusive, ordered, and compare and swap.
func exclusiveARM64(w uint32, in *inst, m *memARM64) {
	size, load := field(w, 31, 30), field(w, 22, 22) == 1
	m.size, m.op = 1<<size, refs.Store
	rs, rt, rt2 := field(w, 20, 16), field(w, 4, 0), field(w, 14, 10)
	ordered, pair := field(w, 23, 23) == 1, field(w, 21, 21) == 1
	switch {
	case pair && (ordered || size < 2): // CAS, CASP
		m.op = refs.Modify
		in.loseZ(rs)
		if !ordered {
			m.size = 8 << field(w, 30, 30)
			in.loseZ(rs | 1)
		}
		return
	case pair:
		m.size *= 2
	}
	if load {
		m.op = refs.Load
		in.loseZ(rt)
		if pair {
			in.loseZ(rt2)
		}
	} else if !ordered {
		in.loseZ(rs) // whether the exclusive store succeeded
	}
}

// pairARM64 is a load or store of two registers.
func pairARM64(w uint32, in *inst, m *memARM64) {
	opc, vector, mode, load := field(w, 31, 30), field(w, 26, 26) == 1, field(w, 24, 23), field(w, 22, 22) == 1
	each := int64(4) << opc
	if !vector {
		each = 4 << field(w, 31, 31)
	}
	imm := signed(field(w, 21, 15), 7) * each
	if !vector && opc == 1 && !load { // STGP writes tags too
		imm = signed(field(w, 21, 15), 7) * 16
		each = 8
	}
	m.size, m.op = uint32(2*each), refs.Store
	if load {
		m.op = refs.Load
		if !vector {
			in.loseZ(field(w, 4, 0))
			in.loseZ(field(w, 14, 10))
		}
	}
	m.indexed(in, imm, mode)
}

// indexed sets the displacement and the change of the base: mode 1 is after,
// 3 before the access, and the others leave the base alone.
func (m *memARM64) indexed(in *inst, imm int64, mode uint32) {
	if mode != 1 {
		m.disp = imm
	}
	if mode&1 == 1 {
		in.effects = append(in.effects, effect{kind: add, dst: m.base, src: none, imm: imm})
	}
}

// singleARM64 is a load or store of one register, and atomic operations.
func singleARM64(w uint32, in *inst, m *memARM64) {
	size, vector, opc, rt := field(w, 31, 30), field(w, 26, 26) == 1, field(w, 23, 22), field(w, 4, 0)
	scale := size
	if vector {
		scale |= opc >> 1 << 2 // 128 bits
	}
	m.size, m.op = 1<<scale, refs.Store
	load := opc&1 == 1
	if !vector {
		load = opc != 0
	}
	if !vector && size == 3 && opc == 2 { // PRFM
		in.accesses = false
		return
	}
	if load {
		m.op = refs.Load
		if !vector {
			in.loseZ(rt)
		}
	}
	switch {
	case field(w, 24, 24) == 1:
		m.disp = int64(field(w, 21, 10)) << scale
	case field(w, 21, 21) == 0:
		m.indexed(in, signed(field(w, 20, 12), 9), field(w, 11, 10))
	case field(w, 11, 10) == 2:
		m.index, m.extend = uint8(field(w, 20, 16)), uint8(field(w, 15, 13))
		if field(w, 12, 12) == 1 {
			m.shift = uint8(scale)
		}
		if m.index == 31 {
			m.index = none
		}
	case field(w, 11, 10) == 0 && !vector: // LDADD, SWP and their kind
		m.op = refs.Modify
		in.loseZ(rt)
	default: // pointer authentication: the base is changed first
		in.why, in.loses = Vector, allARM64
	}
}

// structureARM64 is LD1 to LD4 and ST1 to ST4: one address, several registers.
func structureARM64(w uint32, in *inst, m *memARM64) {
	m.op = refs.Store
	if field(w, 22, 22) == 1 {
		m.op = refs.Load
	}
	m.size = structureSize(w)
	if field(w, 23, 23) == 1 { // writes the base back
		if rm := field(w, 20, 16); rm == 31 {
			in.effects = append(in.effects, effect{kind: add, dst: m.base, src: none, imm: int64(m.size)})
		} else {
			in.effects = append(in.effects, effect{kind: add, dst: m.base, src: uint8(rm), scale: 1})
		}
	}
}

// structureSize is how many bytes a structure load or store moves.
func structureSize(w uint32) uint32 {
	whole := uint32(8) << field(w, 30, 30)
	if field(w, 24, 24) == 0 {
		switch field(w, 15, 12) {
		case 0b0000, 0b0010: // LD4, LD1 of four
			return 4 * whole
		case 0b0100, 0b0110:
			return 3 * whole
		case 0b1000, 0b1010:
			return 2 * whole
		}
		return whole
	}
	registers := field(w, 13, 13)<<1 | field(w, 21, 21)
	registers++
	var each uint32
	switch field(w, 15, 14) {
	case 0:
		each = 1
	case 1:
		each = 2
	case 2:
		each = 4 << field(w, 10, 10)
	case 3: // one element to all lanes
		each = 1 << field(w, 11, 10)
	}
	return registers * each
}

// targetsARM64 returns the targets of direct jumps anywhere in a text.
func targetsARM64(text []byte, pc uint64, yield func(target uint64)) {
	for at := 0; at+4 <= len(text); at += 4 {
		w := binary.LittleEndian.Uint32(text[at:])
		if field(w, 28, 25)&0b1110 != 0b1010 {
			continue
		}
		in := inst{pc: pc + uint64(at)}
		if target := branchARM64(w, &in); target != 0 {
			yield(target)
		}
	}
}
