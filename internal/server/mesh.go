package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"isobath/internal/demo"
	"isobath/internal/formats"
	"isobath/internal/grid"
	"isobath/internal/mesh"
	"isobath/internal/query"
	"isobath/internal/table"
)

// Mesh is the mesh of a run and what was drawn of it last.
type Mesh struct {
	Series *mesh.Series
	View   *mesh.View // samples on it; nil if the run has none
	cells  int        // of the last dump

	mu     sync.Mutex
	shells []shell // newest first
}

// shell is an extracted geometry: the message that was sent.
type shell struct {
	key  string
	body []byte
}

// Bounds of what is kept and answered.
const (
	maxShells   = 4
	iterBins    = 120
	maxDensity  = 128
	fewValues   = 32
	indexPrefix = "index " // variables that are made of a cell's place
)

var indexNames = [3]string{indexPrefix + "x", indexPrefix + "y", indexPrefix + "z"}

func (s *Server) meshRoutes(mux *http.ServeMux) {
	s.handleRun(mux, "POST runs/{id}/mesh", s.meshInfo)
	s.handleRun(mux, "POST runs/{id}/mesh/geometry", s.meshGeometry)
	s.handleRun(mux, "POST runs/{id}/mesh/field", s.meshField)
	s.handleRun(mux, "POST runs/{id}/mesh/cell", s.meshCell)
	s.handleRun(mux, "POST runs/{id}/mesh/relate", s.meshRelate)
	s.handle(mux, "POST runs/{id}/mesh/attach", s.private(s.withRun(s.meshAttach)))
}

// newMesh opens dumps, with the samples of a table on them unless it is nil.
func newMesh(t *table.Table, paths ...string) (*Mesh, error) {
	series, err := mesh.Open(paths...)
	if err != nil {
		return nil, err
	}
	return meshOf(series, t)
}

func meshOf(series *mesh.Series, t *table.Table) (*Mesh, error) {
	last := len(series.Steps) - 1
	m, err := series.Mesh(last)
	if err != nil {
		return nil, err
	}
	out := &Mesh{Series: series, cells: m.NumCells()}
	if t == nil {
		return out, nil
	}
	if out.View, err = mesh.NewView(series, t, mesh.Settings{}); err != nil {
		return nil, err
	}
	_, err = out.View.At(last)
	return out, err
}

// openMesh opens dumps as a run of their own.
func openMesh(paths ...string) (*Run, error) {
	m, err := newMesh(nil, paths...)
	if err != nil {
		return nil, err
	}
	dump, err := m.Series.Mesh(len(m.Series.Steps) - 1)
	if err != nil {
		return nil, err
	}
	name, path := m.Series.Name, ""
	if len(paths) == 1 {
		name, path = filepath.Base(paths[0]), paths[0]
	}
	h := sha256.New()
	fmt.Fprintln(h, len(m.Series.Steps), dump.NumCells(), dump.NumPoints(), mesh.Variables(dump))
	for i := range dump.Blocks {
		g := dump.Blocks[i].Grid
		for p := 0; p < g.NumPoints(); p += max(1, g.NumPoints()/idRows) {
			fmt.Fprintln(h, g.Point(p))
		}
	}
	return &Run{
		ID: slug(name) + "-" + hex.EncodeToString(h.Sum(nil)[:4]), Name: name, Path: path, Kind: string(formats.Mesh),
		Format: m.Series.Format, Mesh: m, Warnings: dump.Warnings, TopologyNote: "a mesh has no hardware topology",
	}, nil
}

// OpenMeshes shows the loader's dumps as a run of their own.
func (l *Loader) OpenMeshes() ([]*Run, error) {
	r, err := openMesh(l.Meshes...)
	return []*Run{r}, err
}

// demoMesh is the grid of the built-in run, with what the program computes.
func demoMesh(t *table.Table) (*Mesh, error) {
	return meshOf(mesh.NewSeries("stencil", demo.Dumps(), demo.Dump), t)
}

func (r *Run) mesh() *Mesh {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.Mesh
}

// meshAttach lets a samples run show its samples on the mesh of another run.
func (s *Server) meshAttach(w http.ResponseWriter, r *http.Request, run *Run) error {
	var ask MeshAttach
	if err := readJSON(w, r, &ask); err != nil {
		return err
	}
	if run.Data.Table == nil {
		return badRequest("%s holds a %s, which has no samples to put on a mesh", run.Name, run.Kind)
	}
	s.mu.RLock()
	i := slices.IndexFunc(s.runs, func(o *Run) bool { return o.ID == ask.Mesh })
	var from *Mesh
	if i >= 0 {
		from = s.runs[i].mesh()
	}
	s.mu.RUnlock()
	if from == nil {
		return badRequest("no run %s with a mesh is open", ask.Mesh)
	}
	m, err := meshOf(from.Series, run.Data.Table)
	if err != nil {
		return wrongAsk(err)
	}
	run.mu.Lock()
	run.Mesh = m
	run.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// askMesh returns the mesh of a run and its dump at a step.
func (r *Run) askMesh(step *int) (*Mesh, *grid.Mesh, error) {
	m := r.mesh()
	if m == nil {
		return nil, nil, badRequest("%s has no mesh", r.Name)
	}
	if *step == -1 {
		*step = len(m.Series.Steps) - 1
	}
	if *step < 0 || *step >= len(m.Series.Steps) {
		return nil, nil, badRequest("the mesh has %d dumps; there is no dump %d", len(m.Series.Steps), *step)
	}
	dump, err := m.Series.Mesh(*step)
	return m, dump, err
}

func (s *Server) meshInfo(w http.ResponseWriter, r *http.Request, run *Run) error {
	var ask MeshAsk
	if err := readJSON(w, r, &ask); err != nil {
		return err
	}
	m, dump, err := run.askMesh(&ask.Step)
	if err != nil {
		return err
	}
	info, err := m.info(ask.Step, dump)
	if err != nil {
		return err
	}
	return s.answerJSON(w, r, http.StatusOK, info)
}

func (m *Mesh) info(step int, dump *grid.Mesh) (*MeshInfo, error) {
	space, err := mesh.NewSpace(dump)
	if err != nil {
		return nil, err
	}
	lo, hi := dump.Bounds()
	info := &MeshInfo{
		Name: m.Series.Name, Format: m.Series.Format, Step: step, Cells: space.Cells, Points: dump.NumPoints(), Levels: max(1, len(dump.Levels)),
		Low: finites(lo), High: finites(hi), Flat: flat(dump), Steps: []MeshStep{}, Parts: []MeshPart{}, Values: []MeshVariable{},
		Fields: []string{}, Placing: []string{}, Notes: list(dump.Warnings),
	}
	for _, st := range m.Series.Steps {
		out := MeshStep{Iteration: st.Iteration, From: st.From}
		if st.HasTime {
			out.Time = orNull(st.Time)
		}
		info.Steps = append(info.Steps, out)
	}
	for _, p := range space.Parts {
		dims := []int{}
		if p.Dims != ([3]int{}) {
			dims = p.Dims[:]
		}
		info.Parts = append(info.Parts, MeshPart{p.Name, p.Domain, p.Level, p.First, p.Cells, dims})
	}
	names := mesh.Variables(dump)
	if len(space.Parts) > 0 && space.Parts[0].Dims != ([3]int{}) || space.AMR {
		names = append(names, indexNames[:]...)
	}
	for _, name := range names {
		values, err := variable(dump, space, name)
		if err != nil {
			return nil, err
		}
		info.Values = append(info.Values, describeVariable(name, values))
	}
	if m.View != nil {
		m.samplesInfo(info)
	}
	return info, nil
}

// samplesInfo adds what the page must know about the samples on the mesh.
func (m *Mesh) samplesInfo(info *MeshInfo) {
	t := m.View.Table
	info.Samples, info.Placing, info.Fields = t.Rows(), m.View.Placing(), append(info.Fields, string(mesh.Count))
	for _, c := range []struct {
		name string
		by   []mesh.Aggregate
	}{
		{"latency", []mesh.Aggregate{mesh.Mean, mesh.Median, mesh.P90, mesh.Max, mesh.Sum}}, {"weight", []mesh.Aggregate{mesh.Mean, mesh.Sum}},
		{"remote", []mesh.Aggregate{mesh.Mean}}, {"cpu", []mesh.Aggregate{mesh.Dominant, mesh.Distinct}}, {"node", []mesh.Aggregate{mesh.Dominant, mesh.Distinct}},
	} {
		if t.Column(c.name) == nil || describeColumn(t.Column(c.name)).Distinct == 0 {
			continue
		}
		for _, a := range c.by {
			info.Fields = append(info.Fields, mesh.FieldSpec{Column: c.name, Aggregate: a}.String())
		}
	}
	column := mesh.IterationColumn(t, "")
	if column == "" {
		return
	}
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	iterations := mesh.Ints(t.Column(column))
	for _, n := range iterations {
		if n != mesh.Missing {
			lo, hi = min(lo, int64(n)), max(hi, int64(n))
		}
	}
	if lo > hi {
		return
	}
	bins := min(hi-lo+1, iterBins)
	info.Iterations = &MeshIterations{Column: column, Low: lo, High: hi, Counts: make([]int64, bins)}
	for _, n := range iterations {
		if n != mesh.Missing {
			info.Iterations.Counts[(int64(n)-lo)*bins/(hi-lo+1)]++
		}
	}
}

func finites(v [3]float64) []float64 { return []float64{finite(v[0]), finite(v[1]), finite(v[2])} }

// flat reports whether no cell is solid.
func flat(m *grid.Mesh) bool {
	var buf []int32
	for i := range m.Blocks {
		g := m.Blocks[i].Grid
		for c := range g.NumCells() {
			if t, _ := g.Cell(c, buf); t.Dim() == 3 {
				return false
			}
			if g.Layout <= grid.Structured { // all its cells are alike
				break
			}
		}
	}
	return true
}

// variable returns a variable of the simulation, or one made of the cells'
// places.
func variable(m *grid.Mesh, space *mesh.Space, name string) ([]float64, error) {
	axis := slices.Index(indexNames[:], name)
	if axis < 0 {
		return mesh.Physics(m, name)
	}
	out := make([]float64, space.Cells)
	for i := range space.Parts {
		p := &space.Parts[i]
		for c := range p.Cells {
			out[p.First+c] = math.NaN()
			if at, ok := p.Index(c); ok {
				out[p.First+c] = float64(at[axis])
			}
		}
	}
	return out, nil
}

func describeVariable(name string, values []float64) MeshVariable {
	lo, hi := math.NaN(), math.NaN()
	seen := map[float64]bool{}
	few := true
	for _, v := range values {
		if math.IsNaN(v) {
			continue
		}
		lo, hi = smaller(lo, v), smaller(-hi, -v)
		hi = -hi
		if few = few && v == math.Trunc(v) && len(seen) <= fewValues; few {
			seen[v] = true
		}
	}
	return MeshVariable{Name: name, Min: orNull(lo), Max: orNull(hi), Few: few && len(seen) > 1 && !strings.HasPrefix(name, indexPrefix)}
}

// smaller is the smaller of two numbers; a is NaN at first.
func smaller(a, b float64) float64 {
	if a <= b {
		return a
	}
	return b
}

// values computes what a field question asks for.
func (r *Run) values(ctx context.Context, m *Mesh, dump *grid.Mesh, a *MeshFieldAsk) (*mesh.Field, *mesh.Placed, error) {
	if a.Variable != "" {
		space, err := mesh.NewSpace(dump)
		if err != nil {
			return nil, nil, err
		}
		v, err := variable(dump, space, a.Variable)
		return &mesh.Field{Values: v}, nil, wrongAsk(err)
	}
	if m.View == nil {
		return nil, nil, badRequest("%s has no samples; ask for a variable of the simulation", r.Name)
	}
	rows, err := r.selected(ctx, a.Filter, a.Where)
	if err != nil {
		return nil, nil, err
	}
	spec, err := mesh.ParseField(a.Field, m.View.Table)
	if err != nil {
		return nil, nil, badRequest("%v", err)
	}
	window, err := mesh.NewWindow(m.Series, a.Mode, m.Series.Steps[a.Step].Iteration, false, nil)
	if err != nil {
		return nil, nil, badRequest("%v", err)
	}
	placed, err := m.View.At(a.Step)
	if err != nil {
		return nil, nil, err
	}
	f, err := placed.Field(m.View.Table, rows, window, spec)
	return f, placed, wrongAsk(err)
}

// selected are the rows of a filter and a selection; nil for all.
func (r *Run) selected(ctx context.Context, filter, where string) (table.Bits, error) {
	f, w, err := r.parse(filter, where)
	if err != nil {
		return nil, err
	}
	both := query.Both(f, w)
	if both == nil {
		return nil, nil
	}
	return r.Engine.Select(ctx, both)
}

func (s *Server) meshField(w http.ResponseWriter, r *http.Request, run *Run) error {
	var ask MeshFieldAsk
	if err := readJSON(w, r, &ask); err != nil {
		return err
	}
	start := time.Now()
	m, dump, err := run.askMesh(&ask.Step)
	if err != nil {
		return err
	}
	f, placed, err := run.values(r.Context(), m, dump, &ask)
	if err != nil {
		return err
	}
	lo, hi, sum, covered := f.Stats()
	head := MeshFieldAnswer{Name: ask.Variable, Provenance: "simulation", Min: orNull(lo), Max: orNull(hi), Sum: finite(sum), Covered: covered}
	var picked []uint32
	if placed != nil {
		head.Name, head.Counts = f.Spec.String(), &f.Counts
		head.Unit, head.Provenance = m.origin(f.Spec)
		if ask.Picked != "" {
			if picked, err = run.cellsOf(r.Context(), placed, ask.Filter, ask.Picked); err != nil {
				return err
			}
		}
	}
	col := &columns{body: make([]byte, 0, 8*len(f.Values)+4*(len(f.Samples)+len(picked))+64)}
	head.Values, head.Samples, head.Picked = add(col, f.Values), add(col, f.Samples), add(col, picked)
	head.Columns, head.Took = list(col.refs), float64(time.Since(start).Microseconds())/1000
	return s.answerMessage(w, r, head, col)
}

// origin is the unit and provenance of a performance field.
func (m *Mesh) origin(f mesh.FieldSpec) (unit, provenance string) {
	c := m.View.Table.Column(f.Column)
	if c == nil {
		return "", table.Derived.String() // a count
	}
	if f.Aggregate != mesh.Distinct {
		unit = c.Unit
	}
	if c.Provenance == table.Measured {
		return unit, table.Derived.String()
	}
	return unit, c.Provenance.String()
}

// cellsOf lists the cells of a selection, in order.
func (r *Run) cellsOf(ctx context.Context, p *mesh.Placed, filter, where string) ([]uint32, error) {
	rows, err := r.selected(ctx, filter, where)
	if err != nil {
		return nil, err
	}
	var cells []uint32
	for i, c := range p.Place {
		if c >= 0 && (rows == nil || rows.Get(i)) {
			cells = append(cells, uint32(c))
		}
	}
	slices.Sort(cells)
	return slices.Compact(cells), nil
}

func (s *Server) answerMessage(w http.ResponseWriter, r *http.Request, head any, col *columns) error {
	body, err := message(head, col.body)
	if err != nil {
		return err
	}
	s.answerBytes(w, r, http.StatusOK, "application/vnd.isobath", body)
	return nil
}

func (s *Server) meshGeometry(w http.ResponseWriter, r *http.Request, run *Run) error {
	var ask MeshGeometryAsk
	if err := readJSON(w, r, &ask); err != nil {
		return err
	}
	m, dump, err := run.askMesh(&ask.Step)
	if err != nil {
		return err
	}
	key, err := json.Marshal(ask)
	if err != nil {
		return err
	}
	body := m.kept(string(key))
	if body == nil {
		if body, err = run.geometry(r.Context(), m, dump, &ask); err != nil {
			return err
		}
		m.keep(shell{string(key), body})
	}
	s.answerBytes(w, r, http.StatusOK, "application/vnd.isobath", body)
	return nil
}

func (m *Mesh) kept(key string) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.shells {
		if s.key == key {
			return s.body
		}
	}
	return nil
}

func (m *Mesh) keep(s shell) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.shells = slices.Insert(m.shells, 0, s)
	m.shells = m.shells[:min(len(m.shells), maxShells)]
}

// geometry extracts what is asked for, as a message.
func (r *Run) geometry(ctx context.Context, m *Mesh, dump *grid.Mesh, ask *MeshGeometryAsk) ([]byte, error) {
	start := time.Now()
	if ask.Level < -1 || ask.Level >= max(1, len(dump.Levels)) {
		return nil, badRequest("the mesh has %d levels; there is no level %d", max(1, len(dump.Levels)), ask.Level)
	}
	keep := mesh.Uncovered(dump, ask.Level)
	var s *mesh.Shell
	switch ask.View {
	case "surface":
		s = mesh.Surface(dump, keep)
	case "slice":
		if ask.Axis < 0 || ask.Axis > 2 || math.IsNaN(ask.At) || ask.At < 0 || ask.At > 1 {
			return nil, badRequest("a slice needs an axis 0 to 2 and a place 0 to 1")
		}
		lo, hi := dump.Bounds()
		var at, normal [3]float64
		at[ask.Axis], normal[ask.Axis] = lo[ask.Axis]+ask.At*(hi[ask.Axis]-lo[ask.Axis]), 1
		s = mesh.Slice(dump, at, normal, keep)
	case "threshold":
		if ask.By == nil {
			return nil, badRequest("a threshold needs a field")
		}
		ask.By.Step = ask.Step
		f, _, err := r.values(ctx, m, dump, ask.By)
		if err != nil {
			return nil, err
		}
		inside := mesh.Threshold(f.Values, ask.Low, ask.High)
		for i := range inside {
			inside[i] = inside[i] && (keep == nil || keep[i])
		}
		keep = inside
		s = mesh.Surface(dump, keep)
	default:
		return nil, badRequest("%q is no view: want surface, slice or threshold", ask.View)
	}
	head := MeshGeometryAnswer{Polygons: s.Polygons, Kept: dump.NumCells()}
	if keep != nil {
		head.Kept = 0
		for _, k := range keep {
			if k {
				head.Kept++
			}
		}
	}
	col := &columns{}
	head.Positions, head.Triangles, head.Cells = add(col, s.Positions), add(col, s.Triangles), add(col, s.Cells)
	head.Edges, head.Features = add(col, s.Edges), add(col, s.Features)
	head.Columns, head.Took = col.refs, float64(time.Since(start).Microseconds())/1000
	return message(head, col.body)
}

func (s *Server) meshCell(w http.ResponseWriter, r *http.Request, run *Run) error {
	var ask MeshCellAsk
	if err := readJSON(w, r, &ask); err != nil {
		return err
	}
	m, dump, err := run.askMesh(&ask.Step)
	if err != nil {
		return err
	}
	space, err := mesh.NewSpace(dump)
	if err != nil {
		return err
	}
	part, in := space.PartOf(ask.Cell)
	if part == nil {
		return badRequest("the mesh has %d cells; there is no cell %d", space.Cells, ask.Cell)
	}
	answer := MeshCell{Cell: ask.Cell, Part: part.Name, Index: []int{}}
	if at, ok := part.Index(in); ok {
		answer.Index = at[:]
	}
	if m.View != nil {
		placed, err := m.View.At(ask.Step)
		if err != nil {
			return err
		}
		if answer.Where, err = m.View.Where(placed, ask.Cell); err != nil {
			return wrongAsk(err)
		}
		answer.Samples = placed.RowsOf(map[int32]bool{int32(ask.Cell): true}).Count()
	}
	return s.answerJSON(w, r, http.StatusOK, answer)
}

func (s *Server) meshRelate(w http.ResponseWriter, r *http.Request, run *Run) error {
	var ask MeshRelateAsk
	if err := readJSON(w, r, &ask); err != nil {
		return err
	}
	if ask.Bins < 1 || ask.Bins > maxDensity {
		return badRequest("%d bins: want 1 to %d", ask.Bins, maxDensity)
	}
	if ask.Variable != "" {
		return badRequest("a variable of the simulation is related to a performance field, not to another one")
	}
	m, dump, err := run.askMesh(&ask.Step)
	if err != nil {
		return err
	}
	f, placed, err := run.values(r.Context(), m, dump, &ask.MeshFieldAsk)
	if err != nil {
		return err
	}
	physics, err := variable(dump, placed.Space, ask.Against)
	if err != nil {
		return wrongAsk(err)
	}
	var category []float64
	if ask.By != "" {
		if category, err = variable(dump, placed.Space, ask.By); err != nil {
			return wrongAsk(err)
		}
	}
	least := max(1, ask.Least)
	pairs, err := mesh.Pair(f, physics, category, least)
	if err != nil {
		return wrongAsk(err)
	}
	a := MeshRelation{Categories: []mesh.CategoryStats{}}
	if a.Correlation, err = pairs.Coefficients(least); err != nil {
		a.Problem = err.Error()
	}
	if a.Density, err = pairs.Density(ask.Bins, ask.Bins); err != nil {
		a.Problem = err.Error()
	}
	if category != nil {
		a.Categories = list(pairs.ByCategory(least))
	}
	return s.answerJSON(w, r, http.StatusOK, a)
}
