package whatif

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/messages/mpiprog"
)

// simulate runs a program of known costs and builds the graph of its trace.
func simulate(t testing.TB, ranks int, body func(*mpiprog.Program)) *Graph {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program.otf2")
	p, err := mpiprog.New(path, ranks)
	if err != nil {
		t.Fatal(err)
	}
	body(p)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return build(t, path)
}

// random runs a random program with messages, waits and collectives of every
// type, and delays where extra says so.
func random(p *mpiprog.Program, seed uint64, rounds int, extra func(round, rank int) uint64) {
	rng := rand.New(rand.NewPCG(seed, 3))
	n := p.Size()
	half := p.NewComm("half", rng.Perm(n)[:(n+1)/2])
	codes := []uint64{mpiprog.Barrier, mpiprog.Bcast, mpiprog.Gather, mpiprog.Allreduce, mpiprog.Reduce, mpiprog.Scan}
	for round := range rounds {
		for r := range n {
			p.Compute(r, uint64(20_000+rng.IntN(50_000))+extra(round, r))
		}
		switch rng.IntN(6) {
		case 0, 1: // shift
			by := 1 + rng.IntN(n-1)
			var open []*mpiprog.Request
			for r := range n {
				open = append(open, p.Irecv(r, (r+n-by)%n, mpiprog.World, 1), p.Isend(r, (r+by)%n, mpiprog.World, 1))
			}
			for r := range n {
				p.Waitall(r, open[2*r], open[2*r+1])
			}
		case 2: // pairs, in order of ranks
			for r := 0; r+1 < n; r++ {
				p.Send(r, r+1, mpiprog.World, 2)
				p.Recv(r+1, r, mpiprog.World, 2)
			}
		case 3:
			p.Collective(mpiprog.World, codes[rng.IntN(len(codes))])
		case 4:
			p.Collective(half, mpiprog.Allreduce)
		default:
			k := p.NewCollective(mpiprog.World, codes[rng.IntN(len(codes))])
			var open []*mpiprog.Request
			for r := range n {
				open = append(open, p.Start(r, k))
				p.Compute(r, uint64(rng.IntN(30_000)))
			}
			for r := range n {
				p.Waitall(r, open[r])
			}
		}
	}
}

func nothing(int, int) uint64 { return 0 }

// TestRandomPrograms: the replay gives random programs back, single edges gain
// what their room says, less is never more, and twice everything takes twice as
// long.
func TestRandomPrograms(t *testing.T) {
	for seed := range uint64(40) {
		g := simulate(t, 2+int(seed%7), func(p *mpiprog.Program) { random(p, seed, 40, nothing) })
		checkRecording(t, "random", g)
		checkRooms(t, "random", g, 60)
		checkProperties(t, g, seed)
	}
}

func checkProperties(t *testing.T, g *Graph, seed uint64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 11))
	w := g.Recorded()
	span := g.Replay(w, nil).Span
	double := w.Clone()
	for _, col := range [][]int64{double.Comp, double.Own, double.Lag, double.Tail} {
		for i := range col {
			col[i] *= 2
		}
	}
	for p := range double.Begin {
		double.Begin[p] = g.First0 + 2*(double.Begin[p]-g.First0)
	}
	if got := g.Replay(double, nil).Span; got != 2*span {
		t.Errorf("seed %d: twice everything takes %d, want %d", seed, got, 2*span)
	}
	for _, col := range [][]int64{w.Comp, w.Own, w.Lag} {
		for range 20 {
			if len(col) > 0 {
				if i := rng.IntN(len(col)); col[i] > 0 {
					col[i] -= rng.Int64N(col[i] + 1)
				}
			}
		}
	}
	if got := g.Replay(w, nil).Span; got > span {
		t.Errorf("seed %d: less takes longer: %d instead of %d", seed, got, span)
	}
}

// TestSimulatorIsPredicted: the simulated machine runs a program with and
// without a delay; the replay of the first without the delay is the second.
func TestSimulatorIsPredicted(t *testing.T) {
	test.NoRaces(t, sameReplay)
	wrong := 0
	for seed := range uint64(40) {
		n := 3 + int(seed%5)
		late, at := int(seed)%n, 5+int(seed%20)
		extra := func(round, rank int) uint64 {
			if round == at && rank == late {
				return 3_000_000
			}
			return 0
		}
		with := simulate(t, n, func(p *mpiprog.Program) { random(p, seed, 40, extra) })
		without := simulate(t, n, func(p *mpiprog.Program) { random(p, seed, 40, nothing) })
		w := with.Recorded()
		found := false
		for i := with.Start[late]; i < with.Start[late+1] && !found; i++ {
			if w.Comp[i] >= 3_000_000 {
				w.Comp[i] -= 3_000_000
				found = true
			}
		}
		if !found {
			continue // the delay lies behind the last call
		}
		got, want := with.Replay(w, nil).Span, without.Span()
		if d := float64(got-want) / float64(want); d > 0.02 || d < -0.02 {
			t.Errorf("seed %d: predicted %d, simulated %d (%+.1f %%)", seed, got, want, 100*d)
		}
		if got != want {
			wrong++
		}
	}
	t.Logf("%d of 40 not exact", wrong)
}

// claims checks that no entry says more than what it is about lasted.
func claims(t *testing.T, name string, c *Causes) {
	t.Helper()
	for k := range c.Entries {
		for _, id := range c.Entries[k].elements {
			e := &c.elements[id]
			var room int64
			switch e.kind {
			case ByComputation:
				room = c.Computation(e.call)
			case ByStart:
				room = c.Begin[e.call] - c.First0
			case ByCall:
				room = c.Exit[e.call] - c.Enter[e.call]
			default:
				room = c.Exit[e.call] - c.causeTime(c.Deps.Cause[e.dep])
			}
			if e.amount > room {
				t.Errorf("%s: %v of call %d claims %d, lasted %d", name, e.kind, e.call, e.amount, room)
				return
			}
		}
		if e := &c.Entries[k]; e.Gain > e.OnPath && len(c.hubs) == 0 {
			t.Errorf("%s: entry %d gains %d, more than the %d it has on the path", name, k, e.Gain, e.OnPath)
		}
	}
}

func TestNoEntryClaimsMoreThanItLasted(t *testing.T) {
	test.NoRaces(t, sameReplay)
	for _, path := range sharedTraces(t) {
		claims(t, path, ranked(t, build(t, path)))
	}
	for seed := range uint64(20) {
		claims(t, "random", ranked(t, simulate(t, 2+int(seed%7), func(p *mpiprog.Program) { random(p, seed, 40, nothing) })))
	}
}

// TestBoundSearchIsExact: the first entries by bound are those of replaying all.
func TestBoundSearchIsExact(t *testing.T) {
	for _, p := range pairs(t) {
		c := ranked(t, buildPair(t, p.Program, "with"))
		best := int64(0)
		for k := range c.Entries {
			c.try(int32(k))
			best = max(best, c.Entries[k].Gain)
			if c.Entries[k].Gain > c.Entries[k].OnPath && len(c.hubs) == 0 {
				t.Errorf("%s: entry %d gains %d, bound %d", p.Program, k, c.Entries[k].Gain, c.Entries[k].OnPath)
			}
		}
		if len(c.Entries) > 0 && c.Entries[0].Gain != best {
			t.Errorf("%s: first entry gains %d, the best %d", p.Program, c.Entries[0].Gain, best)
		}
	}
}
