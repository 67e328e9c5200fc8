package compare

import (
	"math"

	"github.com/isobath/isobath/internal/base/stat"
)

// Amount is what one group costs in one run: the sum of the weights of its
// samples, the sum of their squares, and how many there are.
type Amount struct {
	Sum, Squares float64
	Samples      int
}

func (a Amount) plus(b Amount) Amount {
	return Amount{a.Sum + b.Sum, a.Squares + b.Squares, a.Samples + b.Samples}
}

// estimate is a positive quantity of one group in one run as a logarithm, and
// the variance that the luck of sampling gives it.
type estimate struct{ log, variance float64 }

// logCost is the logarithm of a cost. Samples arrive as a Poisson process, so a
// sum of weights w has the variance Σw².
func (a Amount) logCost() estimate {
	return estimate{math.Log(a.Sum), a.Squares / (a.Sum * a.Sum)}
}

// observed are the estimates of groups in the runs of two sides: [run][group].
type observed struct {
	a, b   [][]estimate
	paired bool // the i-th run of a and of b belong together
}

// moments is one group over all runs: the change as a logarithm, and its
// variance with what is known of it.
type moments struct {
	change, variance float64
	sampling         float64 // the variance that sampling explains
}

// spreadOfRuns is what all groups together say about how runs differ: variances are
// Scale times what sampling explains, known as well as Freedom degrees of freedom
// would.
type spreadOfRuns struct {
	Freedom float64 `json:"freedom"`
	Scale   float64 `json:"scale"`
}

// certain stands for a prior that is known exactly.
const certain = 1e6

// estimates is the statistics of one table of groups before anyone is called.
type estimates struct {
	change, se []float64 // on logarithms
	freedom    float64   // of Student's t; infinite where sampling alone counts
	prior      spreadOfRuns
}

// several estimates changes from many runs a side: the moderated t of gene
// expression analysis (Smyth 2004). Groups lend each other their knowledge of how
// noisy runs are, and no variance is below what sampling alone makes it.
func several(o observed) estimates {
	groups, freedom, scale := o.moments()
	ratios := make([]float64, len(groups))
	for i, g := range groups {
		ratios[i] = max(g.variance, 1e-9*g.sampling) / g.sampling
	}
	prior := priorOf(ratios, freedom)
	out := estimates{prior: prior, freedom: freedom + min(prior.Freedom, freedom*float64(len(groups)))}
	for _, g := range groups {
		variance := (prior.Freedom*prior.Scale*g.sampling + freedom*g.variance) / (prior.Freedom + freedom)
		out.change = append(out.change, g.change)
		out.se = append(out.se, math.Sqrt(max(variance, g.sampling)*scale))
	}
	return out
}

// alone estimates the change of one group from its own runs: Student's t, with no
// variance below what sampling makes.
func alone(o observed) estimates {
	groups, freedom, scale := o.moments()
	g := groups[0]
	return estimates{change: []float64{g.change}, se: []float64{math.Sqrt(max(g.variance, g.sampling) * scale)}, freedom: freedom, prior: spreadOfRuns{certain, 1}}
}

// moments returns each group's change and variances, their degrees of freedom,
// and by what to multiply a variance to get that of the change.
func (o observed) moments() (groups []moments, freedom, scale float64) {
	na, nb := float64(len(o.a)), float64(len(o.b))
	for g := range o.a[0] {
		a, va := column(o.a, g)
		b, vb := column(o.b, g)
		if o.paired {
			d := make([]float64, len(a))
			for i := range d {
				d[i] = b[i] - a[i]
			}
			groups = append(groups, moments{stat.Mean(d), stat.Variance(d), stat.Mean(va) + stat.Mean(vb)})
			continue
		}
		groups = append(groups, moments{
			change:   stat.Mean(b) - stat.Mean(a),
			variance: (squares(a) + squares(b)) / (na + nb - 2),
			sampling: (stat.Mean(va) + stat.Mean(vb)) / 2,
		})
	}
	if o.paired {
		return groups, na - 1, 1 / na
	}
	return groups, na + nb - 2, 1/na + 1/nb
}

// squares is the sum of squared deviations; one value has none.
func squares(v []float64) float64 {
	if len(v) < 2 {
		return 0
	}
	return stat.Variance(v) * float64(len(v)-1)
}

func column(runs [][]estimate, g int) (logs, variances []float64) {
	for _, run := range runs {
		logs, variances = append(logs, run[g].log), append(variances, run[g].variance)
	}
	return logs, variances
}

// priorOf fits the scale and degrees of freedom of the variance ratios of all
// groups, by the moments of their logarithms.
func priorOf(ratios []float64, freedom float64) spreadOfRuns {
	logs := make([]float64, len(ratios))
	for i, r := range ratios {
		logs[i] = math.Log(r) - stat.Digamma(freedom/2) + math.Log(freedom/2)
	}
	mean := stat.Mean(logs)
	if len(logs) < 3 {
		return spreadOfRuns{certain, math.Exp(mean)}
	}
	excess := stat.Variance(logs) - stat.Trigamma(freedom/2)
	if excess <= 0 {
		return spreadOfRuns{certain, math.Exp(mean)}
	}
	x := .5 + 1/excess // half of ν₀, by Newton on ψ′(x) = excess
	for range 30 {
		t := stat.Trigamma(x)
		x += t * (1 - t/excess) / stat.Tetragamma(x)
	}
	return spreadOfRuns{min(2*x, certain), math.Exp(mean + stat.Digamma(x) - math.Log(x))}
}

// single estimates changes from one run a side: sampling, and an allowance for
// how runs of one program differ, which a single run cannot know. The allowance
// of a group is a standard deviation a side, on logarithms.
func single(a, b []estimate, allowance func(group int) (a, b float64)) estimates {
	out := estimates{freedom: math.Inf(1), prior: spreadOfRuns{certain, 1}}
	for g := range a {
		ta, tb := allowance(g)
		out.change = append(out.change, b[g].log-a[g].log)
		out.se = append(out.se, math.Sqrt(a[g].variance+b[g].variance+ta*ta+tb*tb))
	}
	return out
}

// p is the two-sided probability of a change at least as large by chance.
func (e *estimates) p(g int) float64 {
	if e.se[g] == 0 {
		return 1
	}
	return 2 * e.tail(math.Abs(e.change[g])/e.se[g])
}

func (e *estimates) tail(t float64) float64 {
	if math.IsInf(e.freedom, 1) {
		return stat.NormalTail(t)
	}
	return stat.StudentTail(t, e.freedom)
}

func (e *estimates) quantile(p float64) float64 {
	if math.IsInf(e.freedom, 1) {
		return stat.NormalQuantile(p)
	}
	return stat.StudentQuantile(p, e.freedom)
}

// Verdict is what can be said about a group.
type Verdict string

// The verdicts. More and Less are sure; Same lies within the threshold.
const (
	More   Verdict = "more"
	Less   Verdict = "less"
	Same   Verdict = "same"
	Unsure Verdict = "unsure"
)

// Outcome is what a test of one group says. Ratios are B ÷ A.
type Outcome struct {
	Ratio      float64
	Low, High  float64 // of the ratio
	P, Q       float64 // by itself, and among all that were tested
	Verdict    Verdict
	Detectable float64 // the smallest change found four times in five, as a fraction
	Fails      bool
}

// judged is one table of estimates and the change that matters in it.
type judged struct {
	estimates
	threshold float64 // a fraction
	gated     bool    // whether a change beyond the threshold fails
	falls     bool    // whether it is a fall that fails
}

// fourInFive is the normal quantile of 80 %.
const fourInFive = .8416

// judge calls changes over all tables with false discoveries controlled over all
// of them together.
func judge(tables []judged, q float64) [][]Outcome {
	var all []float64
	for i := range tables {
		for g := range tables[i].change {
			all = append(all, tables[i].p(g))
		}
	}
	adjusted := stat.Discoveries(all)
	called := 0
	for _, a := range adjusted {
		if a <= q {
			called++
		}
	}
	tested := float64(len(all))
	level := q * float64(max(called, 1)) / tested
	out, at := make([][]Outcome, len(tables)), 0
	for i := range tables {
		t := &tables[i]
		wide, narrow, alone := t.quantile(1-level/2), t.quantile(.95), t.quantile(1-q/tested/2)
		for g := range t.change {
			change, se := t.change[g], t.se[g]
			o := Outcome{Ratio: math.Exp(change), Low: math.Exp(change - wide*se), High: math.Exp(change + wide*se), P: all[at], Q: adjusted[at],
				Verdict: Unsure, Detectable: math.Expm1((alone + fourInFive) * se)}
			limit := math.Log1p(t.threshold)
			switch {
			case adjusted[at] <= q && change > 0:
				o.Verdict = More
			case adjusted[at] <= q && change < 0:
				o.Verdict = Less
			case math.Abs(change)+narrow*se < limit:
				o.Verdict = Same
			}
			o.Fails = t.gated && (!t.falls && o.Verdict == More && change >= limit || t.falls && o.Verdict == Less && change <= -limit)
			out[i] = append(out[i], o)
			at++
		}
	}
	return out
}
