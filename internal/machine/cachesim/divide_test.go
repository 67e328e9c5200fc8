package cachesim

import (
	"math/rand/v2"
	"testing"
)

// TestDivisor divides numbers of every length, and those beside multiples.
func TestDivisor(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		by := random.Uint64()>>random.IntN(64) | 1<<random.IntN(8)
		d := NewDivisor(by)
		some := random.Uint64() >> random.IntN(64)
		for _, x := range []uint64{0, 1, by - 1, by, by + 1, some, some - some%by, some - some%by - 1, ^uint64(0)} {
			if q, r := d.Of(x); q != x/by || r != x%by {
				t.Fatalf("%d ÷ %d: %d, rest %d, want %d, rest %d", x, by, q, r, x/by, x%by)
			}
		}
	}
	for _, by := range []uint64{1, 2, 1 << 63, ^uint64(0)} {
		d := NewDivisor(by)
		for _, x := range []uint64{0, 1, by - 1, by, ^uint64(0)} {
			if q, r := d.Of(x); q != x/by || r != x%by {
				t.Errorf("%d ÷ %d: %d, rest %d", x, by, q, r)
			}
		}
	}
}
