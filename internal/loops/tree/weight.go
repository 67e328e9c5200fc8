package tree

import (
	"slices"

	"github.com/isobath/isobath/internal/data/refs/flow"
)

type (
	instruction = flow.Instruction
	mark        = flow.Mark
)

// verdict is how many turns a group made, and why that may be wrong.
type verdict struct {
	counts histogram
	factor int
	why    string
	// entriesSure says that nothing speaks against the entries, turnsSure that
	// nothing does against the turns.
	entriesSure, turnsSure bool
	// unsupported are the numbers that nothing speaks for: better none than these.
	unsupported Unknown
}

// evenness compares marks with turns of the code.
type evenness struct {
	even, uneven uint64 // whole turns with exactly one mark, and others
	unmarked     uint64 // last turns that ran the body without a mark
	astray       uint64 // entries that only marks of turns tell of
	ended        uint64 // unmarked ones that its own condition ended
}

func (e *evenness) add(o evenness) {
	e.even, e.uneven, e.unmarked, e.astray, e.ended = e.even+o.even, e.uneven+o.uneven, e.unmarked+o.unmarked, e.astray+o.astray, e.ended+o.ended
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
	case marked && st.testsFirst() && e.uneven == 0 && e.even > 0 && e.ended == e.unmarked && byMarks.total()+e.unmarked == v.counts.total():
		// What ran behind the last mark is the test, with code that was moved into
		// it: a turn begins with its mark.
		v.counts = byMarks
	case marked && b.eachTurnTested(gr) && !b.absorbs(g) && !b.shares(g): // some turns have several marks, or none
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
	resumed := st.resumed || b.irreducible(gr)
	switch {
	case v.why != "":
	case resumed:
		v.why = "turns of it begin in their middle, where its code is entered again"
	case !marked && e.ended > 0 && st.testsFirst() && !b.rotated(gr):
		v.why = "code that cannot be told from its body ran before the test that ended it, which is a turn or is not"
	case b.testedInBody(gr):
		v.why = "code of its body stands in front of its test, so that the last test cannot be told from a turn"
	case b.lastUntold(gr):
		v.why = "what counts and what tests have one line in the text, so that the last turn cannot be told from the test"
	case st.unproved && b.rotated(gr), b.blendedUnproved(gr):
		v.why = "the compiler worked on it, and neither marks nor its text prove its turns"
	case !(marked && e.uneven == 0) && b.begunBefore(gr):
		v.why = "its code begins with its test, before which a turn may have been made already that left no code"
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
	case b.beyond(gr):
		v.why = "its code does what stands outside it, too, so that what goes round may be a call of its function by itself, or a jump back"
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
	outside := e.astray > 0 && byMarks.total() != v.counts.total() // turns that only marks tell of are not counted
	v.entriesSure, v.turnsSure = doubt == "" && !b.untested(gr) && !resumed, v.why == "" && len(gr.machines) > 0 && !outside
	if v.why == "" {
		v.why = doubt
	}
	switch doubt {
	case whySeveral, whyAstray, whyOtherCall:
		v.unsupported.Entries = true
	}
	if up := st.shape.parent; len(gr.machines) == 0 && up >= 0 && (gr.parent < 0 || b.groups[gr.parent].statement != up) {
		v.unsupported.Entries = true // the loop around it has no code either, and its turns are not told apart
	}
	if resumed {
		v.unsupported.Entries = true
	}
	if len(gr.machines) == 0 && b.inlined(gr) {
		v.unsupported.Entries = true // those in other copies of its function may have left no mark
	}
	if slices.ContainsFunc(gr.machines, func(m int32) bool { return b.loops[m].around >= 0 && !b.loops[m].tested }) {
		v.unsupported = Unknown{Entries: true, Trips: true} // that it is this statement is a guess
	}
	v.unsupported.Trips = v.unsupported.Trips || len(gr.machines) == 0 && v.counts.once() && !b.testedAfter(gr)
	return v
}

// Doubts about entries that are counted and mostly wrong.
const (
	whySeveral   = "the compiler made several loops of it, whose entries cannot be told apart"
	whyAstray    = "some of its turns ran in copies that cannot be told from other entries"
	whyOtherCall = "some of its turns ran in copies that may be of another call of its function"
)

// testedAfter reports whether the condition of a group's statement, of which no loop is
// left, was tested after a turn, or the turn came to a statement that leaves it: it might
// have gone on. Else the mark of one turn may stand for all of them, where what they do
// was computed at once.
func (b *build) testedAfter(gr *group) bool {
	st := &b.statements[gr.statement]
	var begins []int32
	tests, header := map[int32]bool{}, map[int32]bool{}
	for id := range int32(len(b.basics)) {
		if b.owner[id] != gr.function {
			continue
		}
		if slices.Contains(b.begun[id], gr.statement) {
			begins = append(begins, id)
		}
		p, ok := b.forest.branch(id)
		tests[id] = ok && b.basics[id].ending == flow.Branch && p.file == st.file && st.cond.contains(p.at) ||
			b.holdsPart(id, func(p position) bool { return p.file == st.file && slices.Contains(st.leavings, p.at) })
	}
	for _, id := range begins {
		if tests[id] {
			return true
		}
		if l := b.loopOf[id]; l >= 0 {
			header[b.loops[l].header] = true // behind it comes the next turn around
		}
	}
	return b.leadsInto(begins, tests, header)
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
		return whyOtherCall
	case e.astray > 0 && !st.endless: // which always makes a turn
		return whyAstray
	case b.rotated(gr) && b.testedElsewhere(gr):
		return "its condition is also tested in a copy that made no turn, whose entries cannot be told apart"
	case len(gr.machines) > 1 && !p.apart:
		return whySeveral
	case gr.parent >= 0 && !b.opens(gr) && (b.entangled(&b.groups[gr.parent]) || b.absorbs(gr.parent) || b.shares(gr.parent) || b.unsure(&b.groups[gr.parent]) || b.groups[gr.parent].statement >= 0 && b.threaded(&b.groups[gr.parent])):
		return "the turns of the loop around it are not certain, so its entries are not"
	case gr.parent >= 0 && b.groups[gr.parent].statement >= 0 && b.untested(&b.groups[gr.parent]) && (!b.opens(gr) || !st.shape.always && b.rotated(gr)):
		return "the condition of the loop around it is gone, so its entries cannot be told for certain"
	}
	return ""
}

// eachTurnTested reports whether every turn of a group passes the test that the code of
// its only loop begins with: no mark of a turn is outside it.
func (b *build) eachTurnTested(gr *group) bool {
	if len(gr.machines) != 1 || b.rotated(gr) || !b.statements[gr.statement].testsFirst() {
		return false
	}
	for id, begun := range b.begun {
		if slices.Contains(begun, gr.statement) && b.owner[id] == gr.function && !slices.Contains(b.loops[gr.machines[0]].blocks, int32(id)) {
			return false
		}
	}
	return true
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

// irreducible reports whether code of a group is entered at more than one place.
func (b *build) irreducible(gr *group) bool {
	return slices.ContainsFunc(gr.machines, func(m int32) bool { return b.loops[m].irreducible })
}

func (b *build) untested(gr *group) bool {
	for _, m := range gr.machines {
		if !b.loops[m].tested {
			return true
		}
	}
	return false
}
