package clickhouse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/clickhouse/clickhousetest"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/engine/query/enginetest"
)

// inOrder is the selected rows that have a value, by value and row.
func inOrder(d query.Data, axis string, selected table.Bits) []int {
	c := d.Table.Column(axis)
	var rows []int
	for i := range selected.All() {
		if _, ok := query.Number(c, i); ok {
			rows = append(rows, i)
		}
	}
	slices.SortStableFunc(rows, func(a, b int) int { return query.CompareRows(c, a, b, false) })
	return rows
}

// TestCondense compares the groups that two shards make with a look at every row.
func TestCondense(t *testing.T) {
	checkCondense(t, dial(t, clickhousetest.Start(t, 2)[0].Address("")))
}

func checkCondense(t *testing.T, s *Server) {
	for _, rows := range []int{0, 3000} {
		d := enginetest.Data(rand.New(rand.NewPCG(17, uint64(rows))), rows)
		e := stored(t, s, fmt.Sprintf("condensed%d", rows), d)
		parse := func(text string) query.Expr {
			x, err := query.Parse(text, d.Table)
			if err != nil {
				t.Fatal(err)
			}
			return x
		}
		slots := make([]uint32, d.Placing.Count)
		for i := range slots {
			slots[i] = uint32(i % 3)
		}
		levels := []uint32{1, 0, 0, 2, 1}
		symbols := len(d.Table.Column("symbol").Dict)
		blocks := &query.Blocks{Column: "line", By: "symbol", Lo: make([]int64, symbols), Size: make([]int64, symbols)}
		for i := range symbols {
			blocks.Lo[i], blocks.Size[i] = int64(i%5-2), int64(i%4)*7
		}
		lines := query.Lines{Column: "addr", Size: 64}
		for i := range min(rows, 50) {
			lines.Of = append(lines.Of, d.Table.Column("addr").Data.([]uint64)[i]/64)
		}
		tests := []query.Test{{Where: parse("cpu < 40")}, {Slots: []query.SlotTest{{By: query.Codes{Places: true}, Slots: slots}, {By: query.Codes{Column: "level"}, Slots: levels}}},
			{Lines: []query.LineTest{{Where: parse("lock = 1"), Lines: lines}}}}
		for len(tests) < testsOfMask+3 {
			tests = append(tests, query.Test{Where: query.Compare{Column: "cpu", Op: query.Gt, Value: query.NumberValue(float64(4 * len(tests)))}})
		}
		for i, q := range []query.Condensing{
			{Sum: "latency"},
			{Columns: []string{"level", "cpu"}, Sum: "latency", Extent: "huge"},
			{Where: parse("latency > 100"), Columns: []string{"lock"}, Places: true, Extent: "addr"},
			{Columns: []string{"level"}, Places: true, Slots: slots, Octave: "latency", Sum: "ratio"},
			{Blocks: blocks, Columns: []string{"symbol"}},
			{Lines: &lines, Columns: []string{"cpu"}, Sum: "wide"},
			{Tests: tests, Sum: "latency"},
			{Where: parse("latency > 1e9"), Columns: []string{"cpu"}, Sum: "latency"},
		} {
			for _, axis := range []string{"", "time", "cpu", "ratio", "same"} {
				t.Run(fmt.Sprintf("%d/%d/%s", rows, i, axis), func(t *testing.T) {
					selected, err := query.SelectRows(t.Context(), d, q.Where)
					if err != nil {
						t.Fatal(err)
					}
					var before []int // position of each row along the axis
					if axis != "" {
						order := inOrder(d, axis, selected)
						if len(order) == 0 {
							return // nothing is selected: there is nothing to cut
						}
						positions := []int{1, len(order) / 3, len(order)/3 + 1, len(order) - 1}
						if q.Cuts, err = e.Cut(t.Context(), axis, q.Where, positions); err != nil {
							t.Fatal(err)
						}
						before = slices.Repeat([]int{-1}, rows)
						for at, row := range order {
							before[row] = 0
							for _, p := range positions {
								if at >= p {
									before[row]++
								}
							}
						}
						for k, p := range positions {
							if q.Cuts.Rows[k] != order[p] || q.Cuts.Values.Text(k) != d.Table.Column(axis).Text(order[p]) {
								t.Fatalf("at position %d row %d with %s, want row %d", p, q.Cuts.Rows[k], q.Cuts.Values.Text(k), order[p])
							}
						}
					}
					checkCondensed(t, e, d, q, selected, before)
				})
			}
		}
	}
}

// likeness is a group as text, by a look at one row.
func likeness(d query.Data, q *query.Condensing, row int, window []int) (key string, in bool) {
	var words []string
	number := func(name string) (float64, bool) { return query.Number(d.Table.Column(name), row) }
	for _, name := range q.Columns {
		word := "none"
		if _, ok := number(name); ok {
			word = d.Table.Column(name).Text(row)
		}
		words = append(words, word)
	}
	on := func(l *query.Lines) bool {
		return slices.Contains(l.Of, d.Table.Column(l.Column).Data.([]uint64)[row]/l.Size)
	}
	if q.Lines != nil && !on(q.Lines) {
		return "", false
	}
	if q.Places && q.Slots == nil {
		words = append(words, fmt.Sprint("place ", d.Placing.Row[row]))
	} else if q.Places {
		words = append(words, fmt.Sprint("slot ", q.Slots[d.Placing.Row[row]]))
	}
	if window != nil {
		if window[row] < 0 {
			return "", false
		}
		words = append(words, fmt.Sprint("window ", window[row]))
	}
	if b := q.Blocks; b != nil {
		code := d.Table.Column(b.By).Data.([]uint32)[row]
		v, ok := number(b.Column)
		if !ok || !d.Table.Column(b.By).Has(row) || b.Size[code] == 0 {
			return "", false
		}
		words = append(words, fmt.Sprint("block ", (int64(v)-b.Lo[code])/b.Size[code]))
	}
	if q.Octave != "" {
		octave := -1
		if v, ok := number(q.Octave); ok {
			octave = max(0, math.Ilogb(max(v, 1)))
		}
		words = append(words, fmt.Sprint("octave ", octave))
	}
	for _, t := range q.Tests {
		words = append(words, fmt.Sprint(holds(d, &t, row, on)))
	}
	return strings.Join(words, ", "), true
}

func holds(d query.Data, t *query.Test, row int, on func(*query.Lines) bool) bool {
	accepts := func(e query.Expr) bool {
		if e == nil {
			return true
		}
		name, _ := query.ColumnOf(e)
		_, ok := query.Number(d.Table.Column(name), row)
		return ok && query.Accepts(e, d.Table.Column(name), row)
	}
	if !accepts(t.Where) {
		return false
	}
	for _, s := range t.Slots {
		code := d.Placing.Row[row]
		if s.By.Column != "" {
			c := d.Table.Column(s.By.Column)
			if !c.Has(row) {
				return false
			}
			code = c.Data.([]uint32)[row]
		}
		if s.Slots[code] != 0 {
			return false
		}
	}
	return t.Lines == nil || slices.ContainsFunc(t.Lines, func(l query.LineTest) bool { return accepts(l.Where) && on(&l.Lines) })
}

func checkCondensed(t *testing.T, e *Engine, d query.Data, q query.Condensing, selected table.Bits, window []int) {
	t.Helper()
	type sum struct {
		first, n, valued int
		sum, squares     float64
		lo, hi           float64
		any              bool
	}
	want := map[string]*sum{}
	var order []string
	for row := range selected.All() {
		key, in := likeness(d, &q, row, window)
		if !in {
			continue
		}
		g := want[key]
		if g == nil {
			g = &sum{first: row, lo: math.Inf(1), hi: math.Inf(-1)}
			want[key] = g
			order = append(order, key)
		}
		g.n++
		if q.Sum != "" {
			if v, ok := query.Number(d.Table.Column(q.Sum), row); ok {
				g.valued++
				g.sum += v
				g.squares += v * v
			}
		}
		if q.Extent != "" {
			if v, ok := query.Number(d.Table.Column(q.Extent), row); ok {
				g.lo, g.hi, g.any = min(g.lo, v), max(g.hi, v), true
			}
		}
	}
	got, err := e.Condense(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Count) != len(order) {
		t.Fatalf("%d groups, want %d", len(got.Count), len(order))
	}
	for i, key := range order {
		w := want[key]
		if got.First[i] != w.first || got.Count[i] != w.n {
			t.Fatalf("group %d of %d rows from %d, want %q of %d from %d", i, got.Count[i], got.First[i], key, w.n, w.first)
		}
		// The first row of a group says what all of it have in common.
		for _, name := range q.Columns {
			if g, c := got.Table.Column(name), d.Table.Column(name); g.Has(i) != c.Has(w.first) || c.Has(w.first) && g.Text(i) != c.Text(w.first) {
				t.Errorf("%q: %s is %q", key, name, g.Text(i))
			}
		}
		if q.Places && (q.Slots == nil && got.Places[i] != d.Placing.Row[w.first] || q.Slots != nil && q.Slots[got.Places[i]] != q.Slots[d.Placing.Row[w.first]]) {
			t.Errorf("%q has place %d", key, got.Places[i])
		}
		for word, of := range map[string][]int{"window": got.Window, "block": got.Block, "octave": got.Octave} {
			if of != nil && !strings.Contains(key, fmt.Sprint(word, " ", of[i])) {
				t.Errorf("%q has %s %d", key, word, of[i])
			}
		}
		if q.Tests != nil {
			var words []string
			for _, h := range got.Holds[i] {
				words = append(words, fmt.Sprint(h))
			}
			if !strings.Contains(key, strings.Join(words, ", ")) {
				t.Errorf("%q has %v", key, words)
			}
		}
		if q.Sum != "" && (got.Valued[i] != w.valued || got.Sum[i] != w.sum || math.Abs(got.Squares[i]-w.squares) > 1e-12*w.squares) {
			t.Errorf("%q: %d with sum %v and squares %v, want %d, %v and %v", key, got.Valued[i], got.Sum[i], got.Squares[i], w.valued, w.sum, w.squares)
		}
		if q.Extent != "" && (got.Least.Has(i) != w.any || w.any && (got.Least.Float(i) != w.lo || got.Most.Float(i) != w.hi)) {
			t.Errorf("%q: from %v to %v, want %v to %v", key, got.Least.Float(i), got.Most.Float(i), w.lo, w.hi)
		}
	}
}
