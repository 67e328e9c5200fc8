package operand

import (
	"slices"

	"github.com/isobath/isobath/internal/data/refs"
)

// emulation is a thread at some instruction: what is known of its registers and
// of its stack.
type emulation struct {
	regs Registers
	lost uint32 // registers that are not known
	bias uint64
	// memory is the stack at the interrupt; written is what instructions have
	// changed since, blind says that one wrote nobody knows where.
	memory Memory
	// later is all of memory, read a while after the interrupt; doubt says that
	// something was taken from there.
	later   Memory
	doubt   bool
	written []written
	blind   bool
	// reads are the words that were taken from memory; late says that one of them
	// was written afterwards, so that it was another at the time.
	reads []uint64
	late  bool
	forks int // jumps that were followed both ways
}

// written is memory that an instruction changed; the value of a whole word may
// be known.
type written struct {
	addr, size uint64
	value      uint64
	known      bool
}

// address is that of the first access of an instruction about to run.
func (f *Function) address(i int, s *emulation) (Access, bool) {
	in := &f.insts[i]
	if !in.accesses || in.why != Found || in.uses&s.lost != 0 {
		return Access{}, false
	}
	a, ok := f.eval(f, i, s.bias, &s.regs)
	a.Unverified = s.doubt
	return a, ok
}

// execute runs one instruction that does not jump.
func (f *Function) execute(i int, s *emulation) {
	in := &f.insts[i]
	a, known := f.address(i, s)
	value, loaded := uint64(0), false
	if in.loads != none && known {
		value, loaded = s.read(a.Addr, a.Size, in.signed)
	}
	if loaded && in.combine != nil {
		value, loaded = in.combine(s.regs[in.loads], value), s.lost&bit(in.loads) == 0
		value = value << (64 - 8*a.Size) >> (64 - 8*a.Size) // the upper half becomes zero
	}
	stored := in.stores != none && s.lost&bit(in.stores) == 0
	if stored {
		value = s.regs[in.stores]
	}
	for _, e := range in.effects {
		s.lost = e.follow(&s.regs, s.lost)
	}
	s.lost |= in.loses
	switch {
	case loaded:
		s.regs[in.loads] = value
		s.lost &^= bit(in.loads)
	case !in.accesses:
	case in.filled > 0, !known:
		if in.filled > 0 || in.loads == none { // it may have written anywhere
			s.blind, s.late = true, s.late || len(s.reads) > 0
		}
	case a.Op != refs.Load:
		s.written = append(s.written, written{a.Addr, uint64(a.Size), value, stored && a.Size == 8})
		s.late = s.late || s.overwrites(a)
	}
}

// overwrites reports whether an access changes a word that was read before.
func (s *emulation) overwrites(a Access) bool {
	return a.Op != refs.Load && slices.ContainsFunc(s.reads, func(at uint64) bool { return a.Addr < at+8 && at < a.Addr+uint64(a.Size) })
}

// read returns memory as it is now; of what was not written since, as it was at
// the interrupt.
func (s *emulation) read(addr uint64, size uint32, signed bool) (uint64, bool) {
	if s.blind {
		return 0, false
	}
	for i := len(s.written) - 1; i >= 0; i-- {
		w := &s.written[i]
		if addr+uint64(size) <= w.addr || addr >= w.addr+w.size {
			continue
		}
		if w.addr == addr && w.known && size == 8 {
			return w.value, true
		}
		return 0, false
	}
	v, ok := s.memory.word(addr)
	if !ok {
		if v, ok = s.later.word(addr); !ok {
			return 0, false
		}
		s.doubt = true
	}
	s.reads = append(s.reads, addr)
	if shift := 64 - 8*size; shift > 0 && shift < 64 {
		v <<= shift
		if signed {
			v = uint64(int64(v) >> shift)
		} else {
			v >>= shift
		}
	}
	return v, true
}
