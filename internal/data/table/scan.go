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
