package mesh

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

// twoParts writes a mesh of two times in two files, four cubes in each: cell c has the
// value 100 step + c.
const twoParts = `
import sys, netCDF4, numpy as np
for part in range(2):
    f = netCDF4.Dataset("%s/can.exo.2.%d" % (sys.argv[1], part), "w", format="NETCDF3_64BIT_OFFSET")
    for name, size in (("len_string", 33), ("len_name", 33), ("time_step", None), ("num_dim", 3), ("num_nodes", 18), ("num_elem", 4), ("num_el_blk", 1),
                       ("num_el_in_blk1", 4), ("num_nod_per_el1", 8), ("num_elem_var", 1)):
        f.createDimension(name, size)
    f.createVariable("time_whole", "f8", ("time_step",))[:] = [0, 0.5]
    xyz = np.array([(i, j, k + part) for k in range(2) for j in range(3) for i in range(3)], dtype="f8")
    for a, v in zip("xyz", xyz.T):
        f.createVariable("coord" + a, "f8", ("num_nodes",))[:] = v
    c = f.createVariable("connect1", "i4", ("num_el_in_blk1", "num_nod_per_el1"))
    c.elem_type = "HEX8"
    c[:] = [[1 + b + o for o in (0, 1, 4, 3, 9, 10, 13, 12)] for b in (0, 1, 3, 4)]
    v = f.createVariable("name_elem_var", "S1", ("num_elem_var", "len_name"))
    v[0, :1] = np.array(["e"], dtype="S1")
    f.createVariable("vals_elem_var1eb1", "f8", ("time_step", "num_el_in_blk1"))[:] = [[100 * s + 4 * part + c for c in range(4)] for s in range(2)]
    f.close()
`

// TestFilesOfParts opens the parts that processes wrote as one mesh with their times, and
// says so where some are missing.
func TestFilesOfParts(t *testing.T) {
	python := test.PythonPeer(t, "netCDF4", "python3-netcdf4")
	dir := t.TempDir()
	if out, err := exec.Command(python, "-c", twoParts, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, paths := range [][]string{{filepath.Join(dir, "can.exo.2.*")}, {filepath.Join(dir, "can.exo.2.1"), filepath.Join(dir, "can.exo.2.0")}, {dir}} {
		s, err := Open(t.Context(), paths...)
		check(t, err)
		if len(s.Steps) != 2 || s.Steps[1].Time != 0.5 {
			t.Fatalf("%v: steps %+v", paths, s.Steps)
		}
		m, err := s.Mesh(t.Context(), 1)
		check(t, err)
		values, err := Physics(t.Context(), m, "e")
		check(t, err)
		if want := []float64{100, 101, 102, 103, 104, 105, 106, 107}; !slices.Equal(values, want) || len(m.Warnings) > 0 {
			t.Errorf("%v: values %v, want %v; %v", paths, values, want, m.Warnings)
		}
	}
	s, err := Open(t.Context(), filepath.Join(dir, "can.exo.2.1"))
	check(t, err)
	m, err := s.Mesh(t.Context(), 0)
	check(t, err)
	if m.NumCells() != 4 || len(m.Warnings) != 1 || !strings.Contains(m.Warnings[0], "1 of 2 parts") {
		t.Errorf("one part has %d cells, %v", m.NumCells(), m.Warnings)
	}
}
