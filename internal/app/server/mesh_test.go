package server

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/app/server/memory"
	meshes "github.com/isobath/isobath/internal/app/server/mesh"
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/domain/mesh"
	"github.com/isobath/isobath/internal/engine/query"
)

// demoMeshServer shows the built-in run; path is that of its mesh.
func demoMeshServer(t testing.TB) (s *Server, run *frame.Run, path string) {
	t.Helper()
	runs, err := NewLoader(dataset.Options{}).Demo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s = newTestServer(t, nil)
	s.Add(runs[0])
	return s, runs[0], "/api/v1/runs/" + runs[0].ID + "/mesh"
}

// postColumns returns the head and the columns of a binary answer.
func postColumns(t *testing.T, s *Server, path string, ask, head any) func(frame.Column) []byte {
	t.Helper()
	body, err := json.Marshal(ask)
	if err != nil {
		t.Fatal(err)
	}
	w := do(s, "POST", path, string(body), "Content-Type", "application/json")
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	text := w.Body.Bytes()
	n := int(le32(text[4:]))
	var refs struct {
		Columns []frame.ColumnRef `json:"columns"`
	}
	for _, v := range []any{head, &refs} {
		if err := json.Unmarshal(text[8:8+n], v); err != nil {
			t.Fatal(err)
		}
	}
	rest := text[(8+n+7)&^7:]
	return func(c frame.Column) []byte { return rest[refs.Columns[c].Offset:] }
}

func le32(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

func le64(b []byte) uint64 { return uint64(le32(b)) | uint64(le32(b[4:]))<<32 }

// TestDemoMesh compares the field of the built-in run with a plain count over
// its rows, for a selection and the three modes.
func TestDemoMesh(t *testing.T) {
	s, run, path := demoMeshServer(t)
	info := post[meshes.MeshInfo](t, s, path, meshes.MeshAsk{Step: -1})
	if info.Cells != 8*20*10 || len(info.Steps) != 8 || info.Steps[7].Iteration != 7 || info.Flat || info.Levels != 1 {
		t.Fatalf("%d cells, %d dumps, flat %v", info.Cells, len(info.Steps), info.Flat)
	}
	tab := memory.Of(run).Data.Table
	ints := func(column string) []int32 { return intsOf(t, tab.Column(column)) }
	x, y, z := ints("x"), ints("y"), ints("z")
	it, latency, cpu := ints("iteration"), tab.Column("latency"), tab.Column("cpu")
	for _, mode := range []mesh.Mode{mesh.All, mesh.UpTo, mesh.Only} {
		sum, count := map[int]float64{}, map[int]uint32{}
		for i := range tab.Rows() {
			if cpu.Float(i) > 7 || x[i] == mesh.Missing || y[i] == mesh.Missing || z[i] == mesh.Missing {
				continue
			}
			if mode == mesh.UpTo && (it[i] == mesh.Missing || it[i] > 3) || mode == mesh.Only && it[i] != 3 {
				continue
			}
			cell := int(x[i])/24 + 8*(int(y[i])+20*(int(z[i])/12))
			sum[cell] += latency.Float(i)
			count[cell]++
		}
		var f meshes.MeshFieldAnswer
		col := postColumns(t, s, path+"/field", meshes.MeshFieldAsk{Step: 3, Field: "latency_avg", Mode: mode, Where: "cpu <= 7"}, &f)
		values, samples := col(f.Values), col(f.Samples)
		if f.Covered != len(sum) || f.Provenance != "modelled" || f.Unit != "cycles" {
			t.Errorf("%s: %d cells with samples (%s, %s), want %d", mode, f.Covered, f.Provenance, f.Unit, len(sum))
		}
		for c := range info.Cells {
			v := math.Float64frombits(le64(values[8*c:]))
			n := le32(samples[4*c:])
			if n != count[c] || n == 0 != math.IsNaN(v) || n > 0 && math.Abs(v-sum[c]/float64(n)) > 1e-9*v {
				t.Fatalf("%s: cell %d has %v of %d samples, want %v of %d", mode, c, v, n, sum[c]/float64(count[c]), count[c])
			}
		}
	}
}

// TestMeshGeometry: faces are counted on the block of 8 x 20 x 10 cells, and
// their cells are those of the boundary.
func TestMeshGeometry(t *testing.T) {
	s, _, path := demoMeshServer(t)
	ask := func(g meshes.MeshGeometryAsk) (a meshes.MeshGeometry, cells []int) {
		g.Step = 7
		var p meshes.MeshPicture
		col := postColumns(t, s, path+"/picture", meshes.MeshPictureAsk{Geometry: g}, &p)
		drawn, of := col(p.Geometry.Cells), col(p.Geometry.Of)
		for i := range p.Columns[p.Geometry.Of].Length {
			cells = append(cells, int(le32(drawn[4*le32(of[4*i:]):])))
		}
		return *p.Geometry, cells
	}
	all, cells := ask(meshes.MeshGeometryAsk{View: "surface", Level: -1})
	if want := 2 * (8*20 + 8*10 + 20*10); all.Polygons != want || len(cells) != 2*want || all.Kept != 8*20*10 {
		t.Errorf("%d faces of %d cells, want %d", all.Polygons, all.Kept, want)
	}
	for _, c := range cells {
		if x, y, z := c%8, c/8%20, c/(8*20); x != 0 && x != 7 && y != 0 && y != 19 && z != 0 && z != 9 {
			t.Fatalf("cell %d is inside", c)
		}
	}
	cut, cells := ask(meshes.MeshGeometryAsk{View: "slice", Axis: 2, At: 0.4958, Level: -1}) // z 59.5
	if cut.Polygons != 8*20 {
		t.Errorf("the slice has %d faces, want %d", cut.Polygons, 8*20)
	}
	for _, c := range cells {
		if c/(8*20) != 4 {
			t.Fatalf("cell %d is not in layer 4", c)
		}
	}
	part, _ := ask(meshes.MeshGeometryAsk{View: "threshold", Level: -1, By: &meshes.MeshFieldAsk{Variable: "index y"}, Low: 0, High: 4})
	if want := 2 * (8*5 + 8*10 + 5*10); part.Polygons != want || part.Kept != 8*5*10 {
		t.Errorf("five layers have %d faces of %d cells, want %d", part.Polygons, part.Kept, want)
	}
}

func intsOf(t *testing.T, c *table.Column) []int32 {
	t.Helper()
	out, err := mesh.Ints(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestMeshPick: the selection of a cell has the rows that lie on it, and its
// cells are that one.
func TestMeshPick(t *testing.T) {
	s, run, path := demoMeshServer(t)
	placed, err := meshes.Of(run).View.At(t.Context(), 7)
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range []int{0, 840, 7, 600, 8*20*10 - 1} {
		got := post[meshes.MeshCell](t, s, path+"/cell", meshes.MeshCellAsk{Step: 7, Cell: cell})
		rows, err := placed.RowsOn(t.Context(), []int32{int32(cell)})
		if err != nil {
			t.Fatal(err)
		}
		e, err := query.Parse(got.Where, memory.Of(run).Data.Table)
		if err != nil {
			t.Fatal(err)
		}
		chosen, err := memory.Of(run).Engine.Select(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		if got.Samples != rows.Count() || chosen.Count() != rows.Count() {
			t.Errorf("cell %d: %q selects %d rows, the answer says %d, the cell has %d", cell, got.Where, chosen.Count(), got.Samples, rows.Count())
		}
		want := fmt.Sprintf("x in %d..%d & y = %d & z in %d..%d", cell%8*24, cell%8*24+23, cell/8%20, cell/160*12, cell/160*12+11)
		if got.Where != want {
			t.Errorf("cell %d: %q, want %q", cell, got.Where, want)
		}
		var f meshes.MeshFieldAnswer
		col := postColumns(t, s, path+"/field", meshes.MeshFieldAsk{Step: 7, Field: "samples", Mode: mesh.All, Picked: got.Where}, &f)
		if n := f.Columns[f.Picked].Length; n != min(1, rows.Count()) || n == 1 && int(le32(col(f.Picked))) != cell {
			t.Errorf("cell %d: %d cells are marked", cell, n)
		}
	}
}

// vtkText is a mesh of 2 x 1 x 1 cubes with one variable.
const vtkText = `# vtk DataFile Version 3.0
two cubes
ASCII
DATASET STRUCTURED_POINTS
DIMENSIONS 3 2 2
ORIGIN 0 0 0
SPACING 1 1 1
CELL_DATA 2
SCALARS heat double 1
LOOKUP_TABLE default
3
5
`

// TestMeshFile: a mesh is a run of its own, and samples can be put on it.
func TestMeshFile(t *testing.T) {
	dir := t.TempDir()
	dump, csv := filepath.Join(dir, "two.vtk"), filepath.Join(dir, "samples.csv")
	for name, text := range map[string]string{dump: vtkText, csv: "cpu,latency,x,y,z\n0,10,0,0,0\n1,30,0,0,0\n2,7,5,0,0\n"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	open := func(path string) *frame.Run {
		r, err := NewLoader(dataset.Options{}).Open(t.Context(), path, func(frame.Progress) {})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	alone, samples := open(dump), open(csv)
	s := newTestServer(t, nil)
	s.Add(alone)
	s.Add(samples)
	if alone.Kind != "mesh" || !infoOf(t, alone).Mesh || infoOf(t, samples).Mesh || alone.Summary().Rows != 2 {
		t.Errorf("mesh %+v, samples %+v", infoOf(t, alone), samples.Summary())
	}
	path := "/api/v1/runs/" + alone.ID + "/mesh"
	var f meshes.MeshFieldAnswer
	col := postColumns(t, s, path+"/field", meshes.MeshFieldAsk{Step: -1, Variable: "heat"}, &f)
	if heat := col(f.Values); math.Float64frombits(le64(heat)) != 3 || math.Float64frombits(le64(heat[8:])) != 5 || f.Counts != nil {
		t.Errorf("heat is not 3, 5: %+v", f)
	}
	if w := do(s, "POST", path+"/field", `{"step":-1,"field":"samples","mode":"all"}`, "Content-Type", "application/json"); w.Code != http.StatusBadRequest {
		t.Errorf("samples of a mesh without samples: %d", w.Code)
	}
	body := fmt.Sprintf(`{"mesh":%q}`, alone.ID)
	if w := do(s, "POST", "/api/v1/runs/"+samples.ID+"/mesh/attach", body, "Content-Type", "application/json"); w.Code != http.StatusOK {
		t.Fatalf("attach: %d %s", w.Code, w.Body)
	}
	got := post[meshes.MeshFieldAnswer](t, s, "/api/v1/runs/"+samples.ID+"/mesh/field", meshes.MeshFieldAsk{Step: 0, Field: "latency_sum", Mode: mesh.All})
	if got.Sum != 40 || got.Covered != 1 || got.Counts.OutOfRange != 1 || got.Counts.Used != 2 {
		t.Errorf("%+v, counts %+v", got, got.Counts)
	}
	if !infoOf(t, samples).Mesh {
		t.Error("the samples do not know of their mesh")
	}
	again := post[frame.Info](t, s, "/api/v1/runs/"+samples.ID+"/mesh/attach", meshes.MeshAttach{Paths: []string{dump}})
	if !again.Mesh || again.ID != samples.ID {
		t.Errorf("attached by path: %+v", again.RunSummary)
	}
	if w := do(s, "POST", "/api/v1/runs/"+samples.ID+"/mesh/attach", `{"paths":["/nowhere/x.vtk"]}`, "Content-Type", "application/json"); w.Code != http.StatusNotFound {
		t.Errorf("a mesh that does not exist: %d %s", w.Code, w.Body)
	}
}

// TestMeshSeries: LULESH's own dumps, with the real samples of a larger run: what
// is out of range is counted, and nothing is put on a wrong cell.
func TestMeshSeries(t *testing.T) {
	test.NoRaces(t, requestsOneByOne)
	l := NewLoader(dataset.Options{})
	l.Meshes = []string{filepath.Join(test.Fixture(t, "mesh/lulesh"), "lulesh_c*.vtk")}
	r, err := l.Open(t.Context(), test.Shared(t, "samples/lulesh_legacy"), func(frame.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	s := newTestServer(t, nil)
	s.Add(r)
	path := "/api/v1/runs/" + r.ID + "/mesh"
	info := post[meshes.MeshInfo](t, s, path, meshes.MeshAsk{Step: 2})
	if len(info.Steps) != 5 || info.Steps[2].Iteration != 300 || info.Cells != 8000 {
		t.Fatalf("%+v", info.Steps)
	}
	f := post[meshes.MeshFieldAnswer](t, s, path+"/field", meshes.MeshFieldAsk{Step: 2, Field: "samples", Mode: mesh.UpTo})
	if c := f.Counts; c.Used+c.NoCell+c.OutOfRange != c.Selected || c.OutOfRange == 0 || c.Used == 0 || f.Sum != float64(c.Used) {
		t.Errorf("%+v", c)
	}
	hot := post[meshes.MeshPicture](t, s, path+"/picture", meshes.MeshPictureAsk{Geometry: meshes.MeshGeometryAsk{Step: 2, View: "threshold", Level: -1, By: &meshes.MeshFieldAsk{Variable: "e"}, Low: 1000, High: 1e9}}).Geometry
	if hot.Kept != 567 || hot.Polygons != 498 { // as VTK counts them
		t.Errorf("%d cells with e >= 1000 have %d faces, want 567 and 498", hot.Kept, hot.Polygons)
	}
	rel := post[meshes.MeshRelation](t, s, path+"/relate", meshes.MeshRelateAsk{MeshFieldAsk: meshes.MeshFieldAsk{Step: 2, Field: "latency_avg", Mode: mesh.All}, Against: "e", By: "region", Bins: 16})
	if rel.Correlation == nil || rel.Density == nil || len(rel.Categories) == 0 {
		t.Fatalf("%+v", rel)
	}
	n := 0
	for _, c := range rel.Density.Counts {
		n += int(c)
	}
	if n != rel.Correlation.Cells {
		t.Errorf("%d cells in the plot, %d in the coefficient", n, rel.Correlation.Cells)
	}
	checkOverTime(t, s, path)
	checkTimeBrush(t, s, path)
	checkRankAndLine(t, s, path)
}

// checkTimeBrush: the selection of a part of the heat map has the samples that it shows,
// also where regions move from dump to dump.
func checkTimeBrush(t *testing.T, s *Server, path string) {
	t.Helper()
	for _, by := range []string{"index z", "e"} {
		over := post[meshes.MeshOverTime](t, s, path+"/overtime", meshes.MeshOverTimeAsk{MeshFieldAsk: meshes.MeshFieldAsk{Field: "samples"}, By: by})
		last := len(over.Regions) - 1
		if last < 3 {
			t.Fatalf("%d regions by %s: %s", last+1, by, over.Problem)
		}
		for _, b := range [][4]int{{0, 0, 0, 0}, {2, 2, 1, 1}, {0, 1, 1, 3}, {1, last, 2, 4}} {
			want := 0
			for _, r := range over.Regions[b[0] : b[1]+1] {
				for _, n := range r.Samples[b[2] : b[3]+1] {
					want += int(n)
				}
			}
			brush := post[meshes.MeshWhere](t, s, path+"/overtime/select",
				meshes.MeshTimeBrushAsk{By: by, Low: over.Regions[b[0]].Low, High: over.Regions[b[1]].High, First: b[2], Last: b[3]})
			f := post[meshes.MeshFieldAnswer](t, s, path+"/field", meshes.MeshFieldAsk{Step: 4, Field: "samples", Mode: mesh.All, Where: brush.Where})
			if f.Counts.Used != want || f.Counts.Selected != want {
				t.Errorf("by %s, %v: the heat map has %d samples, its selection %d of which %d are on cells", by, b, want, f.Counts.Selected, f.Counts.Used)
			}
		}
	}
	none := post[meshes.MeshWhere](t, s, path+"/overtime/select", meshes.MeshTimeBrushAsk{By: "region", Low: 400, High: 500, Last: 4})
	if none.Where != "" {
		t.Errorf("regions that are not there select %q", none.Where)
	}
}

// checkRankAndLine: the order is that of the shares, and a line through the diagonal
// passes the cells on it with the values of the field.
func checkRankAndLine(t *testing.T, s *Server, path string) {
	t.Helper()
	ask := meshes.MeshFieldAsk{Step: 2, Field: "latency_avg", Mode: mesh.All}
	ranked := post[meshes.MeshRanked](t, s, path+"/rank", meshes.MeshRankAsk{MeshFieldAsk: ask, Least: 1}).Ranked
	if len(ranked) < 5 || !slices.IsSortedFunc(ranked, func(a, b mesh.Explained) int { return cmp.Compare(b.Share, a.Share) }) {
		t.Errorf("%+v", ranked)
	}
	line := post[meshes.MeshLine](t, s, path+"/line", meshes.MeshLineAsk{MeshFieldAsk: ask, Against: "e", End: [3]float64{1.125, 1.125, 1.125}})
	if len(line.Pieces) < 20 || line.Pieces[0].Cell != 0 || math.Abs(line.Length-1.125*math.Sqrt(3)) > 1e-12 || line.Unit != "cycles" {
		t.Fatalf("%d cells, length %g in %q", len(line.Pieces), line.Length, line.Unit)
	}
	var f, e meshes.MeshFieldAnswer
	values := postColumns(t, s, path+"/field", ask, &f)(f.Values)
	physics := postColumns(t, s, path+"/field", meshes.MeshFieldAsk{Step: 2, Variable: "e"}, &e)(e.Values)
	for _, p := range line.Pieces {
		v := math.Float64frombits(le64(values[8*p.Cell:]))
		if w := math.Float64frombits(le64(physics[8*p.Cell:])); p.Against == nil || *p.Against != w || math.IsNaN(v) != (p.Value == nil) || p.Value != nil && *p.Value != v {
			t.Fatalf("cell %d: %v and %v, want %g and %g", p.Cell, p.Value, p.Against, v, w)
		}
	}
}

// checkOverTime: at each dump the regions have the samples that the field of that dump
// has, a picked cell has its own, and a change is one field less the other.
func checkOverTime(t *testing.T, s *Server, path string) {
	t.Helper()
	field := func(step int, since *int) (f meshes.MeshFieldAnswer, values []float64) {
		col := postColumns(t, s, path+"/field", meshes.MeshFieldAsk{Step: step, Field: "samples", Mode: mesh.Only, Since: since}, &f)
		for c := range 8000 {
			values = append(values, math.Float64frombits(le64(col(f.Values)[8*c:])))
		}
		return f, values
	}
	over := post[meshes.MeshOverTime](t, s, path+"/overtime",
		meshes.MeshOverTimeAsk{MeshFieldAsk: meshes.MeshFieldAsk{Step: 2, Field: "samples", Picked: "x = 0 & y = 0 & z = 0"}, By: "region"})
	if len(over.Iterations) != 5 || over.All == nil || over.Picked == nil || len(over.Regions) < 2 || over.After == 0 {
		t.Fatalf("%+v", over)
	}
	var fields [5][]float64
	for k := range over.Iterations {
		var f meshes.MeshFieldAnswer
		f, fields[k] = field(k, nil)
		sum := 0
		for _, r := range over.Regions {
			sum += int(r.Samples[k])
		}
		if sum != f.Counts.Used || int(over.All.Samples[k]) != sum || float64(over.Picked.Samples[k]) != fields[k][0] {
			t.Errorf("dump %d: %d samples in regions, %d in all, %d picked; want %d and %g", k, sum, over.All.Samples[k], over.Picked.Samples[k], f.Counts.Used, fields[k][0])
		}
	}
	since := 1
	f, change := field(3, &since)
	if f.Name != "samples_change" {
		t.Errorf("a change is called %q", f.Name)
	}
	for c, v := range change {
		if want := fields[3][c] - fields[1][c]; fields[3][c] > 0 && fields[1][c] > 0 && v != want || (fields[3][c] == 0 || fields[1][c] == 0) && !math.IsNaN(v) {
			t.Fatalf("cell %d: %g, was %g and is %g", c, v, fields[1][c], fields[3][c])
		}
	}
}

func TestMeshRefusals(t *testing.T) {
	test.NoRaces(t, requestsOneByOne)
	s, _, path := demoMeshServer(t)
	for name, c := range map[string]struct{ path, body string }{
		"no mesh":          {"/api/v1/runs/six/mesh", `{"step":-1}`},
		"no such dump":     {path, `{"step":8}`},
		"no such field":    {path + "/field", `{"step":0,"field":"taste_avg","mode":"all"}`},
		"no such variable": {path + "/field", `{"step":0,"variable":"taste"}`},
		"no such mode":     {path + "/field", `{"step":0,"field":"samples","mode":"never"}`},
		"wrong selection":  {path + "/field", `{"step":0,"field":"samples","mode":"all","where":"cpu <"}`},
		"no such view":     {path + "/picture", `{"geometry":{"view":"smell","level":-1}}`},
		"slice outside":    {path + "/picture", `{"geometry":{"view":"slice","at":2,"level":-1}}`},
		"no such level":    {path + "/picture", `{"geometry":{"view":"surface","level":3}}`},
		"threshold of":     {path + "/picture", `{"geometry":{"view":"threshold","level":-1}}`},
		"no such cell":     {path + "/cell", `{"step":0,"cell":1600}`},
		"negative cell":    {path + "/cell", `{"step":0,"cell":-1}`},
		"too many bins":    {path + "/relate", `{"step":0,"field":"samples","mode":"all","against":"u","bins":100000}`},
		"cells outside":    {path + "/field", `{"step":0,"field":"samples","mode":"all","where":"rows \"cells 1600\""}`},
		"falling cells":    {path + "/field", `{"step":0,"field":"samples","mode":"all","where":"rows \"cells 7 3\""}`},
		"scale":            {path + "/summary", `{"physics":{"step":0,"variable":"u","edges":[1,0]}}`},
		"attach nothing":   {"/api/v1/runs/six/mesh/attach", `{"mesh":"nothing"}`},
	} {
		if w := do(s, "POST", c.path, c.body, "Content-Type", "application/json"); w.Code != http.StatusBadRequest && w.Code != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d %s", name, w.Code, strings.TrimSpace(w.Body.String()))
		}
	}
}

// TestMeshPicture: a picture holds the values of the cells that are drawn, those
// of the whole field, and its summary is that of all cells.
func TestMeshPicture(t *testing.T) {
	test.NoRaces(t, requestsOneByOne)
	s, run, path := demoMeshServer(t)
	perf := meshes.MeshFieldAsk{Step: 7, Field: "latency_avg", Mode: mesh.All, Picked: "x <= 1"}
	g := meshes.MeshGeometryAsk{Step: 7, View: "surface", Level: -1}
	var p meshes.MeshPicture
	col := postColumns(t, s, path+"/picture", meshes.MeshPictureAsk{Geometry: g, Performance: &perf, Physics: &meshes.MeshFieldAsk{Variable: "index x"}}, &p)
	var whole meshes.MeshFieldAnswer
	field := postColumns(t, s, path+"/field", perf, &whole)
	drawn, values, samples := col(p.Geometry.Cells), col(p.Performance.Values), col(p.Performance.Samples)
	all, counts := field(whole.Values), field(whole.Samples)
	for i := range p.Columns[p.Geometry.Cells].Length {
		c := le32(drawn[4*i:])
		if le64(values[8*i:]) != le64(all[8*c:]) || le32(samples[4*i:]) != le32(counts[4*c:]) {
			t.Fatalf("cell %d has another value in the picture", c)
		}
		if x := math.Float64frombits(le64(col(p.Physics.Values)[8*i:])); x != float64(c%8) {
			t.Fatalf("cell %d has index x %g", c, x)
		}
	}
	picked := map[uint32]bool{}
	for i := range whole.Columns[whole.Picked].Length {
		picked[le32(field(whole.Picked)[4*i:])] = true
	}
	if p.Performance.PickedCells != len(picked) || len(picked) == 0 {
		t.Errorf("%d cells are picked, want %d", p.Performance.PickedCells, len(picked))
	}
	for i := range p.Columns[p.Performance.Picked].Length {
		if c := le32(drawn[4*le32(col(p.Performance.Picked)[4*i:]):]); !picked[c] {
			t.Errorf("cell %d is not picked", c)
		}
	}
	again := post[meshes.MeshPicture](t, s, path+"/picture", meshes.MeshPictureAsk{Geometry: g, Have: p.Key})
	if again.Geometry != nil || again.Key != p.Key {
		t.Error("the geometry is sent again")
	}
	placed, err := meshes.Of(run).View.At(t.Context(), 7)
	if err != nil {
		t.Fatal(err)
	}
	hover := post[meshes.MeshCells](t, s, path+"/cells", meshes.MeshCellsAsk{Geometry: g, Where: "x <= 1"})
	if hover.Cells != len(picked) || len(hover.Drawn) != p.Columns[p.Performance.Picked].Length {
		t.Errorf("%d cells, %d drawn", hover.Cells, len(hover.Drawn))
	}
	checkSummary(t, s, run, path, perf, &whole, placed)
}

func checkSummary(t *testing.T, s *Server, run *frame.Run, path string, perf meshes.MeshFieldAsk, whole *meshes.MeshFieldAnswer, placed *mesh.Placed) {
	t.Helper()
	f, err := placed.Field(t.Context(), memory.Of(run).Data.Table, nil, mesh.Window{Mode: mesh.All}, mesh.FieldSpec{Column: "latency", Aggregate: mesh.Mean})
	if err != nil {
		t.Fatal(err)
	}
	var sorted []float64
	for _, v := range f.Values {
		if !math.IsNaN(v) {
			sorted = append(sorted, v)
		}
	}
	slices.Sort(sorted)
	low, high := sorted[0], sorted[len(sorted)-1]
	edges := []float64{low, low * 1.5, (low + high) / 2, high}
	sum := post[meshes.MeshSummary](t, s, path+"/summary", meshes.MeshSummaryAsk{Picked: "x <= 1", Performance: &meshes.MeshSummedAsk{MeshFieldAsk: perf, Edges: edges}})
	got := sum.Performance
	n, counted := 0, make([]int, 3)
	for _, c := range got.Histogram {
		n += c
	}
	for _, v := range sorted {
		switch {
		case v < edges[1]:
			counted[0]++
		case v < edges[2]:
			counted[1]++
		default:
			counted[2]++
		}
	}
	if !slices.Equal(got.Histogram, counted) {
		t.Errorf("histogram %v, want %v", got.Histogram, counted)
	}
	want := func(q float64) float64 { return sorted[int(q*float64(len(sorted)))] }
	if n != len(sorted) || *got.All.Median != want(0.5) || *got.All.P90 != want(0.9) || *got.All.Max != high || got.All.Valued != whole.Covered {
		t.Errorf("%d cells counted; median %g, p90 %g, largest %g; want %d, %g, %g, %g", n, *got.All.Median, *got.All.P90, *got.All.Max, len(sorted), want(0.5), want(0.9), high)
	}
	if len(got.Highest) != 5 || got.Highest[0].Value != high || f.Values[got.Highest[0].Cell] != high || got.Picked == nil || got.Picked.Samples == 0 || len(got.Marks) == 0 {
		t.Errorf("%+v", got)
	}
}

// TestMeshBrush: a rectangle of the plot selects the samples of its cells, as a
// plain look at every sample finds them.
func TestMeshBrush(t *testing.T) {
	s, run, path := demoMeshServer(t)
	ask := meshes.MeshBrushAsk{MeshRelateAsk: meshes.MeshRelateAsk{MeshFieldAsk: meshes.MeshFieldAsk{Step: 7, Field: "samples", Mode: mesh.All}, Against: "index x", Bins: 8}, Low: 60, High: 1e9, AgainstLow: 2, AgainstHigh: 4}
	got := post[meshes.MeshBrush](t, s, path+"/brush", ask)
	tab := memory.Of(run).Data.Table
	x, y, z := intsOf(t, tab.Column("x")), intsOf(t, tab.Column("y")), intsOf(t, tab.Column("z"))
	counts := map[[3]int32]int{}
	for i := range x {
		if x[i]/24 >= 2 && x[i]/24 <= 4 && y[i] != mesh.Missing && z[i] != mesh.Missing {
			counts[[3]int32{x[i] / 24, y[i], z[i] / 12}]++
		}
	}
	cells, rows := 0, 0
	for _, n := range counts {
		if n >= 60 {
			cells, rows = cells+1, rows+n
		}
	}
	chosen, err := memory.Of(run).Within(t.Context(), "", got.Where)
	if err != nil {
		t.Fatal(err)
	}
	if got.Cells != cells || chosen.Count() != rows || rows == 0 {
		t.Errorf("%d cells with %d samples, want %d with %d", got.Cells, chosen.Count(), cells, rows)
	}
	none := post[meshes.MeshBrush](t, s, path+"/brush", meshes.MeshBrushAsk{MeshRelateAsk: ask.MeshRelateAsk, Low: 1e9, High: 2e9, AgainstHigh: 1})
	if none.Cells != 0 || none.Where != "" {
		t.Errorf("%+v", none)
	}
}

// TestMeshLink: a page and a viewer share one selection, through the routes and
// the socket; a viewer that comes and goes is told to the page.
func TestMeshLink(t *testing.T) {
	s, run, path := demoMeshServer(t)
	if w := do(s, "POST", path+"/select", `{"where":"cpu = 1"}`, "Content-Type", "application/json"); w.Code != http.StatusBadRequest {
		t.Errorf("a selection without a link: %d", w.Code)
	}
	file := filepath.Join(t.TempDir(), "link")
	where := ""
	if err := s.Link("127.0.0.1:0", file, func(s string) { where = s }); err != nil || !strings.Contains(where, file) {
		t.Fatal(where, err)
	}
	if !infoOf(t, run).Linked {
		t.Error("the run does not know of its link")
	}
	state := post[meshes.MeshViewers](t, s, path+"/select", meshes.MeshSelect{Where: "cpu <= 3 & x < 9", Origin: "page-1"})
	if state.Where != "cpu <= 3 & x < 9" || state.Origin != "page-1" || len(state.Viewers) != 0 {
		t.Errorf("%+v", state)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	address, token, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	answers := json.NewDecoder(c)
	call := func(line string) (a struct {
		Type    string `json:"type"`
		Samples int    `json:"samples"`
	}) {
		t.Helper()
		if _, err := fmt.Fprintln(c, line); err != nil {
			t.Fatal(err)
		}
		if err := answers.Decode(&a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	if a := call(fmt.Sprintf(`{"type":"hello","id":1,"proto":1,"client":"test","token":%q}`, token)); a.Type != "welcome" {
		t.Fatalf("%+v", a)
	}
	got := call(`{"type":"select","id":2,"ranges":{"cpu":[4,7]}}`)
	rows, err := memory.Of(run).Within(t.Context(), "", "cpu in 4..7 & x < 9")
	if err != nil || got.Samples != rows.Count() {
		t.Errorf("%d samples, want %d, %v", got.Samples, rows.Count(), err)
	}
	if state := viewersNow(t, s, path+"/viewers"); state.Where != "cpu in 4..7 & x < 9" || state.Origin != "c1" || !slices.Equal(state.Viewers, []string{"test"}) {
		t.Errorf("%+v", state)
	}
	if w := do(s, "POST", path+"/select", `{"where":"taste = 1"}`, "Content-Type", "application/json"); w.Code != http.StatusBadRequest {
		t.Errorf("a wrong selection: %d", w.Code)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := net.Dial("tcp", address); err == nil {
		t.Error("the link outlives the server")
	}
}

// viewersNow is the first event of the stream of viewers.
func viewersNow(t *testing.T, s *Server, path string) (state meshes.MeshViewers) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, "GET", "http://127.0.0.1:7117"+path, nil)
	r.Header.Set(TokenHeader, testToken)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	_, data, _ := strings.Cut(w.Body.String(), "data: ")
	data, _, _ = strings.Cut(data, "\n")
	if err := json.Unmarshal([]byte(data), &state); err != nil {
		t.Fatalf("%v in %s", err, w.Body)
	}
	return state
}
