package whatif

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/isobath/isobath/internal/messages/mpiprog"
)

// noises are how computations are disturbed, in milliseconds: each rank at each
// round.
var noises = map[string]func(*rand.Rand) float64{
	"exponential": func(r *rand.Rand) float64 { return 0.5 * r.ExpFloat64() },
	"preempted": func(r *rand.Rand) float64 { // one in six loses its core for a while
		if r.IntN(6) > 0 {
			return 0.1 * r.Float64()
		}
		return 2 + 2*r.Float64()
	},
	"heavy tail": func(r *rand.Rand) float64 { return min(0.1*math.Pow(1-r.Float64(), -0.5), 6) },
}

// TestDelayInNoise holds that one delay is told by itself, with its rank and its
// amount, where every rank is disturbed all the time.
func TestDelayInNoise(t *testing.T) {
	const delay = 16.0 // ms
	for name, noise := range noises {
		for _, size := range []struct {
			ranks, rounds int
			seeds         uint64
		}{{8, 60, 2}, {16, 150, 2}, {64, 60, 1}} {
			for seed := range size.seeds {
				late := int(seed*5+3) % size.ranks
				t.Run(fmt.Sprintf("%s/%dx%d/%d", name, size.ranks, size.rounds, seed), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(seed, 7))
					truth := delay // and how that computation is disturbed besides
					c := ranked(t, simulate(t, size.ranks, func(p *mpiprog.Program) {
						noisyRing(p, size.rounds, func(round, rank int) float64 {
							disturbed := noise(rng)
							if rank == late && round == size.rounds/2 {
								truth += disturbed
								disturbed = truth
							}
							return 2 + disturbed
						})
					}))
					for k := range c.Entries {
						e := &c.Entries[k]
						if len(e.Lines) == 1 && int(e.Lines[0]) == late && e.Kind == ByComputation && e.Count == 1 && math.Abs(float64(e.Sum)/1e6-truth) <= 0.15*delay {
							return
						}
					}
					for k := range min(5, len(c.Entries)) {
						e := &c.Entries[k]
						t.Logf("%v on %v, %d times, %d ns, gain %d of %d", e.Kind, e.Lines, e.Count, e.Sum, e.Gain, c.Times.Span)
					}
					t.Errorf("no entry tells of the %.1f ms of rank %d", truth, late)
				})
			}
		}
	}
}

// TestDelayAmongTrifles holds that a delay is told by itself where its rank is a
// little late every time, and that a rank that is late by much every time is one
// entry.
func TestDelayAmongTrifles(t *testing.T) {
	for _, test := range []struct {
		extra []float64 // of rank 2 in each round, in ms
		count int
		sum   float64
	}{
		{[]float64{4, 0.5, 1, 60, 0.2, 0.4}, 1, 60},
		{[]float64{14, 20, 16, 60, 15, 17}, 6, 142},
	} {
		c := ranked(t, simulate(t, 4, func(p *mpiprog.Program) {
			for _, extra := range test.extra {
				for r := range 4 {
					p.Compute(r, 5_000_000)
					if r == 2 {
						p.Compute(r, uint64(extra*1e6))
					}
				}
				p.Collective(mpiprog.World, mpiprog.Allreduce)
			}
		}))
		e := &c.Entries[0]
		if e.Kind != ByComputation || e.Count != test.count || math.Abs(float64(e.Sum)/1e6-test.sum) > 0.1 {
			t.Errorf("%v: first %v, %d times, %d ns, want %d times, %.1f ms", test.extra, e.Kind, e.Count, e.Sum, test.count, test.sum)
		}
	}
}

// noisyRing computes, sends to the next rank and meets the others every tenth
// round.
func noisyRing(p *mpiprog.Program, rounds int, ms func(round, rank int) float64) {
	n := p.Size()
	for round := range rounds {
		for r := range n {
			p.Compute(r, uint64(ms(round, r)*1e6))
			p.Send(r, (r+1)%n, mpiprog.World, 0)
		}
		for r := range n {
			p.Recv(r, (r+n-1)%n, mpiprog.World, 0)
		}
		if round%10 == 9 {
			p.Collective(mpiprog.World, 0)
		}
	}
}
