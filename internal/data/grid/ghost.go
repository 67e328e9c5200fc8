package grid

import "slices"

const ghostType = "vtkGhostType"

// Bits of VTK's array vtkGhostType that take a cell out of a picture: it is a copy of
// one of another piece, or the program has hidden it, or a point
// (vtkDataSetAttributes.h).
const (
	ghostCopy        = 1
	ghostHidden      = 32
	ghostHiddenPoint = 2
)

// Ghosts marks cells that are not the grid's own: copies of cells of another piece, and
// cells that are hidden; nil if there are none. Files before VTK 7 have vtkGhostLevels in
// place of bits: how far beyond the piece a cell lies.
func (g *Grid) Ghosts() []bool {
	n := g.NumCells()
	for _, of := range []struct {
		name  string
		ghost func(v float64) bool
	}{
		{ghostType, func(v float64) bool { return int64(v)&(ghostCopy|ghostHidden) != 0 }},
		{"vtkGhostLevels", func(v float64) bool { return v > 0 }},
	} {
		a := Find(g.CellData, of.name)
		if a == nil || a.Values() != n {
			continue
		}
		out, some := make([]bool, n), false
		for i := range out {
			out[i] = of.ghost(a.At(i))
			some = some || out[i]
		}
		if some {
			return g.besideHidden(out)
		}
	}
	return g.besideHidden(nil)
}

// besideHidden adds the cells of a structured grid that have a hidden point: VTK calls
// them empty.
func (g *Grid) besideHidden(ghosts []bool) []bool {
	a := Find(g.PointData, ghostType)
	if g.Layout != Structured || a == nil || a.Values() != g.NumPoints() {
		return ghosts
	}
	var buf []int32
	for c := range g.NumCells() {
		_, buf = g.Cell(c, buf)
		if !slices.ContainsFunc(buf, func(p int32) bool { return int64(a.At(int(p)))&ghostHiddenPoint != 0 }) {
			continue
		}
		if ghosts == nil {
			ghosts = make([]bool, g.NumCells())
		}
		ghosts[c] = true
	}
	return ghosts
}
