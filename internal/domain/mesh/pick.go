package mesh

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/engine/query"
)

// NewSeries is a series whose dumps a program makes itself: one for each
// iteration, in rising order.
func NewSeries(ctx context.Context, name string, iterations []int64, load func(step int) (*grid.Mesh, error)) *Series {
	s := newSeries(ctx)
	s.Name, s.Format = name, "none"
	for i, n := range iterations {
		s.Steps = append(s.Steps, Step{
			Files: []string{name}, Iteration: n, From: "file",
			load: func(context.Context) (*grid.Mesh, error) { return load(i) },
		})
	}
	return s
}

// Index returns the place of a cell in the rows of its part, in the space of
// its refinement level; ok is false where cells are not numbered in rows.
func (p *Part) Index(cell int) (at [3]int, ok bool) {
	if p.boxes != nil {
		i, found := slices.BinarySearch(p.boxes.first, int32(cell))
		if !found {
			i--
		}
		for ; i >= 0; i-- { // boxes without cells share their first number
			box, in := p.boxes.boxes[i], cell-int(p.boxes.first[i])
			if in >= box.Cells() {
				continue
			}
			nx, ny := box.Hi[0]-box.Lo[0]+1, box.Hi[1]-box.Lo[1]+1
			return [3]int{box.Lo[0] + in%nx, box.Lo[1] + in/nx%ny, box.Lo[2] + in/(nx*ny)}, true
		}
		return at, false
	}
	if p.Dims == ([3]int{}) {
		return at, false
	}
	return [3]int{cell % p.Dims[0], cell / p.Dims[0] % p.Dims[1], cell / (p.Dims[0] * p.Dims[1])}, true
}

// Placing lists the columns that decide the cell of a sample.
func (v *View) Placing() []string {
	c := v.columns
	var names []string
	for _, n := range []string{c.X, c.Y, c.Z, c.Cell, c.Level, c.Domain, c.Where} {
		if n != "" {
			names = append(names, n)
		}
	}
	return names
}

// Where is the selection of the samples on a cell, in the selection language.
func (v *View) Where(ctx context.Context, p *Placed, cell int) (string, error) {
	part, in := p.Space.PartOf(cell)
	if part == nil {
		return "", fmt.Errorf("the mesh has %d cells; there is no cell %d", p.Space.Cells, cell)
	}
	c, first := v.columns, v.settings.Numbering.First
	if len(c.PerCell) > 0 || v.positions != nil { // no column has the cell
		return v.setText(ctx, p, cell)
	}
	var terms []query.Expr
	is := func(column string, op query.Op, value int) {
		terms = append(terms, query.Compare{Column: column, Op: op, Value: wholeValue(int64(value))})
	}
	apart := p.Space.AMR || c.Domain != "" && len(p.Space.Parts) > 1
	switch {
	case c.Cell != "" && apart:
		is(c.Cell, query.Eq, in+first)
	case c.Cell != "":
		is(c.Cell, query.Eq, cell+first)
	default:
		at, err := v.indices(part, in)
		if err != nil {
			return "", err
		}
		for a, name := range []string{c.X, c.Y, c.Z} {
			lo, per := at[a], v.settings.Numbering.ratio(a)
			switch {
			case name == "":
			case per == 1:
				is(name, query.Eq, lo+first)
			default:
				terms = append(terms, query.Range{Column: name, Lo: wholeValue(int64(per*lo + first)), Hi: wholeValue(int64(per*(lo+1) - 1 + first))})
			}
		}
	}
	switch {
	case p.Space.AMR && c.Level == "":
		return "", errors.New("the samples do not say their refinement level")
	case p.Space.AMR:
		is(c.Level, query.Eq, part.Level)
	case apart:
		is(c.Domain, query.Eq, part.Domain)
	}
	if c.Where != "" {
		is(c.Where, query.Ne, 0)
	}
	// A tool that could not attribute an access writes zeros for its indices.
	if object := v.Table.Column(c.Object); object != nil && in == 0 && first == 0 {
		if _, ok := object.Code("??"); ok {
			terms = append(terms, query.Compare{Column: c.Object, Op: query.Ne, Value: query.Value{Text: "??", Quoted: true}})
		}
	}
	return query.And{Terms: terms}.String(), nil
}

// wholeValue is a whole number in the selection language.
func wholeValue(n int64) query.Value {
	return query.Value{Text: strconv.FormatInt(n, 10), Number: float64(n), IsNumber: true}
}

func (v *View) setText(ctx context.Context, p *Placed, cell int) (string, error) {
	e, err := v.Select(ctx, p.Step, []int32{int32(cell)})
	if err != nil {
		return "", err
	}
	return e.String(), nil
}

// indices are those that a sample on a cell carries.
func (v *View) indices(part *Part, in int) ([3]int, error) {
	if d := part.Dims; v.settings.Numbering.ZFast && d != ([3]int{}) {
		return [3]int{in / (d[2] * d[1]), in / d[2] % d[1], in % d[2]}, nil
	}
	at, ok := part.Index(in)
	if !ok {
		return at, errors.New("the cells of this mesh are not numbered in rows")
	}
	return at, nil
}
