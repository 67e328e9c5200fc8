package operand

import "slices"

// flags are the condition flags, as far as they are known. Carry is a borrow
// after a subtraction, as on x86.
type flags struct {
	known, carryKnown           bool
	zero, sign, carry, overflow bool
}

// Places of the flags in the register that x86 has them in.
const (
	flagCarry    = 1 << 0
	flagZero     = 1 << 6
	flagSign     = 1 << 7
	flagOverflow = 1 << 11
)

// flagsAMD64 is the place of the flags register in Registers; 0 there means
// that it was not sampled, for one of its bits is always set.
const flagsAMD64 = 16

// biasAMD64 is the place in Registers of what was added to link-time addresses,
// which is what an address relative to the program counter is made of.
const biasAMD64 = 17

func flagsOf(word uint64) flags {
	return flags{known: word != 0, carryKnown: word != 0, zero: word&flagZero != 0, sign: word&flagSign != 0, carry: word&flagCarry != 0, overflow: word&flagOverflow != 0}
}

// setter says what an instruction does to the flags.
type setter struct {
	kind   setKind
	unused uint8 // bits at the top of 64 that it does not look at: 0, 32, 48, 56
	a, b   uint8 // b may be none
	imm    int64 // in place of b
}

type setKind uint8

const (
	keep setKind = iota
	lose
	setSub  // a - b
	setAdd  // a + b
	setAnd  // a & b
	setStep // a + imm, the carry stays
)

// apply returns the flags after an instruction, given the registers before it.
func (s setter) apply(f flags, r *Registers, lost uint32) flags {
	if s.kind == keep {
		return f
	}
	if s.kind == lose || lost&(bit(s.a)|bit(s.b)) != 0 {
		return flags{}
	}
	a, b := r[s.a], uint64(s.imm)
	if s.b != none {
		b = r[s.b]
	}
	a, b = a<<s.unused, b<<s.unused // the upper part of a word behaves as a word of its own
	var v uint64
	out := flags{known: true, carryKnown: true}
	switch s.kind {
	case setSub:
		v = a - b
		out.carry = a < b
		out.overflow = (a^b)&(a^v)>>63 == 1
	case setAdd:
		v = a + b
		out.carry = v < a
		out.overflow = ^(a^b)&(a^v)>>63 == 1
	case setAnd:
		v = a & b
	case setStep:
		v = a + b
		out.carry, out.carryKnown = f.carry, f.carryKnown && f.known
		out.overflow = ^(a^b)&(a^v)>>63 == 1
	}
	out.zero, out.sign = v == 0, v>>63 == 1
	return out
}

// contradicts reports whether both cannot be the flags at one time.
func (f flags) contradicts(g flags) bool {
	if !f.known || !g.known {
		return false
	}
	return f.zero != g.zero || f.sign != g.sign || f.overflow != g.overflow || f.carryKnown && g.carryKnown && f.carry != g.carry
}

// condition is when a conditional jump is taken, in the order of x86's codes.
type condition uint8

const (
	ifOverflow condition = iota
	ifNoOverflow
	ifBelow
	ifNotBelow
	ifZero
	ifNotZero
	ifNotAbove
	ifAbove
	ifSign
	ifNoSign
	ifParity
	ifNoParity
	ifLess
	ifNotLess
	ifNotGreater
	ifGreater
	ifRegisterZero    // test.a, of the width that test says
	ifRegisterNotZero // the same
	ifBitZero         // bit test.imm of test.a
	ifBitSet
	unknownCondition
)

// taken reports whether a jump is taken, and whether that is known.
func (in *inst) taken(f flags, r *Registers, lost uint32) (yes, known bool) {
	c := in.when
	switch {
	case c >= unknownCondition:
		return false, false
	case c >= ifRegisterZero:
		if lost&bit(in.sets.a) != 0 {
			return false, false
		}
		v := uint64(0)
		if in.sets.a != none { // else the zero register
			v = r[in.sets.a]
		}
		if c >= ifBitZero {
			return v>>in.sets.imm&1 == uint64(c-ifBitZero), true
		}
		return (v<<in.sets.unused == 0) == (c == ifRegisterZero), true
	}
	switch c &^ 1 {
	case ifOverflow:
		yes = f.overflow
	case ifBelow:
		yes, known = f.carry, f.carryKnown
	case ifZero:
		yes = f.zero
	case ifNotAbove:
		yes, known = f.carry || f.zero, f.carryKnown
	case ifSign:
		yes = f.sign
	case ifParity:
		return false, false
	case ifLess:
		yes = f.sign != f.overflow
	case ifNotGreater:
		yes = f.zero || f.sign != f.overflow
	}
	if needsCarry := c &^ 1; needsCarry != ifBelow && needsCarry != ifNotAbove {
		known = true
	}
	return yes != (c&1 == 1), known && f.known
}

// at returns the index of the instruction at an address.
func (f *Function) at(pc uint64) (int, bool) {
	return slices.BinarySearchFunc(f.insts, pc, func(in inst, pc uint64) int {
		switch {
		case in.pc < pc:
			return -1
		case in.pc > pc:
			return 1
		}
		return 0
	})
}
