package whatif

import (
	"context"
	"testing"

	"github.com/isobath/isobath/internal/messages/mpiprog"
)

// TestRepairClocks shifts the clocks of a simulated program's ranks; afterwards
// no message contradicts the times, calls keep their order, and a trace whose
// clocks agree stays as it is.
func TestRepairClocks(t *testing.T) {
	for seed := range uint64(10) {
		g := simulate(t, 5, func(p *mpiprog.Program) { random(p, seed, 30, nothing) })
		if c := g.Clocks(); c.Violations != 0 {
			t.Fatalf("seed %d: %+v in a program of one clock", seed, c)
		}
		enter, exit := g.RepairClocks()
		for i := range enter {
			if enter[i] != g.Enter[i] || exit[i] != g.Exit[i] {
				t.Fatalf("seed %d: call %d moved though the clocks agree", seed, i)
			}
		}
		for i := range enter {
			by := int64(g.Line[i]) * 70_000 % 190_000
			enter[i] -= by
			exit[i] -= by
		}
		skewed, err := Build(context.Background(), g.Trace.Retimed(enter, exit))
		if err != nil {
			t.Fatal(err)
		}
		if skewed.Clocks().Violations == 0 {
			t.Fatalf("seed %d: no violation in skewed clocks", seed)
		}
		checkRecording(t, "skewed", skewed)
		fixed, c, err := Repaired(context.Background(), skewed.Trace)
		if err != nil {
			t.Fatal(err)
		}
		if left := fixed.Clocks(); left.Violations != 0 || !c.Repaired || c.Moved == 0 || c.Moved > 400_000 {
			t.Errorf("seed %d: %+v after the repair %+v", seed, left, c)
		}
		for i := range fixed.Enter {
			if fixed.Exit[i] < fixed.Enter[i] || i > 0 && fixed.Line[i] == fixed.Line[i-1] && fixed.Enter[i] < fixed.Exit[i-1] {
				t.Fatalf("seed %d: call %d out of order", seed, i)
			}
		}
	}
}

func TestRepairSharedClocks(t *testing.T) {
	for _, path := range sharedTraces(t) {
		g := build(t, path)
		c := g.Clocks()
		if c.Violations == 0 {
			continue
		}
		fixed, _, err := Repaired(context.Background(), g.Trace)
		if err != nil {
			t.Fatal(err)
		}
		left := fixed.Clocks()
		t.Logf("%s: %d of %d by up to %d ns; %d left", path, c.Violations, c.Checked, c.Largest, left.Violations)
		if left.Violations > 0 && g.Cycles == 0 {
			t.Errorf("%s: %d violations left", path, left.Violations)
		}
		checkRecording(t, path, fixed)
	}
}
