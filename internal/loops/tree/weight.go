package tree

import (
	"cmp"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/flow"
)

type (
	instruction = flow.Instruction
	mark        = flow.Mark
)

// lineOf returns a line of a text, trimmed; empty if there is none.
func lineOf(text []byte, line int) string {
	lines := strings.Split(string(text), "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	return strings.TrimSpace(lines[line-1])
}

// verdict is how many turns a group made, and why that may be wrong.
type verdict struct {
	counts histogram
	factor int
	why    string
	// entriesSure says that nothing speaks against the entries, turnsSure that
	// nothing does against the turns.
	entriesSure, turnsSure bool
}

// evenness compares marks with turns of the code.
type evenness struct {
	even, uneven uint64 // whole turns with exactly one mark, and others
	unmarked     uint64 // last turns that ran the body without a mark
	astray       uint64 // entries that only marks of turns tell of
}

func (e *evenness) add(o evenness) {
	e.even, e.uneven, e.unmarked, e.astray = e.even+o.even, e.uneven+o.uneven, e.unmarked+o.unmarked, e.astray+o.astray
}

// verdict weighs the turns of the code against the marks of the source. Turns of
// the code are wrong where the compiler took some out of the loop, marks are
// where a turn has several or none. Both are wrong where one turn of the code
// does the work of several.
func (b *build) verdict(g int32, code, marks *tally, e evenness) verdict {
	gr := &b.groups[g]
	parts := b.partsOf(gr)
	v := verdict{counts: code.weighed(parts.turns), factor: 1}
	if gr.statement < 0 {
		v.why = "no loop of the source is known for it: these are turns of the code"
		return v
	}
	st := &b.statements[gr.statement]
	byMarks, byCode := marks.weighed(func(n turns) uint64 { return uint64(n[0]) }), v.counts.total()
	marked := st.marked && !b.twinned(gr) // of which each has marks of the other
	switch {
	case b.untested(gr) && b.rotated(gr):
		v.why = "the condition of the loop is not among what leaves its code"
	case parts.apart: // each part has its own marks
	case len(gr.machines) == 0, marked && e.uneven == 0 && (e.unmarked == 0 || byMarks.total() > v.counts.total()):
		v.counts = byMarks // copies of turns outside the loop have marks too
	case marked && byMarks.total() == v.counts.total():
	case marked && st.testsFirst() && e.uneven == 0 && e.even > 0 && byMarks.total()+e.unmarked == v.counts.total():
		// What ran behind the last mark is the test, with code that was moved into
		// it: a turn begins with its mark.
		v.counts = byMarks
	case marked && (e.even > 0 || e.uneven == 0) && byMarks.total()+min(e.even, e.unmarked) != v.counts.total():
		v.why = "turns of the code and marks of the source tell different numbers"
	}
	if lanes, element := b.packed(gr); lanes > 0 {
		v.factor = lanes
		b.unpack(gr, element, &v)
	} else if copies := b.copies(g); copies > 1 {
		v.factor = copies
		b.unpack(gr, 0, &v)
	}
	switch {
	case v.why != "":
	case st.unproved && b.rotated(gr):
		v.why = "the compiler worked on it, and neither marks nor its text prove its turns"
	case b.unsure(gr):
		v.why = "it has its first code in common with a loop around or inside it, and turns of one cannot be told from those of the other"
	case !marked && (b.copied(gr) || b.rotated(gr) && b.markedOutside(gr)):
		v.why = "some of its turns ran in copies outside its code, without a mark"
	case b.rotated(gr) && byMarks.total() <= byCode && b.stepsOutside(gr):
		v.why = "it begins behind its first turn, of which no code is left"
	case b.rotated(gr) && b.repeats(gr):
		v.why = "one turn of the code holds several turns of the source, each of which may be the last"
	case !marked && b.absorbs(g), (!marked || byMarks.total() == byCode) && b.shares(g): // such marks are of the inner loop, too
		v.why = "a loop inside it has no code of its own, and its turns go round with these"
	case b.threaded(gr):
		v.why = "code of its end is part of a loop inside it: some of its turns begin there, past its own beginning"
	case b.leftEarly(gr):
		v.why = "what ends its last turn is tested at the end of the turn before, so that the last may not be counted"
	case b.rotated(gr) && b.decidedBefore(gr):
		v.why = "a condition of its body is decided before it, and turns in which it then does nothing may have been left out"
	case b.rotated(gr) && b.idles(gr):
		v.why = "a turn can pass without a reference or a call, and the compiler may have left such turns out or put several together"
	case b.entangled(gr):
		v.why = "the compiler made loops inside one another of it, whose turns cannot be told apart"
	}
	doubt := b.doubt(gr, parts, e, byMarks.total() > byCode)
	v.entriesSure, v.turnsSure = doubt == "" && !b.untested(gr), v.why == "" && len(gr.machines) > 0
	if v.why == "" {
		v.why = doubt
	}
	return v
}

// doubt says why entries, or turns that only marks tell of, cannot be trusted;
// empty if nothing speaks against them. More says that there are more marks than
// turns of the code.
func (b *build) doubt(gr *group, p parts, e evenness, more bool) string {
	st := &b.statements[gr.statement]
	switch {
	case len(gr.machines) == 0 && !st.marked:
		return "the compiler left no loop of it, and no mark of its turns"
	case len(gr.machines) == 0:
		// One mark may stand for all turns, where what they do was computed at once.
		return "the compiler left no loop of it, and its entries or turns cannot be told apart"
	case st.marked && more && !b.opens(gr) && b.inlined(gr):
		return "some of its turns ran in copies that may be of another call of its function"
	case e.astray > 0 && !st.endless: // which always makes a turn
		return "some of its turns ran in copies that cannot be told from other entries"
	case b.rotated(gr) && b.testedElsewhere(gr):
		return "its condition is also tested in a copy that made no turn, whose entries cannot be told apart"
	case len(gr.machines) > 1 && !p.apart:
		return "the compiler made several loops of it, whose entries cannot be told apart"
	case gr.parent >= 0 && !b.opens(gr) && (b.entangled(&b.groups[gr.parent]) || b.absorbs(gr.parent) || b.shares(gr.parent) || b.unsure(&b.groups[gr.parent]) || b.groups[gr.parent].statement >= 0 && b.threaded(&b.groups[gr.parent])):
		return "the turns of the loop around it are not certain, so its entries are not"
	case gr.parent >= 0 && b.groups[gr.parent].statement >= 0 && b.untested(&b.groups[gr.parent]) && !b.opens(gr):
		return "the condition of the loop around it is gone, so its entries cannot be told for certain"
	}
	return ""
}

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

// holdsPart reports whether an instruction of a basic stands in a part of the
// text.
func (b *build) holdsPart(id int32, in func(position) bool) bool {
	list := b.listing(id)
	return slices.ContainsFunc(list, func(i instruction) bool { return in(positionOf(&i)) })
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

// opens reports whether marks tell of the entries of a group's statement.
func (b *build) opens(gr *group) bool {
	for id, opened := range b.opened {
		if b.owner[id] == gr.function && slices.Contains(opened, gr.statement) {
			return true
		}
	}
	return false
}

// inlined reports whether a statement stands in the text of another function than
// that of its code.
func (b *build) inlined(gr *group) bool {
	return plainName(b.functions[gr.function].name) != b.statements[gr.statement].shape.function
}

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
				if (list[i].Stores || list[i].Loads && ends) && a.at.column() > 0 && !slices.Contains(places[a], id) {
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

// idles reports whether a way leads once around a loop of a statement without
// anything of the statement that a compiler has to keep: a reference or a call.
// What only computes can be done for several turns at once, before the loop or
// not at all.
func (b *build) idles(gr *group) bool {
	st := &b.statements[gr.statement]
	kept := func(in instruction) bool {
		p := positionOf(&in)
		return (in.Loads || in.Stores || in.Unhooked || in.Ending == flow.Call) && p.file == st.file && st.whole().contains(p.at)
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
// before, and the last turn, which does nothing else, leaves no trace.
func (b *build) leftEarly(gr *group) bool {
	st := &b.statements[gr.statement]
	if !st.endless {
		return false
	}
	begin := func(p position) bool {
		return p.file == st.file && slices.ContainsFunc(st.first, func(s span) bool { return s.contains(p.at) })
	}
	rest := func(p position) bool {
		return p.file == st.file && (st.body.contains(p.at) || st.step.contains(p.at)) && !begin(p)
	}
	for _, m := range gr.machines {
		l := &b.loops[m]
		early := map[int32]bool{} // reached in a turn before anything else of the body
		for todo := []int32{l.header}; len(todo) > 0; todo = todo[1:] {
			if early[todo[0]] || !slices.Contains(l.blocks, todo[0]) || b.holdsPart(todo[0], rest) {
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
			p, ok := b.forest.branch(id)
			if ok && b.loopOf[id] == m && b.basics[id].ending == flow.Branch && begin(p) && b.leaves(m, id) && !early[id] {
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

// movesVectors is why the turns of a loop are doubted that only moves.
const movesVectors = "it moves whole vectors, so that one turn of the code may be several of the source"

// sideBySide doubts loops of which an inner one works on several turns at once: its
// vectors do not lie along its own steps but along those of a loop around it, which
// then goes on by a whole vector a turn. The inner loop is entered once for all of
// them.
func (b *build) sideBySide() {
	doubt := func(row int, why string) {
		b.entriesSure[row], b.turnsSure[row] = false, false
		if l := &b.out.Loops[row]; l.Exact {
			l.Exact, l.Why = false, why
		}
	}
	for n := range b.nodes {
		row := b.rowOfNode(int32(n))
		if row < 0 || b.nodes[n].group < 0 || b.out.Loops[row].Factor < 2 && b.out.Loops[row].Why != movesVectors {
			continue
		}
		for _, a := range b.nodes[n].cost.accesses {
			steps := func(k int) bool { // by a whole vector
				return a.moves.known[k] && max(a.moves.stride[k], -a.moves.stride[k]) == int64(a.size)
			}
			if a.size <= 8 || !a.moves.known[0] || steps(0) {
				continue
			}
			up := int32(n)
			for k := 1; k < len(a.moves.known); k++ {
				for up = b.nodes[up].parent; up > 0 && b.nodes[up].group < 0; {
					up = b.nodes[up].parent
				}
				if up <= 0 {
					break
				}
				if steps(k) {
					doubt(b.rowOfNode(up), "a loop inside it works on several of its turns side by side")
					doubt(row, "it works on several turns of a loop around it side by side, for all of which it is entered once")
				}
			}
		}
	}
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
					l := &b.out.Loops[row]
					l.Exact, l.Why, l.Course = false, "its function was put into itself where it calls itself, and turns of one call cannot be told from those of another", nil
				}
			}
		}
	}
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
		for _, of := range []*Loop{l, around} {
			if of.Exact {
				of.Exact, of.Why, of.Course = false, "the compiler may have exchanged it with the loop around or inside it, and its text proves nothing", nil
			}
		}
	}
}

// unpack counts the turns of a loop on vectors by the bytes of its accesses: each
// position of the source touches one element a turn. That is certain where all
// stores are told apart and agree.
func (b *build) unpack(gr *group, element uint64, v *verdict) {
	if element == 0 && v.factor == 1 { // only moves, which may be of anything
		v.why = movesVectors
		return
	}
	stores, loads, plain := b.elements(gr, element)
	most, same := uint64(0), true
	for _, n := range stores {
		same = same && (most == 0 || n == most)
		most = max(most, n)
	}
	if len(stores) == 0 {
		for _, n := range loads {
			most = max(most, n)
		}
	}
	v.why = "one turn of the code works on several turns of the source side by side; they are counted by the bytes they touch"
	entries := uint64(0)
	for _, times := range v.counts.by {
		entries += times
	}
	if most == 0 || entries == 0 || v.counts.rest > 0 {
		v.why = "one turn of the code works on several turns of the source side by side"
		return
	}
	if most%entries == 0 && len(v.counts.by) == 1 {
		v.counts.by = map[uint64]uint64{most / entries: entries}
	} else {
		v.counts.spread(most)
	}
	st := &b.statements[gr.statement]
	if same && plain && st.straight && len(stores) > 0 && len(stores) == st.stores && len(v.counts.by) == 1 {
		v.why = ""
	}
}

// copies returns how many copies of an access that moves with the turns a loop
// has: more than one where it was unrolled.
func (b *build) copies(g int32) int {
	type operand struct {
		position
		op     refs.Op
		size   uint32
		stride int64
	}
	most := 0
	for n := range b.nodes {
		if b.nodes[n].group != g {
			continue
		}
		count := map[operand]map[uint64]bool{} // by where they would be in turn 0
		for pc, a := range b.nodes[n].cost.accesses {
			in := b.instructionAt(pc)
			if in == nil || !a.moves.known[0] || a.moves.stride[0] == 0 || a.moves.irregular > 0 {
				continue
			}
			o := operand{positionOf(in), a.op, a.size, a.moves.stride[0]}
			if o.column() == 0 {
				continue // several accesses of a line cannot be told apart
			}
			if count[o] == nil {
				count[o] = map[uint64]bool{}
			}
			count[o][a.moves.base()] = true
		}
		for o, bases := range count {
			if n := len(bases); uint64(n) <= magnitude(o.stride) && spread(bases) < magnitude(o.stride) {
				most = max(most, n)
			}
		}
	}
	return most
}

func magnitude(n int64) uint64 { return uint64(max(n, -n)) }

// spread is how far the places of copies are apart: those of one turn lie within
// its stride, other arrays do not.
func spread(bases map[uint64]bool) uint64 {
	low, high := ^uint64(0), uint64(0)
	for at := range bases {
		low, high = min(low, at), max(high, at)
	}
	return high - low
}

// elements returns for each position of a statement's stores and loads how many
// elements they touch. Plain says that each position of a store also ran one
// element at a time, which tells the size.
func (b *build) elements(gr *group, element uint64) (stores, loads map[position]uint64, plain bool) {
	stores, loads, plain = map[position]uint64{}, map[position]uint64{}, true
	type operand struct {
		position
		store bool
	}
	smallest, bytes := map[operand]uint64{}, map[operand]uint64{}
	single := map[operand]uint64{}
	for n := range b.nodes {
		if !b.nodeOfStatement(int32(n), gr) {
			continue
		}
		for pc, a := range b.nodes[n].cost.accesses {
			in := b.instructionAt(pc)
			if in == nil {
				continue
			}
			p := positionOf(in)
			if p.line() == 0 || b.innermostOf(p) != gr.statement {
				continue
			}
			size := uint64(a.size)
			if element > 0 {
				size = min(size, element)
			}
			o := operand{p, a.op != refs.Load}
			if smallest[o] == 0 || size < smallest[o] {
				smallest[o] = size
			}
			bytes[o] += a.times * uint64(a.size)
			if in.Element == 0 && (single[o] == 0 || uint64(a.size) < single[o]) {
				single[o] = uint64(a.size)
			}
		}
	}
	for o, n := range bytes {
		switch {
		case smallest[o] == 0 || smallest[o] >= vectorBytes: // what it moves is not known
		case o.store:
			plain = plain && single[o] == smallest[o]
			stores[o.position] = n / smallest[o]
		default:
			loads[o.position] = n / smallest[o]
		}
	}
	return stores, loads, plain
}

// nodeOfStatement reports whether references of a node can be of a statement:
// its own nodes and those directly around them, where copies of its turns are.
func (b *build) nodeOfStatement(n int32, gr *group) bool {
	nd := &b.nodes[n]
	if nd.function != gr.function {
		return false
	}
	if nd.group < 0 {
		return gr.parent < 0
	}
	other := &b.groups[nd.group]
	return other.statement == gr.statement && other.parent == gr.parent || nd.group == gr.parent
}

func (b *build) instructionAt(pc uint64) *instruction {
	i, ok := slices.BinarySearchFunc(b.instructions, pc, func(in instruction, pc uint64) int { return cmp.Compare(in.PC, pc) })
	if !ok {
		return nil
	}
	return &b.instructions[i]
}

// parts says how the loops of a group share its turns: one after the other, or
// each all turns for a part of the body.
type parts struct{ apart bool }

func (p parts) turns(n turns) uint64 {
	total := uint64(0)
	for _, k := range n {
		if p.apart {
			total = max(total, uint64(k))
		} else {
			total += uint64(k)
		}
	}
	return total
}

// partsOf compares where in the source the accesses and calls of a group's loops
// stand.
func (b *build) partsOf(gr *group) parts {
	if len(gr.machines) < 2 || len(gr.machines) > maxParts {
		return parts{}
	}
	seen := map[position]bool{}
	for _, m := range gr.machines {
		own := map[position]bool{}
		for _, id := range b.loops[m].blocks {
			list := b.listing(id)
			for i := range list {
				if p := positionOf(&list[i]); (list[i].Loads || list[i].Stores || list[i].Ending == flow.Call) && p.line() > 0 {
					own[p] = true
				}
			}
		}
		if len(own) == 0 { // nothing tells it from a copy
			return parts{}
		}
		for p := range own {
			if seen[p] {
				return parts{}
			}
		}
		for p := range own {
			seen[p] = true
		}
	}
	return parts{apart: true}
}

// twinned reports whether a loop of a group has its header in common with one
// around or inside it.
func (b *build) twinned(gr *group) bool {
	return slices.ContainsFunc(gr.machines, func(m int32) bool { return b.loops[m].twin || b.loopOf[b.loops[m].header] != m })
}

// unsure reports whether turns of a twin and of the loop around it cannot be told
// apart.
func (b *build) unsure(gr *group) bool {
	return slices.ContainsFunc(gr.machines, func(m int32) bool { return b.loops[m].unsure })
}

func (b *build) untested(gr *group) bool {
	for _, m := range gr.machines {
		if !b.loops[m].tested {
			return true
		}
	}
	return false
}

// vectorBytes is the shortest vector.
const vectorBytes = 16

// packed returns how many turns of the source one turn of the code does at most,
// as vector instructions tell, and the size of the elements they compute with: 0
// if that is not one size. One lane is several of an unknown size, none is a
// plain loop.
func (b *build) packed(gr *group) (lanes int, element uint64) {
	sizes := map[uint64]bool{}
	look := func(id int32, around int32) {
		list := b.listing(id)
		for i := range list {
			in := &list[i]
			if in.Element == 0 {
				continue
			}
			st := b.innermostOf(positionOf(in))
			nested := st >= 0 && b.inStatement(st, gr.statement)
			if st != gr.statement && (!nested || b.hasLoop(around, st)) && (nested || around < 0) {
				continue
			}
			lanes = max(lanes, 1)
			if in.Element != flow.Wide {
				sizes[uint64(in.Element)] = true
				lanes = max(lanes, vectorBytes/int(in.Element))
			}
		}
	}
	for _, m := range gr.machines {
		for _, id := range b.loops[m].blocks {
			if b.loopOf[id] == m {
				look(id, m)
			}
		}
	}
	for id := range b.basics {
		if b.owner[id] == gr.function && (b.loopOf[id] < 0 && gr.parent < 0 || b.loopOf[id] >= 0 && b.groupOf[b.loopOf[id]] == gr.parent) {
			look(int32(id), -1)
		}
	}
	if len(sizes) == 1 {
		for element = range sizes {
		}
	}
	return lanes, element
}

// innermostOf is the smallest statement around a position; -1 if none is.
func (f *forest) innermostOf(p position) int32 {
	best := int32(-1)
	for id := range f.statements {
		if st := &f.statements[id]; st.file == p.file && st.whole().contains(p.at) && (best < 0 || f.statements[best].at < st.at) {
			best = int32(id)
		}
	}
	return best
}

// inStatement reports whether one statement lies inside another.
func (b *build) inStatement(inner, outer int32) bool {
	x, y := b.statements[inner].whole(), b.statements[outer].whole()
	return inner != outer && b.statements[inner].file == b.statements[outer].file && y.from <= x.from && x.to <= y.to
}

// hasLoop reports whether a statement has a loop of the code inside another.
func (f *forest) hasLoop(around, st int32) bool {
	for l := range f.loops {
		if f.loops[l].statement == st && (around < 0 || int32(l) != around && f.contains(around, int32(l))) {
			return true
		}
	}
	return false
}
