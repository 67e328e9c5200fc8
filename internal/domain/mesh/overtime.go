package mesh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/data/table"
)

// OverTime is a field in space and time: what the samples between a dump and the one
// before it cost in each region.
type OverTime struct {
	Field      string    `json:"field"`
	By         string    `json:"by,omitempty"` // variable whose values are the regions; empty for all cells together
	Iterations []int64   `json:"iterations"`   // of the dumps
	Rows       []TimeRow `json:"rows"`
	After      int       `json:"after"` // samples later than the last dump, in no column
}

// TimeRow is one region: the cells whose variable lies between Low and High in the dump
// of the column. Where no sample is, there is no value.
type TimeRow struct {
	Label   string     `json:"label"`
	Low     float64    `json:"low"`
	High    float64    `json:"high"`
	Values  []*float64 `json:"values"`
	Samples []uint32   `json:"samples"`
}

// Bounds of regions: up to so many whole numbers are regions of their own; more, or
// fractions, are cut into bands of equally many cells.
const (
	maxRegions = 64
	bands      = 24
	bandDumps  = 6 // that say where the bands lie
)

var errNoIteration = errors.New("the samples have no iteration; name its column with --map iteration=COLUMN")

// OverTime puts the selected samples into the regions that a variable makes; all cells
// are one region without one.
func (v *View) OverTime(ctx context.Context, sel table.Bits, spec FieldSpec, by string) (*OverTime, error) {
	r, err := v.regions(ctx, by)
	if err != nil {
		return nil, err
	}
	f, err := v.chronicle(ctx, sel, spec, r.of)
	if err != nil {
		return nil, err
	}
	return v.timeRows(ctx, f, r, by, sel)
}

// CellsOverTime takes the samples on some cells together: what picks cost at each dump.
func (v *View) CellsOverTime(ctx context.Context, sel table.Bits, spec FieldSpec, cells []uint32) (*OverTime, error) {
	r := &regions{rows: []TimeRow{{Label: fmt.Sprintf("%d cells", len(cells))}}}
	if len(cells) == 1 {
		r.rows[0].Label = fmt.Sprintf("cell %d", cells[0])
	}
	f, err := v.chronicle(ctx, sel, spec, func(_ context.Context, p *Placed) ([]int32, error) {
		group := make([]int32, p.Cells)
		for c := range group {
			group[c] = NoCell
		}
		for _, c := range cells {
			if int(c) >= p.Cells {
				return nil, fmt.Errorf("dump %d has %d cells; there is no cell %d", v.Series.Steps[p.Step].Iteration, p.Cells, c)
			}
			group[c] = 0
		}
		return group, nil
	})
	if err != nil {
		return nil, err
	}
	return v.timeRows(ctx, f, r, "", sel)
}

// timeRows cuts the one field that a chronicle is into rows.
func (v *View) timeRows(ctx context.Context, f *Field, r *regions, by string, sel table.Bits) (*OverTime, error) {
	after, err := v.afterLast(ctx, sel)
	if err != nil {
		return nil, err
	}
	out := &OverTime{Field: f.Spec.String(), By: by, Rows: r.rows, After: after}
	n := len(v.Series.Steps)
	for _, s := range v.Series.Steps {
		out.Iterations = append(out.Iterations, s.Iteration)
	}
	for i := range out.Rows {
		row := &out.Rows[i]
		row.Values, row.Samples = make([]*float64, n), make([]uint32, n)
		for k := range n {
			if at := i*n + k; at < len(f.Values) && f.Samples[at] > 0 {
				value := f.Values[at]
				row.Values[k], row.Samples[k] = &value, f.Samples[at]
			}
		}
	}
	slices.SortStableFunc(out.Rows, func(a, b TimeRow) int { return cmp.Compare(a.Low, b.Low) })
	return out, nil
}

// stepOfRows says to which dump each sample belongs: the first at or after its
// iteration, or that of the iteration itself where dumps do not say theirs. -1 for none.
func (v *View) stepOfRows(ctx context.Context) ([]int32, error) {
	if v.iteration == nil {
		return nil, errNoIteration
	}
	exact := !v.Series.knowsIterations()
	steps := make([]int32, len(v.iteration))
	for i := range table.Scan(ctx, nil, len(steps)) {
		steps[i] = -1
		if v.iteration[i] == Missing {
			continue
		}
		k, found := slices.BinarySearchFunc(v.Series.Steps, int64(v.iteration[i]), func(s Step, it int64) int { return cmp.Compare(s.Iteration, it) })
		if found || !exact && k < len(v.Series.Steps) {
			steps[i] = int32(k)
		}
	}
	return steps, ctx.Err()
}

// afterLast counts the selected samples that are later than the last dump.
func (v *View) afterLast(ctx context.Context, sel table.Bits) (int, error) {
	last, n := v.Series.Steps[len(v.Series.Steps)-1].Iteration, 0
	for i := range table.Scan(ctx, sel, len(v.iteration)) {
		if v.iteration[i] != Missing && int64(v.iteration[i]) > last {
			n++
		}
	}
	return n, ctx.Err()
}

// placeBy gives each sample a place made from its cell and the dump that it belongs to:
// dumps are asked one after another how they place a cell. NoCell is nowhere.
func (v *View) placeBy(ctx context.Context, of func(*Placed) (func(cell int32) int32, error)) (*Projection, error) {
	step, err := v.stepOfRows(ctx)
	if err != nil {
		return nil, err
	}
	out := &Projection{Place: make([]int32, len(step))}
	for i := range out.Place {
		out.Place[i] = NoCell
	}
	for k := range v.Series.Steps {
		p, err := v.At(ctx, k)
		if err != nil {
			return nil, err
		}
		place, err := of(p)
		if err != nil {
			return nil, err
		}
		for i := range table.Scan(ctx, nil, len(step)) {
			if c := p.Place[i]; step[i] == int32(k) && c >= 0 {
				out.Place[i] = place(c)
				out.Cells = max(out.Cells, int(out.Place[i])+1)
			}
		}
	}
	return out, ctx.Err()
}

// chronicle aggregates samples by group of cells and dump, at group × dumps + dump. The
// groups of a dump's cells are asked for when its turn comes; NoCell is in none.
func (v *View) chronicle(ctx context.Context, sel table.Bits, spec FieldSpec, group func(context.Context, *Placed) ([]int32, error)) (*Field, error) {
	claim, err := budget.Take(ctx, fmt.Sprintf("%d samples over time need", v.samples.Rows), 16*int64(v.samples.Rows))
	if err != nil {
		return nil, err
	}
	defer claim.Release()
	n := int32(len(v.Series.Steps))
	accesses := map[int32]float64{} // of the cells of a group in a dump
	p, err := v.placeBy(ctx, func(d *Placed) (func(int32) int32, error) {
		of, err := group(ctx, d)
		if err == nil && spec.PerAccess {
			err = accessesBy(ctx, d, of, func(g int32, count float64) { accesses[g*n+int32(d.Step)] += count })
		}
		return func(cell int32) int32 {
			if of[cell] < 0 {
				return NoCell
			}
			return of[cell]*n + int32(d.Step)
		}, err
	})
	if err != nil {
		return nil, err
	}
	f, err := p.Project(ctx, sel, Window{}, spec, v.Table.Column(spec.Column))
	if err == nil && spec.PerAccess {
		for at := range f.Values {
			f.Values[at] /= accesses[int32(at)]
		}
	}
	return f, err
}

// accessesBy adds up the accesses to the cells of each group. Cells without any are
// taken out of their group: what they cost has nothing to be shared out over.
func accessesBy(ctx context.Context, p *Placed, group []int32, add func(group int32, count float64)) error {
	t, err := p.accesses(ctx)
	if err != nil {
		return err
	}
	for c, n := range t.cells {
		if n == 0 {
			group[c] = NoCell
		} else if group[c] >= 0 {
			add(group[c], n)
		}
	}
	return nil
}

// regions gives each cell of a dump the number of its region.
type regions struct {
	rows  []TimeRow
	of    func(ctx context.Context, p *Placed) ([]int32, error)
	known map[float64]int32 // of whole numbers
}

// regions finds out what regions a variable makes.
func (v *View) regions(ctx context.Context, by string) (*regions, error) {
	if by == "" {
		r := &regions{rows: []TimeRow{{Label: "all cells"}}}
		r.of = func(_ context.Context, p *Placed) ([]int32, error) { return make([]int32, p.Cells), nil }
		return r, nil
	}
	few := &regions{known: map[float64]int32{}}
	few.of = func(ctx context.Context, p *Placed) ([]int32, error) { return v.whole(ctx, few, p, by) }
	var spread []float64
	n := len(v.Series.Steps)
	for k := range min(n, bandDumps) {
		p, err := v.At(ctx, k*(n-1)/max(1, min(n, bandDumps)-1))
		if err != nil {
			return nil, err
		}
		values, err := v.Variable(ctx, p, by)
		if err != nil {
			return nil, err
		}
		spread = append(spread, (&Field{Values: values}).Spread()...)
		if few != nil && !few.add(values) {
			few = nil
		}
	}
	if few != nil {
		return few, nil
	}
	return v.banded(spread, by), nil
}

// add notes the values of a variable; false if they are too many, or fractions.
func (r *regions) add(values []float64) bool {
	for _, v := range values {
		if !finite(v) {
			continue
		}
		if _, ok := r.known[v]; ok {
			continue
		}
		if v != math.Trunc(v) || len(r.rows) == maxRegions {
			return false
		}
		r.known[v] = int32(len(r.rows))
		r.rows = append(r.rows, TimeRow{Label: fmt.Sprint(v), Low: v, High: v})
	}
	return true
}

// whole are the regions of the cells of a dump, by whole numbers.
func (v *View) whole(ctx context.Context, r *regions, p *Placed, by string) ([]int32, error) {
	values, err := v.Variable(ctx, p, by)
	if err != nil {
		return nil, err
	}
	if !r.add(values) {
		return nil, fmt.Errorf("%s has whole numbers in the dumps looked at first, and fractions or more than %d values in dump %d", by, maxRegions, p.Step)
	}
	group := make([]int32, len(values))
	for c, value := range values {
		group[c] = NoCell
		if finite(value) {
			group[c] = r.known[value]
		}
	}
	return group, nil
}

// banded cuts the range of a variable into bands that hold about equally many cells.
func (v *View) banded(spread []float64, by string) *regions {
	edges := bandEdges(spread, bands)
	r := &regions{}
	for i := range len(edges) - 1 {
		r.rows = append(r.rows, TimeRow{Label: fmt.Sprintf("%.4g … %.4g", edges[i], edges[i+1]), Low: edges[i], High: edges[i+1]})
	}
	r.of = func(ctx context.Context, p *Placed) ([]int32, error) {
		values, err := v.Variable(ctx, p, by)
		if err != nil {
			return nil, err
		}
		group := make([]int32, len(values))
		for c, value := range values {
			group[c] = NoCell
			if finite(value) {
				group[c] = int32(BinOf(edges, value))
			}
		}
		return group, nil
	}
	return r
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
