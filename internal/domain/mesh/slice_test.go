package mesh

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/isobath/isobath/internal/data/grid"
)

// crumpled is a cube of n³ hexahedra whose inner points are moved by up to the
// given part of a cell; the sides of the cube stay flat, at 0 and n.
func crumpled(n int, by float64, seed uint64) *grid.Mesh {
	rng := rand.New(rand.NewPCG(seed, 1))
	g := &grid.Grid{Layout: grid.Structured, Extent: [6]int{0, n, 0, n, 0, n}}
	var points []float64
	for i := range (n + 1) * (n + 1) * (n + 1) {
		for _, x := range [3]int{i % (n + 1), i / (n + 1) % (n + 1), i / (n + 1) / (n + 1)} {
			at := float64(x)
			if x > 0 && x < n {
				at += by * (2*rng.Float64() - 1)
			}
			points = append(points, at)
		}
	}
	g.Points = grid.Array{Name: "points", Comps: 3, Data: points}
	return &grid.Mesh{Blocks: []grid.Block{{Grid: g}}}
}

// TestSliceOfCrumpledCells: the cuts of neighbours meet, so a slice has lines
// only where it ends, at the sides of the cube; and together they have the area
// of the whole cut.
func TestSliceOfCrumpledCells(t *testing.T) {
	const n = 6
	for _, tt := range []struct {
		by     float64
		at     [3]float64
		normal [3]float64
		area   float64 // 0: not known
	}{
		{0.45, [3]float64{0, 0, 2.37}, [3]float64{0, 0, 1}, 0},
		{0.45, [3]float64{3.1, 2.9, 3.3}, [3]float64{1, 2, -1}, 0},
		{0.25, [3]float64{0, 0, 2.37}, [3]float64{0, 0, 1}, n * n},
		{0.25, [3]float64{0, 3.71, 0}, [3]float64{0, -1, 0}, n * n},
		{0.25, [3]float64{0, 3, 0}, [3]float64{1, -1, 0}, 0},
	} {
		t.Run(fmt.Sprint(tt.by, tt.normal), func(t *testing.T) {
			for seed := range uint64(20) {
				s := drawn(t)(Slice(t.Context(), crumpled(n, tt.by, seed), tt.at, tt.normal, nil))
				corner := func(v uint32) [3]float64 {
					return [3]float64{float64(s.Positions[3*v]), float64(s.Positions[3*v+1]), float64(s.Positions[3*v+2])}
				}
				for i := 0; i < len(s.Features); i += 2 {
					a, b := corner(s.Features[i]), corner(s.Features[i+1])
					if !onSide(a, b, n) {
						t.Fatalf("seed %d: a line from %v to %v, inside the cube", seed, a, b)
					}
				}
				area := 0.0
				for i := 0; i < len(s.Triangles); i += 3 {
					a, b, c := corner(s.Triangles[i]), corner(s.Triangles[i+1]), corner(s.Triangles[i+2])
					x := grid.Cross(grid.Sub(b, a), grid.Sub(c, a))
					area += math.Sqrt(grid.Dot(x, x)) / 2
				}
				if tt.area > 0 && math.Abs(area-tt.area) > 1e-4*tt.area {
					t.Errorf("seed %d: area %g, want %g", seed, area, tt.area)
				}
				if len(s.Features) == 0 {
					t.Errorf("seed %d: no outline", seed)
				}
			}
		})
	}
}

// onSide reports whether two points lie on the same side of the cube.
func onSide(a, b [3]float64, n float64) bool {
	for k := range a {
		for _, side := range [2]float64{0, n} {
			if math.Abs(a[k]-side) < 1e-5 && math.Abs(b[k]-side) < 1e-5 {
				return true
			}
		}
	}
	return false
}

// TestTriangulateConcave: an arrow head has the area that its outline has.
func TestTriangulateConcave(t *testing.T) {
	for name, p := range map[string][][3]float64{
		"arrow":       {{0, 0, 0}, {4, -2, 0}, {1, 0, 0}, {4, 2, 0}},
		"staircase":   {{0, 0, 0}, {3, 0, 0}, {3, 1, 0}, {2, 1, 0}, {2, 2, 0}, {1, 2, 0}, {1, 3, 0}, {0, 3, 0}},
		"far away":    {{1e6, 1e6, 0}, {1e6 + 4, 1e6 - 2, 0}, {1e6 + 1, 1e6, 0}, {1e6 + 4, 1e6 + 2, 0}},
		"convex pent": {{0, 0, 0}, {2, 0, 0}, {3, 1, 0}, {1, 3, 0}, {0, 2, 0}},
	} {
		outline, sum, n := 0.0, 0.0, 0
		for i := range p {
			q := p[(i+1)%len(p)]
			outline += ((p[i][0]-p[0][0])*(q[1]-p[0][1]) - (q[0]-p[0][0])*(p[i][1]-p[0][1])) / 2
		}
		triangulate(p, newell(p), func(i, j, k int) {
			n++
			sum += math.Abs(turn(p[i], p[j], p[k], [3]float64{0, 0, 1})) / 2
		})
		if n != len(p)-2 || math.Abs(sum-outline) > 1e-9 {
			t.Errorf("%s: %d triangles of area %g, want %d of %g", name, n, sum, len(p)-2, outline)
		}
	}
}
