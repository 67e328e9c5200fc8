package whatif

import (
	"math/rand/v2"
	"testing"
)

// TestWeights: a run never takes longer when anything in it takes less, takes
// twice as long when everything does, and its ranking is the same each time.
func TestWeights(t *testing.T) {
	for _, p := range pairs(t) {
		g := buildPair(t, p.Program, "with")
		rng := rand.New(rand.NewPCG(7, uint64(g.Len())))
		w := g.Recorded()
		span := g.Replay(w, nil).Span
		for range 20 {
			for range 1 + rng.IntN(50) {
				for _, column := range [][]int64{w.Comp, w.Own, w.Lag, w.Tail} {
					if len(column) == 0 {
						continue
					}
					if i := rng.IntN(len(column)); column[i] > 0 {
						column[i] -= rng.Int64N(column[i] + 1)
					}
				}
			}
			next := g.Replay(w, nil).Span
			if next > span {
				t.Fatalf("%s: shorter weights give %d after %d", p.Program, next, span)
			}
			span = next
		}
		twice := g.Recorded()
		for _, column := range [][]int64{twice.Comp, twice.Own, twice.Lag, twice.Tail} {
			for i := range column {
				column[i] *= 2
			}
		}
		for i := range twice.Begin {
			twice.Begin[i] += twice.Begin[i] - g.First0
		}
		if got := g.Replay(twice, nil).Span; got != 2*g.Span() {
			t.Errorf("%s: everything twice takes %d, want %d", p.Program, got, 2*g.Span())
		}
		a, b := ranked(t, g), ranked(t, g)
		for k := range a.Entries {
			x, y := &a.Entries[k], &b.Entries[k]
			if x.Gain != y.Gain || x.Call != y.Call || x.Sum != y.Sum || x.Waiting != y.Waiting {
				t.Errorf("%s: entry %d is %+v, and %+v the second time", p.Program, k+1, x, y)
			}
		}
	}
}
