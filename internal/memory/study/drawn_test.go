package study

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestLawsDrawn draws sizes, constants and noise anew and counts the laws that are
// recognised: what is asked of the sets that were kept holds of others too.
func TestLawsDrawn(t *testing.T) {
	laws := [][]float64{nil, {1, 0}, {1, 1}, {2, 0}, {1.5, 0}, {3, 0}, {.5, 0}}
	random := rand.New(rand.NewPCG(2025, 7))
	right, all := map[float64]float64{}, map[float64]float64{}
	for _, noise := range []float64{.02, .05, .15} {
		for draw := range 210 {
			law := laws[draw%len(laws)]
			first, c0, c1 := float64(20+random.IntN(400)), math.Exp(2*random.NormFloat64()), math.Exp(3*random.NormFloat64())
			var n, y []float64
			for k := range 6 {
				size := math.Round(first * math.Pow(2, float64(k)))
				for range 3 {
					v := c1
					if law != nil { // the constant is no more than the smallest run's own
						v = c1 * math.Pow(size/first, law[0]) * math.Pow(math.Log2(size)/math.Log2(first), law[1])
						v += .5 * c1 * c0 / (1 + c0)
					}
					n, y = append(n, size), append(y, v*math.Exp(noise*random.NormFloat64()))
				}
			}
			all[noise]++
			if g, ok := Grow(n, y); ok && sameLaw(&g.Law, law) {
				right[noise]++
			}
		}
		t.Logf("noise of %.0f %%: %.3f of %.0f laws are right", 100*noise, right[noise]/all[noise], all[noise])
	}
	if right[.02]+right[.05] < .9*(all[.02]+all[.05]) || right[.15] < .7*all[.15] {
		t.Errorf("right laws: %v of %v", right, all)
	}
}

// TestSeriesDrawn draws series without a change, with heavy tails and outliers among
// them, and with a step of 5 % in noise of 2 %.
func TestSeriesDrawn(t *testing.T) {
	random := rand.New(rand.NewPCG(2025, 8))
	const series = 150
	called, near, all := 0.0, 0.0, 0.0
	for k := range series {
		n := 24 + random.IntN(60)
		x := make([]float64, n)
		for i := range x {
			x[i] = .02 * random.NormFloat64()
			switch {
			case k%3 == 1: // Student's t with three degrees of freedom
				s := 0.0
				for range 3 {
					z := random.NormFloat64()
					s += z * z
				}
				x[i] /= math.Sqrt(s / 3)
			case k%3 == 2 && random.IntN(12) == 0:
				x[i] += .3
			}
		}
		if len(Steps(x)) > 0 {
			called++
		}
		if k%3 != 0 {
			continue
		}
		at := 8 + random.IntN(n-16)
		for i := at; i < n; i++ {
			x[i] += math.Log(1.05)
		}
		all++
		for _, s := range Steps(x) {
			if s.At >= at-2 && s.At <= at+2 {
				near++
				break
			}
		}
	}
	t.Logf("changes in %.3f of %d series without any; steps of 5 %% found near their place in %.3f of %.0f", called/series, series, near/all, all)
	if called > .04*series || near < .8*all {
		t.Errorf("%.0f false, %.0f of %.0f found", called, near, all)
	}
}
