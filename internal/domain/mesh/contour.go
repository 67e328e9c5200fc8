package mesh

import (
	"context"
	"fmt"
	"math"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/table"
)

// Contour extracts the surface on which a variable has a value, through the kept cells:
// a variable on points as it is, one on cells by the mean of the cells around each
// point. Cells and points without a value are left out. values has a number for each
// cell; the name finds a variable on points, and is empty for a performance field.
func Contour(ctx context.Context, m *grid.Mesh, name string, values []float64, at float64, keep []bool) (*Shell, error) {
	return shellOf(ctx, m, func(b *shellBuilder, g *grid.Grid, first int) error {
		return b.contour(ctx, g, name, cellsOf(values, g, first), at, keep)
	})
}

// contour cuts the kept cells of one block where the variable crosses a value.
func (b *shellBuilder) contour(ctx context.Context, g *grid.Grid, name string, values []float64, at float64, keep []bool) error {
	const perPoint = 16
	claim, err := budget.Take(ctx, fmt.Sprintf("a contour through %d cells needs", g.NumCells()), perPoint*int64(g.NumPoints()))
	if err != nil {
		return err
	}
	defer claim.Release()
	cut := newCutter(ctx, g, plane{normal: [3]float64{0, 0, 1}})
	nodes := nodal(ctx, g, name, values)
	for i, v := range nodes {
		// A point exactly on the value counts as below it, as on a plane.
		cut.side[i] = float32(v - at)
		if v != at && cut.side[i] == 0 {
			cut.side[i] = float32(math.Copysign(math.SmallestNonzeroFloat32, v-at))
		}
	}
	var buf []int32
	for c := range table.Scan(ctx, nil, g.NumCells()) {
		if keep != nil && !keep[b.first+c] {
			continue
		}
		_, ids := g.Cell(c, buf)
		if g.Layout <= grid.Structured {
			buf = ids
		}
		known := true
		for _, id := range ids {
			known = known && finite(nodes[id])
		}
		if known {
			cut.cell(b, c)
		}
	}
	return ctx.Err()
}

// nodal is a variable on the points of a grid: its own, or means of the cells around.
func nodal(ctx context.Context, g *grid.Grid, name string, values []float64) []float64 {
	sum := make([]float64, g.NumPoints())
	if a := grid.Find(g.PointData, name); a != nil && !a.Text() && grid.Find(g.CellData, name) == nil {
		for i := range sum {
			sum[i] = length(a, i)
		}
		return sum
	}
	count := make([]float64, len(sum))
	var buf []int32
	for c := range table.Scan(ctx, nil, len(values)) {
		_, ids := g.Cell(c, buf)
		if g.Layout <= grid.Structured {
			buf = ids
		}
		if !finite(values[c]) {
			continue
		}
		for _, id := range ids {
			sum[id] += values[c]
			count[id]++
		}
	}
	for i := range sum {
		sum[i] /= count[i] // NaN where no cell has a value
	}
	return sum
}

// HalfSpace is what lies on one side of a plane: normal · point ≤ end.
type HalfSpace struct {
	Normal [3]float64
	End    float64
}

// Clip marks the cells whose middle lies in all half spaces, of those that are kept
// already; nil for all. Cells are taken whole: a value belongs to a whole cell.
func Clip(ctx context.Context, m *grid.Mesh, keep []bool, within []HalfSpace) ([]bool, error) {
	if len(within) == 0 {
		return keep, nil
	}
	out := make([]bool, m.NumCells())
	first := 0
	var buf []int32
	for i := range m.Blocks {
		g := m.Blocks[i].Grid
		for c := range table.Scan(ctx, nil, g.NumCells()) {
			if keep != nil && !keep[first+c] {
				continue
			}
			_, ids := g.Cell(c, buf)
			if g.Layout <= grid.Structured {
				buf = ids
			}
			out[first+c] = inAll(middleOf(g, ids), within)
		}
		first += g.NumCells()
	}
	return out, ctx.Err()
}

// middleOf is the mean of a cell's points.
func middleOf(g *grid.Grid, ids []int32) [3]float64 {
	var sum [3]float64
	for _, id := range ids {
		p := g.Point(int(id))
		for k := range sum {
			sum[k] += p[k] / float64(len(ids))
		}
	}
	return sum
}

func inAll(p [3]float64, within []HalfSpace) bool {
	for _, h := range within {
		if !(grid.Dot(h.Normal, p) <= h.End) {
			return false
		}
	}
	return true
}
