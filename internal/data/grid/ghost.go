package grid

// Bits of VTK's array vtkGhostType on cells that take a cell out of a picture: it is a
// copy of one of another piece, or the program has hidden it (vtkDataSetAttributes.h).
const (
	ghostCopy   = 1
	ghostHidden = 32
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
		{"vtkGhostType", func(v float64) bool { return int64(v)&(ghostCopy|ghostHidden) != 0 }},
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
			return out
		}
	}
	return nil
}
