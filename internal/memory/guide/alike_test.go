package guide

import (
	"context"
	"errors"
	"math"
	"slices"
	"sort"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/machine/hw"
)

// sameElsewhere compares the findings with those of a guide whose rows are elsewhere: in
// an engine that answers by a look at every row, as plainly as can be said.
func sameElsewhere(t *testing.T, g *Guide, where query.Expr, found []Insight) {
	t.Helper()
	far := &plainElsewhere{Engine: g.engine, data: g.data}
	columns := make([]*table.Column, len(g.data.Table.Columns()))
	for i, c := range g.data.Table.Columns() {
		about := *c
		about.Valid, about.Spill, about.Summary = nil, nil, nil
		about.Data = far.data.Table.Take(nil).Column(c.Name).Data
		columns[i] = &about
	}
	described, err := table.NewElsewhere(g.data.Table.Name, g.data.Table.Rows(), columns)
	if err != nil {
		t.Fatal(err)
	}
	d := g.data
	d.Table = described
	var places *hw.Rows
	if g.places != nil {
		places = &hw.Rows{Coder: g.places.Coder}
	}
	got, err := New(d, places, far).Insights(context.Background(), where, nil)
	if err != nil {
		t.Fatalf("elsewhere: %v", err)
	}
	if diff := cmp.Diff(found, got, cmpopts.IgnoreUnexported(Insight{}), cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Errorf("findings of rows here (-) and elsewhere (+):\n%s", diff)
	}
}

// plainElsewhere is a query.Distant over rows that are here.
type plainElsewhere struct {
	query.Engine
	data query.Data
}

var errNotAsked = errors.New("insights do not ask for this")

func (e *plainElsewhere) Select(context.Context, query.Expr) (table.Bits, error) {
	return nil, errNotAsked
}

func (e *plainElsewhere) Tally(context.Context, query.Tally) ([]query.TallyRow, error) {
	return nil, errNotAsked
}

func (e *plainElsewhere) Firsts(context.Context, ...string) ([]query.First, error) {
	return nil, errNotAsked
}

func (e *plainElsewhere) InRows(context.Context, query.Expr, []string, func(*table.Table) error) error {
	return errNotAsked
}

func (e *plainElsewhere) Extent(column string) (lo, hi float64, any bool, err error) {
	lo, hi, any = extent(e.data.Table.Column(column), nil)
	return lo, hi, any, nil
}

func (e *plainElsewhere) inOrder(ctx context.Context, axis string, where query.Expr) ([]int, error) {
	selected, err := query.SelectRows(ctx, e.data, where)
	if err != nil {
		return nil, err
	}
	c := e.data.Table.Column(axis)
	var rows []int
	for row := range selected.All() {
		if _, ok := query.Number(c, row); ok {
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b int) int { return query.CompareRows(c, a, b, false) })
	return rows, nil
}

func (e *plainElsewhere) InOrder(ctx context.Context, q query.Ordered, piece func(query.Piece) error) error {
	rows, err := e.inOrder(ctx, q.Axis, q.Where)
	if err != nil {
		return err
	}
	var columns []*table.Column
	for _, name := range append([]string{q.Axis}, q.Columns...) {
		if c := e.data.Table.Column(name); !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
	}
	some, err := table.New("rows", columns)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(rows, 777) {
		p := query.Piece{Table: some.Take(part)}
		for _, row := range part {
			if q.Places {
				p.Places = append(p.Places, e.data.Placing.Row[row])
			}
		}
		if err := piece(p); err != nil {
			return err
		}
	}
	return nil
}

func (e *plainElsewhere) Cut(ctx context.Context, axis string, where query.Expr, positions []int) (*query.Cuts, error) {
	rows, err := e.inOrder(ctx, axis, where)
	if err != nil {
		return nil, err
	}
	out := &query.Cuts{Axis: axis, Tied: make([]bool, len(positions))}
	for _, p := range positions {
		out.Rows = append(out.Rows, rows[p])
	}
	out.Values = e.data.Table.Take(out.Rows).Column(axis)
	return out, nil
}

func (e *plainElsewhere) Condense(ctx context.Context, q query.Condensing) (*query.Condensed, error) {
	selected, err := query.SelectRows(ctx, e.data, q.Where)
	if err != nil {
		return nil, err
	}
	tests := make([]func(row int) bool, len(q.Tests))
	for i := range tests {
		if tests[i], err = e.test(ctx, &q.Tests[i]); err != nil {
			return nil, err
		}
	}
	t, out := e.data.Table, &query.Condensed{}
	known := map[likeness]int{}
	var least, most []int // rows
	for row := range selected.All() {
		key, ok := e.key(&q, row)
		if !ok {
			continue
		}
		holds := make([]byte, len(tests))
		for i, test := range tests {
			if test(row) {
				holds[i] = 1
			}
		}
		key.holds = string(holds)
		k, seen := known[key]
		if !seen {
			k = len(known)
			known[key] = k
			out.First, out.Count, out.Valued = append(out.First, row), append(out.Count, 0), append(out.Valued, 0)
			out.Sum, out.Squares = append(out.Sum, 0), append(out.Squares, 0)
			least, most = append(least, row), append(most, row)
			out.Window, out.Block, out.Octave = append(out.Window, key.window), append(out.Block, key.block), append(out.Octave, key.octave)
			yes := make([]bool, len(holds))
			for i, h := range holds {
				yes[i] = h == 1
			}
			out.Holds = append(out.Holds, yes)
			if q.Places {
				out.Places = append(out.Places, e.data.Placing.Row[row])
			}
		}
		out.Count[k]++
		if q.Sum != "" {
			if v, ok := query.Number(t.Column(q.Sum), row); ok {
				out.Valued[k]++
				out.Sum[k] += v
				out.Squares[k] += v * v
			}
		}
		if q.Extent != "" && t.Column(q.Extent).Has(row) {
			c := t.Column(q.Extent)
			if !c.Has(least[k]) || query.CompareRows(c, row, least[k], false) < 0 {
				least[k] = row
			}
			if !c.Has(most[k]) || query.CompareRows(c, row, most[k], false) > 0 {
				most[k] = row
			}
		}
	}
	if q.Extent != "" {
		out.Least, out.Most = t.Take(least).Column(q.Extent), t.Take(most).Column(q.Extent)
	}
	var columns []*table.Column
	firsts := t.Take(out.First)
	for _, name := range q.Columns {
		columns = append(columns, firsts.Column(name))
	}
	out.Table, err = table.New("groups", columns)
	return out, err
}

// likeness is what rows of a group have in common.
type likeness struct {
	values                       [8]float64 // of the columns; tests have no NaN in them
	has                          [8]bool
	place, window, block, octave int
	holds                        string
}

func (e *plainElsewhere) key(q *query.Condensing, row int) (likeness, bool) {
	t := e.data.Table
	var k likeness
	for i, name := range q.Columns {
		if c := t.Column(name); c.Has(row) {
			k.values[i], k.has[i] = c.Float(row), true
		}
	}
	if q.Lines != nil && !e.on(q.Lines, row) {
		return k, false
	}
	if q.Places {
		k.place = int(e.data.Placing.Row[row])
		if q.Slots != nil {
			k.place = int(q.Slots[k.place])
		}
	}
	if cuts := q.Cuts; cuts != nil {
		c := t.Column(cuts.Axis)
		if !c.Has(row) {
			return k, false
		}
		k.window = sort.Search(len(cuts.Rows), func(i int) bool {
			order := query.CompareRows(c, row, cuts.Rows[i], false)
			return order < 0 || order == 0 && row < cuts.Rows[i]
		})
	}
	if b := q.Blocks; b != nil {
		by, c := t.Column(b.By), t.Column(b.Column)
		code := by.Data.([]uint32)[row]
		if !by.Has(row) || !c.Has(row) || b.Size[code] == 0 {
			return k, false
		}
		k.block = int((int64(c.Float(row)) - b.Lo[code]) / b.Size[code])
	}
	if q.Octave != "" {
		k.octave = -1
		if v, ok := query.Number(t.Column(q.Octave), row); ok {
			k.octave = max(0, math.Ilogb(max(v, 1)))
		}
	}
	return k, true
}

func (e *plainElsewhere) on(l *query.Lines, row int) bool {
	c := e.data.Table.Column(l.Column)
	return c.Has(row) && slices.Contains(l.Of, c.Data.([]uint64)[row]/l.Size)
}

func (e *plainElsewhere) test(ctx context.Context, t *query.Test) (func(row int) bool, error) {
	selected, err := query.SelectRows(ctx, e.data, t.Where)
	if err != nil {
		return nil, err
	}
	of := make([]table.Bits, len(t.Lines))
	for i, l := range t.Lines {
		if of[i], err = query.SelectRows(ctx, e.data, l.Where); err != nil {
			return nil, err
		}
	}
	return func(row int) bool {
		if !selected.Get(row) {
			return false
		}
		for _, s := range t.Slots {
			code := uint32(0)
			if s.By.Places {
				code = e.data.Placing.Row[row]
			} else {
				c := e.data.Table.Column(s.By.Column)
				if !c.Has(row) {
					return false
				}
				code = c.Data.([]uint32)[row]
			}
			if s.Slots[code] != 0 {
				return false
			}
		}
		if t.Lines == nil {
			return true
		}
		for i := range t.Lines {
			if of[i].Get(row) && e.on(&t.Lines[i].Lines, row) {
				return true
			}
		}
		return false
	}, nil
}
