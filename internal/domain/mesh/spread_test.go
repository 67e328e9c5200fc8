package mesh

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSpread compares knots with the ranks of all values, also where only some
// cells are sorted, and where rows of the mesh repeat.
func TestSpread(t *testing.T) {
	for _, n := range []int{1, 7, 1000, spreadCells, 300_000} {
		r := rand.New(rand.NewPCG(3, uint64(n)))
		f := &Field{Values: make([]float64, n)}
		var all []float64
		for i := range f.Values {
			f.Values[i] = math.Exp(3*r.NormFloat64()) + float64(i%512)
			if n > 10 && i%3 == 1 {
				f.Values[i] = math.NaN()
				continue
			}
			all = append(all, f.Values[i])
		}
		slices.Sort(all)
		got := f.Spread()
		if len(got) != spreadKnots || got[0] != all[0] || got[spreadKnots-1] != all[len(all)-1] || !slices.IsSorted(got) {
			t.Fatalf("%d cells: %v", n, got)
		}
		for i, v := range got {
			below, _ := slices.BinarySearch(all, v)
			want := float64(i) / (spreadKnots - 1)
			if rank := float64(below) / float64(len(all)); math.Abs(rank-want) > 0.01+1/float64(len(all)) {
				t.Errorf("%d cells, knot %d: %g has rank %.4f", n, i, v, rank)
			}
		}
	}
	if got := (&Field{Values: []float64{math.NaN()}}).Spread(); got != nil {
		t.Errorf("no values, but a spread of %v", got)
	}
}
