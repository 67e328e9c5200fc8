package mesh

import (
	"math"
	"slices"
)

const (
	spreadKnots = 65      // values that Spread returns
	spreadCells = 1 << 14 // cells that are sorted for them; of more these many are drawn, which is right to a hundredth of the ranks
)

// Spread returns values between which lie equally many cells, from the smallest
// to the largest: how a field is spread, for scales that follow it. It is nil
// without any value. The ends are exact; the values between them are exact up to
// 16384 cells, and otherwise those of so many cells, always the same ones.
func (f *Field) Spread() []float64 {
	lo, hi, _, covered := f.Stats()
	if covered == 0 || math.IsNaN(lo) {
		return nil
	}
	share := float64(spreadCells) / float64(covered)
	drawn := make([]float64, 0, min(covered, 2*spreadCells))
	k := 0.0
	for c, v := range f.Values {
		if math.IsNaN(v) || math.IsInf(v, 0) || f.Samples != nil && f.Samples[c] == 0 {
			continue
		}
		// Multiples of the golden ratio fall evenly, whatever the rows of the mesh are.
		if k++; share >= 1 || math.Mod(k*math.Phi, 1) < share {
			drawn = append(drawn, v)
		}
	}
	if len(drawn) == 0 {
		return nil
	}
	slices.Sort(drawn)
	out := make([]float64, spreadKnots)
	for i := range out {
		out[i] = quantile(drawn, float64(i)/(spreadKnots-1))
	}
	if !math.IsInf(lo, 0) {
		out[0] = lo
	}
	if !math.IsInf(hi, 0) {
		out[spreadKnots-1] = hi
	}
	return out
}
