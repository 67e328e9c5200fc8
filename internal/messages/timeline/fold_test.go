package timeline

import (
	"math/rand/v2"
	"testing"
)

// TestFoldKeepsGroups: every row is in one line, in order; no line holds rows of
// two groups unless there are more groups than lines; and never more lines than
// there is room for.
func TestFoldKeepsGroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 500 {
		var rows []Row
		groups := 1 + rng.IntN(40)
		for g := range groups {
			for k := range 1 + rng.IntN(30) {
				rows = append(rows, Row{Rank: int32(g + groups*k), Group: string(rune('A' + g))})
			}
		}
		from := rng.IntN(len(rows))
		w := Window{RowFrom: from, RowTo: from + 1 + rng.IntN(len(rows)-from), Lines: 1 + rng.IntN(60)}
		shown := len(groupSizes(rows[w.RowFrom:w.RowTo]))
		got := lines(rows, &w)
		next := w.RowFrom
		for _, l := range got {
			if l.First != next || l.Count < 1 {
				t.Fatalf("%d lines of rows %d to %d: a line begins at %d, want %d", w.Lines, w.RowFrom, w.RowTo, l.First, next)
			}
			next += l.Count
			if l.Rank != rows[l.First].Rank || l.Last != rows[next-1].Rank {
				t.Fatalf("line of rows %d to %d says ranks %d and %d", l.First, next, l.Rank, l.Last)
			}
			if shown <= w.Lines && rows[l.First].Group != rows[next-1].Group {
				t.Fatalf("rows %d to %d in %d lines: one holds %s and %s", w.RowFrom, w.RowTo, w.Lines, rows[l.First].Group, rows[next-1].Group)
			}
		}
		if next != w.RowTo || len(got) > w.Lines {
			t.Fatalf("%d lines end at row %d, want at most %d and %d", len(got), next, w.Lines, w.RowTo)
		}
	}
}
