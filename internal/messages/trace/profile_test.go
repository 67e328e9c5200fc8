package trace

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/isobath/isobath/internal/messages/mpiprog"
)

func simulate(t *testing.T, ranks int, body func(*mpiprog.Program)) *Trace {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p.otf2")
	p, err := mpiprog.New(path, ranks)
	if err != nil {
		t.Fatal(err)
	}
	body(p)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	tr, err := Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// TestProfile: totals that follow from the program's text.
func TestProfile(t *testing.T) {
	tr := simulate(t, 3, func(p *mpiprog.Program) {
		p.Compute(0, 700_000) // rank 1 waits for it: late sender
		p.Send(0, 1, mpiprog.World, 0)
		p.Recv(1, 0, mpiprog.World, 0)
		p.Enter(2, "work")
		p.Compute(2, 900_000)
		p.Leave(2, "work")
		p.Collective(mpiprog.World, mpiprog.Barrier)
	})
	w := tr.Profile()
	if w.Waits.LateSender != 700_000 || w.Waits.LateSenderOps != 1 {
		t.Errorf("late sender %d in %d operations, want 700000 in 1", w.Waits.LateSender, w.Waits.LateSenderOps)
	}
	// Ranks 0 and 1 enter the barrier 199 and 193 µs before rank 2.
	if w.Waits.Collective != (900_000-701_000)+(900_000-706_000) || w.Waits.CollectiveOps != 2 {
		t.Errorf("waiting in collectives %d in %d operations", w.Waits.Collective, w.Waits.CollectiveOps)
	}
	if len(w.Pairs) != 1 || w.Pairs[0] != (Pair{0, 1, 1, 1}) {
		t.Errorf("matrix %+v, want one message of one byte from 0 to 1", w.Pairs)
	}
	if len(w.Sizes) != 1 || w.Sizes[0] != (SizeBin{1, 2, 1, 1}) {
		t.Errorf("sizes %+v", w.Sizes)
	}
	for _, r := range w.Regions {
		if tr.Regions[r.Region].Name == "work" && (r.Excl != 900_000 || r.Calls != 1 || r.Locations != 1) {
			t.Errorf("work: %+v", r)
		}
		if tr.Regions[r.Region].Name == "main" && (r.Locations != 3 || r.Excl != 700_000) {
			t.Errorf("main: %+v", r)
		}
	}
}

// TestSummary: what info prints.
func TestSummary(t *testing.T) {
	tr := simulate(t, 4, func(p *mpiprog.Program) {
		p.Halo(2, 2, 3, -1, 0, 0)
		p.Send(0, 1, mpiprog.World, 5) // never received
	})
	s := tr.Summary()
	if s.Kind != "trace" || s.Format != "otf2" || s.Processes != 4 || s.Messages != 24 || s.Unmatched != 1 || s.UnSends != 1 || s.Collectives != 3 || s.Rows != 49 {
		t.Errorf("%+v", s)
	}
	empty := simulate(t, 2, func(*mpiprog.Program) {}).Summary()
	if empty.Processes != 2 || empty.Operations != 0 || len(empty.Warnings) != 1 {
		t.Errorf("a trace without communication: %+v", empty)
	}
}
