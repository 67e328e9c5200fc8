// Package study looks at many runs at once: how a metric grows with a parameter,
// where along an ordered series it changed, and which runs are odd.
//
//   - law.go: growth laws
//   - series.go: change points, drift, odd runs
//   - table.go: runs as rows, their parameters and metrics
//   - study.go: every question over such a table
package study

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/isobath/isobath/internal/base/stat"
)

// Law is c₀ + c₁·nᵖ·log₂ʲ n. A constant has neither power nor logarithm.
type Law struct {
	Power [2]int `json:"power"` // a fraction
	Log   int    `json:"log"`
	Text  string `json:"text"`
}

func (l *Law) power() float64 { return float64(l.Power[0]) / float64(l.Power[1]) }

func (l *Law) constant() bool { return l.Power[0] == 0 && l.Log == 0 }

// basis is how the law grows.
func (l *Law) basis(n float64) float64 {
	return math.Pow(n, l.power()) * math.Pow(math.Log2(n), float64(l.Log))
}

// plainness orders laws that fit alike: whole powers before halves before others.
func (l *Law) plainness() int {
	switch {
	case l.constant():
		return 0
	case l.Power[1] == 1:
		return 1 + l.Log
	case l.Power[1] == 2:
		return 2 + l.Log
	}
	return 3 + l.Log
}

// laws are those that are tried; the constant first.
var laws = func() []Law {
	out := []Law{{Power: [2]int{0, 1}, Text: "constant"}}
	for _, p := range [][2]int{{0, 1}, {1, 4}, {1, 3}, {1, 2}, {2, 3}, {3, 4}, {1, 1}, {5, 4}, {4, 3}, {3, 2}, {2, 1}, {5, 2}, {3, 1}} {
		for j := range 3 {
			if p[0] == 0 && j == 0 {
				continue
			}
			out = append(out, Law{Power: p, Log: j, Text: lawText(p, j)})
		}
	}
	return out
}()

func lawText(p [2]int, log int) string {
	text := ""
	switch {
	case p[0] == 0:
	case p == [2]int{1, 1}:
		text = "n"
	case p[1] == 1:
		text = fmt.Sprintf("n^%d", p[0])
	default:
		text = fmt.Sprintf("n^(%d/%d)", p[0], p[1])
	}
	switch log {
	case 1:
		text += " log n"
	case 2:
		text += " log² n"
	}
	if text[0] == ' ' {
		text = text[1:]
	}
	return "c + " + text
}

// Growth is how a metric grows with a parameter.
type Growth struct {
	Law          Law        `json:"law"`
	Coefficients [2]float64 `json:"coefficients"`
	// Error is the mean magnitude of ln(prediction/value), each value of the
	// parameter left out in turn.
	Error float64 `json:"error"`
	// Exponent is the slope of ln y on ln n with its 95 % interval.
	Exponent float64  `json:"exponent"`
	Low      float64  `json:"low"`
	High     float64  `json:"high"`
	Others   []string `json:"others"` // laws that fit as well
	Values   int      `json:"values"` // of the parameter
	Runs     int      `json:"runs"`
}

// leastValues is how many values of a parameter a law needs.
const leastValues = 4

// rounding is the relative error below which a fit is as good as any: what is left
// of values that agree is how they were rounded, and tells no law from another.
const rounding = 1e-12

type fitted struct {
	law   *Law
	error float64 // left out in turn
	se    float64
}

// Grow fits every law and takes the plainest of those within one standard error
// of the best; false with too few values, values that are not positive, or values
// that fall: the constant would be the nearest of all laws, and wrong.
func Grow(n, y []float64) (*Growth, bool) {
	values := slices.Clone(n)
	slices.Sort(values)
	values = slices.Compact(values)
	if len(values) < leastValues || len(n) != len(y) || slices.ContainsFunc(n, notPositive) || slices.ContainsFunc(y, notPositive) {
		return nil, false
	}
	n, y = sortedBy(n, y)
	var tried []fitted
	for i := range laws {
		l := &laws[i]
		curve := l.curve(n)
		if c := curve.fit(y); !l.constant() && c[1] == 0 {
			continue // nothing of this law is left: it is the constant
		}
		errs := curve.leftOut(y)
		tried = append(tried, fitted{l, stat.Mean(errs), math.Sqrt(stat.Variance(errs) / float64(len(errs)))})
	}
	slices.SortStableFunc(tried, func(a, b fitted) int { return cmp.Compare(a.error, b.error) })
	limit := max(tried[0].error+tried[0].se, rounding)
	within := slices.DeleteFunc(slices.Clone(tried), func(f fitted) bool { return f.error > limit })
	best := slices.MinFunc(within, func(a, b fitted) int {
		return cmp.Or(cmp.Compare(a.law.plainness(), b.law.plainness()), cmp.Compare(a.error, b.error))
	})
	g := &Growth{Law: *best.law, Coefficients: best.law.curve(n).fit(y), Error: best.error, Others: []string{}, Values: len(values), Runs: len(n)}
	for _, f := range within {
		// Where nothing changes, every law fits with next to nothing of itself.
		if f.law != best.law && !(best.law.constant() && best.error < rounding) {
			g.Others = append(g.Others, f.law.Text)
		}
	}
	g.slope(n, y)
	falls := g.Exponent < g.Low-g.High // by four standard errors: one constant in thirty thousand
	return g, !(g.Law.constant() && falls)
}

func notPositive(v float64) bool { return !(v > 0) || math.IsInf(v, 1) }

// sortedBy orders both by the first.
func sortedBy(n, y []float64) (sortedN, sortedY []float64) {
	at := make([]int, len(n))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(n[a], n[b]) })
	for _, i := range at {
		sortedN, sortedY = append(sortedN, n[i]), append(sortedY, y[i])
	}
	return sortedN, sortedY
}

// curve is a law at the values of a parameter in order. Powers take most of the time
// of a fit, and equal values, of which there are many, have them once.
type curve struct {
	law   *Law
	n     []float64
	basis []float64
	scale float64 // how large it grows; 0 if it cannot be told from a constant
}

func (l *Law) curve(n []float64) *curve {
	c := &curve{law: l, n: n, basis: make([]float64, len(n))}
	for i, v := range n {
		if i > 0 && v == n[i-1] {
			c.basis[i] = c.basis[i-1]
		} else {
			c.basis[i] = l.basis(v)
		}
		c.scale = max(c.scale, math.Abs(c.basis[i]))
	}
	if l.constant() || math.IsInf(c.scale, 0) || math.IsNaN(c.scale) {
		c.scale = 0
	}
	return c
}

// leftOut is the error of a law on each value of the parameter when fitted to the
// others. What belongs to the others is added from both ends, and not taken off the
// whole: small values weigh most, and would leave only rounding.
func (c *curve) leftOut(y []float64) []float64 {
	n := c.n
	after := make([]sums, len(n)+1)
	for i := len(n) - 1; i >= 0; i-- {
		after[i] = after[i+1]
		after[i].add(c, i, y[i])
	}
	var before sums
	var errs []float64
	for from := 0; from < len(n); {
		to := from + 1
		for to < len(n) && n[to] == n[from] {
			to++
		}
		others := before
		others.join(&after[to])
		found := others.solve(c)
		sum := 0.0
		for i := from; i < to; i++ {
			sum += math.Abs(math.Log(max(c.law.predict(found, c.basis[i]), 1e-30) / y[i]))
			before.add(c, i, y[i])
		}
		errs = append(errs, sum/float64(to-from))
		from = to
	}
	return errs
}

// predict is the law with its coefficients where it has grown so far.
func (l *Law) predict(c [2]float64, basis float64) float64 {
	if c[1] == 0 || l.constant() {
		return c[0]
	}
	return c[0] + c[1]*basis
}

// At is what the law predicts for a value of the parameter.
func (g *Growth) At(n float64) float64 { return g.Law.predict(g.Coefficients, g.Law.basis(n)) }

// fit is relative least squares with coefficients that are not negative. n and y
// are positive.
func (c *curve) fit(y []float64) [2]float64 {
	var s sums
	for i := range y {
		s.add(c, i, y[i])
	}
	return s.solve(c)
}

// sums are of the columns 1/y and basis/y, the latter scaled, against ones.
type sums struct{ s11, s12, s22, t1, t2 float64 }

func (s *sums) add(c *curve, i int, y float64) {
	x1, x2 := 1/y, 0.0
	if c.scale > 0 {
		x2 = c.basis[i] / c.scale / y
	}
	s.join(&sums{x1 * x1, x1 * x2, x2 * x2, x1, x2})
}

func (s *sums) join(o *sums) {
	s.s11, s.s12, s.s22, s.t1, s.t2 = s.s11+o.s11, s.s12+o.s12, s.s22+o.s22, s.t1+o.t1, s.t2+o.t2
}

func (s *sums) solve(c *curve) [2]float64 {
	flat := [2]float64{s.t1 / s.s11, 0}
	det := s.s11*s.s22 - s.s12*s.s12
	if c.law.constant() || c.scale == 0 || !(det > 1e-14*s.s11*s.s22) {
		return flat
	}
	c0, c1 := (s.t1*s.s22-s.t2*s.s12)/det, (s.s11*s.t2-s.s12*s.t1)/det/c.scale
	if c0 < 0 {
		c0, c1 = 0, s.t2/s.s22/c.scale
	}
	if c1 <= 0 {
		return flat
	}
	return [2]float64{c0, c1}
}

// slope is the exponent of a plain power law.
func (g *Growth) slope(n, y []float64) {
	lx, ly := make([]float64, len(n)), make([]float64, len(n))
	for i := range n {
		lx[i], ly[i] = math.Log(n[i]), math.Log(y[i])
	}
	mx, my := stat.Mean(lx), stat.Mean(ly)
	var sxx, sxy float64
	for i := range lx {
		sxx, sxy = sxx+(lx[i]-mx)*(lx[i]-mx), sxy+(lx[i]-mx)*(ly[i]-my)
	}
	if slices.Max(ly)-slices.Min(ly) < rounding {
		return // one value: 0, without doubt
	}
	g.Exponent = sxy / sxx
	rest := 0.0
	for i := range lx {
		e := ly[i] - my - g.Exponent*(lx[i]-mx)
		rest += e * e
	}
	freedom := float64(len(n) - 2)
	half := stat.StudentQuantile(.975, freedom) * math.Sqrt(rest/freedom/sxx)
	g.Low, g.High = g.Exponent-half, g.Exponent+half
}
