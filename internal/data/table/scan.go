package table

import (
	"context"
	"iter"
)

// scanBlock is how many rows are visited between two looks at a context.
const scanBlock = 1 << 16

// Scan visits the rows of a set, nil for all n, in order, and stops early when
// the context is done: whoever scans returns ctx.Err() afterwards.
func Scan(ctx context.Context, rows Bits, n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for from := 0; from < n; from += scanBlock {
			if ctx.Err() != nil {
				return
			}
			for i := from; i < min(from+scanBlock, n); i++ {
				if (rows == nil || rows.Get(i)) && !yield(i) {
					return
				}
			}
		}
	}
}

// Extent is the least and the largest value of a column in some rows of n, nil for
// all of them; 0 and 0 where none has a value.
func Extent(ctx context.Context, c *Column, rows Bits, n int) (lo, hi float64) {
	first := true
	for row := range Scan(ctx, rows, n) {
		if !c.Has(row) {
			continue
		}
		v := c.Float(row)
		if first {
			lo, hi, first = v, v, false
		}
		lo, hi = min(lo, v), max(hi, v)
	}
	return lo, hi
}
