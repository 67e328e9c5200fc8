package tree

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/isobath/isobath/internal/data/refs"
)

// lineShift is a cache line of 64 bytes.
const lineShift = 6

// cost is what the references of one node, without those inside it, do.
type cost struct {
	references, loads, stores, modifies, bytes uint64
	lines                                      lineSet
	lastLine                                   uint64
	objects                                    map[uint32]uint64
	accesses                                   map[uint64]*access
}

// access is one instruction of a loop and how its address moves.
type access struct {
	pc    uint64
	op    refs.Op
	size  uint32
	times uint64
	place uint32
	moves affine
}

func (c *cost) add(r *refs.Ref, t *thread) {
	c.references++
	c.bytes += uint64(r.Size)
	switch r.Op {
	case refs.Load:
		c.loads++
	case refs.Store:
		c.stores++
	default:
		c.modifies++
	}
	first, last := r.Addr>>lineShift, (r.Addr+uint64(max(r.Size, 1))-1)>>lineShift
	for line := first; line <= last && line-first < 64; line++ {
		if line+1 != c.lastLine {
			c.lines.add(line)
			c.lastLine = line + 1
		}
	}
	if c.objects == nil {
		c.objects, c.accesses = map[uint32]uint64{}, map[uint64]*access{}
	}
	c.objects[r.Object]++
	a := c.accesses[r.PC]
	if a == nil {
		a = &access{pc: r.PC, op: r.Op, size: r.Size, place: r.Place}
		c.accesses[r.PC] = a
	}
	a.times++
	a.moves.add(r.Addr, t)
}

// maxLevels bounds the loops around an access whose strides are looked for.
const maxLevels = 4

// affine checks whether an address is a constant plus a stride for each turn of
// the loops around it. Strides are learnt when one turn alone changes, and held
// against everything that follows.
type affine struct {
	begun     bool
	irregular uint64 // references that the strides so far do not explain
	times     uint64
	addr      uint64
	turn      [maxLevels]uint64 // innermost first
	stride    [maxLevels]int64
	known     [maxLevels]bool
}

func (f *affine) add(addr uint64, t *thread) {
	var turn [maxLevels]uint64
	levels := 0
	for i := len(t.active) - 1; i >= 0 && levels < maxLevels; i-- {
		a := &t.active[i]
		if a.machine < 0 {
			continue
		}
		whole, done := a.turn, uint64(1)
		for _, pass := range a.passes { // the turn in a pass, the pass in a pass of passes, …
			if levels < maxLevels {
				turn[levels] = whole % pass / done
				levels++
			}
			done = pass
		}
		if levels < maxLevels {
			turn[levels] = whole / done
			levels++
		}
	}
	f.times++
	if !f.begun {
		f.begun, f.addr, f.turn = true, addr, turn
		return
	}
	unknown, changed := -1, 0
	predicted := int64(0)
	for k := range levels {
		d := int64(turn[k] - f.turn[k])
		if d == 0 {
			continue
		}
		if f.known[k] {
			predicted += d * f.stride[k]
			continue
		}
		unknown = k
		changed++
	}
	moved := int64(addr - f.addr)
	switch {
	case changed == 0:
		if moved != predicted {
			f.irregular++
		}
	case changed == 1:
		d := int64(turn[unknown] - f.turn[unknown])
		if (moved-predicted)%d != 0 {
			f.irregular++
			break
		}
		f.stride[unknown], f.known[unknown] = (moved-predicted)/d, true
	default:
		f.irregular++
	}
	f.addr, f.turn = addr, turn
}

// base is the address in turn 0 of all loops around the access.
func (f *affine) base() uint64 {
	at := f.addr
	for k, stride := range f.stride {
		at -= uint64(stride * int64(f.turn[k]))
	}
	return at
}

// lineSet is a set of cache lines. Beyond its bound it keeps every second, every
// fourth … line by a hash, and its size is an estimate.
type lineSet struct {
	slots []uint64 // line + 1; 0 is free
	used  int
	shift uint // lines are kept whose hash has so many low zeros
}

// maxLines bounds one set: 64 MB.
const maxLines = 1 << 22

func hashLine(line uint64) uint64 {
	return bits.RotateLeft64(line*0x9e3779b97f4a7c15, 32) * 0xd6e8feb86659fd93
}

func (s *lineSet) add(line uint64) {
	h := hashLine(line)
	if h&(1<<s.shift-1) != 0 {
		return
	}
	if 2*s.used >= len(s.slots) {
		s.grow()
		if h&(1<<s.shift-1) != 0 {
			return
		}
	}
	mask := uint64(len(s.slots) - 1)
	for k := h >> 20 & mask; ; k = (k + 1) & mask {
		switch s.slots[k] {
		case line + 1:
			return
		case 0:
			s.slots[k] = line + 1
			s.used++
			return
		}
	}
}

func (s *lineSet) grow() {
	old := s.slots
	size := max(16, 2*len(old))
	if s.used >= maxLines {
		s.shift++
		size = len(old)
	}
	s.slots, s.used = make([]uint64, size), 0
	for _, line := range old {
		if line != 0 {
			s.add(line - 1)
		}
	}
}

func (s *lineSet) merge(o *lineSet) {
	s.shift = max(s.shift, o.shift)
	for _, line := range o.slots {
		if line != 0 {
			s.add(line - 1)
		}
	}
	if s.shift > 0 { // what was kept with a smaller shift
		old := s.slots
		s.slots, s.used = make([]uint64, len(old)), 0
		for _, line := range old {
			if line != 0 {
				s.add(line - 1)
			}
		}
	}
}

// size is the number of lines, and whether it is exact.
func (s *lineSet) size() (uint64, bool) { return uint64(s.used) << s.shift, s.shift == 0 }

// Stride is how far an address moves with each turn of a loop.
type Stride struct {
	Level int // 0 is the innermost loop around the access, 1 the one around that
	Bytes int64
}

// Access is one instruction of a loop that makes references.
type Access struct {
	PC         uint64
	Place      refs.Place
	Op         refs.Op
	Size       uint32
	References uint64
	// Strides are those that hold for every reference; Irregular counts the
	// references they do not explain.
	Strides   []Stride
	Irregular uint64
}

func (a *access) export(places []refs.Place) Access {
	out := Access{PC: a.pc, Op: a.op, Size: a.size, References: a.times, Irregular: a.moves.irregular}
	if int(a.place) < len(places) {
		out.Place = places[a.place]
	}
	for k, known := range a.moves.known {
		if known {
			out.Strides = append(out.Strides, Stride{k, a.moves.stride[k]})
		}
	}
	return out
}

// mergeCost adds the costs of several nodes: own are those of the loop itself.
func mergeCost(into *Loop, c *cost) {
	into.References += c.references
	into.Loads += c.loads
	into.Stores += c.stores
	into.Modifies += c.modifies
	into.Bytes += c.bytes
}

// Object is a named piece of memory and how often a loop refers to it.
type Object struct {
	Name       string
	References uint64
}

func objectsOf(counts map[uint32]uint64, names []refs.Object) []Object {
	by := map[string]uint64{}
	for id, n := range counts {
		if id != 0 && int(id) < len(names) {
			by[names[id].Name] += n
		}
	}
	var out []Object
	for name, n := range by {
		out = append(out, Object{name, n})
	}
	slices.SortFunc(out, func(a, b Object) int {
		return cmp.Or(cmp.Compare(b.References, a.References), cmp.Compare(a.Name, b.Name))
	})
	return out
}
