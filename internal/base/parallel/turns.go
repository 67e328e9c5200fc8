package parallel

import (
	"context"
	"sync"
	"time"
)

const (
	// patience bounds how long long work waits for short work: what the short work
	// needs may be what the long work holds.
	patience = 250 * time.Millisecond
	// drawing is left to who asked: the picture of an answer takes a processor too.
	drawing = 40 * time.Millisecond
)

// Turns lets short work, which somebody waits for with a pointer in hand, go before
// long work. The zero value is ready for use.
type Turns struct {
	mu    sync.Mutex
	short int           // how much is under way
	began time.Time     // of the first of them
	free  chan struct{} // closed when none is left
	ended time.Time     // of the last
}

// First says that short work begins; done that it has ended.
func (t *Turns) First() (done func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.short++; t.short == 1 {
		t.began, t.free = time.Now(), make(chan struct{})
	}
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.short--; t.short == 0 {
			t.ended = time.Now()
			close(t.free)
		}
	}
}

type turnsKey struct{}

// Behind returns a context for long work: its loops stand back between their parts
// while short work is under way.
func (t *Turns) Behind(ctx context.Context) context.Context {
	return context.WithValue(ctx, turnsKey{}, t)
}

// StandBack waits while short work goes first, if ctx is one of long work.
func StandBack(ctx context.Context) {
	t, ok := ctx.Value(turnsKey{}).(*Turns)
	if !ok {
		return
	}
	for {
		free, wait := t.behind(time.Now())
		if wait <= 0 {
			return
		}
		timer := time.NewTimer(wait)
		select {
		case <-free:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// behind says how long at most to wait, and what ends it before.
func (t *Turns) behind(now time.Time) (free <-chan struct{}, most time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.short > 0 {
		return t.free, t.began.Add(patience).Sub(now)
	}
	return nil, t.ended.Add(drawing).Sub(now)
}
