package mesh

import (
	"context"
	"fmt"

	"github.com/isobath/isobath/internal/engine/query"
)

// TimeBrush is a part of a field in space and time: the regions of a variable whose
// values lie between two ends, both included, at the dumps from First to Last.
type TimeBrush struct {
	By          string
	Low, High   float64
	First, Last int
}

// SelectOverTime is the selection of the samples that OverTime counts in a part. Regions
// move, so that each dump has cells of its own; dumps with the same cells are taken
// together. There is none if no cell is in the part.
func (v *View) SelectOverTime(ctx context.Context, b TimeBrush) (query.Expr, error) {
	if v.iteration == nil {
		return nil, errNoIteration
	}
	if b.First < 0 || b.Last < b.First || b.Last >= len(v.Series.Steps) {
		return nil, fmt.Errorf("the mesh has %d dumps; %d to %d are none of them", len(v.Series.Steps), b.First, b.Last)
	}
	r, err := v.regions(ctx, b.By)
	if err != nil {
		return nil, err
	}
	var parts []timePart
	size := 0
	for k := b.First; k <= b.Last; k++ {
		set, err := v.setWithin(ctx, k, r, b)
		if err != nil {
			return nil, err
		}
		if n := len(parts); n > 0 && parts[n-1].set == set && v.adjoin(k) {
			parts[n-1].last = k
			continue
		}
		if size += len(set); size > maxSetText {
			return nil, fmt.Errorf("the cells of %d dumps are too scattered for one selection; take fewer dumps", b.Last-b.First+1)
		}
		parts = append(parts, timePart{set, k, k})
	}
	var terms []query.Expr
	for _, p := range parts {
		if p.set != "" {
			terms = append(terms, query.And{Terms: []query.Expr{v.during(p.first, p.last), query.RowSet{Name: p.set}}})
		}
	}
	switch len(terms) {
	case 0:
		return nil, nil
	case 1:
		return terms[0], nil
	}
	return query.Or{Terms: terms}, nil
}

// timePart is a set of cells that several dumps share.
type timePart struct {
	set         string
	first, last int
}

// setWithin names the cells of a dump that lie in a part; empty for none.
func (v *View) setWithin(ctx context.Context, step int, r *regions, b TimeBrush) (string, error) {
	p, err := v.At(ctx, step)
	if err != nil {
		return "", err
	}
	group, err := r.of(ctx, p)
	if err != nil {
		return "", err
	}
	var cells []int32
	for c, g := range group {
		if g >= 0 && r.rows[g].Low >= b.Low && r.rows[g].High <= b.High {
			cells = append(cells, int32(c))
		}
	}
	if len(cells) == 0 {
		return "", nil
	}
	e, err := v.Select(ctx, step, cells)
	if err != nil {
		return "", err
	}
	return e.(query.RowSet).Name, nil
}

// adjoin reports whether no sample's iteration lies between those of a dump and of the
// one before it.
func (v *View) adjoin(step int) bool {
	s := v.Series.Steps
	return v.Series.knowsIterations() || s[step].Iteration == s[step-1].Iteration+1
}

// during are the iterations that belong to the dumps from first to last, as stepOfRows
// puts them.
func (v *View) during(first, last int) query.Expr {
	s, column := v.Series.Steps, IterationColumn(v.Table, v.settings.Iteration)
	from, to := s[first].Iteration, s[last].Iteration
	if v.Series.knowsIterations() {
		if first == 0 {
			return query.Compare{Column: column, Op: query.Le, Value: wholeValue(to)}
		}
		from = s[first-1].Iteration + 1
	}
	if from == to {
		return query.Compare{Column: column, Op: query.Eq, Value: wholeValue(to)}
	}
	return query.Range{Column: column, Lo: wholeValue(from), Hi: wholeValue(to)}
}
