package synth

import (
	"context"

	"github.com/isobath/isobath/internal/engine/query"
)

// Selection returns a selection of about permille of the rows, scattered, and a
// hover of half of them; another one for each i.
func Selection(permille, i int) *query.Request {
	b := Bounds(permille, i)
	return &query.Request{
		Axes: Axes, Pairs: Pairs(len(Axes)), Groups: Groups,
		Where: Brush("chance", b[0], b[1]),
		Hover: query.Compare{Column: "x", Op: query.Lt, Value: query.NumberValue(float64(45 + i%10))},
	}
}

// Brush selects from <= column < to, as a brush between two edges does.
func Brush(column string, from, to int) query.Expr {
	at := func(op query.Op, v int) query.Expr {
		return query.Compare{Column: column, Op: op, Value: query.NumberValue(float64(v))}
	}
	return query.And{Terms: []query.Expr{at(query.Ge, from), at(query.Lt, to)}}
}

// Bounds are those of column chance in a Selection; the upper one is not
// included.
func Bounds(permille, i int) [2]int {
	shift := i * 4099 % (10_001 - permille*10)
	return [2]int{shift, shift + permille*10}
}

// Unrelated returns the same questions about other rows.
func Unrelated(i int) *query.Request {
	r := Selection(0, 0)
	r.Where = query.Compare{Column: "weight", Op: query.Lt, Value: query.NumberValue(0.4 + float64(i%100)/1000)}
	r.Hover = nil
	return r
}

// Ask asks an engine and drops the answer.
func Ask(ctx context.Context, e query.Engine, r *query.Request) error {
	_, err := e.Answer(ctx, r)
	return err
}
