package query

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"github.com/isobath/isobath/internal/data/table"
)

// SelectRows returns the rows an expression selects, by looking at every row. It
// defines what the language means; engines are faster and must agree with it.
func SelectRows(ctx context.Context, d Data, e Expr) (table.Bits, error) {
	n := d.Table.Rows()
	switch e := e.(type) {
	case nil:
		return table.FullBits(n), nil
	case And:
		return combine(ctx, d, e.Terms, table.Bits.And)
	case Or:
		return combine(ctx, d, e.Terms, table.Bits.Or)
	case Not:
		b, err := SelectRows(ctx, d, e.Term)
		if err == nil {
			b.Not(n)
		}
		return b, err
	case At:
		return touching(d, e.Resource)
	case RowSet:
		b, err := d.RowSets.Rows(ctx, e.Name)
		return slices.Clone(b), err
	}
	accept, c, err := predicate(d.Table, e)
	if err != nil {
		return nil, err
	}
	b := table.NewBits(n)
	for i := range n {
		if i%65536 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if accept(c, i) {
			b.Set(i)
		}
	}
	return b, nil
}

func combine(ctx context.Context, d Data, terms []Expr, with func(a, b table.Bits)) (table.Bits, error) {
	var all table.Bits
	for i, t := range terms {
		b, err := SelectRows(ctx, d, t)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			all = b
		} else {
			with(all, b)
		}
	}
	return all, nil
}

func touching(d Data, resource string) (table.Bits, error) {
	if d.Placing == nil {
		return nil, Refuse("at %s: these samples are not placed on a topology; import them with --topology", resource)
	}
	touched, err := d.Placing.Touching(resource)
	if err != nil {
		return nil, Refuse("%v", err)
	}
	b := table.NewBits(d.Table.Rows())
	for i, place := range d.Placing.Row {
		if touched[place] {
			b.Set(i)
		}
	}
	return b, nil
}

// predicate returns the test of a row for an expression over one column.
func predicate(t *table.Table, e Expr) (func(*table.Column, int) bool, *table.Column, error) {
	name, ok := ColumnOf(e)
	if !ok {
		return nil, nil, fmt.Errorf("selection of unknown kind %T", e)
	}
	c := t.Column(name)
	if c == nil {
		return nil, nil, UnknownColumn(t, name)
	}
	if m, ok := e.(Missing); ok {
		return func(c *table.Column, i int) bool { return present(c, i) == m.Not }, c, nil
	}
	return func(c *table.Column, i int) bool { return present(c, i) && Accepts(e, c, i) }, c, nil
}

// present reports whether a row has a value; a NaN is none.
func present(c *table.Column, i int) bool {
	_, ok := Number(c, i)
	return ok
}

func matches(re *regexp.Regexp, c *table.Column, i int) bool { return re.MatchString(c.Text(i)) }

func (e Compare) accepts(c *table.Column, i int) bool {
	o := order(c, i, e.Value)
	switch e.Op {
	case Eq:
		return o == 0
	case Ne:
		return o != 0
	case Lt:
		return o < 0
	case Le:
		return o <= 0
	case Gt:
		return o > 0
	}
	return o >= 0
}

func (e In) accepts(c *table.Column, i int) bool {
	for _, v := range e.Values {
		if order(c, i, v) == 0 {
			return true
		}
	}
	return false
}

// order compares the value of a row with a literal: negative if it is less.
// A category is equal or not, nothing else. Addresses compare as 64-bit
// numbers, because a float64 would make neighbours equal.
func order(c *table.Column, i int, v Value) int {
	switch d := c.Data.(type) {
	case []uint32:
		if c.Dict[d[i]] == v.Text {
			return 0
		}
		return 1
	case []uint64:
		if v.Number == float64(v.Uint) {
			return compare(d[i], v.Uint)
		}
	}
	return compare(c.Float(i), v.Number)
}

func compare[T float64 | uint64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// OrderNumber compares a whole number with a literal as SelectRows does.
func OrderNumber[T int32 | int64 | uint8 | uint64](x T, v Value) int {
	if u, ok := any(x).(uint64); ok && v.Number == float64(v.Uint) {
		return compare(u, v.Uint)
	}
	return compare(float64(x), v.Number)
}

// Accepts reports whether a row with a value satisfies an expression over its
// column.
func Accepts(e Expr, c *table.Column, i int) bool {
	switch e := e.(type) {
	case Compare:
		return e.accepts(c, i)
	case Range:
		return order(c, i, e.Lo) >= 0 && order(c, i, e.Hi) <= 0
	case In:
		return e.accepts(c, i)
	case Match:
		return matches(e.Re, c, i)
	}
	return false
}

// AcceptsName reports whether rows of that name satisfy an expression over
// their column.
func AcceptsName(e Expr, name string) bool {
	one := &table.Column{Kind: table.Category, Dict: []string{name}, Data: []uint32{0}}
	return Accepts(e, one, 0)
}

// ColumnOf returns the column that an expression over one column tests.
func ColumnOf(e Expr) (string, bool) {
	switch e := e.(type) {
	case Compare:
		return e.Column, true
	case Range:
		return e.Column, true
	case In:
		return e.Column, true
	case Match:
		return e.Column, true
	case Missing:
		return e.Column, true
	}
	return "", false
}
