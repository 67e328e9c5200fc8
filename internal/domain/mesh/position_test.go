package mesh

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/table"
)

// TestPositionsAsVTK places points in the deformed cells of LULESH as VTK's locator
// does. Its faces are not flat: VTK takes the trilinear cell, we the mean plane of each
// face, and a point in the sliver between the two may go to the neighbour.
func TestPositionsAsVTK(t *testing.T) {
	file := filepath.Join(test.Fixture(t, "mesh/lulesh"), "lulesh_c0540.vtk")
	pvpython := test.Peer(t, "pvpython", "paraview")
	series, err := Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	m, err := series.Mesh(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	lo, hi := m.Bounds()
	random := rand.New(rand.NewPCG(1, 2))
	p := &Positions{}
	var text strings.Builder
	for range 4000 {
		at := [3]float64{}
		for a := range at {
			at[a] = lo[a] - 0.05 + (hi[a]-lo[a]+0.1)*random.Float64()
		}
		p.X, p.Y, p.Z = append(p.X, at[0]), append(p.Y, at[1]), append(p.Z, at[2])
		fmt.Fprintln(&text, at[0], at[1], at[2])
	}
	points := filepath.Join(t.TempDir(), "points")
	if err := os.WriteFile(points, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(pvpython, "testdata/find_cells.py", file, points).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sp, err := NewSpace(m)
	if err != nil {
		t.Fatal(err)
	}
	differ, inside := 0, 0
	for i, c := range located(t, p, m, sp) {
		var want int32
		if _, err := fmt.Sscan(strings.Fields(string(out))[i], &want); err != nil {
			t.Fatal(err)
		}
		if c >= 0 {
			inside++
		}
		if max(c, -1) != want {
			differ++
		}
	}
	t.Logf("%d of %d points in cells, %d placed otherwise than by VTK", inside, len(p.X), differ)
	if inside < 1000 || differ > len(p.X)/200 {
		t.Errorf("%d points in cells, %d placed otherwise", inside, differ)
	}
}

// TestPositionsOfImage compares with arithmetic, in two and three dimensions.
func TestPositionsOfImage(t *testing.T) {
	for _, extent := range [][6]int{{0, 7, 0, 5, 0, 3}, {0, 9, 0, 4, 0, 0}} {
		g := &grid.Grid{Layout: grid.Image, Origin: [3]float64{-1, 2, 0}, Spacing: [3]float64{0.5, 2, 1}, Extent: extent}
		m := &grid.Mesh{Blocks: []grid.Block{{Grid: g}}}
		sp, err := NewSpace(m)
		if err != nil {
			t.Fatal(err)
		}
		random, d := rand.New(rand.NewPCG(3, 4)), g.CellDims()
		for range 2000 {
			c := [3]int{random.IntN(d[0]+2) - 1, random.IntN(d[1]+2) - 1, random.IntN(d[2])}
			at := [3]float64{}
			for a := range at {
				at[a] = g.Origin[a] + (float64(c[a])+0.01+0.98*random.Float64())*g.Spacing[a]
			}
			if extent[5] == 0 {
				at[2] = 0
			}
			want := int32(OutOfRange)
			if c[0] >= 0 && c[0] < d[0] && c[1] >= 0 && c[1] < d[1] {
				want = int32(c[0] + d[0]*(c[1]+d[1]*c[2]))
			}
			if got := located(t, &Positions{X: at[:1], Y: at[1:2], Z: at[2:]}, m, sp)[0]; got != want {
				t.Fatalf("%v is in cell %d, found %d", at, want, got)
			}
		}
	}
}

// TestPositionsOfTriangles places points in triangles of a plane in space.
func TestPositionsOfTriangles(t *testing.T) {
	g := &grid.Grid{Layout: grid.Unstructured, Points: grid.Array{Comps: 3, Data: []float64{0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1}},
		Types: []grid.CellType{grid.Triangle, grid.Triangle}, Offsets: []int{0, 3, 6}, Conn: []int32{0, 1, 2, 0, 2, 3}}
	m := &grid.Mesh{Blocks: []grid.Block{{Grid: g}}}
	sp, err := NewSpace(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at   [3]float64
		want int32
	}{{[3]float64{0.7, 0.2, 1}, 0}, {[3]float64{0.2, 0.7, 1}, 1}, {[3]float64{0.5, 0.5, 1}, 0}, {[3]float64{0.2, 0.7, 1.5}, OutOfRange}, {[3]float64{1.2, 0.7, 1}, OutOfRange}} {
		if got := located(t, &Positions{X: c.at[:1], Y: c.at[1:2], Z: c.at[2:]}, m, sp)[0]; got != c.want {
			t.Errorf("%v: cell %d, want %d", c.at, got, c.want)
		}
	}
}

// TestPositionsOnView takes x, y, z with fractions for coordinates, and says why
// samples lie outside.
func TestPositionsOnView(t *testing.T) {
	series, err := UnitMesh(t.Context(), [3]int{4, 3, 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		x    any
		want string
		why  string
	}{
		{[]float64{0.5, 3.5, 9}, "[0 3 -2]", "x goes from 0.5 to 9, the mesh from 0 to 4"},
		{[]float64{0, 3, 9}, "[0 3 -2]", "x goes from 0 to 9, the mesh has 4 cells along it"},
		{[]int64{1, 2, 4}, "[1 2 -2]", "--first 1"},
	} {
		zero := []float64{0, 0, 0}
		columns := []*table.Column{{Name: "x", Data: c.x}, {Name: "y", Data: zero}, {Name: "z", Data: zero}}
		if _, whole := c.x.([]int64); whole {
			columns = columns[:1]
		}
		tab, err := table.New("samples", columns)
		if err != nil {
			t.Fatal(err)
		}
		v, err := NewView(t.Context(), series, tab, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := v.At(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(p.Place); got != c.want {
			t.Errorf("x %v: cells %s, want %s", c.x, got, c.want)
		}
		if why := v.WhyOutside(p); !strings.Contains(why, c.why) {
			t.Errorf("x %v: %q does not say %q", c.x, why, c.why)
		}
	}
}

func located(t *testing.T, p *Positions, m *grid.Mesh, sp *Space) []int32 {
	t.Helper()
	place, err := LocatePositions(t.Context(), p, m, sp)
	if err != nil {
		t.Fatal(err)
	}
	return place
}
