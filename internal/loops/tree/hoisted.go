package tree

import (
	"slices"

	"github.com/isobath/isobath/internal/data/refs/flow"
)

// decidedBefore reports whether a choice in the body of a group's statement has no
// code in its loops: it has the same outcome in all turns of an entry, so the compiler
// decided it first and made a loop for each outcome. Of an outcome that does nothing
// no loop is left, and its turns leave no trace. Nor do turns that such a choice skips
// where no jump tests it: once it was so, it is so to the end, and the loop was left.
func (b *build) decidedBefore(gr *group) bool {
	st := &b.statements[gr.statement]
	inside := b.inLoops(gr)
	return slices.ContainsFunc(st.choices, func(c choice) bool {
		of := func(in instruction) bool {
			p := positionOf(&in)
			return p.file == st.file && c.covers(p) && (!c.skips || in.Ending == flow.Branch)
		}
		for id := range inside {
			if slices.ContainsFunc(b.listing(id), of) {
				return false
			}
		}
		return len(inside) > 0
	})
}
