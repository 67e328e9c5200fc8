package guide

import (
	"fmt"
	"testing"

	"github.com/isobath/isobath/internal/app/demo"
	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/engine/query"
)

// What a guide remembers is part of the budget, within its bound, and goes back when
// it is closed: orders, windows and trees of a large run are larger than the run.
func TestRememberedIsPartOfTheBudget(t *testing.T) {
	d, err := demo.Open()
	of := opened(t, d, err)
	b := budget.New(1 << 30)
	g := NewWithin(b, of.data, of.places, of.engine)
	rows := of.data.Table.Rows()
	before := b.Used()
	ask := func(i int) {
		t.Helper()
		where, err := query.Parse(fmt.Sprintf("cpu != %d", i), of.data.Table)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Cluster(t.Context(), TreeOptions{Axis: "time", Metric: "latency", Where: where, Window: 4, Slide: 2}); err != nil {
			t.Fatal(err)
		}
		if _, err := g.Strip(t.Context(), StripOptions{Axis: "time", Metric: "latency", Windows: 50 + i, Where: where}); err != nil {
			t.Fatal(err)
		}
	}
	ask(0)
	// At least the order, the windows and the nodes of the tree are there.
	if one := b.Used() - before; one < int64(4*rows+2*rows) {
		t.Errorf("%d bytes are in use for an order and windows of %d rows", one, rows)
	}
	for i := range 20 {
		ask(i)
		if used := b.Used(); used > room(rows) {
			t.Fatalf("%d bytes are in use after %d selections, want at most %d", used, i+1, room(rows))
		}
	}
	g.Close()
	if b.Used() != before {
		t.Errorf("%d bytes are in use after Close", b.Used()-before)
	}
}
