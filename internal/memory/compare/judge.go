package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/isobath/isobath/internal/base/stat"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// comparison begins the answer with what is known before anything is counted.
func (f *fitting) comparison(a, b []Run, opt *Options) *Comparison {
	q := &opt.Questions[0]
	c := &Comparison{By: q.By, ShareOf: cmp.Or(f.column, "samples"), Metric: q.Metric, Unit: f.unit, Design: f.design, Drift: f.drift,
		Q: discoveryRate, Groups: []Row{}, Warnings: []string{}, exact: f.exact, modelled: f.column != "" && f.provenance == table.Modelled}
	c.costUnit = f.unit
	c.Unit = c.unitOf(q.Metric)
	if len(opt.Noise) >= leastNoise {
		c.learned = len(opt.Noise)
	}
	if a[0].Where != nil {
		c.Where = a[0].Where.String()
	}
	if f.design == Pairs {
		c.Pairs = len(a)
	}
	if f.design == One {
		tau := f.tau
		if q.Metric == Share {
			tau = f.tauShare
		}
		c.Tau = &tau
	}
	c.A, c.B = sideOf(a), sideOf(b)
	c.commands = [2][]string{commandOf(&a[0], 0), commandOf(&b[0], 1)}
	return c
}

// commandOf is how to run what a run is of again: as a trial ran it, or as it was
// recorded; empty if that is not known.
func commandOf(r *Run, side int) []string {
	if t := trialOf(r); t != nil && len(t.Commands) == 2 {
		return t.Commands[side]
	}
	if r.Manifest.Format != recorded {
		return nil
	}
	return r.Manifest.Origin.Command
}

// recorded is the format of runs that the program's own recorder made.
const recorded = "record"

func sideOf(runs []Run) Side {
	s := Side{Provenance: table.Absent.String()}
	var count, seconds float64
	for i := range runs {
		r := &runs[i]
		s.Runs = append(s.Runs, r.Name)
		if d := r.Manifest.Recording; d != nil && d.Last == nil { // else the times are not those of the samples
			count, seconds = count+float64(d.Samples), seconds+d.User+d.System
		}
	}
	if seconds > 0 {
		rate := count / seconds
		s.Rate = &rate
	}
	if l := samples.UsableLatency(runs[0].Table); l != nil {
		s.Unit, s.Provenance = samples.LatencyWord(samples.UnitOf(l)), l.Provenance.String()
	}
	return s
}

// chooseTested takes groups with too few samples or too little cost together.
func (t *groups) chooseTested(f *fitting, minShare float64) {
	runs := float64(len(t.a) + len(t.b))
	var small []pairedKey
	for i, r := range t.rows {
		ga, gb := sumOf(t.a, t.keys[i].a), sumOf(t.b, t.keys[i].b)
		switch {
		case f.exact || float64(ga.Samples+gb.Samples)/runs >= leastSamples && max(r.A.Share, r.B.Share) >= minShare:
			t.tested = append(t.tested, r)
			t.amounts = append(t.amounts, t.keys[i])
		default:
			small = append(small, t.keys[i])
		}
	}
	if len(small) > 0 {
		t.joinSmall(f, small)
	}
}

// joinSmall makes one row of small groups.
func (t *groups) joinSmall(f *fitting, small []pairedKey) {
	const name = "small groups"
	key := []string{"\x01" + name} // no run has a group of that name
	joined := keyName(key)
	side := func(runs []observedRun, of func(pairedKey) []string) {
		for i := range runs {
			var sum Amount
			for _, k := range small {
				sum = sum.plus(runs[i].of(of(k)))
			}
			runs[i].groups[joined] = sum
		}
	}
	side(t.a, func(k pairedKey) []string { return k.a })
	side(t.b, func(k pairedKey) []string { return k.b })
	side(t.noise, func(k pairedKey) []string { return k.a })
	t.small = &Row{Key: map[string]any{}, Label: term.Counted(len(small), "small group"), Joined: len(small), A: f.sideCell(t.a, key), B: f.sideCell(t.b, key), Verdict: Unsure}
	t.small.Change = t.small.B.Share - t.small.A.Share
	t.tested = append(t.tested, t.small)
	t.amounts = append(t.amounts, pairedKey{key, key})
}

// judge tests the groups of every table, false discoveries controlled over all of
// them, and the whole run of every metric by itself: what is known of it does not
// depend on what else is asked.
func (f *fitting) judge(c *Comparison, tables []*groups) {
	var all, sampling []judged
	var rows [][]*Row
	for i, t := range tables {
		threshold := defaultThreshold
		of := func(e estimates) judged {
			j := judged{estimates: e, threshold: threshold}
			if g := t.question.Gate; g != nil {
				j.threshold, j.gated, j.falls = g.Change, !g.Points, g.Below
			}
			return j
		}
		first := !slices.ContainsFunc(tables[:i], func(o *groups) bool { return o.question.Metric == t.question.Metric })
		if first && t.measurable() {
			e, bare := f.estimateWhole(t)
			f.settle(&t.whole, judge([]judged{of(e)}, discoveryRate)[0][0], judge([]judged{{estimates: bare, threshold: threshold}}, discoveryRate)[0][0])
			c.Tested++
		}
		e, bare, tested := f.estimate(t)
		all, sampling = append(all, of(e)), append(sampling, judged{estimates: bare, threshold: threshold})
		rows = append(rows, tested)
	}
	outcomes := judge(all, discoveryRate)
	beyond := judge(sampling, discoveryRate)
	for i := range rows {
		for g, r := range rows[i] {
			f.settle(r, outcomes[i][g], beyond[i][g])
		}
		c.Tested += len(rows[i])
	}
}

// settle fills a row with what its test says.
func (f *fitting) settle(r *Row, o, sampling Outcome) {
	r.P, r.QValue, r.Verdict, r.Detectable, r.Fails = &o.P, &o.Q, o.Verdict, &o.Detectable, o.Fails
	if r.A.Samples > 0 && r.B.Samples > 0 || r.A.Cost > 0 && r.B.Cost > 0 {
		r.Ratio, r.Low, r.High = &o.Ratio, &o.Low, &o.High
	}
	if f.exact {
		r.settleExactly()
	}
	if g := r.gate; g != nil && g.Points {
		points := r.Change
		r.Fails = !g.Below && r.Verdict == More && points >= g.Change || g.Below && r.Verdict == Less && points <= -g.Change
	}
	if f.lossy {
		r.Verdict, r.Fails = Unsure, false
	}
	r.Sure = r.Verdict == More || r.Verdict == Less
	switch {
	case r.Sure || r.Verdict == Same && f.exact:
	case f.design == One && sampling.Q <= discoveryRate:
		r.Mark = "?"
	default:
		r.Mark = "~"
	}
}

// settleExactly is for counts of every reference: they differ or they do not.
func (r *Row) settleExactly() {
	change, p, none := r.B.Cost/r.A.Cost, 1.0, 0.0
	r.Verdict = Same
	switch {
	case r.B.Cost > r.A.Cost:
		r.Verdict, p = More, 0
	case r.B.Cost < r.A.Cost:
		r.Verdict, p = Less, 0
	}
	r.P, r.QValue, r.Detectable = &p, &p, &none
	if r.Ratio != nil {
		r.Ratio, r.Low, r.High = &change, &change, &change
	}
	r.Fails = false
	if g := r.gate; g != nil && r.Ratio != nil {
		r.Fails = !g.Below && change >= 1+g.Change && p == 0 || g.Below && change <= 1-g.Change && p == 0
	}
}

// estimate computes the changes of the groups that are tested; bare are those by
// sampling alone, without what runs add to it.
func (f *fitting) estimate(t *groups) (e, bare estimates, rows []*Row) {
	var a, b, noise [][]estimate
	rows, keys := t.testable()
	for _, side := range []struct {
		runs []observedRun
		to   *[][]estimate
		key  func(pairedKey) []string
	}{{t.a, &a, func(k pairedKey) []string { return k.a }}, {t.b, &b, func(k pairedKey) []string { return k.b }}, {t.noise, &noise, func(k pairedKey) []string { return k.a }}} {
		for i := range side.runs {
			r := &side.runs[i]
			var row []estimate
			for _, k := range keys {
				row = append(row, t.one(r, side.key(k), t.filler(k)))
			}
			*side.to = append(*side.to, row)
		}
	}
	if len(rows) == 0 {
		return estimates{freedom: math.Inf(1)}, estimates{freedom: math.Inf(1)}, nil
	}
	if f.design != One {
		e = several(observed{a, b, f.design == Pairs})
		return e, e, rows
	}
	none := func(int) (float64, float64) { return 0, 0 }
	return single(a[0], b[0], f.allowance(t, rows, noise)), single(a[0], b[0], none), rows
}

// estimateWhole is estimate for the whole run, of which only its own numbers say how
// runs differ: groups have more of the luck of sampling, and what is asked for of
// them must not change what is known of the whole.
func (f *fitting) estimateWhole(t *groups) (e, bare estimates) {
	var a, b, noise [][]estimate
	for _, side := range []struct {
		runs []observedRun
		to   *[][]estimate
	}{{t.a, &a}, {t.b, &b}, {t.noise, &noise}} {
		for i := range side.runs {
			*side.to = append(*side.to, []estimate{t.wholeOf(&side.runs[i])})
		}
	}
	if f.design != One {
		e = alone(observed{a, b, f.design == Pairs})
		return e, e
	}
	bare = single(a[0], b[0], func(int) (float64, float64) { return 0, 0 })
	if len(noise) >= leastNoise {
		logs, variances := column(noise, 0)
		tau := math.Sqrt(max(stat.Variance(logs)-stat.Mean(variances), 0))
		e = single(a[0], b[0], func(int) (float64, float64) { return tau, tau })
		e.freedom = float64(len(noise) - 1)
		return e, bare
	}
	return single(a[0], b[0], func(int) (float64, float64) { return f.tau, f.tau }), bare
}

// testable are the tested rows that the metric is defined for in every run.
func (t *groups) testable() (rows []*Row, keys []pairedKey) {
	for i, k := range t.amounts {
		if t.question.Metric == Mean && t.absent(k) {
			continue
		}
		if sumOf(t.a, k.a).Sum+sumOf(t.b, k.b).Sum > 0 {
			rows, keys = append(rows, t.tested[i]), append(keys, k)
		}
	}
	return rows, keys
}

// measurable says whether the whole run can be tested: a share of itself cannot.
func (t *groups) measurable() bool {
	m := t.question.Metric
	if m == Share {
		return false
	}
	for _, r := range slices.Concat(t.a, t.b) {
		if m.ofRun() && (!r.known || r.seconds <= 0) || !m.ofRun() && r.whole.Sum <= 0 {
			return false
		}
	}
	return true
}

// absent says that a run has no sample of a group.
func (t *groups) absent(k pairedKey) bool {
	for i := range t.a {
		if t.a[i].of(k.a).Samples == 0 {
			return true
		}
	}
	for i := range t.b {
		if t.b[i].of(k.b).Samples == 0 {
			return true
		}
	}
	return false
}

// filler is half a sample of mean weight for groups that a run has none of, so
// that logarithms exist; it is given to all runs, or it would be a difference.
func (t *groups) filler(k pairedKey) Amount {
	if !t.absent(k) {
		return Amount{}
	}
	sum := rawSum(t.a, k.a).plus(rawSum(t.b, k.b))
	w := sum.Sum / float64(max(sum.Samples, 1))
	return Amount{w / 2, w * w / 2, 0}
}

func rawSum(runs []observedRun, key []string) Amount {
	var sum Amount
	for i := range runs {
		sum = sum.plus(runs[i].of(key))
	}
	return sum
}

// one is a group in a run as the metric measures it.
func (t *groups) one(r *observedRun, key []string, filler Amount) estimate {
	g := r.of(key).plus(filler)
	switch t.question.Metric {
	case Share:
		whole := r.whole.plus(filler)
		p := g.Sum / whole.Sum
		s := shareError(g, whole) / p
		return estimate{math.Log(p), max(s*s, leastVariance)}
	case Mean:
		return meanOf(g, g.Samples)
	}
	e := g.logCost()
	e.log += math.Log(r.scale)
	return e
}

// leastVariance keeps ratios of variances defined where sampling explains
// nothing.
const leastVariance = 1e-8

func meanOf(g Amount, n int) estimate {
	mean := g.Sum / float64(n)
	variance := max(g.Squares/float64(n)-mean*mean, 0) / float64(n) / (mean * mean)
	return estimate{math.Log(mean), max(variance, leastVariance)}
}

func (t *groups) wholeOf(r *observedRun) estimate {
	switch m := t.question.Metric; {
	case m.ofRun():
		return estimate{math.Log(r.seconds), leastVariance}
	case m == Mean:
		return meanOf(r.whole, max(r.valued, 1))
	}
	e := r.whole.logCost()
	e.log += math.Log(r.scale)
	return e
}

// leastNoise is how many other runs say how runs differ.
const leastNoise = 3

// allowance is how much single runs differ beyond sampling, a side: as other runs
// of the program show it, or else as it was on a busy machine.
func (f *fitting) allowance(t *groups, rows []*Row, noise [][]estimate) func(int) (float64, float64) {
	if len(noise) >= leastNoise {
		return noiseAllowance(noise)
	}
	return func(g int) (float64, float64) {
		if t.question.Metric == Share {
			return f.tauShare * (1 - rows[g].A.Share), f.tauShare * (1 - rows[g].B.Share)
		}
		return f.tau, f.tau
	}
}

// noiseAllowance is √(φv̄ − v̄): what runs of one program add to sampling.
func noiseAllowance(noise [][]estimate) func(int) (float64, float64) {
	freedom := float64(len(noise) - 1)
	var ratios, sampling []float64
	for g := range noise[0] {
		logs, variances := column(noise, g)
		v := max(stat.Mean(variances), leastVariance)
		sampling = append(sampling, v)
		ratios = append(ratios, max(stat.Variance(logs), 1e-9*v)/v)
	}
	prior := priorOf(ratios, freedom)
	return func(g int) (float64, float64) {
		tau := math.Sqrt(max(prior.Scale-1, 0) * sampling[g])
		return tau, tau
	}
}

// gather puts the rows of all tables into the answer, largest change first.
func (c *Comparison) gather(tables []*groups) {
	for i, t := range tables {
		for _, r := range t.rows {
			c.Groups = append(c.Groups, *r)
		}
		if i == 0 {
			c.Whole, c.Small = t.whole, t.small
			continue
		}
		for _, r := range []*Row{&t.whole, t.small} {
			if r != nil && r.Tested() {
				r.By, r.Metric = t.question.By, t.question.Metric
				c.Further = append(c.Further, *r)
			}
		}
	}
	c.GroupCount = len(c.Groups)
	slices.SortStableFunc(c.Groups, func(x, y Row) int {
		return cmp.Or(-cmp.Compare(math.Abs(c.size(&x)), math.Abs(c.size(&y))), cmp.Compare(x.Label, y.Label))
	})
}

// size is what rows are ordered by.
func (c *Comparison) size(r *Row) float64 {
	switch {
	case c.Metric == Share:
		return r.Change
	case c.Metric == Mean && r.A.Mean != nil && r.B.Mean != nil:
		return (*r.B.Mean - *r.A.Mean) * float64(min(r.A.Samples, r.B.Samples))
	case c.Metric == Mean:
		return 0
	}
	return r.Delta()
}
