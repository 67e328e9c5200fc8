package tree

import (
	"path/filepath"

	"github.com/isobath/isobath/internal/loops/cycle"
)

// Around finds the innermost loop around all of some instructions, for naming
// what else is found in their references.
func (t *Tree) Around(pcs []uint64) (cycle.Header, bool) {
	if t.byPC == nil {
		t.byPC = map[uint64]int{}
		for i := range t.Loops {
			for _, a := range t.Loops[i].Accesses {
				t.byPC[a.PC] = i
			}
		}
	}
	at, begun := -1, false
	for _, pc := range pcs {
		row, ok := t.byPC[pc]
		if !ok {
			row = -1
		}
		if !begun {
			at, begun = row, true
			continue
		}
		at = t.common(at, row)
	}
	if at < 0 {
		return cycle.Header{}, false
	}
	l := &t.Loops[at]
	return cycle.Header{Index: at, Text: l.Text, File: filepath.Base(l.File), Line: l.Line, Entries: l.Entries, Trips: l.Trips.Trips, Exact: l.Exact, Rebuilt: !t.Recorded}, true
}

// common is the innermost loop around two; -1 if there is none.
func (t *Tree) common(a, b int) int {
	for a != b {
		if a < 0 || b < 0 {
			return -1
		}
		if t.Loops[a].Depth >= t.Loops[b].Depth {
			a = t.Loops[a].Parent
		} else {
			b = t.Loops[b].Parent
		}
	}
	return a
}
