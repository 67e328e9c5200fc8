package guide

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// MinSamples is the number of samples below which a window says little: a
// handful of samples gives extreme values, which would fill a colour scale.
const MinSamples = 50

// maxWindows bounds the windows of one strip.
const maxWindows = 4096

// StripOptions say what to compute along an axis.
type StripOptions struct {
	Axis   string
	Metric string
	Depth  string // empty: CPU
	Where  query.Expr
	// Windows is their number. Windows of equal width are always that many,
	// windows of equal count fewer if many samples have equal values.
	Windows    int
	EqualCount bool
	// Lo and Hi bound windows of equal width; both 0: all values of the
	// column, so that strips of different selections have the same windows.
	// Samples outside belong to no window.
	Lo, Hi float64
}

// Strip is a metric over windows of an axis.
type Strip struct {
	Axis, Metric, Depth, Unit string
	Windows                   []Window
}

// Window is a part of an axis: From <= value < To, and of the last window also
// its To. Windows of equal count hold both their ends.
type Window struct {
	From, To float64
	// Closed says that To belongs to the window.
	Closed  bool
	Samples int
	// Resources is how many slots of the metric have samples: resources of a
	// depth, for metrics that have one.
	Resources int
	Value     float64
	Known     bool // false: no sample to compute a value from
}

// Few reports whether a window has too few samples to be compared.
func (w *Window) Few() bool { return w.Samples < MinSamples }

// Expr is the selection of a window.
func (w *Window) Expr(axis string) query.Expr {
	lo, hi := numberValue(w.From), numberValue(w.To)
	if w.Closed {
		return query.Range{Column: axis, Lo: lo, Hi: hi}
	}
	return query.And{Terms: []query.Expr{
		query.Compare{Column: axis, Op: query.Ge, Value: lo},
		query.Compare{Column: axis, Op: query.Lt, Value: hi},
	}}
}

// Strip computes a metric over windows of an axis.
func (g *Guide) Strip(ctx context.Context, o StripOptions) (*Strip, error) {
	if o.Windows < 1 || o.Windows > maxWindows {
		return nil, fmt.Errorf("%d windows; want 1 to %d", o.Windows, maxWindows)
	}
	c, err := g.axis(o.Axis)
	if err != nil {
		return nil, err
	}
	m, err := g.prepare(o.Metric, o.Depth)
	if err != nil {
		return nil, err
	}
	s := &Strip{Axis: o.Axis, Metric: m.Name, Depth: m.Depth, Unit: m.unit}
	if o.EqualCount {
		s.Windows, err = g.equalCount(ctx, m, &o)
	} else {
		s.Windows, err = g.equalWidth(ctx, m, c, &o)
	}
	return s, err
}

// equalCount divides the sorted samples. Equal values stay together, so that a
// window can be selected by its values.
func (g *Guide) equalCount(ctx context.Context, m *measure, o *StripOptions) ([]Window, error) {
	order, err := g.along(ctx, o.Axis, o.Where)
	if err != nil {
		return nil, err
	}
	var windows []Window
	from, i := 0, 1 // of the window that is being filled
	var w Window
	c, before := newCells(m.count+1), math.NaN()
	end := func() {
		w.To = before
		w.fill(m, c)
		windows = append(windows, w)
		c = newCells(m.count + 1)
	}
	err = order.each(ctx, m, func(s *stretch) error {
		for k, row := range s.rows {
			at, value := s.first+k, s.value(k)
			if at%blockRows == 0 {
				if parallel.StandBack(ctx); ctx.Err() != nil {
					return ctx.Err()
				}
			}
			for i*order.n/o.Windows <= from { // no sample is left for it
				i++
			}
			if at > from && at >= i*order.n/o.Windows && value != before {
				end()
				from, i = at, i+1
			}
			if at == from {
				w = Window{From: value, Closed: true}
			}
			c.add(s.m, int(row))
			before = value
		}
		return nil
	})
	if err == nil && from < order.n {
		end()
	}
	return windows, err
}

// fill sets what is counted; c has one cell more than m has slots.
func (w *Window) fill(m *measure, c *cells) {
	for _, n := range c.n {
		w.Samples += int(n)
	}
	in := c.inside(m.count)
	w.Resources = in.occupiedSlots()
	w.Value, w.Known = m.value(in)
}

func (g *Guide) equalWidth(ctx context.Context, m *measure, c *table.Column, o *StripOptions) ([]Window, error) {
	if d := g.distant(); d != nil {
		return g.equalWidthElsewhere(ctx, d, m, o)
	}
	selected, err := g.selected(ctx, o.Where)
	if err != nil {
		return nil, err
	}
	d, err := g.divide(ctx, c, o)
	if d == nil || err != nil {
		return nil, err
	}
	s := &scan{measure: m, division: d, selected: selected}
	counted, err := s.run(ctx)
	if err != nil {
		return nil, err
	}
	return o.windows(m, d.edges, counted), nil
}

// windows are what was counted between edges: none if nothing selected is there.
func (o *StripOptions) windows(m *measure, edges []float64, counted []tally) []Window {
	if o.Where != nil && !slices.ContainsFunc(counted[:len(counted)-m.count-1], func(t tally) bool { return t.n > 0 }) {
		return nil
	}
	windows := make([]Window, o.Windows)
	for i := range windows {
		w := &windows[i]
		w.From, w.To, w.Closed = edges[i], edges[i+1], i == o.Windows-1
		w.fill(m, cellsOf(counted[i*(m.count+1):(i+1)*(m.count+1)]))
	}
	return windows
}

// edges divide the range asked for, or else that of the values.
func (o *StripOptions) edges(least, most float64) ([]float64, error) {
	lo, hi := o.Lo, o.Hi
	if lo == 0 && hi == 0 {
		lo, hi = least, most
	}
	if !(lo <= hi) || math.IsInf(hi-lo, 0) {
		return nil, fmt.Errorf("axis %s: %g to %g is not a range that can be divided", o.Axis, lo, hi)
	}
	out := make([]float64, o.Windows+1)
	for i := range out {
		out[i] = lo + (hi-lo)*(float64(i)/float64(o.Windows))
	}
	out[o.Windows] = hi
	return out, nil
}

// extent is the least and greatest finite value of the selected rows.
func extent(c *table.Column, selected table.Bits) (lo, hi float64, any bool) {
	switch d := c.Data.(type) {
	case []int32:
		return extentOf(c, d, selected)
	case []int64:
		return extentOf(c, d, selected)
	case []uint64:
		return extentOf(c, d, selected)
	case []float64:
		return extentOf(c, d, selected)
	}
	return 0, 0, false
}

func extentOf[T int32 | int64 | uint64 | float64](c *table.Column, values []T, selected table.Bits) (lo, hi float64, any bool) {
	var least, most T
	for i, v := range values {
		// The cheap test first: most values lie between those seen so far.
		if any && v >= least && v <= most || v != v {
			continue
		}
		if selected != nil && !selected.Get(i) || !c.Has(i) || math.IsInf(float64(v), 0) {
			continue
		}
		if !any || v < least {
			least = v
		}
		if !any || v > most {
			most = v
		}
		any = true
	}
	return float64(least), float64(most), any
}

// blockRows is how many rows are counted between looks at the context; the
// buffers of a block stay in the nearest cache. A multiple of 64, the rows of a
// word of a set.
const blockRows = 4096

// division is the window of every row along an axis. It does not depend on a
// selection, so strips that differ in metric or selection share it.
type division struct {
	edges []float64
	of    []uint16 // the number of windows for rows outside all
}

func (d *division) bytes() int64 { return 2*int64(len(d.of)) + 8*int64(len(d.edges)) }

type divisionKey struct {
	axis    string
	windows int
	lo, hi  float64
}

// divide finds the window of every row, or remembers it; nil if no row has a
// value.
func (g *Guide) divide(ctx context.Context, c *table.Column, o *StripOptions) (*division, error) {
	key := divisionKey{o.Axis, o.Windows, o.Lo, o.Hi}
	if d, ok := lookup[*division](g, key); ok {
		return d, nil
	}
	var lo, hi float64
	if o.Lo == 0 && o.Hi == 0 {
		var any bool
		if lo, hi, any = extent(c, nil); !any {
			return nil, nil
		}
	}
	edges, err := o.edges(lo, hi)
	if err != nil {
		return nil, err
	}
	d := &division{edges: edges, of: make([]uint16, c.Len())}
	err = inParts(ctx, c.Len(), func(_, from, to int) {
		d.fill(c, from, to)
	})
	if err != nil {
		return nil, err
	}
	store(g, key, d)
	return d, nil
}

// inParts divides rows between the processors and calls do with the number of
// the processor and a block of rows at a time.
func inParts(ctx context.Context, rows int, do func(worker, from, to int)) error {
	return parallel.Parts(ctx, rows, parallel.Workers(), func(ctx context.Context, w, from, to int) error {
		for ; from < to && ctx.Err() == nil; from += blockRows {
			parallel.StandBack(ctx)
			do(w, from, min(from+blockRows, to))
		}
		return nil
	})
}

func (d *division) fill(c *table.Column, from, to int) {
	switch v := c.Data.(type) {
	case []int32:
		windowsOf(d.edges, d.of[from:to], v[from:to])
	case []int64:
		windowsOf(d.edges, d.of[from:to], v[from:to])
	case []uint64:
		windowsOf(d.edges, d.of[from:to], v[from:to])
	case []float64:
		windowsOf(d.edges, d.of[from:to], v[from:to])
	}
	if c.Valid != nil {
		keepOnly(d.of[from:to], c.Valid[from/64:], uint16(len(d.edges)-1))
	}
}

func windowsOf[T int32 | int64 | uint64 | float64](edges []float64, of []uint16, values []T) {
	n := len(edges) - 1
	least, most := edges[0], edges[n]
	scale := 0.0
	if most > least {
		scale = float64(n) / (most - least)
	}
	for i, value := range values {
		v := float64(value)
		if !(v >= least && v <= most) {
			of[i] = uint16(n)
			continue
		}
		// Arithmetic finds the window or one beside it; the edges decide.
		w := min(int((v-least)*scale), n-1)
		switch {
		case v < edges[w]:
			w--
		case w < n-1 && v >= edges[w+1]:
			w++
		}
		of[i] = uint16(w)
	}
}

// keepOnly replaces the values of rows that are not in a set, whose first word
// belongs to the first row. It has no branches: selections are seldom long runs.
func keepOnly[T uint16 | uint32](values []T, set table.Bits, other T) {
	for w := 0; w*64 < len(values); w++ {
		word := set[w]
		if word == math.MaxUint64 {
			continue
		}
		part := values[w*64 : min(w*64+64, len(values))]
		for i, v := range part {
			part[i] = other ^ (v^other)&-T(word>>(i&63)&1)
		}
	}
}

// tally is a cell while rows are counted: what belongs to one row lies together.
type tally struct {
	n, valued uint32
	sum       float64
}

func (t *tally) add(more tally) {
	t.n += more.n
	t.valued += more.valued
	t.sum += more.sum
}

func cellsOf(counted []tally) *cells {
	c := newCells(len(counted))
	for i, t := range counted {
		c.n[i], c.valued[i], c.sum[i] = t.n, t.valued, t.sum
	}
	return c
}

// scan counts rows by window and slot in one pass over the columns.
type scan struct {
	*measure
	*division
	selected table.Bits
}

// run counts on all processors. The result has count+1 cells for each window,
// then those of rows in no window.
func (s *scan) run(ctx context.Context) ([]tally, error) {
	size := len(s.edges) * (s.count + 1)
	parts := make([][]tally, runtime.GOMAXPROCS(0))
	cells := make([][]uint32, len(parts))
	for i := range parts {
		parts[i], cells[i] = make([]tally, size), make([]uint32, blockRows)
	}
	err := inParts(ctx, len(s.division.of), func(w, from, to int) { s.block(parts[w], cells[w][:to-from], from) })
	if err != nil {
		return nil, err
	}
	total := parts[0]
	for _, p := range parts[1:] {
		for i, t := range p {
			total[i].add(t)
		}
	}
	return total, nil
}

// block counts the rows of a block: first the cell of each, then the sums.
func (s *scan) block(into []tally, at []uint32, from int) {
	s.cells(at, from)
	outside := uint32((len(s.edges) - 1) * (s.count + 1))
	if s.selected != nil {
		keepOnly(at, s.selected[from/64:], outside)
	}
	for _, k := range at {
		into[k].n++
	}
	if s.cost == nil {
		return
	}
	if s.cost.Valid != nil {
		keepOnly(at, s.cost.Valid[from/64:], outside)
	}
	switch d := s.cost.Data.(type) {
	case []int32:
		addUp(into, at, d[from:])
	case []int64:
		addUp(into, at, d[from:])
	case []float64:
		addUp(into, at, d[from:])
	}
}

func addUp[T int32 | int64 | float64](into []tally, at []uint32, values []T) {
	values = values[:len(at)]
	for i, k := range at {
		v := float64(values[i])
		if v == v {
			t := &into[k]
			t.valued++
			t.sum += v
		}
	}
}

// cells finds the cell of each row by its window and slot.
func (s *scan) cells(at []uint32, from int) {
	step := uint32(s.count + 1)
	windows := s.division.of[from : from+len(at)]
	if s.all() {
		for i, w := range windows {
			at[i] = uint32(w) * step
		}
		return
	}
	codes := s.code[from : from+len(at)]
	for i, w := range windows {
		at[i] = uint32(w)*step + uint32(s.slot[codes[i]])
	}
	if s.valid != nil {
		for i, w := range windows {
			if !s.valid.Get(from + i) {
				at[i] = uint32(w)*step + step - 1
			}
		}
	}
}
