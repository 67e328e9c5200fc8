package clickhouse

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/engine/clickhouse/clickhousetest"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/engine/query/enginetest"
)

// TestScreenStatements: a screen is one statement a pair, group and machine, each with a
// key of two bytes at most; of a selection, pairs are counted together, and nothing is
// asked of rows that are not selected.
func TestScreenStatements(t *testing.T) {
	s := dial(t, "clickhouse://"+clickhousetest.Start(t, 1)[0].Host()+"/default")
	d := enginetest.Data(rand.New(rand.NewPCG(31, 32)), 3000)
	e := stored(t, s, "run", d)
	slow, err := query.Parse("latency > 200", d.Table)
	if err != nil {
		t.Fatal(err)
	}
	heard := &overheard{RoundTripper: s.entry.http.Transport}
	s.entry.http.Transport = heard
	ask := func(selected query.Expr) []string {
		heard.statements = nil
		if _, err := e.Answer(t.Context(), screen(selected)); err != nil {
			t.Fatal(err)
		}
		return heard.statements
	}
	ask(nil) // divides the axes
	for _, want := range []struct {
		selected   query.Expr
		statements int
		all        string
	}{{nil, 10, " FROM "}, {slow, 5, " PREWHERE "}} {
		got := ask(want.selected)
		if len(got) != want.statements {
			t.Errorf("%v: %d statements, want %d:\n%s", want.selected, len(got), want.statements, strings.Join(got, "\n"))
		}
		for _, sql := range got {
			if !strings.Contains(sql, want.all) || strings.Contains(sql, "If(") {
				t.Errorf("%v: %s", want.selected, sql)
			}
			key, _, _ := strings.Cut(sql, ", count()")
			key, _, _ = strings.Cut(key, ", sum(")
			if !strings.HasPrefix(key, "SELECT toUInt16(") && !strings.HasPrefix(key, "SELECT arrayJoin([toUInt16(") && key != "SELECT "+placeColumn {
				t.Errorf("%v: a key of more than two bytes: %s", want.selected, sql)
			}
		}
	}
}

// Two bins of an axis share a cell where there are too many cells; the counts of both
// come out of one number.
func TestSharedCells(t *testing.T) {
	p := &pairing{odd: "odd"}
	for _, want := range [][2]uint64{{0, 0}, {1, 0}, {0, 1}, {3, 5}, {half, 0}, {0, half}, {half - 7, 7}} {
		said := want[0] + want[1] + want[1]<<32 // as 1 for each row, and 2³² for each odd one
		if got := [2]uint64{p.count(said, 0), p.count(said, 1)}; got != want {
			t.Errorf("%d: got %v, want %v", said, got, want)
		}
	}
	if got := (&pairing{}).count(9, 0); got != 9 {
		t.Errorf("a cell of one bin: %d", got)
	}
}

func TestRowsInOrder(t *testing.T) {
	for _, bound := range []int{smallKeys, smallKeys + 1} {
		if got := rowsInOrder([]uint64{7, smallKeys - 1, 0, 3}, bound); !slices.Equal(got, []int{2, 3, 0, 1}) {
			t.Errorf("below %d: %v", bound, got)
		}
	}
}
