package mesh

import (
	"math"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/data/grid"
)

// TestVectorsOf: vectors of cells are those of the file, those of points the mean over a
// cell's corners, two numbers lie flat, and a block without the variable has none.
func TestVectorsOf(t *testing.T) {
	with, without := box(2, 1, 1, 0), box(1, 1, 1, 2)
	at := make([]float32, 0, 3*with.NumPoints())
	for i := range with.NumPoints() {
		p := with.Point(i)
		at = append(at, float32(p[0]), float32(p[1]), float32(p[2]))
	}
	with.PointData = []grid.Array{{Name: "place", Comps: 3, Data: at}, {Name: "colour", Comps: 3, Data: make([]uint8, 3*with.NumPoints())}}
	with.CellData = []grid.Array{{Name: "wind", Comps: 2, Data: []int32{3, -4, 5, 6}}, {Name: "heat", Comps: 1, Data: []float64{1, 2}}}
	m := &grid.Mesh{Blocks: []grid.Block{{Grid: with}, {Grid: without}}}
	if got, want := Vectors(m), []string{"wind", "place"}; !slices.Equal(got, want) {
		t.Fatalf("vectors %v, want %v", got, want)
	}
	none := math.NaN()
	for _, tt := range []struct {
		name  string
		cells []uint32
		want  []float64
	}{
		{"wind", []uint32{0, 1, 2}, []float64{3, -4, 0, 5, 6, 0, none, none, none}},
		{"wind", []uint32{1}, []float64{5, 6, 0}},
		{"place", []uint32{0, 1}, []float64{0.5, 0.5, 0.5, 1.5, 0.5, 0.5}}, // the cells' middles
	} {
		got, err := VectorsOf(t.Context(), m, tt.name, tt.cells)
		check(t, err)
		if !slices.EqualFunc(got, tt.want, func(a, b float64) bool { return a == b || a != a && b != b }) {
			t.Errorf("%s of %v = %v, want %v", tt.name, tt.cells, got, tt.want)
		}
	}
	for _, name := range []string{"heat", "colour", "nothing"} {
		if _, err := VectorsOf(t.Context(), m, name, []uint32{0}); err == nil {
			t.Errorf("%s is no vector, but has values", name)
		}
	}
	if _, err := VectorsOf(t.Context(), m, "wind", []uint32{3}); err == nil {
		t.Error("a mesh of 3 cells has a cell 3")
	}
}
