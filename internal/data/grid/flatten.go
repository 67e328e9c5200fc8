package grid

import "math"

// Flatten makes one unstructured grid of all blocks: cells in block order, so
// that a field over the whole mesh fits it. Arrays that every block has are
// kept. Meshes of several blocks get the cell arrays domain or level and
// covered.
func (m *Mesh) Flatten() (*Grid, error) {
	single := true
	for i := range m.Blocks {
		g := m.Blocks[i].Grid
		_, ok := g.Points.Data.([]float32)
		single = single && ok && g.Layout >= Structured
	}
	parts := make([]*Grid, len(m.Blocks))
	for i := range m.Blocks {
		parts[i] = m.Blocks[i].Grid.unstructured(single)
	}
	out, err := Join(parts)
	if err != nil {
		return nil, err
	}
	flat := *out // the only block must not change
	flat.CellData = append([]Array(nil), out.CellData...)
	switch {
	case len(m.Levels) > 0:
		flat.CellData = append(flat.CellData, m.levelArrays()...)
	case len(m.Blocks) > 1:
		flat.CellData = append(flat.CellData, m.domainArray())
	}
	return &flat, nil
}

func (m *Mesh) domainArray() Array {
	var id []int32
	for i := range m.Blocks {
		for range m.Blocks[i].Grid.NumCells() {
			id = append(id, int32(i))
		}
	}
	return Array{Name: "domain", Comps: 1, Data: id}
}

func (m *Mesh) levelArrays() []Array {
	var level []int32
	var covered []uint8
	for l := range m.Levels {
		for _, c := range m.Covered(l) {
			level = append(level, int32(l))
			bit := uint8(0)
			if c {
				bit = 1
			}
			covered = append(covered, bit)
		}
	}
	return []Array{{Name: "level", Comps: 1, Data: level}, {Name: "covered", Comps: 1, Data: covered}}
}

// unstructured returns the grid with explicit points and cells.
func (g *Grid) unstructured(single bool) *Grid {
	out := &Grid{Layout: Unstructured, Types: g.Types, Offsets: g.Offsets, Conn: g.Conn, Faces: g.Faces, FaceStart: g.FaceStart,
		Points: g.Points, PointData: g.PointData, CellData: g.CellData, FieldData: g.FieldData}
	if _, ok := g.Points.Data.([]float32); !single || !ok || g.Layout < Structured {
		out.Points = g.doublePoints()
	}
	if !g.implicit() {
		return out
	}
	n := g.NumCells()
	out.Types, out.Offsets = make([]CellType, n), make([]int, 1, n+1)
	var buf []int32
	for i := range n {
		out.Types[i], buf = g.Cell(i, buf)
		out.Conn = append(out.Conn, buf...)
		out.Offsets = append(out.Offsets, len(out.Conn))
	}
	return out
}

func (g *Grid) doublePoints() Array {
	n := g.NumPoints()
	p := make([]float64, 0, 3*n)
	for i := range n {
		at := g.Point(i)
		p = append(p, at[0], at[1], at[2])
	}
	return Array{Name: "Points", Comps: 3, Data: p}
}

// Bounds returns the smallest box around all points; inverted when there are
// none.
func (m *Mesh) Bounds() (lo, hi [3]float64) {
	for a := range lo {
		lo[a], hi[a] = math.Inf(1), math.Inf(-1)
	}
	for i := range m.Blocks {
		g := m.Blocks[i].Grid
		for k := range g.NumPoints() {
			for a, v := range g.Point(k) {
				lo[a], hi[a] = math.Min(lo[a], v), math.Max(hi[a], v)
			}
		}
	}
	return lo, hi
}
