// Package compare puts two sides of memory samples next to each other: which
// lines, functions, objects or levels cost more in B than in A, and whether that
// is more than how runs of one program differ.
//
// A side is one run or many. Costs are compared, not shares: a line may take a
// larger share of a run that costs less. One run a side knows its sampling only,
// and an allowance stands for how runs differ; several runs a side know both.
// Over all groups false discoveries are controlled. What cannot be decided is
// said with the size that could have been seen.
//
//   - inlined.go: functions that were put into their callers
//   - fit.go: what of two sides can be compared at all, and why not
//   - observe.go: groups of each run, by names without chance
//   - significance.go: the statistics
//   - sentence.go: what to say about it
package compare

import (
	"context"
	"math"

	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/machine/hw"
	"github.com/isobath/isobath/internal/memory/align"
)

// Metric is what is compared. Names that are none of these are levels: the cost
// that they served.
type Metric string

// The metrics.
const (
	Cost    Metric = "cost"
	Share   Metric = "share"
	Samples Metric = "samples"
	Mean    Metric = "mean"
	CPU     Metric = "cpu"
	Wall    Metric = "wall"
)

// ofRun says that a metric belongs to whole runs.
func (m Metric) ofRun() bool { return m == CPU || m == Wall }

func (m Metric) level() (string, bool) {
	switch m {
	case Cost, Share, Samples, Mean, CPU, Wall:
		return "", false
	}
	return string(m), true
}

// Run is one run of a side, and what of it to compare.
type Run struct {
	Name     string
	Manifest *run.Manifest
	Table    *table.Table
	Engine   query.Engine
	Where    query.Expr
	Filter   query.Expr   // rows of the engine that are of the run; nil: all
	Topology *hw.Topology // nil if there is none
	// Text returns the lines of a source file; nil if it is not known.
	Text func(file string) []string
}

// Gate is what must not happen.
type Gate struct {
	Change float64 // a fraction, or points of a share
	Points bool    // Change is in points of the whole
	Below  bool    // falls fail in place of growth
}

// Question is one table to compare.
type Question struct {
	By     []string
	Metric Metric
	Gate   *Gate // nil without one
}

// Options say how to compare.
type Options struct {
	Questions []Question // at least one
	// MinShare is the part of a side's cost below which groups are taken
	// together; 0 is one percent.
	MinShare float64
	Renames  map[string]string // files of A that are others in B
	Pair     bool              // the i-th runs of both sides belong together
	Noise    []Run             // other runs of the same program, to learn how runs differ
	// AcrossModels compares levels that were modelled for different machines.
	AcrossModels bool
	Per          string // a column by whose distinct values costs are divided
	// Common says that the engines of both sides answer in common names, as those
	// of joined runs do.
	Common bool
}

// discoveryRate is the share of false ones among the groups that are called.
const discoveryRate = .05

// defaultThreshold is the change below which groups are called the same where
// nobody says another.
const defaultThreshold = .05

const (
	defaultMinShare = .01
	leastSamples    = 5 // of a group in a run, on average, to be tested by itself
)

// Design is how runs were made.
type Design string

// The designs.
const (
	Pairs Design = "pairs"
	Sides Design = "sides"
	One   Design = "one"
)

// The words for drift: whether the machine could have changed between A and B.
const (
	controlled    = "controlled"
	notControlled = "not controlled"
	unknown       = "unknown"
)

// Comparison is two sides and their groups, largest change first.
type Comparison struct {
	Where string `json:"where"`
	// By is of the first question; further ones say theirs in each group.
	By      []string `json:"by"`
	ShareOf string   `json:"share_of"`
	Metric  Metric   `json:"metric"`
	Unit    string   `json:"unit"`
	Design  Design   `json:"design"`
	Pairs   int      `json:"pairs"`
	Drift   string   `json:"drift"`
	Q       float64  `json:"q"`
	Tested  int      `json:"tested"`
	// Tau is the allowance for how runs differ, of one run a side.
	Tau        *float64 `json:"tau"`
	A          Side     `json:"a"`
	B          Side     `json:"b"`
	Whole      Row      `json:"whole"`
	Small      *Row     `json:"small,omitempty"` // groups too small to be tested alone
	GroupCount int      `json:"group_count"`
	Groups     []Row    `json:"groups"`
	// Further are the whole runs and the small groups of further questions.
	Further  []Row     `json:"further,omitempty"`
	Gate     *Verdicts `json:"gate,omitempty"`
	Warnings []string  `json:"warnings"`
	// Remapped says that the work lies otherwise on the machine; nil if it does
	// not, or that is not known.
	Remapped *Remapped `json:"remapped,omitempty"`

	exact    bool
	modelled bool
	learned  int // other runs that say how runs differ
	commands [2][]string
	costUnit string
	// strangers says that most of both sides has no partner on the other.
	strangers bool
}

// Failing are the rows that a gate fails of, of all tables.
func (c *Comparison) Failing() []*Row {
	var out []*Row
	add := func(r *Row) {
		if r != nil && r.Fails {
			out = append(out, r)
		}
	}
	add(&c.Whole)
	for i := range c.Groups {
		add(&c.Groups[i])
	}
	add(c.Small)
	for i := range c.Further {
		add(&c.Further[i])
	}
	return out
}

// Side is one side. Samples, costs and latencies are means of its runs. Latency
// and Mean are nil where no sample has one.
type Side struct {
	Samples    int      `json:"samples"`
	Of         int      `json:"of"`
	Latency    *float64 `json:"latency"`
	Mean       *float64 `json:"mean"`
	Unit       string   `json:"unit,omitempty"`
	Provenance string   `json:"provenance"`
	Runs       []string `json:"runs"`
	Cost       float64  `json:"cost"`
	// Costs are those of each run, in the order of Runs.
	Costs []float64 `json:"costs"`
	Rate  *float64  `json:"rate"` // samples a second; nil if not known
}

// Cell is one group on one side, as a mean of its runs.
type Cell struct {
	Samples int      `json:"samples"`
	Latency *float64 `json:"latency"`
	Mean    *float64 `json:"mean"`
	Share   float64  `json:"share"`
	Cost    float64  `json:"cost"`
}

// Row is the same thing on both sides. Everything that prints a comparison
// prints rows.
type Row struct {
	Key map[string]any `json:"key"`
	// KeyA is the key in A where A has the group; Key is that of B if it has it.
	KeyA    map[string]any `json:"key_a,omitempty"`
	By      []string       `json:"by,omitempty"`     // of a further question
	Metric  Metric         `json:"metric,omitempty"` // of a further question
	Matched align.How      `json:"matched,omitempty"`
	// WithA and WithB are functions that only one side has, and that are compared
	// together with this one, which calls them: as where they were inlined.
	WithA  []string `json:"with_a,omitempty"`
	WithB  []string `json:"with_b,omitempty"`
	A      Cell     `json:"a"`
	B      Cell     `json:"b"`
	Change float64  `json:"change"` // of the share
	Error  float64  `json:"error"`  // of Change, by sampling
	Sure   bool     `json:"sure"`

	Ratio      *float64 `json:"ratio"`
	Low        *float64 `json:"low"`
	High       *float64 `json:"high"`
	P          *float64 `json:"p"`
	QValue     *float64 `json:"q_value"`
	Verdict    Verdict  `json:"verdict"`
	Detectable *float64 `json:"detectable"`
	Fails      bool     `json:"fails"`
	// Mark is "?" for a change beyond sampling that runs of one program may
	// have, "~" for one within sampling.
	Mark string `json:"mark,omitempty"`

	// Label is the key for people.
	Label string `json:"-"`
	// File, Line and Function say where B has it, as far as known.
	File     string `json:"-"`
	Line     int    `json:"-"`
	Function string `json:"-"`
	// Text is the source of the line.
	Text string `json:"-"`
	// Joined is how many groups the row stands for.
	Joined int `json:"groups,omitempty"`

	gate *Gate
	keys pairedKey
}

// Keys are the values of the row's columns as A and as B have them; nil where a
// side has no such group.
func (r *Row) Keys() (a, b []string) { return r.keys.a, r.keys.b }

// Tested says whether the row was tested by itself.
func (r *Row) Tested() bool { return r.P != nil }

// Delta is the change of cost.
func (r *Row) Delta() float64 { return r.B.Cost - r.A.Cost }

// Verdicts is what a gate says.
type Verdicts struct {
	FailAbove float64 `json:"fail_above"` // of the first limit
	Limits    []Limit `json:"limits"`
	Failed    bool    `json:"failed"`
	Unsure    int     `json:"unsure"`
	Exit      int     `json:"exit"`
}

// Limit is what one table of a gate must keep.
type Limit struct {
	By     []string `json:"by"`
	Metric Metric   `json:"metric"`
	Change float64  `json:"change"`           // a fraction, or points of a share
	Points bool     `json:"points,omitempty"` // Change is in points
	Below  bool     `json:"below,omitempty"`  // falls fail in place of growth
}

func (g *Verdicts) inPoints() bool { return len(g.Limits) > 0 && g.Limits[0].Points }

// The exit codes of a gate.
const (
	ExitPassed     = 0
	ExitRegression = 3
	ExitUnsure     = 4
)

// Runs compares two sides.
func Runs(ctx context.Context, a, b []Run, opt Options) (*Comparison, error) {
	if opt.MinShare == 0 {
		opt.MinShare = defaultMinShare
	}
	f, err := fit(ctx, a, b, &opt)
	if err != nil {
		return nil, err
	}
	c := f.comparison(a, b, &opt)
	var tables []*groups
	for i := range opt.Questions {
		t, err := f.observe(ctx, a, b, &opt, i)
		if err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	f.judge(c, tables)
	c.fillSides(f, tables[0])
	c.Warnings = append(c.Warnings, f.said...)
	c.meetStrangers(tables)
	c.gather(tables)
	c.settle(tables)
	c.Remapped, err = remapped(ctx, &a[0], &b[0])
	return c, err
}

// settle makes the gate's decision of what was judged.
func (c *Comparison) settle(tables []*groups) {
	for _, t := range tables {
		if t.question.Gate == nil {
			continue
		}
		g := t.question.Gate
		if c.Gate == nil {
			c.Gate = &Verdicts{FailAbove: g.Change}
		}
		c.Gate.Limits = append(c.Gate.Limits, Limit{By: t.question.By, Metric: t.question.Metric, Change: g.Change, Points: g.Points, Below: g.Below})
		rows := append([]*Row{&t.whole}, t.tested...)
		for _, r := range rows {
			if r.Fails {
				c.Gate.Failed = true
			}
			if r.Verdict == Unsure && r.Tested() {
				c.Gate.Unsure++
			}
		}
	}
	if c.Gate == nil {
		return
	}
	if c.Gate.Failed {
		c.Gate.Exit = ExitRegression
	}
	if c.allowed() {
		c.Warnings = append(c.Warnings, "one run a side cannot guard: a gate needs pairs, such as those of "+c.pairsCommand(usualPairs))
	}
}

// Strict makes a gate that is unsure fail too.
func (g *Verdicts) Strict() {
	if g.Exit == ExitPassed && g.Unsure > 0 {
		g.Exit = ExitUnsure
	}
}

// fillSides says what is known of the whole sides.
func (c *Comparison) fillSides(f *fitting, t *groups) {
	for i, s := range []*Side{&c.A, &c.B} {
		runs := [][]observedRun{t.a, t.b}[i]
		n := float64(len(runs))
		var count, of, cost, sum, valued float64
		for _, r := range runs {
			count += float64(r.samples)
			of += float64(r.ofAll)
			cost += r.whole.Sum * r.scale
			s.Costs = append(s.Costs, r.whole.Sum*r.scale)
			sum += r.whole.Sum
			valued += float64(r.valued)
		}
		s.Samples, s.Of, s.Cost = int(math.Round(count/n)), int(math.Round(of/n)), cost/n
		if f.column == samples.Latency && valued > 0 {
			total, mean := sum/n, sum/valued
			s.Latency, s.Mean = &total, &mean
		}
	}
}
