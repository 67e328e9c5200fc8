package unwind

const (
	// maxOperations ends an expression that loops. Real ones have a dozen.
	maxOperations = 1000
	maxOperands   = 64
)

// Operations of DWARF expressions that call frame information may use.
const (
	exprAddr      = 0x03
	exprDeref     = 0x06
	exprConst1u   = 0x08
	exprConst1s   = 0x09
	exprConst2u   = 0x0a
	exprConst2s   = 0x0b
	exprConst4u   = 0x0c
	exprConst4s   = 0x0d
	exprConst8u   = 0x0e
	exprConst8s   = 0x0f
	exprConstu    = 0x10
	exprConsts    = 0x11
	exprDup       = 0x12
	exprDrop      = 0x13
	exprOver      = 0x14
	exprPick      = 0x15
	exprSwap      = 0x16
	exprRot       = 0x17
	exprAbs       = 0x19
	exprAnd       = 0x1a
	exprDiv       = 0x1b
	exprMinus     = 0x1c
	exprMod       = 0x1d
	exprMul       = 0x1e
	exprNeg       = 0x1f
	exprNot       = 0x20
	exprOr        = 0x21
	exprPlus      = 0x22
	exprPlusConst = 0x23
	exprShl       = 0x24
	exprShr       = 0x25
	exprShra      = 0x26
	exprXor       = 0x27
	exprBranch    = 0x28
	exprEq        = 0x29
	exprGe        = 0x2a
	exprGt        = 0x2b
	exprLe        = 0x2c
	exprLt        = 0x2d
	exprNe        = 0x2e
	exprSkip      = 0x2f
	exprLit0      = 0x30
	exprBreg0     = 0x70
	exprBregx     = 0x92
	exprDerefSize = 0x94
	exprNop       = 0x96
	literals      = 32
	wordBytes     = 8
)

// evaluator computes an expression over the registers and stack of a frame.
type evaluator struct {
	reader
	frame   *frame
	stack   [maxOperands]uint64
	n       int
	stopped Stop // why it could not be computed
}

// evaluate returns the value of an expression that begins with the given
// operands. Where it needs what was not copied, stopped says so.
func (f *frame) evaluate(expr []byte, operands ...uint64) (uint64, Stop) {
	e := evaluator{reader: reader{b: expr, order: f.order}, frame: f}
	for _, v := range operands {
		e.push(v)
	}
	for range maxOperations {
		if e.left() == 0 || e.stopped != None {
			break
		}
		e.operation(e.byte())
		if e.bad {
			e.stopped = Damaged
		}
	}
	if e.stopped == None && (e.left() > 0 || e.n == 0) {
		e.stopped = Damaged
	}
	if e.stopped != None {
		return 0, e.stopped
	}
	return e.stack[e.n-1], None
}

func (e *evaluator) damaged() {
	if e.stopped == None {
		e.stopped = Damaged
	}
}

func (e *evaluator) push(v uint64) {
	if e.n == maxOperands {
		e.damaged()
		return
	}
	e.stack[e.n] = v
	e.n++
}

func (e *evaluator) pop() uint64 {
	if e.n == 0 {
		e.damaged()
		return 0
	}
	e.n--
	return e.stack[e.n]
}

// pick pushes a copy of the operand so many below the top.
func (e *evaluator) pick(below int) {
	if below >= e.n {
		e.damaged()
		return
	}
	e.push(e.stack[e.n-1-below])
}

func (e *evaluator) operation(op byte) {
	switch {
	case op >= exprLit0 && op < exprLit0+literals:
		e.push(uint64(op - exprLit0))
	case op >= exprBreg0 && op < exprBreg0+literals:
		e.based(int(op-exprBreg0), e.sleb())
	case op >= exprConst1u && op <= exprConsts || op == exprAddr:
		e.constant(op)
	case op >= exprDup && op <= exprRot:
		e.arrange(op)
	case op >= exprEq && op <= exprNe, op == exprAnd, op >= exprDiv && op <= exprMul, op == exprOr, op == exprPlus, op >= exprShl && op <= exprXor:
		b, a := e.pop(), e.pop()
		e.push(e.binary(op, a, b))
	default:
		e.other(op)
	}
}

func (e *evaluator) other(op byte) {
	switch op {
	case exprNop:
	case exprDeref:
		e.load(wordBytes)
	case exprDerefSize:
		e.load(int(e.byte()))
	case exprBregx:
		e.based(int(min(e.uleb(), registers)), e.sleb())
	case exprAbs:
		if v := int64(e.pop()); v < 0 {
			e.push(uint64(-v))
		} else {
			e.push(uint64(v))
		}
	case exprNeg:
		e.push(-e.pop())
	case exprNot:
		e.push(^e.pop())
	case exprPlusConst:
		e.push(e.pop() + e.uleb())
	case exprSkip:
		e.jump(int(int64(e.signed(2))))
	case exprBranch:
		to := int(int64(e.signed(2)))
		if e.pop() != 0 {
			e.jump(to)
		}
	default:
		e.damaged()
	}
}

func (e *evaluator) jump(by int) {
	if to := e.at + by; to >= 0 && to <= len(e.b) {
		e.at = to
		return
	}
	e.damaged()
}

// based pushes a register plus an offset.
func (e *evaluator) based(register int, n int64) {
	v, ok := e.frame.get(register)
	if !ok && e.stopped == None {
		e.stopped = NoRegister
	}
	e.push(v + uint64(n))
}

// load replaces an address by what is there.
func (e *evaluator) load(size int) {
	if size < 1 || size > wordBytes {
		e.damaged()
		return
	}
	v, stop := e.frame.load(e.pop(), size)
	if stop != None && e.stopped == None {
		e.stopped = stop
	}
	e.push(v)
}

func (e *evaluator) constant(op byte) {
	switch op {
	case exprAddr, exprConst8u, exprConst8s:
		e.push(e.number(8))
	case exprConst1u:
		e.push(e.number(1))
	case exprConst1s:
		e.push(e.signed(1))
	case exprConst2u:
		e.push(e.number(2))
	case exprConst2s:
		e.push(e.signed(2))
	case exprConst4u:
		e.push(e.number(4))
	case exprConst4s:
		e.push(e.signed(4))
	case exprConstu:
		e.push(e.uleb())
	case exprConsts:
		e.push(uint64(e.sleb()))
	}
}

func (e *evaluator) arrange(op byte) {
	switch op {
	case exprDup:
		e.pick(0)
	case exprDrop:
		e.pop()
	case exprOver:
		e.pick(1)
	case exprPick:
		e.pick(int(e.byte()))
	case exprSwap:
		b, a := e.pop(), e.pop()
		e.push(b)
		e.push(a)
	case exprRot:
		c, b, a := e.pop(), e.pop(), e.pop()
		e.push(c)
		e.push(a)
		e.push(b)
	}
}

// binary computes a from below the top and b from the top.
func (e *evaluator) binary(op byte, a, b uint64) uint64 {
	switch op {
	case exprAnd:
		return a & b
	case exprDiv:
		if b == 0 {
			e.damaged()
			return 0
		}
		return uint64(int64(a) / int64(b))
	case exprMinus:
		return a - b
	case exprMod:
		if b == 0 {
			e.damaged()
			return 0
		}
		return a % b
	case exprMul:
		return a * b
	case exprOr:
		return a | b
	case exprPlus:
		return a + b
	case exprShl:
		return a << b
	case exprShr:
		return a >> b
	case exprShra:
		return uint64(int64(a) >> b)
	case exprXor:
		return a ^ b
	}
	return compare(op, int64(a), int64(b))
}

func compare(op byte, a, b int64) uint64 {
	holds := false
	switch op {
	case exprEq:
		holds = a == b
	case exprGe:
		holds = a >= b
	case exprGt:
		holds = a > b
	case exprLe:
		holds = a <= b
	case exprLt:
		holds = a < b
	case exprNe:
		holds = a != b
	}
	if holds {
		return 1
	}
	return 0
}
