package whatif

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
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
		skewed, err := Build(context.Background(), g.Trace.Retimed(nil, enter, exit))
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

// TestClocksWithin: a clock that is moved by less than what is said stays unseen,
// and one that is moved by more shows, in every direction and for every rank.
func TestClocksWithin(t *testing.T) {
	for seed := range uint64(10) {
		g := simulate(t, 4, func(p *mpiprog.Program) { random(p, seed, 30, nothing) })
		c := g.Clocks()
		if c.Violations != 0 || c.Within <= 0 || c.Unchecked != 0 {
			t.Fatalf("seed %d: %+v in a program of one clock", seed, c)
		}
		unseen := 0
		for line := range int32(4) {
			for _, sign := range []int64{-1, 1} {
				if by := g.Trace.Ticks(c.Within); g.moved(t, line, sign*(by+1)).Violations == 0 {
					t.Errorf("seed %d: the clock of rank %d is %d ns off and nothing shows it; said %d", seed, line, sign*(by+1), c.Within)
				} else if g.moved(t, line, sign*(by-1)).Violations == 0 {
					unseen++
				}
			}
		}
		if unseen == 0 {
			t.Errorf("seed %d: every clock that is less than %d ns off shows: too much is said", seed, c.Within)
		}
		if want := fmt.Sprintf("differs by more than %.1f µs would show", float64(c.Within)/1e3); !strings.Contains(g.Coverage(c).Text, want) {
			t.Errorf("seed %d: %q does not say %q", seed, g.Coverage(c).Text, want)
		}
	}
}

// moved counts what contradicts the times if the clock of a line were off.
func (g *Graph) moved(t *testing.T, line int32, by int64) Clocks {
	t.Helper()
	enter, exit := slices.Clone(g.Enter), slices.Clone(g.Exit)
	for i := g.Start[line]; i < g.Start[line+1]; i++ {
		enter[i], exit[i] = enter[i]+by, exit[i]+by
	}
	off, err := Build(t.Context(), g.Trace.Retimed(nil, enter, exit))
	if err != nil {
		t.Fatal(err)
	}
	off.checkContradicted(t)
	return off.Clocks()
}

// checkContradicted compares the look at dependencies that are not kept with the
// count of those that are.
func (g *Graph) checkContradicted(t *testing.T) {
	t.Helper()
	b := newBuilder(g.Trace)
	b.collect()
	if want, got := b.Clocks().Violations > 0, newBuilder(g.Trace).contradicted(); want != got {
		t.Errorf("%s: clocks are contradicted: %v, want %v", g.Trace.Path, got, want)
	}
}

func TestRepairSharedClocks(t *testing.T) {
	test.NoRaces(t, sameReplay)
	for _, path := range sharedTraces(t) {
		g := build(t, path)
		g.checkContradicted(t)
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
