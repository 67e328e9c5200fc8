package kernel

import (
	"context"
	"math"
	"slices"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

func findExtremes(ctx context.Context, c *table.Column, a *axisCodes) (*query.Extremes, error) {
	x := &query.Extremes{Column: c, Missing: a.Binning.Bins}
	n := a.cells
	k := keysOf(c, false)
	type seen struct {
		least, most       []int
		leastKey, mostKey []uint64
		keys              []uint64
		codes             view
	}
	workers := make([]seen, workers())
	for w := range workers {
		s := &workers[w]
		s.least, s.most = slices.Repeat([]int{-1}, n), slices.Repeat([]int{-1}, n)
		s.leastKey, s.mostKey = slices.Repeat([]uint64{math.MaxUint64}, n), make([]uint64, n)
		s.codes = newView(n, blockRows)
	}
	rows := c.Len()
	err := eachBlock(ctx, blocks(rows), func(w, block int) {
		lo, hi := bounds(block, rows)
		s := &workers[w]
		keys, codes := k.block(lo, hi, grow(&s.keys, hi-lo)), a.block(lo, hi, s.codes)
		for i, key := range keys {
			bin := codes.at(i)
			if key <= s.leastKey[bin] {
				s.leastKey[bin], s.least[bin] = key, lo+i
			}
			if key >= s.mostKey[bin] {
				s.mostKey[bin], s.most[bin] = key, lo+i
			}
		}
	})
	x.Least, x.Most = slices.Repeat([]int{-1}, n), slices.Repeat([]int{-1}, n)
	for bin := range n {
		least, most := uint64(math.MaxUint64), uint64(0)
		for _, s := range workers {
			if s.least[bin] >= 0 && s.leastKey[bin] <= least {
				least, x.Least[bin] = s.leastKey[bin], s.least[bin]
			}
			if s.most[bin] >= 0 && s.mostKey[bin] >= most {
				most, x.Most[bin] = s.mostKey[bin], s.most[bin]
			}
		}
	}
	return x, err
}
