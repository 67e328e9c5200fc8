package guide

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"golang.org/x/sync/errgroup"

	"isobath/internal/query"
	"isobath/internal/table"
)

// MinSamples is the number of samples below which a window says little: a
// handful of samples gives extreme values, which would fill a colour scale.
const MinSamples = 50

// MaxWindows bounds the windows of one strip.
const MaxWindows = 4096

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
	// Lo and Hi bound windows of equal width; both 0: the values of the
	// selected samples. Samples outside belong to no window.
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
	if o.Windows < 1 || o.Windows > MaxWindows {
		return nil, fmt.Errorf("%d windows; want 1 to %d", o.Windows, MaxWindows)
	}
	c, err := g.axis(o.Axis)
	if err != nil {
		return nil, err
	}
	m, err := g.prepare(o.Metric, o.Depth)
	if err != nil {
		return nil, err
	}
	s := &Strip{Axis: o.Axis, Metric: m.Name, Depth: m.Depth, Unit: m.Unit}
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
	order, err := g.order(ctx, o.Axis, o.Where)
	if err != nil {
		return nil, err
	}
	n := len(order.rows)
	var windows []Window
	from := 0
	for i := 1; i <= o.Windows && from < n; i++ {
		to := i * n / o.Windows
		for to > from && to < n && order.value(to) == order.value(to-1) {
			to++
		}
		if to <= from {
			continue
		}
		c := newCells(m.count + 1)
		for at := from; at < to; at++ {
			if at%blockRows == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			c.add(m, int(order.rows[at]))
		}
		w := Window{From: order.value(from), To: order.value(to - 1), Closed: true}
		w.fill(m, c)
		windows = append(windows, w)
		from = to
	}
	return windows, nil
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
	selected, err := g.selected(ctx, o.Where)
	if err != nil {
		return nil, err
	}
	lo, hi := o.Lo, o.Hi
	if lo == 0 && hi == 0 {
		var any bool
		if lo, hi, any = extent(c, selected); !any {
			return nil, nil
		}
	}
	if !(lo <= hi) || math.IsInf(hi-lo, 0) {
		return nil, fmt.Errorf("axis %s: %g to %g is not a range that can be divided", o.Axis, lo, hi)
	}
	s := newScan(m, c, selected, lo, hi, o.Windows)
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	windows := make([]Window, o.Windows)
	for i := range windows {
		w := &windows[i]
		w.From, w.To, w.Closed = s.edges[i], s.edges[i+1], i == o.Windows-1
		w.fill(m, s.total.part(i*(m.count+1), m.count+1))
	}
	return windows, nil
}

func (c *cells) part(from, n int) *cells {
	return &cells{n: c.n[from : from+n], valued: c.valued[from : from+n], sum: c.sum[from : from+n]}
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
// buffers of a block stay in the nearest cache.
const blockRows = 4096

// scan counts rows by window and slot in one pass over the columns.
type scan struct {
	*measure
	axis     *table.Column
	selected table.Bits
	edges    []float64
	scale    float64
	total    *cells // window by window, each with count+1 cells, then one to lose rows in
}

func newScan(m *measure, axis *table.Column, selected table.Bits, lo, hi float64, windows int) *scan {
	s := &scan{measure: m, axis: axis, selected: selected, edges: make([]float64, windows+1)}
	for i := range s.edges {
		s.edges[i] = lo + (hi-lo)*(float64(i)/float64(windows))
	}
	s.edges[windows] = hi
	if hi > lo {
		s.scale = float64(windows) / (hi - lo)
	}
	return s
}

func (s *scan) size() int { return (len(s.edges)-1)*(s.count+1) + 1 }

// run counts on all processors, each a part of the rows.
func (s *scan) run(ctx context.Context) error {
	n := s.axis.Len()
	workers := min(runtime.GOMAXPROCS(0), n/blockRows+1)
	parts := make([]*cells, workers)
	group, inner := errgroup.WithContext(ctx)
	for w := range workers {
		// Parts begin at multiples of 64, the rows of a word of a set.
		lo, hi := w*n/workers&^63, (w+1)*n/workers&^63
		if w == workers-1 {
			hi = n
		}
		parts[w] = newCells(s.size())
		group.Go(func() error { return s.count1(inner, parts[w], lo, hi) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	s.total = parts[0]
	for _, p := range parts[1:] {
		for i := range p.n {
			s.total.n[i] += p.n[i]
			s.total.valued[i] += p.valued[i]
			s.total.sum[i] += p.sum[i]
		}
	}
	return ctx.Err()
}

func (s *scan) count1(ctx context.Context, into *cells, lo, hi int) error {
	var at [blockRows]uint32
	for ; lo < hi; lo += blockRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		end := min(lo+blockRows, hi)
		s.count2(into, at[:end-lo], lo)
	}
	return nil
}

// count2 counts one block: first the cell of each row, then the sums.
func (s *scan) count2(into *cells, at []uint32, lo int) {
	s.windows(at, lo)
	lost := uint32(s.size() - 1)
	s.slots(at, lo, lost)
	if s.selected != nil {
		drop(at, s.selected, lo, lost)
	}
	if s.axis.Valid != nil {
		drop(at, s.axis.Valid, lo, lost)
	}
	for _, k := range at {
		into.n[k]++
	}
	if s.cost == nil {
		return
	}
	if s.cost.Valid != nil {
		drop(at, s.cost.Valid, lo, lost)
	}
	switch d := s.cost.Data.(type) {
	case []int32:
		addUp(into, at, d[lo:])
	case []int64:
		addUp(into, at, d[lo:])
	case []float64:
		addUp(into, at, d[lo:])
	}
}

// drop moves rows that are not in a set out of the way.
func drop(at []uint32, keep table.Bits, lo int, lost uint32) {
	for i := range at {
		if keep[(lo+i)>>6]>>((lo+i)&63)&1 == 0 {
			at[i] = lost
		}
	}
}

func addUp[T int32 | int64 | float64](into *cells, at []uint32, values []T) {
	values = values[:len(at)]
	for i, k := range at {
		v := float64(values[i])
		if v == v {
			into.valued[k]++
			into.sum[k] += v
		}
	}
}

// windows finds the window of each row of a block.
func (s *scan) windows(at []uint32, lo int) {
	switch d := s.axis.Data.(type) {
	case []int32:
		windowsOf(s, at, d[lo:])
	case []int64:
		windowsOf(s, at, d[lo:])
	case []uint64:
		windowsOf(s, at, d[lo:])
	case []float64:
		windowsOf(s, at, d[lo:])
	}
}

const noWindow = math.MaxUint32

func windowsOf[T int32 | int64 | uint64 | float64](s *scan, at []uint32, values []T) {
	n := len(s.edges) - 1
	least, most := s.edges[0], s.edges[n]
	values = values[:len(at)]
	for i := range at {
		v := float64(values[i])
		if !(v >= least && v <= most) {
			at[i] = noWindow
			continue
		}
		// Arithmetic finds the window or one beside it; the edges decide.
		w := min(int((v-least)*s.scale), n-1)
		switch {
		case v < s.edges[w]:
			w--
		case w < n-1 && v >= s.edges[w+1]:
			w++
		}
		at[i] = uint32(w)
	}
}

// slots turns windows into cells.
func (s *scan) slots(at []uint32, lo int, lost uint32) {
	step := uint32(s.count + 1)
	if s.code == nil {
		for i, w := range at {
			if at[i] = lost; w != noWindow {
				at[i] = w * step
			}
		}
		return
	}
	codes := s.code[lo : lo+len(at)]
	for i, w := range at {
		if at[i] = lost; w != noWindow {
			k := uint32(s.slot[codes[i]])
			if s.valid != nil && !s.valid.Get(lo+i) {
				k = step - 1
			}
			at[i] = w*step + k
		}
	}
}
