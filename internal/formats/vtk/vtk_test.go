package vtk

import (
	"archive/zip"
	"errors"
	"io/fs"
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

// TestEqualToVTK compares every number of the fixtures with what VTK reads from
// them.
func TestEqualToVTK(t *testing.T) {
	equalToVTK(t, test.Fixture(t, "mesh/lulesh"), 5)
}

// TestSharedEqualToVTK does the same for every VTK file in the shared data.
func TestSharedEqualToVTK(t *testing.T) {
	equalToVTK(t, test.Shared(t, "mesh/vtk"), 145)
}

func equalToVTK(t *testing.T, root string, least int) {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		switch filepath.Ext(path) {
		case ".vtk", ".vtu", ".vtp", ".vti", ".vtr", ".vts", ".vtm", ".vthb":
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < least {
		t.Fatalf("found %d files, want at least %d", len(files), least)
	}
	slices.Sort(files)
	want := gridtest.VTK(t, files...)
	for _, f := range files {
		t.Run(strings.TrimPrefix(f, root+"/"), func(t *testing.T) {
			m, err := Read(f)
			if err != nil {
				t.Fatal(err)
			}
			gridtest.Same(t, m, want[f])
		})
	}
}

// TestFormsOfVTK compares files that VTK's writers make now, in every form
// they have, with what VTK reads back from them.
func TestFormsOfVTK(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command(gridtest.Python(t), "testdata/make.py", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, e := range entries {
		if !e.IsDir() && !strings.HasPrefix(e.Name(), "parallel_") {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	want := gridtest.VTK(t, files...)
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			m, err := Read(f)
			if err != nil {
				t.Fatal(err)
			}
			gridtest.Same(t, m, want[f])
		})
	}
}

// TestParallelPieces reads a parallel file of a real code, whose counts carry
// a plus sign, and compares it with VTK.
func TestParallelPieces(t *testing.T) {
	dir := t.TempDir()
	unzip(t, test.Shared(t, "mesh/vtk/pvtu_blood_vessels/blood_vessels.zip"), dir)
	var file string
	_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, _ error) error {
		if filepath.Ext(path) == ".pvtu" {
			file = path
		}
		return nil
	})
	m, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	if m.NumPoints() != 48823 || m.NumCells() != 39353 {
		t.Errorf("%d points, %d cells; want 48823 and 39353", m.NumPoints(), m.NumCells())
	}
	gridtest.Same(t, m, gridtest.VTK(t, file)[file])
}

func unzip(t *testing.T, from, to string) {
	t.Helper()
	z, err := zip.OpenReader(from)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	if err := os.CopyFS(to, z); err != nil {
		t.Fatal(err)
	}
}

func TestSteps(t *testing.T) {
	dir := test.Shared(t, "mesh/vtk/PVD/paraview")
	tests := []struct {
		file         string
		steps, parts int
		last         float64
		timed        bool
	}{
		{"singleSphereAnimation.pvd", 11, 1, 10, true},
		{"dualSphereAnimation.pvd", 11, 2, 10, true},
		{"dualSphereNoTime.pvd", 1, 2, 0, false},
		{"dualSphereAnimation/dualSphereAnimation.vtp.series", 11, 1, 25, true},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			steps, ok, err := Steps(filepath.Join(dir, tt.file))
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			last := steps[len(steps)-1]
			if len(steps) != tt.steps || len(last.Files) != tt.parts || last.HasTime != tt.timed {
				t.Errorf("%d steps of %d files, timed %v; want %d, %d, %v", len(steps), len(last.Files), last.HasTime, tt.steps, tt.parts, tt.timed)
			}
			if tt.timed && last.Time != tt.last {
				t.Errorf("last time %g, want %g", last.Time, tt.last)
			}
			for _, s := range steps {
				for _, f := range s.Files {
					if _, err := Read(f); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
}

// TestWrite writes meshes of every layout as .vtu and .vtk and lets VTK and
// ourselves read them back.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command(gridtest.Python(t), "testdata/make.py", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var files []string
	want := map[string]*grid.Mesh{}
	for _, name := range []string{"vtu-appended-zlib-0.vtu", "vtp-ascii-plain-0.vtp", "vti-ascii-plain-0.vti", "vtr-ascii-plain-0.vtr",
		"vts-ascii-plain-0.vts", "image-flat.vti", "blocks.vtm", "parallel.pvtu"} {
		m, err := Read(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		flat, err := m.Flatten()
		if err != nil {
			t.Fatal(err)
		}
		flat.FieldData = slices.DeleteFunc(flat.FieldData, func(a grid.Array) bool { return a.Text() })
		for _, ext := range []string{".out.vtu", ".out.vtk"} {
			if ext == ".out.vtk" && flat.FaceStart != nil {
				continue
			}
			path := filepath.Join(dir, name+ext)
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			if ext == ".out.vtu" {
				err = WriteVTU(f, flat)
			} else {
				err = WriteLegacy(f, flat, "title")
			}
			if err := errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
			files = append(files, path)
			want[path] = &grid.Mesh{Blocks: []grid.Block{{Grid: flat}}}
		}
	}
	vtk := gridtest.VTK(t, files...)
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			if filepath.Ext(f) == ".vtk" {
				// A file before version 5.1 has the old order in high-order hexahedra.
				renumberHexahedra(want[f].Blocks[0].Grid)
			}
			gridtest.Same(t, want[f], vtk[f])
			back, err := Read(f)
			if err != nil {
				t.Fatal(err)
			}
			gridtest.Same(t, back, vtk[f])
		})
	}
}

// TestCutOff reads every beginning of files of two parts: one that ends behind the first
// part must not pass for a smaller file.
func TestCutOff(t *testing.T) {
	const piece = `<Piece NumberOfPoints="1" NumberOfCells="1"><Points><DataArray type="Float32" NumberOfComponents="3" format="ascii">0 0 0</DataArray></Points>` +
		`<Cells><DataArray type="Int32" Name="connectivity" format="ascii">0</DataArray><DataArray type="Int32" Name="offsets" format="ascii">1</DataArray>` +
		`<DataArray type="UInt8" Name="types" format="ascii">1</DataArray></Cells></Piece>`
	dir := t.TempDir()
	grid := `<VTKFile type="UnstructuredGrid"><UnstructuredGrid>` + piece + piece + `</UnstructuredGrid></VTKFile>`
	if err := os.WriteFile(filepath.Join(dir, "a.vtu"), []byte(grid), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"half.vtu": grid,
		"half.vtm": `<VTKFile type="vtkMultiBlockDataSet"><vtkMultiBlockDataSet><DataSet index="0" file="a.vtu"/><DataSet index="1" file="a.vtu"/></vtkMultiBlockDataSet></VTKFile>`,
		"half.pvd": `<VTKFile type="Collection"><Collection><DataSet timestep="0" file="a.vtu"/><DataSet timestep="1" file="a.vtu"/></Collection></VTKFile>`,
	} {
		path := filepath.Join(dir, name)
		read := func(text string) error {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			if steps, ok, err := Steps(path); ok || err != nil {
				if err == nil && len(steps) != 2 {
					t.Errorf("%s: %d steps", name, len(steps))
				}
				return err
			}
			_, err := Read(path)
			return err
		}
		if err := read(text); err != nil {
			t.Fatal(err)
		}
		for n := range len(text) {
			if read(text[:n]) == nil {
				t.Errorf("%s is read from %q on", name, text[max(0, n-30):n])
			}
		}
		if name != "half.pvd" {
			continue
		}
		if err := read(text[:strings.Index(text, `"a.vtu"/>`)+9]); err == nil || !strings.Contains(err.Error(), name+": the file ends inside <Collection>") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
