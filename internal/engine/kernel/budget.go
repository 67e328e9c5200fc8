package kernel

import (
	"container/list"
	"context"
	"sync"

	"github.com/isobath/isobath/internal/base/parallel"
)

// Budget bounds the memory that engines use beyond their tables. Several
// engines may share one; what was used longest ago makes room first.
type Budget struct {
	mu    sync.Mutex
	limit int64
	used  int64
	byKey map[budgetKey]*list.Element
	order *list.List // of *entry, most recently used first
}

// NewBudget returns a budget of that many bytes.
func NewBudget(bytes int64) *Budget {
	return &Budget{limit: bytes, byKey: map[budgetKey]*list.Element{}, order: list.New()}
}

// Claim takes bytes for as long as something needs them that cannot be built
// again, making room if it must; ok is false if there is none. release gives
// them back.
func (b *Budget) Claim(bytes int64) (release func(), ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.reserve(bytes) {
		return nil, false
	}
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.used -= bytes
	}), true
}

type budgetKey struct {
	engine *Engine
	key    any
}

// entry is something that can be built again: codes, sets of rows, results.
type entry struct {
	key   budgetKey
	size  int64
	pins  int           // requests using it; never dropped while there are any
	ready chan struct{} // closed when value and err are set
	value any
	err   error
}

// reserve makes room for size bytes, and reports whether there is room. The
// caller holds the lock.
func (b *Budget) reserve(size int64) bool {
	for e := b.order.Back(); e != nil && b.used+size > b.limit; {
		before := e.Prev()
		if x := e.Value.(*entry); x.pins == 0 {
			b.drop(e)
		}
		e = before
	}
	if b.used+size > b.limit {
		return false
	}
	b.used += size
	return true
}

func (b *Budget) drop(e *list.Element) {
	x := b.order.Remove(e).(*entry)
	delete(b.byKey, x.key)
	b.used -= x.size
}

// release gives up everything an engine holds.
func (b *Budget) release(engine *Engine) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for e := b.order.Front(); e != nil; {
		next := e.Next()
		if e.Value.(*entry).key.engine == engine {
			b.drop(e)
		}
		e = next
	}
}

// lease is the set of entries a request uses.
type lease struct {
	budget *Budget
	engine *Engine
	held   []*entry
	claim  func() // gives back what the answer itself was granted; nil: nothing
}

func (e *Engine) lease() *lease { return &lease{budget: e.budget, engine: e} }

// done lets go of everything held.
func (l *lease) done() {
	if l.claim != nil {
		l.claim()
	}
	l.budget.mu.Lock()
	defer l.budget.mu.Unlock()
	for _, x := range l.held {
		x.pins--
	}
	l.held = nil
}

// get returns the value stored under a key, building it if there is none. ok
// is false if the budget has no room for size bytes. A build runs to its end
// even if the caller leaves: the next request will want it. Close waits for it.
func (l *lease) get(ctx context.Context, key any, size int64, build func() (any, error)) (value any, ok bool, err error) {
	b := l.budget
	k := budgetKey{l.engine, key}
	b.mu.Lock()
	el := b.byKey[k]
	if el == nil {
		if l.engine.closed {
			b.mu.Unlock()
			return nil, false, errClosed
		}
		if !b.reserve(size) {
			b.mu.Unlock()
			return nil, false, nil
		}
		x := &entry{key: k, size: size, pins: 1, ready: make(chan struct{})}
		el = b.order.PushFront(x)
		b.byKey[k] = el
		l.engine.builds.Go(func() { l.engine.build(x, el, build) })
	}
	b.order.MoveToFront(el)
	x := el.Value.(*entry)
	x.pins++
	l.held = append(l.held, x)
	b.mu.Unlock()
	select {
	case <-x.ready:
		return x.value, true, x.err
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
}

func (e *Engine) build(x *entry, el *list.Element, build func() (any, error)) {
	b := e.budget
	e.builders <- struct{}{}
	b.mu.Lock()
	closed := e.closed
	b.mu.Unlock()
	if closed { // nobody waits for it, and the table may be unmapped soon
		x.err = errClosed
	} else {
		x.err = parallel.Safely(func() (err error) {
			x.value, err = build()
			return err
		})
	}
	<-e.builders
	b.mu.Lock()
	x.pins--
	if b.byKey[x.key] == el {
		if s, ok := x.value.(interface{ bytes() int64 }); ok {
			// What it takes in the end may be less than was asked for.
			b.used += s.bytes() - x.size
			x.size = s.bytes()
		}
		if x.err != nil {
			b.drop(el)
		}
	}
	b.mu.Unlock()
	close(x.ready)
}

// look returns the value under a key if it is there and ready.
func (l *lease) look(key any) any {
	b := l.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	el := b.byKey[budgetKey{l.engine, key}]
	if el == nil {
		return nil
	}
	x := el.Value.(*entry)
	select {
	case <-x.ready:
	default:
		return nil
	}
	if x.err != nil {
		return nil
	}
	b.order.MoveToFront(el)
	x.pins++
	l.held = append(l.held, x)
	return x.value
}

// put stores a value that is already there, replacing the one under the same
// key, and reports whether there was room.
func (l *lease) put(key any, size int64, value any) bool {
	b := l.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	k := budgetKey{l.engine, key}
	if el := b.byKey[k]; el != nil {
		b.drop(el)
	}
	if !b.reserve(size) {
		return false
	}
	ready := make(chan struct{})
	close(ready)
	b.byKey[k] = b.order.PushFront(&entry{key: k, size: size, ready: ready, value: value})
	return true
}

// forget drops the value under a key. A request that uses it keeps its own
// reference.
func (l *lease) forget(key any) {
	b := l.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if el := b.byKey[budgetKey{l.engine, key}]; el != nil {
		b.drop(el)
	}
}
