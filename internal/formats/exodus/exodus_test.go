package exodus

import (
	"encoding/binary"
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

// TestFormsOfExodus reads files written with the netCDF library in all of its
// forms and compares them with what VTK reads.
func TestFormsOfExodus(t *testing.T) {
	gridtest.Python(t)
	python := test.PythonPeer(t, "netCDF4", "python3-netcdf4")
	dir := t.TempDir()
	if out, err := exec.Command(python, "testdata/make.py", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.exo"))
	if err != nil || len(files) != 8 {
		t.Fatal(files, err)
	}
	want := gridtest.VTK(t, files...)
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) {
			times, err := Times(f)
			if err != nil || !slices.Equal(times, []float64{0, 0.5, 1.25}) {
				t.Errorf("times %v, %v", times, err)
			}
			m, err := Read(f, 0)
			if err != nil {
				t.Fatal(err)
			}
			// VTK keeps points in single precision; we keep what the file has.
			for _, b := range m.Blocks {
				var narrow []float32
				for _, v := range b.Grid.Points.Floats() {
					narrow = append(narrow, float32(v))
				}
				b.Grid.Points.Data = narrow
			}
			for i := range want[f] {
				if want[f][i].Cells == 0 { // VTK gives a block without elements arrays without values
					want[f][i].Arrays = nil
				}
			}
			gridtest.Same(t, m, want[f], "ObjectId", "GlobalElementId", "PedigreeElementId", "GlobalNodeId", "PedigreeNodeId",
				"ElementBlockIds", "Title", "QA_Records", "Info_Records")
			if last, err := Read(f, 2); err != nil || last.Time != 1.25 {
				t.Errorf("last step: %v", err)
			}
			if _, err := Read(f, 3); err == nil {
				t.Error("step 3 of 3 is read")
			}
		})
	}
}

func FuzzClassic(f *testing.F) {
	b, err := os.ReadFile("testdata/small.exo")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := parseClassic(b)
		if err != nil {
			return
		}
		_, _ = read(c, 0)
	})
}

// TestHostileSizes refuses a header that claims 10^12 nodes in 200 bytes.
func TestHostileSizes(t *testing.T) {
	b := []byte("CDF\x05")
	u32 := func(v uint32) { b = binary.BigEndian.AppendUint32(b, v) }
	u64 := func(v uint64) { b = binary.BigEndian.AppendUint64(b, v) }
	name := func(s string) {
		u64(uint64(len(s)))
		b = append(b, s...)
		b = append(b, make([]byte, (4-len(s)%4)%4)...)
	}
	u64(0) // records
	u32(0x0a)
	u64(1)
	name("num_nodes")
	u64(1_000_000_000_000)
	u32(0) // no attributes
	u64(0)
	u32(0x0b)
	u64(1)
	name("coordx")
	u64(1)
	u64(0)
	u32(0)
	u64(0)
	u32(6)
	u64(8_000_000_000_000)
	u64(64)
	_, err := parseClassic(b)
	if err == nil || !strings.Contains(err.Error(), "more values than the file has bytes") {
		t.Errorf("error %v", err)
	}
}

// TestPolyhedra reads cubes that are lists of faces, in both kinds of netCDF.
func TestPolyhedra(t *testing.T) {
	gridtest.Python(t)
	python := test.PythonPeer(t, "netCDF4", "python3-netcdf4")
	for _, kind := range []string{"NETCDF3_CLASSIC", "NETCDF4"} {
		path := filepath.Join(t.TempDir(), "poly.exo")
		if out, err := exec.Command(python, "testdata/polyhedra.py", path, kind).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		m, err := Read(path, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Blocks) != 2 || m.NumCells() != 3 {
			t.Fatalf("%s: %d blocks, %d cells", kind, len(m.Blocks), m.NumCells())
		}
		g := m.Blocks[0].Grid
		var scratch grid.Scratch
		for c := range 2 {
			faces, area := 0, 0.0
			lo, hi := math.Inf(1), math.Inf(-1)
			g.CellFaces(c, &scratch, func(f []int32) {
				faces++
				d := grid.Cross(grid.Sub(g.Point(int(f[2])), g.Point(int(f[0]))), grid.Sub(g.Point(int(f[3])), g.Point(int(f[1]))))
				area += math.Sqrt(grid.Dot(d, d)) / 2
				for _, id := range f {
					lo, hi = min(lo, g.Point(int(id))[0]), max(hi, g.Point(int(id))[0])
				}
			})
			_, ids := g.Cell(c, nil)
			if g.Types[c] != grid.Polyhedron || faces != 6 || area != 6 || lo != float64(c) || hi != float64(c+1) || len(ids) != 8 {
				t.Errorf("%s: element %d has %d faces of area %g from x %g to %g, %d nodes", kind, c, faces, area, lo, hi, len(ids))
			}
		}
		if g.NumPoints() != 12 || g.CellData[0].Name != "heat" || g.CellData[0].At(1) != 4 || m.Blocks[1].Grid.CellData[0].At(0) != 5 {
			t.Errorf("%s: %d points, %+v", kind, g.NumPoints(), g.CellData)
		}
	}
}
