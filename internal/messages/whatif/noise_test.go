package whatif

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
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
	test.NoRaces(t, sameReplay)
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

// TestSlowRankInNoise holds that a rank that loses 2 ms every fourth round is an
// entry of its own where all ranks are disturbed by about as much in sum: it is
// not told as a part of what disturbs everyone.
func TestSlowRankInNoise(t *testing.T) {
	test.NoRaces(t, sameReplay)
	for name, noise := range noises {
		for seed := range uint64(3) {
			for _, late := range [][]int{{int(seed)*5 + 1}, {2, 9}} {
				rng := rand.New(rand.NewPCG(seed, 9))
				delayed, own := 0.0, map[int]float64{}
				c := ranked(t, simulate(t, 16, func(p *mpiprog.Program) {
					noisyRing(p, 120, func(round, rank int) float64 {
						disturbed := noise(rng)
						own[rank] += disturbed
						if slices.Contains(late, rank) && round%4 == 1 {
							disturbed += 2
							delayed += 2 / float64(len(late))
						}
						return 2 + disturbed
					})
				}))
				for _, rank := range late {
					found := int64(0)
					for k := range c.Entries {
						if e := &c.Entries[k]; e.Kind == ByComputation && slices.Equal(e.Lines, []int32{int32(rank)}) {
							found += e.Sum
						}
					}
					if ms := float64(found) / 1e6; ms < 0.85*delayed || ms > delayed+own[rank] {
						t.Errorf("%s/%d: %.1f ms are told of rank %d alone, which lost %.1f ms and %.1f ms to noise", name, seed, ms, rank, delayed, own[rank])
					}
				}
			}
		}
	}
}

// TestMostPeersHeldUp holds that computations are told where most of their peers
// at the step are held up too, so that the median of the step is no measure; and
// that a round in which every rank has more to do is no delay.
func TestMostPeersHeldUp(t *testing.T) {
	const ms, held, at = 1_000_000, 30 * 1_000_000, 6
	for _, late := range []int{1, 4, 5, 7, 8} {
		c := ranked(t, simulate(t, 8, func(p *mpiprog.Program) {
			for round := range 12 {
				for r := range 8 {
					p.Compute(r, uint64(4+r%2)*ms)
					if round == at && r < late {
						p.Compute(r, held)
					}
				}
				p.Collective(mpiprog.World, mpiprog.Allreduce)
			}
		}))
		told := map[int32]int64{}
		for k := range c.Entries {
			if c.Entries[k].Kind != ByComputation {
				continue
			}
			for _, id := range c.Entries[k].elements {
				if e := &c.elements[id]; c.Peers.Step[e.call] == at && e.amount > held/2 {
					told[c.Line[e.call]] = e.amount
				}
			}
		}
		want := late
		if late == 8 {
			want = 0
		}
		if len(told) != want {
			t.Errorf("%d of 8 held up: told of %v", late, told)
		}
		for line, amount := range told {
			if int(line) >= late || amount < held-ms || amount > held+ms {
				t.Errorf("%d of 8 held up: %d ns on rank %d, want %d", late, amount, line, held)
			}
		}
		if want > 0 && late < 8 && c.Entries[0].Kind != ByComputation {
			t.Errorf("%d of 8 held up: first is %v", late, c.Entries[0].Kind)
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

// TestOneCause: delays of one size before one call are one entry, whichever call
// was before it and whatever else the rank loses there.
func TestOneCause(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 21))
		const rounds = 80
		more := map[int]float64{}
		var later []int // rounds that are not behind a collective
		for _, round := range rng.Perm(rounds) {
			if round%10 != 0 {
				later = append(later, round)
			}
		}
		for k := range 3 + rng.IntN(4) {
			more[later[k]] = 20
		}
		for k := range 1 + rng.IntN(4) {
			more[later[10+k]] = 2 + 2*rng.Float64()
		}
		behind := rng.Perm(rounds / 10)
		more[10*behind[0]], more[10*behind[1]], more[10*behind[2]] = 2+2*rng.Float64(), 20, 3
		delays := 0
		for _, ms := range more {
			if ms == 20 {
				delays++
			}
		}
		g := simulate(t, 4, func(p *mpiprog.Program) {
			noisyRing(p, rounds, func(round, rank int) float64 {
				ms := 5 + 0.1*rng.Float64()
				if round%10 == 0 {
					ms--
				}
				if rank == 1 {
					ms += more[round]
				}
				return ms
			})
		})
		r := ranked(t, g).Report(9, Clocks{})
		if first := r.Gains[0]; first.Count != delays || !slices.Equal(first.Processes, []int32{1}) {
			t.Errorf("run %d: %s: want %d of 20 ms", seed, first.Text, delays)
		}
	}
}
