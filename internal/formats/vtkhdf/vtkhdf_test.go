package vtkhdf

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"isobath/internal/grid"
	"isobath/internal/grid/gridtest"
	"isobath/internal/test"
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

// TestMade compares files written with h5py from the specification with VTK,
// for the types Debian's VTK reads, and with what was written for the others.
func TestMade(t *testing.T) {
	python := gridtest.Python(t)
	dir := t.TempDir()
	if out, err := exec.Command(python, "testdata/make.py", dir).CombinedOutput(); err != nil {
		if os.Getenv("ISOBATH_PEERS") == "require" {
			t.Fatalf("%v: %s", err, out)
		}
		t.Skipf("h5py is not installed (Debian package python3-h5py): %s", out)
	}
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
	t.Run("steps", func(t *testing.T) {
		f := filepath.Join(dir, "steps.hdf")
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
			// As written: the geometry stays, value = 100 step + cell.
			v := grid.Find(g.CellData, "value")
			if len(g.Types) != 2 || g.NumPoints() != 5 || v.At(1) != float64(100*step+1) || m.Time != times[step] {
				t.Errorf("step %d: %d cells, %d points, value %v, time %g", step, len(g.Types), g.NumPoints(), v.Data, m.Time)
			}
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

func FuzzRead(f *testing.F) {
	b, err := os.ReadFile("testdata/steps.hdf")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		name := filepath.Join(t.TempDir(), "f.hdf")
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = Read(name, 0)
		_, _ = Read(name, 1)
	})
}
