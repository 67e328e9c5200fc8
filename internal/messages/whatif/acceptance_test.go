package whatif

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/messages/logical"
	"github.com/isobath/isobath/internal/messages/mpiprog"
	"github.com/isobath/isobath/internal/messages/trace"
)

// nth returns which call of its name on its line an edit is about, and the call
// of that number in another recording; None if there are not so many.
func nth(g, other *Graph, e edit) int32 {
	n := 0
	for i := g.Start[e.Process]; i < g.Start[e.Process+1] && g.Trace.NS(g.Enter[i]) <= e.Enter; i++ {
		if g.Trace.Regions[g.Trace.Calls.Region[i]].Name == e.Before {
			n++
		}
	}
	for i := other.Start[e.Process]; i < other.Start[e.Process+1]; i++ {
		if other.Trace.Regions[other.Trace.Calls.Region[i]].Name == e.Before {
			if n--; n == 0 {
				return i
			}
		}
	}
	return trace.None
}

// TestInsertedDelays puts the delays into the recordings without: within 3 % of
// the quietest recording with them.
func TestInsertedDelays(t *testing.T) {
	for _, p := range pairs(t) {
		if len(p.Edit) == 0 {
			continue
		}
		with, without := buildPair(t, p.Program, "with"), buildPair(t, p.Program, "without")
		w := without.Recorded()
		for _, e := range p.Edit {
			i := nth(with, without, e)
			if i < 0 {
				t.Fatalf("%s: no call like %+v", p.Program, e)
			}
			w.Comp[i] += e.Subtract
		}
		r, percent, insert := without.Replay(w, nil), 3.0, p.Insert
		if p.Program == "farm" { // whose tasks change hands
			r, insert = without.ReplayByArrival(w, r), p.Arrival.Insert
		}
		got := programTime(without, r.Enter, r.Exit)
		t.Logf("%s: inserted %.3f ms, expected %.3f, recorded %.3f", p.Program, got, insert, p.Measured.With.Quietest)
		if !near(got, p.Measured.With.Quietest, percent) {
			t.Errorf("%s: with the delay put in %.3f ms, recorded %.3f", p.Program, got, p.Measured.With.Quietest)
		}
	}
}

// waitingPercent is the waiting of all lines between the second and the last
// call, in percent of their time.
func waitingPercent(g *Graph, w *Weights, r *Times) float64 {
	waited, all := int64(0), int64(0)
	for p := range g.Lines() {
		first, last := g.Start[p]+1, g.Start[p+1]-1
		all += r.Enter[last] - r.Exit[first]
		for i := first + 1; i < last; i++ {
			waited += max(0, r.Exit[i]-r.Enter[i]-w.Own[i])
		}
	}
	return 100 * float64(waited) / float64(max(all, 1))
}

// TestPredictedWaiting: the waiting of the changed run is within 3 points of the
// re-run's.
func TestPredictedWaiting(t *testing.T) {
	for _, p := range pairs(t) {
		if len(p.Edit) == 0 || p.Program == "farm" { // of tasks that change hands the waiting is not followed
			continue
		}
		g := buildPair(t, p.Program, "with")
		w := g.Recorded()
		apply(t, g, w, p.Edit)
		got := waitingPercent(g, w, g.Replay(w, nil))
		t.Logf("%s: %.1f recorded (%.1f), %.1f predicted (%.1f)", p.Program, waitingPercent(g, g.Recorded(), g.Replay(g.Recorded(), nil)), p.WaitingShare.Recorded, got, p.WaitingShare.Predicted)
		if abs(got-p.WaitingShare.Rerun) > 3 {
			t.Errorf("%s: %.1f %% waiting predicted, %.1f %% in the re-run", p.Program, got, p.WaitingShare.Rerun)
		}
	}
}

// renumberedProgram is a random program whose ranks go by other names.
func renumberedProgram(p *mpiprog.Program, seed uint64, name []int, partners bool) {
	rng := rand.New(rand.NewPCG(seed, 5))
	n := p.Size()
	for range 40 {
		for r := range n {
			p.Compute(name[r], uint64(20_000+rng.IntN(50_000)+rng.IntN(40)/39*2_000_000))
		}
		kind := rng.IntN(3)
		if !partners {
			kind = 2
		}
		switch by := 1 + rng.IntN(n-1); kind {
		case 0:
			for r := 0; r+1 < n; r++ {
				p.Send(name[r], name[r+1], mpiprog.World, 2)
				p.Recv(name[r+1], name[r], mpiprog.World, 2)
			}
		case 1:
			open := make([]*mpiprog.Request, 0, 2*n)
			for r := range n {
				open = append(open, p.Irecv(name[r], name[(r+n-by)%n], mpiprog.World, 1), p.Isend(name[r], name[(r+by)%n], mpiprog.World, 1))
			}
			for r := range n {
				p.Waitall(name[r], open[2*r], open[2*r+1])
			}
		default:
			p.Collective(mpiprog.World, mpiprog.Allreduce)
		}
	}
}

// TestRenumberedRanks: other numbers of the ranks change names only. Who is
// compared with whom depends on them where only the distance of the partner
// tells places apart, so amounts are compared in programs without partners.
func TestRenumberedRanks(t *testing.T) {
	for seed := range uint64(20) {
		n, partners := 3+int(seed%5), seed%2 == 0
		perm := rand.New(rand.NewPCG(seed, 9)).Perm(n)
		same := make([]int, n)
		for r := range same {
			same[r] = r
		}
		a := ranked(t, simulate(t, n, func(p *mpiprog.Program) { renumberedProgram(p, seed, same, partners) }))
		b := ranked(t, simulate(t, n, func(p *mpiprog.Program) { renumberedProgram(p, seed, perm, partners) }))
		for r, q := range perm {
			if a.Times.End[r] != b.Times.End[q] || a.Times.Wait[r] != b.Times.Wait[q] {
				t.Errorf("seed %d: rank %d ends at %d and waits %d; as rank %d at %d and %d", seed, r, a.Times.End[r], a.Times.Wait[r], q, b.Times.End[q], b.Times.Wait[q])
			}
		}
		if a.Times.Span != b.Times.Span || a.Times.Waiting != b.Times.Waiting || a.Times.Idle != b.Times.Idle {
			t.Errorf("seed %d: span %d, waiting %d; renumbered %d, %d", seed, a.Times.Span, a.Times.Waiting, b.Times.Span, b.Times.Waiting)
		}
		if !partners {
			sameEntries(t, a, b, perm)
		}
	}
}

func sameEntries(t *testing.T, a, b *Causes, perm []int) {
	t.Helper()
	if len(a.Entries) != len(b.Entries) {
		t.Fatalf("%d entries, renumbered %d", len(a.Entries), len(b.Entries))
	}
	for k := range a.Entries {
		x, y := &a.Entries[k], &b.Entries[k]
		lines := make([]int32, 0, len(x.Lines))
		for _, p := range x.Lines {
			lines = append(lines, int32(perm[p]))
		}
		slices.Sort(lines)
		if x.Gain != y.Gain || x.Sum != y.Sum || x.Kind != y.Kind || !slices.Equal(lines, y.Lines) {
			t.Errorf("entry %d gains %d of %d on %v; renumbered %d of %d on %v", k+1, x.Gain, x.Sum, lines, y.Gain, y.Sum, y.Lines)
			return
		}
	}
}

// sameReplay is why the race detector is not asked about every replay.
const sameReplay = "TestSameWithAnyGoroutines asks as many as there are"

// TestSameWithAnyGoroutines: one processor or many, the report is the same.
func TestSameWithAnyGoroutines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "program.otf2")
	p, err := mpiprog.New(path, 9)
	if err != nil {
		t.Fatal(err)
	}
	random(p, 4, 120, nothing)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	var first []byte
	for _, processors := range []int{1, 8, 8} {
		old := runtime.GOMAXPROCS(processors)
		text := reportOf(t, path)
		runtime.GOMAXPROCS(old)
		if first == nil {
			first = text
		} else if string(first) != string(text) {
			t.Errorf("with %d processors the report differs", processors)
		}
	}
}

func reportOf(t *testing.T, path string) []byte {
	t.Helper()
	g := build(t, path)
	s, err := logical.Analyze(context.Background(), g.Trace, logical.Default())
	if err != nil {
		t.Fatal(err)
	}
	c, err := Rank(context.Background(), g, s, 8)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(c.Report(10, g.Clocks()))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestGraphIsSmall: at most 80 bytes a call and 24 a dependency, beyond what the
// trace itself holds.
func TestGraphIsSmall(t *testing.T) {
	g := buildPair(t, "halo2d", "with")
	w := g.Recorded()
	calls := 4*(len(g.Line)+len(g.First)+len(g.order)) + 8*(len(g.Own)+len(g.UsualOwn)+len(g.Bytes)+len(w.Comp)+len(w.Own))
	deps := 4*len(g.Deps.Cause) + len(g.Deps.Kind) + 8*(len(g.Deps.Lag)+len(g.Deps.Usual)+len(g.Deps.Bytes))
	if each := float64(calls) / float64(g.Len()); each > 80 {
		t.Errorf("%.1f bytes a call", each)
	}
	if each := float64(deps) / float64(len(g.Deps.Cause)); each > 32 { // 8 of them are its length, which a change of the network needs
		t.Errorf("%.1f bytes a dependency", each)
	}
}
