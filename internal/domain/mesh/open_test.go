package mesh

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/formats/vtk"
)

func TestSeries(t *testing.T) {
	tests := []struct {
		name       string
		paths      []string
		iterations []int64
		from       string
	}{
		{"pattern", []string{"lulesh/lulesh_c*.vtk"}, []int64{60, 180, 300, 420, 540}, "file"},
		{"out of order", []string{"lulesh/lulesh_c0300.vtk", "lulesh/lulesh_c0060.vtk"}, []int64{60, 300}, "file"},
		{"silo", []string{"lulesh/lulesh_plot_c*"}, []int64{60, 300, 575}, "file"},
		{"chombo", []string{"chombo/."}, []int64{100}, "file"},
		{"collection", []string{"vtk/PVD/paraview/dualSphereAnimation.pvd"}, []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, "name"},
		{"one file", []string{"vtk/can.vtu"}, []int64{0}, "ordinal"},
		{"levels", []string{"vtk/AMR/HierarchicalBoxDataset.v1.1.vthb"}, []int64{0}, "ordinal"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var paths []string
			for _, p := range tt.paths {
				paths = append(paths, filepath.Join(test.Shared(t, "mesh/"+filepath.Dir(p)), filepath.Base(p)))
			}
			s, err := Open(t.Context(), paths...)
			if err != nil {
				t.Fatal(err)
			}
			var got []int64
			for i, st := range s.Steps {
				got = append(got, st.Iteration)
				if _, err := s.Mesh(t.Context(), i); err != nil {
					t.Error(err)
				}
			}
			if !slices.Equal(got, tt.iterations) || s.Steps[0].From != tt.from {
				t.Errorf("iterations %v from %s, want %v from %s", got, s.Steps[0].From, tt.iterations, tt.from)
			}
		})
	}
	if _, err := Open(t.Context(), filepath.Join(t.TempDir(), "none*.vtk")); err == nil {
		t.Error("a pattern that matches nothing is accepted")
	}
}

func TestDigits(t *testing.T) {
	for name, want := range map[string]int64{"a/lulesh_c0300.vtk": 300, "plt000100.2d.hdf5": 100, "dump12_3.vtu": 3} {
		if got, ok := digits(name); !ok || got != want {
			t.Errorf("digits(%q) = %d, %v; want %d", name, got, ok, want)
		}
	}
	for _, name := range []string{"mesh.vtk", "big5m.vti", "run2d.vtk", "a1b.vtu"} {
		if n, ok := digits(name); ok {
			t.Errorf("iteration %d in %s", n, name)
		}
	}
}

// TestIndexDims recognises a structured mesh that was written cell by cell, and
// nothing else.
func TestIndexDims(t *testing.T) {
	for name, want := range map[string][3]int{
		"lulesh/lulesh_c0300.vtk": {20, 20, 20}, "vtk/hexa.vtk": {22, 22, 22}, "vtk/can.vtu": {}, "vtk/office.binary.vtk": {20, 19, 19},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := vtk.Read(test.Shared(t, "mesh/"+name))
			if err != nil {
				t.Fatal(err)
			}
			if got := indexDims(m.Blocks[0].Grid); got != want {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}

// TestLevels finds every cell of every box of the adaptive meshes by its
// indices, and no other.
func TestLevels(t *testing.T) {
	for name, open := range map[string][]int{"mesh/vtk/AMR/HierarchicalBoxDataset.v1.1.vthb": {0, 117, 1260, 864}, "mesh/chombo/plt000100.2d.hdf5": {64, 224, 2176}} {
		s, err := Open(t.Context(), test.Shared(t, name))
		if err != nil {
			t.Fatal(err)
		}
		m, err := s.Mesh(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		sp, err := NewSpace(m)
		if err != nil {
			t.Fatal(err)
		}
		next := int32(0)
		for l := range m.Levels {
			for _, b := range m.Levels[l].Boxes {
				for k := b.Lo[2]; k <= b.Hi[2]; k++ {
					for j := b.Lo[1]; j <= b.Hi[1]; j++ {
						for i := b.Lo[0]; i <= b.Hi[0]; i++ {
							one := Samples{Rows: 1, X: []int32{int32(i)}, Y: []int32{int32(j)}, Z: []int32{int32(k)}, Level: []int32{int32(l)}}
							if got, _ := Locate(t.Context(), &one, sp, Numbering{}); got[0] != next {
								t.Fatalf("level %d cell %d %d %d: %d, want %d", l, i, j, k, got[0], next)
							}
							next++
						}
					}
				}
			}
			n := 0
			for _, c := range m.Covered(l) {
				if !c {
					n++
				}
			}
			if n != open[l] {
				t.Errorf("%s level %d: %d cells not covered, want %d", name, l, n, open[l])
			}
		}
		outside := Samples{Rows: 3, X: []int32{-1, 0, 0}, Y: []int32{0, 0, 0}, Z: []int32{0, 0, 0}, Level: []int32{0, 99, Missing}}
		if got, _ := Locate(t.Context(), &outside, sp, Numbering{}); !slices.Equal(got, []int32{OutOfRange, OutOfRange, NoLevel}) {
			t.Errorf("outside: %v", got)
		}
	}
}

// drawn is a shell that could be extracted.
func drawn(t *testing.T) func(*Shell, error) *Shell {
	return func(s *Shell, err error) *Shell {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
}

// TestExtract compares the number of faces of surfaces, thresholds and slices
// with those VTK extracts.
func TestExtract(t *testing.T) {
	const lulesh, can = "lulesh/lulesh_c0300.vtk", "vtk/can.vtu"
	surface := func(t *testing.T, m *grid.Mesh) *Shell { return drawn(t)(Surface(t.Context(), m, nil)) }
	within := func(name string, lo, hi float64) func(*testing.T, *grid.Mesh) *Shell {
		return func(t *testing.T, m *grid.Mesh) *Shell {
			v, err := Physics(t.Context(), m, name)
			if err != nil {
				t.Fatal(err)
			}
			return drawn(t)(Surface(t.Context(), m, Threshold(v, lo, hi)))
		}
	}
	tests := []struct {
		name, file string
		extract    func(*testing.T, *grid.Mesh) *Shell
		want       int
	}{
		{"lulesh", lulesh, surface, 2400},
		{"hexa", "vtk/hexa.vtk", surface, 2904},
		{"can", can, surface, 3680},
		{"e >= 1000", lulesh, within("e", 1000, math.Inf(1)), 498},
		{"region 11", lulesh, within("region", 11, 11), 3686},
		{"EQPS >= 1", can, within("EQPS", 1, math.Inf(1)), 2206},
		{"slice", lulesh, func(_ *testing.T, m *grid.Mesh) *Shell {
			return drawn(t)(Slice(t.Context(), m, [3]float64{0, 0, 0.5}, [3]float64{0, 0, 1}, nil))
		}, 419},
		{"image", "vtk/RectGrid2.vtk", surface, 2 * (46*32 + 46*10 + 32*10)},
		{"triangles", "vtk/ex-blow_5.vtm", surface, 1057},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := vtk.Read(test.Shared(t, "mesh/"+tt.file))
			if err != nil {
				t.Fatal(err)
			}
			got := tt.extract(t, m)
			if got.Polygons != tt.want {
				t.Errorf("%d faces, want %d", got.Polygons, tt.want)
			}
			for _, v := range got.Triangles {
				if int(v) >= len(got.Positions)/3 {
					t.Fatalf("vertex %d of %d", v, len(got.Positions)/3)
				}
			}
			if len(got.Cells)*3 != len(got.Triangles) {
				t.Errorf("%d cells for %d corners", len(got.Cells), len(got.Triangles))
			}
		})
	}
}

// TestCube checks orientation and edges on a mesh whose answer is known.
func TestCube(t *testing.T) {
	s, err := UnitMesh(t.Context(), [3]int{3, 3, 3})
	if err != nil {
		t.Fatal(err)
	}
	m, _ := s.Mesh(t.Context(), 0)
	shell := drawn(t)(Surface(t.Context(), m, nil))
	if shell.Polygons != 54 || len(shell.Positions)/3 != 56 {
		t.Errorf("%d faces, %d vertices; want 54 and 56", shell.Polygons, len(shell.Positions)/3)
	}
	if len(shell.Features)/2 != 12*3 || len(shell.Edges)/2 != 108 {
		t.Errorf("%d feature edges of %d, want 36 of 108", len(shell.Features)/2, len(shell.Edges)/2)
	}
	volume := 0.0
	p := func(v uint32) [3]float64 {
		return [3]float64{float64(shell.Positions[3*v]), float64(shell.Positions[3*v+1]), float64(shell.Positions[3*v+2])}
	}
	for i := 0; i < len(shell.Triangles); i += 3 {
		volume += grid.Dot(p(shell.Triangles[i]), grid.Cross(p(shell.Triangles[i+1]), p(shell.Triangles[i+2]))) / 6
	}
	if math.Abs(volume-27) > 1e-9 {
		t.Errorf("the faces enclose %g, want 27: they do not all look outward", volume)
	}
	keep := make([]bool, 27)
	keep[13] = true
	if s := drawn(t)(Surface(t.Context(), m, keep)); s.Polygons != 6 {
		t.Errorf("the middle cell has %d faces", s.Polygons)
	}
	cut := drawn(t)(Slice(t.Context(), m, [3]float64{1.5, 1.5, 1.5}, [3]float64{1, 1, 1}, nil))
	area := 0.0
	q := func(v uint32) [3]float64 {
		return [3]float64{float64(cut.Positions[3*v]), float64(cut.Positions[3*v+1]), float64(cut.Positions[3*v+2])}
	}
	for i := 0; i < len(cut.Triangles); i += 3 {
		c := grid.Cross(grid.Sub(q(cut.Triangles[i+1]), q(cut.Triangles[i])), grid.Sub(q(cut.Triangles[i+2]), q(cut.Triangles[i])))
		area += math.Sqrt(grid.Dot(c, c)) / 2
	}
	// A cube of side 3 cut across its middle is a hexagon of side 3/sqrt 2.
	if want := 3 * math.Sqrt(3) / 2 * 4.5; math.Abs(area-want) > 1e-5 {
		t.Errorf("the cut has area %g, want %g", area, want)
	}
}

func TestDescribe(t *testing.T) {
	i, err := Describe(t.Context(), filepath.Join(test.Fixture(t, "mesh/lulesh"), "lulesh_c*.vtk"))
	if err != nil {
		t.Fatal(err)
	}
	if i.Cells != 8000 || i.Points != 9261 || len(i.Iterations) != 5 || !slices.Equal(i.Dims, []int{20, 20, 20}) || len(i.Fields) != 6 {
		t.Errorf("%+v", i)
	}
}

// TestHostile refuses claims of impossible size at once.
func TestHostile(t *testing.T) {
	for name, text := range map[string]string{
		"points.vtk":  "# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 10000 10000 10001\nORIGIN 0 0 0\nSPACING 1 1 1\n",
		"cells.vtk":   "# vtk DataFile Version 3.0\nt\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 1000000000000 float\n",
		"rows.vtk":    "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 1 float\n0 0 0\nCELLS 1000000000000 9000000000000\n",
		"image.vti":   `<VTKFile type="ImageData"><ImageData WholeExtent="0 10000 0 10000 0 10000" Origin="0 0 0" Spacing="1 1 1"><Piece Extent="0 10000 0 10000 0 10000"/></ImageData></VTKFile>`,
		"grid.vtu":    `<VTKFile type="UnstructuredGrid"><UnstructuredGrid><Piece NumberOfPoints="1000000000000" NumberOfCells="1000000000000"><Points><DataArray type="Float32" NumberOfComponents="3" format="ascii">0 0 0</DataArray></Points></Piece></UnstructuredGrid></VTKFile>`,
		"escape.pvtu": `<VTKFile type="PUnstructuredGrid"><PUnstructuredGrid><Piece Source="../../etc/passwd"/></PUnstructuredGrid></VTKFile>`,
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), path)
		if err == nil {
			_, err = s.Mesh(t.Context(), 0)
		}
		if err == nil {
			t.Errorf("%s is accepted", name)
		} else {
			t.Log(err)
		}
	}
	if _, err := UnitMesh(t.Context(), [3]int{10000, 10000, 10000}); err == nil {
		t.Error("a mesh of 10^12 unit cells is accepted")
	}
}

// TestUnrelatedFiles holds that files of other names are no time steps, and that
// a folder gives the dumps of one series.
func TestUnrelatedFiles(t *testing.T) {
	const cube = "# vtk DataFile Version 3.0\none cell\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 2 2 2\nORIGIN 0 0 0\nSPACING 1 1 1\n"
	dir := t.TempDir()
	put := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(cube), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, b := put("wing.vtk"), put("tail.vtk")
	if _, err := Open(t.Context(), a, b); err == nil || !strings.Contains(err.Error(), "no dumps of one series") {
		t.Errorf("two unrelated files: %v", err)
	}
	put("dump_10.vtk")
	put("dump_20.vtk")
	s, err := Open(t.Context(), dir)
	if err != nil || len(s.Steps) != 2 || s.Steps[1].Iteration != 20 {
		t.Errorf("folder: %+v, %v", s, err)
	}
}
