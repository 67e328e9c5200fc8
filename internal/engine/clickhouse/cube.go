package clickhouse

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// cube is the answers to statements for each bin of an axis. What a range of bins
// selects is the sum over them, so a step of a drag asks no server.
type cube struct {
	axis         query.Axis
	bin          string // SQL
	cells        int
	filter, rest string // SQL: the filter, and the selection without the brush
	extremes     *query.Extremes

	mu         sync.Mutex
	statements map[string]*sliced
}

// sliced is a statement that a cube answers.
type sliced struct {
	all     *block // its columns for all rows; those of the brush are to be filled
	brushed []slicedColumn
}

// slicedColumn is one of its columns for the rows of each bin. Whole numbers are
// added up from the first bin on, modulo 2⁶⁴, so that a difference is a range;
// others are kept apart, since differences of rounded sums are none.
type slicedColumn struct {
	at     int
	signed bool
	upTo   []uint64  // (bins + 1) × rows of all
	apart  []float64 // bins × rows of all
}

// mostSliced bounds the numbers of a column of a cube: 128 MB, as the kernel does.
const mostSliced = 16 << 20

// drag is a cube in use: to be filled, or with the bins that a selection takes.
type drag struct {
	cube    *cube
	filling bool
	where   string // SQL, for statements that the cube does not have
	runs    []query.BinRun
}

var _ query.Preparer = (*Engine)(nil)

// Prepare fetches the cube of an axis. What cannot be added up from parts (distinct
// values, quantiles) is asked with every step as before.
func (e *Engine) Prepare(ctx context.Context, r *query.Request, axis query.Axis) error {
	_, rest := query.SplitBrush(r.Where, axis.Column)
	c, err := e.newCube(ctx, r.Filter, rest, axis)
	if err != nil || c == nil {
		return err
	}
	asked := *r
	asked.Where, asked.Hover, asked.Stats, asked.Rows = query.AllOf(rest), nil, nil, nil
	if _, err := e.answer(ctx, &asked, &drag{cube: c, filling: true}); err != nil {
		return err
	}
	e.dragged.Store(c)
	return nil
}

// newCube is a cube without statements; nil for an axis that cannot have one.
func (e *Engine) newCube(ctx context.Context, filter query.Expr, rest []query.Expr, axis query.Axis) (*cube, error) {
	f, err := e.form(axis.Column)
	if err != nil {
		return nil, err
	}
	if f.Type == "float64" || query.MentionsRows(rest) || filter != nil && query.MentionsRows([]query.Expr{filter}) {
		return nil, nil // not every float has a place among the others; named rows may be replaced
	}
	c := &cube{axis: axis, statements: map[string]*sliced{}}
	if c.filter, err = e.condition(ctx, filter); err != nil {
		return nil, err
	}
	if c.rest, err = e.condition(ctx, query.AllOf(rest)); err != nil {
		return nil, err
	}
	binner, err := e.binnerOf(ctx, axis)
	if err != nil {
		return nil, err
	}
	if c.bin, err = e.binSQL(binner); err != nil {
		return nil, err
	}
	c.cells = binner.Binning.Cells()
	return c, e.findExtremes(ctx, c, f, binner)
}

// findExtremes asks for the least and the greatest value of every bin, from which
// follows which bins a brush takes whole.
func (e *Engine) findExtremes(ctx context.Context, c *cube, f *columnForm, binner *query.Binner) error {
	b, err := e.ask(ctx, fmt.Sprintf("SELECT toUInt32(%s) AS slice, minIf(%s, %s), maxIf(%s, %s) FROM %s GROUP BY slice",
		c.bin, f.value(), f.present(), f.value(), f.present(), e.from()))
	if err != nil {
		return err
	}
	x := &query.Extremes{Missing: binner.Binning.Bins, Least: slices.Repeat([]int{-1}, c.cells), Most: slices.Repeat([]int{-1}, c.cells)}
	values := *e.data.Table.Column(f.Name)
	values.Summary, values.Valid = nil, nil
	if b.rows > 0 {
		if values.Data, err = joinedData(b.columns[1].data, b.columns[2].data); err != nil {
			return err
		}
		for i, bin := range texts[uint32](b, 0) {
			if int(bin) >= c.cells {
				return fmt.Errorf("axis %s: a row in bin %d of %d", f.Name, bin, c.cells)
			}
			x.Least[bin], x.Most[bin] = i, b.rows+i
		}
	}
	if _, err := table.New("extremes", []*table.Column{&values}); err != nil {
		return err
	}
	x.Column, c.extremes = &values, x
	return nil
}

func joinedData(a, b any) (any, error) {
	switch a := a.(type) {
	case []uint8:
		return joinedSlices(a, b)
	case []uint16:
		return joinedSlices(a, b)
	case []uint32:
		return joinedSlices(a, b)
	case []uint64:
		return joinedSlices(a, b)
	case []int32:
		return joinedSlices(a, b)
	case []int64:
		return joinedSlices(a, b)
	}
	return nil, fmt.Errorf("the ends of bins are %T", a)
}

func joinedSlices[T any](a []T, other any) (any, error) {
	b, ok := other.([]T)
	if !ok {
		return nil, fmt.Errorf("the ends of bins are %T and %T", a, other)
	}
	return slices.Concat(a, b), nil
}

// dragOf is the cube that answers a request; nil if there is none.
func (e *Engine) dragOf(ctx context.Context, r *query.Request) (*drag, error) {
	c := e.dragged.Load()
	if c == nil || r.Hover != nil || len(r.Stats) > 0 || r.Rows != nil {
		return nil, nil
	}
	brush, rest := query.SplitBrush(r.Where, c.axis.Column)
	if len(brush) == 0 || query.MentionsRows(rest) || r.Filter != nil && query.MentionsRows([]query.Expr{r.Filter}) {
		return nil, nil
	}
	filter, err := e.condition(ctx, r.Filter)
	if err != nil {
		return nil, err
	}
	others, err := e.condition(ctx, query.AllOf(rest))
	if err != nil || filter != c.filter || others != c.rest {
		return nil, err
	}
	runs, whole := c.extremes.Runs(brush)
	if !whole {
		return nil, nil
	}
	where, err := e.condition(ctx, r.Where)
	return &drag{cube: c, where: where, runs: runs}, err
}

// table answers a statement of a drag.
func (d *drag) table(ctx context.Context, e *Engine, columns []string, rest string) (*block, error) {
	key := strings.Join(columns, ", ") + rest
	d.cube.mu.Lock()
	s := d.cube.statements[key]
	d.cube.mu.Unlock()
	if s != nil {
		return s.over(d.runs), nil
	}
	if !d.filling {
		return e.statement(ctx, d.cube.filter, columns, strings.ReplaceAll(strings.Join(columns, ", "), selectedMark, "("+d.where+")"), rest)
	}
	s, err := d.cube.fetch(ctx, e, columns, rest)
	if err != nil {
		return nil, err
	}
	if s == nil { // it is asked with every step
		return e.statement(ctx, d.cube.filter, columns, strings.ReplaceAll(strings.Join(columns, ", "), selectedMark, "0"), rest)
	}
	d.cube.mu.Lock()
	d.cube.statements[key] = s
	d.cube.mu.Unlock()
	return s.over(nil), nil
}

// fetch asks for a statement for all rows, and for those of each bin; nil if it
// cannot be added up from bins, or is too large.
func (c *cube) fetch(ctx context.Context, e *Engine, columns []string, rest string) (*sliced, error) {
	d := divideColumns(columns, rest)
	if d == nil {
		return nil, nil
	}
	keys, selected := pick(columns, d.keys), pick(columns, d.keys, d.whole)
	parts := pick(columns, d.parts)
	for i, column := range parts {
		parts[i] = strings.ReplaceAll(column, selectedMark, "("+c.rest+")")
	}
	ordered := rest
	if rest == byCell {
		ordered += " ORDER BY cell" // a step need not sort them then
	}
	all, err := e.statement(ctx, c.filter, selected, strings.Join(selected, ", "), ordered)
	if err != nil || all.rows*(c.cells+1) > mostSliced {
		return nil, err
	}
	slice := slices.Concat([]string{"toUInt32(" + c.bin + ") AS slice"}, keys, parts)
	by, grouped := strings.CutPrefix(rest, " GROUP BY ")
	if grouped {
		by = " GROUP BY slice, " + by
	} else {
		by = " GROUP BY slice" + rest
	}
	found, err := e.statement(ctx, c.filter, slice, strings.Join(slice, ", "), by)
	if err != nil || found.rows > mostSliced || found.rows > mostGroups && strings.Contains(rest, " LIMIT ") { // which may have cut it
		return nil, err
	}
	s := &sliced{all: &block{rows: all.rows, columns: make([]column, len(columns))}}
	if all.rows == 0 {
		return nil, nil
	}
	for k, i := range slices.Concat(d.keys, d.whole) {
		s.all.columns[i] = all.columns[k]
	}
	rowOf, err := rowsByKey(all, found, 1, len(keys))
	if err != nil || rowOf == nil {
		return nil, err
	}
	for k, i := range d.parts {
		p, err := c.slices(found, rowOf, 1+len(keys)+k, all.rows)
		if err != nil {
			return nil, err
		}
		p.at = i
		s.brushed = append(s.brushed, p)
	}
	return s, nil
}

// slices adds a column of what was counted by bin up.
func (c *cube) slices(found *block, rowOf []int, at, rows int) (slicedColumn, error) {
	p := slicedColumn{}
	if found.rows == 0 {
		p.upTo = make([]uint64, (c.cells+1)*rows)
		return p, nil
	}
	bins := texts[uint32](found, 0)
	for _, bin := range bins {
		if int(bin) >= c.cells {
			return p, fmt.Errorf("axis %s: a row in bin %d of %d", c.axis.Column, bin, c.cells)
		}
	}
	if d, ok := found.columns[at].data.([]float64); ok {
		p.apart = make([]float64, c.cells*rows)
		for i, v := range d {
			p.apart[int(bins[i])*rows+rowOf[i]] += v
		}
		return p, nil
	}
	n := found.columns[at].numbersOf()
	if n == nil {
		return p, fmt.Errorf("a sum is %T", found.columns[at].data)
	}
	_, p.signed = found.columns[at].data.([]int64)
	p.upTo = make([]uint64, (c.cells+1)*rows)
	for i, v := range n {
		p.upTo[(int(bins[i])+1)*rows+rowOf[i]] += v
	}
	for i := rows; i < len(p.upTo); i++ {
		p.upTo[i] += p.upTo[i-rows]
	}
	return p, nil
}

// over is the statement for the rows of those bins.
func (s *sliced) over(runs []query.BinRun) *block {
	b := &block{rows: s.all.rows, columns: slices.Clone(s.all.columns)}
	for _, p := range s.brushed {
		b.columns[p.at] = column{data: p.over(runs, b.rows)}
	}
	return b
}

func (p *slicedColumn) over(runs []query.BinRun, rows int) any {
	if p.apart != nil {
		out := make([]float64, rows)
		for _, r := range runs {
			for i := r.From * rows; i < r.To*rows; i++ {
				out[i%rows] += p.apart[i]
			}
		}
		return out
	}
	out := make([]uint64, rows)
	for _, r := range runs {
		from, to := p.upTo[r.From*rows:], p.upTo[r.To*rows:]
		for i := range out {
			out[i] += to[i] - from[i]
		}
	}
	if !p.signed {
		return out
	}
	signed := make([]int64, rows)
	for i, v := range out {
		signed[i] = int64(v)
	}
	return signed
}
