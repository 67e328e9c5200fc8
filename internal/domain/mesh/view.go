package mesh

import (
	"fmt"
	"slices"
	"sync"

	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/table"
)

// Settings are what a user may say about how samples and mesh belong together.
type Settings struct {
	Columns   Columns
	Iteration string // column; "" for the usual names
	Numbering Numbering
	Dims      [3]int // cells per axis of a mesh that does not say; zero: as the file says
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

	mu     sync.Mutex
	placed map[int]*Placed
	order  []int
}

// Placed is a dump with the place of every sample on it.
type Placed struct {
	Step  int
	Mesh  *grid.Mesh
	Space *Space
	Projection
}

// NewView prepares samples for a series of dumps.
func NewView(s *Series, t *table.Table, set Settings) (*View, error) {
	v := &View{Series: s, Table: t, settings: set, placed: map[int]*Placed{}}
	v.columns = set.Columns.Fill(t)
	var err error
	if v.samples, err = FromTable(t, v.columns); err != nil {
		return nil, err
	}
	if v.samples.Cell == nil {
		v.positions = positionsOf(t, v.columns)
	}
	if name := IterationColumn(t, set.Iteration); name != "" {
		c := t.Column(name)
		if c == nil {
			return nil, fmt.Errorf("no column %q; the table has %s", name, columnNames(t))
		}
		v.iteration = Ints(c)
	}
	return v, nil
}

// At returns a dump with its samples placed. The places of meshes whose cells
// stay the same are computed once.
func (v *View) At(step int) (*Placed, error) {
	m, err := v.Series.Mesh(step)
	if err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if p := v.placed[step]; p != nil && p.Mesh == m {
		return p, nil
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
	p.Cells, p.Iteration = sp.Cells, v.iteration
	if v.positions != nil {
		p.Place = v.placePositions(m, sp)
	}
	for _, o := range v.placed {
		if p.Place == nil && sameCells(sp, o.Space) {
			p.Place = o.Place
		}
	}
	if p.Place == nil {
		if err := checkIndexed(v.samples, sp); err != nil {
			return nil, err
		}
		if p.Place, err = Locate(v.samples, sp, v.settings.Numbering); err != nil {
			return nil, err
		}
	}
	if len(v.order) >= cacheSteps {
		delete(v.placed, v.order[0])
		v.order = v.order[1:]
	}
	v.placed[step] = p
	v.order = append(v.order, step)
	return p, nil
}

// ByPosition reports whether samples are placed by their coordinates.
func (v *View) ByPosition() bool { return v.positions != nil }

// placePositions places samples by their coordinates; rows that a flag or their
// object says have no cell have none here either.
func (v *View) placePositions(m *grid.Mesh, sp *Space) []int32 {
	place := LocatePositions(v.positions, m, sp)
	for i, x := range v.samples.X {
		if x == Missing {
			place[i] = NoCell
		}
	}
	return place
}

// sameCells reports whether two dumps number the same cells. Adaptive meshes
// change their boxes and are placed anew.
func sameCells(a, b *Space) bool {
	return !a.AMR && !b.AMR && slices.EqualFunc(a.Parts, b.Parts, func(x, y Part) bool { return x.Cells == y.Cells && x.Dims == y.Dims })
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
func (p *Placed) Field(t *table.Table, sel table.Bits, w Window, spec FieldSpec) (*Field, error) {
	return p.Project(sel, w, spec, t.Column(spec.Column))
}

// RowsOn returns the rows that lie on the given cells of a dump.
func (p *Placed) RowsOn(cells []int32) table.Bits {
	wanted := table.NewBits(p.Cells)
	for _, c := range cells {
		wanted.Set(int(c))
	}
	b := table.NewBits(len(p.Place))
	for i, c := range p.Place {
		if c >= 0 && wanted.Get(int(c)) {
			b.Set(i)
		}
	}
	return b
}

// UnitMesh is a mesh of nothing but unit cells: where a program's grid is known
// and no dump of it exists.
func UnitMesh(dims [3]int) (*Series, error) {
	g := &grid.Grid{Layout: grid.Image, Spacing: [3]float64{1, 1, 1}, Extent: [6]int{0, dims[0], 0, dims[1], 0, dims[2]}}
	if dims[2] == 1 {
		g.Extent[5] = 0
	}
	if err := g.Check(); err != nil {
		return nil, err
	}
	m := &grid.Mesh{Blocks: []grid.Block{{Grid: g}}}
	s := &Series{Name: "cells", Format: "none", cache: map[int]*grid.Mesh{0: m}, order: []int{0}}
	s.Steps = []Step{{Iteration: 0, From: "ordinal", Files: []string{"cells"}, load: func() (*grid.Mesh, error) { return m, nil }}}
	return s, nil
}
