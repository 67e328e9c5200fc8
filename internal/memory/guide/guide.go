// Package guide leads to the samples worth a look: metrics over windows of an
// axis, clusters of neighbouring windows, and a ranked list of findings.
package guide

import (
	"context"
	"fmt"
	"sync"

	"github.com/isobath/isobath/internal/base/budget"
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

	kept *budget.Share // sorted orders, divisions, trees and findings

	mu   sync.Mutex
	cpus *slotting // of the cpu column, where there is no topology
}

// Progress is told what is being done, as a short phrase, and how much of it is.
// It is called often, and never by two goroutines at once.
type Progress func(stage string, done, total int)

func (p Progress) tell(stage string, done, total int) {
	if p != nil {
		p(stage, done, total)
	}
}

// New returns a guide to the data behind an engine, with a budget of its own. Places
// is nil without a topology.
func New(d query.Data, places *hw.Rows, e query.Engine) *Guide {
	return NewWithin(budget.New(budget.Default()), d, places, e)
}

// NewWithin returns a guide that remembers as part of a budget. Close gives that back.
func NewWithin(b *budget.Budget, d query.Data, places *hw.Rows, e query.Engine) *Guide {
	g := &Guide{data: d, places: places, engine: e, kept: b.NewShare()}
	g.kept.Bound(room(d.Table.Rows()))
	return g
}

// Close forgets everything the guide remembers. Nobody may be using it.
func (g *Guide) Close() { g.kept.Close() }

// room is how many bytes a guide may remember of so many rows: a few orders and
// divisions of all of them beside the trees and findings of many selections.
func room(rows int) int64 { return 8<<20 + 24*int64(rows) }

// sized is something that the guide remembers.
type sized interface{ bytes() int64 }

// lookup finds what is remembered under a key.
func lookup[V sized](g *Guide, key any) (V, bool) {
	v, _ := g.kept.Recall(key)
	found, ok := v.(V)
	return found, ok
}

// store remembers something, as long as there is room.
func store(g *Guide, key any, v sized) { g.kept.Keep(key, v.bytes(), v) }

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
