package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/domain/mesh"
	"github.com/isobath/isobath/internal/formats/vtk"
)

const meshSide = 100 // cells per axis: a million in all

// meshField computes a field of ten million samples on a million cells, with
// half of them selected. The bar is one second.
func meshField(context.Context) ([]Result, error) {
	const rows = 10_000_000
	r := rand.New(rand.NewPCG(1, 2))
	cells := meshSide * meshSide * meshSide
	p := &mesh.Projection{Cells: cells, Place: make([]int32, rows), Iteration: make([]int32, rows)}
	latency, cpus := make([]int32, rows), make([]int32, rows)
	sel := table.NewBits(rows)
	for i := range rows {
		p.Place[i] = int32(r.IntN(cells+cells/10)) - int32(cells/10)
		if p.Place[i] < 0 {
			p.Place[i] = mesh.NoCell
		}
		p.Iteration[i], latency[i], cpus[i] = int32(i/1000), int32(r.IntN(2000)), int32(r.IntN(64))
		if r.IntN(2) == 0 {
			sel.Set(i)
		}
	}
	var results []Result
	for _, f := range []struct {
		name string
		spec mesh.FieldSpec
		data []int32
		sel  table.Bits
	}{
		{"mesh-field-avg-10M", mesh.FieldSpec{Column: "latency", Aggregate: mesh.Mean}, latency, nil},
		{"mesh-field-avg-half", mesh.FieldSpec{Column: "latency", Aggregate: mesh.Mean}, latency, sel},
		{"mesh-field-distinct-10M", mesh.FieldSpec{Column: "cpu", Aggregate: mesh.Distinct}, cpus, nil},
	} {
		col := &table.Column{Name: f.spec.Column, Data: f.data}
		w := mesh.Window{Mode: mesh.UpTo, After: -1, To: 8000}
		t, err := best(5, func() error { _, err := p.Project(context.Background(), f.sel, w, f.spec, col); return err })
		if err != nil {
			return nil, err
		}
		results = append(results, within(f.name, t, 1000, runtime.GOMAXPROCS(0)))
	}
	return results, nil
}

// best is the least disturbed of n tries.
func best(n int, do func() error) (timing, error) {
	t, _, err := turns(n, func() error { return nil }, do, func() error { return nil })
	return t, err
}

// within compares a time with a limit in milliseconds. On a busy machine the
// processor time is taken, shared by the processors the work can use.
func within(name string, t timing, limit float64, procs int) Result {
	r := Result{Name: name, Ours: t.wall, Peer: limit, Unit: "ms", Versus: "limit", Bar: 1}
	if share := t.cpu / float64(procs); t.wall > 1.5*share {
		r.Ours, r.Unit = share, "ms-cpu"
	}
	r.Ratio = r.Ours / limit
	return r
}

// millionHexahedra is an unstructured mesh of a million cells with one field.
func millionHexahedra() (*grid.Mesh, error) {
	s, err := mesh.UnitMesh(context.Background(), [3]int{meshSide, meshSide, meshSide})
	if err != nil {
		return nil, err
	}
	m, err := s.Mesh(context.Background(), 0)
	if err != nil {
		return nil, err
	}
	g, err := m.Flatten()
	if err != nil {
		return nil, err
	}
	v := make([]float64, g.NumCells())
	for i := range v {
		v[i] = float64(i % 1000)
	}
	g.CellData = append(g.CellData, grid.Array{Name: "v", Comps: 1, Data: v})
	return &grid.Mesh{Blocks: []grid.Block{{Grid: g}}}, nil
}

// meshSurface extracts the outside of a million unstructured cells, for which
// a viewer should not wait longer than two seconds.
func meshSurface(ctx context.Context) ([]Result, error) {
	m, err := millionHexahedra()
	if err != nil {
		return nil, err
	}
	faces := 0
	t, err := best(3, func() error {
		shell, err := mesh.Surface(ctx, m, nil)
		if err == nil {
			faces = shell.Polygons
		}
		return err
	})
	if err == nil && faces != 6*meshSide*meshSide {
		err = fmt.Errorf("%d faces, want %d", faces, 6*meshSide*meshSide)
	}
	return []Result{within("mesh-surface-1M", t, 2000, 1)}, err
}

// largeSide makes 5,000,211 cells.
const largeSide = 171

// inShells is the value of a cell in a cube: shells around the middle, between two of
// which there are four surfaces.
func inShells(i, side int) float64 {
	x, y, z := float64(i%side-side/2), float64(i/side%side-side/2), float64(i/(side*side)-side/2)
	return math.Sin(math.Sqrt(x*x+y*y+z*z) / 12)
}

// meshThreshold extracts the surface of those of five million cells whose value lies
// between two numbers, of which a user moves one: cells in rows, as an image has them
// and as hexahedra that a program with rows has written.
func meshThreshold(ctx context.Context) ([]Result, error) {
	const side, limit = largeSide, 1500 // milliseconds
	s, err := mesh.UnitMesh(ctx, [3]int{side, side, side})
	if err != nil {
		return nil, err
	}
	image, err := s.Mesh(ctx, 0)
	if err != nil {
		return nil, err
	}
	flat, err := image.Flatten()
	if err != nil {
		return nil, err
	}
	values := make([]float64, side*side*side)
	for i := range values {
		values[i] = inShells(i, side)
	}
	var results []Result
	faces := [2]int{}
	for k, row := range []struct {
		name string
		mesh *grid.Mesh
	}{{"mesh-threshold-5M", image}, {"mesh-threshold-hexahedra-5M", &grid.Mesh{Blocks: []grid.Block{{Grid: flat}}}}} {
		t, err := best(3, func() error {
			shell, err := mesh.Surface(ctx, row.mesh, mesh.Threshold(values, -0.5, 0.5))
			if err == nil {
				faces[k] = shell.Polygons
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		results = append(results, within(row.name, t, limit, 1))
	}
	if faces[0] != faces[1] || faces[0] < 400_000 {
		err = fmt.Errorf("%d and %d faces of the same cells", faces[0], faces[1])
	}
	return results, err
}

// meshRead reads a .vtu file of a million cells; the peer is VTK itself.
func meshRead(ctx context.Context, dir string) ([]Result, error) {
	m, err := millionHexahedra()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "million.vtu")
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := vtk.WriteVTU(f, m.Blocks[0].Grid); err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	r := Result{Name: "mesh-read-vtu-1M", Versus: "VTK, processor time", Unit: "ms-cpu", Bar: 1.5}
	const script = `
import sys, time
from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader
best = 1e9
for _ in range(3):
    r = vtkXMLUnstructuredGridReader(); r.SetFileName(sys.argv[1])
    t = time.process_time(); r.Update(); best = min(best, time.process_time() - t)
print(best * 1000)`
	out, err := exec.CommandContext(ctx, "/usr/bin/python3", "-c", script, path).Output()
	if err != nil {
		r.Skipped = "needs the Debian package python3-paraview"
		return []Result{r}, nil
	}
	if r.Peer, err = strconv.ParseFloat(strings.TrimSpace(string(out)), 64); err != nil {
		return nil, err
	}
	t, err := best(3, func() error { _, err := vtk.Read(path); return err })
	r.Ours, r.Ratio = t.cpu, t.cpu/r.Peer
	return []Result{r}, err
}

// meshPage measures the mesh page in a real browser without a graphics card
// (e2e/meshbench.test.ts): two million samples on a million cells, and on five.
func meshPage(ctx context.Context, dir, program string) ([]Result, error) {
	for name, side := range map[string]int{"1M": meshSide, "5M": largeSide} {
		if err := meshPageData(filepath.Join(dir, name), side); err != nil {
			return nil, err
		}
	}
	return browserRow{"meshbench.test.ts", "ISOBATH_MESH_BENCH", "page.json"}.run(ctx, dir, program)
}

func meshPageData(dir string, side int) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	var b bytes.Buffer
	n := side + 1
	fmt.Fprintf(&b, "# vtk DataFile Version 3.0\nbench\nBINARY\nDATASET STRUCTURED_POINTS\nDIMENSIONS %d %d %d\nORIGIN 0 0 0\nSPACING 1 1 1\n", n, n, n)
	cells := side * side * side
	fmt.Fprintf(&b, "CELL_DATA %d\nSCALARS v float 1\nLOOKUP_TABLE default\n", cells)
	for i := range cells {
		_ = binary.Write(&b, binary.BigEndian, float32(inShells(i, side))) // a buffer takes everything
	}
	if err := os.WriteFile(filepath.Join(dir, "mesh.vtk"), b.Bytes(), 0o644); err != nil {
		return err
	}
	const rows = 2_000_000
	r := rand.New(rand.NewPCG(5, 6))
	var columns []*table.Column
	for _, c := range []struct {
		name  string
		below int
	}{{"cpu", 64}, {"latency", 2000}, {"x", side}, {"y", side}, {"z", side}} {
		data := make([]int32, rows)
		for i := range data {
			data[i] = int32(r.IntN(c.below))
		}
		columns = append(columns, &table.Column{Name: c.name, Data: data, Provenance: table.Measured})
	}
	t, err := table.New("samples", columns)
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(dir, "samples.arrow"))
	if err != nil {
		return err
	}
	return errors.Join(t.WriteArrow(f), f.Close())
}
