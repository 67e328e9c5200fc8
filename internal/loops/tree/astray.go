package tree

import (
	"maps"
	"slices"

	"github.com/isobath/isobath/internal/data/refs/flow"
)

// What the compiler did with turns and entries outside the code of a loop, and
// left no turn of the code and no mark for.

// inLoops are the basics of a group's loops.
func (b *build) inLoops(gr *group) map[int32]bool {
	inside := map[int32]bool{}
	for _, m := range gr.machines {
		for _, id := range b.loops[m].blocks {
			inside[id] = true
		}
	}
	return inside
}

// inCopies are the basics of all loops of a group's statement, those of other
// calls of its function too.
func (b *build) inCopies(gr *group) map[int32]bool {
	inside := map[int32]bool{}
	for g := range b.groups {
		if b.groups[g].statement == gr.statement {
			maps.Copy(inside, b.inLoops(&b.groups[g]))
		}
	}
	return inside
}

// markedOutside reports whether a statement of a loop's body begins in code
// outside its loops: marks stay where a turn was, also where nothing else is left
// of it. What leaves the loop stands outside it anyway, and so does the jump that
// enters it where it begins with the test of a loop inside it.
func (b *build) markedOutside(gr *group) bool {
	st := &b.statements[gr.statement]
	inside := b.inCopies(gr)
	return slices.ContainsFunc(b.marks, func(mk mark) bool {
		id, at := b.basicAt(mk.PC), place(mk.Line, mk.Column)
		return id >= 0 && !inside[id] && b.owner[id] == gr.function && mk.File == st.file && st.body.contains(at) &&
			!slices.Contains(st.leavings, at) && !b.entersTwin(gr, mk.PC, at)
	})
}

// entersTwin reports whether an instruction is the jump to the header that a group's
// loop has in common with one inside it, and stands in the head of that.
func (b *build) entersTwin(gr *group, pc uint64, at uint32) bool {
	in := b.instructionAt(pc)
	return in != nil && in.Ending == flow.Jump && slices.ContainsFunc(gr.machines, func(m int32) bool {
		twin := b.loopOf[b.loops[m].header]
		return twin != m && b.statements[b.loops[twin].statement].head.contains(at)
	})
}

// stepsOutside reports whether what follows each turn of a loop ran outside its
// loops: a turn before it was made there. Where that turn does nothing, as the
// first of 'c[i] -= i', compilers begin with the second and keep neither code nor
// mark of it.
func (b *build) stepsOutside(gr *group) bool {
	st := &b.statements[gr.statement]
	inside := b.inCopies(gr)
	for id := range b.basics {
		if b.owner[id] == gr.function && !inside[int32(id)] && b.holdsPart(int32(id), func(p position) bool {
			return p.file == st.file && p.column() > 0 && st.step.contains(p.at)
		}) {
			return true
		}
	}
	return false
}

// testedElsewhere reports whether the condition of a group's statement is tested
// before code that is not its own, so that the loops of the group are reached
// through another statement or not at all: the test is that of a copy of the loop
// which made no turn, and its entries fall together with those of the loop that
// did.
func (b *build) testedElsewhere(gr *group) bool {
	st := &b.statements[gr.statement]
	foreign := map[int32]bool{}
	for _, mk := range b.marks {
		if id := b.basicAt(mk.PC); id >= 0 && !(mk.File == st.file && st.whole().contains(place(mk.Line, mk.Column))) {
			foreign[id] = true
		}
	}
	inside := b.inLoops(gr)
	for id, guarded := range b.guard {
		if guarded != gr.statement || b.owner[id] != gr.function || b.groupAround(int32(id)) != gr.parent {
			continue
		}
		before, after := b.leadsInto([]int32{int32(id)}, inside, foreign), func() bool {
			return b.leadsInto(slices.Collect(maps.Keys(inside)), map[int32]bool{int32(id): true}, foreign)
		}
		if !before && !after() {
			return true
		}
	}
	return false
}

// groupAround is the group of the loop that a basic is in; -1 if it is in none.
func (b *build) groupAround(id int32) int32 {
	if l := b.loopOf[id]; l >= 0 {
		return b.groupOf[l]
	}
	return -1
}

// leadsInto reports whether a way that was taken leads from some basics into
// others without passing through a third kind.
func (b *build) leadsInto(from []int32, into, without map[int32]bool) bool {
	seen := map[int32]bool{}
	for todo := from; len(todo) > 0; todo = todo[1:] {
		for _, e := range b.forest.next[todo[0]] {
			switch {
			case into[e.to]:
				return true
			case seen[e.to] || without[e.to]:
			default:
				seen[e.to] = true
				todo = append(todo, e.to)
			}
		}
	}
	return false
}
