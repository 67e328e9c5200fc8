package kernel

import (
	"context"
	"fmt"
	"slices"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// rowsOf returns the rows an expression selects, from the cache if the engine
// has answered it before. The set is shared and not to be changed.
func (e *Engine) rowsOf(ctx context.Context, l *budget.Lease, x query.Expr) (table.Bits, error) {
	n := e.data.Table.Rows()
	switch x := x.(type) {
	case nil:
		return e.everything, nil
	case query.RowSet:
		return e.data.RowSets.Rows(ctx, x.Name)
	}
	key := e.setKey(x)
	if b, ok := l.Look(key).(table.Bits); ok {
		return b, nil
	}
	var b table.Bits
	var err error
	switch x := x.(type) {
	case query.And:
		b, err = e.intersect(ctx, l, x.Terms)
	case query.Or:
		b, err = e.combine(ctx, l, x.Terms, table.Bits.Or)
	case query.Not:
		if b, err = e.rowsOf(ctx, l, x.Term); err == nil {
			b = slices.Clone(b)
			b.Not(n)
		}
	default:
		b, err = e.scan(ctx, l, x)
	}
	if err != nil {
		return nil, err
	}
	e.remember(l, key, b)
	return b, nil
}

// setKey names a set of rows in the cache. Names of rows may change their
// meaning, and the generation changes with them.
func (e *Engine) setKey(x query.Expr) setKey { return setKey{x.String(), e.data.RowSets.Generation()} }

type setKey struct {
	text       string
	generation int
}

// maxSets bounds the sets of rows an engine remembers: a drag makes a new one
// with every move, and few are asked for again.
const maxSets = 8

func (e *Engine) remember(l *budget.Lease, key setKey, b table.Bits) {
	l.Keep(key, int64(len(b))*8, b)
	e.mu.Lock()
	e.sets = append(e.sets, key)
	var old setKey
	full := len(e.sets) > maxSets
	if full {
		old = e.sets[0]
		e.sets = slices.Delete(e.sets, 0, 1)
	}
	e.mu.Unlock()
	if full && old != key {
		l.Forget(old)
	}
}

// intersect is combine for rows that all terms accept.
func (e *Engine) intersect(ctx context.Context, l *budget.Lease, terms []query.Expr) (table.Bits, error) {
	rest, merged := e.mergeIntervals(terms)
	var all table.Bits
	for _, m := range merged {
		if len(m.terms) == 1 {
			rest = append(rest, m.terms[0]) // which may be known already
			continue
		}
		b, err := e.scanColumn(ctx, m.column, e.intervalTester(l, m.column, m.interval))
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = b
		} else {
			all.And(b)
		}
	}
	if len(rest) == 0 {
		return all, nil
	}
	b, err := e.combine(ctx, l, rest, table.Bits.And)
	if err == nil && all != nil {
		b.And(all)
	}
	return b, err
}

func (e *Engine) combine(ctx context.Context, l *budget.Lease, terms []query.Expr, with func(a, b table.Bits)) (table.Bits, error) {
	var all table.Bits
	for i, t := range terms {
		b, err := e.rowsOf(ctx, l, t)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			all = slices.Clone(b)
		} else {
			with(all, b)
		}
	}
	return all, nil
}

// scan evaluates an expression over one column, or over places.
func (e *Engine) scan(ctx context.Context, l *budget.Lease, x query.Expr) (table.Bits, error) {
	if at, ok := x.(query.At); ok {
		if e.data.Placing == nil {
			return nil, fmt.Errorf("at %s: %w", at.Resource, query.ErrNotPlaced)
		}
		touched, err := e.data.Placing.Touching(at.Resource)
		if err != nil {
			return nil, query.Refuse("%v", err)
		}
		return e.scanBlocks(ctx, func(lo, hi int, out []uint64) { lookup(e.data.Placing.Row[lo:hi], touched, out) })
	}
	name, ok := query.ColumnOf(x)
	if !ok {
		return nil, fmt.Errorf("selection of unknown kind %T", x)
	}
	c := e.data.Table.Column(name)
	if c == nil {
		return nil, query.UnknownColumn(e.data.Table, name)
	}
	if m, ok := x.(query.Missing); ok {
		return e.scanBlocks(ctx, missingTester(c, m))
	}
	if m, ok := x.(query.Match); ok && c.Kind != table.Category {
		if b, ok, err := e.matchValues(ctx, l, c, m); ok || err != nil {
			return b, err
		}
	}
	return e.scanColumn(ctx, c, e.tester(ctx, l, c, x))
}

// matchValues matches each value of a column of whole numbers once instead of
// each row, if those are few.
func (e *Engine) matchValues(ctx context.Context, l *budget.Lease, c *table.Column, m query.Match) (rows table.Bits, ok bool, err error) {
	if _, isFloat := c.Data.([]float64); isFloat {
		return nil, false, nil
	}
	d, err := e.distribution(ctx, l, c, false, setKey{})
	if err != nil || d.extent.hi-d.extent.lo >= 1<<16 {
		return nil, false, err
	}
	k, err := e.groupCodes(ctx, l, []*table.Column{c})
	if err != nil {
		return nil, false, err
	}
	accepted := make([]bool, k.cells)
	for code, row := range k.first {
		if row != noRow && c.Has(int(row)) {
			accepted[code] = query.Accepts(m, c, int(row))
		}
	}
	rows, err = e.scanBlocks(ctx, func(lo, hi int, out []uint64) {
		switch v := k.slice(lo, hi); {
		case v.u8 != nil:
			lookup(v.u8, accepted, out)
		case v.u16 != nil:
			lookup(v.u16, accepted, out)
		default:
			lookup(v.u32, accepted, out)
		}
	})
	return rows, true, err
}

// scanColumn fills a set with the rows that a test accepts and that have a
// value.
func (e *Engine) scanColumn(ctx context.Context, c *table.Column, test func(lo, hi int, out []uint64)) (table.Bits, error) {
	return e.scanBlocks(ctx, func(lo, hi int, out []uint64) {
		test(lo, hi, out)
		if c.Valid != nil {
			table.Bits(out).And(c.Valid[lo/64 : lo/64+len(out)])
		}
	})
}

// scanBlocks fills a set of rows block by block on all processors.
func (e *Engine) scanBlocks(ctx context.Context, fill func(lo, hi int, out []uint64)) (table.Bits, error) {
	n := e.data.Table.Rows()
	b := table.NewBits(n)
	err := eachBlock(ctx, blocks(n), func(_, block int) {
		lo, hi := bounds(block, n)
		fill(lo, hi, b[lo/64:(hi+63)/64])
	})
	return b, err
}

// tester returns a function that adds the rows of a block that an expression
// over one column accepts; rows without a value are left to the caller.
func (e *Engine) tester(ctx context.Context, l *budget.Lease, c *table.Column, x query.Expr) func(lo, hi int, out []uint64) {
	if d, ok := c.Data.([]uint32); ok {
		accepted := make([]bool, len(c.Dict))
		for code := range c.Dict {
			accepted[code] = query.AcceptsName(x, c.Dict[code])
		}
		return func(lo, hi int, out []uint64) { lookup(d[lo:hi], accepted, out) }
	}
	if i, ok := intervalOf(c, x); ok {
		return e.intervalTester(l, c, i)
	}
	switch x := x.(type) {
	case query.Compare:
		return e.otherTester(ctx, l, c, x)
	case query.In:
		tests := make([]func(lo, hi int, out []uint64), len(x.Values))
		for i, v := range x.Values {
			tests[i] = e.tester(ctx, l, c, query.Compare{Column: x.Column, Op: query.Eq, Value: v})
		}
		return func(lo, hi int, out []uint64) {
			for _, t := range tests {
				t(lo, hi, out)
			}
		}
	}
	return definition(ctx, c, x)
}

// definition asks the language itself about each row. That can take long, for a
// regular expression over numbers above all, so it stops early when ctx is done.
func definition(ctx context.Context, c *table.Column, x query.Expr) func(lo, hi int, out []uint64) {
	return func(lo, hi int, out []uint64) {
		for i := lo; i < hi; i++ {
			if i%1024 == 0 && ctx.Err() != nil {
				return
			}
			if _, ok := query.Number(c, i); ok && query.Accepts(x, c, i) {
				out[(i-lo)/64] |= 1 << ((i - lo) % 64)
			}
		}
	}
}

func (e *Engine) intervalTester(l *budget.Lease, c *table.Column, i interval) func(lo, hi int, out []uint64) {
	if t := e.codeTester(l, c, i); t != nil {
		return t
	}
	return i.tester(c)
}

func missingTester(c *table.Column, m query.Missing) func(lo, hi int, out []uint64) {
	d, isFloat := c.Data.([]float64)
	return func(lo, hi int, out []uint64) {
		for i := lo; i < hi; i++ {
			has := c.Has(i) && !(isFloat && d[i] != d[i])
			if has == m.Not {
				out[(i-lo)/64] |= 1 << ((i - lo) % 64)
			}
		}
	}
}

// otherTester tests value != literal.
func (e *Engine) otherTester(ctx context.Context, l *budget.Lease, c *table.Column, x query.Compare) func(lo, hi int, out []uint64) {
	equal, ok := intervalOf(c, query.Compare{Column: x.Column, Op: query.Eq, Value: x.Value})
	if !ok {
		return definition(ctx, c, x)
	}
	inside := e.intervalTester(l, c, equal)
	d, _ := c.Data.([]float64)
	return func(lo, hi int, out []uint64) {
		inside(lo, hi, out)
		table.Bits(out).Not(hi - lo)
		for i := lo; i < hi && d != nil; i++ {
			if d[i] != d[i] { // a NaN is no value, so it is not another one either
				out[(i-lo)/64] &^= 1 << ((i - lo) % 64)
			}
		}
	}
}

// lookup adds the rows whose code is accepted. A row without a value has code 0
// even if there are no names at all.
func lookup[C uint8 | uint16 | uint32](codes []C, accepted []bool, out []uint64) {
	if len(accepted) == 0 {
		return
	}
	table := make([]uint8, len(accepted))
	for i, a := range accepted {
		if a {
			table[i] = 1
		}
	}
	for w := range out {
		part := codes[w*64 : min(w*64+64, len(codes))]
		var word uint64
		for i, code := range part {
			word |= uint64(table[code]) << (i & 63)
		}
		out[w] |= word
	}
}
