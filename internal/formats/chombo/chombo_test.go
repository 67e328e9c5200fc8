package chombo

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/grid"
)

// TestPlotFile checks a real two-dimensional plot file. The sums were taken
// with h5py, the covered cells counted from the boxes by hand.
func TestPlotFile(t *testing.T) {
	m, err := Read(test.Shared(t, "mesh/chombo/plt000100.2d.hdf5"))
	if err != nil {
		t.Fatal(err)
	}
	if m.Cycle != 100 || math.Abs(m.Time-0.01) > 1e-12 || len(m.Levels) != 3 {
		t.Fatalf("cycle %d, time %g, %d levels", m.Cycle, m.Time, len(m.Levels))
	}
	tests := []struct {
		cells, open        int
		enthalpy, porosity float64
		spacing            float64
	}{
		{256, 64, 1545.3999, 247.6473, 0.0625},
		{768, 224, 4568.7873, 734.3840, 0.03125},
		{2176, 2176, 12630.4871, 2040.9329, 0.015625},
	}
	for l, tt := range tests {
		lev := &m.Levels[l]
		open := 0
		for _, c := range m.Covered(l) {
			if !c {
				open++
			}
		}
		if lev.Cells() != tt.cells || open != tt.open || lev.Spacing[0] != tt.spacing {
			t.Errorf("level %d: %d cells, %d not covered, spacing %g; want %d, %d, %g", l, lev.Cells(), open, lev.Spacing[0], tt.cells, tt.open, tt.spacing)
		}
		for name, want := range map[string]float64{"Enthalpy": tt.enthalpy, "Porosity": tt.porosity} {
			sum := 0.0
			for i := range lev.Boxes {
				a := grid.Find(m.Blocks[lev.First+i].Grid.CellData, name)
				for k := range a.Len() {
					sum += a.At(k)
				}
			}
			if math.Abs(sum-want) > 1e-4 {
				t.Errorf("level %d: sum of %s is %.4f, want %.4f", l, name, sum, want)
			}
		}
	}
}

func TestInner(t *testing.T) {
	box := grid.Box{Lo: [3]int{2, 3, 0}, Hi: [3]int{3, 4, 0}}
	stored := grown(box, [3]int{1, 1, 0})
	values := make([]float64, 16)
	for i := range values {
		values[i] = float64(i)
	}
	got := inner(values, stored, box)
	want := []float64{5, 6, 9, 10} // the middle of a 4 by 4 square
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("inner = %v, want %v", got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	if b, err := os.ReadFile("testdata/small.hdf5"); err == nil {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		name := filepath.Join(t.TempDir(), "f.hdf5")
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _ = Read(name)
	})
}

// TestGhosts reads testdata/small.hdf5 (see make.py there): three dimensions,
// and boxes stored with a ghost layer whose values are negative.
func TestGhosts(t *testing.T) {
	m, err := Read("testdata/small.hdf5")
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Levels) != 2 || m.NumCells() != 64+64 || m.Cycle != 8 {
		t.Fatalf("%d levels, %d cells, cycle %d", len(m.Levels), m.NumCells(), m.Cycle)
	}
	covered := 0
	for _, c := range m.Covered(0) {
		if c {
			covered++
		}
	}
	if covered != 8 { // 4 x 4 x 4 fine cells are 2 x 2 x 2 coarse ones
		t.Errorf("%d covered cells, want 8", covered)
	}
	for l := range m.Levels {
		for b, box := range m.Levels[l].Boxes {
			for c, name := range []string{"rho", "p"} {
				a := grid.Find(m.Blocks[m.Levels[l].First+b].Grid.CellData, name)
				n := 0
				for k := box.Lo[2]; k <= box.Hi[2]; k++ {
					for j := box.Lo[1]; j <= box.Hi[1]; j++ {
						for i := box.Lo[0]; i <= box.Hi[0]; i++ {
							if want := float64(c*1000 + i + 10*j + 100*k); a.At(n) != want {
								t.Fatalf("level %d box %d %s at %d %d %d: %g, want %g", l, b, name, i, j, k, a.At(n), want)
							}
							n++
						}
					}
				}
			}
		}
	}
}

// TestHostileBox refuses a box of 10^12 cells before memory is taken for it.
func TestHostileBox(t *testing.T) {
	if _, err := volume(grid.Box{Hi: [3]int{9999, 9999, 9999}}); err == nil {
		t.Error("a box of 10^12 cells is accepted")
	}
}

// TestCheckpoint reads a file with a dataset a variable, whose values say where
// they belong; what is on faces is left out and said.
func TestCheckpoint(t *testing.T) { checkpoint(t, "testdata/checkpoint.hdf5") }

// TestCheckpointOfH5py reads the file that the installed h5py writes now.
func TestCheckpointOfH5py(t *testing.T) {
	python := test.PythonPeer(t, "h5py", "python3-h5py")
	script, err := filepath.Abs("testdata/make.py")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, script)
	cmd.Dir = t.TempDir()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	checkpoint(t, filepath.Join(cmd.Dir, "checkpoint.hdf5"))
}

func checkpoint(t *testing.T, path string) {
	t.Helper()
	m, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if m.Cycle != 40 || m.Time != 1.5 || len(m.Levels) != 2 || len(m.Blocks) != 3 {
		t.Fatalf("cycle %d, time %g, %d levels, %d blocks", m.Cycle, m.Time, len(m.Levels), len(m.Blocks))
	}
	if len(m.Warnings) != 1 || !strings.Contains(m.Warnings[0], "velocity is left out") {
		t.Errorf("warnings %q", m.Warnings)
	}
	for i, b := range m.Blocks {
		box := m.Levels[b.Level].Boxes[i-m.Levels[b.Level].First]
		for name, first := range map[string]float64{"density": 5000, "momentum_0": 0, "momentum_1": 1000} {
			a := grid.Find(b.Grid.CellData, name)
			if a == nil || a.Len() != box.Cells() {
				t.Fatalf("block %d: no whole %s", i, name)
			}
			k := 0
			for y := box.Lo[1]; y <= box.Hi[1]; y++ {
				for x := box.Lo[0]; x <= box.Hi[0]; x++ {
					if want := first + float64(x+10*y); a.At(k) != want {
						t.Fatalf("block %d: %s at %d, %d is %g, want %g", i, name, x, y, a.At(k), want)
					}
					k++
				}
			}
		}
	}
}
