package whatif

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/messages/mpiprog"
)

// TestSlackByConstruction: of three ranks that meet twice the slowest has no slack,
// the others what they come earlier; a rank that ends early has the rest of the
// run.
func TestSlackByConstruction(t *testing.T) {
	const ms = 1_000_000
	computes := [2][3]uint64{{10 * ms, 7 * ms, 4 * ms}, {2 * ms, 9 * ms, 5 * ms}}
	want := [2][3]int64{{0, 3 * ms, 6 * ms}, {7 * ms, 0, 4 * ms}}
	g := simulate(t, 3, func(p *mpiprog.Program) {
		for round := range computes {
			for r, ns := range computes[round] {
				p.Compute(r, ns)
			}
			p.Collective(mpiprog.World, mpiprog.Allreduce)
		}
		p.Compute(1, 5*ms) // the end of the run: ranks 0 and 2 have ended
	})
	slack := g.Slack()
	for round := range want {
		for r, ns := range want[round] {
			if got := slack[g.Start[r]+int32(round)]; got != ns {
				t.Errorf("rank %d in round %d: %d ns of slack, want %d", r, round, got, ns)
			}
		}
	}
	r := ranked(t, g).Report(10, g.Clocks())
	s := r.Run.Slack
	if s == nil || s.Computations != 6 || s.None != 2 || s.Median != 3*ms {
		t.Fatalf("%+v, want 2 of 6 without, the median 3 ms", s)
	}
	if near := float64(10+9) / float64(10+7+4+2+9+5); s.Near < near-1e-9 || s.Near > near+1e-9 {
		t.Errorf("%.4f of the time is near the critical path, want %.4f", s.Near, near)
	}
	if !strings.HasPrefix(s.Text, "half of the computations could each end ≈ 3.00 ms later") {
		t.Errorf("%q", s.Text)
	}
}

// TestSlackEqualsReplay: a computation that takes as much longer as it has slack
// leaves the run as it is; whatever it takes beyond that the run takes too.
func TestSlackEqualsReplay(t *testing.T) {
	for _, path := range sharedTraces(t) {
		if g := build(t, path); g.Len() > 0 && g.Len() <= 50_000 {
			checkSlack(t, path, g, 200)
		}
	}
	for seed := range uint64(20) {
		checkSlack(t, "random", simulate(t, 2+int(seed%7), func(p *mpiprog.Program) { random(p, seed, 40, nothing) }), 60)
	}
}

func checkSlack(t *testing.T, name string, g *Graph, tries int) {
	t.Helper()
	slack := g.Slack()
	if slack == nil {
		if len(g.hubs) == 0 {
			t.Errorf("%s: no slack", name)
		}
		return
	}
	w := g.Recorded()
	span := g.Replay(w, nil).Span
	rng := rand.New(rand.NewPCG(5, 6))
	var scratch *Times
	for range tries {
		i := rng.IntN(g.Len())
		beyond := rng.Int64N(1000)
		if slack[i] < 0 {
			t.Fatalf("%s: call %d has %d of slack", name, i, slack[i])
		}
		w.Comp[i] += slack[i] + beyond
		scratch = g.Replay(w, scratch)
		w.Comp[i] -= slack[i] + beyond
		if scratch.Span != span+beyond {
			t.Fatalf("%s: call %d has %d of slack, but %d more take %d longer", name, i, slack[i], slack[i]+beyond, scratch.Span-span)
		}
	}
}

// TestNoGainSaysItsSlack: two ranks late at the same collective: removing the
// second gains nothing, and its sentence says how much later it could end still.
func TestNoGainSaysItsSlack(t *testing.T) {
	const ms = 1_000_000
	c := ranked(t, simulate(t, 6, func(p *mpiprog.Program) {
		for round := range 8 {
			for r := range 6 {
				p.Compute(r, 5*ms)
			}
			if round == 4 {
				p.Compute(2, 120*ms)
				p.Compute(5, 80*ms)
			}
			p.Collective(mpiprog.World, mpiprog.Allreduce)
		}
	}))
	for _, e := range c.Report(10, c.Clocks()).Gains {
		if len(e.Processes) == 1 && e.Processes[0] == 5 {
			if e.GainNS != 0 || !strings.Contains(e.Text, "it could end ≈ 40.0 ms later still without delaying the run") || *e.Instances[0].Slack != 40*ms {
				t.Errorf("gain %d: %s", e.GainNS, e.Text)
			}
			return
		}
	}
	t.Error("rank 5 is not listed")
}
