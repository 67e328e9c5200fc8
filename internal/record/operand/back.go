package operand

import (
	"slices"

	"github.com/isobath/isobath/internal/data/refs"
)

// walk is a place on a way back, with the registers and flags there.
type walk struct {
	i, steps int
	bias     uint64
	regs     Registers
	lost     uint32
	// lostBefore is lost as it was before the last instruction was undone.
	lostBefore uint32
	flags      flags
	// confirmed says that flags are what the way would leave: it was gone.
	confirmed bool
	// held are registers that hold what the way would have left in them.
	held   uint32
	left   *int // instructions that all ways together may still look at
	memory Memory
}

// trail is where a way back ends: at an access with its address, at one without
// (why is not Found and the access has an instruction), or before any.
type trail struct {
	access    Access
	why       Reason
	confirmed bool
	held      uint32
}

func (t trail) same(u trail) bool {
	return t.why == u.why && t.access.PC == u.access.PC && t.access.Addr == u.access.Addr && t.access.Op == u.access.Op
}

// back walks from an instruction to those that ran before it, to the first that
// accesses memory.
func (f *Function) back(w walk) trail {
	for {
		before, why := f.before(&w)
		switch {
		case len(before) == 0:
			return trail{why: why, held: w.held}
		case len(before) > 1 || why != Found:
			return f.merge(&w, before, why)
		}
		if t, done := f.stepBack(&w, before[0]); done {
			return t
		}
	}
}

// stepBack goes back over one instruction, and is done if it accesses memory or
// is too far away.
func (f *Function) stepBack(w *walk, i int) (trail, bool) {
	w.i = i
	if w.steps++; w.steps > reach {
		return trail{why: TooFar}, true
	}
	if *w.left--; *w.left < 0 {
		return trail{why: Join}, true
	}
	in := &f.insts[i]
	if !f.undoInst(w, i) {
		return trail{why: Refuted}, true
	}
	if !in.accesses {
		return trail{}, false
	}
	t := trail{access: Access{PC: in.pc, Dist: -w.steps}, why: in.why, confirmed: w.confirmed, held: w.held}
	if t.why == Found && in.copies {
		t.why = Copied
	}
	if t.why == Found {
		a, ok := f.filled(in, w)
		if !ok && in.uses&w.lost == 0 {
			a, ok = f.eval(f, i, w.bias, &w.regs)
		}
		if !ok {
			a, ok = f.derive(w, i)
		}
		if !ok {
			t.why = Clobbered
			return t, true
		}
		a.PC, a.Dist = in.pc, -w.steps
		t.access = a
	}
	return t, true
}

// filled is the last access of a string instruction that has run through all its
// rounds: the word below where rdi stands now.
func (f *Function) filled(in *inst, w *walk) (Access, bool) {
	if in.filled == 0 || w.lostBefore&(1<<rdi) != 0 {
		return Access{}, false
	}
	return Access{Addr: w.regs[rdi] - uint64(in.filled), Size: uint32(in.filled), Op: refs.Store}, true
}

// derive works out the address of an instruction whose base is gone from what
// filled the base before it: the instructions before are gone back over until
// running them again, with the stack as it is at the interrupt, gives the base.
func (f *Function) derive(w *walk, i int) (Access, bool) {
	back := *w
	left := reach
	back.left = &left
	for range reach {
		before, why := f.before(&back)
		if len(before) != 1 || why != Found || f.insts[before[0]].flow != straight || f.insts[before[0]].repeats {
			return Access{}, false
		}
		if !f.undoInst(&back, before[0]) {
			return Access{}, false
		}
		back.i = before[0]
		s := emulation{regs: back.regs, lost: back.lost, bias: w.bias, memory: w.memory}
		for k := back.i; k < i; k++ {
			f.execute(k, &s)
		}
		if a, ok := f.address(i, &s); ok {
			return a, !s.late && !s.overwrites(a)
		}
	}
	return Access{}, false
}

// undoInst restores registers and flags as they were before an instruction; false
// if it cannot have run.
func (f *Function) undoInst(w *walk, i int) bool {
	in := &f.insts[i]
	w.lostBefore = w.lost
	if in.limit.refuted(&w.regs, w.lost) {
		return false
	}
	for _, e := range slices.Backward(in.effects) {
		holds, known := e.holds(&w.regs, w.lost)
		if known && !holds {
			return false
		}
		if known && e.kind != add32 {
			w.held |= bit(e.dst) | bit(e.src)
		}
		w.lost = e.undo(&w.regs, w.lost)
	}
	w.lost |= in.loses
	if in.flow != straight || in.sets.kind == keep {
		return true
	}
	left := in.sets.apply(flags{}, &w.regs, w.lost)
	if left.contradicts(w.flags) {
		return false
	}
	w.confirmed = w.confirmed || left.known && w.flags.known
	w.flags = flags{}
	return true
}

// before returns the instructions that may have run just before the one that a
// walk stands at. The reason is set where others may have.
func (f *Function) before(w *walk) (out []int, why Reason) {
	here := &f.insts[w.i]
	switch {
	case here.repeats:
		// Interrupted between its rounds, or before the first: the next round is
		// its own.
		return nil, Repeated
	case here.foreign:
		why = Join
	}
	switch {
	case w.i == 0:
		why = Start
	case f.padding(w.i - 1):
	case f.insts[w.i-1].flow == broken:
		why = Undecodable
	case f.insts[w.i-1].flow == leave:
		if f.insts[w.i-1].calls || len(f.sources[w.i]) == 0 {
			why = Jump
		}
	default:
		if f.went(w, w.i-1, false) {
			out = append(out, w.i-1)
		}
	}
	for _, i := range f.sources[w.i] {
		if f.went(w, i, true) {
			out = append(out, i)
		}
	}
	if len(out) == 0 && why == Found {
		why = Join // flags that contradict every way: jumps that are not known
	}
	return out, why
}

// padding reports whether an instruction does nothing behind one that never comes
// back, and nobody jumps to it: it does not run.
func (f *Function) padding(i int) bool {
	for ; i > 0 && f.insts[i].pads && !f.insts[i].foreign && len(f.sources[i]) == 0; i-- {
		if before := &f.insts[i-1]; before.flow == leave {
			return !before.calls
		}
	}
	return false
}

// went reports whether control may have gone on from an instruction by its jump,
// or past it: flags may say that it did not.
func (f *Function) went(w *walk, i int, jumped bool) bool {
	in := &f.insts[i]
	if in.flow != branch {
		return true
	}
	taken, known := in.taken(w.flags, &w.regs, w.lost)
	return !known || taken == jumped
}

// holds reports whether a register holds what the effect leaves in it, where that
// is known: if not, it did not run.
func (e effect) holds(r *Registers, lost uint32) (yes, known bool) {
	if lost&(bit(e.dst)|bit(e.src)) != 0 || e.src == e.dst {
		return false, false
	}
	v := uint64(e.imm)
	if e.src != none {
		v += r[e.src]
	}
	switch e.kind {
	case move:
		return r[e.dst] == v, true
	case move32:
		return r[e.dst] == uint64(uint32(v)), true
	case add32:
		return r[e.dst]>>32 == 0, true
	case compute:
		return r[e.dst] == e.value(0, v), e.scale == 0
	}
	return false, false
}

// merge looks along several ways back. Where all end at the same access it is
// that one. In a loop it is the one of the way round, since that into it is taken
// once.
func (f *Function) merge(w *walk, before []int, why Reason) trail {
	here := f.insts[w.i].pc
	var round, into, all []trail
	var written uint32 // by the loop
	if why != Found {
		all = append(all, trail{why: Join}) // a way that is not known
	}
	for _, i := range before {
		way := *w
		t, done := f.stepBack(&way, i)
		if !done {
			t = f.back(way)
		}
		if t.why == Refuted {
			continue
		}
		all = append(all, t)
		if f.insts[i].pc >= here {
			round = append(round, t)
			written |= f.writes(w.i, i)
		} else {
			into = append(into, t)
		}
	}
	agree := func(list []trail) bool {
		return len(list) > 0 && !slices.ContainsFunc(list, func(t trail) bool { return !t.same(list[0]) })
	}
	switch {
	case len(all) == 0:
		return trail{why: Refuted}
	case agree(all):
		return all[0]
	case slices.ContainsFunc(into, func(t trail) bool { return t.held&written != 0 }):
		// Registers that the loop changes still are as the way into it left them.
		return trail{why: Join}
	case agree(round) && round[0].access.PC != 0 && round[0].confirmed:
		t := round[0]
		t.access.Unverified = true
		return t
	case !slices.ContainsFunc(all, func(t trail) bool { return t.access.PC != 0 || t.why == Join }):
		return trail{why: TooFar} // no way has an access near
	}
	return trail{why: Join}
}

// writes are the registers that instructions between two write.
func (f *Function) writes(from, to int) (out uint32) {
	for i := from; i <= to; i++ {
		in := &f.insts[i]
		if in.calls {
			return ^uint32(0)
		}
		out |= in.loses
		for _, e := range in.effects {
			out |= bit(e.dst)
			if e.kind == exchange {
				out |= bit(e.src)
			}
		}
	}
	return out
}
