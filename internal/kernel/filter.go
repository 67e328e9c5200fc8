package kernel

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"isobath/internal/query"
	"isobath/internal/table"
)

// rowsOf returns the rows an expression selects, from the cache if the engine
// has answered it before. The set is shared and not to be changed.
func (e *Engine) rowsOf(ctx context.Context, l *lease, x query.Expr) (table.Bits, error) {
	n := e.data.Table.Rows()
	switch x := x.(type) {
	case nil:
		return e.everything, nil
	case query.RowSet:
		return e.kept(x.Name)
	}
	key := e.setKey(x)
	if b, ok := l.look(key).(table.Bits); ok {
		return b, nil
	}
	var b table.Bits
	var err error
	switch x := x.(type) {
	case query.And:
		b, err = e.combine(ctx, l, x.Terms, table.Bits.And)
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

// setKey names a set of rows in the cache. Kept rows may be replaced, and the
// generation changes with them.
func (e *Engine) setKey(x query.Expr) setKey {
	e.mu.Lock()
	defer e.mu.Unlock()
	return setKey{x.String(), e.generation}
}

type setKey struct {
	text       string
	generation int
}

// maxSets bounds the sets of rows an engine remembers: a drag makes a new one
// with every move, and few are asked for again.
const maxSets = 8

func (e *Engine) remember(l *lease, key setKey, b table.Bits) {
	l.put(key, int64(len(b))*8, b)
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
		l.forget(old)
	}
}

func (e *Engine) kept(name string) (table.Bits, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	b, ok := e.rowSets[name]
	if !ok {
		return nil, fmt.Errorf("no rows are stored under the name %q", name)
	}
	return b, nil
}

func (e *Engine) combine(ctx context.Context, l *lease, terms []query.Expr, with func(a, b table.Bits)) (table.Bits, error) {
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
func (e *Engine) scan(ctx context.Context, l *lease, x query.Expr) (table.Bits, error) {
	if at, ok := x.(query.At); ok {
		if e.data.Placing == nil {
			return nil, fmt.Errorf("at %s: %w", at.Resource, query.ErrNotPlaced)
		}
		touched, err := e.data.Placing.Touching(at.Resource)
		if err != nil {
			return nil, err
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
	test := e.tester(l, c, x)
	_, missing := x.(query.Missing)
	return e.scanBlocks(ctx, func(lo, hi int, out []uint64) {
		test(lo, hi, out)
		if c.Valid != nil && !missing {
			table.Bits(out).And(c.Valid[lo/64 : lo/64+len(out)])
		}
	})
}

// scanBlocks fills a set of rows block by block on all processors.
func (e *Engine) scanBlocks(ctx context.Context, fill func(lo, hi int, out []uint64)) (table.Bits, error) {
	n := e.data.Table.Rows()
	b := table.NewBits(n)
	err := parallel(ctx, blocks(n), func(_, block int) {
		lo, hi := bounds(block, n)
		fill(lo, hi, b[lo/64:(hi+63)/64])
	})
	return b, err
}

// tester returns a function that sets the bits of the rows of a block that an
// expression over one column accepts; rows without a value are left to the
// caller, unless the expression is about those.
func (e *Engine) tester(l *lease, c *table.Column, x query.Expr) func(lo, hi int, out []uint64) {
	if m, ok := x.(query.Missing); ok {
		return missingTester(c, m)
	}
	if d, ok := c.Data.([]uint32); ok {
		accepted := make([]bool, len(c.Dict))
		for code := range c.Dict {
			accepted[code] = query.AcceptsName(x, c.Dict[code])
		}
		return func(lo, hi int, out []uint64) { lookup(d[lo:hi], accepted, out) }
	}
	switch x := x.(type) {
	case query.Range:
		return e.rangeTester(l, c, x)
	case query.Compare:
		return e.compareTester(l, c, x)
	case query.In:
		tests := make([]func(lo, hi int, out []uint64), len(x.Values))
		for i, v := range x.Values {
			tests[i] = e.rangeTester(l, c, query.Range{Column: x.Column, Lo: v, Hi: v})
		}
		return func(lo, hi int, out []uint64) {
			for _, t := range tests {
				t(lo, hi, out)
			}
		}
	}
	return func(lo, hi int, out []uint64) {
		for i := lo; i < hi; i++ {
			if c.Has(i) && query.Accepts(x, c, i) {
				out[(i-lo)/64] |= 1 << ((i - lo) % 64)
			}
		}
	}
}

func (e *Engine) rangeTester(l *lease, c *table.Column, r query.Range) func(lo, hi int, out []uint64) {
	if t := e.codeTester(l, c, r); t != nil {
		return t
	}
	return intervalTester(c, r)
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

// compareTester turns a comparison into an interval, or what is outside it.
func (e *Engine) compareTester(l *lease, c *table.Column, x query.Compare) func(lo, hi int, out []uint64) {
	below, above := query.NumberValue(math.Inf(-1)), query.NumberValue(math.Inf(1))
	var r query.Range
	outside := false
	switch x.Op {
	case query.Eq, query.Ne:
		r, outside = query.Range{Lo: x.Value, Hi: x.Value}, x.Op == query.Ne
	case query.Le, query.Gt:
		r, outside = query.Range{Lo: below, Hi: x.Value}, x.Op == query.Gt
	case query.Ge, query.Lt:
		r, outside = query.Range{Lo: x.Value, Hi: above}, x.Op == query.Lt
	}
	r.Column = x.Column
	inside := e.rangeTester(l, c, r)
	if !outside {
		return inside
	}
	d, _ := c.Data.([]float64)
	return func(lo, hi int, out []uint64) {
		inside(lo, hi, out)
		table.Bits(out).Not(hi - lo)
		for i := lo; i < hi && d != nil; i++ {
			if d[i] != d[i] { // a NaN is no value, so it is not outside either
				out[(i-lo)/64] &^= 1 << ((i - lo) % 64)
			}
		}
	}
}

// intervalTester tests lo <= value <= hi.
func intervalTester(c *table.Column, r query.Range) func(lo, hi int, out []uint64) {
	switch d := c.Data.(type) {
	case []int32:
		return wholeTester(d, r, math.MinInt32, math.MaxInt32)
	case []int64:
		return wholeTester(d, r, math.MinInt64, math.MaxInt64)
	case []uint8:
		return wholeTester(d, r, 0, math.MaxUint8)
	case []uint64:
		return wholeTester(d, r, 0, math.MaxUint64)
	}
	d := c.Data.([]float64)
	return func(lo, hi int, out []uint64) { within(d[lo:hi], r.Lo.Number, r.Hi.Number, out) }
}

func wholeTester[T int32 | int64 | uint8 | uint64](d []T, r query.Range, least, most T) func(lo, hi int, out []uint64) {
	from, to, ok := wholeRange(r, least, most)
	if !ok {
		return func(int, int, []uint64) {}
	}
	return func(lo, hi int, out []uint64) { wholeWithin(d[lo:hi], from, to, out) }
}

// wholeRange finds the least and greatest whole numbers in a range once, by the
// definition of the language, so that rows are compared as whole numbers.
func wholeRange[T int32 | int64 | uint8 | uint64](r query.Range, least, most T) (from, to T, ok bool) {
	if query.OrderNumber(most, r.Lo) < 0 || query.OrderNumber(least, r.Hi) > 0 {
		return 0, 0, false
	}
	from = search(least, most, func(v T) bool { return query.OrderNumber(v, r.Lo) >= 0 })
	to = most
	if query.OrderNumber(most, r.Hi) > 0 {
		to = search(least, most, func(v T) bool { return query.OrderNumber(v, r.Hi) > 0 }) - 1
	}
	return from, to, from <= to
}

// search returns the least value for which a monotone test holds; it holds for
// the last one.
func search[T int32 | int64 | uint8 | uint64](first, last T, holds func(T) bool) T {
	for first < last {
		mid := first + T((uint64(last)-uint64(first))/2)
		if holds(mid) {
			last = mid
		} else {
			first = mid + 1
		}
	}
	return first
}

// wholeWithin adds the rows with from <= value <= to, without branches: the
// borrow of span - (value - from) tells.
func wholeWithin[T int32 | int64 | uint8 | uint64](d []T, from, to T, out []uint64) {
	span := uint64(to) - uint64(from)
	for w := range out {
		part := d[w*64 : min(w*64+64, len(d))]
		var word uint64
		for i, v := range part {
			_, borrow := bits.Sub64(span, uint64(v)-uint64(from), 0)
			word |= (borrow ^ 1) << (i & 63)
		}
		out[w] |= word
	}
}

func within(d []float64, from, to float64, out []uint64) {
	for w := range out {
		part := d[w*64 : min(w*64+64, len(d))]
		var word uint64
		for i, v := range part {
			var a, b uint64
			if v >= from {
				a = 1
			}
			if v <= to {
				b = 1
			}
			word |= (a & b) << (i & 63)
		}
		out[w] |= word
	}
}

// lookup adds the rows whose code is accepted. A row without a value has code 0
// even if there are no names at all.
func lookup(codes []uint32, accepted []bool, out []uint64) {
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
