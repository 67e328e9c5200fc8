package timeline_test

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/isobath/isobath/internal/messages/logical"
	"github.com/isobath/isobath/internal/messages/mpiprog"
	"github.com/isobath/isobath/internal/messages/timeline"
)

// counted runs 4 ranks through 6 reductions; rank 2 computes delay longer before
// the fourth. A counter grows by 1 for every ns of computing and by 5 in each
// call.
func counted(t *testing.T, delay uint64) *timeline.Timeline {
	t.Helper()
	path := filepath.Join(t.TempDir(), "counted.otf2")
	p, err := mpiprog.New(path, 4)
	if err != nil {
		t.Fatal(err)
	}
	cycles := p.Measure("cycles", "cycles")
	var sum [4]uint64
	for i := range 6 {
		for r := range 4 {
			p.Count(r, cycles, sum[r])
			work := uint64(1000)
			if r == 2 && i == 3 {
				work += delay
			}
			p.Enter(r, "sweep")
			p.Compute(r, work)
			p.Leave(r, "sweep")
			sum[r] += work
			p.Count(r, cycles, sum[r])
		}
		p.Collective(mpiprog.World, mpiprog.Allreduce)
		for r := range 4 {
			sum[r] += 5
			p.Count(r, cycles, sum[r])
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return open(t, path, logical.Default())
}

func whole(tl *timeline.Timeline) timeline.Window {
	return timeline.Window{To: float64(tl.S.Steps), Columns: 1000, Lines: 100}
}

// TestMeasure gives what a counter grew to the calls and computations.
func TestMeasure(t *testing.T) {
	tl := counted(t, 50_000)
	p, err := tl.Steps(t.Context(), timeline.Ask{Window: whole(tl), Origin: logical.None, Metric: timeline.MeasurePrefix + "cycles"})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Ops.ID) != 24 {
		t.Fatalf("%d operations, want 24", len(p.Ops.ID))
	}
	for i, id := range p.Ops.ID {
		before := 1000.0
		if tl.S.Proc[id] == 2 && p.Ops.Step[i] == 3 {
			before = 51_000
		}
		if p.Ops.Value[i] != 5 || p.Ops.Before[i] != before {
			t.Errorf("rank %d step %d: %v in the call, %v before it; want 5 and %v", tl.S.Proc[id], p.Ops.Step[i], p.Ops.Value[i], p.Ops.Before[i], before)
		}
	}
	if _, err := tl.Steps(t.Context(), timeline.Ask{Window: whole(tl), Metric: timeline.MeasurePrefix + "taste"}); err == nil {
		t.Error("a measure that is not recorded is drawn")
	}
}

// TestVersus colours differences, one by one and in cells, where the largest is
// the one farthest from zero.
func TestVersus(t *testing.T) {
	late, even := counted(t, 50_000), counted(t, 0)
	for sign, runs := range map[float64][2]*timeline.Timeline{1: {late, even}, -1: {even, late}} {
		here, there := runs[0], runs[1]
		align, err := logical.Align(t.Context(), here.S, there.S)
		if err != nil {
			t.Fatal(err)
		}
		a := timeline.Ask{Window: whole(here), Origin: logical.None, Metric: timeline.Duration, Versus: &timeline.Versus{Key: "other", There: there, Align: align}}
		p, err := here.Steps(t.Context(), a)
		if err != nil {
			t.Fatal(err)
		}
		for i, id := range p.Ops.ID {
			call, before := 0.0, 0.0
			if p.Ops.Step[i] == 3 {
				call = 50_000 * sign // the others wait
				if here.S.Proc[id] == 2 {
					call, before = 0, 50_000*sign
				}
			}
			if p.Ops.Value[i] != call || p.Ops.Before[i] != before {
				t.Fatalf("%+v: rank %d step %d differs by %v and %v, want %v and %v", sign, here.S.Proc[id], p.Ops.Step[i], p.Ops.Value[i], p.Ops.Before[i], call, before)
			}
		}
		a.Window.Columns, a.Window.Lines = 2, 1
		if p, err = here.Steps(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		if p.Cells.Most[0] != 0 || p.Cells.Most[1] != float32(50_000*sign) || p.Cells.Mean[1] != float32(50_000*sign*3/12) {
			t.Errorf("cells are %v, means %v", p.Cells.Most, p.Cells.Mean)
		}
		o, err := here.Operation(align.From[3], causes(t, here.S), a.Versus)
		if err != nil {
			t.Fatal(err)
		}
		if o.Other == nil || o.Other.ID != 3 {
			t.Errorf("the partner is %+v", o.Other)
		}
	}
}

// TestUnpaired: operations that the other run does not have are without value.
func TestUnpaired(t *testing.T) {
	late, even := counted(t, 50_000), counted(t, 0)
	align, err := logical.Align(t.Context(), late.S, even.S)
	if err != nil {
		t.Fatal(err)
	}
	align.Of[7] = logical.None
	a := timeline.Ask{Window: whole(late), Origin: logical.None, Versus: &timeline.Versus{Key: "other", There: even, Align: align}}
	p, err := late.Steps(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range p.Ops.ID {
		if math.IsNaN(p.Ops.Value[i]) != (id == 7) {
			t.Errorf("operation %d has value %v", id, p.Ops.Value[i])
		}
	}
}

// TestRibbon holds the partitions of columns against those of operations.
func TestRibbon(t *testing.T) {
	tl := halo(t, logical.Default())
	p, err := tl.Steps(t.Context(), timeline.Ask{Window: timeline.Window{To: float64(tl.S.Steps), Columns: tl.S.Steps / 3, Lines: 24}, Origin: logical.None})
	if err != nil {
		t.Fatal(err)
	}
	if p.Cells == nil || len(p.Ribbon) != tl.S.Steps/3 {
		t.Fatalf("%d columns of %d steps have a ribbon of %d", tl.S.Steps/3, tl.S.Steps, len(p.Ribbon))
	}
	for x, q := range p.Ribbon {
		step := int32(3 * x)
		first, n := tl.S.Parts.First[q], tl.S.Parts.Len[q]
		if step < first || step >= first+n {
			t.Errorf("column %d begins at step %d and is in partition %d of steps %d to %d", x, step, q, first, first+n-1)
		}
	}
}

// TestLongComputation: a window inside a computation shows it, though the call
// after it lies outside; its messages are not counted.
func TestLongComputation(t *testing.T) {
	tl := counted(t, 50_000)
	s := tl.S
	op := s.Start[2] + 3
	from, to := float64(s.Trace.NS(s.Began(op)-s.Trace.First))+5000, float64(s.Trace.NS(s.Enter[op]-s.Trace.First))-5000
	p, err := tl.Times(t.Context(), timeline.Ask{Window: timeline.Window{From: from, To: to, Columns: 100, Lines: 4}, Origin: logical.None})
	if err != nil {
		t.Fatal(err)
	}
	seen := false
	for i, id := range p.Ops.ID {
		seen = seen || int32(id) == op && p.Ops.Began[i] < from && p.Ops.Enter[i] > to
	}
	if !seen {
		t.Errorf("operations %v do not have %d", p.Ops.ID, op)
	}
}

// TestStackPicture: regions of the window, narrow ones joined.
func TestStackPicture(t *testing.T) {
	tl := counted(t, 50_000)
	span := float64(tl.S.Trace.NS(tl.S.Trace.Last - tl.S.Trace.First))
	a := timeline.Ask{Window: timeline.Window{To: span, Columns: 4000, Lines: 4}, Origin: logical.None, Stacks: true}
	p, err := tl.Times(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	s := p.Stack
	if s == nil || s.Levels != 2 {
		t.Fatalf("the stack is %+v", s)
	}
	longest, who := 0.0, uint32(9)
	for i := range s.Line {
		name := tl.S.Trace.Regions[s.Region[i]].Name
		if (s.Depth[i] == 0) != (name == "main") {
			t.Errorf("%s is at depth %d", name, s.Depth[i])
		}
		if name == "sweep" && s.Exit[i]-s.Enter[i] > longest {
			longest, who = s.Exit[i]-s.Enter[i], s.Line[i]
		}
	}
	if longest != 51_000 || who != 2 {
		t.Errorf("the longest sweep takes %v ns on line %d, want 51,000 on line 2", longest, who)
	}
	a.Window.Columns = 3
	if p, err = tl.Times(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if n := len(p.Stack.Line); n >= len(s.Line) || n < 8 {
		t.Errorf("%d regions on 3 columns, %d on 4,000", n, len(s.Line))
	}
	a.Stacks = false
	if p, err = tl.Times(t.Context(), a); err != nil || p.Stack != nil {
		t.Errorf("a stack nobody asked for: %v, %v", p.Stack, err)
	}
}
