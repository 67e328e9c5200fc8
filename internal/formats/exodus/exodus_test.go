package exodus

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"isobath/internal/grid/gridtest"
)

// TestFormsOfExodus reads files written with the netCDF library in all of its
// forms and compares them with what VTK reads.
func TestFormsOfExodus(t *testing.T) {
	python := gridtest.Python(t)
	dir := t.TempDir()
	if out, err := exec.Command(python, "testdata/make.py", dir).CombinedOutput(); err != nil {
		if os.Getenv("ISOBATH_PEERS") == "require" {
			t.Fatalf("%v: %s", err, out)
		}
		t.Skipf("netCDF4 for Python is not installed (Debian package python3-netcdf4): %s", out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.exo"))
	if err != nil || len(files) != 4 {
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
