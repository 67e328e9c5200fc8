package mesh

import (
	"context"
	"net/http"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/domain/mesh"
)

// change is a field less the same at another dump.
func (m *Mesh) change(ctx context.Context, now *mesh.Field, a MeshFieldAsk) (*mesh.Field, error) {
	if a.Variable == "" && a.Mode != mesh.Only {
		return nil, frame.BadRequest("a change compares the samples of two dumps: the mode must be only")
	}
	if *a.Since < 0 || *a.Since >= len(m.Series.Steps) {
		return nil, frame.BadRequest("the mesh has %s; there is no dump %d", term.Counted(len(m.Series.Steps), "dump"), *a.Since)
	}
	same, err := m.Series.SameCells(ctx, *a.Since, a.Step)
	if err != nil {
		return nil, err
	}
	if !same {
		return nil, frame.BadRequest("dumps %d and %d have other cells; values of cells cannot be compared", *a.Since, a.Step)
	}
	a.Step, a.Since = *a.Since, nil
	var before *grid.Mesh
	if before, err = m.Series.Mesh(ctx, a.Step); err != nil {
		return nil, err
	}
	then, _, err := m.values(ctx, before, a)
	if err != nil {
		return nil, err
	}
	out, err := mesh.Change(now, then.Field)
	return out, frame.WrongAsk(err)
}

// meshOverTime answers with a field in space and time. What cannot be computed, such as
// for samples without an iteration, is a problem and no error: the page shows why.
func (s routes) meshOverTime(w http.ResponseWriter, r *http.Request, m *Mesh) error {
	var ask MeshOverTimeAsk
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	a, err := m.overTime(r.Context(), &ask)
	if err != nil {
		return err
	}
	return s.Answer(w, r, a)
}

func (m *Mesh) overTime(ctx context.Context, ask *MeshOverTimeAsk) (*MeshOverTime, error) {
	if m.View == nil {
		return nil, frame.BadRequest("%s has no samples", m.Run.Name)
	}
	if _, err := m.askMesh(ctx, &ask.Step); err != nil {
		return nil, err
	}
	rows, err := m.selected(ctx, ask.Filter, ask.Where)
	if err != nil {
		return nil, err
	}
	spec, err := mesh.ParseField(ask.Field, m.View.Table)
	if err != nil {
		return nil, frame.BadRequest("%v", err)
	}
	out := &MeshOverTime{Iterations: []int64{}, Regions: []mesh.TimeRow{}}
	all, err := m.View.OverTime(ctx, rows, spec, "")
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		out.Problem = err.Error()
		return out, nil
	}
	out.Iterations, out.All, out.After = all.Iterations, &all.Rows[0], all.After
	if ask.By != "" {
		by, err := m.View.OverTime(ctx, rows, spec, ask.By)
		if err != nil {
			return nil, frame.WrongAsk(err)
		}
		out.Regions = frame.List(by.Rows)
	}
	if ask.Picked == "" {
		return out, nil
	}
	placed, err := m.View.At(ctx, ask.Step)
	if err != nil {
		return nil, err
	}
	cells, err := m.cellsOf(ctx, placed, ask.Filter, ask.Picked)
	if err != nil || len(cells) == 0 {
		return out, err
	}
	picked, err := m.View.CellsOverTime(ctx, rows, spec, cells)
	if err != nil {
		return nil, frame.WrongAsk(err)
	}
	out.Picked = &picked.Rows[0]
	return out, nil
}
