package clickhouse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/clickhouse/clickhousetest"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/engine/query/enginetest"
)

// TestDistant compares what two shards say of rows with a look at every row.
func TestDistant(t *testing.T) {
	checkDistant(t, dial(t, clickhousetest.Start(t, 2)[0].Address("")))
}

func checkDistant(t *testing.T, s *Server) {
	for _, rows := range []int{0, 3000} {
		d := enginetest.Data(rand.New(rand.NewPCG(7, uint64(rows))), rows)
		e := stored(t, s, fmt.Sprintf("rows%d", rows), d)
		e.pieceRows = 200
		for _, text := range []string{"", "cpu < 40"} {
			where, err := query.Parse(text, d.Table)
			if err != nil {
				t.Fatal(err)
			}
			selected, err := query.SelectRows(t.Context(), d, where)
			if err != nil {
				t.Fatal(err)
			}
			for _, axis := range []string{"time", "cpu", "latency", "same", "huge", "ratio", "wild", "addr", "void"} {
				t.Run(fmt.Sprintf("%d %s %s", rows, text, axis), func(t *testing.T) {
					checkExtent(t, e, d.Table.Column(axis))
					checkOrder(t, e, d, query.Ordered{Axis: axis, Where: where, Columns: []string{"level", "latency"}, Places: true}, selected)
					for _, by := range []query.Codes{{}, {Places: true}, {Column: "level"}, {Column: "cpu"}} {
						checkTally(t, e, d, query.Tally{Where: where, Axis: axis, By: by, Sum: "latency"}, selected)
					}
				})
			}
		}
		checkFirsts(t, e, d.Table, "level", "cpu")
		checkFirsts(t, e, d.Table, "latency")
	}
}

func checkExtent(t *testing.T, e *Engine, c *table.Column) {
	t.Helper()
	lo, hi, found := math.Inf(1), math.Inf(-1), false
	for i := range c.Len() {
		if v, ok := query.Number(c, i); ok && !math.IsInf(v, 0) {
			lo, hi, found = min(lo, v), max(hi, v), true
		}
	}
	a, b, any, err := e.Extent(c.Name)
	if err != nil || any != found || any && (a != lo || b != hi) {
		t.Errorf("extent %v to %v, %v, %v; want %v to %v, %v", a, b, any, err, lo, hi, found)
	}
}

func checkOrder(t *testing.T, e *Engine, d query.Data, q query.Ordered, selected table.Bits) {
	t.Helper()
	c := d.Table.Column(q.Axis)
	var want []int
	for i := range selected.All() {
		if _, ok := query.Number(c, i); ok {
			want = append(want, i)
		}
	}
	slices.SortStableFunc(want, func(a, b int) int { return query.CompareRows(c, a, b, false) })
	at, pieces := 0, 0
	err := e.InOrder(t.Context(), q, func(p query.Piece) error {
		pieces++
		if p.Table.Rows() == 0 || at+p.Table.Rows() > len(want) {
			return fmt.Errorf("%d rows more than %d of %d", p.Table.Rows(), at, len(want))
		}
		for i := range p.Table.Rows() {
			row := want[at]
			at++
			for _, name := range append(q.Columns, q.Axis) {
				if w, g := d.Table.Column(name), p.Table.Column(name); w.Text(row) != g.Text(i) {
					return fmt.Errorf("row %d at %d: %s is %q, want %q", row, at-1, name, g.Text(i), w.Text(row))
				}
			}
			if p.Places[i] != d.Placing.Row[row] {
				return fmt.Errorf("row %d has place %d, want %d", row, p.Places[i], d.Placing.Row[row])
			}
		}
		return nil
	})
	if err != nil || at != len(want) {
		t.Fatalf("order along %s: %d of %d rows: %v", q.Axis, at, len(want), err)
	}
	if len(want) > 2000 && pieces < 4 {
		t.Errorf("%d rows came in %d pieces", len(want), pieces)
	}
}

func checkTally(t *testing.T, e *Engine, d query.Data, q query.Tally, selected table.Bits) {
	t.Helper()
	lo, hi, any, err := e.Extent(q.Axis)
	if err != nil || !any || !(lo < hi) || math.IsInf(hi-lo, 0) {
		return
	}
	// The first window begins above some values, and the last one ends before some.
	for _, share := range []float64{0.1, 0.2, 0.7, 0.8} {
		q.Edges = append(q.Edges, lo+share*(hi-lo))
	}
	axis, sum := d.Table.Column(q.Axis), d.Table.Column(q.Sum)
	want := map[query.TallyRow]*query.TallyRow{}
	for i := range selected.All() {
		v, ok := query.Number(axis, i)
		if !ok || v < q.Edges[0] || v > q.Edges[3] {
			continue
		}
		key := query.TallyRow{Has: true}
		for key.Window < 2 && v >= q.Edges[key.Window+1] {
			key.Window++
		}
		switch {
		case q.By.Places:
			key.Code = d.Placing.Row[i]
		case q.By.Column != "":
			c := d.Table.Column(q.By.Column)
			if key.Has = c.Has(i); key.Has && c.Kind == table.Category {
				key.Code = c.Data.([]uint32)[i]
			} else if key.Has {
				key.Value = c.Float(i)
			}
		}
		if want[key] == nil {
			want[key] = &query.TallyRow{}
		}
		want[key].Count++
		if v, ok := query.Number(sum, i); ok {
			want[key].Valued++
			want[key].Sum += v
		}
	}
	got, err := e.Tally(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range got {
		key := r
		key.Count, key.Valued, key.Sum = 0, 0, 0
		if w := want[key]; w == nil || w.Count != r.Count || w.Valued != r.Valued || w.Sum != r.Sum {
			t.Fatalf("by %+v along %s: got %+v, want %+v", q.By, q.Axis, r, w)
		}
		delete(want, key)
	}
	if len(want) > 0 {
		t.Fatalf("by %+v along %s: %d counts are missing", q.By, q.Axis, len(want))
	}
	if !q.By.Places {
		return
	}
	q.Slots = make([]uint32, d.Placing.Count)
	total := 0
	for _, r := range got {
		total += r.Count
	}
	got, err = e.Tally(t.Context(), q)
	for _, r := range got {
		total -= r.Count
		if r.Code != 0 {
			t.Errorf("slot %d", r.Code)
		}
	}
	if err != nil || total != 0 || len(got) > 3 {
		t.Errorf("%d windows of one slot, %d rows too few: %v", len(got), total, err)
	}
}

func checkFirsts(t *testing.T, e *Engine, data *table.Table, columns ...string) {
	t.Helper()
	want := map[string]int{}
	for i := range data.Rows() {
		keys := make([]string, len(columns))
		for k, name := range columns {
			if c := data.Column(name); c.Has(i) {
				keys[k] = c.Text(i)
			}
		}
		if _, seen := want[fmt.Sprint(keys)]; !seen {
			want[fmt.Sprint(keys)] = i
		}
	}
	got, err := e.Firsts(t.Context(), columns...)
	if err != nil || len(got) != len(want) {
		t.Fatalf("%v: %d of %d values: %v", columns, len(got), len(want), err)
	}
	for _, f := range got {
		if at, ok := want[fmt.Sprint(f.Keys)]; !ok || at != f.Row {
			t.Errorf("%v are first in row %d, want %d", f.Keys, f.Row, at)
		}
	}
}
