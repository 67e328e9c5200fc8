package compare

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/machine/hw"
)

// plain is a run with every column that comparisons ask about.
func plain(t *testing.T, edit func(*Run)) Run {
	t.Helper()
	n := 400
	line, weight, latency, cpu, iteration := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	level := make([]uint32, n)
	for i := range n {
		line[i], weight[i], latency[i], cpu[i], level[i], iteration[i] = int64(i%4), sampleNanoseconds, int64(10+i%5), int64(i%2), uint32(i%2), int64(i%8)
	}
	r := made(t, "run", table.Ints("line", "", table.Derived, line, nil), table.Ints("weight", "ns", table.Measured, weight, nil),
		table.Ints("latency", "cycles", table.Measured, latency, nil), table.Ints("cpu", "", table.Measured, cpu, nil),
		table.Ints("iteration", "", table.Derived, iteration, nil),
		table.Categories("level", table.Measured, level, []string{"L1", "Remote RAM"}, nil))
	r.Manifest.Origin = kind.Origin{Host: "node", Time: "2026-01-02T03:04:05Z", Command: []string{"./p", "1"}}
	r.Manifest.Recording.Samples = n
	if edit != nil {
		edit(&r)
	}
	return r
}

// column replaces a column of a run by an edited copy.
func edited(t *testing.T, r *Run, name string, edit func(*table.Column)) {
	t.Helper()
	var columns []*table.Column
	for _, c := range r.Table.Columns() {
		x := *c
		if x.Name == name {
			edit(&x)
		}
		columns = append(columns, &x)
	}
	m := r.Manifest
	*r = made(t, r.Name, columns...)
	r.Manifest = m
}

func hardware(r *Run, mode string, period uint64) {
	r.Manifest.Recording = &run.Recording{Mode: mode, Period: period, Samples: r.Table.Rows()}
}

// TestWhatDoesNotCompare has every case in which two sides are refused, compared
// by something else, or compared with a warning.
func TestWhatDoesNotCompare(t *testing.T) {
	byLevel := Options{Questions: []Question{{By: []string{"level"}, Metric: Cost}}}
	for _, tt := range []struct {
		name   string
		a, b   func(*Run)
		opt    Options
		refuse string // a part of the error
		usage  bool   // the error is a wrong question
		warn   string // a part of a warning
		check  func(*Comparison) error
	}{
		{name: "alike", opt: byLine(Cost), check: func(c *Comparison) error {
			if len(c.Warnings) > 0 || *c.Tau != tauNear || c.ShareOf != "weight" {
				return fmt.Errorf("warnings %q, allowance %v, by %s", c.Warnings, *c.Tau, c.ShareOf)
			}
			return nil
		}},
		{name: "latency measured and modelled falls back to samples", opt: byLine(Cost), warn: "latency is measured in cycles in A and modelled in cycles in B: compared by run time",
			a: func(r *Run) { hardware(r, "PEBS", 0) }, b: func(r *Run) {
				edited(t, r, "latency", func(c *table.Column) { c.Provenance = table.Modelled })
				hardware(r, "PEBS", 0)
			}},
		{name: "mean of measured and modelled", opt: byLine(Mean), refuse: "latency is measured in cycles in A and modelled in cycles in B; --metric samples", usage: true,
			a: func(r *Run) { hardware(r, "PEBS", 0) }, b: func(r *Run) {
				edited(t, r, "latency", func(c *table.Column) { c.Provenance = table.Modelled })
				hardware(r, "PEBS", 0)
			}},
		{name: "levels measured and modelled", opt: byLevel, refuse: "level is measured in A and modelled in B", usage: true,
			b: func(r *Run) { edited(t, r, "level", func(c *table.Column) { c.Provenance = table.Modelled }) }},
		{name: "levels of different models", opt: byLevel, refuse: "--across-models", usage: true,
			a: func(r *Run) { r.Manifest.Recording.Model = &run.Model{Topology: "x.xml"} }, b: func(r *Run) { r.Manifest.Recording.Model = &run.Model{Topology: "y.xml"} }},
		{name: "levels of different models all the same", opt: Options{AcrossModels: true, Questions: byLevel.Questions},
			a: func(r *Run) { r.Manifest.Recording.Model = &run.Model{Topology: "x.xml"} }, b: func(r *Run) { r.Manifest.Recording.Model = &run.Model{Topology: "y.xml"} }},
		{name: "both simulated: sampling only", opt: byLine(Cost), a: modelled(t), b: modelled(t), check: func(c *Comparison) error {
			if *c.Tau != 0 || c.About() == "" {
				return fmt.Errorf("allowance %v, about %q", *c.Tau, c.About())
			}
			return nil
		}},
		{name: "units", opt: byLine(Mean), refuse: "measured in ns in B", usage: true, a: func(r *Run) { hardware(r, "PEBS", 0) }, b: func(r *Run) {
			edited(t, r, "latency", func(c *table.Column) { c.Unit = "ns" })
			hardware(r, "PEBS", 0)
		}},
		{name: "rates", opt: byLine(Samples), warn: "sampled every 500 µs and 2 ms", b: func(r *Run) { r.Manifest.Recording.Period = 4 * sampleNanoseconds }, check: func(c *Comparison) error {
			if c.B.Cost != 4*c.A.Cost {
				return fmt.Errorf("samples %v and %v are not scaled", c.A.Cost, c.B.Cost)
			}
			return nil
		}},
		{name: "periods of events", opt: byLine(Samples), warn: "sampled every " + term.Thousands(1000) + " events and " + term.Thousands(4000) + " events", a: func(r *Run) { hardware(r, "PEBS", 1000) }, b: func(r *Run) { hardware(r, "PEBS", 4000) }},
		{name: "period unknown on one side", opt: byLine(Cost), refuse: "--metric share or mean", a: func(r *Run) { hardware(r, "PEBS", 1000) }, b: func(r *Run) { hardware(r, "PEBS", 0) }},
		{name: "kinds of sampling", opt: byLine(Cost), refuse: "sampled by timer and PEBS", b: func(r *Run) { hardware(r, "PEBS", 1000) }},
		{name: "means of two kinds of sampling", opt: byLine(Mean), warn: "sampled by PEBS and IBS: each chose other accesses", a: func(r *Run) { hardware(r, "PEBS", 1000) }, b: func(r *Run) { hardware(r, "IBS", 1000) }},
		{name: "shares of two kinds of sampling", opt: byLine(Share), refuse: "shares of what differ", a: func(r *Run) { hardware(r, "PEBS", 1000) }, b: func(r *Run) { hardware(r, "IBS", 1000) }},
		{name: "thresholds of latency", opt: byLine(Cost), warn: "only those of at least 12", a: func(r *Run) { hardware(r, "PEBS", 1000) }, b: func(r *Run) {
			hardware(r, "PEBS", 1000)
			r.Manifest.Recording.Threshold = 12
		}, check: func(c *Comparison) error {
			if c.A.Samples != 240 || c.B.Samples != 240 {
				return fmt.Errorf("%d and %d samples", c.A.Samples, c.B.Samples)
			}
			return nil
		}},
		{name: "lost samples are scaled up", opt: byLine(Cost), warn: "lost 9 %", b: func(r *Run) { r.Manifest.Recording.Lost = 40 }, check: func(c *Comparison) error {
			if ratio := c.B.Cost / c.A.Cost; ratio < 1.0999 || ratio > 1.1001 {
				return fmt.Errorf("ratio %v", ratio)
			}
			return nil
		}},
		{name: "too many lost", opt: Options{Questions: []Question{{By: []string{"line"}, Metric: Cost}}}, warn: "nothing about it is sure", b: func(r *Run) { r.Manifest.Recording.Lost = 4000 }, check: func(c *Comparison) error {
			if c.Whole.Sure || c.Whole.Verdict != Unsure || *c.Whole.Ratio < 5 {
				return fmt.Errorf("%+v", c.Whole)
			}
			return nil
		}},
		{name: "topologies", opt: Options{Questions: []Question{{By: []string{"cpu"}, Metric: Cost}}}, warn: "different machines: 32 CPUs, 2 nodes against 2 CPUs, 1 node",
			a: func(r *Run) { r.Topology = machineOf(t, 32, 2) }, b: func(r *Run) { r.Topology = machineOf(t, 2, 1) }},
		{name: "processors", opt: byLine(Cost), warn: "different machines: old against new", a: func(r *Run) { r.Manifest.Recording.Machine.Processor = "old" }, b: func(r *Run) { r.Manifest.Recording.Machine.Processor = "new" }},
		{name: "commands", opt: byLine(Cost), warn: `A is a run of "p 1", B of "p 2"`, b: func(r *Run) { r.Manifest.Origin.Command = []string{"./p", "2"} }},
		{name: "iterations", opt: byLine(Cost), warn: "A has 8 iterations, B 4: --per iteration divides by them", b: func(r *Run) {
			edited(t, r, "iteration", func(c *table.Column) {
				halved := make([]int64, c.Len())
				for i := range halved {
					halved[i] = int64(i % 4)
				}
				c.Data = halved
			})
		}},
		{name: "a gate of one run a side", opt: Options{Questions: []Question{{By: []string{"line"}, Metric: Cost, Gate: &Gate{Change: .05}}}}, warn: "one run a side cannot guard: a gate needs pairs, such as those of isobath record --repeat 8 --pair -- A -- B"},
		{name: "per iteration", opt: Options{Per: "iteration", Questions: byLine(Cost).Questions}, check: func(c *Comparison) error {
			if c.A.Cost != 400*sampleNanoseconds/8 {
				return fmt.Errorf("cost %v", c.A.Cost)
			}
			return nil
		}},
		{name: "no common key", opt: Options{Questions: []Question{{By: []string{"function"}, Metric: Cost}}}, refuse: "both sides have line, weight", usage: true},
		{name: "addresses", opt: Options{Questions: []Question{{By: []string{"addr"}, Metric: Cost}}}, refuse: "do not compare", usage: true},
		{name: "references with samples", opt: byLine(Cost), refuse: "a count is not an estimate", b: func(r *Run) { r.Manifest.Kind = kind.Refs }},
		{name: "references are exact", opt: byLine(Cost), a: func(r *Run) { r.Manifest.Kind = kind.Refs }, b: func(r *Run) { r.Manifest.Kind = kind.Refs }, check: func(c *Comparison) error {
			if c.Whole.Verdict != Same || *c.Whole.Low != 1 || *c.Whole.High != 1 {
				return fmt.Errorf("%+v", c.Whole)
			}
			if s := c.Sentence(); c.Unit != "references" || !strings.HasPrefix(s, "B makes as many references as A: 400 → 400 references") {
				return fmt.Errorf("in %s: %s", c.Unit, s)
			}
			return nil
		}},
		{name: "not at the same time", opt: byLine(Cost), b: func(r *Run) { r.Manifest.Origin.Time = "2026-01-02T04:04:05Z" }, check: func(c *Comparison) error {
			if *c.Tau != tauFar {
				return fmt.Errorf("allowance %v", *c.Tau)
			}
			return nil
		}},
		{name: "empty on one side", opt: byLine(Cost), b: func(r *Run) {
			var err error
			if r.Where, err = query.Parse("line > 1000", r.Table); err != nil {
				t.Fatal(err)
			}
		}, check: func(c *Comparison) error {
			if !strings.Contains(c.Sentence(), "no samples in B") || c.Groups[0].Ratio != nil {
				return fmt.Errorf("%s; %+v", c.Sentence(), c.Groups[0])
			}
			return nil
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Runs(context.Background(), []Run{plain(t, tt.a)}, []Run{plain(t, tt.b)}, tt.opt)
			if tt.refuse != "" {
				if err == nil || !strings.Contains(err.Error(), tt.refuse) || errors.As(err, new(*query.AskError)) != tt.usage {
					t.Fatalf("error %v, want %q, usage %v", err, tt.refuse, tt.usage)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(strings.Join(c.Warnings, "\n"), tt.warn) {
				t.Errorf("warnings %q, want %q", c.Warnings, tt.warn)
			}
			if tt.check != nil {
				if err := tt.check(c); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func modelled(t *testing.T) func(*Run) {
	return func(r *Run) {
		for _, c := range r.Table.Columns() { // as a simulation: nothing was measured
			edited(t, r, c.Name, func(c *table.Column) {
				if c.Provenance == table.Measured || c.Name == "latency" {
					c.Provenance = table.Modelled
				}
			})
		}
		r.Manifest.Recording = nil
	}
}

// machineOf is a topology of so many CPUs on so many nodes.
func machineOf(t *testing.T, cpus, nodes int) *hw.Topology {
	t.Helper()
	text := `{"version":1,"objects":[{"type":"Machine","cpus":"0-` + fmt.Sprint(cpus-1) + `"}`
	for n := range nodes {
		text += fmt.Sprintf(`,{"type":"NUMA","os":%d,"cpus":"%d-%d"}`, n, n*cpus/nodes, (n+1)*cpus/nodes-1)
	}
	for c := range cpus {
		text += fmt.Sprintf(`,{"type":"CPU","os":%d,"cpus":"%d"}`, c, c)
	}
	topology := new(hw.Topology)
	if err := topology.UnmarshalJSON([]byte(text + "]}")); err != nil {
		t.Fatal(err)
	}
	return topology
}

// TestOrderOfRuns warns where all runs of A came before all of B, and pairs the
// runs of a trial.
func TestOrderOfRuns(t *testing.T) {
	at := func(minute, pair int, side string) Run {
		return plain(t, func(r *Run) {
			r.Manifest.Origin.Time = fmt.Sprintf("2026-01-02T03:%02d:00Z", minute)
			if pair >= 0 {
				r.Manifest.Recording.Trial = &run.Trial{ID: "x", Pair: pair, Side: side}
			}
		})
	}
	apart := compared(t, []Run{at(0, -1, ""), at(1, -1, "")}, []Run{at(2, -1, ""), at(3, -1, "")}, byLine(Cost))
	if apart.Design != Sides || apart.Drift != notControlled || !strings.Contains(strings.Join(apart.Warnings, "\n"), "makes pairs") {
		t.Errorf("%s, %s, %q", apart.Design, apart.Drift, apart.Warnings)
	}
	mixed := compared(t, []Run{at(0, -1, ""), at(3, -1, "")}, []Run{at(1, -1, ""), at(2, -1, "")}, byLine(Cost))
	if mixed.Drift != controlled {
		t.Errorf("interleaved runs: %s", mixed.Drift)
	}
	pairs := compared(t, []Run{at(0, 0, "a"), at(3, 1, "a")}, []Run{at(1, 0, "b"), at(2, 1, "b")}, byLine(Cost))
	if pairs.Design != Pairs || pairs.Drift != controlled || pairs.Pairs != 2 {
		t.Errorf("%s, %s", pairs.Design, pairs.Drift)
	}
}

// TestReferencesAmongSamples: one run of another kind on either side is enough.
func TestReferencesAmongSamples(t *testing.T) {
	refs := func(r *Run) { r.Manifest.Kind = kind.Refs }
	a, b := []Run{plain(t, refs), plain(t, nil)}, []Run{plain(t, refs), plain(t, refs)}
	for _, sides := range [][2][]Run{{a, b}, {b, a}} {
		_, err := Runs(t.Context(), sides[0], sides[1], Options{Questions: []Question{{By: []string{"line"}, Metric: Cost}}})
		if err == nil || !strings.Contains(err.Error(), "a count is not an estimate") {
			t.Errorf("a side of both kinds: %v", err)
		}
	}
}

// TestStrippedSide: where one side has no names, everything is new and gone, and a
// note says why that is little to go by; the first sentence names none of it.
func TestStrippedSide(t *testing.T) {
	counts := []float64{600, 300, 100}
	a, b := counted(t, "a", []string{"solve", "pack", "send"}, counts), counted(t, "b", []string{"app+0x10", "app+0x20", "send"}, counts)
	c := compared(t, []Run{a}, []Run{b}, byFunction(nil))
	if all := strings.Join(c.Warnings, "\n"); !strings.Contains(all, "90.0 % of A and 90.0 % of B have no partner by function") || strings.Contains(c.Sentence(), "app+0x10") {
		t.Errorf("%s\n%s", c.Sentence(), all)
	}
	// What is new fails no gate then; the whole run still does.
	gated := func(counts ...float64) *Comparison {
		var as, bs []Run
		for range 6 {
			as, bs = append(as, a), append(bs, counted(t, "b", []string{"app+0x10", "app+0x20", "send"}, counts))
		}
		return compared(t, as, bs, byFunction(&Gate{Change: .05}))
	}
	if c := gated(400, 300, 100); c.Gate.Failed || !strings.Contains(strings.Join(c.Warnings, "\n"), "say little then, and fail nothing") {
		t.Errorf("%+v, %q", c.Gate, c.Warnings)
	}
	if c := gated(900, 300, 100); !c.Gate.Failed || len(c.Failing()) != 1 || c.Failing()[0].Label != "the whole run" {
		t.Errorf("%+v, %+v", c.Gate, c.Failing())
	}
	// What is new beside what stayed is told.
	b = counted(t, "b", []string{"solve", "pack", "send", "extra"}, []float64{600, 300, 100, 900})
	if c = compared(t, []Run{a}, []Run{b}, byFunction(nil)); !strings.HasPrefix(c.Sentence(), "As a whole B and A cannot be told apart: +90.0 % (") || !strings.Contains(c.Sentence(), "; what differs most is extra, 0 s → 450 ms") || len(c.Warnings) > 0 {
		t.Errorf("%s\n%q", c.Sentence(), c.Warnings)
	}
}

// TestNamesOfNumbers: a number in a sentence says what it is the number of.
func TestNamesOfNumbers(t *testing.T) {
	a := plain(t, nil)
	b := plain(t, func(r *Run) {
		edited(t, r, "weight", func(c *table.Column) {
			weights := make([]int64, r.Table.Rows())
			for i := range weights {
				weights[i] = sampleNanoseconds * int64(1+50*(i%2))
			}
			c.Data = weights
		})
	})
	c := compared(t, []Run{a}, []Run{b}, Options{Questions: []Question{{By: []string{"cpu"}, Metric: Cost}}})
	if !strings.Contains(c.Sentence(), "; most in cpu 1, ") {
		t.Error(c.Sentence())
	}
}
