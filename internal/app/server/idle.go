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
	drop  func(since time.Time) // what is kept of questions before; nil: nothing is
	after time.Duration         // how long nobody has asked; 0 means idleAfter
	asked atomic.Int64          // when the last question came, in Unix nanoseconds; 0: given back since
}

const (
	idleAfter = 10 * time.Second
	// recentFor is how long before the last question answers are kept through a rest.
	// Whoever comes back finds what was on the screen, and a step back or two.
	recentFor = time.Minute
)

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
		if last := time.Unix(0, asked); asked != 0 && time.Since(last) > after && w.asked.CompareAndSwap(asked, 0) {
			w.rest(last.Add(-recentFor))
		}
	}
}

// rest gives back what is kept of questions before a moment, and all garbage.
func (w *idleWatch) rest(since time.Time) {
	if w.drop != nil {
		w.drop(since)
	}
	debug.FreeOSMemory()
}
