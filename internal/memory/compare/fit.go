package compare

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/machine/hw"
	"github.com/isobath/isobath/internal/memory/align"
)

// fitting is what of two sides can be compared, and how.
type fitting struct {
	column     string // summed for a cost; empty counts samples
	unit       string
	provenance table.Provenance
	design     Design
	drift      string
	tau        float64 // on logarithms of cost, a side; of one run a side
	tauShare   float64
	exact      bool // every reference is counted: nothing is left to chance
	lossy      bool // so many samples are lost that nothing is sure
	byLoad     bool // machines differ: CPUs are compared by their rank
	extra      query.Expr
	alignment  *align.Alignment
	threads    map[*table.Table]align.Threads
	functions  map[*table.Table]map[string]codePlace
	said       []string
}

// The allowance for how single runs of one program differ, as a standard
// deviation of the logarithm of a cost and of a share. Measured on a shared
// virtual machine; --noise measures it anew.
const (
	tauNear, tauNearShare = .15, .10 // same machine, within two minutes
	tauFar, tauFarShare   = .30, .20
	nearInTime            = 2 * time.Minute
)

// Losses of samples from which on a comparison is doubtful, and void.
const (
	lossWarned = .05
	lossVoid   = .20
)

func (f *fitting) say(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !slices.Contains(f.said, s) {
		f.said = append(f.said, s)
	}
}

// fit looks at two sides before anything is counted.
func fit(ctx context.Context, a, b []Run, opt *Options) (*fitting, error) {
	f := &fitting{threads: map[*table.Table]align.Threads{}}
	all := slices.Concat(a, b)
	if err := f.kinds(a, b, opt); err != nil {
		return nil, err
	}
	for _, q := range opt.Questions {
		if err := f.columns(all, a, b, &q, opt); err != nil {
			return nil, err
		}
	}
	if err := f.costs(all, a, b, opt); err != nil {
		return nil, err
	}
	if err := f.rates(all, opt); err != nil {
		return nil, err
	}
	f.thresholds(all)
	f.losses(all)
	f.machines(a, b, opt)
	f.commands(a, b)
	f.designs(a, b, opt)
	if opt.Common {
		f.alignment = align.Common()
		return f, nil
	}
	sideA, err := f.side(ctx, a)
	if err != nil {
		return nil, err
	}
	sideB, err := f.side(ctx, b)
	if err != nil {
		return nil, err
	}
	f.alignment = align.New(sideA, sideB, opt.Renames)
	if usesLines(opt) && len(f.alignment.Unmatched) > 0 {
		f.say("no source text of %s on both sides: its lines are compared by number, which is wrong if they moved", listed(f.alignment.Unmatched))
	}
	return f, nil
}

func usesLines(opt *Options) bool {
	return slices.ContainsFunc(opt.Questions, func(q Question) bool { return slices.Contains(q.By, samples.Line) })
}

func listed(names []string) string {
	if len(names) > 3 {
		return strings.Join(names[:3], ", ") + fmt.Sprintf(" and %d more", len(names)-3)
	}
	return strings.Join(names, ", ")
}

// kinds holds that references are compared with references.
func (f *fitting) kinds(a, b []Run, opt *Options) error {
	refs := func(r Run) bool { return r.Manifest.Kind == kind.Refs }
	all := slices.Concat(a, b)
	f.exact = slices.ContainsFunc(all, refs)
	if f.exact && slices.ContainsFunc(all, func(r Run) bool { return !refs(r) }) {
		return fmt.Errorf("some runs are traces of every reference and others samples: a count is not an estimate; record all alike")
	}
	for i := range opt.Questions {
		if m := opt.Questions[i].Metric; f.exact && m == Cost {
			opt.Questions[i].Metric = Samples
		}
	}
	return nil
}

// incomparable are columns whose values mean nothing in another run.
var incomparable = []string{samples.IP, samples.Addr, samples.Phys, samples.Time, "interrupted", "stack"}

// columns holds that both sides have the columns of a question, with values that
// came about alike.
func (f *fitting) columns(all, a, b []Run, q *Question, opt *Options) error {
	by := q.By
	if _, ok := q.Metric.level(); ok {
		by = append(slices.Clone(by), samples.Level)
	}
	for _, name := range by {
		if slices.Contains(incomparable, name) {
			return query.Refuse("--by %s: addresses and times of two runs do not compare; --by line, function, symbol or code do", name)
		}
		for _, r := range all {
			if samples.Usable(r.Table, name) == nil {
				return query.Refuse("--by %s: %s has no such column; both sides have %s", name, r.Name, strings.Join(Shared(all), ", "))
			}
		}
		if err := f.alike(a, b, name, opt); err != nil {
			return err
		}
	}
	return nil
}

// Shared are the columns that all runs have and that compare.
func Shared(all []Run) []string {
	var out []string
	for _, c := range all[0].Table.Columns() {
		if slices.Contains(incomparable, c.Name) || c.Provenance == table.Absent {
			continue
		}
		if !slices.ContainsFunc(all, func(r Run) bool { return samples.Usable(r.Table, c.Name) == nil }) {
			out = append(out, c.Name)
		}
	}
	return out
}

// alike refuses a column that was measured on one side and modelled on the other,
// or modelled for different machines.
func (f *fitting) alike(a, b []Run, name string, opt *Options) error {
	pa, pb := provenances(a, name), provenances(b, name)
	if modelled := table.Modelled.String(); pa != pb && (strings.Contains(pa, modelled) || strings.Contains(pb, modelled)) {
		return query.Refuse("%s is %s in A and %s in B; --by line, function or symbol compares what both have", name, pa, pb)
	}
	if pa != pb && (strings.Contains(pa, unknownOrigin) || strings.Contains(pb, unknownOrigin)) {
		f.say("%s is %s in A and %s in B: if one of them was modelled, a difference may be the model's", name, pa, pb)
	}
	if name == samples.Level && !opt.AcrossModels {
		if why := otherModels(models(a), models(b)); why != "" {
			return query.Refuse("%s; --across-models compares them all the same", why)
		}
	}
	return nil
}

func provenances(runs []Run, name string) string {
	var out []string
	for _, r := range runs {
		if p := originOf(r.Table.Column(name).Provenance); !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return strings.Join(out, " and ")
}

// unknownOrigin is said of values that nothing says the origin of, such as those
// of a CSV without a description.
const unknownOrigin = "of unknown origin"

func originOf(p table.Provenance) string {
	if p == table.Unknown {
		return unknownOrigin
	}
	return p.String()
}

// otherModels says that levels are of different models; empty if they are not.
func otherModels(a, b string) string {
	if a == b {
		return ""
	}
	return fmt.Sprintf("levels are modelled for %s in A and for %s in B: a difference would be the machines'", cmp.Or(a, unnamedMachine), cmp.Or(b, unnamedMachine))
}

const unnamedMachine = "a machine without a name"

func models(runs []Run) string {
	var out []string
	for _, r := range runs {
		if d := r.Manifest.Recording; d != nil && d.Model != nil && !slices.Contains(out, d.Model.Topology) {
			out = append(out, d.Model.Topology)
		}
	}
	return strings.Join(out, " and ")
}

// costs chooses what a sample costs: its weight, which a timer gives it, else its
// latency, else one; whatever all runs have alike.
func (f *fitting) costs(all, a, b []Run, opt *Options) error {
	needsMean := slices.ContainsFunc(opt.Questions, func(q Question) bool { return q.Metric == Mean })
	for _, candidate := range []string{costColumn(&all[0]), samples.Weight, ""} {
		if candidate != "" {
			first := samples.Usable(all[0].Table, candidate)
			if first == nil || slices.ContainsFunc(all, func(r Run) bool { return !sameMeasure(first, samples.Usable(r.Table, candidate)) }) {
				continue
			}
			f.column, f.unit, f.provenance = candidate, samples.UnitOf(first), first.Provenance
			if candidate == samples.Latency {
				f.unit = samples.LatencyWord(f.unit)
			}
			if candidate == samples.Weight && f.unit == "" {
				f.unit = samples.Nanoseconds
			}
			break
		}
	}
	if f.column == "" {
		f.unit, f.provenance = "samples", table.Derived
	}
	if f.column == samples.Latency {
		f.mixed(all, a, b)
	} else if la, lb := described(a), described(b); la != lb && (costColumn(&a[0]) == samples.Latency || costColumn(&b[0]) == samples.Latency) {
		if needsMean {
			return query.Refuse("latency is %s in A and %s in B; --metric samples compares what both have", la, lb)
		}
		f.say("latency is %s in A and %s in B: compared by %s, which both have alike", la, lb, map[string]string{samples.Weight: "run time", "": "samples"}[f.column])
	}
	if needsMean && f.column != samples.Latency {
		return query.Refuse("--metric mean needs latencies on both sides; --metric cost compares what both have")
	}
	return nil
}

// costColumn is what one run would be compared by.
func costColumn(r *Run) string {
	timer := r.Manifest.Recording != nil && r.Manifest.Recording.Mode == "timer"
	switch {
	case timer && samples.Usable(r.Table, samples.Weight) != nil:
		return samples.Weight
	case samples.UsableLatency(r.Table) != nil:
		return samples.Latency
	case samples.Usable(r.Table, samples.Weight) != nil:
		return samples.Weight
	}
	return ""
}

// sameMeasure says that values of two runs compare. Those of unknown origin do
// with any that were not modelled.
func sameMeasure(a, b *table.Column) bool {
	if b == nil || conversion(samples.UnitOf(b), samples.UnitOf(a)) == 0 {
		return false
	}
	unknown := a.Provenance == table.Unknown || b.Provenance == table.Unknown
	return a.Provenance == b.Provenance || unknown && a.Provenance != table.Modelled && b.Provenance != table.Modelled
}

// seconds are units of time, whose values are converted where both sides say
// theirs. Cycles are not among them: nothing says at which clock a run had them.
var seconds = map[string]float64{"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1}

// conversion is by what to multiply a value of one unit to have it in another; 0
// if that is not known.
func conversion(from, to string) float64 {
	if from == to {
		return 1
	}
	if x, y := seconds[from], seconds[to]; x > 0 && y > 0 {
		return x / y
	}
	return 0
}

// inUnit is by what to multiply the costs of a run to have them in the unit of the
// comparison.
func (f *fitting) inUnit(r *Run, column string) float64 {
	c := samples.Usable(r.Table, column)
	if column == "" || c == nil {
		return 1
	}
	k := conversion(samples.UnitOf(c), f.unit)
	if k == 0 { // costs chose a column that all runs have alike
		return 1
	}
	if k != 1 {
		f.say("%s is in %s in %s: converted to %s", column, samples.UnitOf(c), r.Name, f.unit)
	}
	return k
}

// mixed says that latencies of unknown origin are compared with known ones.
func (f *fitting) mixed(all, a, b []Run) {
	if la, lb := described(a), described(b); la != lb {
		f.say("latency is %s in A and %s in B: if one of them was modelled, a difference may be the model's", la, lb)
	}
	for _, r := range all {
		f.provenance = min(f.provenance, samples.Usable(r.Table, samples.Latency).Provenance)
	}
}

func described(runs []Run) string {
	l := samples.UsableLatency(runs[0].Table)
	if l == nil {
		return "absent"
	}
	return originOf(l.Provenance) + " in " + cmp.Or(samples.UnitOf(l), "an unknown unit")
}

// rates looks at how samples were chosen.
func (f *fitting) rates(all []Run, opt *Options) error {
	modes := distinct(all, modeOf)
	if len(modes) > 1 {
		for _, q := range opt.Questions {
			if q.Metric != Mean && !q.Metric.ofRun() {
				return fmt.Errorf("sampled by %s: shares of what differ; --metric mean compares means by group", strings.Join(modes, " and "))
			}
		}
		f.say("sampled by %s: each chose other accesses", strings.Join(modes, " and "))
	}
	known, periods := 0, distinct(all, periodText)
	for i := range all {
		if period(&all[i]) > 0 {
			known++
		}
	}
	if known > 0 && known < len(all) && f.column != samples.Weight {
		for _, q := range opt.Questions {
			if q.Metric == Cost || q.Metric == Samples {
				return fmt.Errorf("the period of sampling is known of some runs only: costs do not compare; --metric share or mean does")
			}
		}
	}
	if len(periods) > 1 {
		f.say("sampled every %s: costs are weighted by it, samples scaled to the first", strings.Join(periods, " and "))
	}
	return nil
}

// period is how much one sample stands for; 0 if not known.
func period(r *Run) float64 {
	if r.Manifest.Recording == nil {
		return 0
	}
	return float64(r.Manifest.Recording.Period)
}

// periodText is the period for people; empty if it is not known.
func periodText(r *Run) string {
	switch p := period(r); {
	case p == 0:
		return ""
	case modeOf(r) == "timer":
		return Duration(p / 1e9)
	default:
		return term.Thousands(int64(p)) + " events"
	}
}

// modeOf is how samples were chosen; empty if that is not known.
func modeOf(r *Run) string {
	if r.Manifest.Recording == nil {
		return ""
	}
	return r.Manifest.Recording.Mode
}

// threshold is the latency from which on loads were sampled.
func threshold(r *Run) int {
	if r.Manifest.Recording == nil {
		return 0
	}
	return r.Manifest.Recording.Threshold
}

func distinct(runs []Run, of func(*Run) string) []string {
	var out []string
	for i := range runs {
		if s := of(&runs[i]); s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// thresholds applies the larger of two thresholds of latency to both sides.
func (f *fitting) thresholds(all []Run) {
	low, high := math.MaxInt, 0
	for i := range all {
		t := threshold(&all[i])
		low, high = min(low, t), max(high, t)
	}
	if low == high || f.column != samples.Latency {
		return
	}
	f.extra = query.Compare{Column: samples.Latency, Op: ">=", Value: query.NumberValue(float64(high))}
	f.say("loads were sampled from %d cycles on in one run and from %d in another: only those of at least %d are compared", low, high, high)
}

// losses warns of samples that were not kept.
func (f *fitting) losses(all []Run) {
	for i := range all {
		lost := 1 - 1/lossScale(&all[i])
		switch {
		case lost > lossVoid:
			f.lossy = true
			f.say("%s lost %.0f %% of its samples: nothing about it is sure", all[i].Name, 100*lost)
		case lost > lossWarned:
			f.say("%s lost %.0f %% of its samples; costs are scaled up for them", all[i].Name, 100*lost)
		}
	}
}

// lossScale is by what to multiply the samples kept to have all.
func lossScale(r *Run) float64 {
	d := r.Manifest.Recording
	if d == nil || d.Samples == 0 || d.Lost == 0 {
		return 1
	}
	return float64(uint64(d.Samples)+d.Lost) / float64(d.Samples)
}

// machines compares what the runs ran on.
func (f *fitting) machines(a, b []Run, opt *Options) {
	ta, tb := a[0].Topology, b[0].Topology
	if ta != nil && tb != nil {
		sa, sb := ta.Summary(), tb.Summary()
		if otherMachines(sa, sb) != "" {
			f.say("%s", otherMachines(sa, sb))
			for _, q := range opt.Questions {
				if slices.ContainsFunc(q.By, byPlace) {
					f.byLoad = !opt.Common // joined runs number them so
					f.say("CPUs and nodes are compared by their rank of load")
				}
			}
			return
		}
	}
	processor := func(r *Run) string {
		if r.Manifest.Recording == nil {
			return ""
		}
		return r.Manifest.Recording.Machine.Processor
	}
	if names := distinct(slices.Concat(a, b), processor); len(names) > 1 {
		f.say("different machines: %s", strings.Join(names, " against "))
	}
}

// otherMachines says how two machines differ in shape; empty if they do not.
func otherMachines(a, b hw.Summary) string {
	size := func(s hw.Summary) string { return term.Counted(s.CPUs, "CPU") + ", " + term.Counted(s.Nodes, "node") }
	switch {
	case a.CPUs != b.CPUs || a.Nodes != b.Nodes:
		return fmt.Sprintf("different machines: %s against %s", size(a), size(b))
	case !slices.Equal(a.Levels, b.Levels):
		return fmt.Sprintf("different machines: both have %s, with other caches, cores or packages", size(a))
	}
	return ""
}

func byPlace(column string) bool { return column == samples.CPU || column == samples.Node }

// commands warns of runs of different programs or inputs, unless a trial compares
// them on purpose.
func (f *fitting) commands(a, b []Run) {
	if trialOf(&a[0]) != nil {
		return
	}
	arguments := func(r *Run) string {
		c := r.Manifest.Origin.Command
		if len(c) == 0 {
			return ""
		}
		return strings.Join(append([]string{path.Base(c[0])}, c[1:]...), " ")
	}
	if ca, cb := arguments(&a[0]), arguments(&b[0]); ca != cb && ca != "" && cb != "" {
		f.say("A is a run of %q, B of %q", ca, cb)
	}
	iterations := func(r *Run) int {
		if c := samples.Usable(r.Table, samples.Iteration); c != nil {
			return table.Summarize(c).Distinct
		}
		return 0
	}
	if ia, ib := iterations(&a[0]), iterations(&b[0]); ia != ib && ia > 0 && ib > 0 {
		f.say("A has %s, B %d: --per iteration divides by them", term.Counted(ia, "iteration"), ib)
	}
}

// designs says how runs belong together, and what chance could do.
func (f *fitting) designs(a, b []Run, opt *Options) {
	switch {
	case len(a) == 1 && len(b) == 1:
		f.design = One
	case len(a) == len(b) && len(a) > 1 && (opt.Pair || paired(a, b)):
		f.design = Pairs
	default:
		f.design = Sides
	}
	f.drift = drift(a, b)
	if f.design == Pairs && paired(a, b) {
		f.drift = controlled
	}
	if f.design != One && f.drift == notControlled {
		f.say("all runs of one side were made before all of the other: what the machine did in between looks like a change; 'isobath ab --record DIR -- A -- B' makes pairs")
	}
	f.tau, f.tauShare = tauFar, tauFarShare
	switch {
	case f.exact || !slices.ContainsFunc(slices.Concat(a, b), func(r Run) bool { return !simulated(&r) }):
		f.tau, f.tauShare = 0, 0
	case sameMinutes(&a[0], &b[0]):
		f.tau, f.tauShare = tauNear, tauNearShare
	}
}

// simulated says that nothing in a run was measured, so that it is the same every
// time. A latency may be modelled in a run that was measured, as those of hits in
// the first level are: how such runs differ is as unknown as of any other.
func simulated(r *Run) bool {
	modelled := false
	for _, c := range r.Table.Columns() {
		switch c.Provenance {
		case table.Measured, table.Unknown:
			return false
		case table.Modelled:
			modelled = true
		}
	}
	return modelled
}

// paired says that the i-th runs of both sides are a pair of one trial.
func paired(a, b []Run) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := trialOf(&a[i]), trialOf(&b[i])
		if x == nil || y == nil || x.ID != y.ID || x.Pair != y.Pair || x.Side == y.Side {
			return false
		}
	}
	return true
}

// drift looks at when runs were made.
func drift(a, b []Run) string {
	ta, tb := times(a), times(b)
	if len(ta) < len(a) || len(tb) < len(b) {
		return unknown
	}
	lastA, firstA := slices.MaxFunc(ta, time.Time.Compare), slices.MinFunc(ta, time.Time.Compare)
	lastB, firstB := slices.MaxFunc(tb, time.Time.Compare), slices.MinFunc(tb, time.Time.Compare)
	if lastA.Before(firstB) || lastB.Before(firstA) {
		return notControlled
	}
	return controlled
}

func times(runs []Run) []time.Time {
	var out []time.Time
	for i := range runs {
		if t, err := time.Parse(time.RFC3339, runs[i].Manifest.Origin.Time); err == nil {
			out = append(out, t)
		}
	}
	return out
}

func sameMinutes(a, b *Run) bool {
	ta, tb := times([]Run{*a}), times([]Run{*b})
	return len(ta) == 1 && len(tb) == 1 && a.Manifest.Origin.Host != "" && a.Manifest.Origin.Host == b.Manifest.Origin.Host && ta[0].Sub(tb[0]).Abs() <= nearInTime
}
