package silo

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/vtk"
)

// TestMixed reads testdata/mixed.silo, which the Silo library wrote from
// testdata/make.c.
func TestMixed(t *testing.T) {
	m, err := Read("testdata/mixed.silo")
	if err != nil {
		t.Fatal(err)
	}
	if !m.HasCycle || m.Cycle != 12 || !m.HasTime || m.Time != 0.5 || len(m.Warnings) > 0 {
		t.Errorf("cycle %d, time %g, warnings %q; want 12, 0.5 and none", m.Cycle, m.Time, m.Warnings)
	}
	blocks := map[string]*grid.Grid{}
	for _, b := range m.Blocks {
		blocks[b.Name] = b.Grid
	}
	rect := blocks["rect"]
	if rect.NumPoints() != 12 || rect.NumCells() != 6 || rect.Point(7) != [3]float64{4, 2, 0} {
		t.Errorf("rect: %d points, %d cells, point 7 at %v", rect.NumPoints(), rect.NumCells(), rect.Point(7))
	}
	if d := grid.Find(rect.CellData, "d"); d == nil || d.At(5) != 15 {
		t.Errorf("d: %v", d)
	}
	if v := grid.Find(rect.PointData, "t"); v == nil || v.At(11) != 111 {
		t.Errorf("t: %v", v)
	}
	if one := grid.Find(blocks["curv"].CellData, "one"); one == nil || one.At(0) != 7 {
		t.Errorf("one: %v", one)
	}
	if mass := grid.Find(blocks["points"].CellData, "mass"); mass == nil || mass.Len() != 5 {
		t.Errorf("mass: %v", mass)
	}
	ucd := blocks["ucd"]
	want := []grid.CellType{grid.Hexahedron, grid.Pyramid, grid.Wedge, grid.Tetra}
	if !slices.Equal(ucd.Types, want) {
		t.Errorf("shapes %v, want %v", ucd.Types, want)
	}
	if mat := grid.Find(ucd.CellData, "mat"); mat == nil || !slices.Equal(mat.Data.([]int32), []int32{5, 6, 5, 6}) {
		t.Errorf("mat: %v", mat)
	}
	// The four zones were laid out by hand: volumes 1, 1/3 and 1/2.
	for i, v := range []float64{1, 1.0 / 3, 0.5} {
		if got := math.Abs(volume(ucd, i)); math.Abs(got-v) > 1e-12 {
			t.Errorf("%s has volume %g, want %g", ucd.Types[i], got, v)
		}
	}
}

// volume sums the signed tetrahedra between the origin and the outward faces.
func volume(g *grid.Grid, cell int) float64 {
	sum := 0.0
	g.CellFaces(cell, &grid.Scratch{}, func(f []int32) {
		for k := 1; k+1 < len(f); k++ {
			a, b, c := g.Point(int(f[0])), g.Point(int(f[k])), g.Point(int(f[k+1]))
			sum += grid.Dot(a, grid.Cross(b, c)) / 6
		}
	})
	return sum
}

// TestLULESH compares the Silo dump of cycle 300 with the legacy VTK dump that
// the same run wrote.
func TestLULESH(t *testing.T) {
	dir := test.Fixture(t, "mesh/lulesh")
	m, err := Read(filepath.Join(dir, "lulesh_plot_c300"))
	if err != nil {
		t.Fatal(err)
	}
	ref, err := vtk.Read(filepath.Join(dir, "lulesh_c0300.vtk"))
	if err != nil {
		t.Fatal(err)
	}
	if m.Cycle != 300 || ref.Cycle != 300 || len(m.Blocks) != 1 || math.Abs(m.Time-ref.Time) > 1e-9 {
		t.Errorf("cycle %d time %g in %d blocks; VTK has %d, %g", m.Cycle, m.Time, len(m.Blocks), ref.Cycle, ref.Time)
	}
	g, r := m.Blocks[0].Grid, ref.Blocks[0].Grid
	if !slices.Equal(g.Conn, r.Conn) || !slices.Equal(g.Types, r.Types) {
		t.Error("cells differ from the VTK dump")
	}
	for _, name := range []string{"e", "p", "v", "q"} {
		a, b := grid.Find(g.CellData, name), grid.Find(r.CellData, name)
		for i := range a.Len() {
			if float32(a.At(i)) != float32(b.At(i)) {
				t.Fatalf("%s of cell %d: %v, VTK dump %v", name, i, a.At(i), b.At(i))
			}
		}
	}
	regions, region := grid.Find(g.CellData, "regions"), grid.Find(r.CellData, "region")
	for i := range regions.Len() {
		if regions.At(i) != region.At(i) {
			t.Fatalf("region of cell %d: %g, VTK dump %g", i, regions.At(i), region.At(i))
		}
	}
}

func FuzzRead(f *testing.F) {
	b, err := os.ReadFile("testdata/mixed.silo")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		name := filepath.Join(t.TempDir(), "f.silo")
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := Read(name)
		if err == nil && m.NumCells() < 0 {
			t.Error("negative cells")
		}
	})
}

// TestPDB: a file of the other driver is known for what it is.
func TestPDB(t *testing.T) {
	for _, head := range []string{"!<<PDB:II>>!", "<<PDB:II>>"} {
		path := filepath.Join(t.TempDir(), "mesh.silo")
		if err := os.WriteFile(path, []byte(head+"\nand more"), 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := foreign.Look(path)
		if err != nil || !Format.Sniff(in) {
			t.Errorf("%q is not recognised: %v", head, err)
		}
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), "DB_HDF5") {
			t.Errorf("%q: %v", head, err)
		}
	}
}
