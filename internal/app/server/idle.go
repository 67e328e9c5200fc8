package server

import (
	"context"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// idleWatch gives memory back to the system when nobody has asked anything for a
// while: the garbage of answers stays with the process otherwise, and a page that
// is left open in a corner would cost as much as one that is brushed.
type idleWatch struct {
	after time.Duration // how long nobody has asked; 0 means idleAfter
	asked atomic.Int64  // when the last question came, in Unix nanoseconds; 0: given back since
}

const idleAfter = 10 * time.Second

// ask notes a question.
func (w *idleWatch) ask() { w.asked.Store(time.Now().UnixNano()) }

// watch gives back until the context is done.
func (w *idleWatch) watch(ctx context.Context) error {
	after := w.after
	if after == 0 {
		after = idleAfter
	}
	tick := time.NewTicker(after / 2)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		asked := w.asked.Load()
		if asked != 0 && time.Since(time.Unix(0, asked)) > after && w.asked.CompareAndSwap(asked, 0) {
			debug.FreeOSMemory()
		}
	}
}
