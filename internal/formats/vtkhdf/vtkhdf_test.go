package vtkhdf

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/grid/gridtest"
)

func TestCan(t *testing.T) {
	f := test.Shared(t, "mesh/vtk/hdf/can-vtu.hdf")
	m, err := Read(f, 0)
	if err != nil {
		t.Fatal(err)
	}
	if m.NumPoints() != 6724 || m.NumCells() != 4800 {
		t.Errorf("%d points, %d cells", m.NumPoints(), m.NumCells())
	}
	// VTK leaves out the title, a variable-length string; we read it.
	g := m.Blocks[0].Grid
	if title := grid.Find(g.FieldData, "Title"); title == nil || !title.Text() {
		t.Errorf("title: %v", title)
	}
	g.FieldData = slices.DeleteFunc(g.FieldData, func(a grid.Array) bool { return a.Name == "Title" })
	gridtest.Same(t, m, gridtest.VTK(t, f)[f], "Title")
}

// TestNoType refuses a file that VTK refuses too: without the Type attribute
// nobody knows what the numbers mean.
func TestNoType(t *testing.T) {
	_, err := Read(test.Shared(t, "mesh/vtk/hdf/can_0.hdf"), 0)
	if err == nil || !strings.Contains(err.Error(), "no Type attribute") {
		t.Errorf("error %v", err)
	}
}

// made writes the files of make.py.
func made(t *testing.T) string {
	t.Helper()
	gridtest.Python(t)
	python := test.PythonPeer(t, "h5py", "python3-h5py")
	dir := t.TempDir()
	if out, err := exec.Command(python, "testdata/make.py", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// TestMade compares files written with h5py from the specification with VTK,
// for the types Debian's VTK reads, and with what was written for the others.
func TestMade(t *testing.T) {
	dir := made(t)
	for _, name := range []string{"image.hdf", "pieces.hdf", "amr.hdf"} {
		t.Run(name, func(t *testing.T) {
			f := filepath.Join(dir, name)
			m, err := Read(f, 0)
			if err != nil {
				t.Fatal(err)
			}
			gridtest.Same(t, m, gridtest.VTK(t, f)[f])
		})
	}
	for _, name := range []string{"steps.hdf", "shared.hdf"} {
		t.Run(name, func(t *testing.T) { sameGeometry(t, filepath.Join(dir, name)) })
	}
	t.Run("variables that are left out", func(t *testing.T) {
		m, err := Read(filepath.Join(dir, "leftout.hdf"), 0)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"CellData/short is left out: 7 values for 4 places", "CellData/waves is left out: elements of class 6 are not numbers"}
		if g := m.Blocks[0].Grid; g.NumCells() != 4 || len(g.CellData) != 1 || g.CellData[0].Name != "e" || !slices.Equal(m.Warnings, want) {
			t.Errorf("%d cells, %d variables, said %q", g.NumCells(), len(g.CellData), m.Warnings)
		}
	})
	t.Run("poly", func(t *testing.T) {
		m, err := Read(filepath.Join(dir, "poly.hdf"), 0)
		if err != nil {
			t.Fatal(err)
		}
		g := m.Blocks[0].Grid
		want := []grid.CellType{grid.Vertex, grid.Line, grid.Triangle, grid.Quad}
		if !slices.Equal(g.Types, want) || !slices.Equal(g.Conn, []int32{4, 0, 1, 0, 1, 2, 0, 1, 2, 3}) {
			t.Errorf("%v %v", g.Types, g.Conn)
		}
	})
}

// sameGeometry reads three steps of one topology: value = 100 step + cell.
func sameGeometry(t *testing.T, f string) {
	times, err := Times(f)
	if err != nil || !slices.Equal(times, []float64{0, 0.5, 1}) {
		t.Fatal(times, err)
	}
	for step := range 3 {
		m, err := Read(f, step)
		if err != nil {
			t.Fatal(err)
		}
		g := m.Blocks[0].Grid
		v := grid.Find(g.CellData, "value")
		if len(g.Types) != 2 || g.NumPoints() != 5 || v.At(1) != float64(100*step+1) || m.Time != times[step] {
			t.Errorf("step %d: %d cells, %d points, value %v, time %g", step, len(g.Types), g.NumPoints(), v.Data, m.Time)
		}
	}
}

// TestVariants reads files of VTKHDF 2.0 to 2.5, which Debian's VTK 9.2 does not
// read, written by the specification; each value says where it belongs.
func TestVariants(t *testing.T) {
	dir := made(t)
	read := func(t *testing.T, name string, step int) *grid.Mesh {
		t.Helper()
		m, err := Read(filepath.Join(dir, name), step)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	values := func(a *grid.Array) []float64 {
		var out []float64
		for i := range a.Values() {
			out = append(out, a.At(i))
		}
		return out
	}
	t.Run("amr in a plane", func(t *testing.T) {
		m := read(t, "flat.hdf", 0)
		if len(m.Levels) != 2 || m.Levels[1].Dim != 2 || len(m.Blocks) != 3 {
			t.Fatalf("%d levels, %d boxes", len(m.Levels), len(m.Blocks))
		}
		for k, want := range []struct {
			cells, points int
			first, point  float64
			origin        [3]float64
		}{{16, 25, 0, 0, [3]float64{1, 2, 3}}, {16, 25, 100, 0, [3]float64{1.5, 2.5, 3}}, {4, 9, 110, 25, [3]float64{2.5, 2.5, 3}}} {
			g := m.Blocks[k].Grid
			v, p := grid.Find(g.CellData, "v"), grid.Find(g.PointData, "p")
			if g.NumCells() != want.cells || g.NumPoints() != want.points || v.At(0) != want.first || p.At(0) != want.point || g.Origin != want.origin {
				t.Errorf("box %d: %d cells, %d points, v %g, p %g at %v", k, g.NumCells(), g.NumPoints(), v.At(0), p.At(0), g.Origin)
			}
		}
		if _, err := Read(filepath.Join(dir, "flat-xz.hdf"), 0); err == nil || !strings.Contains(err.Error(), "in the plane of x and y alone") {
			t.Errorf("a plane of x and z: %v", err)
		}
	})
	t.Run("image", func(t *testing.T) {
		times, err := Times(filepath.Join(dir, "image-steps.hdf"))
		if err != nil || !slices.Equal(times, []float64{0, 0.5, 2}) {
			t.Fatal(times, err)
		}
		for step, first := range []float64{0, 1000, 1000} { // the last repeats what the second has
			m := read(t, "image-steps.hdf", step)
			g := m.Blocks[0].Grid
			p, v, same := grid.Find(g.PointData, "p"), grid.Find(g.CellData, "v"), grid.Find(g.CellData, "same")
			if p.Len() != 24 || p.Comps != 1 || p.At(0) != first || p.At(23) != first+23 || m.Time != times[step] {
				t.Errorf("step %d: p %v at %g", step, p.Data, m.Time)
			}
			if v.Comps != 3 || v.Len() != 6 || v.At(17) != float64(100*step+17) || !slices.Equal(values(same), []float64{0, 1, 2, 3, 4, 5}) {
				t.Errorf("step %d: v %v, same %v", step, v.Data, same.Data)
			}
		}
		if _, err := Read(filepath.Join(dir, "image-steps.hdf"), 3); err == nil {
			t.Error("a fourth step is read")
		}
	})
	for _, name := range []string{"amr-steps.hdf", "amr-steps-22.hdf"} {
		t.Run(name, func(t *testing.T) {
			for step, boxes := range []int{1, 2, 3} {
				m := read(t, name, step)
				if len(m.Blocks) != boxes || len(m.Levels) != min(2, boxes) {
					t.Fatalf("step %d: %d boxes on %d levels", step, len(m.Blocks), len(m.Levels))
				}
				for i, b := range m.Blocks {
					rho, box := grid.Find(b.Grid.CellData, "rho"), max(0, i-1)
					if rho.Len() != 8 || rho.At(7) != float64(1000*step+100*box+7) {
						t.Errorf("step %d, box %d of level %d: %v", step, box, b.Level, rho.Data)
					}
				}
			}
		})
	}
	t.Run("poly", func(t *testing.T) {
		for step, want := range []struct {
			types []grid.CellType
			conn  []int32
			first float64
		}{
			{[]grid.CellType{grid.Vertex, grid.Triangle, grid.Triangle}, []int32{3, 0, 1, 2, 1, 2, 3}, 0},
			{[]grid.CellType{grid.Vertex, grid.Vertex, grid.Line, grid.Triangle, grid.Quad}, []int32{4, 0, 0, 1, 0, 1, 2, 1, 2, 3, 4}, 4},
			{[]grid.CellType{grid.Line, grid.Line, grid.Quad}, []int32{1, 2, 2, 3, 0, 1, 2, 3}, 9},
		} {
			g := read(t, "poly-steps.hdf", step).Blocks[0].Grid
			if !slices.Equal(g.Types, want.types) || !slices.Equal(g.Conn, want.conn) {
				t.Errorf("step %d: %v %v, want %v %v", step, g.Types, g.Conn, want.types, want.conn)
			}
			if c := grid.Find(g.CellData, "c"); c.At(0) != float64(100*step) || c.Len() != len(want.types) {
				t.Errorf("step %d: values %v", step, c.Data)
			}
			if p := grid.Find(g.PointData, "p"); p.At(0) != want.first {
				t.Errorf("step %d: points from %g on, want %g", step, p.At(0), want.first)
			}
		}
	})
	t.Run("polyhedra", func(t *testing.T) {
		m := read(t, "polyhedra.hdf", 0)
		checkSolids(t, m.Blocks[0].Grid, 0)
		for step := range 2 {
			m := read(t, "polyhedra-steps.hdf", step)
			checkSolids(t, m.Blocks[0].Grid, float64(10*step))
			if id := grid.Find(m.Blocks[0].Grid.CellData, "id"); id.At(0) != float64(3*step) {
				t.Errorf("step %d: ids %v", step, id.Data)
			}
		}
	})
	t.Run("collections", func(t *testing.T) {
		for name, want := range map[string][]string{"collection.hdf": {"b 2", "a 3"}, "multiblock.hdf": {"z 2", "inner/y 4", "inner/x 3"}} {
			m := read(t, name, 0)
			var got []string
			for _, b := range m.Blocks {
				got = append(got, fmt.Sprint(b.Name, " ", b.Grid.NumCells()))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s has blocks %v, want %v", name, got, want)
			}
		}
		checkSolids(t, read(t, "collection.hdf", 0).Blocks[1].Grid, 0)
	})
}

// checkSolids checks the cube and the tetrahedron that make.py writes: their
// faces enclose volumes of 1 and 1/6.
func checkSolids(t *testing.T, g *grid.Grid, at float64) {
	t.Helper()
	if !slices.Equal(g.Types, []grid.CellType{grid.Polyhedron, grid.Polyhedron, grid.Triangle}) || g.Point(0) != ([3]float64{at, at, at}) {
		t.Fatalf("cells %v from %v on", g.Types, g.Point(0))
	}
	for c, want := range []float64{1, 1. / 6} {
		volume := 0.0
		g.CellFaces(c, &grid.Scratch{}, func(f []int32) {
			for i := 1; i+1 < len(f); i++ {
				a, b, d := g.Point(int(f[0])), g.Point(int(f[i])), g.Point(int(f[i+1]))
				volume += grid.Dot(a, grid.Cross(b, d)) / 6
			}
		})
		if math.Abs(volume-want) > 1e-9 {
			t.Errorf("cell %d encloses %g, want %g", c, volume, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"steps.hdf", "multiblock.hdf", "amr-steps.hdf", "polyhedra-steps.hdf"} { // of make.py
		b, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		name := filepath.Join(t.TempDir(), "f.hdf")
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = Read(name, 0)
		_, _ = Read(name, 1)
		_, _ = Times(name)
	})
}
