package grid

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// solid makes a grid of one cell at the given corners.
func solid(t CellType, points ...float64) *Grid {
	g := &Grid{Layout: Unstructured, Points: Array{Comps: 3, Data: points}, Types: []CellType{t}, Offsets: []int{0, len(points) / 3}}
	for i := range len(points) / 3 {
		g.Conn = append(g.Conn, int32(i))
	}
	return g
}

// prism is a regular n-gon of radius 1 at z = 0 and z = 1.
func prism(t CellType, n int) *Grid {
	var p []float64
	for _, z := range []float64{0, 1} {
		for i := range n {
			a := 2 * math.Pi * float64(i) / float64(n)
			p = append(p, math.Cos(a), math.Sin(a), z)
		}
	}
	return solid(t, p...)
}

// TestFacesLookOutward integrates the volume of every solid over its faces:
// it is right and positive only if all faces are there and look outward.
func TestFacesLookOutward(t *testing.T) {
	cube := []float64{0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1}
	voxel := []float64{0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1}
	gon := func(n int) float64 { return float64(n) / 2 * math.Sin(2*math.Pi/float64(n)) }
	tests := []struct {
		g     *Grid
		faces int
		want  float64
	}{
		{solid(Tetra, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1), 4, 1.0 / 6},
		{solid(Hexahedron, cube...), 6, 1},
		{solid(Voxel, voxel...), 6, 1},
		{solid(Pyramid, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0.5, 0.5, 1), 5, 1.0 / 3},
		// VTK's wedge starts with the triangle whose normal looks out of it.
		{solid(Wedge, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 1, 1, 1, 0, 1), 5, 0.5},
		{prism(PentagonalPrism, 5), 7, gon(5)},
		{prism(HexagonalPrism, 6), 8, gon(6)},
		{solid(ConvexPointSet, voxel...), 6, 1},
		{solid(ConvexPointSet, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2, 0.1, 0.1, 0.1), 4, 8.0 / 6},
	}
	for _, tt := range tests {
		t.Run(tt.g.Types[0].String(), func(t *testing.T) {
			if err := tt.g.Check(); err != nil {
				t.Fatal(err)
			}
			n, volume := 0, 0.0
			tt.g.CellFaces(0, &Scratch{}, func(f []int32) {
				n++
				for k := 1; k+1 < len(f); k++ {
					a, b, c := tt.g.Point(int(f[0])), tt.g.Point(int(f[k])), tt.g.Point(int(f[k+1]))
					volume += Dot(a, Cross(b, c)) / 6
				}
			})
			if n != tt.faces || math.Abs(volume-tt.want) > 1e-12 {
				t.Errorf("%d faces around %g, want %d around %g", n, volume, tt.faces, tt.want)
			}
		})
	}
}

// TestCurvedCells has the corners first in every higher-order type.
func TestCurvedCells(t *testing.T) {
	for typ, s := range shapes {
		ids := make([]int32, max(int(s.nodes), 30))
		for i := range ids {
			ids[i] = int32(i)
		}
		if s.nodes > 0 {
			ids = ids[:s.nodes]
		}
		lin, corners := Linear(typ, ids)
		if lin != s.linear && typ != 36 {
			t.Errorf("%s becomes a %s, want a %s", typ, lin, s.linear)
		}
		if n := lin.Nodes(); n > 0 && len(corners) != n {
			t.Errorf("%s has %d corners, want %d", typ, len(corners), n)
		}
		if lin.Dim() != typ.Dim() {
			t.Errorf("%s of dimension %d becomes a %s of %d", typ, typ.Dim(), lin, lin.Dim())
		}
	}
}

func TestCheck(t *testing.T) {
	good := func() *Grid { return solid(Tetra, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1) }
	tests := []struct {
		name  string
		spoil func(*Grid)
		want  string
	}{
		{"point number", func(g *Grid) { g.Conn[2] = 4 }, "point number 4"},
		{"negative point", func(g *Grid) { g.Conn[0] = -1 }, "point number -1"},
		{"offsets", func(g *Grid) { g.Offsets[1] = 9 }, "offset 9"},
		{"unknown type", func(g *Grid) { g.Types[0] = 250 }, "type 250"},
		{"too few points", func(g *Grid) { g.Types[0] = Hexahedron }, "hexahedron of 4 points"},
		{"short array", func(g *Grid) { g.CellData = []Array{{Name: "e", Comps: 1, Data: []float64{}}} }, `cell array "e" has 0 tuples`},
		{"faces", func(g *Grid) { g.Faces, g.FaceStart = []int32{1, 3, 0, 1}, []int{0} }, "a face of 3 points"},
		{"extent", func(g *Grid) { *g = Grid{Layout: Image, Extent: [6]int{0, 1 << 30, 0, 1 << 30, 0, 1 << 30}} }, "too many cells"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := good()
			tt.spoil(g)
			if err := g.Check(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Check = %v, want %q", err, tt.want)
			}
		})
	}
	if err := good().Check(); err != nil {
		t.Error(err)
	}
}

func TestAssemble(t *testing.T) {
	piece := func(lo, hi int, v ...float64) *Grid {
		return &Grid{Layout: Image, Extent: [6]int{lo, hi, 0, 1, 0, 0}, CellData: []Array{{Name: "v", Comps: 1, Data: v}}}
	}
	g, err := Assemble([]*Grid{piece(0, 2, 1, 2), piece(2, 3, 3)}, [6]int{0, 3, 0, 1, 0, 0})
	if err != nil {
		t.Fatal(err)
	}
	if got := g.CellData[0].Data.([]float64); !slices.Equal(got, []float64{1, 2, 3}) {
		t.Errorf("cells %v", got)
	}
	if _, err := Assemble([]*Grid{piece(0, 1, 1)}, [6]int{0, 1 << 20, 0, 1 << 20, 0, 0}); err == nil {
		t.Error("pieces that do not fill the extent are accepted")
	}
}

func TestCovered(t *testing.T) {
	m := &Mesh{Levels: []Level{
		{Boxes: []Box{{Lo: [3]int{-2, 0, 0}, Hi: [3]int{1, 1, 0}}}, Ratio: 2, Dim: 2},
		{Boxes: []Box{{Lo: [3]int{-3, 1, 0}, Hi: [3]int{-1, 1, 0}}}, Ratio: 1, Dim: 2},
	}}
	// Fine cells -3 to -1 lie in coarse cells -2 and -1, fine row 1 in row 0.
	want := []bool{true, true, false, false, false, false, false, false}
	if got := m.Covered(0); !slices.Equal(got, want) {
		t.Errorf("Covered = %v, want %v", got, want)
	}
}
