package mesh

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/table"
)

// Vectors lists the variables that have a direction: two or three numbers a cell or a
// point, which are no colours.
func Vectors(m *grid.Mesh) []string {
	names := []string{}
	for _, name := range Variables(m) {
		if slices.ContainsFunc(m.Blocks, func(b grid.Block) bool { a, _ := directed(b.Grid, name); return a != nil }) {
			names = append(names, name)
		}
	}
	return names
}

// directed finds the vectors of that name; nil for none. Bytes in threes are colours.
func directed(g *grid.Grid, name string) (a *grid.Array, ofPoints bool) {
	a = grid.Find(g.CellData, name)
	if a == nil {
		a, ofPoints = grid.Find(g.PointData, name), true
	}
	if a == nil || a.Text() || a.Comps < 2 || a.Comps > 3 || a.DType() == "|u1" {
		return nil, false
	}
	return a, ofPoints
}

// VectorsOf returns x, y and z of a vector on each of some cells, which rise: the mean
// over its points where the variable is one of points, NaN where there is none. A vector
// of two numbers lies in the plane of x and y.
func VectorsOf(ctx context.Context, m *grid.Mesh, name string, cells []uint32) ([]float64, error) {
	if !slices.Contains(Vectors(m), name) {
		return nil, fmt.Errorf("the mesh has no vectors %q; it has %v", name, Vectors(m))
	}
	out := make([]float64, 0, 3*len(cells))
	block, first := 0, 0
	var buf []int32
	for i := range table.Scan(ctx, nil, len(cells)) {
		cell := int(cells[i])
		for block < len(m.Blocks) && cell >= first+m.Blocks[block].Grid.NumCells() {
			first += m.Blocks[block].Grid.NumCells()
			block++
		}
		if block == len(m.Blocks) {
			return nil, fmt.Errorf("the mesh has %d cells; there is no cell %d", m.NumCells(), cell)
		}
		g := m.Blocks[block].Grid
		a, ofPoints := directed(g, name)
		if a == nil {
			out = append(out, math.NaN(), math.NaN(), math.NaN())
			continue
		}
		from := []int32{int32(cell - first)}
		if ofPoints {
			_, from = g.Cell(cell-first, buf)
			if g.Layout <= grid.Structured { // else it is the grid's own
				buf = from
			}
		}
		v := meanVector(a, from)
		out = append(out, v[:]...)
	}
	return out, ctx.Err()
}

func meanVector(a *grid.Array, of []int32) (v [3]float64) {
	for _, id := range of {
		for k := range a.Comps {
			v[k] += a.At(int(id)*a.Comps+k) / float64(len(of))
		}
	}
	return v
}
