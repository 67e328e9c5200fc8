package mesh

import (
	"context"
	"fmt"
	"strings"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/table"
)

// Settings are what a user may say about how samples and mesh belong together.
type Settings struct {
	Columns   Columns
	Iteration string // column; "" for the usual names
	Numbering Numbering
	Dims      [3]int // cells per axis of a mesh that does not say; zero: as the file says
	ByRank    []RankValues
	// References are all that a part of the same program touched, in a table of
	// reftable's; nil: not recorded.
	References *table.Table
}

// View puts the samples of one table on the dumps of one mesh. It is safe for
// concurrent use.
type View struct {
	Series   *Series
	Table    *table.Table
	settings Settings
	columns  Columns // that place samples

	samples   *Samples
	positions *Positions // nil: samples are placed by index or number
	iteration []int32
	several   []string // columns that name more than one owner

	kept *budget.Share // dumps with the samples on them, by step; places by placesKey
	turn patientLock   // one dump is placed at a time
}

// Close gives back what the view keeps.
func (v *View) Close() { v.kept.Close() }

// placesKey names the places of all samples on cells that several dumps share.
type placesKey struct{ cells string }

// Placed is a dump with the place of every sample on it.
type Placed struct {
	Step  int
	Mesh  *grid.Mesh
	Space *Space
	Projection

	accesses func(context.Context) (*touched, error)
}

// NewView prepares samples for a series of dumps.
func NewView(ctx context.Context, s *Series, t *table.Table, set Settings) (*View, error) {
	v := &View{Series: s, Table: t, settings: set, kept: budget.Of(ctx).NewShare()}
	v.columns = set.Columns.Fill(t)
	v.columns.first = set.Numbering.First
	var err error
	if v.samples, err = FromTable(ctx, t, v.columns); err != nil {
		return nil, err
	}
	if err := v.knowObjects(); err != nil {
		return nil, err
	}
	v.several = severalOwners(ctx, t)
	if v.samples.Cell == nil {
		v.positions = positionsOf(ctx, t, v.columns)
	}
	if name := IterationColumn(t, set.Iteration); name != "" {
		c := t.Column(name)
		if c == nil {
			return nil, fmt.Errorf("no column %q; the table has %s", name, columnNames(t))
		}
		if v.iteration, err = Ints(ctx, c); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// At returns a dump with its samples placed. The places of meshes whose cells
// stay the same are computed once.
func (v *View) At(ctx context.Context, step int) (*Placed, error) {
	m, err := v.Series.Mesh(ctx, step)
	if err != nil {
		return nil, err
	}
	if err := v.turn.lock(ctx); err != nil {
		return nil, err
	}
	defer v.turn.unlock()
	if p, ok := v.kept.Recall(step); ok && p.(*Placed).Mesh == m {
		return p.(*Placed), nil
	}
	sp, err := NewSpace(m)
	if err != nil {
		return nil, err
	}
	if v.settings.Dims != ([3]int{}) {
		if err := sp.SetDims(v.settings.Dims); err != nil {
			return nil, err
		}
	}
	p := &Placed{Step: step, Mesh: m, Space: sp}
	p.accesses = func(ctx context.Context) (*touched, error) { return v.touched(ctx, p) }
	p.Cells, p.Iteration = sp.Cells, v.iteration
	size := p.bytes(v.samples.Rows)
	claim, err := budget.Take(ctx, fmt.Sprintf("%d samples on the mesh need", v.samples.Rows), size)
	if err != nil {
		return nil, err
	}
	defer claim.Release()
	if p.Place, err = v.places(ctx, m, sp); err != nil {
		return nil, err
	}
	claim.Release()
	v.kept.Keep(step, size, p)
	return p, nil
}

// ByPosition reports whether samples are placed by their coordinates.
func (v *View) ByPosition() bool { return v.positions != nil }

// placePositions places samples by their coordinates; rows that a flag or their
// object says have no cell have none here either.
func (v *View) placePositions(ctx context.Context, m *grid.Mesh, sp *Space) ([]int32, error) {
	place, err := LocatePositions(ctx, v.positions, m, sp)
	if err != nil {
		return nil, err
	}
	for i, x := range v.samples.X {
		if x == Missing {
			place[i] = NoCell
		}
	}
	return place, nil
}

// places are the cells of all samples. Adaptive meshes change their boxes and
// are placed anew.
func (v *View) places(ctx context.Context, m *grid.Mesh, sp *Space) ([]int32, error) {
	if v.positions != nil { // cells move, so that every dump has places of its own
		return v.placePositions(ctx, m, sp)
	}
	key := placesKey{sp.shape()}
	if found, ok := v.kept.Recall(key); ok && !sp.AMR {
		return found.([]int32), nil
	}
	if err := checkIndexed(v.samples, sp); err != nil {
		return nil, err
	}
	place, err := Locate(ctx, v.samples, sp, v.settings.Numbering)
	if err == nil && !sp.AMR {
		v.kept.Keep(key, int64(4*len(place)), place)
	}
	return place, err
}

// shape says how the cells are numbered: dumps of one shape number the same cells.
func (s *Space) shape() string {
	var b strings.Builder
	for _, p := range s.Parts {
		fmt.Fprint(&b, p.Cells, p.Dims, " ")
	}
	return b.String()
}

// checkIndexed refuses to place samples by index on cells without one.
func checkIndexed(s *Samples, sp *Space) error {
	if s.X == nil || sp.AMR {
		return nil
	}
	for _, p := range sp.Parts {
		if p.Dims == ([3]int{}) && p.Cells > 0 {
			return fmt.Errorf("the cells of the mesh (%s) are not numbered in rows; state them with --dims, or map a cell column", sp.Describe())
		}
	}
	return nil
}

// Field computes a field on a dump for the selected rows.
func (p *Placed) Field(ctx context.Context, t *table.Table, sel table.Bits, w Window, spec FieldSpec) (*Field, error) {
	f, err := p.Project(ctx, sel, w, spec, t.Column(spec.Column))
	if err == nil && spec.PerAccess {
		err = p.shareOut(ctx, f)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// RowsOn returns the rows that lie on the given cells of a dump.
func (p *Placed) RowsOn(ctx context.Context, cells []int32) (table.Bits, error) {
	wanted := table.NewBits(p.Cells)
	for _, c := range cells {
		wanted.Set(int(c))
	}
	b := table.NewBits(len(p.Place))
	for i := range table.Scan(ctx, nil, len(p.Place)) {
		if c := p.Place[i]; c >= 0 && wanted.Get(int(c)) {
			b.Set(i)
		}
	}
	return b, ctx.Err()
}

// UnitMesh is a mesh of nothing but unit cells: where a program's grid is known
// and no dump of it exists.
func UnitMesh(ctx context.Context, dims [3]int) (*Series, error) {
	g := &grid.Grid{Layout: grid.Image, Spacing: [3]float64{1, 1, 1}, Extent: [6]int{0, dims[0], 0, dims[1], 0, dims[2]}}
	if dims[2] == 1 {
		g.Extent[5] = 0
	}
	if err := g.Check(); err != nil {
		return nil, err
	}
	m := &grid.Mesh{Blocks: []grid.Block{{Grid: g}}}
	s := newSeries(ctx)
	s.Name, s.Format = "cells", "none"
	s.Steps = []Step{{Iteration: 0, From: "ordinal", Files: []string{"cells"}, load: func(context.Context) (*grid.Mesh, error) { return m, nil }}}
	return s, nil
}
