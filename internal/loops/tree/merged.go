package tree

import (
	"slices"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/flow"
)

// Loops that the compiler made one of, or put into one another, so that a turn of
// one may be taken for a turn of the other.

// absorbs reports whether turns of a statement inside a group, of which no loop
// of the code is left, go back to the header of the group's loop: where both
// begin alike, the compiler goes round one loop for either.
func (b *build) absorbs(g int32) bool {
	for i := range b.groups {
		in := &b.groups[i]
		if b.groups[g].statement < 0 || in.parent != g || len(in.machines) > 0 || in.statement < 0 {
			continue
		}
		for _, m := range b.groups[g].machines {
			if b.returns(m, b.groups[g].statement, in.statement) {
				return true
			}
		}
	}
	return false
}

// shares reports whether turns of a statement inside a group, of which nothing is
// left but its test, go round in the group's loop: the compiler made one piece of code
// of what a turn of either does.
func (b *build) shares(g int32) bool {
	outer := b.groups[g].statement
	if outer < 0 || !b.rotated(&b.groups[g]) {
		return false
	}
	for inner := range int32(len(b.statements)) {
		if !b.inStatement(inner, outer) {
			continue
		}
		for _, m := range b.groups[g].machines {
			if !b.hasLoop(m, inner) && (b.passesTest(m, outer, inner) || b.fused(m, inner)) {
				return true
			}
		}
	}
	return false
}

// threaded reports whether what ends a turn of a group's statement, its condition or
// step, has code in a loop inside it: where the compiler knew that it goes on, and
// with what, it jumps from there to that loop, past the header.
func (b *build) threaded(gr *group) bool {
	st := &b.statements[gr.statement]
	for c := range b.loops {
		in := &b.loops[c]
		if in.parent < 0 || in.statement < 0 || in.statement == gr.statement || !slices.Contains(gr.machines, in.parent) || !b.inStatement(in.statement, gr.statement) {
			continue
		}
		for _, id := range in.blocks {
			if b.loopOf[id] == int32(c) && b.holdsPart(id, func(p position) bool {
				return p.file == st.file && p.column() > 0 && (st.cond.contains(p.at) || st.step.contains(p.at)) && !b.statements[in.statement].whole().contains(p.at)
			}) {
				return true
			}
		}
	}
	return false
}

// fused reports whether turns of an inner statement begin in a loop, several ways
// lead back to its header or none is tested for the inner one: of do { do … while (a); }
// while (b) compilers make one loop with one condition, of which the places are those
// of the outer one.
func (b *build) fused(m, inner int32) bool {
	st := &b.statements[inner]
	if st.shape.counted != nil || st.endless {
		return false
	}
	l, back, begins, tested := &b.loops[m], 0, false, false
	for _, id := range l.blocks {
		if slices.ContainsFunc(b.forest.next[id], func(e step) bool { return e.to == l.header }) {
			back++
		}
		begins = begins || b.loopOf[id] == m && slices.Contains(b.begun[id], inner)
		p, ok := b.forest.branch(id)
		tested = tested || ok && b.basics[id].ending == flow.Branch && p.file == st.file && st.cond.contains(p.at)
	}
	return begins && (back > 1 || !tested)
}

// passesTest reports whether a way leads from where an inner statement is tested to
// the header of a loop of the outer one past the test of that. Only jumps tell where a
// test is, as code between them is counted to it too.
func (b *build) passesTest(m, outer, inner int32) bool {
	tests := func(id, st int32) bool {
		p, ok := b.forest.branch(id)
		return ok && b.basics[id].ending == flow.Branch && p.file == b.statements[st].file && b.statements[st].cond.contains(p.at)
	}
	l := &b.loops[m]
	seen := map[int32]bool{}
	var todo []int32
	for _, id := range l.blocks {
		if b.loopOf[id] == m && tests(id, inner) {
			todo = append(todo, id)
		}
	}
	for ; len(todo) > 0; todo = todo[1:] {
		for _, e := range b.forest.next[todo[0]] {
			switch {
			case e.to == l.header:
				return true
			case seen[e.to] || !slices.Contains(l.blocks, e.to) || tests(e.to, outer):
				continue
			}
			seen[e.to] = true
			todo = append(todo, e.to)
		}
	}
	return false
}

// returns reports whether a way leads from the body of an inner statement to the
// header of a loop without code that is of the outer statement alone.
func (b *build) returns(m, outer, inner int32) bool {
	l, in, out := &b.loops[m], &b.statements[inner], &b.statements[outer]
	var from []int32
	for _, id := range l.blocks {
		if b.holdsPart(id, func(p position) bool { return p.file == in.file && in.body.contains(p.at) }) {
			from = append(from, id)
		}
	}
	return b.leadsBack(m, from, l.header, func(i instruction) bool {
		p := positionOf(&i)
		return p.file == out.file && (out.body.contains(p.at) || out.step.contains(p.at)) && !in.whole().contains(p.at)
	})
}

// entangled reports whether the loop of the code around a group was taken for the
// same statement, and leads back into it by the statement's own code: a turn of
// either is one. A call at the end of a function that became a jump leads through
// the code before the statement.
func (b *build) entangled(gr *group) bool {
	for _, m := range gr.machines {
		p := b.loops[m].parent
		if p < 0 || gr.statement < 0 || b.loops[p].around != gr.statement || b.opens(gr) {
			continue
		}
		st := &b.statements[gr.statement]
		before := func(in instruction) bool {
			at := positionOf(&in)
			return plainName(in.Place.Function) == st.shape.function && at.file == st.file && at.line() > 0 && at.at < st.whole().from
		}
		if b.leadsBack(p, b.loops[m].blocks, b.loops[m].header, before) {
			return true
		}
	}
	return false
}

// beyond reports whether a turn of a group's code does what stands outside its statement
// in the same function and stays: a call of the function by itself at its end became a jump, or
// the text jumps back, and what goes round is that. A statement that makes one turn at
// most then has no other loop of the code.
func (b *build) beyond(gr *group) bool {
	st := &b.statements[gr.statement]
	whole := st.whole()
	lasts := func(in instruction) bool {
		p := positionOf(&in)
		return (in.Stores || in.Ending == flow.Call) && p.file == st.file && p.column() > 0 && !whole.contains(p.at) && plainName(in.Place.Function) == st.shape.function
	}
	for _, m := range gr.machines {
		for _, id := range b.loops[m].blocks {
			if b.loopOf[id] == m && slices.ContainsFunc(b.listing(id), lasts) {
				return true
			}
		}
	}
	return false
}

// leadsBack reports whether a way within a loop leads from some basics to a header
// without an instruction that stops it.
func (b *build) leadsBack(m int32, from []int32, header int32, stops func(instruction) bool) bool {
	todo, seen := slices.Clone(from), map[int32]bool{}
	for _, id := range from {
		seen[id] = true
	}
	for ; len(todo) > 0; todo = todo[1:] {
		for _, e := range b.forest.next[todo[0]] {
			switch {
			case e.to == header && !(seen[e.to] && slices.Contains(from, todo[0])):
				return true
			case seen[e.to] || !slices.Contains(b.loops[m].blocks, e.to) || slices.ContainsFunc(b.listing(e.to), stops):
				continue
			}
			seen[e.to] = true
			todo = append(todo, e.to)
		}
	}
	return false
}

// intoItself doubts loops of a function that the compiler put into itself, where it
// calls itself: a turn of a loop and one of the loop around it are then of one
// statement, and whose they are cannot be told.
func (b *build) intoItself() {
	for row, groups := range b.members {
		for _, g := range groups {
			st := b.groups[g].statement
			for up := b.groups[g].parent; up >= 0 && st >= 0; up = b.groups[up].parent {
				if b.groups[up].statement == st {
					b.entriesSure[row], b.turnsSure[row] = false, false
					b.unsupported[row] = Unknown{Entries: true, Trips: true}
					l := &b.out.Loops[row]
					l.Exact, l.Why, l.Course = false, "its function was put into itself where it calls itself, and turns of one call cannot be told from those of another", nil
				}
			}
		}
	}
}

// toldAlone reports whether entries and turns of a row are those that the text tells.
func (b *build) toldAlone(row int) bool {
	if b.prover == nil {
		return false
	}
	h := b.prover.told[b.groups[b.members[row][0]].statement]
	return h != nil && h.trips() == b.out.Loops[row].Trips
}

// exchanged doubts a loop that does nothing but a loop inside it, and that one, where
// the compiler worked on them and their text proves nothing, as in Fortran: it may
// have exchanged them, and the turns of one are then told as those of the other.
func (b *build) exchanged() {
	inside := make([]int, len(b.out.Loops))
	for i := range b.out.Loops {
		if p := b.out.Loops[i].Parent; p >= 0 {
			inside[p]++
		}
	}
	for row := range b.members {
		l := &b.out.Loops[row]
		if l.Parent < 0 || l.Parent >= len(b.members) || l.Kind != Plain || !(refs.Place{File: l.File}).Fortran() {
			continue
		}
		around := &b.out.Loops[l.Parent]
		if around.Kind != Plain || around.Own > 0 || inside[l.Parent] > 1 || !b.reworked(row) {
			continue
		}
		for _, r := range []int{row, l.Parent} {
			if of := &b.out.Loops[r]; of.Exact && !b.toldAlone(r) {
				of.Exact, of.Why, of.Course = false, "the compiler may have exchanged it with the loop around or inside it, and its text proves nothing", nil
			}
		}
	}
}
