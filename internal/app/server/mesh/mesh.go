// Package mesh answers what pages and scripts ask about simulations' meshes,
// with or without samples on them, and links runs to mesh viewers.
package mesh

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"slices"
	"sync"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/app/server/memory"
	"github.com/isobath/isobath/internal/app/server/messages"
	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/app/demo"
	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/domain/mesh"
	"github.com/isobath/isobath/internal/messages/logical"
)

// Mesh is the mesh of a run and what was drawn of it last.
type Mesh struct {
	Run    *frame.Run
	Series *mesh.Series
	View   *mesh.View // samples on it; nil if the run has none
	cells  int        // of the last dump

	kept *budget.Share // shells and fields, by what was asked

	mu   sync.Mutex
	link *linked // to viewers; nil: not started
}

// Bounds of what is answered.
const (
	iterBins   = 120
	maxDensity = 128
	fewValues  = 32
)

// Name is what the kind is called.
const Name = "mesh"

// Of returns the mesh of a run; nil if it has none.
func Of(r *frame.Run) *Mesh { return frame.PartOf[*Mesh](r) }

// OnMesh reports whether a run has samples on a mesh.
func OnMesh(r *frame.Run) bool {
	m := Of(r)
	return m != nil && m.View != nil
}

// Kind implements frame.Part.
func (m *Mesh) Kind() string { return Name }

// Rows implements frame.Part.
func (m *Mesh) Rows() int { return m.cells }

// String is empty for the mesh of samples, which are what the run holds.
func (m *Mesh) String() string {
	if m.View != nil {
		return ""
	}
	return term.Counted(m.cells, "cell") + ", " + term.Counted(len(m.Series.Steps), "dump")
}

// Tell implements frame.Part.
func (m *Mesh) Tell(_ context.Context, info *frame.Info) error {
	info.Mesh, info.Linked = true, m.linked() != nil
	return nil
}

// Leave implements frame.Leaver: pages that follow the link hold the run open.
func (m *Mesh) Leave() { m.unlink() }

// Close implements frame.Part.
func (m *Mesh) Close() {
	m.kept.Close()
	if m.View != nil {
		m.View.Close()
	}
}

// Kind is meshes as the server knows them.
type Kind struct{}

// Name implements frame.Kind.
func (Kind) Name() string { return Name }

// routes answer through a frame.
type routes struct{ *frame.Frame }

func noMesh(r *frame.Run) error { return frame.BadRequest("%s has no mesh", r.Name) }

// Routes implements frame.Kind.
func (Kind) Routes(f *frame.Frame) []frame.Route {
	s := routes{f}
	of := func(f func(http.ResponseWriter, *http.Request, *Mesh) error) func(http.ResponseWriter, *http.Request, *frame.Run) error {
		return frame.OfPart(noMesh, f)
	}
	return []frame.Route{
		{Method: "POST", Path: "runs/{id}/mesh", Access: frame.Viewer, Does: "what the page must know about a mesh", Command: "isobath info",
			Takes: MeshAsk{}, Answers: MeshInfo{}, OfRun: of(s.meshInfo)},
		{Method: "POST", Path: "runs/{id}/mesh/picture", Access: frame.Viewer, Does: "a geometry, unless the page has it, and fields on its cells",
			Takes: MeshPictureAsk{}, Answers: MeshPicture{}, Type: frame.TypeColumns, OfRun: of(s.meshPicture)},
		{Method: "POST", Path: "runs/{id}/mesh/field", Access: frame.Viewer, Does: "a field on every cell", Command: "isobath mesh",
			Takes: MeshFieldAsk{}, Answers: MeshFieldAnswer{}, Type: frame.TypeColumns, OfRun: of(s.meshField)},
		{Method: "POST", Path: "runs/{id}/mesh/summary", Access: frame.Viewer, Does: "fields in numbers: histogram, quantiles, highest cells, relation", Command: "isobath mesh",
			Takes: MeshSummaryAsk{}, Answers: MeshSummary{}, OfRun: of(s.meshSummary)},
		{Method: "POST", Path: "runs/{id}/mesh/relate", Access: frame.Viewer, Does: "a performance field against a variable of the simulation", Command: "isobath mesh --correlate",
			Takes: MeshRelateAsk{}, Answers: MeshRelation{}, OfRun: of(s.meshRelate)},
		{Method: "POST", Path: "runs/{id}/mesh/overtime", Access: frame.Viewer, Does: "a performance field at every dump, by region", Command: "isobath mesh --over-time",
			Takes: MeshOverTimeAsk{}, Answers: MeshOverTime{}, OfRun: of(s.meshOverTime)},
		{Method: "POST", Path: "runs/{id}/mesh/overtime/select", Access: frame.Viewer, Does: "the selection of the samples in some regions at some dumps",
			Takes: MeshTimeBrushAsk{}, Answers: MeshWhere{}, OfRun: of(s.meshTimeBrush)},
		{Method: "POST", Path: "runs/{id}/mesh/rank", Access: frame.Viewer, Does: "all variables by how much of a performance field they explain", Command: "isobath mesh --rank",
			Takes: MeshRankAsk{}, Answers: MeshRanked{}, OfRun: of(s.meshRank)},
		{Method: "POST", Path: "runs/{id}/mesh/line", Access: frame.Viewer, Does: "the cells on a straight line with their values", Command: "isobath mesh --line",
			Takes: MeshLineAsk{}, Answers: MeshLine{}, OfRun: of(s.meshLine)},
		{Method: "POST", Path: "runs/{id}/mesh/cell", Access: frame.Viewer, Does: "one cell, and the selection of its samples",
			Takes: MeshCellAsk{}, Answers: MeshCell{}, OfRun: of(s.meshCell)},
		{Method: "POST", Path: "runs/{id}/mesh/cells", Access: frame.Viewer, Does: "the drawn cells that have samples of a selection",
			Takes: MeshCellsAsk{}, Answers: MeshCells{}, OfRun: of(s.meshCells)},
		{Method: "POST", Path: "runs/{id}/mesh/brush", Access: frame.Viewer, Does: "the selection of the cells in a rectangle of a relation",
			Takes: MeshBrushAsk{}, Answers: MeshBrush{}, OfRun: of(s.meshBrush)},
		{Method: "POST", Path: "runs/{id}/mesh/select", Access: frame.Viewer, Does: "tells linked viewers what the page has selected",
			Takes: MeshSelect{}, Answers: MeshViewers{}, OfRun: of(s.meshSelect)},
		{Method: "GET", Path: "runs/{id}/mesh/viewers", Access: frame.Viewer, Does: "who is linked and what they select, as it changes",
			Answers: MeshViewers{}, Type: frame.TypeEvents, OfRun: of(s.meshViewers)},
		{Method: "POST", Path: "runs/{id}/mesh/link", Access: frame.Owner, Does: "lets mesh viewers of this machine connect",
			Answers: MeshLink{}, OfRun: of(s.meshLink)},
		{Method: "POST", Path: "runs/{id}/mesh/attach", Access: frame.Owner, Does: "puts the samples of a run on a mesh: files, or that of another run",
			Takes: MeshAttach{}, Answers: frame.Info{}, OfRun: s.meshAttach},
	}
}

// newMesh opens dumps, with the samples of a run on them unless it is nil.
func newMesh(ctx context.Context, r *frame.Run, set mesh.Settings, paths ...string) (*Mesh, error) {
	series, err := mesh.Open(ctx, paths...)
	if err != nil {
		return nil, err
	}
	return meshOf(ctx, series, r, set)
}

// What answers are kept of a mesh: so many fields of all its cells, and some more
// where it is small. Every selection and every plane that cuts it is a new one.
const (
	keptFields = 32
	keptFree   = 32 << 20
)

// meshOf puts the samples of a run, unless it is nil, on dumps.
func meshOf(ctx context.Context, series *mesh.Series, r *frame.Run, set mesh.Settings) (*Mesh, error) {
	last := len(series.Steps) - 1
	m, err := series.Mesh(ctx, last)
	if err != nil {
		return nil, err
	}
	out := &Mesh{Series: series, cells: m.NumCells(), kept: budget.Of(ctx).NewShare()}
	out.kept.Bound(keptFields*8*int64(out.cells) + keptFree)
	if r == nil {
		return out, nil
	}
	if set.ByRank, err = byRank(ctx, r); err != nil {
		return nil, err
	}
	if out.View, err = mesh.NewView(ctx, series, memory.Of(r).Data.Table, set); err != nil {
		return nil, err
	}
	_, err = out.View.At(ctx, last)
	return out, err
}

// put makes a mesh that of a run, whose selections may name its cells from then
// on.
func put(r *frame.Run, m *Mesh) {
	m.Run = r
	if samples := memory.Of(r); samples != nil && samples.Data.RowSets != nil {
		samples.Data.RowSets.FindBy(m.View.RowsOfSet)
	}
	if old, ok := r.Put(m).(*Mesh); ok {
		old.unlink()
		old.Close()
	}
}

// Join puts the samples of a run on the mesh of dumps.
func Join(ctx context.Context, r *frame.Run, set mesh.Settings, paths ...string) error {
	m, err := newMesh(ctx, r, set, paths...)
	if err == nil {
		put(r, m)
	}
	return err
}

// JoinDemo puts the samples of the built-in run on its grid, with what the
// program computes.
func JoinDemo(ctx context.Context, r *frame.Run) error {
	series := mesh.NewSeries(ctx, "stencil", demo.Dumps(), demo.Dump)
	m, err := meshOf(ctx, series, r, mesh.Settings{Numbering: mesh.Numbering{Per: demo.DumpCells()}})
	if err == nil {
		put(r, m)
	}
	return err
}

// Inherit puts the samples of a run on the mesh that those of another are on.
func Inherit(ctx context.Context, r, from *frame.Run) error {
	old := Of(from)
	if old == nil || memory.Of(r) == nil || Of(r) != nil {
		return nil
	}
	m, err := meshOf(ctx, old.Series, r, mesh.Settings{})
	if err == nil {
		put(r, m)
	}
	return err
}

// Open opens dumps as a run of their own.
func Open(ctx context.Context, paths ...string) (*frame.Run, error) {
	m, err := newMesh(ctx, nil, mesh.Settings{}, paths...)
	if err != nil {
		return nil, err
	}
	dump, err := m.Series.Mesh(ctx, len(m.Series.Steps)-1)
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
		for p := 0; p < g.NumPoints(); p += max(1, g.NumPoints()/frame.IdentityRows) {
			fmt.Fprintln(h, g.Point(p))
		}
	}
	r := &frame.Run{
		ID: frame.Identity(name, h), Name: name, Path: path, Kind: string(kind.Mesh),
		Format: m.Series.Format, Warnings: slices.Concat(m.Series.Notes(), dump.Warnings), TopologyNote: "a mesh has no hardware topology",
	}
	put(r, m)
	return r, nil
}

// meshAttach lets a samples run show its samples on the mesh of another run.
func (s routes) meshAttach(w http.ResponseWriter, r *http.Request, run *frame.Run) error {
	var ask MeshAttach
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	if memory.Of(run) == nil {
		return frame.BadRequest("%s holds a %s, which has no samples to put on a mesh", run.Name, run.Kind)
	}
	m, err := s.meshFrom(r.Context(), &ask, run)
	if err != nil {
		return err
	}
	put(run, m)
	return s.Tell(w, r, run)
}

// meshFrom makes the mesh that samples are put on.
func (s routes) meshFrom(ctx context.Context, ask *MeshAttach, run *frame.Run) (*Mesh, error) {
	if len(ask.Paths) > 0 {
		m, err := newMesh(ctx, run, mesh.Settings{}, ask.Paths...)
		return m, frame.WrongAsk(err)
	}
	var from *Mesh
	if other, release := s.Hold(ask.Mesh); other != nil {
		defer release()
		from = Of(other)
	}
	if from == nil {
		return nil, frame.BadRequest("no run %s with a mesh is open", ask.Mesh)
	}
	m, err := meshOf(ctx, from.Series, run, mesh.Settings{})
	return m, frame.WrongAsk(err)
}

// askMesh returns the dump at a step.
func (m *Mesh) askMesh(ctx context.Context, step *int) (*grid.Mesh, error) {
	if *step == -1 {
		*step = len(m.Series.Steps) - 1
	}
	if *step < 0 || *step >= len(m.Series.Steps) {
		return nil, frame.BadRequest("the mesh has %s; there is no dump %d", term.Counted(len(m.Series.Steps), "dump"), *step)
	}
	return m.Series.Mesh(ctx, *step)
}

func (s routes) meshInfo(w http.ResponseWriter, r *http.Request, m *Mesh) error {
	var ask MeshAsk
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	dump, err := m.askMesh(r.Context(), &ask.Step)
	if err != nil {
		return err
	}
	info, err := m.info(r.Context(), ask.Step, dump)
	if err != nil {
		return err
	}
	return s.Answer(w, r, info)
}

func (m *Mesh) info(ctx context.Context, step int, dump *grid.Mesh) (*MeshInfo, error) {
	space, err := mesh.NewSpace(dump)
	if err != nil {
		return nil, err
	}
	lo, hi := dump.Bounds()
	info := &MeshInfo{
		Name: m.Series.Name, Format: m.Series.Format, Step: step, Cells: space.Cells, Points: dump.NumPoints(), Levels: max(1, len(dump.Levels)),
		Low: finites(lo), High: finites(hi), Flat: flat(ctx, dump), Steps: []MeshStep{}, Parts: []MeshPart{}, Values: []MeshVariable{}, Vectors: mesh.Vectors(dump),
		Fields: []string{}, Placing: []string{}, Notes: frame.List(dump.Warnings),
	}
	for _, st := range m.Series.Steps {
		out := MeshStep{Iteration: st.Iteration, From: st.From}
		if st.HasTime {
			out.Time = frame.OrNull(st.Time)
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
	var placed *mesh.Placed
	if m.View != nil {
		if placed, err = m.View.At(ctx, step); err != nil {
			return nil, err
		}
	}
	for _, v := range m.variables(dump, space, placed) {
		if mesh.IsHalo(v.Name) { // its values are known before it is computed, which takes a while
			lo, hi := 0.0, float64(mesh.HaloLayers)
			info.Values = append(info.Values, MeshVariable{Name: v.Name, Subject: v.Subject, Min: &lo, Max: &hi, Few: true, Spread: []float64{lo, hi}})
			continue
		}
		values, err := m.variable(ctx, dump, space, placed, v.Name)
		if err != nil {
			return nil, err
		}
		info.Values = append(info.Values, describeVariable(ctx, v, values))
	}
	if m.View != nil {
		if err := m.samplesInfo(ctx, info, placed); err != nil {
			return nil, err
		}
		if note := m.View.OutsideNote(placed); note != "" {
			info.Notes = append(info.Notes, note)
		}
	}
	return info, ctx.Err()
}

// variables lists what the cells of a dump have a number of.
func (m *Mesh) variables(dump *grid.Mesh, space *mesh.Space, placed *mesh.Placed) []mesh.CellVariable {
	if placed != nil {
		return m.View.Variables(placed)
	}
	return mesh.CellVariables(dump, space)
}

// variable is a number for each cell; placed is nil without samples.
func (m *Mesh) variable(ctx context.Context, dump *grid.Mesh, space *mesh.Space, placed *mesh.Placed, name string) ([]float64, error) {
	if placed != nil {
		return m.View.Variable(ctx, placed, name)
	}
	return mesh.Variable(ctx, dump, space, name)
}

// byRank is what the message trace of a run, if it has one, says of each rank.
func byRank(ctx context.Context, r *frame.Run) ([]mesh.RankValues, error) {
	t := messages.Of(r)
	if t == nil {
		return nil, nil
	}
	s, err := logical.Analyze(ctx, t.Trace, logical.Default())
	if err != nil {
		return nil, err
	}
	return []mesh.RankValues{{Name: mesh.Lateness, Values: s.MeanLateness()}}, nil
}

// samplesInfo adds what the page must know about the samples on the mesh.
func (m *Mesh) samplesInfo(ctx context.Context, info *MeshInfo, placed *mesh.Placed) error {
	t := m.View.Table
	info.Samples, info.Placing, info.Fields = t.Rows(), m.View.Placing(), append(info.Fields, string(mesh.Count))
	shared := m.View.HasAccesses(placed)
	offer := func(f mesh.FieldSpec) {
		info.Fields = append(info.Fields, f.String())
		if f.PerAccess = shared; shared && f.Aggregate == mesh.Sum {
			info.Fields = append(info.Fields, f.String())
		}
	}
	if shared {
		info.Fields = append(info.Fields, mesh.FieldSpec{Aggregate: mesh.Count, PerAccess: true}.String())
	}
	for _, c := range []struct {
		name string
		by   []mesh.Aggregate
	}{
		{"latency", []mesh.Aggregate{mesh.Mean, mesh.Median, mesh.P90, mesh.Max, mesh.Sum}}, {"weight", []mesh.Aggregate{mesh.Mean, mesh.Sum}},
		{"remote", []mesh.Aggregate{mesh.Mean}}, {"cpu", []mesh.Aggregate{mesh.Dominant, mesh.Distinct}}, {"node", []mesh.Aggregate{mesh.Dominant, mesh.Distinct}},
	} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if t.Column(c.name) == nil || table.Summarize(t.Column(c.name)).Distinct == 0 {
			continue
		}
		for _, a := range c.by {
			offer(mesh.FieldSpec{Column: c.name, Aggregate: a})
		}
	}
	column := mesh.IterationColumn(t, "")
	if column == "" {
		return nil
	}
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	iterations, err := mesh.Ints(ctx, t.Column(column))
	if err != nil {
		return err
	}
	for _, n := range iterations {
		if n != mesh.Missing {
			lo, hi = min(lo, int64(n)), max(hi, int64(n))
		}
	}
	if lo > hi {
		return nil
	}
	bins := min(hi-lo+1, iterBins)
	info.Iterations = &MeshIterations{Column: column, Low: lo, High: hi, Counts: make([]int64, bins)}
	for _, n := range iterations {
		if n != mesh.Missing {
			info.Iterations.Counts[(int64(n)-lo)*bins/(hi-lo+1)]++
		}
	}
	return nil
}

func finites(v [3]float64) []float64 {
	return []float64{frame.Finite(v[0]), frame.Finite(v[1]), frame.Finite(v[2])}
}

// flat reports whether no cell is solid.
func flat(ctx context.Context, m *grid.Mesh) bool {
	var buf []int32
	for i := range m.Blocks {
		g := m.Blocks[i].Grid
		for c := range table.Scan(ctx, nil, g.NumCells()) {
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

func describeVariable(ctx context.Context, of mesh.CellVariable, values []float64) MeshVariable {
	lo, hi := math.NaN(), math.NaN()
	seen := map[float64]bool{}
	few := true
	for i := range table.Scan(ctx, nil, len(values)) {
		v := values[i]
		if math.IsNaN(v) {
			continue
		}
		lo, hi = smaller(lo, v), smaller(-hi, -v)
		hi = -hi
		if few = few && v == math.Trunc(v) && len(seen) <= fewValues; few {
			seen[v] = true
		}
	}
	return MeshVariable{Name: of.Name, Subject: of.Subject, Min: frame.OrNull(lo), Max: frame.OrNull(hi), Few: few && len(seen) > 1 && of.Subject != mesh.OfLayers,
		Spread: frame.List((&mesh.Field{Values: values}).Spread())}
}

// smaller is the smaller of two numbers; a is NaN at first.
func smaller(a, b float64) float64 {
	if a <= b {
		return a
	}
	return b
}
