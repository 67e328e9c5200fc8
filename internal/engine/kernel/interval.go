package kernel

import (
	"math"
	"math/bits"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// interval is the values of a number column from one to another, both included,
// as keys that sort like the values (keys.block). It is empty if from > to.
type interval struct{ from, to uint64 }

var nothing = interval{1, 0}

func (i interval) empty() bool { return i.from > i.to }

func (i interval) and(o interval) interval { return interval{max(i.from, o.from), min(i.to, o.to)} }

// comparison is an interval as the language writes it: between two literals,
// which are themselves left out if above or below says so.
type comparison struct {
	lo, hi       query.Value
	above, below bool
}

// comparisonOf returns what a comparison or a range accepts; ok is false for
// what is not one interval.
func comparisonOf(x query.Expr) (c comparison, ok bool) {
	least, most := query.NumberValue(math.Inf(-1)), query.NumberValue(math.Inf(1))
	switch x := x.(type) {
	case query.Range:
		c = comparison{lo: x.Lo, hi: x.Hi}
	case query.Compare:
		switch x.Op {
		case query.Eq:
			c = comparison{lo: x.Value, hi: x.Value}
		case query.Lt, query.Le:
			c = comparison{lo: least, hi: x.Value, below: x.Op == query.Lt}
		case query.Gt, query.Ge:
			c = comparison{lo: x.Value, hi: most, above: x.Op == query.Gt}
		default:
			return c, false
		}
	default:
		return c, false
	}
	// No number is above or below what is not a number: left to the definition.
	return c, c.lo.Number == c.lo.Number && c.hi.Number == c.hi.Number
}

// intervalOf returns the values of a column that an expression accepts, if they
// are one interval.
func intervalOf(c *table.Column, x query.Expr) (interval, bool) {
	k, ok := comparisonOf(x)
	if !ok {
		return nothing, false
	}
	switch c.Data.(type) {
	case []int32:
		return wholeInterval[int32](k, math.MinInt32, math.MaxInt32), true
	case []int64:
		return wholeInterval[int64](k, math.MinInt64, math.MaxInt64), true
	case []uint8:
		return wholeInterval[uint8](k, 0, math.MaxUint8), true
	case []uint64:
		return wholeInterval[uint64](k, 0, math.MaxUint64), true
	case []float64:
		return floatInterval(k), true
	}
	return nothing, false
}

// wholeInterval finds the least and the greatest whole number that a comparison
// accepts once, by the definition of the language.
func wholeInterval[T int32 | int64 | uint8 | uint64](k comparison, least, most T) interval {
	reached := func(v T) bool {
		o := query.OrderNumber(v, k.lo)
		return o > 0 || o == 0 && !k.above
	}
	passed := func(v T) bool {
		o := query.OrderNumber(v, k.hi)
		return o > 0 || o == 0 && k.below
	}
	if !reached(most) || passed(least) {
		return nothing
	}
	from, to := search(least, most, reached), most
	if passed(most) {
		to = search(least, most, passed) - 1
	}
	return interval{wholeKey(from), wholeKey(to)}
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

func floatInterval(k comparison) interval {
	from, to := k.lo.Number, k.hi.Number
	if k.above && math.IsInf(from, 1) || k.below && math.IsInf(to, -1) {
		return nothing
	}
	if k.above {
		from = math.Nextafter(from, math.Inf(1))
	}
	if k.below {
		to = math.Nextafter(to, math.Inf(-1))
	}
	return interval{floatKey(from), floatKey(to)}
}

// wholeKey sorts like the number.
func wholeKey[T int32 | int64 | uint8 | uint64](v T) uint64 {
	if T(0)-1 < 0 {
		return uint64(int64(v)) ^ 1<<63
	}
	return uint64(v)
}

func keyWhole[T int32 | int64 | uint8 | uint64](key uint64) T {
	if T(0)-1 < 0 {
		return T(int64(key ^ 1<<63))
	}
	return T(key)
}

// tester returns a function that adds the rows of a block whose value lies in
// the interval.
func (i interval) tester(c *table.Column) func(lo, hi int, out []uint64) {
	if i.empty() {
		return func(int, int, []uint64) {}
	}
	switch d := c.Data.(type) {
	case []int32:
		return wholeTester(d, i)
	case []int64:
		return wholeTester(d, i)
	case []uint8:
		return wholeTester(d, i)
	case []uint64:
		return wholeTester(d, i)
	}
	d := c.Data.([]float64)
	from, to := keyFloat(i.from), keyFloat(i.to)
	return func(lo, hi int, out []uint64) { within(d[lo:hi], from, to, out) }
}

func wholeTester[T int32 | int64 | uint8 | uint64](d []T, i interval) func(lo, hi int, out []uint64) {
	from, to := keyWhole[T](i.from), keyWhole[T](i.to)
	return func(lo, hi int, out []uint64) { wholeWithin(d[lo:hi], from, to, out) }
}

// checker returns a function that adds those of some rows of a block whose
// value lies in the interval.
func (i interval) checker(c *table.Column) func(lo int, at []uint16, out []uint64) {
	switch d := c.Data.(type) {
	case []int32:
		return wholeChecker(d, i)
	case []int64:
		return wholeChecker(d, i)
	case []uint8:
		return wholeChecker(d, i)
	case []uint64:
		return wholeChecker(d, i)
	}
	d := c.Data.([]float64)
	from, to := keyFloat(i.from), keyFloat(i.to)
	return func(lo int, at []uint16, out []uint64) {
		for _, i := range at {
			if v := d[lo+int(i)]; v >= from && v <= to {
				out[i/64] |= 1 << (i % 64)
			}
		}
	}
}

func wholeChecker[T int32 | int64 | uint8 | uint64](d []T, i interval) func(lo int, at []uint16, out []uint64) {
	from, to := keyWhole[T](i.from), keyWhole[T](i.to)
	span := uint64(to) - uint64(from)
	return func(lo int, at []uint16, out []uint64) {
		for _, i := range at {
			_, borrow := bits.Sub64(span, uint64(d[lo+int(i)])-uint64(from), 0)
			out[i/64] |= (borrow ^ 1) << (i % 64)
		}
	}
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

// mergeIntervals replaces the terms of an intersection that are intervals of
// the same column by one, which takes one scan: a brush is two comparisons.
func (e *Engine) mergeIntervals(terms []query.Expr) (rest []query.Expr, merged []columnInterval) {
	at := map[string]int{}
	for _, t := range terms {
		name, ok := query.ColumnOf(t)
		c := e.data.Table.Column(name)
		if !ok || c == nil || c.Kind == table.Category {
			rest = append(rest, t)
			continue
		}
		i, ok := intervalOf(c, t)
		if !ok {
			rest = append(rest, t)
			continue
		}
		if k, seen := at[name]; seen {
			merged[k].interval = merged[k].and(i)
			merged[k].terms = append(merged[k].terms, t)
			continue
		}
		at[name] = len(merged)
		merged = append(merged, columnInterval{c, i, []query.Expr{t}})
	}
	return rest, merged
}

// columnInterval is an interval of a column, and the terms it stands for.
type columnInterval struct {
	column *table.Column
	interval
	terms []query.Expr
}
