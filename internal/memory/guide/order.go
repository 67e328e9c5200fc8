package guide

import (
	"context"
	"math"
	"math/bits"

	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// ordering is the rows of a selection that have a value on an axis, by value,
// equal ones by row number.
type ordering struct {
	column *table.Column
	rows   []uint32
}

func (o *ordering) bytes() int64 { return 4 * int64(len(o.rows)) }

type orderKey struct{ axis, where string }

// order sorts a selection along an axis, or remembers that it has.
func (g *Guide) order(ctx context.Context, axis string, where query.Expr) (*ordering, error) {
	c, err := g.axis(axis)
	if err != nil {
		return nil, err
	}
	text, stable := keyOf(where)
	key := orderKey{axis, text}
	if o, ok := lookup[*ordering](g, key); ok && stable {
		return o, nil
	}
	selected, err := g.selected(ctx, where)
	if err != nil {
		return nil, err
	}
	rows, err := sortRows(ctx, c, selected)
	if err != nil {
		return nil, err
	}
	o := &ordering{c, rows}
	if stable {
		store(g, key, o)
	}
	return o, nil
}

// value returns the axis value at a position of the order.
func (o *ordering) value(at int) float64 { return o.column.Float(int(o.rows[at])) }

type keyed struct {
	key uint64
	row uint32
}

// sortRows returns the selected rows that have a value, by value, then row.
func sortRows(ctx context.Context, c *table.Column, selected table.Bits) ([]uint32, error) {
	pairs, sorted := keys(c, selected)
	if !sorted {
		var err error
		if pairs, err = radix(ctx, pairs); err != nil {
			return nil, err
		}
	}
	rows := make([]uint32, len(pairs))
	for i, p := range pairs {
		rows[i] = p.row
	}
	return rows, ctx.Err()
}

// keys reads the rows of a selection with keys that compare as the values do,
// and reports whether they are in order already, as times often are.
func keys(c *table.Column, selected table.Bits) (pairs []keyed, sorted bool) {
	n := c.Len()
	if selected != nil {
		n = selected.Count()
	}
	pairs = make([]keyed, 0, n)
	sorted = true
	add := func(row int) {
		v, ok := sortKey(c, row)
		if !ok {
			return
		}
		if n := len(pairs); n > 0 && pairs[n-1].key > v {
			sorted = false
		}
		pairs = append(pairs, keyed{v, uint32(row)})
	}
	if selected == nil {
		for row := range c.Len() {
			add(row)
		}
		return pairs, sorted
	}
	for row := range selected.All() {
		add(row)
	}
	return pairs, sorted
}

const signBit = 1 << 63

// sortKey maps a value to an unsigned number with the same order.
func sortKey(c *table.Column, row int) (uint64, bool) {
	if !c.Has(row) {
		return 0, false
	}
	switch d := c.Data.(type) {
	case []int32:
		return uint64(int64(d[row])) ^ signBit, true
	case []int64:
		return uint64(d[row]) ^ signBit, true
	case []uint64:
		return d[row], true
	case []float64:
		v := d[row]
		if v == 0 {
			v = 0 // -0 is equal to 0
		}
		b := math.Float64bits(v)
		if b&signBit != 0 {
			return ^b, v == v
		}
		return b | signBit, v == v
	}
	return 0, false
}

// radix sorts by key and keeps the order of equal keys. Digits that all keys
// have in common cost nothing.
func radix(ctx context.Context, from []keyed) ([]keyed, error) {
	const digit = 11
	least, most := uint64(math.MaxUint64), uint64(0)
	for _, p := range from {
		least, most = min(least, p.key), max(most, p.key)
	}
	to := make([]keyed, len(from))
	for shift := 0; shift < bits.Len64(most-least); shift += digit {
		parallel.StandBack(ctx)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var start [1 << digit]int
		for _, p := range from {
			start[(p.key-least)>>shift&(1<<digit-1)]++
		}
		at := 0
		for d, n := range start {
			start[d] = at
			at += n
		}
		for _, p := range from {
			d := (p.key - least) >> shift & (1<<digit - 1)
			to[start[d]] = p
			start[d]++
		}
		from, to = to, from
	}
	return from, nil
}
