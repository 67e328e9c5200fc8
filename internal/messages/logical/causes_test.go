package logical

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/isobath/isobath/internal/messages/mpiprog"
)

func causes(t *testing.T, s *Structure, o CauseOptions) *Causes {
	t.Helper()
	c, err := s.Causes(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestRingCauses holds the numbers worked out by hand for ring16: threshold
// 0.5 ms, steps 0 to 30.
func TestRingCauses(t *testing.T) {
	s := analyze(t, openShared(t, "ring16"), Default())
	c := causes(t, s, CauseOptions{Threshold: 500_000, To: 31})
	if c.LateOps != 251 || c.Sum/100_000 != 8047 {
		t.Errorf("%d late operations, %d ns in all; want 251, 804.8 ms", c.LateOps, c.Sum)
	}
	if len(c.List) != 2 {
		t.Fatalf("%d causes, want 2", len(c.List))
	}
	e := c.List[0]
	share := 100 * float64(e.Reach) / float64(c.Sum)
	if s.Proc[e.Op] != 11 || s.Step[e.Op] != 1 || e.Case != Computation || e.Ops != 249 || e.Procs != 15 || share < 95.5 || share > 96.5 {
		t.Errorf("first cause: rank %d, step %d, %v, %d operations, %d other ranks, %.1f %%; want rank 11, step 1, compute, 249, 15, 96 %%",
			s.Proc[e.Op], s.Step[e.Op], e.Case, e.Ops, e.Procs, share)
	}
	others := 0
	for i := range int32(s.Len()) {
		if s.Step[i] < 31 && s.GlobalLate[i] >= 500_000 && c.Origin[i] == e.Op && s.Proc[i] != 11 {
			others++
		}
	}
	if others != 220 {
		t.Errorf("%d late operations on other ranks, want 220", others)
	}
	// What follows MPI_Init is not start-up: here a slow first call.
	if e = c.List[1]; s.Proc[e.Op] != 14 || e.StartUp || e.Case != Call || e.Ops != 2 {
		t.Errorf("second cause: rank %d, start-up %v, %v, %d operations; want rank 14, false, call, 2", s.Proc[e.Op], e.StartUp, e.Case, e.Ops)
	}
	// The receive of rank 4 at step 18 goes back to rank 11 before step 1.
	for i := s.Start[4]; i < s.Start[5]; i++ {
		if s.Step[i] == 18 {
			chain := c.Chain(i)
			if chain[0] != c.List[0].Op || chain[len(chain)-1] != i {
				t.Errorf("chain of rank 4, step 18 begins at rank %d, step %d", s.Proc[chain[0]], s.Step[chain[0]])
			}
		}
	}
}

// TestInjectedDelayIsFirst: in every trace made with a sleeping rank that rank
// heads the list, with at least 0.7 of the delay.
func TestInjectedDelayIsFirst(t *testing.T) {
	tests := []struct {
		name  string
		rank  int32
		delay int64
	}{{"binomial16", 11, 3e6}, {"ring16", 11, 3e6}, {"dissem16", 11, 3e6}, {"halo16", 5, 5e6}, {"halo16_skew", 5, 5e6}, {"halo64_big", 20, 5e6}}
	for _, tt := range tests {
		s := analyze(t, openShared(t, tt.name), Default())
		c := causes(t, s, CauseOptions{Threshold: s.Threshold()})
		r := s.NewReport(c, 1)
		if e := r.Top[0]; e.Process != tt.rank || e.Kind != "compute" || float64(e.Amount) < 0.7*float64(tt.delay) || float64(e.Amount) > 1.5*float64(tt.delay) {
			t.Errorf("%s: first is %s; want rank %d, %d ns", tt.name, e.Text, tt.rank, tt.delay)
		}
	}
}

// TestChainRule: the paper's figure 7, one operation a case.
func TestChainRule(t *testing.T) {
	// All send to the right and receive from the left twice; rank 0 computes
	// 10 ms longer before its first send.
	s := simulate(t, 4, with(func(o *Options) { o.Coalesce = false }), func(p *mpiprog.Program) {
		p.Collective(mpiprog.World, mpiprog.Barrier)
		p.Compute(0, 10_000_000)
		for range 2 {
			for r := range 4 {
				p.Isend(r, (r+1)%4, mpiprog.World, 0)
			}
			for r := range 4 {
				p.Recv(r, (r+3)%4, mpiprog.World, 0)
			}
		}
	})
	c := causes(t, s, CauseOptions{Threshold: 5_000_000})
	at := func(proc, step int32) int32 {
		for i := s.Start[proc]; i < s.Start[proc+1]; i++ {
			if s.Step[i] == step {
				return i
			}
		}
		t.Fatalf("no operation of rank %d at step %d", proc, step)
		return -1
	}
	want := []struct {
		proc, step int32
		c          Case
	}{{0, 1, Computation}, {0, 2, FromProcess}, {1, 2, FromSender}, {1, 3, FromProcess}, {2, 2, OnTime}, {2, 4, FromSender}, {3, 4, OnTime}}
	for _, w := range want {
		if got := c.Case[at(w.proc, w.step)]; got != w.c {
			t.Errorf("rank %d, step %d: %v, want %v", w.proc, w.step, got, w.c)
		}
	}
}

// claimed checks that no computation is said to have taken longer than there was
// time for it, and that its evidence is what the sentence says.
func claimed(t *testing.T, name string, s *Structure) {
	t.Helper()
	c := causes(t, s, CauseOptions{Threshold: s.Threshold()})
	for _, e := range s.NewReport(c, 1000).Top {
		if e.Kind != "compute" || e.StartUp {
			continue
		}
		from := s.Trace.Procs[e.Process].First
		if e.Op > s.Start[e.Process] {
			from = s.Exit[e.Op-1]
		}
		if room := s.Trace.NS(s.Enter[e.Op] - from); e.Amount > room || e.Computation > room || e.ComparedTo == "" {
			t.Errorf("%s: %d ns were there for %+v", name, room, e)
			return
		}
	}
}

func TestNoComputationClaimsMoreThanItLasted(t *testing.T) {
	for _, name := range []string{"binomial16", "ring16", "dissem16", "halo16", "halo16_skew", "halo64_big", "commtag8", "lulesh8", "mg16", "mergetree64", "amg8", "lu8"} {
		claimed(t, name, analyze(t, openShared(t, name), Default()))
	}
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 7))
		s := simulate(t, 2+rng.IntN(9), Default(), func(p *mpiprog.Program) { random(p, rng, 300) })
		claimed(t, "random", s)
	}
}
