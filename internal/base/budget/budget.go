// Package budget bounds the memory of the program. What is large is claimed
// before it is made, and given back; what can be made again is kept while there
// is room, and makes room for claims. One budget serves the whole process: the
// engines, readers, meshes, cycles, viewers and uploads draw on the same number,
// which is what --memory says.
//
// A budget travels in the context of the work that draws on it. Mapped files are
// not part of it: the system takes their pages back when it needs them.
package budget

import (
	"container/list"
	"context"
	"fmt"
	"sync"

	"github.com/isobath/isobath/internal/base/term"
)

// Budget is an amount of memory that many draw on.
type Budget struct {
	mu    sync.Mutex
	limit int64
	used  int64
	byKey map[entryKey]*list.Element
	order *list.List // of *entry, most recently used first
}

// New returns a budget of that many bytes.
func New(bytes int64) *Budget {
	return &Budget{limit: bytes, byKey: map[entryKey]*list.Element{}, order: list.New()}
}

// Limit is how many bytes there are in all.
func (b *Budget) Limit() int64 { return b.limit }

// Used is how many bytes are claimed or kept now.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Exceeded says that something needs more memory than is left.
type Exceeded struct {
	What              string // what needs it, with a verb: "the mesh needs"
	Need, Left, Limit int64
}

func (e *Exceeded) Error() string {
	if e.Need > e.Limit {
		return fmt.Sprintf("%s %s, more than the memory budget of %s; raise --memory, or ask for less", e.What, term.Bytes(e.Need), term.Bytes(e.Limit))
	}
	return fmt.Sprintf("%s %s, and %s are left of the memory budget of %s; raise --memory, or ask for less",
		e.What, term.Bytes(e.Need), term.Bytes(e.Left), term.Bytes(e.Limit))
}

// Claim is memory that was granted and cannot be made again.
type Claim struct {
	budget *Budget
	what   string
	bytes  int64 // guarded by the mu of the budget
}

// Claim takes bytes, making room if it must. The error is an Exceeded, and what
// is its first words: "the surface of the mesh needs".
func (b *Budget) Claim(what string, bytes int64) (*Claim, error) {
	c := &Claim{budget: b, what: what}
	if err := c.Resize(bytes); err != nil {
		return nil, err
	}
	return c, nil
}

// Resize makes the claim larger or smaller. A claim that cannot grow stays as it
// is.
func (c *Claim) Resize(bytes int64) error {
	b := c.budget
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.reserve(bytes - c.bytes) {
		return &Exceeded{What: c.what, Need: bytes, Left: b.limit - b.used + c.bytes, Limit: b.limit}
	}
	c.bytes = bytes
	return nil
}

// Left is the most that the claim could be now.
func (c *Claim) Left() int64 {
	c.budget.mu.Lock()
	defer c.budget.mu.Unlock()
	return c.budget.limit - c.budget.used + c.bytes
}

// Grow makes the claim larger.
func (c *Claim) Grow(bytes int64) error {
	c.budget.mu.Lock()
	now := c.bytes
	c.budget.mu.Unlock()
	return c.Resize(now + bytes)
}

// Release gives everything back; a second time does nothing. A nil claim is one
// of nothing.
func (c *Claim) Release() {
	if c == nil {
		return
	}
	c.budget.mu.Lock()
	defer c.budget.mu.Unlock()
	c.budget.used -= c.bytes
	c.bytes = 0
}

type contextKey struct{}

// With returns a context whose work draws on the budget.
func With(ctx context.Context, b *Budget) context.Context {
	return context.WithValue(ctx, contextKey{}, b)
}

// ofProcess serves what nobody gave a budget.
var ofProcess = sync.OnceValue(func() *Budget { return New(Default()) })

// Of is the budget that the work of a context draws on.
func Of(ctx context.Context) *Budget {
	if b, ok := ctx.Value(contextKey{}).(*Budget); ok {
		return b
	}
	return ofProcess()
}

// Take claims from the budget of a context.
func Take(ctx context.Context, what string, bytes int64) (*Claim, error) {
	return Of(ctx).Claim(what, bytes)
}
