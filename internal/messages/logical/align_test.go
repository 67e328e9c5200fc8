package logical

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/messages/mpiprog"
	"github.com/isobath/isobath/internal/messages/trace"
)

// ringOf analyses a ring of some iterations in which rank slow computes longer
// in one of them; without skips one iteration.
func ringOf(t *testing.T, iterations, without, slow, when int, delay uint64) *Structure {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ring.otf2")
	const n = 5
	p, err := mpiprog.New(path, n)
	if err != nil {
		t.Fatal(err)
	}
	for i := range iterations {
		for r := range n {
			p.Compute(r, 10_000)
			if r == slow && i == when {
				p.Compute(r, delay)
			}
		}
		if i != without {
			for r := range n {
				p.BeginSendrecv(r, (r+1)%n, mpiprog.World, uint32(i))
			}
			for r := range n {
				p.EndSendrecv(r, (r+n-1)%n, mpiprog.World, uint32(i))
			}
		}
		p.Collective(mpiprog.World, mpiprog.Allreduce)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Analyze(t.Context(), tr, Default())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCompareDelay finds the injected delay as the one change between two runs.
func TestCompareDelay(t *testing.T) {
	late, even := ringOf(t, 8, -1, 3, 5, 2_000_000), ringOf(t, 8, -1, -1, 0, 0)
	a, err := Align(t.Context(), late, even)
	if err != nil {
		t.Fatal(err)
	}
	if a.Matched != late.Len() || a.Moved != 0 || a.Ranks != 5 {
		t.Fatalf("%d of %d paired, %d moved, %d ranks", a.Matched, late.Len(), a.Moved, a.Ranks)
	}
	r := a.Compare("even", 10)
	if len(r.Top) != 1 {
		t.Fatalf("changes are %+v, want one", r.Top)
	}
	c := r.Top[0]
	// Two steps of exchange and one of reduction an iteration.
	if c.Process != 3 || c.Kind != "compute" || c.Step != 15 || c.Amount != 2_000_000 || c.Here != 2_010_000 || c.There != 10_000 {
		t.Errorf("the change is %+v, want 2 ms more of rank 3 before step 15", c)
	}
	if r.Span != 2_000_000 || r.Compute != 2_000_000 {
		t.Errorf("the run takes %d longer, computing %d", r.Span, r.Compute)
	}
	// The other way round it is the same, with the other sign.
	back, err := Align(t.Context(), even, late)
	if err != nil {
		t.Fatal(err)
	}
	if b := back.Compare("late", 10); len(b.Top) != 1 || b.Top[0].Amount != -2_000_000 || b.Span != -r.Span {
		t.Errorf("back: %+v", b)
	}
}

// TestAlignMissing: an exchange that one run does not have leaves the others in
// pairs, and steps behind it move.
func TestAlignMissing(t *testing.T) {
	whole, short := ringOf(t, 9, -1, -1, 0, 0), ringOf(t, 9, 4, -1, 0, 0)
	a, err := Align(t.Context(), whole, short)
	if err != nil {
		t.Fatal(err)
	}
	if a.Matched != short.Len() || whole.Len()-a.Matched != 10 { // five ranks send and receive
		t.Errorf("%d of %d and %d operations are paired", a.Matched, whole.Len(), short.Len())
	}
	for i, j := range a.Of {
		if j >= 0 && (whole.Name(int32(i)) != short.Name(j) || whole.Proc[i] != short.Proc[j] || a.From[j] != int32(i)) {
			t.Fatalf("operation %d, %s, is paired with %d, %s", i, whole.Name(int32(i)), j, short.Name(j))
		}
	}
	if a.Moved == 0 {
		t.Error("no pair is at another step")
	}
}

func TestAlignStrangers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "one.otf2")
	p, err := mpiprog.New(path, 2)
	if err != nil {
		t.Fatal(err)
	}
	p.Send(0, 1, mpiprog.World, 1)
	p.Recv(1, 0, mpiprog.World, 1)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Analyze(t.Context(), tr, Default())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Align(t.Context(), s, ringOf(t, 2, -1, -1, 0, 0)); !errors.Is(err, ErrNothingAlike) {
		t.Errorf("strangers: %v", err)
	}
}

// TestPairsAreLongest compares the search with the plain table of longest common
// subsequences on random words.
func TestPairsAreLongest(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	word := func() []uint64 {
		w := make([]uint64, random.IntN(40))
		for i := range w {
			w[i] = random.Uint64N(4)
		}
		return w
	}
	for range 2000 {
		h, u := word(), word()
		a := &Alignment{Of: make([]int32, len(h))}
		for i := range a.Of {
			a.Of[i] = None
		}
		a.pairs(0, int32(len(h)), 0, int32(len(u)), h, u)
		got, last := 0, int32(-1)
		for i, j := range a.Of {
			if j < 0 {
				continue
			}
			if j <= last || h[i] != u[j] {
				t.Fatalf("%v and %v: pairs %v", h, u, a.Of)
			}
			got, last = got+1, j
		}
		table := make([][]int, len(h)+1)
		for i := range table {
			table[i] = make([]int, len(u)+1)
		}
		for i := range h {
			for j := range u {
				table[i+1][j+1] = max(table[i][j+1], table[i+1][j])
				if h[i] == u[j] {
					table[i+1][j+1] = table[i][j] + 1
				}
			}
		}
		if want := table[len(h)][len(u)]; got != want {
			t.Fatalf("%v and %v: %d pairs %v, want %d", h, u, got, a.Of, want)
		}
	}
}

// TestComparePair compares two recorded runs of one program; the second slept.
func TestComparePair(t *testing.T) {
	load := func(name string) *Structure {
		tr, err := trace.Open(t.Context(), test.Shared(t, name))
		if err != nil {
			t.Fatal(err)
		}
		s, err := Analyze(t.Context(), tr, Default())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	skew, plain := load("otf2/halo16_skew"), load("otf2/halo16")
	a, err := Align(t.Context(), skew, plain)
	if err != nil {
		t.Fatal(err)
	}
	if a.Matched != skew.Len() || a.Moved != 0 {
		t.Errorf("%d of %d operations are paired, %d moved", a.Matched, skew.Len(), a.Moved)
	}
}

// TestPhasesAsText: borders by function, by step and by time, and what is refused.
func TestPhasesAsText(t *testing.T) {
	s := ringOf(t, 6, -1, -1, 0, 0)
	phased := func(spec string) *Structure {
		o := Default()
		var err error
		if o.Phases, err = Phases(t.Context(), s.Trace, spec, o); err != nil {
			t.Fatalf("%s: %v", spec, err)
		}
		p, err := Analyze(t.Context(), s.Trace, o)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := phased("step:6,step:12") // two iterations each
	if p.Parts.Count() != 3 {
		t.Fatalf("two borders make %d partitions", p.Parts.Count())
	}
	for i := range p.Step {
		if want := p.Step[i] / 6; p.Part[i] != want {
			t.Fatalf("step %d is in phase %d, want %d", p.Step[i], p.Part[i], want)
		}
	}
	middle := term.Duration(s.Trace.NS(s.Trace.Last-s.Trace.First) / 2)
	if p := phased("time:" + removeSpace(middle)); p.Parts.Count() != 2 {
		t.Errorf("a border at %s makes %d partitions", middle, p.Parts.Count())
	}
	if p := phased("# comment\nMPI_Allreduce\n"); p.Parts.Count() != 7 {
		t.Errorf("a phase at each of 6 reductions makes %d partitions", p.Parts.Count())
	}
	var merge *Merge
	for i := range p.Merges {
		if p.Merges[i].Name == "phases" {
			merge = &p.Merges[i]
		}
	}
	if merge == nil || merge.After != 3 || merge.Before <= 3 {
		t.Errorf("merges are %+v", p.Merges)
	}
	for _, spec := range []string{"step:x", "step:-1", "time:soon", "nobody", "[", "step:9999"} {
		if _, err := Phases(t.Context(), s.Trace, spec, Default()); err == nil {
			t.Errorf("%q is accepted", spec)
		}
	}
}

func removeSpace(text string) string {
	out := ""
	for _, c := range text {
		if c != ' ' {
			out += string(c)
		}
	}
	return out
}

// TestMergesAddUp: what each way of merging did adds up from operations to
// partitions.
func TestMergesAddUp(t *testing.T) {
	s := ringOf(t, 4, -1, -1, 0, 0)
	last := s.Len()
	for _, m := range s.Merges {
		if m.Name == "coalesce" {
			if m.After != s.Len() {
				t.Errorf("coalesce left %d of %d operations", m.After, s.Len())
			}
			continue
		}
		if m.Before != last || m.After > m.Before {
			t.Errorf("%+v after %d", m, last)
		}
		last = m.After
	}
	if last != s.Parts.Count() {
		t.Errorf("the last merge left %d, there are %d partitions", last, s.Parts.Count())
	}
}

// TestJoins: the dendrogram has every cluster once, and joins the nearest first.
func TestJoins(t *testing.T) {
	c := &Clusters{Of: []int32{0, 0, 1, 1, 2}, List: make([]Cluster, 3)}
	at := []float64{0, 1, 10, 11, 100}
	dist := make([][]float64, 5)
	for i := range dist {
		dist[i] = make([]float64, 5)
		for j := range dist[i] {
			dist[i][j] = max(at[i]-at[j], at[j]-at[i])
		}
	}
	c.join([]int32{0, 1, 2, 3, 4}, dist)
	if len(c.Joins) != 2 || c.Joins[0] != (Join{0, 1, 10}) || c.Joins[1] != (Join{3, 2, 94.5}) {
		t.Errorf("joins are %+v", c.Joins)
	}
}
