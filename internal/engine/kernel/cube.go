package kernel

import (
	"context"
	"errors"
	"slices"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/engine/query"
)

// cube holds, for each counter, the results of the rows in the first bins of
// one axis: none, the first, the first two, and so on. The result of a range of
// bins is the difference of two of them, whatever the number of rows.
type cube struct {
	axis     *axisCodes
	column   string
	filter   setKey
	rest     string
	extremes *extremes
	counts   []int // rows in the first bins
	all      int   // rows of the filter
	tables   map[any]*cubeTable
	lists    map[any]*cellList
}

type cubeTable struct {
	all    result
	slices result // one result after the other, for 0, 1, 2 … bins
	zero   result // of no rows
	cells  int
}

type cubeKey struct{ column string }

// maxCube is the largest table for one counter; larger ones are counted anew
// with every move.
const maxCube = 128 << 20

// errTight means that the budget has no room for a cube.
var errTight = errors.New("no memory left in the budget to prepare a drag")

// Prepare builds the cube of an axis for the questions and the selection of a
// request.
func (e *Engine) Prepare(ctx context.Context, r *query.Request, drag query.Axis) error {
	l := e.share.Lease()
	defer l.Done()
	p, err := e.plan(ctx, l, r)
	if err != nil {
		return err
	}
	axis, err := e.axis(ctx, l, drag)
	if err != nil {
		return err
	}
	_, rest := split(r.Where, drag.Column)
	c := &cube{axis: axis, column: drag.Column, rest: textOf(rest), tables: map[any]*cubeTable{}, lists: map[any]*cellList{}}
	ls, err := e.layers(ctx, l, &query.Request{Filter: r.Filter, Where: joined(rest)}, &query.Answer{})
	if err != nil {
		return err
	}
	c.filter, c.all = ls.filter, ls.sets[query.All].count
	column, err := e.column(drag.Column)
	if err != nil {
		return err
	}
	if c.extremes, err = findExtremes(ctx, column, axis); err != nil {
		return err
	}
	size, counters := c.choose(p.counters)
	if err := e.fillCube(ctx, l, c, counters, ls); err != nil {
		return err
	}
	if !l.Keep(cubeKey{drag.Column}, size, c) {
		return errTight
	}
	e.mu.Lock()
	if !slices.Contains(e.dragged, drag.Column) {
		e.dragged = append(e.dragged, drag.Column)
	}
	e.mu.Unlock()
	return nil
}

func textOf(terms []query.Expr) string {
	if len(terms) == 0 {
		return ""
	}
	return joined(terms).String()
}

// choose returns the counters that a cube can answer, and the bytes that takes.
func (c *cube) choose(counters []*counter) (size int64, chosen []*counter) {
	n := int64(c.axis.cells) + 1
	for _, x := range counters {
		if bytes := n * x.bytes(); x.exact() && bytes <= maxCube {
			size += bytes
			chosen = append(chosen, x)
		}
	}
	return size, chosen
}

func (e *Engine) fillCube(ctx context.Context, l *budget.Lease, c *cube, counters []*counter, ls *layers) error {
	base, err := e.countAll(ctx, l, counters, ls)
	if err != nil {
		return err
	}
	rows := ls.sets[query.Selected]
	if rows.count == e.data.Table.Rows() {
		rows.bits = nil
	}
	c.counts = make([]int, c.axis.cells+1)
	each := oneCounter(nil, constant())
	tables := make([]*cubeTable, len(counters)+1)
	// Each table is filled by one goroutine: adding up tables of every worker
	// would cost more than counting.
	err = eachBlock(ctx, len(tables), func(_, i int) {
		x := each
		if i < len(counters) {
			x = counters[i]
		}
		tables[i] = fillTable(ctx, x, c.axis.codes, rows, e.data.Table.Rows())
	})
	if err != nil {
		return err
	}
	for i, x := range counters {
		tables[i].all = base[i][query.All]
		c.tables[x.key] = tables[i]
		if x.right != nil {
			list := listCells(tables[i].all.n, x.right.cells)
			list.none = make([]uint32, len(list.cells))
			c.lists[x.key] = list
		}
	}
	for bin, n := range tables[len(counters)].slices.n {
		c.counts[bin] = int(n)
	}
	return nil
}

// fillTable counts the rows of every bin of an axis apart, then adds up.
func fillTable(ctx context.Context, x *counter, axis *codes, set rowSet, rows int) *cubeTable {
	t := &cubeTable{cells: x.cells, zero: x.newResult()}
	all := &counter{values: x.values, cells: x.cells * (axis.cells + 1)}
	t.slices = all.newResult()
	f := filler{cells: x.cells, left: &column{codes: x.left}, axis: &column{codes: axis}, into: t.slices}
	if x.right != nil {
		f.right, f.rightCells = &column{codes: x.right}, x.right.cells
	}
	if x.values != nil {
		f.sums = &sumState{values: x.values}
	}
	room := make([]uint16, blockRows)
	for b := range blocks(rows) {
		if ctx.Err() != nil {
			return t
		}
		lo, hi := bounds(b, rows)
		var p *picks
		if set.bits != nil {
			words := set.bits[lo/64 : (hi+63)/64]
			if p = (&picks{words: words, count: words.Count(), room: room}); p.count == 0 {
				continue
			}
		}
		f.block(lo, hi, p)
	}
	for i := x.cells; i < len(t.slices.n); i++ {
		t.slices.n[i] += t.slices.n[i-x.cells]
	}
	for i := x.cells; i < len(t.slices.totals); i++ {
		t.slices.totals[i].add(&t.slices.totals[i-x.cells])
	}
	return t
}

// filler counts rows into the slices of a cube table.
type filler struct {
	axis, left, right *column
	sums              *sumState
	cells, rightCells int
	into              result
	cell, scratch     []uint32
}

func (f *filler) block(lo, hi int, p *picks) {
	fetch := func(c *column) []uint32 {
		c.loaded, c.chosen = false, false
		return widen(c.rows(lo, hi, p), grow(&f.scratch, hi-lo))
	}
	n := hi - lo
	if p != nil {
		n = p.count
	}
	cell := grow(&f.cell, n)
	for i, x := range fetch(f.axis) {
		cell[i] = (x + 1) * uint32(f.cells)
	}
	scale := uint32(1)
	if f.right != nil {
		scale = uint32(f.rightCells)
		for i, x := range fetch(f.right) {
			cell[i] += x
		}
	}
	for i, x := range fetch(f.left) {
		cell[i] += x * scale
	}
	if f.sums != nil {
		f.sums.loaded, f.sums.chosen = false, false
		sumWide(f.into.totals, cell, f.sums.rows(lo, hi, p))
		return
	}
	countOne(f.into.n, cell)
}

func widen(v view, into []uint32) []uint32 {
	switch {
	case v.u8 != nil:
		return convert(v.u8, into[:len(v.u8)])
	case v.u16 != nil:
		return convert(v.u16, into[:len(v.u16)])
	}
	return v.u32
}

// dragging is a cube and the bins of its axis that a selection takes.
type dragging struct {
	cube *cube
	runs []run
}

// findCube returns a cube that answers the selection of a request, or nil.
func (e *Engine) findCube(l *budget.Lease, r *query.Request) *dragging {
	if r.Hover != nil {
		return nil
	}
	e.mu.Lock()
	columns := slices.Clone(e.dragged)
	e.mu.Unlock()
	if len(columns) == 0 {
		return nil
	}
	filter := setKey{}
	if r.Filter != nil {
		filter = e.setKey(r.Filter)
	}
	for _, name := range columns {
		c, ok := l.Look(cubeKey{name}).(*cube)
		if !ok || c.filter != filter {
			continue
		}
		brush, rest := split(r.Where, name)
		if textOf(rest) != c.rest || mentionsRows(rest) {
			continue
		}
		if runs, ok := c.extremes.runs(brush); ok {
			return &dragging{c, runs}
		}
	}
	return nil
}

// mentionsRows reports whether terms refer to rows that may have been replaced.
func mentionsRows(terms []query.Expr) bool {
	return slices.ContainsFunc(terms, func(e query.Expr) bool {
		switch e := e.(type) {
		case query.RowSet:
			return true
		case query.And:
			return mentionsRows(e.Terms)
		case query.Or:
			return mentionsRows(e.Terms)
		case query.Not:
			return mentionsRows([]query.Expr{e.Term})
		}
		return false
	})
}

// count is the rows selected.
func (d *dragging) count() int {
	n := 0
	for _, r := range d.runs {
		n += d.cube.counts[r.to] - d.cube.counts[r.from]
	}
	return n
}

// result returns the layers of a counter, if the cube has it.
func (d *dragging) result(c *counter) (layered, bool) {
	t := d.cube.tables[c.key]
	if t == nil {
		return layered{}, false
	}
	selected := c.newResult()
	for _, r := range d.runs {
		selected.add(t.slice(r.to))
		selected.sub(t.slice(r.from))
	}
	return layered{t.all, selected, t.zero}, true
}

func (t *cubeTable) slice(bins int) result {
	from, to := bins*t.cells, (bins+1)*t.cells
	if t.slices.totals != nil {
		return result{totals: t.slices.totals[from:to]}
	}
	return result{n: t.slices.n[from:to]}
}

// answerDragged answers a request from a cube alone, if it can.
func (e *Engine) answerDragged(ctx context.Context, p *plan, d *dragging) (*query.Answer, bool, error) {
	r := p.request
	if d == nil || len(r.Stats) > 0 || r.Rows != nil {
		return nil, false, nil
	}
	results := make([]layered, len(p.counters))
	for i, c := range p.counters {
		var ok bool
		if results[i], ok = d.result(c); !ok {
			return nil, false, nil
		}
	}
	p.lists = d.cube.lists
	a := &query.Answer{}
	a.Counts = [query.Layers]int{d.cube.all, d.count(), 0}
	return a, true, p.assemble(ctx, a, results)
}

// countWithout counts by the counters that the cube does not have, and takes
// the others from it.
func (e *Engine) countWithout(ctx context.Context, l *budget.Lease, p *plan, d *dragging, ls *layers) ([]layered, error) {
	if d == nil {
		return e.countLayers(ctx, l, p.counters, ls)
	}
	results := make([]layered, len(p.counters))
	var missing []int
	for i, c := range p.counters {
		var ok bool
		if results[i], ok = d.result(c); !ok {
			missing = append(missing, i)
		}
	}
	counted, err := e.countLayers(ctx, l, pickCounters(p.counters, missing), ls)
	if err != nil {
		return nil, err
	}
	for k, i := range missing {
		results[i] = counted[k]
	}
	return results, nil
}
