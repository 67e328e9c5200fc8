package access

// Obstacle says why the address of an access cannot be worked out from general
// registers.
type Obstacle uint8

// The obstacles.
const (
	NoObstacle   Obstacle = iota
	NeedsSegment          // the base of a segment
	NeedsVector           // vector or mask registers
)

// Uses returns the general registers, a bit each by their encoding, that the
// address of the first access depends on; false if there is none.
func (in *AMD64) Uses() (general uint32, why Obstacle, ok bool) {
	if in.n == 0 {
		return 0, NoObstacle, false
	}
	o := &in.ops[0]
	if o.segment != 0 {
		return 0, NeedsSegment, true
	}
	switch o.form {
	case push, pop:
		return 1 << rsp, NoObstacle, true
	case gather, masked, packed:
		return 0, NeedsVector, true
	case bit:
		general |= 1 << o.mask
	case table:
		general |= 1 << rax
	}
	for _, r := range []uint8{o.base, o.index} {
		if r < 16 {
			general |= 1 << r
		}
	}
	if in.Repeats {
		general |= 1 << rcx
	}
	return general, NoObstacle, true
}

// Fixed returns the address of the only access of the instruction at pc where no
// register decides it; false where one does.
func (in *AMD64) Fixed(pc uint64) (uint64, bool) {
	general, why, ok := in.Uses()
	if in.n != 1 || !ok || general != 0 || why != NoObstacle {
		return 0, false
	}
	return in.ops[0].addr(&RegsAMD64{PC: pc}, in.Len), true
}
