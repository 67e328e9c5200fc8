package unwind

import "slices"

type kind uint8

const (
	same      kind = iota // the caller has what the called function has
	undefined             // it is not known
	saved                 // in memory, n bytes from the frame's address
	offset                // the frame's address plus n
	moved                 // in register reg
	savedBy               // in memory where the expression says
	computed              // what the expression says
)

// rule says where a register of the caller is.
type rule struct {
	kind kind
	reg  int
	n    int64
	expr []byte
}

// row is the rules at one instruction.
type row struct {
	cfa    rule // of kind offset with reg, or computed
	rules  []namedRule
	ra     int
	signal bool // it is what the kernel calls a handler's caller
	signed bool // the return address carries a signature
	low    uint64
	high   uint64
}

type namedRule struct {
	register int
	rule
}

// state is what a program changes.
type state struct {
	cfa    rule
	rules  [registers]rule
	signed bool
}

// Instructions of call frame programs; the three in the two upper bits first.
const (
	opMask            = 0xc0
	opAdvance         = 0x40
	opOffset          = 0x80
	opRestore         = 0xc0
	opNop             = 0x00
	opSetLoc          = 0x01
	opAdvance1        = 0x02
	opAdvance2        = 0x03
	opAdvance4        = 0x04
	opOffsetExtended  = 0x05
	opRestoreExtended = 0x06
	opUndefined       = 0x07
	opSameValue       = 0x08
	opRegister        = 0x09
	opRememberState   = 0x0a
	opRestoreState    = 0x0b
	opDefCFA          = 0x0c
	opDefCFARegister  = 0x0d
	opDefCFAOffset    = 0x0e
	opDefCFAExpr      = 0x0f
	opExpression      = 0x10
	opOffsetSF        = 0x11
	opDefCFASF        = 0x12
	opDefCFAOffsetSF  = 0x13
	opValOffset       = 0x14
	opValOffsetSF     = 0x15
	opValExpression   = 0x16
	opAdvance8        = 0x1d
	opNegateRAPC      = 0x2c
	opNegateRA        = 0x2d
	opArgsSize        = 0x2e
	opNegativeOffset  = 0x2f
)

// maxRemembered bounds nested states. Compilers write one, at an early return.
const maxRemembered = 64

// rules runs the programs of an entry up to an address; nil if they are damaged.
func (m *machine) rules(f *frames, e *fde, pc uint64) *row {
	p := program{machine: m, fde: e, bases: f.bases, at: e.low, until: pc}
	p.bases.function = e.low
	p.reader = reader{b: e.cie.program, order: f.order}
	if !p.run() {
		return nil
	}
	p.initial, p.at = p.now, e.low
	p.reader = reader{b: e.program, order: f.order}
	p.bases.section = e.at
	if !p.run() {
		return nil
	}
	return p.row()
}

type program struct {
	reader
	*machine
	*fde
	bases      bases
	at, until  uint64
	now        state
	initial    state
	remembered []state
}

// run executes instructions until they are about later code. It reports whether
// all were understood.
func (p *program) run() bool {
	for p.left() > 0 && !p.bad {
		code := p.byte()
		low := int(code &^ opMask)
		ok := true
		switch code & opMask {
		case opAdvance:
			if p.advance(uint64(low)) {
				return !p.bad
			}
		case opOffset:
			p.set(low, rule{kind: saved, n: int64(p.uleb()) * p.data})
		case opRestore:
			p.restore(low)
		default:
			var done bool
			if done, ok = p.extended(code); done {
				return ok && !p.bad
			}
		}
		if !ok {
			return false
		}
	}
	return !p.bad
}

// advance moves to later code and reports whether that is past the address.
func (p *program) advance(n uint64) (done bool) {
	p.at += n * p.code
	return p.at > p.until
}

func (p *program) set(register int, r rule) {
	if register >= 0 && register < registers {
		p.now.rules[register] = r
	}
}

func (p *program) restore(register int) {
	if register >= 0 && register < registers {
		p.now.rules[register] = p.initial.rules[register]
	}
}

// register reads the number of a register.
func (p *program) register() int { return int(min(p.uleb(), registers)) }

// extended executes an instruction without an operand in its first byte.
func (p *program) extended(code byte) (done, ok bool) {
	switch code {
	case opNop:
	case opSetLoc:
		p.at = p.pointer(p.encoding, p.word, p.bases)
		done = p.at > p.until
	case opAdvance1:
		done = p.advance(p.number(1))
	case opAdvance2:
		done = p.advance(p.number(2))
	case opAdvance4:
		done = p.advance(p.number(4))
	case opAdvance8:
		done = p.advance(p.number(8))
	case opRestoreExtended:
		p.restore(p.register())
	case opRememberState:
		if len(p.remembered) == maxRemembered {
			return true, false
		}
		p.remembered = append(p.remembered, p.now)
	case opRestoreState:
		n := len(p.remembered)
		if n == 0 {
			return true, false
		}
		p.now, p.remembered = p.remembered[n-1], p.remembered[:n-1]
	case opArgsSize:
		p.uleb()
	case opNegateRA, opNegateRAPC:
		if !p.signs {
			return true, false
		}
		p.now.signed = !p.now.signed
	case opDefCFA, opDefCFASF, opDefCFARegister, opDefCFAOffset, opDefCFAOffsetSF, opDefCFAExpr:
		return false, p.frameAddress(code)
	default:
		return false, p.saves(code)
	}
	return done, true
}

// frameAddress changes the rule of the frame's own address.
func (p *program) frameAddress(code byte) bool {
	cfa := &p.now.cfa
	switch code {
	case opDefCFA:
		*cfa = rule{kind: offset, reg: p.register(), n: int64(p.uleb())}
	case opDefCFASF:
		*cfa = rule{kind: offset, reg: p.register(), n: p.sleb() * p.data}
	case opDefCFARegister:
		*cfa = rule{kind: offset, reg: p.register(), n: cfa.n}
	case opDefCFAOffset:
		cfa.n = int64(p.uleb())
		return cfa.kind == offset
	case opDefCFAOffsetSF:
		cfa.n = p.sleb() * p.data
		return cfa.kind == offset
	case opDefCFAExpr:
		*cfa = rule{kind: computed, expr: p.bytes(p.uleb())}
	}
	return true
}

// saves changes the rule of a register.
func (p *program) saves(code byte) bool {
	register := p.register()
	switch code {
	case opOffsetExtended:
		p.set(register, rule{kind: saved, n: int64(p.uleb()) * p.data})
	case opOffsetSF:
		p.set(register, rule{kind: saved, n: p.sleb() * p.data})
	case opNegativeOffset:
		p.set(register, rule{kind: saved, n: -int64(p.uleb()) * p.data})
	case opUndefined:
		p.set(register, rule{kind: undefined})
	case opSameValue:
		p.set(register, rule{kind: same})
	case opRegister:
		p.set(register, rule{kind: moved, reg: p.register()})
	case opExpression:
		p.set(register, rule{kind: savedBy, expr: p.bytes(p.uleb())})
	case opValOffset:
		p.set(register, rule{kind: offset, n: int64(p.uleb()) * p.data})
	case opValOffsetSF:
		p.set(register, rule{kind: offset, n: p.sleb() * p.data})
	case opValExpression:
		p.set(register, rule{kind: computed, expr: p.bytes(p.uleb())})
	default:
		return false
	}
	return true
}

// row keeps what differs from nothing.
func (p *program) row() *row {
	if p.now.cfa.kind == same || p.now.cfa.kind == offset && p.now.cfa.reg >= registers || p.ra < 0 || p.ra >= registers {
		return nil
	}
	out := &row{cfa: p.now.cfa, ra: p.ra, signal: p.signal, signed: p.now.signed, low: p.low, high: p.high}
	for i, r := range p.now.rules {
		if r.kind != same {
			out.rules = append(out.rules, namedRule{i, r})
		}
	}
	out.rules = slices.Clip(out.rules)
	return out
}
