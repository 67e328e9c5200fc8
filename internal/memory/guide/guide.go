// Package guide leads to the samples worth a look: metrics over windows of an
// axis, clusters of neighbouring windows, and a ranked list of findings.
package guide

import (
	"context"
	"fmt"
	"sync"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/machine/hw"
)

// Guide answers the questions of guided analysis about one table, and remembers
// sorted orders, trees and findings. It may be used by several goroutines.
type Guide struct {
	data   query.Data
	places *hw.Rows // nil if samples are not placed on a topology
	engine query.Engine

	mu        sync.Mutex
	cpus      *slotting // of the cpu column, where there is no topology
	divisions remembered[divisionKey, *division]
	orders    remembered[orderKey, *ordering]
	trees     remembered[treeKey, *Tree]
	found     remembered[string, []Insight]
}

// Progress is told what is being done, as a short phrase, and how much of it is.
// It is called often, and never by two goroutines at once.
type Progress func(stage string, done, total int)

func (p Progress) tell(stage string, done, total int) {
	if p != nil {
		p(stage, done, total)
	}
}

// New returns a guide to the data behind an engine. Places is nil without a
// topology.
func New(d query.Data, places *hw.Rows, e query.Engine) *Guide {
	return &Guide{
		data: d, places: places, engine: e,
		divisions: remembered[divisionKey, *division]{most: 8},
		orders:    remembered[orderKey, *ordering]{most: 4},
		trees:     remembered[treeKey, *Tree]{most: 64},
		found:     remembered[string, []Insight]{most: 8},
	}
}

// remembered keeps the last few values by key. The zero value keeps nothing.
type remembered[K comparable, V any] struct {
	most   int
	keys   []K
	values map[K]V
}

func (r *remembered[K, V]) get(k K) (V, bool) {
	v, ok := r.values[k]
	return v, ok
}

func (r *remembered[K, V]) put(k K, v V) {
	if r.values == nil {
		r.values = map[K]V{}
	}
	if _, known := r.values[k]; !known {
		r.keys = append(r.keys, k)
	}
	r.values[k] = v
	if len(r.keys) > r.most {
		delete(r.values, r.keys[0])
		r.keys = r.keys[1:]
	}
}

// lookup reads from a memory of the guide.
func lookup[K comparable, V any](g *Guide, r *remembered[K, V], k K) (V, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return r.get(k)
}

func store[K comparable, V any](g *Guide, r *remembered[K, V], k K, v V) {
	g.mu.Lock()
	defer g.mu.Unlock()
	r.put(k, v)
}

// keyOf is a selection as part of a key. Rows kept under a name may be replaced
// under the same name, so such a selection is never remembered.
func keyOf(where query.Expr) (key string, stable bool) {
	if where == nil {
		return "", true
	}
	return where.String(), !usesRowSet(where)
}

func usesRowSet(e query.Expr) bool {
	var terms []query.Expr
	switch e := e.(type) {
	case query.RowSet:
		return true
	case query.And:
		terms = e.Terms
	case query.Or:
		terms = e.Terms
	case query.Not:
		terms = []query.Expr{e.Term}
	}
	for _, t := range terms {
		if usesRowSet(t) {
			return true
		}
	}
	return false
}

// selected returns the rows of a selection, nil for all.
func (g *Guide) selected(ctx context.Context, where query.Expr) (table.Bits, error) {
	if where == nil {
		return nil, ctx.Err()
	}
	return g.engine.Select(ctx, where)
}

// axis returns a column along which samples can be put in order.
func (g *Guide) axis(name string) (*table.Column, error) {
	c := g.data.Table.Column(name)
	switch {
	case c == nil:
		return nil, query.UnknownColumn(g.data.Table, name)
	case c.Kind == table.Category || c.Kind == table.Flag:
		return nil, fmt.Errorf("axis %s: its values are names and have no order; want a column of numbers, times or addresses", name)
	}
	return c, nil
}

// Axes returns the columns that can be an axis.
func (g *Guide) Axes() []string {
	var names []string
	for _, c := range g.data.Table.Columns() {
		if _, err := g.axis(c.Name); err == nil {
			names = append(names, c.Name)
		}
	}
	return names
}

// latency returns the latency column, nil if there is none with values.
func (g *Guide) latency() *table.Column {
	return samples.UsableLatency(g.data.Table)
}
