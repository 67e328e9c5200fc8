package mesh

import (
	"math"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/data/grid"
)

// TestContour: the contour of the distance from the middle is a sphere of that radius,
// closed, and of a variable that rises along x it is the slice there.
func TestContour(t *testing.T) {
	const n, radius = 24, 8.3
	g := box(n, n, n, 0)
	r, x := make([]float64, g.NumPoints()), make([]float64, g.NumPoints())
	for i := range r {
		p := g.Point(i)
		r[i], x[i] = math.Hypot(math.Hypot(p[0]-n/2, p[1]-n/2), p[2]-n/2), p[0]
	}
	g.PointData = []grid.Array{{Name: "r", Comps: 1, Data: r}, {Name: "x", Comps: 1, Data: x}}
	m := &grid.Mesh{Blocks: []grid.Block{{Grid: g}}}
	s, err := Contour(t.Context(), m, "r", nil, radius, nil)
	check(t, err)
	point := func(i uint32) [3]float64 {
		return [3]float64{float64(s.Positions[3*i]) - n/2, float64(s.Positions[3*i+1]) - n/2, float64(s.Positions[3*i+2]) - n/2}
	}
	area, sides := 0.0, map[[2]uint32]int{}
	for k := 0; k < len(s.Triangles); k += 3 {
		v := s.Triangles[k : k+3]
		a, b, c := point(v[0]), point(v[1]), point(v[2])
		if far := math.Sqrt(grid.Dot(a, a)); math.Abs(far-radius) > 0.05 {
			t.Fatalf("a corner is %.3f from the middle, want %.3f", far, radius)
		}
		w := grid.Cross(grid.Sub(b, a), grid.Sub(c, a))
		area += math.Sqrt(grid.Dot(w, w)) / 2
		for i := range v {
			p, q := v[i], v[(i+1)%3]
			sides[[2]uint32{min(p, q), max(p, q)}]++
		}
	}
	for side, count := range sides {
		if count != 2 {
			t.Fatalf("%d triangles meet at side %v: the sphere is not closed", count, side)
		}
	}
	if want := 4 * math.Pi * radius * radius; math.Abs(area-want) > 0.02*want {
		t.Errorf("area %.1f, want %.1f", area, want)
	}
	s, err = Contour(t.Context(), m, "x", nil, 7.25, nil)
	check(t, err)
	slice, err := Slice(t.Context(), m, [3]float64{7.25, 0, 0}, [3]float64{1, 0, 0}, nil)
	check(t, err)
	if s.Polygons != slice.Polygons || !slices.Equal(s.Cells, slice.Cells) {
		t.Errorf("%d faces, the slice has %d", s.Polygons, slice.Polygons)
	}
}

// TestContourOfCells: a variable on cells has at a point the mean of the cells around it;
// cells without a value have no contour.
func TestContourOfCells(t *testing.T) {
	g := box(4, 1, 1, 0)
	values := []float64{0, 2, 4, math.NaN()}
	g.CellData = []grid.Array{{Name: "v", Comps: 1, Data: values}}
	m := &grid.Mesh{Blocks: []grid.Block{{Grid: g}}}
	s, err := Contour(t.Context(), m, "v", values, 2.5, nil) // points have 0, 1, 3, 4 and none
	check(t, err)
	if s.Polygons != 1 || s.Cells[0] != 1 || s.Positions[0] != 1.75 {
		t.Errorf("%d faces of cells %v at %v, want one of cell 1 at x = 1.75", s.Polygons, s.Cells, s.Positions)
	}
}

// TestClip: three planes leave the cells of a corner, and one that is kept out stays out.
func TestClip(t *testing.T) {
	m := &grid.Mesh{Blocks: []grid.Block{{Grid: box(4, 4, 4, 0)}}}
	keep := slices.Repeat([]bool{true}, 64)
	keep[0] = false
	within := []HalfSpace{{[3]float64{1, 0, 0}, 2}, {[3]float64{0, -1, 0}, -1}, {[3]float64{1, 1, 1}, 4}}
	got, err := Clip(t.Context(), m, keep, within)
	check(t, err)
	for c, in := range got {
		x, y, z := float64(c%4)+0.5, float64(c/4%4)+0.5, float64(c/16)+0.5
		if want := c != 0 && x <= 2 && y >= 1 && x+y+z <= 4; in != want {
			t.Errorf("cell %d: %v, want %v", c, in, want)
		}
	}
	if all, err := Clip(t.Context(), m, nil, nil); err != nil || all != nil {
		t.Errorf("without planes: %v %v", all, err)
	}
}
