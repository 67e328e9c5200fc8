package mesh

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestExplained: a variable that makes nine tenths of the variance is said to, also if it
// does so without a slope, and one that has nothing to do with the field explains nothing
// on average.
func TestExplained(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 27))
	var valley, chance float64
	const draws, n = 40, 600
	for range draws {
		made, other := &Pairs{}, &Pairs{}
		for range n {
			x := r.Float64()
			v := math.Abs(x - 0.5) // variance 1/48
			y := v + r.NormFloat64()*math.Sqrt(1.0/48/9)
			made.Physics, made.Perf = append(made.Physics, x), append(made.Perf, y)
			other.Physics, other.Perf = append(other.Physics, float64(r.IntN(40))), append(other.Perf, y)
		}
		share, parts := made.explained()
		if parts != bands {
			t.Fatalf("%d bands", parts)
		}
		valley += share / draws
		share, _ = other.explained()
		chance += share / draws
	}
	if math.Abs(valley-0.9) > 0.02 {
		t.Errorf("explains %.3f, want 0.9", valley)
	}
	if math.Abs(chance) > 0.02 {
		t.Errorf("chance explains %.3f", chance)
	}
}
