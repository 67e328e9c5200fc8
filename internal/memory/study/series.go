package study

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/isobath/isobath/internal/base/stat"
)

const (
	changeLevel  = .01 // of a change point
	permutations = 999
	leastPart    = 4    // runs on each side of a change
	driftLimit   = 1.64 // of the correlation of neighbours, times √n
)

// Step is one change point of a series.
type Step struct {
	At        int // the first run after it
	P         float64
	Size      float64 // of medians, on the scale of the series
	Low, High float64
}

// Steps finds where a series changes: the split with the largest standardised rank
// sum, its chance by permutations that look for the largest again, and then the
// same in both parts.
func Steps(x []float64) []Step {
	var out []Step
	var look func(from, to int)
	look = func(from, to int) {
		if to-from < 2*leastPart {
			return
		}
		ranks := stat.Ranks(x[from:to])
		of := newSplits(len(ranks))
		best, at := of.best(ranks)
		if p := of.chance(ranks, best, rand.NewPCG(uint64(from)<<32|1, uint64(to))); p <= changeLevel {
			out = append(out, Step{At: from + at, P: p})
			look(from, from+at)
			look(from+at, to)
		}
	}
	look(0, len(x))
	slices.SortFunc(out, func(a, b Step) int { return a.At - b.At })
	measure(x, out)
	return out
}

// splits are all ways to cut a series of some length in two: what the sum of the
// ranks of the first part is by chance, and by what it is standardised.
type splits struct{ mean, by []float64 }

func newSplits(length int) *splits {
	s := &splits{make([]float64, length), make([]float64, length)}
	n := float64(length)
	for i := leastPart - 1; i < length-leastPart; i++ {
		t := float64(i + 1)
		s.mean[i], s.by[i] = t*(n+1)/2, 1/math.Sqrt(t*(n-t)*(n+1)/12)
	}
	return s
}

// best is the largest standardised rank sum over all splits, and where it is.
func (s *splits) best(ranks []float64) (best float64, at int) {
	sum := 0.0
	for i, r := range ranks[:len(ranks)-leastPart] {
		sum += r
		if d := math.Abs(sum-s.mean[i]) * s.by[i]; d > best {
			best, at = d, i+1
		}
	}
	return best, at
}

// chance is the share of permutations of the ranks with a split as large. It ends
// when it is sure to be above the level of a change point, with what it has by then.
func (s *splits) chance(ranks []float64, best float64, random *rand.PCG) float64 {
	const most = int(changeLevel * (permutations + 1))
	low, high := s.within(best - 1e-12)
	total := 0.0
	for _, r := range ranks {
		total += r
	}
	beyond := 0
	for range permutations {
		first, far := total, false // the sum of the ranks before i: what is behind is drawn already
		for i := len(ranks) - 1; i > 0; i -= 2 {
			// Each half of the bits draws one place: the upper half of its product with
			// i+1 is below that.
			drawn := random.Uint64()
			j := drawn >> 32 * uint64(i+1) >> 32
			ranks[i], ranks[j] = ranks[j], ranks[i]
			first -= ranks[i]
			if first <= low[i] || first >= high[i] {
				far = true
			}
			j = drawn & math.MaxUint32 * uint64(i) >> 32
			ranks[i-1], ranks[j] = ranks[j], ranks[i-1]
			first -= ranks[i-1]
			if first <= low[i-1] || first >= high[i-1] {
				far = true
			}
		}
		if far {
			if beyond++; beyond >= most {
				break
			}
		}
	}
	return float64(1+beyond) / (permutations + 1)
}

// within are the sums of the ranks of a first part, by its length, between which it is
// standardised below a limit.
func (s *splits) within(limit float64) (low, high []float64) {
	low, high = make([]float64, len(s.mean)), make([]float64, len(s.mean))
	for i := range low {
		low[i], high[i] = math.Inf(-1), math.Inf(1)
		if i > 0 && s.by[i-1] > 0 {
			low[i], high[i] = s.mean[i-1]-limit/s.by[i-1], s.mean[i-1]+limit/s.by[i-1]
		}
	}
	return low, high
}

// measure gives steps their sizes: the difference of the medians of the parts
// beside them, with an interval from how runs scatter around those.
func measure(x []float64, steps []Step) {
	for k := range steps {
		from, to := 0, len(x)
		if k > 0 {
			from = steps[k-1].At
		}
		if k+1 < len(steps) {
			to = steps[k+1].At
		}
		before, after := x[from:steps[k].At], x[steps[k].At:to]
		steps[k].Size = stat.Median(after) - stat.Median(before)
		// The median of n normal values has the variance π/2 · σ²/n.
		half := 1.96 * math.Sqrt(math.Pi/2*(square(scatter(before))/float64(len(before))+square(scatter(after))/float64(len(after))))
		steps[k].Low, steps[k].High = steps[k].Size-half, steps[k].Size+half
	}
}

func square(v float64) float64 { return v * v }

// scatter is how far values lie from their median, as a standard deviation.
func scatter(x []float64) float64 {
	m := stat.Median(x)
	away := make([]float64, len(x))
	for i, v := range x {
		away[i] = math.Abs(v - m)
	}
	return stat.MADScale * stat.Median(away)
}

// residuals are the values without the medians of their parts.
func residuals(x []float64, steps []Step) []float64 {
	out := slices.Clone(x)
	from := 0
	for k := range len(steps) + 1 {
		to := len(x)
		if k < len(steps) {
			to = steps[k].At
		}
		m := stat.Median(x[from:to])
		for i := from; i < to; i++ {
			out[i] -= m
		}
		from = to
	}
	return out
}

// Drifts says whether neighbours are more alike than others after steps are taken
// off: the machine changed slowly, and steps may be its.
func Drifts(x []float64, steps []Step) bool {
	if len(x) < 2*leastPart {
		return false
	}
	y := residuals(x, steps)
	rho := stat.Correlation(stat.Ranks(y[:len(y)-1]), stat.Ranks(y[1:]))
	return rho*math.Sqrt(float64(len(y))) > driftLimit
}

const (
	oddDistance = 3.5
	oddShare    = .1 // at most
	oddRuns     = 8  // at least
)

// Odd are the indices of residuals that stand apart, at most a tenth of all.
func Odd(residuals []float64) []int {
	if len(residuals) < oddRuns {
		return nil
	}
	limit := oddDistance * scatter(residuals)
	m := stat.Median(residuals)
	var out []int
	for i, r := range residuals {
		if limit > 0 && math.Abs(r-m) > limit {
			out = append(out, i)
		}
	}
	slices.SortFunc(out, func(a, b int) int {
		if math.Abs(residuals[a]-m) > math.Abs(residuals[b]-m) {
			return -1
		}
		return 1
	})
	return out[:min(len(out), int(oddShare*float64(len(residuals))))]
}
