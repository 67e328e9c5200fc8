package query

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// Taking the first few is sorting everything and cutting.
func TestFirstOf(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{0, 1, 2, 9, 10, 11, 20, 21, 1000} {
		for _, n := range []int{0, 1, 5, 10, 999, 2000} {
			values := make([]int, size)
			for i := range values {
				values[i] = r.IntN(size)
			}
			want := slices.Sorted(slices.Values(values))
			if n > 0 {
				want = want[:min(n, size)]
			}
			if got := firstOf(slices.Clone(values), n, cmp.Compare[int]); !slices.Equal(got, want) {
				t.Errorf("first %d of %v: got %v, want %v", n, values, got, want)
			}
		}
	}
}
