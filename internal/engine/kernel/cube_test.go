package kernel_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/kernel"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/engine/query/enginetest"
	"github.com/isobath/isobath/internal/engine/query/naive"
)

// A drag over a prepared axis gives the same answers as counting anew, whether
// or not the brush ends at edges, and whatever else the request asks.
func TestDrag(t *testing.T) {
	ctx := context.Background()
	seeds := uint64(30)
	if testing.Short() {
		seeds = 9
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 5))
		d := enginetest.Data(r, 1+r.IntN(3000))
		e := kernel.New(d, kernel.Options{Budget: budget.New(1 << 30)})
		want := naive.New(d)
		q := enginetest.Request(r, d)
		q.Hover = nil
		if seed%3 > 0 {
			q.Stats, q.Rows = nil, nil
		}

		columns := d.Table.Columns()
		axis := query.Axis{Column: columns[r.IntN(len(columns))].Name}
		noRows(q)
		rest := q.Where
		if err := e.Prepare(ctx, q, axis); err != nil {
			t.Fatal(err)
		}
		for range 12 {
			q.Where = query.Both(rest, brush(ctx, t, r, e, d, axis))
			enginetest.Check(t, ctx, d, q, want, e)
		}
		e.Close()
	}
}

// noRows replaces kept rows, which the engines of this test do not have.
func noRows(q *query.Request) {
	plain := query.Compare{Column: "cpu", Op: query.Lt, Value: query.NumberValue(70)}
	if q.Where != nil {
		q.Where = plain
	}
	if q.Filter != nil {
		q.Filter = query.Range{Column: "line", Lo: query.NumberValue(10), Hi: query.NumberValue(250)}
	}
}

func brush(ctx context.Context, t *testing.T, r *rand.Rand, e query.Engine, d query.Data, axis query.Axis) query.Expr {
	a, err := e.Answer(ctx, &query.Request{Axes: []query.Axis{axis}})
	if err != nil {
		t.Fatal(err)
	}
	b := a.Axes[0].Binning
	c := d.Table.Column(axis.Column)
	if c.Kind == table.Category {
		in := query.In{Column: axis.Column}
		for _, name := range b.Labels {
			if r.IntN(2) == 0 {
				in.Values = append(in.Values, query.TextValue(name))
			}
		}
		return in
	}
	edge := func() query.Value {
		v := b.Edges[r.IntN(len(b.Edges))]
		if r.IntN(4) == 0 {
			v += r.Float64()
		}
		return query.NumberValue(v)
	}
	x, y := edge(), edge()
	if x.Number > y.Number {
		x, y = y, x
	}
	switch r.IntN(4) {
	case 0:
		return query.Range{Column: axis.Column, Lo: x, Hi: y}
	case 1:
		return query.Not{Term: query.Range{Column: axis.Column, Lo: x, Hi: y}}
	case 2:
		return query.Or{Terms: []query.Expr{
			query.Missing{Column: axis.Column},
			query.Compare{Column: axis.Column, Op: query.Ge, Value: x},
		}}
	}
	return query.And{Terms: []query.Expr{
		query.Compare{Column: axis.Column, Op: query.Ge, Value: x},
		query.Compare{Column: axis.Column, Op: query.Lt, Value: y},
	}}
}
