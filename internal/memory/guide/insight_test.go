package guide

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/isobath/isobath/internal/app/demo"
	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

var (
	lookupRun = sync.OnceValues(demo.Lookup)
	fixedRun  = sync.OnceValues(func() (*demo.Run, error) { return demo.Stencil(demo.StencilOptions{Fixed: true, Iterations: 2}) })
)

func insights(t *testing.T, g *Guide) []Insight {
	t.Helper()
	found, err := g.Insights(context.Background(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	check(t, g, found)
	sameElsewhere(t, g, nil, found)
	return found
}

// check holds for every insight: it has all its parts, its selection parses to
// some samples, and scores fall: those of stories, and those of the parts of each.
func check(t *testing.T, g *Guide, found []Insight) {
	t.Helper()
	before, story := 1.0, 1.0
	for i, in := range found {
		if in.PartOf == "" {
			before, story = story, in.Score
		} else if i == 0 || before > story {
			before = story
		}
		if in.Kind == "" || in.View == "" || in.Where == "" || !strings.ContainsAny(in.Text, "0123456789") {
			t.Errorf("insight lacks a part: %+v", in)
		}
		if in.Score < limit.score || in.Score > before {
			t.Errorf("score %g of %q out of order or range", in.Score, in.Text)
		}
		if in.Stake < 0 || in.Stake > 1+1e-9 || in.Surprise < 0 || in.Surprise > 1 {
			t.Errorf("stake %g, surprise %g of %q", in.Stake, in.Surprise, in.Text)
		}
		e, err := query.Parse(in.Where, g.data.Table)
		if err != nil {
			t.Errorf("%q: where %q: %v", in.Text, in.Where, err)
			continue
		}
		rows, err := g.engine.Select(context.Background(), e)
		if err != nil || rows.Count() == 0 {
			t.Errorf("%q: where %q selects nothing: %v", in.Text, in.Where, err)
		}
		if in.PartOf != "" {
			before = in.Score
		}
	}
}

// rank finds the first insight of a kind whose text has all the words; 0 if there
// is none, 1 for the best.
func rank(found []Insight, kind string, words ...string) int {
next:
	for i, in := range found {
		if in.Kind != kind {
			continue
		}
		for _, w := range words {
			if !strings.Contains(in.Text, w) {
				continue next
			}
		}
		return i + 1
	}
	return 0
}

// stories counts those that begin in a list.
func stories(found []Insight) int {
	n := 0
	for _, in := range found {
		if in.PartOf == "" {
			n++
		}
	}
	return n
}

func list(found []Insight) string {
	var b strings.Builder
	for i, in := range found {
		fmt.Fprintf(&b, "\n%2d. %.3f %s: %s", i+1, in.Score, in.Kind, in.Text)
	}
	return b.String()
}

// inTopFive fails unless every expected insight is in one of the first five stories,
// and nothing above the last of them is of a kind that the simulated program does not
// have.
func inTopFive(t *testing.T, found []Insight, expected [][]string, others ...string) {
	t.Helper()
	last := 0
	for _, e := range expected {
		r := rank(found, e[0], e[1:]...)
		if n := stories(found[:r]); n == 0 || n > 5 {
			t.Errorf("%v is in story %d, want 1 to 5:%s", e, n, list(found))
		}
		last = max(last, r)
	}
	for _, in := range found[:min(last, len(found))] {
		ok := in.PartOf != "" // as true as its story
		for _, e := range expected {
			ok = ok || in.Kind == e[0]
		}
		for _, k := range others {
			ok = ok || in.Kind == k
		}
		if !ok {
			t.Errorf("%s is above an expected insight and not true of the program: %s", in.Kind, in.Text)
		}
	}
}

// oneStory is why the race detector is not asked about every story.
const oneStory = "TestStencilStory and the real data go through the same goroutines"

// TestFirstTouchStory: the demo program fills its arrays with one thread, which
// places them all on one node; the numbers of the sentence are counted again
// from the rows.
func TestFirstTouchStory(t *testing.T) {
	test.NoRaces(t, oneStory)
	r, err := demo.Open()
	g := opened(t, r, err)
	found := insights(t, g)
	i := rank(found, firstTouch, "unew", "u,", "rhs", "first touched by CPU 0 in fill (stencil.c:61–64)", "so NUMA 1 is unused", "threads of Package #1 pay", "of all cycles for it", "run fill in parallel")
	if i == 0 {
		t.Fatalf("the story is not told:%s", list(found))
	}
	story := found[i-1]
	t.Log(story.Text, "WHERE", story.Where)
	tab := g.data.Table
	symbol, latency, level := tab.Column("symbol"), tab.Column("latency"), tab.Column("level")
	objects := map[string]bool{}
	for name := range strings.FieldsFuncSeq(story.Where[:strings.Index(story.Where, ")")], func(r rune) bool { return strings.ContainsRune(" (,", r) }) {
		objects[name] = true
	}
	var far, all float64
	n := 0
	for row := range tab.Rows() {
		if !latency.Has(row) {
			continue
		}
		all += latency.Float(row)
		if objects[symbol.Text(row)] && level.Text(row) == "Remote RAM" {
			far += latency.Float(row)
			n++
		}
	}
	if want := fmt.Sprintf("%.1f %%", 100*far/all); !strings.Contains(story.Text, want) {
		t.Errorf("samples of those objects from remote memory take %s of the latency; %s", want, story.Text)
	}
	if math.Abs(story.Stake-far/all) > 1e-9 || !strings.Contains(story.Text, fmt.Sprintf("%.1f cycles each", far/float64(n))) {
		t.Errorf("stake %g, want %g; mean %.1f; %s", story.Stake, far/all, far/float64(n), story.Text)
	}
	for _, in := range found {
		if in.Kind == "one-node" && in.PartOf != firstTouch {
			t.Errorf("its cost is counted twice: %s", in.Text)
		}
	}
	for _, in := range insights(t, made(t, fixedRun)) {
		if in.Kind == firstTouch {
			t.Errorf("the repaired program touches in parallel: %s", in.Text)
		}
	}
}

func TestStencilStory(t *testing.T) {
	r, err := demo.Open()
	slow, fixed := opened(t, r, err), made(t, fixedRun)
	before := insights(t, slow)
	// Phase 1 is fill, which one thread runs; that is true and intended.
	inTopFive(t, before, [][]string{
		{"idle-core", "Core #15", "no samples", "15 other cores"},
		{firstTouch, "CPU 0 in fill"},
		{"one-node", "NUMA 0 serves all"},
		{"scattered", "Neighbouring z", "package"},
		{"phase", "fill", "only 1 CPU"},
	})
	// Nothing of the idle core can be selected: its neighbour shows what it could do.
	if at := rank(before, "idle-core"); at > 0 && before[at-1].Where != "at Core:14" {
		t.Errorf("the idle core 15 selects %q, want its neighbour in the package", before[at-1].Where)
	}
	if rank(before, "false-sharing", "partial") == 0 {
		t.Errorf("the false sharing of partial is not found:%s", list(before))
	}

	after := insights(t, fixed)
	for _, kind := range []string{"one-node", "scattered", "remote"} {
		if rank(after, kind) > 0 {
			t.Errorf("after the fix there is still a %s:%s", kind, list(after))
		}
	}
	if rank(after, "phase", "CPU issues") > 0 {
		t.Errorf("after the fix there is still a serial phase:%s", list(after))
	}
	if rank(after, "idle-core", "Core #15") == 0 {
		t.Errorf("the idle core, which the fix leaves, is gone:%s", list(after))
	}
	if b, a := sweepCost(t, slow), sweepCost(t, fixed); a > 0.7*b {
		t.Errorf("a sample of sweep costs %.1f before and %.1f after; want a drop of 30 %%", b, a)
	}
}

// sweepCost is the mean latency of the function that both variants run.
func sweepCost(t *testing.T, g *Guide) float64 {
	t.Helper()
	where, err := query.Parse("function = sweep", g.data.Table)
	if err != nil {
		t.Fatal(err)
	}
	s, err := g.Strip(context.Background(), StripOptions{Axis: "time", Metric: "mean", Where: where, Windows: 1})
	if err != nil {
		t.Fatal(err)
	}
	return s.Windows[0].Value
}

func made(t *testing.T, make func() (*demo.Run, error)) *Guide {
	t.Helper()
	r, err := make()
	return opened(t, r, err)
}

func TestLookupStory(t *testing.T) {
	test.NoRaces(t, oneStory)
	g := made(t, lookupRun)
	found := insights(t, g)
	inTopFive(t, found, [][]string{
		{"phase", "Phase 3 of 3", "come from memory against 0.0 %", "find"},
		{"phase", "Phase 2 of 3", "L2 load is ≈ 3.87 σ", "sort"},
		{"one-node", "NUMA 0 serves all"},
	}, "random-access")

	// The phases are those of the program, to within a window.
	function, clock := g.data.Table.Column("function"), g.data.Table.Column("time")
	var first, last float64 = math.Inf(1), 0
	for i := range g.data.Table.Rows() {
		if function.Text(i) == "sort" {
			first, last = min(first, clock.Float(i)), max(last, clock.Float(i))
		}
	}
	in := found[rank(found, "phase", "Phase 2 of 3")-1]
	var from, to float64
	if _, err := fmt.Sscanf(in.Where, "time >= %f & time < %f", &from, &to); err != nil {
		t.Fatalf("%q: %v", in.Where, err)
	}
	if length := last - first; math.Abs(from-first) > length/20 || math.Abs(to-last) > length/20 {
		t.Errorf("phase 2 is %g to %g, sort runs from %g to %g", from, to, first, last)
	}
}

func TestNoiseGivesNoInsight(t *testing.T) {
	test.NoRaces(t, oneStory)
	seeds := []uint64{125} // once gave a window of dear samples at 700
	more := uint64(12)
	if testing.Short() {
		more = 2
	}
	for seed := range more {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		for _, n := range []int{40, 700, 5000, 30000} {
			g := uniform(t, n, seed)
			found, err := g.Insights(context.Background(), nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(found) > 0 {
				t.Errorf("%d samples, seed %d:%s", n, seed, list(found))
			}
		}
	}
}

func TestInsightsOfRealData(t *testing.T) {
	g := lulesh(t)
	found := insights(t, g)
	for i, want := range [][]string{
		{"hot-object", "m_x has 41.6 %", "next has 22.1 %"},
		{"hot-line", "LULESH_OMP.cc:2035 has 30.0 %"},
		{"phase", "Phase 2 of 2", "73.0 cycles against 50.1"},
		{"tlb", "LULESH_OMP.cc:2035 has 57.9 %"},
		{"scattered", "Neighbouring z"},
	} {
		if rank(found, want[0], want[1:]...) != i+1 {
			t.Errorf("%v is not at place %d:%s", want, i+1, list(found))
		}
	}
	for _, in := range found {
		switch in.Kind {
		case "remote", "one-node", "false-sharing", "shared-line":
			t.Errorf("the data does not say where memory was served, or snoops: %s", in.Text)
		}
		if strings.Contains(in.Text, "≈") {
			t.Errorf("nothing is modelled here: %s", in.Text)
		}
	}
}

func TestInsightsWithin(t *testing.T) {
	r, err := demo.Open()
	g := opened(t, r, err)
	where, err := query.Parse("function = residual", g.data.Table)
	if err != nil {
		t.Fatal(err)
	}
	found, err := g.Insights(context.Background(), where, nil)
	if err != nil {
		t.Fatal(err)
	}
	check(t, g, found)
	sameElsewhere(t, g, where, found)
	for _, in := range found {
		if !strings.HasPrefix(in.Where, "function = residual & ") {
			t.Errorf("%q leaves the selection that was searched", in.Where)
		}
	}
	if rank(found, "phase", "fill") > 0 || rank(found, "one-node") == 0 {
		t.Errorf("insights of residual alone:%s", list(found))
	}
}

// Samples of threads that wait, and those in the kernel, are told as such, and no
// finding about memory rests on them.
func TestIdleIsLeftOut(t *testing.T) {
	test.NoRaces(t, oneStory)
	for _, tt := range []struct {
		column, value, kind, text string
		all                       bool // of the samples
	}{
		{samples.Waiting, "OpenMP", "waiting", "for OpenMP", false},
		{samples.Kernel, "page fault", "kernel", "in the kernel: page fault (", false},
		{samples.Waiting, "OpenMP", "waiting", "for OpenMP (100.0", true},
		{samples.Kernel, "page fault", "kernel", "page fault (100.0", true},
	} {
		r, err := fixedRun()
		if err != nil {
			t.Fatal(err)
		}
		hot := insights(t, opened(t, r, nil))
		g := changed(t, r, func(old *table.Table) *table.Table {
			symbol := old.Column("symbol")
			codes, has := make([]uint32, old.Rows()), table.NewBits(old.Rows())
			for i := range codes {
				if tt.all || symbol.Text(i) == symbol.Text(0) {
					has.Set(i)
				}
			}
			out, err := table.New(old.Name, append(slices.Clone(old.Columns()), table.Categories(tt.column, table.Derived, codes, []string{tt.value}, has)))
			if err != nil {
				t.Fatal(err)
			}
			return out
		})
		name := g.data.Table.Column("symbol").Text(0)
		found := insights(t, g)
		if rank(found, tt.kind, tt.text) == 0 {
			t.Errorf("%s is not told:%s", tt.column, list(found))
		}
		if len(hot) == 0 || rank(found, "hot-object", "Object "+name+" ") != 0 {
			t.Errorf("%s, whose samples have %s, is a hot object:%s", name, tt.column, list(found))
		}
	}
}

func TestStakeText(t *testing.T) {
	tests := []struct {
		in   Insight
		want string
	}{
		{Insight{Stake: 0.416, Uncertainty: 0.0071, Of: "latency"}, "41.6 % ± 0.7 % of the latency"},
		{Insight{Stake: 0.02, Uncertainty: 0.0004, Of: "samples"}, "2.0 % ± 0.04 % of the samples"},
		{Insight{Stake: 1, Of: "time"}, "100.0 % of the time"}, // all of it is no estimate
	}
	for _, tt := range tests {
		if got := tt.in.StakeText(); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.in, got, tt.want)
		}
	}
}

// TestUncertainty: three samples of cost 1 and one of 3. The variance of a share p of
// the cost is p(1−p)·(1+1+1+9)/6², that of a share of the samples p(1−p)/4.
func TestUncertainty(t *testing.T) {
	l := &insightSearch{latency: &table.Column{}, samples: 4, cost: 6, squares: 12}
	for _, tt := range []struct {
		share float64
		of    string
		want  float64
	}{
		{0.5, "latency", 0.28867513459},
		{0.5, "samples", 0.25},
		{0.5, "time", 0}, // how sure shares of time are is not known
		{1, "latency", 0},
	} {
		if got := l.uncertainty(tt.share, tt.of); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%v of the %s: %v, want %v", tt.share, tt.of, got, tt.want)
		}
	}
}

// TestListsStandBack: a walk over a list of rows waits for an answer that is under way
// and for its picture, as one over all rows does.
func TestListsStandBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const answer = 100 * time.Millisecond
		var turns parallel.Turns
		l := &insightSearch{ctx: turns.Behind(t.Context())}
		done := turns.First()
		time.AfterFunc(answer, done)
		began, n := time.Now(), 0
		for range l.each(make([]uint32, 3*blockRows+1)) {
			n++
		}
		if waited := time.Since(began); n != 3*blockRows+1 || waited <= answer {
			t.Errorf("%d rows after %v; the answer took %v", n, waited, answer)
		}
	})
}
