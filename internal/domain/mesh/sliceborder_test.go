package mesh

import (
	"fmt"
	"math"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/grid"
)

// refined is a cube of 8³ coarse cells in eight boxes, of which the boxes of the lower
// half along x are refined once. The spacing has no exact form, so that the border of
// two boxes is at two places that differ in the last digit.
func refined() *grid.Mesh {
	m := &grid.Mesh{}
	add := func(level int, spacing float64, boxes ...grid.Box) {
		l := grid.Level{First: len(m.Blocks), Boxes: boxes, Ratio: 2, Origin: [3]float64{0.3, 0.3, 0.3}, Spacing: [3]float64{spacing, spacing, spacing}, Dim: 3}
		l.Domain = grid.Hull(boxes)
		for _, b := range boxes {
			g := &grid.Grid{Layout: grid.Image, Spacing: l.Spacing}
			for a := range b.Lo {
				// Files give each box an origin of its own.
				g.Origin[a] = l.Origin[a] + float64(b.Lo[a])*spacing
				g.Extent[2*a+1] = b.Hi[a] - b.Lo[a] + 1
			}
			m.Blocks = append(m.Blocks, grid.Block{Level: level, Grid: g})
		}
		m.Levels = append(m.Levels, l)
	}
	eighths := func(side, upTo int) (out []grid.Box) {
		for k := range 8 {
			lo := [3]int{k % 2 * side, k / 2 % 2 * side, k / 4 * side}
			if lo[0] < upTo {
				out = append(out, grid.Box{Lo: lo, Hi: [3]int{lo[0] + side - 1, lo[1] + side - 1, lo[2] + side - 1}})
			}
		}
		return out
	}
	add(0, 0.1, eighths(4, 8)...)
	add(1, 0.1/2, eighths(8, 1)...)
	return m
}

func shellArea(s *Shell) float64 {
	corner := func(v uint32) [3]float64 {
		return [3]float64{float64(s.Positions[3*v]), float64(s.Positions[3*v+1]), float64(s.Positions[3*v+2])}
	}
	area := 0.0
	for i := 0; i < len(s.Triangles); i += 3 {
		a, b, c := corner(s.Triangles[i]), corner(s.Triangles[i+1]), corner(s.Triangles[i+2])
		x := grid.Cross(grid.Sub(b, a), grid.Sub(c, a))
		area += math.Sqrt(grid.Dot(x, x)) / 2
	}
	return area
}

// TestSliceOnBorders: on the border of cells, boxes and levels a slice shows one layer
// of cells, whole: its area is that of the cross-section, at both ends too.
func TestSliceOnBorders(t *testing.T) {
	for name, open := range map[string]func(*testing.T) *grid.Mesh{
		"refined": func(*testing.T) *grid.Mesh { return refined() },
		"vthb": func(t *testing.T) *grid.Mesh {
			return sharedMesh(t, "mesh/vtk/AMR/HierarchicalBoxDataset.v1.1.vthb")
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := open(t)
			lo, hi := m.Bounds()
			keep := OfLevel(m, -1)
			fine := m.Levels[len(m.Levels)-1].Spacing
			for axis := range 3 {
				want := 1.0
				for a := range 3 {
					if a != axis {
						want *= hi[a] - lo[a]
					}
				}
				n := int(math.Round((hi[axis] - lo[axis]) / fine[axis]))
				for k := range n + 1 {
					var at, normal [3]float64
					at[axis], normal[axis] = lo[axis]+float64(k)/float64(n)*(hi[axis]-lo[axis]), 1
					for _, sign := range []float64{1, -1} {
						normal[axis] = sign
						s := drawn(t)(Slice(t.Context(), m, at, normal, keep))
						if got := shellArea(s); math.Abs(got-want) > 1e-4*want {
							t.Errorf("axis %d at %d of %d, normal %g: area %g, want %g", axis, k, n, sign, got, want)
						}
					}
				}
			}
		})
	}
}

func sharedMesh(t *testing.T, path string) *grid.Mesh {
	t.Helper()
	s, err := Open(t.Context(), test.Shared(t, path))
	if err != nil {
		t.Fatal(err)
	}
	m, err := s.Mesh(t.Context(), 0)
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", path, err))
	}
	return m
}
