package budget

import (
	"context"
	"errors"
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/isobath/isobath/internal/base/parallel"
)

// watchEvery is how often the heap is looked at. What is made of lengths in a
// file is compared with the file before it is allocated, so that between two
// looks a reader adds about what it reads.
const watchEvery = 100 * time.Millisecond

// Watch does work whose memory cannot be told beforehand: its context ends when
// the heap of the program outgrows the budget, and the error says so.
func Watch(ctx context.Context, what string, work func(context.Context) error) error {
	return watch(ctx, what, heapInUse, watchEvery, work)
}

func watch(ctx context.Context, what string, heap func(collect bool) int64, every time.Duration, work func(context.Context) error) error {
	b := Of(ctx)
	inner, cancel := context.WithCancelCause(ctx)
	watching := parallel.Start(inner, func(ctx context.Context) error {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
			now := heap(false)
			if now > b.limit { // garbage, or what can be made again?
				b.makeRoom(now - b.limit)
				now = heap(true)
			}
			if now > b.limit {
				cancel(&Exceeded{What: what, Need: now, Limit: b.limit})
				return nil
			}
		}
	})
	err := work(inner)
	cancel(nil)
	if wrong := watching.Wait(); wrong != nil {
		return errors.Join(err, wrong)
	}
	var over *Exceeded
	if errors.As(context.Cause(inner), &over) && errors.Is(err, context.Canceled) {
		return over
	}
	return err
}

// heapInUse is what the program holds on its heap, garbage included unless it is
// collected first.
func heapInUse(collect bool) int64 {
	if collect {
		runtime.GC()
	}
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}
