package budget

import (
	"container/list"
	"context"
	"errors"
	"reflect"
	"sync"
	"time"

	"github.com/isobath/isobath/internal/base/parallel"
)

// Share is what one owner keeps of a budget: things that can be made again, by
// key. What was used longest ago, by whichever owner, makes room first.
type Share struct {
	budget   *Budget
	builders chan struct{} // as many builds at a time as it has room
	builds   sync.WaitGroup
	// Guarded by the mu of the budget:
	closed bool
	most   int64 // bytes that it keeps; 0 means as many as the budget has
	used   int64
}

// NewShare returns a share of the budget that holds nothing yet.
func (b *Budget) NewShare() *Share {
	return &Share{budget: b, builders: make(chan struct{}, parallel.Workers())}
}

// Bound lets the share keep so many bytes at most, and what is in use now. What is
// kept by question needs a bound: there is no end to selections and places that an
// axis is zoomed to, and a budget is half of the machine.
func (s *Share) Bound(bytes int64) {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	s.most = bytes
}

// Budget is what the share is of.
func (s *Share) Budget() *Budget { return s.budget }

// ErrClosed is what builds get that come after Close.
var ErrClosed = errors.New("it is closed")

// Close forgets everything the share keeps, and returns when none of its builds
// runs any more. Nobody may be using it.
func (s *Share) Close() {
	b := s.budget
	b.mu.Lock()
	s.closed = true
	b.mu.Unlock()
	s.builds.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	for e := b.order.Front(); e != nil; {
		next := e.Next()
		if e.Value.(*entry).key.share == s {
			b.drop(e)
		}
		e = next
	}
}

type entryKey struct {
	share *Share
	key   any
}

// entry is something that can be built again: codes, sets of rows, results.
type entry struct {
	key   entryKey
	size  int64
	pins  int           // leases using it; never dropped while there are any
	used  time.Time     // when somebody last asked for it
	ready chan struct{} // closed when value and err are set
	value any
	err   error
}

// place is about what an entry takes beside its value and its key: itself, and its
// places in the list and the map.
const place = 400

// weight is what an entry of that size takes with its key. Keys hold texts of
// selections, which may be larger than what is kept under them.
func weight(key any, size int64) int64 { return size + place + textIn(reflect.ValueOf(key)) }

// textIn is how many bytes of text a key has.
func textIn(key reflect.Value) int64 {
	switch key.Kind() {
	case reflect.String:
		return int64(key.Len())
	case reflect.Interface:
		return textIn(key.Elem())
	case reflect.Struct:
		var sum int64
		for i := range key.NumField() {
			sum += textIn(key.Field(i))
		}
		return sum
	}
	return 0
}

// reserve makes room for size bytes, and reports whether there is room. The
// caller holds the lock.
func (b *Budget) reserve(size int64) bool {
	b.dropWhile(func() bool { return size > 0 && b.used+size > b.limit })
	if size > 0 && b.used+size > b.limit {
		return false
	}
	b.used += size
	return true
}

// makeRoom drops so many bytes of what can be made again, or all of it.
func (b *Budget) makeRoom(bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	least := b.used - bytes
	b.dropWhile(func() bool { return b.used > least })
}

// dropWhile drops what was used longest ago and is not used now.
func (b *Budget) dropWhile(more func() bool) { b.dropOf(nil, more) }

// dropOf is dropWhile for what a share keeps; of all if it is nil.
func (b *Budget) dropOf(s *Share, more func() bool) {
	for e := b.order.Back(); e != nil && more(); {
		before := e.Prev()
		if x := e.Value.(*entry); x.pins == 0 && (s == nil || x.key.share == s) {
			b.drop(e)
		}
		e = before
	}
}

// DropUnused drops what bounded shares keep and nobody has asked for since then.
// Those are answers to questions: a page asks for what it shows with each of them,
// and what it showed long ago can be counted again. What other shares keep, such as
// files that were read, would take too long to make again.
func (b *Budget) DropUnused(since time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for e := b.order.Back(); e != nil && e.Value.(*entry).used.Before(since); {
		before := e.Prev()
		if x := e.Value.(*entry); x.pins == 0 && x.key.share.most > 0 {
			b.drop(e)
		}
		e = before
	}
}

// use notes that somebody asks for an entry.
func (b *Budget) use(el *list.Element) *entry {
	b.order.MoveToFront(el)
	x := el.Value.(*entry)
	x.used = time.Now()
	return x
}

// add keeps an entry, whose size was reserved, as the one used last. The share
// drops older ones if that is more than it may keep. The caller holds the lock.
func (b *Budget) add(x *entry) *list.Element {
	s := x.key.share
	s.used += x.size
	x.used = time.Now()
	b.dropOf(s, func() bool { return s.most > 0 && s.used > s.most })
	el := b.order.PushFront(x)
	b.byKey[x.key] = el
	return el
}

func (b *Budget) drop(e *list.Element) {
	x := b.order.Remove(e).(*entry)
	delete(b.byKey, x.key)
	b.resize(x, 0)
}

// resize notes that an entry takes another size.
func (b *Budget) resize(x *entry, size int64) {
	b.used += size - x.size
	x.key.share.used += size - x.size
	x.size = size
}

// Lease is the set of things a request uses. They are not dropped until Done.
type Lease struct {
	share *Share
	held  []*entry
}

// Lease begins to use the share.
func (s *Share) Lease() *Lease { return &Lease{share: s} }

// Done lets go of everything held.
func (l *Lease) Done() {
	l.share.budget.mu.Lock()
	defer l.share.budget.mu.Unlock()
	for _, x := range l.held {
		x.pins--
	}
	l.held = nil
}

// Get returns the value kept under a key, building it if there is none. ok is
// false if the budget has no room for size bytes. A build runs to its end even if
// the caller leaves: the next request will want it. Close waits for it.
func (l *Lease) Get(ctx context.Context, key any, size int64, build func() (any, error)) (value any, ok bool, err error) {
	s := l.share
	b := s.budget
	k := entryKey{s, key}
	b.mu.Lock()
	el := b.byKey[k]
	if el == nil {
		if s.closed {
			b.mu.Unlock()
			return nil, false, ErrClosed
		}
		size = weight(key, size)
		if !b.reserve(size) {
			b.mu.Unlock()
			return nil, false, nil
		}
		x := &entry{key: k, size: size, pins: 1, ready: make(chan struct{})}
		el = b.add(x)
		s.builds.Go(func() { s.build(x, el, build) })
	}
	x := b.use(el)
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

func (s *Share) build(x *entry, el *list.Element, build func() (any, error)) {
	b := s.budget
	s.builders <- struct{}{}
	b.mu.Lock()
	closed := s.closed
	b.mu.Unlock()
	if closed { // nobody waits for it, and what it reads may be gone soon
		x.err = ErrClosed
	} else {
		x.err = parallel.Safely(func() (err error) {
			x.value, err = build()
			return err
		})
	}
	<-s.builders
	b.mu.Lock()
	x.pins--
	if b.byKey[x.key] == el {
		if sized, ok := x.value.(interface{ Bytes() int64 }); ok {
			// What it takes in the end may be less than was asked for.
			b.resize(x, weight(x.key.key, sized.Bytes()))
		}
		if x.err != nil {
			b.drop(el)
		}
	}
	b.mu.Unlock()
	close(x.ready)
}

// Look returns the value under a key if it is there and ready.
func (l *Lease) Look(key any) any {
	b := l.share.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	x := b.find(entryKey{l.share, key})
	if x == nil {
		return nil
	}
	x.pins++
	l.held = append(l.held, x)
	return x.value
}

// find returns what is ready under a key, as the one used last; nil if there is
// nothing. The caller holds the lock.
func (b *Budget) find(k entryKey) *entry {
	el := b.byKey[k]
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
	return b.use(el)
}

// Recall returns the value under a key if it is kept. It may be dropped while the
// caller uses it: its memory is then the caller's alone.
func (s *Share) Recall(key any) (value any, ok bool) {
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	if x := s.budget.find(entryKey{s, key}); x != nil {
		return x.value, true
	}
	return nil, false
}

// Keep keeps a value that is already there, replacing the one under the same key,
// and reports whether there was room.
func (s *Share) Keep(key any, size int64, value any) bool {
	b := s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	k := entryKey{s, key}
	if el := b.byKey[k]; el != nil {
		b.drop(el)
	}
	size = weight(key, size)
	if s.closed || !b.reserve(size) {
		return false
	}
	ready := make(chan struct{})
	close(ready)
	b.add(&entry{key: k, size: size, ready: ready, value: value})
	return true
}

// Forget drops the value under a key. A request that uses it keeps its own
// reference.
func (s *Share) Forget(key any) {
	b := s.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if el := b.byKey[entryKey{s, key}]; el != nil {
		b.drop(el)
	}
}

// Keep is Keep of the share.
func (l *Lease) Keep(key any, size int64, value any) bool { return l.share.Keep(key, size, value) }

// Forget is Forget of the share.
func (l *Lease) Forget(key any) { l.share.Forget(key) }
