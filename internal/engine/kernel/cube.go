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
	extremes *query.Extremes
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

const (
	// maxCube is the largest table for one counter; larger ones are counted anew
	// with every move.
	maxCube = 128 << 20
	// anyCube is a table that is made however few the rows are. A larger one with
	// as many cells as a quarter of the rows is not: subtracting its cells takes as
	// long as counting.
	anyCube = 1 << 20
	// freeCubes is what all cubes of an engine may take beside as much as the table.
	freeCubes = 16 << 20
)

// keptCube is a column that has, or had, a cube.
type keptCube struct {
	column string
	bytes  int64
}

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
	_, rest := query.SplitBrush(r.Where, drag.Column)
	c := &cube{axis: axis, column: drag.Column, rest: textOf(rest), tables: map[any]*cubeTable{}, lists: map[any]*cellList{}}
	ls, err := e.layers(ctx, l, &query.Request{Filter: r.Filter, Where: query.AllOf(rest)}, &query.Answer{})
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
	size, counters := e.choose(c, p.counters)
	e.makeRoom(l, drag.Column, size)
	claim, err := e.share.Budget().Claim("what is prepared for a drag needs", size)
	if err != nil {
		return errTight
	}
	err = e.fillCube(ctx, l, c, counters, ls)
	claim.Release()
	if err != nil {
		return err
	}
	if !l.Keep(cubeKey{drag.Column}, size, c) {
		return errTight
	}
	e.mu.Lock()
	e.dragged = append(slices.DeleteFunc(e.dragged, func(k keptCube) bool { return k.column == drag.Column }), keptCube{drag.Column, size})
	e.mu.Unlock()
	return nil
}

// cubeRoom is what all cubes of the engine may take: their size depends on what
// is shown, and a small table must not cost as much as a large one.
func (e *Engine) cubeRoom() int64 {
	return freeCubes + 8*int64(e.data.Table.Rows())*int64(len(e.data.Table.Columns()))
}

// makeRoom forgets the cube of a column, and those made longest ago until another
// of so many bytes has room.
func (e *Engine) makeRoom(l *budget.Lease, column string, bytes int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dragged = slices.DeleteFunc(e.dragged, func(k keptCube) bool {
		if k.column == column {
			l.Forget(cubeKey{column})
		}
		return k.column == column
	})
	for _, k := range e.dragged {
		bytes += k.bytes
	}
	for len(e.dragged) > 0 && bytes > e.cubeRoom() {
		bytes -= e.dragged[0].bytes
		l.Forget(cubeKey{e.dragged[0].column})
		e.dragged = e.dragged[1:]
	}
}

func textOf(terms []query.Expr) string {
	if len(terms) == 0 {
		return ""
	}
	return query.AllOf(terms).String()
}

// choose returns the counters that a cube is to answer, and the bytes that takes.
func (e *Engine) choose(c *cube, counters []*counter) (size int64, chosen []*counter) {
	n, room := int64(c.axis.cells)+1, e.cubeRoom()
	for _, x := range counters {
		bytes := n * x.bytes()
		pays := bytes <= anyCube || bytes <= maxCube && 4*x.cells <= e.data.Table.Rows()
		if x.exact() && pays && size+bytes <= room {
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
	runs []query.BinRun
}

// findCube returns a cube that answers the selection of a request, or nil.
func (e *Engine) findCube(l *budget.Lease, r *query.Request) *dragging {
	if r.Hover != nil {
		return nil
	}
	e.mu.Lock()
	cubes := slices.Clone(e.dragged)
	e.mu.Unlock()
	if len(cubes) == 0 {
		return nil
	}
	filter := setKey{}
	if r.Filter != nil {
		filter = e.setKey(r.Filter)
	}
	for _, k := range cubes {
		name := k.column
		c, ok := l.Look(cubeKey{name}).(*cube)
		if !ok || c.filter != filter {
			continue
		}
		brush, rest := query.SplitBrush(r.Where, name)
		if textOf(rest) != c.rest || query.MentionsRows(rest) {
			continue
		}
		if runs, ok := c.extremes.Runs(brush); ok {
			return &dragging{c, runs}
		}
	}
	return nil
}

// count is the rows selected.
func (d *dragging) count() int {
	n := 0
	for _, r := range d.runs {
		n += d.cube.counts[r.To] - d.cube.counts[r.From]
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
		selected.add(t.slice(r.To))
		selected.sub(t.slice(r.From))
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
