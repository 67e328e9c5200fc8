package study

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/base/stat"
)

// TestChance: what is checked while ranks are drawn is what the largest split of all of
// them tells.
func TestChance(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for range 40 {
		n := 2*leastPart + r.IntN(60)
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(r.IntN(12)) // with ties
			if i > n/2 {
				x[i] += float64(r.IntN(5))
			}
		}
		ranks := stat.Ranks(x)
		of := newSplits(n)
		best, _ := of.best(ranks)
		slow, drawn, beyond := slices.Clone(ranks), rand.NewPCG(7, uint64(n)), 0
		for range permutations {
			for i := n - 1; i > 0; i -= 2 {
				both := drawn.Uint64()
				j := both >> 32 * uint64(i+1) >> 32
				slow[i], slow[j] = slow[j], slow[i]
				j = both & math.MaxUint32 * uint64(i) >> 32
				slow[i-1], slow[j] = slow[j], slow[i-1]
			}
			if d, _ := of.best(slow); d >= best-1e-12 {
				beyond++
			}
		}
		got, want := of.chance(ranks, best, rand.NewPCG(7, uint64(n))), float64(1+beyond)/(permutations+1)
		if got != want && (got > want || want <= changeLevel) {
			t.Errorf("%d runs: %g, want %g", n, got, want)
		}
	}
}
