package whatif

import (
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/messages/mpiprog"
)

// TestCriticalPath: the path goes through the rank that computed longest, and
// from the first event to the last.
func TestCriticalPath(t *testing.T) {
	g := simulate(t, 4, func(p *mpiprog.Program) {
		p.Collective(mpiprog.World, mpiprog.Barrier)
		p.Compute(3, 8_000_000)
		p.Collective(mpiprog.World, mpiprog.Barrier)
		p.Compute(1, 5_000_000)
		p.Collective(mpiprog.World, mpiprog.Barrier)
		p.Compute(2, 1_000_000)
	})
	c := g.CriticalPath()
	on := map[int32]int64{}
	for i, s := range c.Segments {
		if s.Computation {
			on[s.Line] += s.To - s.From
		}
		if i > 0 && s.From < c.Segments[i-1].To {
			t.Errorf("segment %d begins before the one before it ends: %+v", i, c.Segments)
		}
	}
	if c.Compute != 14_000_000 || on[3] != 8_000_000 || on[1] != 5_000_000 || on[2] != 1_000_000 {
		t.Errorf("computation %d, by rank %v; want 14 ms: 8 of rank 3, 5 of rank 1, 1 of rank 2", c.Compute, on)
	}
}

// TestCriticalPathIsTheRun: its parts add up to the run time, and it holds no more
// computation than all processes together have.
func TestCriticalPathIsTheRun(t *testing.T) {
	test.NoRaces(t, sameReplay)
	for _, path := range sharedTraces(t) {
		g := build(t, path)
		if g.Negative > 0 || g.Lines() == 0 {
			continue
		}
		c := g.CriticalPath()
		all := int64(0)
		for i := range int32(g.Len()) {
			all += g.Computation(i)
		}
		for _, tail := range g.Tail {
			all += tail
		}
		if sum := c.StartUp + c.Compute + c.Calls; sum != g.Span() || c.Compute > all {
			t.Errorf("%s: %d in parts of %d; computation %d of %d in all", path, sum, g.Span(), c.Compute, all)
		}
	}
}
