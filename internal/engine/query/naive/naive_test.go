package naive_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/engine/query/enginetest"
	"github.com/isobath/isobath/internal/engine/query/naive"
)

// data is small enough to answer by hand.
func data(t *testing.T) query.Data {
	valid := table.FullBits(6)
	valid.Clear(5)
	tab, err := table.New("samples", []*table.Column{
		{Name: "cpu", Data: []int32{0, 0, 1, 1, 2, 2}},
		{Name: "latency", Provenance: table.Measured, Data: []int32{10, 20, 30, 40, 50, 0}, Valid: valid},
		{Name: "level", Kind: table.Category, Data: []uint32{0, 0, 0, 1, 1, 2}, Dict: []string{"L1", "L3", "L2"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return query.Data{Table: tab, Placing: &query.Placing{Row: []uint32{0, 0, 1, 1, 0, 0}, Count: 2}}
}

func ask(t *testing.T, r query.Request) *query.Answer {
	t.Helper()
	a, err := naive.New(data(t)).Answer(context.Background(), &r)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func parse(t *testing.T, s string) query.Expr {
	t.Helper()
	e, err := query.Parse(s, data(t).Table)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestLayers(t *testing.T) {
	a := ask(t, query.Request{
		Filter: parse(t, "cpu < 2"), Where: parse(t, "latency >= 20"), Hover: parse(t, "level = L1"),
		Axes:  []query.Axis{{Column: "cpu"}, {Column: "level", Scale: query.Names}},
		Pairs: []query.Pair{{Left: 0, Right: 1}}, Places: true,
	})
	same(t, "counts", a.Counts, [3]int{4, 3, 2})
	same(t, "hover", a.HoverAll, 3)
	same(t, "cpu", a.Axes[0].Counts, [3][]uint32{{2, 2, 0}, {1, 2, 0}, {1, 1, 0}})
	same(t, "level", a.Axes[1].Counts, [3][]uint32{{3, 0, 1}, {2, 0, 1}, {2, 0, 0}})
	same(t, "pair", a.Pairs[0], query.Density{
		Left: []uint16{0, 1, 1}, Right: []uint16{0, 0, 2},
		Counts: [3][]uint32{{2, 1, 1}, {1, 1, 1}, {1, 1, 0}},
	})
	same(t, "places", a.Places.Counts, [3][]uint64{{2, 2}, {1, 2}, {1, 1}})
	same(t, "latency of places", a.Places.Sums, [3][]float64{{30, 70}, {20, 70}, {20, 30}})
}

func TestNothingSelectedMeansAll(t *testing.T) {
	a := ask(t, query.Request{Axes: []query.Axis{{Column: "latency", Bins: 2, Scale: query.Linear}}})
	same(t, "counts", a.Counts, [3]int{6, 6, 0})
	same(t, "edges", a.Axes[0].Binning.Edges, []float64{10, 30.5, 51})
	same(t, "latency, with a bin for the row without", a.Axes[0].Counts, [3][]uint32{{3, 2, 1}, {3, 2, 1}, {0, 0, 0}})
}

func TestGroups(t *testing.T) {
	a := ask(t, query.Request{
		Where:  parse(t, "cpu != 1"),
		Groups: []query.Group{{By: []string{"level"}, Sum: "latency", Distinct: "cpu"}},
	})
	same(t, "groups", a.Groups[0], query.Groups{Total: 3, Rows: []query.GroupRow{
		{Keys: []string{"L3"}, Counts: [3]int{2, 1}, Sums: [3]float64{90, 50}, Squares: [3]float64{4100, 2500}, Valued: [3]int{2, 1}, Distinct: [3]int{2, 1}},
		{Keys: []string{"L1"}, Counts: [3]int{3, 2}, Sums: [3]float64{60, 30}, Squares: [3]float64{1400, 500}, Valued: [3]int{3, 2}, Distinct: [3]int{2, 1}},
		{Keys: []string{"L2"}, Counts: [3]int{1, 1}, Distinct: [3]int{1, 1}},
	}})
}

func TestStatsAndRows(t *testing.T) {
	a := ask(t, query.Request{
		Stats: []query.Stat{{Column: "latency", Quantiles: []float64{0, 0.2, 0.21, 0.5, 1}}},
		Rows:  &query.Page{Offset: 1, Count: 9, Columns: []string{"latency"}, Sort: "latency", Down: true},
	})
	same(t, "quantiles", a.Stats[0].Quantiles[query.Selected], []float64{10, 10, 20, 30, 50})
	same(t, "sums", a.Stats[0].Sums, [3]float64{150, 150, 0})
	same(t, "rows, the one without a value last", a.Rows.Index, []int{3, 2, 1, 0, 5})
	same(t, "cells", a.Rows.Cells, [][]string{{"40"}, {"30"}, {"20"}, {"10"}, {""}})
}

// The suite itself must work: an engine agrees with itself.
func TestSuite(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	d := enginetest.Data(r, 1000)
	enginetest.Same(t, r, d, naive.New(d), naive.New(d), 20)
}
