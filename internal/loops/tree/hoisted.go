package tree

import "slices"

// decidedBefore reports whether a choice in the body of a group's statement has no
// code in its loops: it has the same outcome in all turns of an entry, so the compiler
// decided it first and made a loop for each outcome. Of an outcome that does nothing
// no loop is left, and its turns leave no trace.
func (b *build) decidedBefore(gr *group) bool {
	st := &b.statements[gr.statement]
	inside := b.inLoops(gr)
	return slices.ContainsFunc(st.choices, func(c span) bool {
		for id := range inside {
			if b.holdsPart(id, func(p position) bool { return p.file == st.file && c.covers(p) }) {
				return false
			}
		}
		return len(inside) > 0
	})
}
