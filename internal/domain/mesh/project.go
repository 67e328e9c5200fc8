package mesh

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/isobath/isobath/internal/base/parallel"
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
}

// String is the field's name: samples, latency_avg, cpu_distinct.
func (f FieldSpec) String() string {
	if f.Aggregate == Count {
		return string(Count)
	}
	return f.Column + "_" + string(f.Aggregate)
}

// ParseField parses a field name. A bare column means its mean, a bare
// aggregate that of the latency.
func ParseField(name string, t *table.Table) (FieldSpec, error) {
	if name == string(Count) || name == "count" {
		return FieldSpec{Aggregate: Count}, nil
	}
	if stem, ok := strings.CutSuffix(name, "mean"); ok && (stem == "" || strings.HasSuffix(stem, "_")) {
		name = stem + string(Mean)
	}
	if slices.Contains(aggregates, Aggregate(name)) && t.Column(samples.Latency) != nil && t.Column(name) == nil {
		return FieldSpec{samples.Latency, Aggregate(name)}, nil
	}
	for _, a := range aggregates {
		if column, ok := strings.CutSuffix(name, "_"+string(a)); ok && t.Column(column) != nil {
			return FieldSpec{column, a}, nil
		}
	}
	if t.Column(name) != nil {
		return FieldSpec{name, Mean}, nil
	}
	return FieldSpec{}, fmt.Errorf("field %q: want samples or COLUMN_AGGREGATE with an aggregate of %s and a column of %s",
		name, joinNames(aggregates), columnNames(t))
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

	sorting sync.Once
	sorted  byCell

	mu     sync.Mutex
	column *table.Column // whose values are kept
	kept   ordered
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
func (p *Projection) byCell() *byCell {
	p.sorting.Do(func() {
		start := make([]int, p.Cells+1)
		for _, c := range p.Place {
			if c >= 0 {
				start[c+1]++
			}
		}
		for c := range p.Cells {
			start[c+1] += start[c]
		}
		next, rows := slices.Clone(start), make([]int32, start[p.Cells])
		for i, c := range p.Place {
			if c < 0 {
				p.sorted.away = append(p.sorted.away, int32(i))
				continue
			}
			rows[next[c]] = int32(i)
			next[c]++
		}
		p.sorted.rows, p.sorted.start = rows, start
	})
	return &p.sorted
}

// inOrder returns the values of a column in the order of cells. The last column
// is kept: one looks at a field under many selections.
func (p *Projection) inOrder(col *table.Column) ordered {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.column != col {
		rows := p.byCell().rows
		values := make([]float64, len(rows))
		inParts(len(rows), func(lo, hi, _ int) {
			for k := lo; k < hi; k++ {
				values[k] = col.Float(int(rows[k]))
			}
		})
		odd := func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
		p.column, p.kept = col, ordered{values, col.Valid, !slices.ContainsFunc(values, odd)}
	}
	return p.kept
}

// Project aggregates one column of the selected samples per cell. Select nil
// takes all rows.
func (p *Projection) Project(sel table.Bits, w Window, spec FieldSpec, col *table.Column) (*Field, error) {
	if spec.Aggregate != Count && col == nil {
		return nil, fmt.Errorf("no column %q", spec.Column)
	}
	switch spec.Aggregate {
	case Median, P90, P99, Distinct, Dominant:
		return p.ordered(sel, w, spec, col), nil
	}
	return p.running(sel, w, spec, col), nil
}

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

// each calls visit for the taken rows of a range.
func (p *Projection) each(sel table.Bits, w Window, lo, hi int, c *Counts, visit func(row int, cell int32)) {
	for i := lo; i < hi; i++ {
		if sel != nil && !sel.Get(i) {
			if i&63 == 0 && sel[i>>6] == 0 {
				i += 63
			}
			continue
		}
		if p.taken(i, &w, c) {
			visit(i, p.Place[i])
		}
	}
}

// running computes the aggregates that need no order of values. Workers share
// the cells; each adds up its own.
func (p *Projection) running(sel table.Bits, w Window, spec FieldSpec, col *table.Column) *Field {
	o := p.byCell()
	f := &Field{Spec: spec, Values: make([]float64, p.Cells), Samples: make([]uint32, p.Cells)}
	for _, row := range o.away {
		if sel == nil || sel.Get(int(row)) {
			p.taken(int(row), &w, &f.Counts)
		}
	}
	var values ordered
	if spec.Aggregate != Count {
		values = p.inOrder(col)
	}
	plain := values.finite && values.valid == nil && (w.Mode == All || w.Mode == "") && (spec.Aggregate == Mean || spec.Aggregate == Sum)
	counts := make([]Counts, workerCount(len(o.rows)))
	inParts(len(o.rows), func(lo, hi, k int) {
		// Equal numbers of rows, cut where a cell begins.
		from, _ := slices.BinarySearch(o.start[:p.Cells], lo)
		to := p.Cells
		if hi < len(o.rows) {
			to, _ = slices.BinarySearch(o.start[:p.Cells], hi)
		}
		if plain && sel != nil {
			p.addPlain(f, &counts[k], sel, values.values, from, to)
		} else {
			p.addUp(f, &counts[k], sel, w, values, from, to)
		}
	})
	for _, c := range counts {
		f.Counts.add(c)
	}
	return f
}

// addPlain does what addUp does for sums and means over all times of a column
// without gaps, which is what people look at while they select. Whether a row is
// selected cannot be foretold, so it is a factor, not a branch: half the time.
func (p *Projection) addPlain(f *Field, counts *Counts, sel table.Bits, values []float64, from, to int) {
	o := p.byCell()
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
func (p *Projection) addUp(f *Field, counts *Counts, sel table.Bits, w Window, of ordered, from, to int) {
	o := p.byCell()
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

// ordered computes the aggregates that need all values of a cell together:
// rows are sorted by cell by counting.
func (p *Projection) ordered(sel table.Bits, w Window, spec FieldSpec, col *table.Column) *Field {
	f := &Field{Spec: spec, Values: make([]float64, p.Cells), Samples: make([]uint32, p.Cells)}
	has := func(row int) bool { return col.Valid == nil || col.Valid.Get(row) }
	p.each(sel, w, 0, len(p.Place), &f.Counts, func(row int, cell int32) {
		if has(row) {
			f.Samples[cell]++
		}
	})
	start := make([]int, p.Cells+1)
	for c, n := range f.Samples {
		start[c+1] = start[c] + int(n)
	}
	values := make([]float64, start[p.Cells])
	next := slices.Clone(start[:p.Cells])
	var again Counts
	p.each(sel, w, 0, len(p.Place), &again, func(row int, cell int32) {
		if has(row) {
			values[next[cell]] = col.Float(row)
			next[cell]++
		}
	})
	inParts(p.Cells, func(lo, hi, _ int) {
		for c := lo; c < hi; c++ {
			f.Values[c] = ofSorted(spec.Aggregate, values[start[c]:start[c+1]])
		}
	})
	return f
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

// workerCount is how many goroutines share n rows.
func workerCount(n int) int { return max(1, min(parallel.Workers(), 8, n/50_000)) }

// inParts calls work on ranges of n rows, aligned to words of a bitset. A panic
// of one goes on in the caller, whose own owner recovers.
func inParts(n int, work func(lo, hi, worker int)) {
	err := parallel.Parts(context.Background(), n, workerCount(n), func(_ context.Context, w, lo, hi int) error {
		work(lo, hi, w)
		return nil
	})
	if err != nil {
		panic(err)
	}
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
