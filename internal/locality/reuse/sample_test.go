package reuse

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/isobath/isobath/internal/data/refs"
)

// TestSamplesAgainstExact: a sample of a tenth of the lines has the miss ratios of
// all of them, its error is stated and covers what hot lines do, and too few lines
// are refused.
func TestSamplesAgainstExact(t *testing.T) {
	const lines = 30_000
	for name, next := range map[string]func(r *rand.Rand, i int) int{
		"evenly":    func(r *rand.Rand, _ int) int { return r.IntN(lines) },
		"in rounds": func(_ *rand.Rand, i int) int { return i % lines },
		"hot lines": func(r *rand.Rand, i int) int {
			if i%2 == 0 { // half of all references to ten lines: in a sample or not, they hit
				return r.IntN(10)
			}
			return r.IntN(lines)
		},
	} {
		r := rand.New(rand.NewPCG(5, 6))
		s, stack := NewSampler(0.1, 64), NewStack()
		var exact Histogram
		const n = 300_000
		for i := range n {
			line := uint64(next(r, i))
			d, _ := stack.Access(line)
			exact.Add(d)
			s.Add([]refs.Ref{{Addr: line * 64, Thread: 1, Size: 8}})
		}
		e, err := s.Estimate()
		if err != nil || e.References != n || e.Seeds != 4 || e.Lines < lines/10*9/10 || e.Lines > lines/10 {
			t.Fatalf("%s: %+v, %v", name, e, err)
		}
		worst := 0.0
		for _, p := range e.Points {
			if p.Lines < 64 { // which ten hot lines may not fit
				continue
			}
			worst = max(worst, math.Abs(p.Ratio-float64(exact.Misses(p.Lines))/n))
		}
		// The step of a curve in rounds lies where all lines fit: a sample may put it a
		// little beside.
		if name != "in rounds" && worst > 0.03 {
			t.Errorf("%s: wrong by %.3f, samples lie %.3f apart", name, worst, e.Spread)
		}
		if worst > max(e.Spread, 0.03) {
			t.Errorf("%s: wrong by %.3f, stated are %.3f", name, worst, e.Spread)
		}
	}
	few := NewSampler(0.01, 64)
	for i := range uint64(lines) {
		few.Add([]refs.Ref{{Addr: i * 64, Size: 8}})
	}
	if e, err := few.Estimate(); err == nil {
		t.Errorf("%d lines say something", e.Lines)
	}
}
