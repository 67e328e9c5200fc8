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
	random := rand.New(rand.NewPCG(1, uint64(len(x))))
	var look func(from, to int)
	look = func(from, to int) {
		if to-from < 2*leastPart {
			return
		}
		ranks := stat.Ranks(x[from:to])
		best, at := split(ranks)
		beyond := 0
		for range permutations {
			random.Shuffle(len(ranks), func(i, j int) { ranks[i], ranks[j] = ranks[j], ranks[i] })
			if s, _ := split(ranks); s >= best-1e-12 {
				beyond++
			}
		}
		if p := float64(1+beyond) / (permutations + 1); p <= changeLevel {
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

// split is the largest standardised rank sum over all splits, and where it is.
func split(ranks []float64) (best float64, at int) {
	n := float64(len(ranks))
	sum := 0.0
	for i, r := range ranks[:len(ranks)-leastPart] {
		sum += r
		if t := float64(i + 1); i+1 >= leastPart {
			if s := math.Abs(sum-t*(n+1)/2) / math.Sqrt(t*(n-t)*(n+1)/12); s > best {
				best, at = s, i+1
			}
		}
	}
	return best, at
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
