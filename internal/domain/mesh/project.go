package mesh

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// Mode says which iterations a field takes.
type Mode string

// The modes. Dumps are rarer than iterations, so Only means since the dump
// before, unless the variant exact is asked for.
const (
	All  Mode = "all"  // the whole run
	UpTo Mode = "upto" // iterations up to and with the dump's
	Only Mode = "only" // since the previous dump
)

// Window is a range of iterations: After < iteration <= To. The zero value
// takes every sample, also those without an iteration.
type Window struct {
	Mode      Mode
	After, To int64
	Exact     bool // only: the iteration To alone
}

// NewWindow makes the window of a mode at an iteration. from overrides the
// iteration of the dump before. Where no dump knows its iteration there is no
// dump before, and only means the iteration itself.
func NewWindow(s *Series, mode Mode, iteration int64, exact bool, from *int64) (Window, error) {
	w := Window{Mode: mode, After: math.MinInt64, To: math.MaxInt64, Exact: exact}
	switch mode {
	case All, "":
		w.Mode = All
	case UpTo:
		w.To = iteration
	case Only:
		w.To = iteration
		w.Exact = exact || from == nil && !s.knowsIterations()
		switch {
		case w.Exact:
			w.After = iteration - 1
		case from != nil:
			w.After = *from
		default:
			if prev, ok := s.Previous(iteration); ok {
				w.After = prev
			}
		}
	default:
		return w, fmt.Errorf("mode %q: want all, upto or only", mode)
	}
	return w, nil
}

// Variant names the form of mode only.
func (w Window) Variant() string {
	switch {
	case w.Mode != Only:
		return ""
	case w.Exact:
		return "exact"
	}
	return "since"
}

// Counts says what became of the selected samples. Selected is the sum of the
// others.
type Counts struct {
	Selected    int `json:"selected"`
	Used        int `json:"used"`
	NoCell      int `json:"no_cell"`
	OutOfRange  int `json:"out_of_range"`
	NoIteration int `json:"no_iteration"`
	NoLevel     int `json:"no_level"`
}

func (c *Counts) add(o Counts) {
	c.Selected += o.Selected
	c.Used += o.Used
	c.NoCell += o.NoCell
	c.OutOfRange += o.OutOfRange
	c.NoIteration += o.NoIteration
	c.NoLevel += o.NoLevel
}

// Aggregate is how the values of a cell's samples become one number.
type Aggregate string

// The aggregates. Dominant is the most frequent value, the smallest of equals.
const (
	Count    Aggregate = "samples"
	Sum      Aggregate = "sum"
	Mean     Aggregate = "avg"
	Min      Aggregate = "min"
	Max      Aggregate = "max"
	Std      Aggregate = "std"
	Median   Aggregate = "median"
	P90      Aggregate = "p90"
	P99      Aggregate = "p99"
	Distinct Aggregate = "distinct"
	Dominant Aggregate = "dominant"
)

var aggregates = []Aggregate{Sum, Mean, Min, Max, Std, Median, P90, P99, Distinct, Dominant}

// FieldSpec names a field: an aggregate of a column.
type FieldSpec struct {
	Column    string // "" for samples
	Aggregate Aggregate
	PerAccess bool // shared out over the recorded accesses to the cell
}

// String is the field's name: samples, latency_avg, cpu_distinct.
func (f FieldSpec) String() string {
	name := string(Count)
	if f.Aggregate != Count {
		name = f.Column + "_" + string(f.Aggregate)
	}
	if f.PerAccess {
		name += perAccess
	}
	return name
}

// ParseField parses a field name. A bare column means its mean, a bare
// aggregate that of the latency.
func ParseField(name string, t *table.Table) (FieldSpec, error) {
	if base, ok := strings.CutSuffix(name, perAccess); ok && t.Column(name) == nil {
		return parsePerAccess(base, t)
	}
	if name == string(Count) || name == "count" {
		return FieldSpec{Aggregate: Count}, nil
	}
	if stem, ok := strings.CutSuffix(name, "mean"); ok && (stem == "" || strings.HasSuffix(stem, "_")) {
		name = stem + string(Mean)
	}
	if slices.Contains(aggregates, Aggregate(name)) && t.Column(samples.Latency) != nil && t.Column(name) == nil {
		return FieldSpec{Column: samples.Latency, Aggregate: Aggregate(name)}, nil
	}
	for _, a := range aggregates {
		if column, ok := strings.CutSuffix(name, "_"+string(a)); ok && t.Column(column) != nil {
			return FieldSpec{Column: column, Aggregate: a}, nil
		}
	}
	if t.Column(name) != nil {
		return FieldSpec{Column: name, Aggregate: Mean}, nil
	}
	return FieldSpec{}, fmt.Errorf("field %q: want samples or COLUMN_AGGREGATE with an aggregate of %s and a column of %s",
		name, joinNames(aggregates), columnNames(t))
}

// parsePerAccess parses what is shared out over accesses; a bare column means its sum.
func parsePerAccess(base string, t *table.Table) (FieldSpec, error) {
	if t.Column(base) != nil {
		base += "_" + string(Sum)
	}
	f, err := ParseField(base, t)
	if err == nil && f.Aggregate != Count && f.Aggregate != Sum {
		err = fmt.Errorf("field %q: samples and sums can be shared out over accesses, as in latency_sum%s; %s is of one sample already", base+perAccess, perAccess, base)
	}
	f.PerAccess = true
	return f, err
}

func joinNames(list []Aggregate) string {
	s := make([]string, len(list))
	for i, a := range list {
		s[i] = string(a)
	}
	return strings.Join(s, ", ")
}

// Field is one number per cell. Cells without samples are NaN, except that
// samples is 0 there.
type Field struct {
	Spec    FieldSpec
	Values  []float64
	Samples []uint32 // nil for a variable of the simulation
	Counts  Counts
	Changed bool // values are changes since another dump
	// NoAccess counts cells with samples that have no value, because no access to them
	// was recorded; of fields per access.
	NoAccess int
}

// Stats returns the smallest, largest and summed value over cells that have
// one, and how many those are. Without any, min and max are NaN.
func (f *Field) Stats() (lo, hi, sum float64, covered int) {
	lo, hi = math.NaN(), math.NaN()
	for i, v := range f.Values {
		if f.Samples == nil && math.IsNaN(v) || f.Samples != nil && f.Samples[i] == 0 {
			continue
		}
		covered++
		if !math.IsNaN(v) {
			lo, hi, sum = minNum(lo, v), maxNum(hi, v), sum+v
		}
	}
	return lo, hi, sum, covered
}

func minNum(a, b float64) float64 {
	if a <= b {
		return a
	}
	return b
}

func maxNum(a, b float64) float64 {
	if a >= b {
		return a
	}
	return b
}

// Projection holds what stays the same between fields of one mesh: the place
// of every row, and its iteration.
type Projection struct {
	Cells     int
	Place     []int32
	Iteration []int32 // nil: the samples have none

	turn   patientLock // what follows is made when the first field is asked for
	sorted *byCell
	column *table.Column // whose values are kept
	values ordered
}

// bytes is about what a projection of so many rows takes when it was used.
func (p *Projection) bytes(rows int) int64 {
	const place, row, value, start = 4, 4, 8, 8
	return int64(rows)*(place+row+value) + int64(p.Cells)*start
}

// ordered is the values of a column in the order of cells.
type ordered struct {
	values []float64 // nil: only samples are counted
	valid  table.Bits
	finite bool // no value is infinite or not a number
}

// byCell is the rows of a projection in the order of their cells. Samples hit
// cells at random; in this order every cell is written once, and by one worker.
type byCell struct {
	rows  []int32 // on a cell; rising within one
	start []int   // of each cell in rows, and the end of the last
	away  []int32 // rows on no cell
}

// byCell sorts the rows by counting, when the first field is asked for.
func (p *Projection) byCell(ctx context.Context) (*byCell, error) {
	if err := p.turn.lock(ctx); err != nil {
		return nil, err
	}
	defer p.turn.unlock()
	if p.sorted != nil {
		return p.sorted, nil
	}
	start := make([]int, p.Cells+1)
	for i := range table.Scan(ctx, nil, len(p.Place)) {
		if c := p.Place[i]; c >= 0 {
			start[c+1]++
		}
	}
	for c := range p.Cells {
		start[c+1] += start[c]
	}
	next, sorted := slices.Clone(start), &byCell{rows: make([]int32, start[p.Cells]), start: start}
	for i := range table.Scan(ctx, nil, len(p.Place)) {
		c := p.Place[i]
		if c < 0 {
			sorted.away = append(sorted.away, int32(i))
			continue
		}
		sorted.rows[next[c]] = int32(i)
		next[c]++
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p.sorted = sorted
	return sorted, nil
}

// inOrder returns the values of a column in the order of cells. The last column
// is kept: one looks at a field under many selections.
func (p *Projection) inOrder(ctx context.Context, o *byCell, col *table.Column) (ordered, error) {
	if err := p.turn.lock(ctx); err != nil {
		return ordered{}, err
	}
	defer p.turn.unlock()
	if p.column == col {
		return p.values, nil
	}
	values := make([]float64, len(o.rows))
	err := inParts(ctx, len(o.rows), func(lo, hi, _ int) {
		for k := lo; k < hi; k++ {
			values[k] = col.Float(int(o.rows[k]))
		}
	})
	if err != nil {
		return ordered{}, err
	}
	odd := func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
	p.column, p.values = col, ordered{values, col.Valid, !slices.ContainsFunc(values, odd)}
	return p.values, nil
}

// Project aggregates one column of the selected samples per cell. Select nil
// takes all rows.
func (p *Projection) Project(ctx context.Context, sel table.Bits, w Window, spec FieldSpec, col *table.Column) (*Field, error) {
	if spec.Aggregate != Count && col == nil {
		return nil, fmt.Errorf("no column %q", spec.Column)
	}
	claim, err := budget.Take(ctx, fmt.Sprintf("a field on %d cells needs", p.Cells), fieldBytes(p.Cells))
	if err != nil {
		return nil, err
	}
	defer claim.Release()
	switch spec.Aggregate {
	case Median, P90, P99, Distinct, Dominant:
		return p.ordered(ctx, sel, w, spec, col)
	}
	return p.running(ctx, sel, w, spec, col)
}

// fieldBytes is what a field takes.
func fieldBytes(cells int) int64 { return 12 * int64(cells) }

// Bytes is what the field takes.
func (f *Field) Bytes() int64 { return fieldBytes(len(f.Values)) }

// during reports whether row i is of the window's time, and counts it.
func (p *Projection) during(i int, w *Window, c *Counts) bool {
	if w.Mode == UpTo || w.Mode == Only {
		if p.Iteration == nil || p.Iteration[i] == Missing {
			c.Selected++
			c.NoIteration++
			return false
		}
		if it := int64(p.Iteration[i]); it <= w.After || it > w.To {
			return false
		}
	}
	c.Selected++
	return true
}

// taken reports whether row i counts, and counts it.
func (p *Projection) taken(i int, w *Window, c *Counts) bool {
	if !p.during(i, w, c) {
		return false
	}
	switch p.Place[i] {
	case NoCell:
		c.NoCell++
	case OutOfRange:
		c.OutOfRange++
	case NoLevel:
		c.NoLevel++
	default:
		c.Used++
		return true
	}
	return false
}

// running computes the aggregates that need no order of values. Workers share
// the cells; each adds up its own.
func (p *Projection) running(ctx context.Context, sel table.Bits, w Window, spec FieldSpec, col *table.Column) (*Field, error) {
	o, f, err := p.begun(ctx, sel, w, spec)
	if err != nil {
		return nil, err
	}
	var values ordered
	if spec.Aggregate != Count {
		if values, err = p.inOrder(ctx, o, col); err != nil {
			return nil, err
		}
	}
	plain := values.finite && values.valid == nil && (w.Mode == All || w.Mode == "") && (spec.Aggregate == Mean || spec.Aggregate == Sum)
	counts := make([]Counts, workerCount(len(o.rows)))
	err = inParts(ctx, len(o.rows), func(lo, hi, k int) {
		from, to := o.cellsBetween(lo, hi)
		if plain && sel != nil {
			addPlain(o, f, &counts[k], sel, values.values, from, to)
		} else {
			p.addUp(o, f, &counts[k], sel, w, values, from, to)
		}
	})
	for _, c := range counts {
		f.Counts.add(c)
	}
	return f, err
}

// addPlain does what addUp does for sums and means over all times of a column
// without gaps, which is what people look at while they select. Whether a row is
// selected cannot be foretold, so it is a factor, not a branch: half the time.
func addPlain(o *byCell, f *Field, counts *Counts, sel table.Bits, values []float64, from, to int) {
	for c := from; c < to; c++ {
		var rows uint64
		sum := 0.0
		for k := o.start[c]; k < o.start[c+1]; k++ {
			i := uint32(o.rows[k])
			bit := sel[i>>6] >> (i & 63) & 1
			rows += bit
			sum += values[k] * float64(bit)
		}
		a := amount{rows: int(rows), valued: int(rows), sum: sum}
		counts.Used += a.rows
		counts.Selected += a.rows
		f.Samples[c], f.Values[c] = a.result(f.Spec.Aggregate)
	}
}

// addUp adds the values on the cells from one up to another. A sample without a
// value in the column is on its cell, but not in its sum. Without values only
// samples are counted.
func (p *Projection) addUp(o *byCell, f *Field, counts *Counts, sel table.Bits, w Window, of ordered, from, to int) {
	values, valid := of.values, of.valid
	timed := w.Mode == UpTo || w.Mode == Only
	least, most, squares := f.Spec.Aggregate == Min, f.Spec.Aggregate == Max, f.Spec.Aggregate == Std
	for c := from; c < to; c++ {
		var a amount
		for k := o.start[c]; k < o.start[c+1]; k++ {
			i := int(o.rows[k])
			if sel != nil && !sel.Get(i) || timed && !p.during(i, &w, counts) {
				continue
			}
			a.rows++
			if values == nil || valid != nil && !valid.Get(i) {
				continue
			}
			v := values[k]
			switch {
			case least || most:
				if a.valued == 0 || least && v < a.sum || most && v > a.sum {
					a.sum = v
				}
			case squares:
				a.square += v * v
				fallthrough
			default:
				a.sum += v
			}
			a.valued++
		}
		counts.Used += a.rows
		if !timed { // otherwise during has counted them
			counts.Selected += a.rows
		}
		f.Samples[c], f.Values[c] = a.result(f.Spec.Aggregate)
	}
}

// amount is what one cell has.
type amount struct {
	rows, valued int
	sum, square  float64 // sum is the extreme of a minimum or maximum
}

// result is the number of samples of a cell and its value; without samples
// there is none.
func (a *amount) result(kind Aggregate) (samples uint32, value float64) {
	if kind == Count {
		return uint32(a.rows), float64(a.rows)
	}
	n := float64(a.valued)
	switch {
	case a.valued == 0:
		return 0, math.NaN()
	case kind == Mean:
		value = a.sum / n
	case kind == Std:
		mean := a.sum / n
		value = math.Sqrt(max(0, a.square/n-mean*mean))
	default:
		value = a.sum
	}
	return uint32(a.valued), value
}

// ordered computes the aggregates that need all values of a cell together. Workers
// share the cells.
func (p *Projection) ordered(ctx context.Context, sel table.Bits, w Window, spec FieldSpec, col *table.Column) (*Field, error) {
	o, f, err := p.begun(ctx, sel, w, spec)
	if err != nil {
		return nil, err
	}
	values, err := p.inOrder(ctx, o, col)
	if err != nil {
		return nil, err
	}
	for c := range f.Values {
		f.Values[c] = math.NaN()
	}
	timed := w.Mode == UpTo || w.Mode == Only
	counts := make([]Counts, workerCount(len(o.rows)))
	err = inParts(ctx, len(o.rows), func(lo, hi, k int) {
		var taken []float64
		for c, to := o.cellsBetween(lo, hi); c < to; c++ {
			taken = taken[:0]
			for at := o.start[c]; at < o.start[c+1]; at++ {
				i := int(o.rows[at])
				if sel != nil && !sel.Get(i) || timed && !p.during(i, &w, &counts[k]) {
					continue
				}
				counts[k].Used++
				if !timed { // otherwise during has counted them
					counts[k].Selected++
				}
				if values.valid == nil || values.valid.Get(i) {
					taken = append(taken, values.values[at])
				}
			}
			f.Samples[c], f.Values[c] = uint32(len(taken)), ofSorted(spec.Aggregate, taken)
		}
	})
	for _, c := range counts {
		f.Counts.add(c)
	}
	return f, err
}

// begun is the rows in the order of cells, and a field in which those on no cell are
// counted.
func (p *Projection) begun(ctx context.Context, sel table.Bits, w Window, spec FieldSpec) (*byCell, *Field, error) {
	o, err := p.byCell(ctx)
	if err != nil {
		return nil, nil, err
	}
	f := &Field{Spec: spec, Values: make([]float64, p.Cells), Samples: make([]uint32, p.Cells)}
	for k := range table.Scan(ctx, nil, len(o.away)) {
		row := o.away[k]
		if sel == nil || sel.Get(int(row)) {
			p.taken(int(row), &w, &f.Counts)
		}
	}
	return o, f, nil
}

// cellsBetween are the cells whose rows begin between two places of the order: parts of
// equally many rows, cut where a cell begins.
func (o *byCell) cellsBetween(lo, hi int) (from, to int) {
	cells := len(o.start) - 1
	from, _ = slices.BinarySearch(o.start[:cells], lo)
	if hi >= len(o.rows) {
		return from, cells
	}
	to, _ = slices.BinarySearch(o.start[:cells], hi)
	return from, to
}

// ofSorted sorts the values of a cell and takes one number from them.
func ofSorted(a Aggregate, v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	slices.Sort(v)
	switch a {
	case Distinct, Dominant:
		distinct, best, bestRun, run := 0, v[0], 0, 0
		for i := range v {
			if i == 0 || v[i] != v[i-1] {
				distinct, run = distinct+1, 0
			}
			if run++; run > bestRun {
				best, bestRun = v[i], run
			}
		}
		if a == Distinct {
			return float64(distinct)
		}
		return best
	}
	return quantile(v, map[Aggregate]float64{Median: 0.5, P90: 0.9, P99: 0.99}[a])
}

// quantile interpolates between the values around a rank, as NumPy does.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// ParseDims parses "20x20x20" or "20,20,20"; a missing axis is 1.
func ParseDims(s string) ([3]int, error) {
	d := [3]int{1, 1, 1}
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == 'x' || r == ',' || r == ' ' })
	if len(parts) < 1 || len(parts) > 3 {
		return d, fmt.Errorf("dimensions %q: want NXxNYxNZ", s)
	}
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 1 || n > 1<<30 {
			return d, fmt.Errorf("dimensions %q: %q is not a number of cells", s, p)
		}
		d[i] = n
	}
	return d, nil
}
