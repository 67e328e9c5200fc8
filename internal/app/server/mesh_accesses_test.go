package server

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/server/frame"
	meshes "github.com/isobath/isobath/internal/app/server/mesh"
	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/reftable"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/domain/mesh"
)

// TestMeshPerAccess: a run that has samples and references offers its cost per access on
// the page: 30 cycles on each cell, of which the first is accessed twice, the second five
// times and the last never.
func TestMeshPerAccess(t *testing.T) {
	dir := t.TempDir()
	dump := filepath.Join(dir, "dump.vtk")
	text := "# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 4 2 2\nORIGIN 0 0 0\nSPACING 1 1 1\nCELL_DATA 3\nSCALARS rho double\nLOOKUP_TABLE default\n1 2 3\n"
	if err := os.WriteFile(dump, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	samples, err := table.New("samples", []*table.Column{
		table.Ints("cell", "", table.Measured, []int64{0, 0, 1, 1, 2, 2}, nil),
		table.Ints("latency", "cycles", table.Measured, []int64{10, 20, 10, 20, 10, 20}, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	var all []refs.Ref
	for c, times := range []int{2, 5} {
		for range times {
			all = append(all, refs.Ref{Addr: uint64(4096 + 8*c), Size: 8, Object: 1})
		}
	}
	trace, err := reftable.New(all, nil, []refs.Object{{}, {Name: "rho", Start: 4096}}, refs.HasObject|refs.HasSize)
	if err != nil {
		t.Fatal(err)
	}
	both := &run.Run{Contents: []*table.Table{samples, trace}, Manifest: run.Manifest{Version: run.Version, Kind: kind.Samples, Format: "timer"}}
	if err := both.Write(t.Context(), filepath.Join(dir, "both.isobath"), false); err != nil {
		t.Fatal(err)
	}
	l := NewLoader(dataset.Options{})
	l.Meshes, l.CellBytes = []string{dump}, map[string]int{"rho": 8}
	opened, err := l.Open(t.Context(), filepath.Join(dir, "both.isobath"), func(frame.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	s := newTestServer(t, nil)
	s.Add(opened)
	path := "/api/v1/runs/" + opened.ID + "/mesh"
	info := post[meshes.MeshInfo](t, s, path, meshes.MeshAsk{Step: 0})
	for _, name := range []string{"samples_per_access", "latency_sum_per_access"} {
		if !slices.Contains(info.Fields, name) {
			t.Errorf("%s is not offered: %v", name, info.Fields)
		}
	}
	if i := slices.IndexFunc(info.Values, func(v meshes.MeshVariable) bool { return v.Name == mesh.Accesses }); i < 0 || info.Values[i].Subject != mesh.OfWork || *info.Values[i].Max != 5 {
		t.Errorf("variables %+v", info.Values)
	}
	var f meshes.MeshFieldAnswer
	values := postColumns(t, s, path+"/field", meshes.MeshFieldAsk{Field: "latency_sum_per_access", Mode: mesh.All}, &f)(f.Values)
	for c, want := range []float64{15, 6, math.NaN()} {
		if v := math.Float64frombits(le64(values[8*c:])); v != want && !(math.IsNaN(v) && math.IsNaN(want)) {
			t.Errorf("cell %d: %g cycles per access, want %g", c, v, want)
		}
	}
	if f.Unit != "cycles per access" || f.Provenance != "derived" || !f.Uncertain {
		t.Errorf("unit %q, %s, uncertain %v", f.Unit, f.Provenance, f.Uncertain)
	}
	if postColumns(t, s, path+"/field", meshes.MeshFieldAsk{Variable: mesh.Accesses, Mode: mesh.All}, &f); f.Provenance != "derived" {
		t.Errorf("accesses are %s", f.Provenance)
	}
}
