package kernel

import (
	"context"

	"github.com/isobath/isobath/internal/base/parallel"
)

// blockRows is the rows a worker counts at a time: few enough that the codes of
// all axes stay in the second cache while each class of rows is counted, and that
// what was picked from an axis stays in the first.
const blockRows = 1 << 15

func blocks(rows int) int { return (rows + blockRows - 1) / blockRows }

func bounds(block, rows int) (lo, hi int) {
	return block * blockRows, min((block+1)*blockRows, rows)
}

func workers() int { return parallel.Workers() }

// eachBlock calls do for each of n blocks on all processors, and stops between
// blocks when ctx is done.
func eachBlock(ctx context.Context, n int, do func(worker, block int)) error {
	return parallel.Each(ctx, n, func(_ context.Context, worker, block int) error {
		do(worker, block)
		return nil
	})
}
