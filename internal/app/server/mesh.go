package server

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/app/demo"
	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/domain/mesh"
)

// Mesh is the mesh of a run and what was drawn of it last.
type Mesh struct {
	Series *mesh.Series
	View   *mesh.View // samples on it; nil if the run has none
	cells  int        // of the last dump

	mu     sync.Mutex
	shells recall[*shell]
	fields recall[*keptField]
	sets   []string // of cells that the engine keeps, newest last
	link   *linked  // to viewers; nil: not started
}

// recall keeps the newest of what was computed, by what was asked.
type recall[T any] struct {
	keys   []string // newest first
	values []T
}

func (k *recall[T]) find(key string) (v T, ok bool) {
	i := slices.Index(k.keys, key)
	if i < 0 {
		return v, false
	}
	return k.values[i], true
}

func (k *recall[T]) add(key string, v T, most int) {
	k.keys, k.values = slices.Insert(k.keys, 0, key), slices.Insert(k.values, 0, v)
	k.keys, k.values = k.keys[:min(len(k.keys), most)], k.values[:min(len(k.values), most)]
}

// Bounds of what is kept and answered.
const (
	maxShells   = 4
	maxFields   = 4
	iterBins    = 120
	maxDensity  = 128
	fewValues   = 32
	indexPrefix = "index " // variables that are made of a cell's place
)

var indexNames = [3]string{indexPrefix + "x", indexPrefix + "y", indexPrefix + "z"}

func (s *Server) meshRoutes(mux *http.ServeMux) {
	s.handleRun(mux, "POST runs/{id}/mesh", s.meshInfo)
	s.handleRun(mux, "POST runs/{id}/mesh/picture", s.meshPicture)
	s.handleRun(mux, "POST runs/{id}/mesh/field", s.meshField)
	s.handleRun(mux, "POST runs/{id}/mesh/summary", s.meshSummary)
	s.handleRun(mux, "POST runs/{id}/mesh/relate", s.meshRelate)
	s.handleRun(mux, "POST runs/{id}/mesh/cell", s.meshCell)
	s.handleRun(mux, "POST runs/{id}/mesh/cells", s.meshCells)
	s.handleRun(mux, "POST runs/{id}/mesh/brush", s.meshBrush)
	s.handleRun(mux, "POST runs/{id}/mesh/select", s.meshSelect)
	s.handleRun(mux, "GET runs/{id}/mesh/viewers", s.meshViewers)
	s.handle(mux, "POST runs/{id}/mesh/link", s.private(s.withRun(s.meshLink)))
	s.handle(mux, "POST runs/{id}/mesh/attach", s.private(s.withRun(s.meshAttach)))
}

// newMesh opens dumps, with the samples of a table on them unless it is nil.
func newMesh(t *table.Table, paths ...string) (*Mesh, error) {
	series, err := mesh.Open(paths...)
	if err != nil {
		return nil, err
	}
	return meshOf(series, t, mesh.Settings{})
}

func meshOf(series *mesh.Series, t *table.Table, set mesh.Settings) (*Mesh, error) {
	last := len(series.Steps) - 1
	m, err := series.Mesh(last)
	if err != nil {
		return nil, err
	}
	out := &Mesh{Series: series, cells: m.NumCells()}
	if t == nil {
		return out, nil
	}
	if out.View, err = mesh.NewView(series, t, set); err != nil {
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
		ID: slug(name) + "-" + hex.EncodeToString(h.Sum(nil)[:4]), Name: name, Path: path, Kind: string(kind.Mesh),
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
	return meshOf(mesh.NewSeries("stencil", demo.Dumps(), demo.Dump), t, mesh.Settings{Numbering: mesh.Numbering{Per: demo.DumpCells()}})
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
	m, err := s.meshFrom(&ask, run)
	if err != nil {
		return err
	}
	run.forgetCells()
	if old := run.mesh(); old != nil {
		old.unlink()
	}
	run.mu.Lock()
	run.Mesh = m
	run.mu.Unlock()
	return s.answerJSON(w, r, http.StatusOK, run.info())
}

// meshFrom makes the mesh that samples are put on.
func (s *Server) meshFrom(ask *MeshAttach, run *Run) (*Mesh, error) {
	if len(ask.Paths) > 0 {
		m, err := newMesh(run.Data.Table, ask.Paths...)
		return m, wrongAsk(err)
	}
	s.mu.RLock()
	i := slices.IndexFunc(s.runs, func(o *Run) bool { return o.ID == ask.Mesh })
	var from *Mesh
	if i >= 0 {
		from = s.runs[i].mesh()
	}
	s.mu.RUnlock()
	if from == nil {
		return nil, badRequest("no run %s with a mesh is open", ask.Mesh)
	}
	m, err := meshOf(from.Series, run.Data.Table, mesh.Settings{})
	return m, wrongAsk(err)
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
