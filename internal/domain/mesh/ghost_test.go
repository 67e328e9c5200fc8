package mesh

import (
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/data/grid"
)

// TestGhosts: two pieces of a row of four cells each hold one cell of the other. The
// copies are not drawn, no sample lies on them by position, and a sentence counts them.
func TestGhosts(t *testing.T) {
	for name, marks := range map[string][2]grid.Array{
		"bits":              {{Name: "vtkGhostType", Comps: 1, Data: []uint8{0, 0, 1}}, {Name: "vtkGhostType", Comps: 1, Data: []uint8{1, 0, 0}}},
		"hidden, and other": {{Name: "vtkGhostType", Comps: 1, Data: []uint8{0, 2, 33}}, {Name: "vtkGhostType", Comps: 1, Data: []uint8{32, 16, 0}}},
		"levels":            {{Name: "vtkGhostLevels", Comps: 1, Data: []uint8{0, 0, 1}}, {Name: "vtkGhostLevels", Comps: 1, Data: []uint8{2, 0, 0}}},
	} {
		t.Run(name, func(t *testing.T) {
			left, right := box(3, 1, 1, 0), box(3, 1, 1, 1)
			left.CellData, right.CellData = marks[:1], marks[1:]
			m := &grid.Mesh{Blocks: []grid.Block{{Grid: left}, {Grid: right}}}
			want := []bool{true, true, false, false, true, true}
			if got := OfLevel(m, -1); !slices.Equal(got, want) {
				t.Errorf("drawn %v, want %v", got, want)
			}
			space, err := NewSpace(m)
			check(t, err)
			at := &Positions{X: []float64{0.5, 1.5, 2.5, 3.5}, Y: []float64{0.5, 0.5, 0.5, 0.5}, Z: []float64{0.5, 0.5, 0.5, 0.5}}
			place, err := LocatePositions(t.Context(), at, m, space)
			check(t, err)
			if want := []int32{0, 1, 4, 5}; !slices.Equal(place, want) {
				t.Errorf("samples lie on %v, want %v", place, want)
			}
			if got, want := ghostNote(m), "2 of 6 cells are ghosts, copies of other pieces' cells or hidden ones: they are not drawn, and no sample lies on one by its position"; got != want {
				t.Errorf("it says %q, want %q", got, want)
			}
			left.CellData, right.CellData = nil, []grid.Array{{Name: "vtkGhostType", Comps: 1, Data: []uint8{0, 0, 0}}}
			if OfLevel(m, -1) != nil || ghostNote(m) != "" {
				t.Error("a mesh without ghosts has some")
			}
		})
	}
}
