package guide

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// along is the samples of a selection in the order of an axis. They are looked at
// from the first to the last, in stretches, so that those of a run that is kept
// elsewhere need not be here at once.
type along struct {
	n    int
	each func(ctx context.Context, m *measure, visit func(*stretch) error) error
}

// stretch is samples, at least one, that follow each other in the order.
type stretch struct {
	first  int      // position of the first one
	m      *measure // the metric over the rows of the stretch
	rows   []uint32 // of column and m, in order
	column *table.Column
}

// value is the axis value of the k-th sample of the stretch.
func (s *stretch) value(k int) float64 { return s.column.Float(int(s.rows[k])) }

// distant returns the engine if the rows are not here, else nil.
func (g *Guide) distant() query.Distant {
	if !g.data.Table.Elsewhere() {
		return nil
	}
	d, _ := g.engine.(query.Distant)
	return d
}

// along puts a selection in the order of an axis.
func (g *Guide) along(ctx context.Context, axis string, where query.Expr) (*along, error) {
	if d := g.distant(); d != nil {
		return g.alongElsewhere(ctx, d, axis, where)
	}
	o, err := g.order(ctx, axis, where)
	if err != nil {
		return nil, err
	}
	return &along{n: len(o.rows), each: func(_ context.Context, m *measure, visit func(*stretch) error) error {
		if len(o.rows) == 0 {
			return nil
		}
		return visit(&stretch{m: m, rows: o.rows, column: o.column})
	}}, nil
}

func (g *Guide) alongElsewhere(ctx context.Context, d query.Distant, axis string, where query.Expr) (*along, error) {
	if _, err := g.axis(axis); err != nil {
		return nil, err
	}
	answer, err := d.Answer(ctx, &query.Request{Where: query.Both(where, query.Missing{Column: axis, Not: true})})
	if err != nil {
		return nil, err
	}
	n := answer.Counts[query.Selected]
	return &along{n: n, each: func(ctx context.Context, m *measure, visit func(*stretch) error) error {
		var rows []uint32
		s := &stretch{}
		err := d.InOrder(ctx, m.ordered(axis, where), func(p query.Piece) error {
			s.first += len(s.rows)
			for len(rows) < p.Table.Rows() {
				rows = append(rows, uint32(len(rows)))
			}
			s.m, s.rows, s.column = m.over(p), rows[:p.Table.Rows()], p.Table.Column(axis)
			return visit(s)
		})
		if came := s.first + len(s.rows); err == nil && came != n {
			err = fmt.Errorf("%d of %d samples came", came, n)
		}
		return err
	}}, nil
}

// ordered asks for what a metric needs of the samples along an axis.
func (m *measure) ordered(axis string, where query.Expr) query.Ordered {
	q := query.Ordered{Axis: axis, Where: where, Places: m.by.Places}
	if m.by.Column != "" {
		q.Columns = append(q.Columns, m.by.Column)
	}
	if m.cost != nil {
		q.Columns = append(q.Columns, m.cost.Name)
	}
	return q
}

// over is the same metric over rows that came from elsewhere.
func (m *measure) over(p query.Piece) *measure {
	out := *m
	slots := *m.slotting
	out.slotting = &slots
	if m.cost != nil {
		out.cost = p.Table.Column(m.cost.Name)
	}
	switch {
	case m.by.Places:
		slots.code = p.Places
	case m.by.Column != "":
		c := p.Table.Column(m.by.Column)
		slots.valid = c.Valid
		if m.numbers == nil {
			slots.code = c.Data.([]uint32)
			break
		}
		slots.code = make([]uint32, c.Len())
		for i := range slots.code {
			slots.code[i] = m.numbers[c.Float(i)]
		}
	}
	return &out
}

// byDistantNumber is byNumber for a column that is not here: each whole number
// between its ends has a slot.
func byDistantNumber(d query.Distant, c *table.Column) (*slotting, error) {
	lo, hi, any, err := d.Extent(c.Name)
	if err != nil {
		return nil, err
	}
	s := &slotting{by: query.Codes{Column: c.Name}, numbers: map[float64]uint32{}, slot: []uint32{0}}
	if !any {
		return s, nil
	}
	if hi-lo >= mostNumbers || lo != math.Trunc(lo) {
		return nil, fmt.Errorf("column %s goes from %g to %g; it does not name CPUs", c.Name, lo, hi)
	}
	s.count = int(hi-lo) + 1
	s.slot = make([]uint32, s.count)
	for i := range s.slot {
		s.slot[i] = uint32(i)
		s.numbers[lo+float64(i)] = uint32(i)
	}
	return s, nil
}

// equalWidthElsewhere counts windows where the rows are.
func (g *Guide) equalWidthElsewhere(ctx context.Context, d query.Distant, m *measure, o *StripOptions) ([]Window, error) {
	lo, hi, any, err := d.Extent(o.Axis)
	if err != nil || !any && o.Lo == 0 && o.Hi == 0 {
		return nil, err
	}
	edges, err := o.edges(lo, hi)
	if err != nil {
		return nil, err
	}
	step := m.count + 1
	counted := make([]tally, len(edges)*step)
	if rising(edges) && len(counted) <= query.MostTallied {
		err = tallyElsewhere(ctx, d, m, o, edges, counted)
	} else {
		// Edges that are equal are told apart by arithmetic alone, and counts that
		// are nearly as many as rows save nothing.
		err = d.InOrder(ctx, m.ordered(o.Axis, o.Where), func(p query.Piece) error {
			of := &division{edges: edges, of: make([]uint16, p.Table.Rows())}
			of.fill(p.Table.Column(o.Axis), 0, p.Table.Rows())
			here := m.over(p)
			for row, w := range of.of {
				k := int(w)*step + int(here.of(row))
				counted[k].n++
				if m.cost != nil && here.cost.Has(row) {
					counted[k].valued++
					counted[k].sum += here.cost.Float(row)
				}
			}
			return ctx.Err()
		})
	}
	if err != nil {
		return nil, err
	}
	return o.windows(m, edges, counted), nil
}

func rising(edges []float64) bool {
	for i := range edges[1:] {
		if !(edges[i] < edges[i+1]) {
			return false
		}
	}
	return true
}

func tallyElsewhere(ctx context.Context, d query.Distant, m *measure, o *StripOptions, edges []float64, into []tally) error {
	q := query.Tally{Where: o.Where, Axis: o.Axis, Edges: edges, By: m.by}
	if m.numbers == nil && !m.all() {
		q.Slots = m.slot
	}
	if m.cost != nil {
		q.Sum = m.cost.Name
	}
	rows, err := d.Tally(ctx, q)
	if err != nil {
		return err
	}
	for _, r := range rows {
		slot := m.slotOf(&r)
		into[r.Window*(m.count+1)+int(slot)].add(tally{uint32(r.Count), uint32(r.Valued), r.Sum})
	}
	return nil
}

// slotOf is the slot of what was counted elsewhere.
func (s *slotting) slotOf(r *query.TallyRow) uint32 {
	switch {
	case s.all():
		return 0
	case !r.Has:
		return uint32(s.count)
	case s.numbers != nil:
		return s.numbers[r.Value]
	}
	return min(r.Code, uint32(s.count))
}

// ends are the axis values beside some positions of an order.
type ends struct {
	borders       []int // rising
	before, after []float64
}

func newEnds(borders []int) ends {
	return ends{borders, make([]float64, len(borders)), make([]float64, len(borders))}
}

// from is the value of the first sample after a border, to that of the last one
// before it.
func (e *ends) from(border int) float64 { return e.after[e.at(border)] }
func (e *ends) to(border int) float64   { return e.before[e.at(border)] }

func (e *ends) at(border int) int {
	i, _ := slices.BinarySearch(e.borders, border)
	return i
}
