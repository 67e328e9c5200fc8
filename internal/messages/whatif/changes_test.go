package whatif

import (
	"fmt"
	"testing"

	"github.com/isobath/isobath/internal/messages/mpiprog"
)

// gainOf is what a change of a run gains, in ns.
func gainOf(t *testing.T, c *Causes, change string) int64 {
	t.Helper()
	s := c.NewScenario()
	if err := s.Apply(t.Context(), change); err != nil {
		t.Fatalf("%s: %v", change, err)
	}
	r, _ := s.Predict()
	return r.GainNS
}

// TestMap: a value goes 40 times between two ranks on two hosts and 24 times
// between two on one host. If the first two were on one host and the others not,
// 16 messages fewer would go the long way.
func TestMap(t *testing.T) {
	const farther = 50_000 // ns that a message between hosts takes longer
	g := simulate(t, 3, func(p *mpiprog.Program) {
		hop := func(from, to int, longer uint64) {
			p.Compute(from, 10_000)
			p.Send(from, to, mpiprog.World, 0)
			p.Enter(to, "MPI_Recv") // around the call, which then takes longer
			p.Recv(to, from, mpiprog.World, 0)
			p.Compute(to, longer)
			p.Leave(to, "MPI_Recv")
		}
		for range 20 {
			hop(0, 2, farther)
			hop(2, 0, farther)
		}
		for range 12 {
			hop(0, 1, 0)
			hop(1, 0, 0)
		}
	})
	for p, host := range []string{"a", "a", "b"} {
		g.Trace.Procs[p].Host = host
	}
	c := ranked(t, g)
	for change, want := range map[string]int64{"map 0,2,1": 16 * farther, "map 1,0,2": 0, "map 0,1,2": 0} {
		if got := gainOf(t, c, change); got != want {
			t.Errorf("%s gains %d ns, want %d", change, got, want)
		}
	}
}

// TestFunctionWithCallees: what a function calls is made faster only if the
// change says so.
func TestFunctionWithCallees(t *testing.T) {
	const rounds, own, inner = 5, 2_000_000, 3_000_000
	c := ranked(t, simulate(t, 2, func(p *mpiprog.Program) {
		for range rounds {
			for r := range 2 {
				p.Enter(r, "outer")
				p.Compute(r, own)
				p.Enter(r, "inner")
				p.Compute(r, inner)
				p.Leave(r, "inner")
				p.Leave(r, "outer")
			}
			p.Collective(mpiprog.World, mpiprog.Allreduce)
		}
	}))
	for change, want := range map[string]int64{
		"function outer * 0.5":              rounds * own / 2,
		"function outer with callees * 0.5": rounds * (own + inner) / 2,
		"function inner * 0":                rounds * inner,
	} {
		if got := gainOf(t, c, change); got != want {
			t.Errorf("%s gains %d ns, want %d", change, got, want)
		}
	}
}

// TestPartitionBalanced: one rank computes longer before the second and another
// before the third of four sums. Balancing a partition gains what its own rank had
// more than the others, and leaves the other partitions as they were.
func TestPartitionBalanced(t *testing.T) {
	const usual = 1_000_000
	more := []uint64{0, 3_000_000, 2_000_000, 0} // before each sum, on the rank of its number
	c := ranked(t, simulate(t, 4, func(p *mpiprog.Program) {
		for round, longer := range more {
			for r := range 4 {
				if p.Compute(r, usual); r == round {
					p.Compute(r, longer)
				}
			}
			p.Collective(mpiprog.World, mpiprog.Allreduce)
		}
	}))
	if n := c.S.Parts.Count(); n != len(more) {
		t.Fatalf("%d partitions, want %d", n, len(more))
	}
	for k, want := range more {
		if got := gainOf(t, c, fmt.Sprintf("partition %d = median", k)); got != int64(want) {
			t.Errorf("partition %d gains %d ns, want %d", k, got, want)
		}
	}
}

// TestEager: sends that waited for a late receiver go without it, and the
// receiver is as late as before; sends of another size still wait.
func TestEager(t *testing.T) {
	c := ranked(t, buildPair(t, "rendez", "with"))
	s := c.NewScenario()
	if err := s.Apply(t.Context(), "eager = 2m"); err != nil {
		t.Fatal(err)
	}
	if _, after := s.Predict(); after.Span > c.Times.Span || after.Waiting >= c.Times.Waiting {
		t.Errorf("%d ns with %d of waiting, recorded %d with %d", after.Span, after.Waiting, c.Times.Span, c.Times.Waiting)
	}
	if err := c.NewScenario().Apply(t.Context(), "eager = 1k"); err == nil {
		t.Error("sends of 1.6 MB are not up to 1 kB")
	}
}

// TestWithoutOneBarrier: of two collectives that a rank holds up only the one at
// the step goes away.
func TestWithoutOneBarrier(t *testing.T) {
	const late = 4_000_000
	c := ranked(t, simulate(t, 3, func(p *mpiprog.Program) {
		for k := range 2 {
			p.Compute(k, late) // another rank each time
			p.Collective(mpiprog.World, mpiprog.Allreduce)
		}
	}))
	first := gainOf(t, c, "no MPI_Allreduce at step 0")
	if first < late-100_000 || first > late {
		t.Errorf("without the first collective the two delays overlap: %d ns, want %d", first, late)
	}
}
