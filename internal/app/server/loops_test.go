package server

import (
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/app/server/references"
)

// TestDemoLoops counts the loops of a built-in trace, which has no control flow:
// nothing is exact, everything is there, and misses add up.
func TestDemoLoops(t *testing.T) {
	s, runs := demoCycles(t)
	for _, r := range runs {
		if r.Name != "matrix multiplication" {
			continue
		}
		info := post[references.LoopsInfo](t, s, "/api/v1/runs/"+r.ID+"/loops", references.LoopsAsk{})
		if info.Recorded || len(info.Loops) < 3 || info.References == 0 {
			t.Fatalf("recorded %v, %d loops, %d references", info.Recorded, len(info.Loops), info.References)
		}
		for _, l := range info.Loops {
			if l.Exact || l.Why == "" {
				t.Errorf("%s is shown as exact", l.Title)
			}
			if len(l.Misses) != len(info.Levels) {
				t.Errorf("%s: %d levels of misses, want %d", l.Title, len(l.Misses), len(info.Levels))
			}
			for k, n := range l.Misses {
				if n > info.Misses[k] {
					t.Errorf("%s misses %d in %s, everything %d", l.Title, n, info.Levels[k], info.Misses[k])
				}
			}
		}
		if !slices.ContainsFunc(info.Loops, func(l references.LoopRow) bool { return l.Depth == 2 }) {
			t.Error("three loops are not nested")
		}
		spiral := references.SpiralAsk{ClassAsk: references.ClassAsk{CyclesAsk: references.CyclesAsk{Thread: -1}, Other: -1}, Radii: 100, Angles: 100, Columns: 100}
		for _, by := range []string{"stride", "miss"} {
			spiral.Colour = by
			if got := post[references.SpiralAnswer](t, s, "/api/v1/runs/"+r.ID+"/cycles/spiral", spiral); len(got.Colours) == 0 {
				t.Errorf("nothing is coloured by %s", by)
			}
		}
	}
}
