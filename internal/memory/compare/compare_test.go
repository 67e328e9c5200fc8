package compare

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/engine/query/naive"
	"github.com/isobath/isobath/internal/memory/align"
)

const sampleNanoseconds = 500_000

// made makes a run of columns; the manifest is that of a timer recording.
func made(t testing.TB, name string, columns ...*table.Column) Run {
	t.Helper()
	tab, err := table.New("samples", columns)
	if err != nil {
		t.Fatal(err)
	}
	return Run{Name: name, Table: tab, Engine: naive.New(query.Data{Table: tab}), Manifest: &run.Manifest{Kind: kind.Samples, Recording: &run.Recording{Mode: "timer", Period: sampleNanoseconds}}}
}

// counted makes a timer recording of so many samples of each function.
func counted(t testing.TB, name string, groups []string, counts []float64) Run {
	t.Helper()
	return countedBy(t, "function", name, groups, counts)
}

// countedBy is counted by what a column has.
func countedBy(t testing.TB, by, name string, groups []string, counts []float64) Run {
	t.Helper()
	names := table.NewInterner()
	var codes []uint32
	var weights []int64
	for g, n := range counts {
		for range int(n) {
			codes, weights = append(codes, names.CodeString(groups[g])), append(weights, sampleNanoseconds)
		}
	}
	return made(t, name, table.Categories(by, table.Derived, codes, names.Names(), nil), table.Ints("weight", "ns", table.Measured, weights, nil))
}

func (r *replicate) runs(t testing.TB, by string) (a, b []Run) {
	t.Helper()
	for i := range r.a {
		a = append(a, countedBy(t, by, "a", r.groups, r.a[i]))
		b = append(b, countedBy(t, by, "b", r.groups, r.b[i]))
	}
	return a, b
}

func compared(t testing.TB, a, b []Run, opt Options) *Comparison {
	t.Helper()
	c, err := Runs(context.Background(), a, b, opt)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func byFunction(gate *Gate) Options { return pairedBy("function", gate) }

func pairedBy(by string, gate *Gate) Options {
	return Options{Pair: true, Questions: []Question{{By: []string{by}, Metric: Cost, Gate: gate}}}
}

// TestPlanted finds ten percent more work in one function over twenty pairs, and
// nothing else.
func TestPlanted(t *testing.T) {
	r := pairsOf(t, csvRows(t, "replicates/pairs.csv.gz"), "stencil", "10", "function")
	a, b := r.runs(t, "function")
	c := compared(t, a, b, byFunction(&Gate{Change: .05}))
	if c.Design != Pairs || c.Pairs != 20 || c.Gate == nil || !c.Gate.Failed || c.Gate.Exit != ExitRegression {
		t.Errorf("%s: design %s, %d pairs, gate %+v", c.Sentence(), c.Design, c.Pairs, c.Gate)
	}
	for _, g := range c.Groups {
		if want := g.Label == "residual"; g.Sure != want || g.Fails != want || want && g.Verdict != More {
			t.Errorf("%s is %s, sure %v, fails %v", g.Label, g.Verdict, g.Sure, g.Fails)
		}
	}
	if !strings.Contains(c.Sentence(), "residual") {
		t.Errorf("the first sentence does not name the function: %s", c.Sentence())
	}
}

// TestFalseAlarmsOfRuns is TestFalseAlarms over whole comparisons: with the whole
// run and the rest among what is tested. Names of objects hold numbers of threads and
// the order of discovery, which differ in every run; objects do not for that.
func TestFalseAlarmsOfRuns(t *testing.T) {
	rows := csvRows(t, "replicates/pairs.csv.gz")
	random := rand.New(rand.NewPCG(2, 5))
	for _, asked := range [][2]string{{"stencil", "function"}, {"many", "function"}, {"stencil", "symbol"}, {"many", "symbol"}} {
		program, by := asked[0], asked[1]
		r := pairsOf(t, rows, program, "0", by)
		a, b := r.runs(t, by)
		const draws = 30
		called, failed := 0, 0
		for range draws {
			var x, y []Run
			for _, i := range random.Perm(len(a))[:8] {
				if random.IntN(2) == 0 {
					x, y = append(x, a[i]), append(y, b[i])
				} else {
					x, y = append(x, b[i]), append(y, a[i])
				}
			}
			c := compared(t, x, y, pairedBy(by, &Gate{Change: .05}))
			called += int(one(c.Whole.Sure || slices.ContainsFunc(c.Groups, func(g Row) bool { return g.Sure })))
			failed += int(one(c.Gate.Failed))
		}
		t.Logf("%s by %s: called in %d, failed in %d of %d", program, by, called, failed, draws)
		if called > draws/8 || failed > draws/10 { // 5 % and their chance
			t.Errorf("%s by %s: something is called in %d of %d comparisons of a program with itself, the gate fails in %d", program, by, called, draws, failed)
		}
	}
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// TestSingleRuns compares every run of a program with every other: recordings of
// ten minutes in which the load fell from 20 to 4.
func TestSingleRuns(t *testing.T) {
	rows := csvRows(t, "replicates/scattered.csv.gz")
	for _, program := range []string{"stencil", "many"} {
		counts := map[string]map[string]float64{}
		names := map[string]bool{}
		for _, row := range rows {
			if row["program"] == program && row["planted"] == "0" {
				if counts[row["run"]] == nil {
					counts[row["run"]] = map[string]float64{}
				}
				counts[row["run"]][row["function"]] += float64(number(t, row["samples"]))
				names[row["function"]] = true
			}
		}
		groups := sortedNames(names)
		var runs []Run
		for id := range counts {
			row := make([]float64, len(groups))
			for g, name := range groups {
				row[g] = counts[id][name]
			}
			runs = append(runs, counted(t, id, groups, row))
		}
		n, called := 0, 0
		for i := range runs {
			for j := range i {
				if (i+j)%7 != 0 { // some of them
					continue
				}
				c := compared(t, runs[i:i+1], runs[j:j+1], byFunction(nil))
				if *c.Tau != tauFar {
					t.Fatalf("allowance %v for runs of unknown times", *c.Tau)
				}
				n++
				called += int(one(c.Whole.Sure || slices.ContainsFunc(c.Groups, func(g Row) bool { return g.Sure })))
			}
		}
		t.Logf("%s: called in %d of %d", program, called, n)
		if float64(called) > .02*float64(n) {
			t.Errorf("%s: %d of %d single runs of one program differ surely", program, called, n)
		}
	}
}

func lines(t *testing.T, name string, line, latency []int64, p table.Provenance) Run {
	columns := []*table.Column{table.Ints("line", "", table.Derived, line, nil)}
	if latency != nil {
		columns = append(columns, table.Ints("latency", "cycles", p, latency, nil))
	}
	r := made(t, name, columns...)
	r.Manifest.Recording = nil
	return r
}

func byLine(m Metric) Options {
	return Options{Questions: []Question{{By: []string{"line"}, Metric: m}}}
}

// TestCells checks costs, shares and means by hand.
func TestCells(t *testing.T) {
	a := lines(t, "a", []int64{1, 1, 2, 3}, []int64{10, 30, 40, 20}, table.Measured)
	b := lines(t, "b", []int64{1, 2, 2, 4}, []int64{10, 100, 60, 30}, table.Measured)
	c := compared(t, []Run{a}, []Run{b}, byLine(Cost))
	if c.ShareOf != "latency" || c.Unit != "cycles" || c.A.Cost != 100 || c.B.Cost != 200 || *c.B.Mean != 50 || c.Design != One {
		t.Errorf("%+v", c)
	}
	want := []struct {
		key    string
		a, b   float64
		change float64
		how    align.How
	}{{"2", 40, 160, .4, align.ByNumber}, {"1", 40, 10, -.35, align.ByNumber}, {"4", 0, 30, .15, align.OnlyB}, {"3", 20, 0, -.2, align.OnlyA}}
	if len(c.Groups) != len(want) {
		t.Fatalf("%d groups, want %d", len(c.Groups), len(want))
	}
	for i, w := range want {
		g := c.Groups[i]
		if g.Label != w.key || g.A.Cost != w.a || g.B.Cost != w.b || g.Change-w.change > 1e-12 || w.change-g.Change > 1e-12 || g.Matched != w.how {
			t.Errorf("group %d: %+v, want %+v", i, g, w)
		}
	}
	if small := c.Small; small == nil || small.Joined != 4 || small.A.Cost != 100 || small.B.Cost != 200 {
		t.Errorf("small groups %+v", c.Small)
	}
}

// TestSelection holds that a selection is what both sides have left.
func TestSelection(t *testing.T) {
	a := lines(t, "a", []int64{1, 1, 2}, []int64{5, 50, 50}, table.Measured)
	var err error
	if a.Where, err = query.Parse("latency > 10", a.Table); err != nil {
		t.Fatal(err)
	}
	c := compared(t, []Run{a}, []Run{a}, byLine(Cost))
	if c.A.Samples != 2 || c.A.Of != 3 || c.Groups[0].A.Share != .5 || c.Groups[0].Change != 0 || c.Groups[0].Sure || c.Where == "" {
		t.Errorf("%+v", c)
	}
}

// TestObjectNames compares a program with itself whose threads and allocations
// have other numbers every time.
func TestObjectNames(t *testing.T) {
	draw := func(main int64, names ...string) Run {
		in := table.NewInterner()
		var codes []uint32
		var tids, weights []int64
		for i, name := range names {
			for range 200 {
				codes, weights = append(codes, in.CodeString(name)), append(weights, 1)
				tids = append(tids, main+int64(i%2))
			}
		}
		pids := slices.Repeat([]int64{main}, len(tids))
		return made(t, "r", table.Categories("symbol", table.Derived, codes, in.Names(), nil), table.Ints("tid", "", table.Measured, tids, nil),
			table.Ints("pid", "", table.Measured, pids, nil), table.Ints("weight", "ns", table.Measured, weights, nil))
	}
	a := draw(100, "stack 100", "stack 101", "heat.c:7 64 KiB #3", "heat.c:7 64 KiB #9", "anonymous 3 MiB", "u")
	b := draw(731, "stack 731", "stack 732", "heat.c:7 64 KiB #1", "heat.c:7 64 KiB", "anonymous 4 MiB #2", "u")
	c := compared(t, []Run{a}, []Run{b}, Options{Questions: []Question{{By: []string{"symbol"}, Metric: Cost}}})
	var got []string
	for _, g := range c.Groups {
		got = append(got, g.Label)
		if g.A.Cost != g.B.Cost || g.Sure {
			t.Errorf("%s: %v against %v", g.Label, g.A, g.B)
		}
	}
	slices.Sort(got)
	if want := []string{"anonymous", "heat.c:7 64 KiB", "stack of thread 0", "stack of thread 1", "u"}; !slices.Equal(got, want) {
		t.Errorf("objects %q, want %q", got, want)
	}
}

// TestOneRunOverstates draws single runs of a program whose function takes 30 %
// longer, on a machine on which runs differ by as much as is allowed for. Only
// large accidents are called, so what was seen is far more than what is there; what
// is said to be sure must not be.
func TestOneRunOverstates(t *testing.T) {
	random := rand.New(rand.NewPCG(25, 1))
	groups := []string{"solve", "pack", "copy"}
	draw := func(grow float64) Run {
		counts := []float64{30 * grow, 200, 100}
		for i := range counts {
			counts[i] *= math.Exp(tauFar * random.NormFloat64())
			counts[i] = max(1, math.Round(counts[i]+math.Sqrt(counts[i])*random.NormFloat64()))
		}
		return counted(t, "r", groups, counts)
	}
	const draws = 400
	called, seen, wrong := 0, 0, 0
	for range draws {
		c := compared(t, []Run{draw(1)}, []Run{draw(1.3)}, byFunction(nil))
		for _, g := range c.Groups {
			if g.Label != "solve" || g.Verdict != More {
				continue
			}
			called++
			seen += int(one(*g.Ratio > 2*1.3))
			wrong += int(one(*g.Low > 1.3))
			if text := c.Says(&g); !strings.Contains(text, "solve costs at least "+byHow(*g.Low)) {
				t.Errorf("%.2f (%.2f to %.2f): %s", *g.Ratio, *g.Low, *g.High, text)
			}
			if text := c.Sentence(); strings.Contains(text, Signed(*g.Ratio)) {
				t.Errorf("the first sentence has what was seen by chance: %s", text)
			}
		}
	}
	t.Logf("called in %d of %d, by more than twice in %d, said to be more than it is in %d", called, draws, seen, wrong)
	if called == 0 || wrong > draws/50 {
		t.Errorf("called in %d, said to be more than it is in %d of %d", called, wrong, draws)
	}
}

// TestModelledIsNotSimulated: hardware samples with the latency of L1 hits assumed
// were measured, and how their runs differ is unknown; a simulation repeats itself.
func TestModelledIsNotSimulated(t *testing.T) {
	latency := slices.Repeat([]int64{10}, 400)
	line := slices.Repeat([]int64{1}, 400)
	draw := func(cpu table.Provenance) Run {
		r := made(t, "r", table.Ints("line", "", table.Derived, line, nil), table.Ints("cpu", "", cpu, line, nil),
			table.Ints("latency", "cycles", table.Modelled, latency, nil))
		r.Manifest.Recording = nil
		return r
	}
	for p, want := range map[table.Provenance]float64{table.Measured: tauFar, table.Unknown: tauFar, table.Modelled: 0} {
		c := compared(t, []Run{draw(p)}, []Run{draw(p)}, byLine(Cost))
		if *c.Tau != want || c.About() == "" {
			t.Errorf("CPUs %s: allowance %v, want %v; about %q", p, *c.Tau, want, c.About())
		}
	}
}

// TestWholeIsOne asks for the whole run beside other groups, other tables and other
// limits of small ones: what is said of it is the same.
func TestWholeIsOne(t *testing.T) {
	random := rand.New(rand.NewPCG(25, 2))
	draw := func() Run {
		names, objects := table.NewInterner(), table.NewInterner()
		var of, at []uint32
		var cpu, weight []int64
		for i := range 40 {
			n := 20 + random.IntN(200)
			for range n {
				of, at = append(of, names.CodeString(string(rune('a'+i%7)))), append(at, objects.CodeString(string(rune('A'+i%23))))
				cpu, weight = append(cpu, int64(i%2)), append(weight, sampleNanoseconds)
			}
		}
		return made(t, "r", table.Categories("function", table.Derived, of, names.Names(), nil), table.Categories("symbol", table.Derived, at, objects.Names(), nil),
			table.Ints("cpu", "", table.Measured, cpu, nil), table.Ints("weight", "ns", table.Measured, weight, nil))
	}
	many := func(n int) (out []Run) {
		for range n {
			out = append(out, draw())
		}
		return out
	}
	for name, sides := range map[string]struct {
		a, b  []Run
		noise []Run
		pair  bool
	}{
		"one run a side":    {many(1), many(1), nil, false},
		"beside other runs": {many(1), many(1), many(4), false},
		"pairs":             {many(6), many(6), nil, true},
		"sides":             {many(3), many(5), nil, false},
	} {
		var first *Row
		for _, opt := range []Options{
			{Questions: []Question{{By: []string{"function"}, Metric: Cost}}},
			{Questions: []Question{{By: []string{"symbol"}, Metric: Cost}}},
			{Questions: []Question{{By: []string{"cpu"}, Metric: Cost}}, MinShare: .6},
			{Questions: []Question{{By: []string{"symbol", "function"}, Metric: Cost}, {By: []string{"cpu"}, Metric: Samples}, {By: []string{"function"}, Metric: Cost}}},
		} {
			opt.Noise, opt.Pair = sides.noise, sides.pair
			w := compared(t, sides.a, sides.b, opt).Whole
			if first == nil {
				first = &w
			}
			if *w.Ratio != *first.Ratio || *w.Low != *first.Low || *w.High != *first.High || *w.P != *first.P || *w.QValue != *first.QValue || *w.Detectable != *first.Detectable || w.Verdict != first.Verdict || w.Mark != first.Mark {
				t.Errorf("%s by %v: %.4f (%.4f to %.4f, p %.4f), by function %.4f (%.4f to %.4f, p %.4f)", name, opt.Questions[0].By, *w.Ratio, *w.Low, *w.High, *w.P, *first.Ratio, *first.Low, *first.High, *first.P)
			}
		}
	}
}

// TestWholeFalseAlarms draws runs of one program that differ far more than sampling
// does, and in all groups alike: the whole run is called in five of a hundred, not
// more because groups know only the luck of sampling.
func TestWholeFalseAlarms(t *testing.T) {
	random := rand.New(rand.NewPCG(25, 3))
	const draws, spread = 2000, .1
	for _, pairs := range []int{3, 8} {
		called, covered := 0, 0
		for range draws {
			o := observed{paired: true}
			for range pairs {
				o.a = append(o.a, []estimate{{spread * random.NormFloat64(), 1e-5}})
				o.b = append(o.b, []estimate{{spread * random.NormFloat64(), 1e-5}})
			}
			got := judge([]judged{{estimates: alone(o), threshold: .05}}, discoveryRate)[0][0]
			called += int(one(got.Verdict == More || got.Verdict == Less))
			covered += int(one(got.Low <= 1 && got.High >= 1))
		}
		t.Logf("%d pairs: called in %.1f %%, interval holds the truth in %.1f %% of %d", pairs, 100*float64(called)/draws, 100*float64(covered)/draws, draws)
		if called > draws*7/100 || covered < draws*93/100 {
			t.Errorf("%d pairs: the whole run is called in %d of %d comparisons of a program with itself, its interval holds in %d", pairs, called, draws, covered)
		}
	}
}
