package kernel

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// blockRows is the rows a worker counts at a time: few enough that the codes of
// all axes stay in the second cache while each class of rows is counted, and that
// what was picked from an axis stays in the first.
const blockRows = 1 << 15

func blocks(rows int) int { return (rows + blockRows - 1) / blockRows }

func bounds(block, rows int) (lo, hi int) {
	return block * blockRows, min((block+1)*blockRows, rows)
}

func workers() int { return runtime.GOMAXPROCS(0) }

// parallel calls do for each of n blocks on all processors, and stops between
// blocks when ctx is done.
func parallel(ctx context.Context, n int, do func(worker, block int)) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range min(workers(), n) {
		wg.Go(func() {
			for ctx.Err() == nil {
				block := int(next.Add(1)) - 1
				if block >= n {
					return
				}
				do(w, block)
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}
