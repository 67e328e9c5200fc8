package mesh

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/base/stat"
	"github.com/isobath/isobath/internal/data/table"
)

// Front says what a column costs while a front, such as a shock, passes through the
// mesh: in dumps before and after the one in which it has reached a cell. Costs are
// compared with those on cells that the front has not reached, between the same two
// dumps, so that a run that becomes slower as a whole is not taken for the work of the
// front.
type Front struct {
	Variable string        `json:"variable"`
	Column   string        `json:"column"`
	Passed   int           `json:"passed"` // cells that the front reaches
	Cells    int           `json:"cells"`  // in all
	Offsets  []FrontOffset `json:"offsets"`
	LeftOut  int           `json:"left_out"` // samples of dumps in which hardly any are on cells without the front
	// Tested are cells with samples enough on both sides; Changed are those of them that
	// cost more or less after the front than before: at most one in twenty by chance.
	Tested  int         `json:"tested"`
	Changed []FrontCell `json:"changed"`
}

// FrontOffset is the mean over the samples on cells that the front has reached so many
// dumps before; less than zero: that it reaches so many later.
type FrontOffset struct {
	Dumps   int      `json:"dumps"`
	Samples uint32   `json:"samples"`
	Mean    *float64 `json:"mean"`
	// Usual is the mean that the same samples would have if they cost what those on cells
	// without the front cost at the same dumps.
	Usual *float64 `json:"usual"`
}

// FrontCell is a cell whose cost the front changes, as excess over what is usual at the
// same dumps.
type FrontCell struct {
	Cell      int     `json:"cell"`
	Iteration int64   `json:"iteration"` // of the dump in which the front has reached it
	Before    float64 `json:"before"`
	After     float64 `json:"after"`
	// SamplesBefore and SamplesAfter are how many the two are of.
	SamplesBefore uint32  `json:"samples_before"`
	SamplesAfter  uint32  `json:"samples_after"`
	P             float64 `json:"p"` // adjusted for the number of cells (Benjamini, Hochberg)
}

const (
	frontPart    = 0.5  // of a cell's range that the jump between two dumps must have
	frontLeast   = 0.05 // of the range in which nine tenths of all cells lie that the cell's must have
	frontSamples = 5    // that a cell needs on each side
	frontUsual   = 20   // samples that say what is usual at a dump
	falseCells   = 0.05 // share of changed cells that may be so by chance
)

// Front finds in which dump a variable jumps in each cell, and how the mean of a column
// changes with it.
func (v *View) Front(ctx context.Context, sel table.Bits, spec FieldSpec, variable string) (*Front, error) {
	if spec.Aggregate != Mean || v.Table.Column(spec.Column) == nil {
		return nil, fmt.Errorf("%s: a front is followed by an average, such as latency_avg", spec)
	}
	arrival, passed, err := v.arrivals(ctx, variable)
	if err != nil {
		return nil, err
	}
	claim, err := budget.Take(ctx, fmt.Sprintf("%d samples at a front need", v.samples.Rows), 24*int64(v.samples.Rows)+48*int64(len(arrival)))
	if err != nil {
		return nil, err
	}
	defer claim.Release()
	out := &Front{Variable: variable, Column: spec.Column, Passed: passed, Cells: len(arrival), Offsets: []FrontOffset{}, Changed: []FrontCell{}}
	excess, err := v.excess(ctx, out, arrival, sel)
	if err != nil {
		return nil, err
	}
	if err := v.offsets(ctx, out, arrival, sel, excess); err != nil {
		return nil, err
	}
	return out, v.changed(ctx, out, arrival, sel, excess)
}

// arrivals finds for each cell the dump in which a variable has jumped, -1 for none.
func (v *View) arrivals(ctx context.Context, variable string) (arrival []int32, passed int, err error) {
	var last, low, high, jump, spread []float64
	for k := range v.Series.Steps {
		p, err := v.At(ctx, k)
		if err != nil {
			return nil, 0, err
		}
		values, err := v.Variable(ctx, p, variable)
		if err != nil {
			return nil, 0, err
		}
		if k == 0 {
			arrival, jump = make([]int32, len(values)), make([]float64, len(values))
			low, high = slices.Clone(values), slices.Clone(values)
			last = values
		}
		same, err := v.Series.SameCells(ctx, 0, k)
		if err != nil {
			return nil, 0, err
		}
		if !same {
			return nil, 0, fmt.Errorf("dump %d has other cells than the first; a front is followed where cells stay the same", k)
		}
		for c, x := range values {
			if d := math.Abs(x - last[c]); d > jump[c] {
				jump[c], arrival[c] = d, int32(k)
			}
			low[c], high[c] = minNum(x, low[c]), maxNum(x, high[c])
		}
		last, spread = values, append(spread, (&Field{Values: values}).Spread()...)
	}
	if len(spread) == 0 {
		return nil, 0, fmt.Errorf("%s has no values", variable)
	}
	slices.Sort(spread)
	usual := quantile(spread, 0.95) - quantile(spread, 0.05)
	for c := range arrival {
		span := high[c] - low[c]
		if !(span > frontLeast*usual) || jump[c] < frontPart*span {
			arrival[c] = -1
			continue
		}
		passed++
	}
	return arrival, passed, ctx.Err()
}

// excess is each sample's value above the mean of the samples of its dump that are on
// cells which the front has not reached; nothing for samples of dumps with hardly any.
func (v *View) excess(ctx context.Context, out *Front, arrival []int32, sel table.Bits) (*table.Column, error) {
	usual, err := v.placeBy(ctx, func(d *Placed) (func(int32) int32, error) {
		return func(cell int32) int32 {
			if a := arrival[cell]; a >= 0 && a <= int32(d.Step) {
				return NoCell
			}
			return int32(d.Step)
		}, nil
	})
	if err != nil {
		return nil, err
	}
	usual.Cells = len(v.Series.Steps)
	col := v.Table.Column(out.Column)
	mean, err := usual.Project(ctx, sel, Window{}, FieldSpec{Column: out.Column, Aggregate: Mean}, col)
	if err != nil {
		return nil, err
	}
	step, err := v.stepOfRows(ctx)
	if err != nil {
		return nil, err
	}
	data, valid := make([]float64, len(step)), table.NewBits(len(step))
	for i := range table.Scan(ctx, sel, len(step)) {
		switch {
		case step[i] < 0 || !col.Has(i):
		case mean.Samples[step[i]] < frontUsual:
			out.LeftOut++
		default:
			data[i] = col.Float(i) - mean.Values[step[i]]
			valid.Set(i)
		}
	}
	return &table.Column{Name: out.Column, Data: data, Valid: valid, Provenance: table.Derived}, ctx.Err()
}

func (v *View) offsets(ctx context.Context, out *Front, arrival []int32, sel table.Bits, excess *table.Column) error {
	n := int32(len(v.Series.Steps))
	p, err := v.placeBy(ctx, func(d *Placed) (func(int32) int32, error) {
		return func(cell int32) int32 {
			if arrival[cell] < 0 {
				return NoCell
			}
			return int32(d.Step) - arrival[cell] + n
		}, nil
	})
	if err != nil {
		return err
	}
	mean := FieldSpec{Column: out.Column, Aggregate: Mean}
	compared := *v.Table.Column(out.Column) // of the samples that are compared
	compared.Valid = excess.Valid
	values, err := p.Project(ctx, sel, Window{}, mean, &compared)
	if err != nil {
		return err
	}
	above, err := p.Project(ctx, sel, Window{}, mean, excess)
	if err != nil {
		return err
	}
	for k := range values.Values {
		if values.Samples[k] > 0 {
			m, usual := values.Values[k], values.Values[k]-above.Values[k]
			out.Offsets = append(out.Offsets, FrontOffset{Dumps: k - int(n), Samples: values.Samples[k], Mean: &m, Usual: &usual})
		}
	}
	return nil
}

// changed tests each cell by Welch's test: the samples before the front against those
// from then on.
func (v *View) changed(ctx context.Context, out *Front, arrival []int32, sel table.Bits, excess *table.Column) error {
	p, err := v.placeBy(ctx, func(d *Placed) (func(int32) int32, error) {
		return func(cell int32) int32 {
			switch {
			case arrival[cell] < 0:
				return NoCell
			case int32(d.Step) < arrival[cell]:
				return 2 * cell
			}
			return 2*cell + 1
		}, nil
	})
	if err != nil {
		return err
	}
	p.Cells = 2 * len(arrival)
	mean, err := p.Project(ctx, sel, Window{}, FieldSpec{Column: out.Column, Aggregate: Mean}, excess)
	if err != nil {
		return err
	}
	deviation, err := p.Project(ctx, sel, Window{}, FieldSpec{Column: out.Column, Aggregate: Std}, excess)
	if err != nil {
		return err
	}
	var cells []FrontCell
	var chance []float64
	for c := range arrival {
		n := [2]float64{float64(mean.Samples[2*c]), float64(mean.Samples[2*c+1])}
		if min(n[0], n[1]) < frontSamples {
			continue
		}
		f := FrontCell{Cell: c, Iteration: v.Series.Steps[arrival[c]].Iteration, Before: mean.Values[2*c], After: mean.Values[2*c+1],
			SamplesBefore: mean.Samples[2*c], SamplesAfter: mean.Samples[2*c+1]}
		cells = append(cells, f)
		chance = append(chance, welch(f.After-f.Before, deviation.Values[2*c], n[0], deviation.Values[2*c+1], n[1]))
	}
	out.Tested = len(cells)
	for i, q := range stat.Discoveries(chance) {
		if cells[i].P = q; q <= falseCells {
			out.Changed = append(out.Changed, cells[i])
		}
	}
	size := func(f FrontCell) float64 { return math.Abs(f.After - f.Before) }
	slices.SortStableFunc(out.Changed, func(a, b FrontCell) int { return cmp.Compare(size(b), size(a)) })
	return nil
}

// welch is how often two means differ by as much by chance; the deviations are those of
// the values themselves.
func welch(difference, s1, n1, s2, n2 float64) float64 {
	a, b := s1*s1/(n1-1), s2*s2/(n2-1)
	if a+b == 0 {
		if difference == 0 {
			return 1
		}
		return 0
	}
	df := (a + b) * (a + b) / (a*a/(n1-1) + b*b/(n2-1))
	return min(1, 2*stat.StudentTail(math.Abs(difference)/math.Sqrt(a+b), df))
}
