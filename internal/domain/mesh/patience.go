package mesh

import (
	"context"
	"sync"

	"github.com/isobath/isobath/internal/base/parallel"
)

// patientLock is a lock whose holder may take long: who waits for it stops waiting
// when its context ends. The zero value is unlocked.
type patientLock struct {
	once sync.Once
	held chan struct{}
}

func (l *patientLock) lock(ctx context.Context) error {
	l.once.Do(func() { l.held = make(chan struct{}, 1) })
	select {
	case l.held <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *patientLock) unlock() { <-l.held }

// workerCount is how many goroutines share n rows.
func workerCount(n int) int { return max(1, min(parallel.Workers(), 8, n/50_000)) }

// blockRows is how many rows are done between two looks at a context. It is a
// multiple of a word of a bitset.
const blockRows = 1 << 16

// inParts calls work on ranges of n rows, aligned to words of a bitset, until all
// are done or the context ends.
func inParts(ctx context.Context, n int, work func(lo, hi, worker int)) error {
	return parallel.Parts(ctx, n, workerCount(n), func(inner context.Context, w, from, to int) error {
		for lo := from; lo < to; lo += blockRows {
			if ctx.Err() != nil || inner.Err() != nil {
				return inner.Err()
			}
			work(lo, min(lo+blockRows, to), w)
		}
		return nil
	})
}
