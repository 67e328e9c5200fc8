package mesh

import (
	"context"
	"slices"

	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/table"
)

// Cells in rows know their neighbours by number. Then the outside of a part of the
// mesh is found by looking at each kept cell's six neighbours, where the faces of other
// cells are compared by their points, thirty million of them for five million cells.

// solidRows returns the cells per axis of a grid of solid cells in rows, whose points
// are in rows too; zero for others. Unstructured boxes are compared point by point
// with those of a grid of that size.
func solidRows(g *grid.Grid) [3]int {
	if g.Layout <= grid.Structured {
		if d := g.Dims(); min(d[0], d[1], d[2]) < 2 {
			return [3]int{}
		}
		return g.CellDims()
	}
	layout := grid.Structured
	switch {
	case len(g.Types) > 0 && g.Types[0] == grid.Voxel:
		layout = grid.Image
	case len(g.Types) == 0 || g.Types[0] != grid.Hexahedron:
		return [3]int{}
	}
	d := indexDims(g)
	like := &grid.Grid{Layout: layout, Extent: [6]int{0, d[0], 0, d[1], 0, d[2]}}
	if like.NumCells() != len(g.Types) {
		return [3]int{}
	}
	var buf []int32
	base := g.Conn[0]
	for c := range g.Types {
		_, want := like.Cell(c, buf)
		buf = want
		for k, id := range g.Conn[g.Offsets[c]:g.Offsets[c+1]] {
			if id != base+want[k] {
				return [3]int{}
			}
		}
	}
	return d
}

// outsideOfRows visits the faces of the kept cells behind which no kept cell is.
func outsideOfRows(ctx context.Context, g *grid.Grid, d [3]int, keep []bool, visit func(cell int, face []int32)) error {
	stride := [3]int{1, d[0], d[0] * d[1]}
	var scratch grid.Scratch
	var open [6]bool // in the order in which faces are visited: below and above each axis
	for c := range table.Scan(ctx, nil, d[0]*d[1]*d[2]) {
		if keep != nil && !keep[c] {
			continue
		}
		at := [3]int{c % d[0], c / d[0] % d[1], c / stride[2]}
		for a := range at {
			open[2*a] = at[a] == 0 || keep != nil && !keep[c-stride[a]]
			open[2*a+1] = at[a] == d[a]-1 || keep != nil && !keep[c+stride[a]]
		}
		if !slices.Contains(open[:], true) {
			continue
		}
		k := 0
		g.CellFaces(c, &scratch, func(f []int32) {
			if open[k] {
				visit(c, f)
			}
			k++
		})
	}
	return ctx.Err()
}
