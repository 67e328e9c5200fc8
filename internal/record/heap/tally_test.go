package heap

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/code/symbol"
)

// TestTally compares sums with those of a plain version, which looks at all
// blocks after every entry, over programs made by chance.
func TestTally(t *testing.T) {
	for seed := range uint64(30) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		const sites = 4
		var logs []*Log
		for pid := 1; pid <= 2; pid++ {
			logs = append(logs, chanceLog(rnd, pid, sites))
		}
		space := &symbol.Space{}
		c := NewCallers(space.History(), &symbol.Files{})
		for _, l := range logs {
			l.Replay(symbol.NewObjects(space, &symbol.Files{}, nil), c)
		}
		site := func(place int) int {
			if place == 0 {
				return 0
			}
			return int(c.Places()[place-1].Sites[0])
		}
		got, all := c.Tally(logs, sites+1, site)
		want, peak := plainTally(logs, sites+1)
		if all.Peak != peak || !slices.Equal(got, want) {
			t.Fatalf("seed %d: %+v with a peak of %d\nwant %+v with %d", seed, got, all.Peak, want, peak)
		}
	}
}

// chanceLog allocates and frees at a few addresses. Some ends are not logged, some
// have no beginning, and once another program begins.
func chanceLog(rnd *rand.Rand, pid, sites int) *Log {
	l := &Log{PID: pid}
	n := rnd.IntN(200)
	for i := range n {
		e := Event{Time: uint64(10*i + rnd.IntN(10)), Addr: uint64(0x1000 * (1 + rnd.IntN(12)))}
		switch k := rnd.IntN(40); {
		case k == 0:
			e.Kind = Start
		case k < 20:
			e.Kind = Free
		default:
			e.Kind, e.Size, e.Site = Allocate, uint64(1+rnd.IntN(500)), uint64(1+rnd.IntN(sites))
		}
		l.Events = append(l.Events, e)
	}
	if rnd.IntN(4) == 0 {
		l.Ended = uint64(10 * (n/2 + 1))
	}
	return l
}

func plainTally(logs []*Log, sites int) (out []Tally, peak uint64) {
	type alive struct{ addr, size, since, site uint64 }
	out = make([]Tally, sites)
	lives := make([][]uint64, sites)
	for _, l := range logs {
		var blocks []alive
		met := map[uint64]bool{}
		for _, e := range l.Events {
			if l.Ended > 0 && e.Time >= l.Ended {
				continue
			}
			for i, b := range blocks {
				if b.addr != e.Addr || e.Kind == Start {
					continue
				}
				blocks = slices.Delete(blocks, i, i+1)
				if e.Kind == Free {
					out[b.site].Freed++
					lives[b.site] = append(lives[b.site], e.Time-b.since)
				}
				break
			}
			switch e.Kind {
			case Start:
				blocks = nil
			case Allocate:
				blocks = append(blocks, alive{e.Addr, e.Size, e.Time, e.Site})
				out[e.Site].Calls++
				out[e.Site].Bytes += e.Size
				met[e.Site] = true
			}
			sums, counts, total := make([]uint64, sites), make([]uint64, sites), uint64(0)
			for _, b := range blocks {
				sums[b.site] += b.size
				counts[b.site]++
				total += b.size
			}
			for i := range out {
				if sums[i] > out[i].Peak {
					out[i].Peak, out[i].PeakCalls = sums[i], counts[i]
				}
			}
			if total > peak {
				peak = total
				for i := range out {
					out[i].AtPeak = sums[i]
				}
			}
		}
		for _, b := range blocks {
			out[b.site].AtEnd += b.size
		}
		for s := range met {
			out[s].Processes++
		}
	}
	for i := range out {
		for uint64(len(lives[i])) < out[i].Calls {
			lives[i] = append(lives[i], math.MaxUint64) // for ever
		}
		slices.Sort(lives[i])
		if n := len(lives[i]); n > 0 {
			if m := lives[i][(n+1)/2-1]; m != math.MaxUint64 {
				out[i].Lifetime, out[i].HasMedian = m, true
			}
		}
	}
	return out, peak
}

// smallEvery is how many bytes of small allocations one that is looked at stands
// for; see shim/heap.c.
const smallEvery = 16384

// Small allocations are estimated: by place, in calls and bytes, over threads and
// all functions that allocate.
func TestSmallAllocations(t *testing.T) {
	const source = `#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
static __thread void *volatile keep;
static __attribute__((noinline)) void some(void) { for (int i = 0; i < 500000; i++) { keep = malloc(64); free(keep); } }
static __attribute__((noinline)) void more(void) { for (int i = 0; i < 100000; i++) { keep = calloc(3, 333); free(keep); } }
static __attribute__((noinline)) void grow(void) { for (int i = 0; i < 100000; i++) { void *p = realloc(0, 100); p = realloc(p, 300); keep = p; free(p); } }
static void *all(void *unused) { void *p; some(); more(); grow(); posix_memalign(&p, 64, 100); return 0; }
int main(void) {
	pthread_t t[3];
	for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, all, 0);
	all(0);
	for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
	return 0;
}
`
	r := stress(t, nil, build(t, test.Peer(t, "gcc", "gcc"), "p.c", source, "-pthread"))
	if len(r.logs) != 1 || r.status != 0 {
		t.Fatalf("%d logs, status %#x", len(r.logs), r.status)
	}
	bySite := map[uint64]*Sums{}
	for _, s := range r.logs[0].Stacks {
		if bySite[s.Site] == nil {
			bySite[s.Site] = &Sums{}
		}
		bySite[s.Site].add(&s.Unlogged)
	}
	var sums []Sums
	for _, s := range bySite {
		sums = append(sums, *s)
	}
	want := []Sums{{SmallCalls: 4 * 500000, SmallBytes: 4 * 500000 * 64}, {SmallCalls: 4 * 100000, SmallBytes: 4 * 100000 * 999},
		{SmallCalls: 4 * 100000, SmallBytes: 4 * 100000 * 100}, {SmallCalls: 4 * 100000, SmallBytes: 4 * 100000 * 300}}
	for _, w := range want {
		// Distances are even from 0 to twice their mean, so the number of hits varies by
		// the root of a third of it. Eight of these are never reached.
		hits := w.SmallBytes / smallEvery
		near := 8 * math.Sqrt(hits/3) / hits
		found := false
		for _, s := range bySite {
			found = found || math.Abs(s.SmallBytes/w.SmallBytes-1) < near && math.Abs(s.SmallCalls/w.SmallCalls-1) < near
		}
		if !found {
			t.Errorf("no place has about %.0f calls and %.0f bytes (within %.1f %%): %v, without a place %+v", w.SmallCalls, w.SmallBytes, 100*near, sums, r.logs[0].Unplaced)
		}
	}
	if sum := r.logs[0].Unlogged(); sum.SmallBytes != float64(sum.Hits*smallEvery) || r.logs[0].Unplaced != (Sums{}) {
		t.Errorf("%+v in all, without a place %+v", sum, r.logs[0].Unplaced)
	}
}
