package mesh

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/app/server/memory"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/domain/mesh"
)

// shell is an extracted geometry. A picture needs values of its cells only,
// which are few: a million cells in a cube show sixty thousand.
type shell struct {
	*mesh.Shell
	drawn []uint32 // its cells, rising
	of    []uint32 // of each triangle, its cell's place in drawn
	kept  int
	took  float64
}

// keptField is a field with the numbers that every answer about it has.
type keptField struct {
	*mesh.Field
	lo, hi, sum float64
	covered     int
	spread      []float64
	accesses    *mesh.AccessCounts // nil: it has nothing to do with them
}

// fieldKey and shellKey name what is kept, by the question.
type (
	fieldKey string
	shellKey string
)

// key names a question in what is kept.
func key(ask any) (string, error) {
	text, err := json.Marshal(ask)
	return string(text), err
}

// values computes what a field question asks for.
func (m *Mesh) values(ctx context.Context, dump *grid.Mesh, a MeshFieldAsk) (*keptField, *mesh.Placed, error) {
	a.Picked = ""
	var placed *mesh.Placed
	var err error
	if a.Variable == "" && m.View == nil {
		return nil, nil, frame.BadRequest("%s has no samples; ask for a variable of the simulation", m.Run.Name)
	}
	if m.View != nil {
		if placed, err = m.View.At(ctx, a.Step); err != nil {
			return nil, nil, err
		}
	}
	k, err := key(a)
	if err != nil {
		return nil, nil, err
	}
	if kept, ok := m.kept.Recall(fieldKey(k)); ok {
		return kept.(*keptField), placed, nil
	}
	f := &keptField{}
	if a.Variable != "" {
		f.Field, err = m.simulated(ctx, dump, placed, a.Variable)
	} else {
		f.Field, err = m.projected(ctx, placed, &a)
	}
	if err == nil && a.Since != nil {
		f.Field, err = m.change(ctx, f.Field, a)
	}
	if err != nil {
		return nil, nil, err
	}
	if f.Spec.PerAccess || a.Variable == mesh.Accesses {
		counts, err := m.View.AccessCounts(ctx, placed)
		if err != nil {
			return nil, nil, frame.WrongAsk(err)
		}
		f.accesses = &counts
	}
	f.lo, f.hi, f.sum, f.covered = f.Stats()
	f.spread = f.Spread()
	m.kept.Keep(fieldKey(k), f.Bytes(), f)
	return f, placed, nil
}

// simulated is a variable on the cells.
func (m *Mesh) simulated(ctx context.Context, dump *grid.Mesh, placed *mesh.Placed, name string) (*mesh.Field, error) {
	space, err := mesh.NewSpace(dump)
	if err != nil {
		return nil, err
	}
	v, err := m.variable(ctx, dump, space, placed, name)
	return &mesh.Field{Values: v}, frame.WrongAsk(err)
}

// projected aggregates the selected samples on the cells.
func (m *Mesh) projected(ctx context.Context, placed *mesh.Placed, a *MeshFieldAsk) (*mesh.Field, error) {
	rows, err := m.selected(ctx, a.Filter, a.Where)
	if err != nil {
		return nil, err
	}
	spec, err := mesh.ParseField(a.Field, m.View.Table)
	if err != nil {
		return nil, frame.BadRequest("%v", err)
	}
	window, err := mesh.NewWindow(m.Series, a.Mode, m.Series.Steps[a.Step].Iteration, false, nil)
	if err != nil {
		return nil, frame.BadRequest("%v", err)
	}
	f, err := placed.Field(ctx, m.View.Table, rows, window, spec)
	return f, frame.WrongAsk(err)
}

// selected are the rows of a filter and a selection; nil for all.
func (m *Mesh) selected(ctx context.Context, filter, where string) (table.Bits, error) {
	return memory.Of(m.Run).Within(ctx, filter, where)
}

// fieldHead is what an answer says about a field besides its values.
func (m *Mesh) fieldHead(ask *MeshFieldAsk, f *keptField) MeshFieldAnswer {
	head := MeshFieldAnswer{Name: ask.Variable, Provenance: m.variableOrigin(ask), Min: frame.OrNull(f.lo), Max: frame.OrNull(f.hi), Sum: frame.Finite(f.sum), Covered: f.covered, Change: f.Changed, Uncertain: f.Uncertain(), Spread: frame.List(f.spread), Accesses: f.accesses, Columns: []frame.ColumnRef{}}
	if ask.Variable == "" {
		head.Name, head.Counts, head.NoAccess = f.Name(), &f.Counts, f.NoAccess
		head.Unit, head.Provenance = m.origin(f.Spec)
	}
	return head
}

// variableOrigin says whether a variable is the simulation's or made from samples.
func (m *Mesh) variableOrigin(ask *MeshFieldAsk) string {
	if m.View != nil && mesh.FromSamples(ask.Variable) {
		return table.Derived.String()
	}
	return "simulation"
}

// meshField answers with a whole field: every cell of the mesh.
func (s routes) meshField(w http.ResponseWriter, r *http.Request, m *Mesh) error {
	var ask MeshFieldAsk
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	start := time.Now()
	dump, err := m.askMesh(r.Context(), &ask.Step)
	if err != nil {
		return err
	}
	f, placed, err := m.values(r.Context(), dump, ask)
	if err != nil {
		return err
	}
	head := m.fieldHead(&ask, f)
	var picked []uint32
	if placed != nil && ask.Picked != "" {
		if picked, err = m.cellsOf(r.Context(), placed, ask.Filter, ask.Picked); err != nil {
			return err
		}
	}
	col := &frame.Body{}
	col.Grow(8*len(f.Values) + 4*(len(f.Samples)+len(picked)) + 64)
	head.Values, head.Samples, head.Picked = frame.Add(col, f.Values), frame.Add(col, f.Samples), frame.Add(col, picked)
	head.Columns, head.Took = frame.List(col.Refs), frame.Since(start)
	return s.AnswerColumns(w, r, head, col)
}

// origin is the unit and provenance of a performance field.
func (m *Mesh) origin(f mesh.FieldSpec) (unit, provenance string) {
	defer func() {
		if f.PerAccess {
			unit = strings.TrimSpace(unit + " per access")
		}
	}()
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

// meshPicture answers with what a page draws: a geometry, unless the page has
// it, and the fields on its cells.
func (s routes) meshPicture(w http.ResponseWriter, r *http.Request, m *Mesh) error {
	var ask MeshPictureAsk
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	start := time.Now()
	dump, err := m.askMesh(r.Context(), &ask.Geometry.Step)
	if err != nil {
		return err
	}
	shell, name, err := m.shell(r.Context(), dump, &ask.Geometry)
	if err != nil {
		return err
	}
	head := MeshPicture{Key: name}
	col := &frame.Body{}
	if ask.Have != name {
		head.Geometry = &MeshGeometry{
			Took: shell.took, Polygons: shell.Polygons, Kept: shell.kept, Positions: frame.Add(col, shell.Positions), Triangles: frame.Add(col, shell.Triangles),
			Of: frame.Add(col, shell.of), Cells: frame.Add(col, shell.drawn), Edges: frame.Add(col, shell.Edges), Features: frame.Add(col, shell.Features),
		}
	}
	for _, f := range []struct {
		ask *MeshFieldAsk
		out **MeshFieldAnswer
	}{{ask.Performance, &head.Performance}, {ask.Physics, &head.Physics}} {
		if f.ask == nil {
			continue
		}
		f.ask.Step = ask.Geometry.Step
		if *f.out, err = m.shown(r.Context(), dump, shell, f.ask, col); err != nil {
			return err
		}
	}
	if ask.Arrows != "" {
		vectors, err := mesh.VectorsOf(r.Context(), dump, ask.Arrows, shell.drawn)
		if err != nil {
			return frame.WrongAsk(err)
		}
		head.Arrows = &MeshArrows{Name: ask.Arrows, Values: frame.Add(col, vectors)}
	}
	head.Columns, head.Took = frame.List(col.Refs), frame.Since(start)
	return s.AnswerColumns(w, r, head, col)
}

// shown is a field on the cells of a geometry.
func (m *Mesh) shown(ctx context.Context, dump *grid.Mesh, sh *shell, ask *MeshFieldAsk, col *frame.Body) (*MeshFieldAnswer, error) {
	start := time.Now()
	f, placed, err := m.values(ctx, dump, *ask)
	if err != nil {
		return nil, err
	}
	head := m.fieldHead(ask, f)
	values := make([]float64, len(sh.drawn))
	var samples, picked []uint32
	if f.Samples != nil {
		samples = make([]uint32, len(sh.drawn))
	}
	for i, c := range sh.drawn {
		if values[i] = f.Values[c]; samples != nil {
			samples[i] = f.Samples[c]
		}
	}
	if placed != nil && ask.Picked != "" {
		cells, err := m.cellsOf(ctx, placed, ask.Filter, ask.Picked)
		if err != nil {
			return nil, err
		}
		head.PickedCells, picked = len(cells), sh.places(cells)
	}
	head.Values, head.Samples, head.Picked = frame.Add(col, values), frame.Add(col, samples), frame.Add(col, picked)
	head.Took = frame.Since(start)
	return &head, nil
}

// places are where cells stand among those that are drawn; both rise.
func (sh *shell) places(cells []uint32) []uint32 {
	var out []uint32
	at := 0
	for _, c := range cells {
		for at < len(sh.drawn) && sh.drawn[at] < c {
			at++
		}
		if at < len(sh.drawn) && sh.drawn[at] == c {
			out = append(out, uint32(at))
		}
	}
	return out
}

// shell extracts a geometry, or finds it among the newest.
func (m *Mesh) shell(ctx context.Context, dump *grid.Mesh, ask *MeshGeometryAsk) (*shell, string, error) {
	k, err := key(ask)
	if err != nil {
		return nil, "", err
	}
	name := digest(k)
	if kept, ok := m.kept.Recall(shellKey(k)); ok {
		return kept.(*shell), name, nil
	}
	start := time.Now()
	sh, err := m.extract(ctx, dump, ask)
	if err != nil {
		return nil, "", err
	}
	sh.drawn = slices.Clone(sh.Cells)
	slices.Sort(sh.drawn)
	sh.drawn = slices.Compact(sh.drawn)
	sh.of = make([]uint32, len(sh.Cells))
	at := 0
	for i, c := range sh.Cells {
		if sh.drawn[at] != c { // most triangles are of the same cell as the one before, or of the next
			if at++; at >= len(sh.drawn) || sh.drawn[at] != c {
				at, _ = slices.BinarySearch(sh.drawn, c)
			}
		}
		sh.of[i] = uint32(at)
	}
	sh.took = frame.Since(start)
	m.kept.Keep(shellKey(k), sh.Bytes()+4*int64(len(sh.drawn)+len(sh.of)), sh)
	return sh, name, nil
}

// mostPlanes that clip a picture.
const mostPlanes = 12

// clipped are the cells of the level that is asked for within all planes; nil for all.
func (m *Mesh) clipped(ctx context.Context, dump *grid.Mesh, ask *MeshGeometryAsk) ([]bool, error) {
	if len(ask.Clip) > mostPlanes {
		return nil, frame.BadRequest("%d planes: at most %d can clip a mesh", len(ask.Clip), mostPlanes)
	}
	within := make([]mesh.HalfSpace, len(ask.Clip))
	for i, p := range ask.Clip {
		within[i] = mesh.HalfSpace(p)
	}
	return mesh.Clip(ctx, dump, mesh.OfLevel(dump, ask.Level), within)
}

func (m *Mesh) extract(ctx context.Context, dump *grid.Mesh, ask *MeshGeometryAsk) (*shell, error) {
	if ask.Level < -1 || ask.Level >= max(1, len(dump.Levels)) {
		return nil, frame.BadRequest("the mesh has %s; there is no level %d", term.Counted(max(1, len(dump.Levels)), "level"), ask.Level)
	}
	keep, err := m.clipped(ctx, dump, ask)
	if err != nil {
		return nil, err
	}
	sh := &shell{}
	switch ask.View {
	case "surface":
		sh.Shell, err = mesh.Surface(ctx, dump, keep)
	case "slice":
		if ask.Axis < 0 || ask.Axis > 2 || math.IsNaN(ask.At) || ask.At < 0 || ask.At > 1 {
			return nil, frame.BadRequest("a slice needs an axis 0 to 2 and a place 0 to 1")
		}
		lo, hi := dump.Bounds()
		var at, normal [3]float64
		at[ask.Axis], normal[ask.Axis] = lo[ask.Axis]+ask.At*(hi[ask.Axis]-lo[ask.Axis]), 1
		sh.Shell, err = mesh.Slice(ctx, dump, at, normal, keep)
	case "threshold":
		if ask.By == nil {
			return nil, frame.BadRequest("a threshold needs a field")
		}
		ask.By.Step = ask.Step
		f, _, wrong := m.values(ctx, dump, *ask.By)
		if wrong != nil {
			return nil, wrong
		}
		inside := mesh.Threshold(f.Values, ask.Low, ask.High)
		for i := range inside {
			inside[i] = inside[i] && (keep == nil || keep[i])
		}
		keep = inside
		sh.Shell, err = mesh.Surface(ctx, dump, keep)
	case "contour":
		if ask.By == nil {
			return nil, frame.BadRequest("a contour needs a field")
		}
		ask.By.Step = ask.Step
		f, _, wrong := m.values(ctx, dump, *ask.By)
		if wrong != nil {
			return nil, wrong
		}
		sh.Shell, err = mesh.Contour(ctx, dump, ask.By.Variable, f.Values, ask.Low, keep)
	default:
		err = frame.BadRequest("%q is no view: want surface, slice, threshold or contour", ask.View)
	}
	if err != nil {
		return nil, err
	}
	sh.kept = dump.NumCells()
	if keep != nil {
		sh.kept = 0
		for _, k := range keep {
			if k {
				sh.kept++
			}
		}
	}
	return sh, nil
}
