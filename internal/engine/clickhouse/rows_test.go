package clickhouse

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/clickhouse/clickhousetest"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/engine/query/enginetest"
)

// TestInRows compares rows in pieces with the same rows at once.
func TestInRows(t *testing.T) {
	checkInRows(t, dial(t, clickhousetest.Start(t, 2)[0].Address("")))
}

func checkInRows(t *testing.T, s *Server) {
	d := enginetest.Data(rand.New(rand.NewPCG(3, 4)), 3000)
	e := stored(t, s, "rows", d)
	where, err := query.Parse("cpu < 40", d.Table)
	if err != nil {
		t.Fatal(err)
	}
	selected, err := query.SelectRows(t.Context(), d, where)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range d.Table.Columns() {
		names = append(names, c.Name)
	}
	var want, got strings.Builder
	if err := d.Table.WriteCSVRows(&want, selected); err != nil {
		t.Fatal(err)
	}
	if err := e.InRows(t.Context(), where, names, func(piece *table.Table) error { return piece.WriteCSVRows(&got, nil) }); err != nil {
		t.Fatal(err)
	}
	if got.String() != want.String() || got.Len() == 0 {
		t.Errorf("%d bytes came, want %d", got.Len(), want.Len())
	}
}
