package tree

import (
	"slices"

	"github.com/isobath/isobath/internal/data/refs/flow"
)

// What the compiler did with the turns of a loop in its own code: copies, turns that
// do nothing, ends that are tested early.

// copied reports whether code that a turn of a statement runs also ran outside its
// loops. What it reads, computes and tests first may have been moved out; what it
// writes and calls is a copy of the turn.
func (b *build) copied(gr *group) bool {
	st := &b.statements[gr.statement]
	inside := b.inLoops(gr)
	acts := func(in *instruction) bool {
		p := positionOf(in)
		return (in.Stores || in.Ending == flow.Call) && p.file == st.file && p.column() > 0 && st.body.contains(p.at)
	}
	for id := range b.basics {
		if b.owner[id] != gr.function || inside[int32(id)] {
			continue
		}
		list := b.listing(int32(id))
		for i := range list {
			if acts(&list[i]) {
				return true
			}
		}
	}
	return false
}

// repeats reports whether a way around a loop, without an inner one, passes the
// same place that writes, or that reads for the same test of its end, in two basics:
// the compiler put copies of a turn one behind the other.
func (b *build) repeats(gr *group) bool {
	for _, m := range gr.machines {
		type access struct {
			at, test position
			length   int // parts of one condition may have one position, and differ in this
		}
		places := map[access][]int32{}
		whole := b.acrossCalls(m)
		for _, id := range b.loops[m].blocks {
			if b.loopOf[id] != m {
				continue
			}
			test, ends := b.forest.branch(id)
			ends = ends && b.basics[id].ending == flow.Branch && b.leaves(m, id)
			list := b.listing(id)
			for i := range list {
				a := access{at: positionOf(&list[i])}
				if !list[i].Stores {
					a.test = test
					if b.test[id] {
						a.length = len(list)
					}
				}
				if (list[i].Stores || list[i].Loads && ends) && a.at.column() > 0 && !slices.ContainsFunc(places[a], func(o int32) bool { return whole[o] == whole[id] }) {
					places[a] = append(places[a], id)
				}
			}
		}
		for _, at := range places {
			if len(at) > 1 && b.oneAfterOther(m, at) {
				return true
			}
		}
	}
	return false
}

// acrossCalls gives the basics of a loop that calls alone part the same first one: a
// statement that calls may write its place before and behind the call.
func (b *build) acrossCalls(m int32) map[int32]int32 {
	first := map[int32]int32{}
	for _, id := range slices.Sorted(slices.Values(b.loops[m].blocks)) { // in the order of their addresses
		first[id] = id
		if before, ok := first[id-1]; ok && b.basics[id-1].ending == flow.Call && b.basics[id-1].end == b.basics[id].start {
			first[id] = before
		}
	}
	return first
}

// oneAfterOther reports whether one of some basics of a loop is reached from
// another in the same turn.
func (b *build) oneAfterOther(m int32, basics []int32) bool {
	l := &b.loops[m]
	for _, from := range basics {
		seen := map[int32]bool{l.header: true}
		for todo := []int32{from}; len(todo) > 0; todo = todo[1:] {
			for _, e := range b.forest.next[todo[0]] {
				if seen[e.to] || !slices.Contains(l.blocks, e.to) {
					continue
				}
				if slices.Contains(basics, e.to) {
					return true
				}
				seen[e.to] = true
				todo = append(todo, e.to)
			}
		}
	}
	return false
}

// begunBefore reports whether a loop that begins with its test may have made a turn
// before that. Where all of the body was moved out or found to do nothing, what goes
// round is the test at the end of a turn, and looks like the one at its beginning:
// nothing but the test goes round, or it is tested before the loop, too, or that is
// where turns have their mark.
func (b *build) begunBefore(gr *group) bool {
	if !b.statements[gr.statement].testsFirst() {
		return false
	}
	return slices.ContainsFunc(gr.machines, func(m int32) bool {
		h := b.loops[m].header
		return b.test[h] && b.loopOf[h] == m && (b.guarded(gr) || b.begunOutside(gr) || b.onlyTests(m) && !b.bareTests(gr, m))
	})
}

// testedInBody reports whether the code of a statement that tests before its turns begins
// with a test that ended it, has code of the body in front of that which leaves nothing
// behind, and in the text references or calls of the body come later: the compiler moved
// the first of it there, where turns seem to begin, marks and all.
func (b *build) testedInBody(gr *group) bool {
	st := &b.statements[gr.statement]
	if !st.testsFirst() {
		return false
	}
	lasts := func(in instruction) bool { return in.Stores || in.Ending == flow.Call }
	return slices.ContainsFunc(gr.machines, func(m int32) bool {
		h := b.loops[m].header
		p, ok := b.forest.branch(h)
		if !ok || b.loopOf[h] != m || b.test[h] || b.basics[h].ending != flow.Branch || p.file != st.file || !st.cond.contains(p.at) ||
			!b.leaves(m, h) || slices.ContainsFunc(b.listing(h), lasts) {
			return false
		}
		first := uint32(0) // where the last of that code stands
		for _, in := range b.listing(h) {
			if p := positionOf(&in); p.file == st.file && st.body.contains(p.at) {
				first = max(first, p.at)
			}
		}
		return slices.ContainsFunc(b.loops[m].blocks, func(id int32) bool {
			return id != h && slices.ContainsFunc(b.listing(id), func(in instruction) bool {
				p := positionOf(&in)
				return (in.Loads || lasts(in)) && p.file == st.file && st.body.contains(p.at) && p.at > first
			})
		})
	})
}

// guarded reports whether the condition of a group's statement is tested before its
// loops. A part of it that always ended them stands outside, too, but is come to from
// inside only.
func (b *build) guarded(gr *group) bool {
	inside := b.inLoops(gr)
	for from, steps := range b.forest.next {
		for _, e := range steps {
			if !inside[int32(from)] && b.guard[e.to] == gr.statement && b.owner[e.to] == gr.function && b.groupAround(e.to) == gr.parent {
				return true
			}
		}
	}
	return false
}

// begunOutside reports whether a group's statement has marks of turns in its function,
// but none in its loops.
func (b *build) begunOutside(gr *group) bool {
	inside := b.inLoops(gr)
	outside := false
	for id, begun := range b.begun {
		if b.owner[id] != gr.function || !slices.Contains(begun, gr.statement) {
			continue
		}
		if inside[int32(id)] {
			return false
		}
		outside = true
	}
	return outside
}

// onlyTests reports whether a way leads once around a loop through nothing but tests
// of its condition.
func (b *build) onlyTests(m int32) bool {
	header := b.loops[m].header
	seen := map[int32]bool{}
	for todo := []int32{header}; len(todo) > 0; todo = todo[1:] {
		for _, e := range b.forest.next[todo[0]] {
			if e.to == header {
				return true
			}
			if b.loopOf[e.to] == m && b.test[e.to] && !seen[e.to] {
				seen[e.to] = true
				todo = append(todo, e.to)
			}
		}
	}
	return false
}

// bareTests reports whether a loop has no body, and each test of its condition does
// something that lasts, which stands once in the code: all tests are turns of the loop
// but the last.
func (b *build) bareTests(gr *group, m int32) bool {
	st := &b.statements[gr.statement]
	lasts := func(in instruction) bool {
		p := positionOf(&in)
		return (in.Stores || in.Ending == flow.Call) && p.file == st.file && st.cond.contains(p.at)
	}
	var at []int32
	for id := range int32(len(b.basics)) {
		if b.owner[id] == gr.function && slices.ContainsFunc(b.listing(id), lasts) {
			at = append(at, id)
		}
	}
	return st.bare && !st.shape.guarded && slices.Equal(at, []int32{b.loops[m].header})
}

// idles reports whether a way leads once around a loop of a statement without
// anything of the statement that a compiler has to keep: a reference or a call.
// What only computes can be done for several turns at once, before the loop or
// not at all.
func (b *build) idles(gr *group) bool {
	st := &b.statements[gr.statement]
	kept := func(in instruction) bool {
		p := positionOf(&in)
		return (in.Loads || in.Stores || in.Unhooked || in.Ending == flow.Call) && (p.file == st.file && st.whole().contains(p.at) || calledIn(&in, st.whole(), st.file))
	}
	for _, m := range gr.machines {
		l := &b.loops[m]
		seen := map[int32]bool{}
		for todo := []int32{l.header}; len(todo) > 0; todo = todo[1:] {
			if seen[todo[0]] || slices.ContainsFunc(b.listing(todo[0]), kept) {
				continue
			}
			seen[todo[0]] = true
			for _, e := range b.forest.next[todo[0]] {
				if e.to == l.header {
					return true
				}
				if slices.Contains(l.blocks, e.to) {
					todo = append(todo, e.to)
				}
			}
		}
	}
	return false
}

// leftEarly reports whether an endless loop is left by its first statements, of which the
// code is not at the start of a turn: the compiler tests it at the end of the turn
// before, and the last turn, which does nothing else, leaves no trace. Nor does it where
// the loop is left by what only ends a turn, because the next one is known to be the last.
func (b *build) leftEarly(gr *group) bool {
	st := &b.statements[gr.statement]
	if !st.endless {
		return false
	}
	// What was inlined from a call is of the statement that calls.
	of := func(in *instruction, part span) bool {
		p := positionOf(in)
		return p.file == st.file && part.contains(p.at) || calledIn(in, part, st.file)
	}
	begin := func(in *instruction) bool {
		return slices.ContainsFunc(st.first, func(s span) bool { return of(in, s) })
	}
	rest := func(in instruction) bool { return (of(&in, st.body) || of(&in, st.step)) && !begin(&in) }
	for _, m := range gr.machines {
		l := &b.loops[m]
		early := map[int32]bool{} // reached in a turn before anything else of the body
		for todo := []int32{l.header}; len(todo) > 0; todo = todo[1:] {
			if early[todo[0]] || !slices.Contains(l.blocks, todo[0]) || slices.ContainsFunc(b.listing(todo[0]), rest) {
				continue
			}
			early[todo[0]] = true
			for _, e := range b.forest.next[todo[0]] {
				if e.to != l.header {
					todo = append(todo, e.to)
				}
			}
		}
		for _, id := range l.blocks {
			list := b.listing(id)
			if len(list) == 0 || b.loopOf[id] != m || b.basics[id].ending != flow.Branch || !b.leaves(m, id) {
				continue
			}
			last := &list[len(list)-1]
			// One statement may be of both turns where a call in it ends the loop.
			if begin(last) && (!early[id] || positionOf(last).file != st.file) || slices.ContainsFunc(st.resuming, func(c span) bool { return of(last, c) }) {
				return true
			}
		}
	}
	return false
}

// leaves reports whether a way leads from a basic out of a loop.
func (b *build) leaves(m, id int32) bool {
	return slices.ContainsFunc(b.forest.next[id], func(e step) bool { return b.loopOf[e.to] < 0 || !b.contains(m, b.loopOf[e.to]) })
}
