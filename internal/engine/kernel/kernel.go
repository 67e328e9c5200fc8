// Package kernel answers the questions of all views at memory speed: every row
// has a small code for each axis, selections are sets of bits, and counting is
// a few passes over both.
package kernel

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// Engine is the embedded engine for one table. It may be used by several
// goroutines at once.
type Engine struct {
	data       query.Data
	share      *budget.Share
	warn       func(string)
	everything table.Bits
	nothing    table.Bits

	mu      sync.Mutex
	sets    []setKey // remembered sets, oldest first
	lasts   []lastKey
	warned  bool
	coded   map[string]query.Axis // an axis with small codes for a column
	dragged []keptCube            // oldest first
}

var (
	_ query.Engine   = (*Engine)(nil)
	_ query.Preparer = (*Engine)(nil)
)

// Options are what an engine may be told.
type Options struct {
	// Budget is that of the process; nil means one of its own.
	Budget *budget.Budget
	// Warn is told, once, that the budget is too small for the table.
	Warn func(string)
}

// New returns an engine for the data. Close gives its memory back.
func New(d query.Data, o Options) *Engine {
	if o.Budget == nil {
		o.Budget = budget.New(budget.Default())
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	e := &Engine{
		data: d, share: o.Budget.NewShare(), warn: o.Warn,
		everything: table.FullBits(d.Table.Rows()),
		nothing:    table.NewBits(d.Table.Rows()),
		coded:      map[string]query.Axis{},
	}
	e.share.Bound(e.cubeRoom() * 3 / 2)
	return e
}

// Close forgets everything the engine remembers, and returns when nothing of it
// looks at the table any more, which may then be unmapped. No request may be
// under way.
func (e *Engine) Close() { e.share.Close() }

// freely is what every answer may take, whatever the budget: the largest page of
// views needs less.
const freely = 32 << 20

// grant claims the memory that an answer takes beside what is kept, or refuses
// the question: a budget that one question exceeds is none.
func (e *Engine) grant(p *plan) (*budget.Claim, error) {
	need := p.bytes()
	if need <= freely {
		return nil, nil
	}
	return e.share.Budget().Claim("this question needs", need)
}

// bytes is about what the tables of an answer take: one a layer, one more for
// every worker where these count apart, and of pairs the list of their cells, in
// memory and in the message.
func (p *plan) bytes() int64 {
	var sum int64
	for _, c := range p.counters {
		tables := int64(query.Layers)
		if !c.lone() {
			tables *= int64(1 + workers())
		}
		sum += c.bytes() * tables
	}
	rows := int64(p.engine.data.Table.Rows())
	for _, i := range p.pairs {
		const listed = 2 * (2 + 2 + 4*int64(query.Layers))
		sum += min(int64(p.counters[i].cells), rows) * listed
	}
	return sum
}

// Select returns the rows an expression selects.
func (e *Engine) Select(ctx context.Context, x query.Expr) (table.Bits, error) {
	l := e.share.Lease()
	defer l.Done()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return e.rowsOf(ctx, l, x)
}

// Answer answers every question of the request.
func (e *Engine) Answer(ctx context.Context, r *query.Request) (*query.Answer, error) {
	l := e.share.Lease()
	defer l.Done()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p, err := e.plan(ctx, l, r)
	if err != nil {
		return nil, err
	}
	claim, err := e.grant(p)
	if err != nil {
		return nil, err
	}
	defer claim.Release()
	d := e.findCube(l, r)
	if a, ok, err := e.answerDragged(ctx, p, d); ok {
		return a, err
	}
	return e.answer(ctx, l, p, d)
}

func (e *Engine) answer(ctx context.Context, l *budget.Lease, p *plan, d *dragging) (*query.Answer, error) {
	r := p.request
	a := &query.Answer{}
	ls, err := e.layers(ctx, l, r, a)
	if err != nil {
		return nil, err
	}
	results, err := e.countWithout(ctx, l, p, d, ls)
	if err != nil {
		return nil, err
	}
	p.listPairs(l, ls.filter, results)
	if err := p.assemble(ctx, a, results); err != nil {
		return nil, err
	}
	for i, s := range r.Stats {
		k := p.moments[i]
		stats, err := e.stats(ctx, l, s, p.counters[k].values, results[k], ls)
		if err != nil {
			return nil, err
		}
		a.Stats = append(a.Stats, stats)
	}
	if r.Rows != nil {
		if a.Rows, err = e.page(ctx, l, r.Rows, ls); err != nil {
			return nil, err
		}
	}
	return a, ctx.Err()
}

// layers is the rows of each layer, and what names them in the cache.
type layers struct {
	sets   [query.Layers]rowSet
	filter setKey
}

func (e *Engine) layers(ctx context.Context, l *budget.Lease, r *query.Request, a *query.Answer) (*layers, error) {
	ls := &layers{}
	if r.Filter != nil {
		ls.filter = e.setKey(r.Filter)
	}
	var bits [query.Layers]table.Bits
	for i, x := range []query.Expr{r.Filter, r.Where, r.Hover} {
		b, err := e.rowsOf(ctx, l, x)
		if err != nil {
			return nil, err
		}
		bits[i] = b
	}
	all := rowSet{bits: bits[query.All], count: e.data.Table.Rows()}
	selected, hovered := all, rowSet{bits: e.nothing}
	if r.Where != nil {
		selected.bits = bits[query.Selected]
	}
	filtered := r.Filter != nil
	if filtered && r.Where != nil {
		selected.bits = table.NewBits(e.data.Table.Rows())
	}
	if r.Hover != nil {
		hovered.bits = table.NewBits(e.data.Table.Rows())
	}
	// One pass works out the rows of the layers and counts them.
	var counts [query.Layers]atomic.Int64
	var hoverAll atomic.Int64
	err := eachBlock(ctx, blocks(e.data.Table.Rows()), func(_, block int) {
		lo, hi := bounds(block, e.data.Table.Rows())
		part := func(b table.Bits) table.Bits { return b[lo/64 : (hi+63)/64] }
		if filtered {
			counts[query.All].Add(int64(part(all.bits).Count()))
		}
		if r.Where != nil {
			if filtered {
				both(part(selected.bits), part(bits[query.Selected]), part(all.bits))
			}
			counts[query.Selected].Add(int64(part(selected.bits).Count()))
		}
		if r.Hover != nil {
			h := part(hovered.bits)
			both(h, part(bits[query.Hovered]), part(all.bits))
			hoverAll.Add(int64(h.Count()))
			h.And(part(selected.bits))
			counts[query.Hovered].Add(int64(h.Count()))
		}
	})
	if err != nil {
		return nil, err
	}
	if filtered {
		all.count = int(counts[query.All].Load())
	}
	if selected.count = all.count; r.Where != nil {
		selected.count = int(counts[query.Selected].Load())
	}
	hovered.count = int(counts[query.Hovered].Load())
	a.HoverAll = int(hoverAll.Load())
	ls.sets = [query.Layers]rowSet{all, selected, hovered}
	for i, s := range ls.sets {
		a.Counts[i] = s.count
	}
	return ls, nil
}

// both sets into to the rows that are in a and in b.
func both(into, a, b table.Bits) {
	for i := range into {
		into[i] = a[i] & b[i]
	}
}

// column returns a column by name.
func (e *Engine) column(name string) (*table.Column, error) {
	c := e.data.Table.Column(name)
	if c == nil {
		return nil, query.UnknownColumn(e.data.Table, name)
	}
	return c, nil
}

// number returns a column whose values can be summed.
func (e *Engine) number(name string) (*table.Column, error) {
	c, err := e.column(name)
	if err == nil && c.Kind == table.Category {
		err = query.NotNumbers(name)
	}
	return c, err
}

// tight tells, once, that the budget is too small.
func (e *Engine) tight() {
	e.mu.Lock()
	first := !e.warned
	e.warned = true
	e.mu.Unlock()
	if first {
		e.warn(fmt.Sprintf("%d rows need more than the memory budget of %d MB: answers come from the mapped file and are slower; raise --memory or show fewer axes",
			e.data.Table.Rows(), e.share.Budget().Limit()>>20))
	}
}
