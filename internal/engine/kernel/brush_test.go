package kernel

import (
	"context"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

func number(v float64) query.Value { return query.NumberValue(v) }

func compare(op query.Op, v float64) query.Expr {
	return query.Compare{Column: "v", Op: op, Value: number(v)}
}

// Ten values in five bins of two, and a row without one.
func dragEngine(t *testing.T) *Engine {
	valid := table.FullBits(11)
	valid.Clear(10)
	tab, err := table.New("samples", []*table.Column{
		{Name: "v", Data: []int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0}, Valid: valid},
		{Name: "w", Data: []int32{1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return New(query.Data{Table: tab}, Options{Budget: budget.New(1 << 24)})
}

func TestWhichBrushesACubeAnswers(t *testing.T) {
	and := func(terms ...query.Expr) query.Expr { return query.And{Terms: terms} }
	w1 := query.Compare{Column: "w", Op: query.Eq, Value: number(1)}
	tests := []struct {
		name  string
		where query.Expr
		want  []query.BinRun
		no    bool
	}{
		{name: "everything", where: w1, want: []query.BinRun{{From: 0, To: 6}}},
		{name: "between edges", where: and(w1, compare(query.Ge, 2), compare(query.Lt, 6)), want: []query.BinRun{{From: 1, To: 3}}},
		{name: "terms in another order", where: and(compare(query.Lt, 6), and(compare(query.Ge, 2), w1)), want: []query.BinRun{{From: 1, To: 3}}},
		{name: "up to the last value of a bin", where: and(w1, query.Range{Column: "v", Lo: number(2), Hi: number(5)}), want: []query.BinRun{{From: 1, To: 3}}},
		{name: "outside", where: and(w1, query.Not{Term: query.Range{Column: "v", Lo: number(2), Hi: number(5)}}), want: []query.BinRun{{From: 0, To: 1}, {From: 3, To: 6}}},
		{name: "no value", where: and(w1, query.Missing{Column: "v"}), want: []query.BinRun{{From: 5, To: 6}}},
		{name: "nothing", where: and(w1, compare(query.Gt, 100)), want: nil},
		{name: "through a bin", where: and(w1, compare(query.Ge, 3)), no: true},
		{name: "another selection", where: compare(query.Ge, 2), no: true},
	}
	e := dragEngine(t)
	defer e.Close()
	axis := query.Axis{Column: "v", Bins: 5}
	r := &query.Request{Where: w1, Axes: []query.Axis{{Column: "w"}}}
	if err := e.Prepare(context.Background(), r, axis); err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := e.share.Lease()
			defer l.Done()
			d := e.findCube(l, &query.Request{Where: tt.where})
			if (d == nil) != tt.no {
				t.Fatalf("cube found: %v, want %v", d != nil, !tt.no)
			}
			if d != nil && !slices.Equal(d.runs, tt.want) {
				t.Errorf("bins %v, want %v", d.runs, tt.want)
			}
		})
	}
	l := e.share.Lease()
	defer l.Done()
	if e.findCube(l, &query.Request{Where: w1, Hover: w1}) != nil {
		t.Error("a cube has no counts of a hover, but was taken for one")
	}
}
