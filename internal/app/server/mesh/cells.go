package mesh

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/domain/mesh"
)

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// cellsOf lists the cells of a selection, in order.
func (m *Mesh) cellsOf(ctx context.Context, p *mesh.Placed, filter, where string) ([]uint32, error) {
	rows, err := m.selected(ctx, filter, where)
	if err != nil {
		return nil, err
	}
	hit := make([]bool, p.Cells)
	for i := range table.Scan(ctx, rows, len(p.Place)) {
		if c := p.Place[i]; c >= 0 {
			hit[c] = true
		}
	}
	var cells []uint32
	for c, yes := range hit {
		if yes {
			cells = append(cells, uint32(c))
		}
	}
	return cells, ctx.Err()
}

func (s routes) meshCell(w http.ResponseWriter, r *http.Request, m *Mesh) error {
	var ask MeshCellAsk
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	dump, err := m.askMesh(r.Context(), &ask.Step)
	if err != nil {
		return err
	}
	space, err := mesh.NewSpace(dump)
	if err != nil {
		return err
	}
	part, in := space.PartOf(ask.Cell)
	if part == nil {
		return frame.BadRequest("the mesh has %s; there is no cell %d", term.Counted(space.Cells, "cell"), ask.Cell)
	}
	answer := MeshCell{Cell: ask.Cell, Part: part.Name, Index: []int{}}
	if at, ok := part.Index(in); ok {
		answer.Index = at[:]
	}
	if m.View != nil {
		placed, err := m.View.At(r.Context(), ask.Step)
		if err != nil {
			return err
		}
		if answer.Where, err = m.View.Where(r.Context(), placed, ask.Cell); err != nil {
			return frame.WrongAsk(err)
		}
		rows, err := placed.RowsOn(r.Context(), []int32{int32(ask.Cell)})
		if err != nil {
			return err
		}
		answer.Samples = rows.Count()
	}
	return s.Answer(w, r, answer)
}

// meshCells says which drawn cells have samples of a selection: what other
// views point at.
func (s routes) meshCells(w http.ResponseWriter, r *http.Request, m *Mesh) error {
	var ask MeshCellsAsk
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	dump, err := m.askMesh(r.Context(), &ask.Geometry.Step)
	if err != nil {
		return err
	}
	if m.View == nil {
		return frame.BadRequest("%s has no samples", m.Run.Name)
	}
	shell, _, err := m.shell(r.Context(), dump, &ask.Geometry)
	if err != nil {
		return err
	}
	placed, err := m.View.At(r.Context(), ask.Geometry.Step)
	if err != nil {
		return err
	}
	cells, err := m.cellsOf(r.Context(), placed, ask.Filter, ask.Where)
	if err != nil {
		return err
	}
	return s.Answer(w, r, MeshCells{Cells: len(cells), Drawn: frame.List(shell.places(cells))})
}

// meshBrush is the selection of the cells in a rectangle of the plot of
// performance against physics, or of a category.
func (s routes) meshBrush(w http.ResponseWriter, r *http.Request, m *Mesh) error {
	var ask MeshBrushAsk
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	pairs, _, placed, err := m.pairs(r.Context(), &ask.MeshRelateAsk)
	if err != nil {
		return err
	}
	var cells []int32
	switch {
	case ask.Category == nil:
		cells = pairs.Within(ask.Low, ask.High, ask.AgainstLow, ask.AgainstHigh)
	case pairs.Category == nil:
		return frame.BadRequest("a category needs the variable that tells categories apart")
	default:
		for i, c := range pairs.Category {
			if c == *ask.Category {
				cells = append(cells, pairs.Cell[i])
			}
		}
	}
	answer := MeshBrush{Cells: len(cells)}
	if len(cells) > 0 {
		e, err := m.View.Select(r.Context(), placed.Step, cells)
		if err != nil {
			return frame.BadRequest("%v", err)
		}
		answer.Where = e.String()
	}
	return s.Answer(w, r, answer)
}
