package trial

import (
	"math"
	"math/rand/v2"

	"github.com/isobath/isobath/internal/base/stat"
)

// Verdict is what a lane says about B.
type Verdict string

// The verdicts.
const (
	More   Verdict = "more"
	Less   Verdict = "less"
	Same   Verdict = "same"
	Unsure Verdict = "unsure"
)

// Design is how a trial is run.
type Design struct {
	Seed  uint64
	Looks []Look
	// Within ends the trial when the interval lies inside ± this change; 0: never.
	Within float64
	// Until ends the trial when the interval reaches no further than this from
	// the estimate, and not before; 0: at the first look that decides.
	Until float64
	// Fixed looks once, at the end.
	Fixed bool
}

// Most is the largest number of pairs.
func (d *Design) Most() int { return d.Looks[len(d.Looks)-1].Pairs }

// Coin says for each pair whether B runs first.
type Coin struct{ r *rand.Rand }

// NewCoin returns the coin of a seed.
func NewCoin(seed uint64) *Coin { return &Coin{rand.New(rand.NewPCG(seed, 0x1505a7))} }

// BFirst throws the coin.
func (c *Coin) BFirst() bool { return c.r.IntN(2) == 1 }

// Decision is what a lane says at a look.
type Decision struct {
	Look    int     `json:"look"` // from 1
	Pairs   int     `json:"pairs"`
	Bound   float64 `json:"bound"`
	Z       float64 `json:"z"`
	Change  float64 `json:"change"` // as a fraction, B ÷ A − 1
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Verdict Verdict `json:"verdict"`
	// Bounded is false where so few pairs refuse no change at all: Low and High say
	// nothing then.
	Bounded bool `json:"-"`
}

// decide is the decision on ln(b/a) of pairs at a look.
func decide(x []float64, look int, at Look, fixed bool) Decision {
	refused := func(theta float64) bool { return math.Abs(Score(x, theta)) > at.Bound }
	if fixed { // of few pairs all ways the coin could have fallen are counted
		refused = func(theta float64) bool { return Flips(x, theta) <= errorRate }
	}
	low, high := interval(x, refused)
	d := Decision{Look: look + 1, Pairs: len(x), Bound: at.Bound, Z: Score(x, 0), Change: math.Expm1(estimate(x)), Low: math.Expm1(low), High: math.Expm1(high), Verdict: Unsure}
	// No score of n pairs is beyond √n.
	d.Bounded = len(x) >= leastPairs && math.Sqrt(float64(len(x))) > at.Bound
	switch called := refused(0); {
	case called && d.Z > 0:
		d.Verdict = More
	case called:
		d.Verdict = Less
	}
	return d
}

// Stop says why a trial ended.
type Stop string

// The reasons.
const (
	Going       Stop = ""
	Decided     Stop = "decided"
	SameStop    Stop = "same"
	MostPairs   Stop = "most"
	Interrupted Stop = "interrupted"
)

// At looks at the differences so far, if it is time for a look.
func (d *Design) At(x []float64) (Decision, Stop) {
	for k, look := range d.Looks {
		if look.Pairs != len(x) {
			continue
		}
		got := decide(x, k, look, d.Fixed)
		last := k == len(d.Looks)-1
		within := d.Within > 0 && got.Bounded && got.Low > -d.Within && got.High < d.Within
		if within && got.Verdict == Unsure {
			got.Verdict = Same
		}
		switch {
		case d.Until > 0 && !last && max(got.High-got.Change, got.Change-got.Low) > d.Until:
			return got, Going
		case d.Until > 0 && !last, got.Verdict == More || got.Verdict == Less:
			return got, Decided
		case within:
			return got, SameStop
		case last:
			return got, MostPairs
		}
		return got, Going
	}
	return Decision{}, Going
}

// Partial is the decision on a trial that ended between looks: no verdict, and
// the bound of the next look, which is not yet spent.
func (d *Design) Partial(x []float64) Decision {
	for k, look := range d.Looks {
		if look.Pairs >= len(x) {
			got := decide(x, k, look, false)
			got.Verdict = Unsure
			return got
		}
	}
	return Decision{Verdict: Unsure}
}

// Spread is the middle and the quartiles of values.
type Spread struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// spreadOf describes values.
func spreadOf(values []float64) Spread {
	below, above := []float64{}, []float64{}
	m := stat.Median(values)
	for _, v := range values {
		if v <= m {
			below = append(below, v)
		}
		if v >= m {
			above = append(above, v)
		}
	}
	return Spread{m, stat.Median(below), stat.Median(above)}
}

// pairNoise is how much one pair differs from the next, as a fraction: the scale of
// the differences around their middle.
func pairNoise(x []float64) float64 {
	m := stat.Median(x)
	away := make([]float64, len(x))
	for i, v := range x {
		away[i] = math.Abs(v - m)
	}
	return math.Expm1(stat.MADScale * stat.Median(away))
}

// detectable is the smallest change that pairs which differ by such a standard
// deviation of the logarithm find four times in five by the end of a trial of n
// pairs.
func detectable(deviation float64, n int, bound float64) float64 {
	return math.Expm1((bound + .8416) * deviation / math.Sqrt(float64(n)))
}

// deviation is how much pairs differ as the interval of a decision has it: pairs that
// stand apart, which the noise of most pairs hides, widen it. 0 if there is none.
func (d *Decision) deviation() float64 {
	if !d.Bounded || d.Bound <= 0 {
		return 0
	}
	return (math.Log1p(d.High) - math.Log1p(d.Low)) / 2 / d.Bound * math.Sqrt(float64(d.Pairs))
}
