// Package parallel is the one way to start a goroutine: it has an owner that
// waits for it, a context that ends it, and a recover. A panic becomes an error
// with its stack where it would have taken the whole program along, in the
// server every open run with it.
package parallel

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// Panic is a panic as an error.
type Panic struct {
	Value any
	Stack []byte // of the goroutine that panicked
}

func (p *Panic) Error() string { return fmt.Sprintf("internal error: %v\n\n%s", p.Value, p.Stack) }

// Unwrap returns the value of the panic if it is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// Safely calls f and returns its error, or its panic as an error; of a fault in
// a mapped file ErrFileChanged.
func Safely(f func() error) (err error) {
	defer catchFaults()()
	defer func() {
		if v := recover(); v != nil {
			err = recovered(v)
		}
	}()
	return f()
}

// Workers is how many goroutines a loop uses: one a processor.
func Workers() int { return runtime.GOMAXPROCS(0) }

// Each calls do for every number below n, as many at once as there are
// processors; they are handed out in order, one at a time. worker is below
// Workers, and no two calls at once have the same: what belongs to a worker needs
// no lock. The first error, panic or end of the context ends the loop. Long work
// stands back between calls (Turns).
func Each(ctx context.Context, n int, do func(ctx context.Context, worker, i int) error) error {
	g := NewGroup(ctx)
	var next atomic.Int64
	for w := range min(Workers(), n) {
		g.Go(func(ctx context.Context) error {
			for ctx.Err() == nil {
				StandBack(ctx)
				i := int(next.Add(1)) - 1
				if i >= n {
					return nil
				}
				if err := do(ctx, w, i); err != nil {
					return err
				}
			}
			return nil // Wait returns the error of the context that was given
		})
	}
	return g.Wait()
}

// Parts divides n rows into one range for each worker, cut at multiples of a
// word of a bitset, so that no two workers write to the same word.
func Parts(ctx context.Context, n, workers int, do func(ctx context.Context, worker, from, to int) error) error {
	g := NewGroup(ctx)
	for w := range workers {
		from, to := Part(n, workers, w)
		if from < to {
			g.Go(func(ctx context.Context) error { return do(ctx, w, from, to) })
		}
	}
	return g.Wait()
}

// Part is the range of a worker.
func Part(n, workers, worker int) (from, to int) {
	const word = 64
	from, to = n*worker/workers&^(word-1), n*(worker+1)/workers&^(word-1)
	if worker == workers-1 {
		to = n
	}
	return from, to
}

// Group is some goroutines and one who waits for them.
type Group struct {
	ctx, inner context.Context
	cancel     context.CancelFunc
	wg         sync.WaitGroup
	once       sync.Once
	err        error
}

// NewGroup returns a group whose goroutines end with ctx or the first error of
// one of them. The caller must call Wait.
func NewGroup(ctx context.Context) *Group {
	inner, cancel := context.WithCancel(ctx)
	return &Group{ctx: ctx, inner: inner, cancel: cancel}
}

// Go starts f. Its context ends when any other of the group fails.
func (g *Group) Go(f func(ctx context.Context) error) {
	g.wg.Go(func() {
		if err := Safely(func() error { return f(g.inner) }); err != nil {
			g.once.Do(func() { g.err = err })
			g.cancel()
		}
	})
}

// Wait waits for all and returns the first error, or that of the context.
func (g *Group) Wait() error {
	g.wg.Wait()
	g.cancel()
	if g.err != nil {
		return g.err
	}
	return g.ctx.Err()
}

// Task is one goroutine beside its owner.
type Task struct {
	done chan struct{}
	err  error
}

// Start runs f beside the caller, who owns the task and waits for it.
func Start(ctx context.Context, f func(ctx context.Context) error) *Task {
	t := &Task{done: make(chan struct{})}
	go func() {
		defer close(t.done)
		t.err = Safely(func() error { return f(ctx) })
	}()
	return t
}

// Done is closed when the task has ended.
func (t *Task) Done() <-chan struct{} { return t.done }

// Wait waits for the end of the task and returns its error.
func (t *Task) Wait() error {
	<-t.done
	return t.err
}
