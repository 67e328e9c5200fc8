package trial

import (
	"math"

	"github.com/isobath/isobath/internal/base/stat"
)

// errorRate is how often a trial of equal commands calls a difference.
const errorRate = .05

// Look is when a trial looks at its data, and how large the score must then be.
type Look struct {
	Pairs int
	Bound float64
}

// firstLook is the fewest pairs that are looked at before all are there.
const firstLook = 8

// leastPairs is the fewest pairs that can be sure of anything: with fewer, the
// coin alone gives all of them one sign more often than errors are allowed.
var leastPairs = 1 + int(math.Ceil(math.Log2(1/errorRate)))

// published are the bounds of the usual trials, as they were when the rates of
// false calls were measured; bounds gives them to within 0.005.
var published = map[int][]float64{
	20:  {2.328, 2.382, 2.179},
	60:  {2.715, 2.793, 2.675, 2.534, 2.388, 2.220},
	100: {2.881, 2.959, 2.852, 2.723, 2.585, 2.427, 2.192},
}

// Looks are those of a trial of at most so many pairs: after 8, 12, 18, 27 and so
// on, half as many more each time.
func Looks(most int) []Look {
	var at []int
	for n := firstLook; n < most; n = nextLook(n) {
		at = append(at, n)
	}
	if n := len(at); n > 0 && float64(most) < 1.2*float64(at[n-1]) {
		at = at[:n-1] // too near to be worth an error of its own
	}
	out := bounds(append(at, most))
	for i, b := range published[most] {
		out[i].Bound = b
	}
	return out
}

func nextLook(n int) int {
	switch n { // as the bounds of the usual trials were published
	case 27:
		return 40
	case 60:
		return 100
	}
	return n + n/2
}

// The grid on which the sum of scores is followed, in standard deviations of the
// whole trial.
const (
	gridReach  = 8.0
	gridPoints = 3201
)

// bounds spends the error in proportion to pairs: at each look the chance to have
// called by then, if nothing differs, is errorRate·n/N. The density of the sum
// among trials that go on is followed from look to look.
func bounds(at []int) []Look {
	whole := float64(at[len(at)-1])
	step := 2 * gridReach / (gridPoints - 1)
	density := make([]float64, gridPoints)
	spent, before := 0.0, 0.0
	var out []Look
	for k, n := range at {
		t := float64(n) / whole
		if k == 0 {
			for i := range density {
				density[i] = gauss(-gridReach+float64(i)*step, t)
			}
		} else {
			density = spread(density, t-before, step)
		}
		due := errorRate*t - spent
		cut := tailCut(density, due, step)
		for i := range density {
			if math.Abs(-gridReach+float64(i)*step) > cut {
				density[i] = 0
			}
		}
		out = append(out, Look{n, cut / math.Sqrt(t)})
		spent, before = errorRate*t, t
	}
	if len(at) == 1 {
		out[0].Bound = stat.NormalQuantile(1 - errorRate/2)
	}
	return out
}

func gauss(x, variance float64) float64 {
	return math.Exp(-x*x/2/variance) / math.Sqrt(2*math.Pi*variance)
}

// spread adds an increment of that variance to what is distributed so.
func spread(density []float64, variance, step float64) []float64 {
	kernel := make([]float64, len(density))
	reach := 0
	for d := range kernel {
		if kernel[d] = gauss(float64(d)*step, variance) * step; kernel[d] > 1e-16 {
			reach = d
		}
	}
	out := make([]float64, len(density))
	for i, p := range density {
		if p == 0 {
			continue
		}
		for j := max(0, i-reach); j <= min(len(out)-1, i+reach); j++ {
			out[j] += p * kernel[max(i-j, j-i)]
		}
	}
	return out
}

// tailCut is the distance beyond which both tails together hold so much.
func tailCut(density []float64, due, step float64) float64 {
	tail := 0.0
	for i := 0; i < len(density)/2; i++ {
		more := (density[i] + density[len(density)-1-i]) * step
		if tail+more >= due {
			return gridReach - float64(i)*step + step/2 - step*(due-tail)/more
		}
		tail += more
	}
	return 0
}

// OneLook is that of a trial that looks once, at its end.
func OneLook(pairs int) []Look { return bounds([]int{pairs}) }
