package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"

	"github.com/isobath/isobath/internal/domain/mesh"
	"github.com/isobath/isobath/internal/engine/query"
)

// maxSets bounds the sets of cells that an engine keeps for selections.
const maxSets = 32

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// keepCells stores the rows of the sets of cells that an expression names, so
// that the engine finds them.
func (r *Run) keepCells(e query.Expr) error {
	return mesh.CellSets(e, func(name string) error {
		m := r.mesh()
		keeper, ok := r.Engine.(query.Keeper)
		if m == nil || m.View == nil || !ok {
			return badRequest("the selection names cells of a mesh, and these samples are on none; open them with --mesh")
		}
		m.mu.Lock()
		known := slices.Contains(m.sets, name)
		m.mu.Unlock()
		if known {
			return nil
		}
		rows, err := m.View.RowsOfSet(name)
		if err != nil {
			return badRequest("%v", err)
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		keeper.Keep(name, rows)
		if m.sets = append(m.sets, name); len(m.sets) > maxSets {
			keeper.Keep(m.sets[0], nil)
			m.sets = m.sets[1:]
		}
		return nil
	})
}

// forgetCells drops the sets of a mesh that is about to be replaced.
func (r *Run) forgetCells() {
	m := r.mesh()
	keeper, ok := r.Engine.(query.Keeper)
	if m == nil || !ok {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range m.sets {
		keeper.Keep(name, nil)
	}
	m.sets = nil
}

// cellsOf lists the cells of a selection, in order.
func (r *Run) cellsOf(ctx context.Context, p *mesh.Placed, filter, where string) ([]uint32, error) {
	rows, err := r.selected(ctx, filter, where)
	if err != nil {
		return nil, err
	}
	hit := make([]bool, p.Cells)
	for i, c := range p.Place {
		if c >= 0 && (rows == nil || rows.Get(i)) {
			hit[c] = true
		}
	}
	var cells []uint32
	for c, yes := range hit {
		if yes {
			cells = append(cells, uint32(c))
		}
	}
	return cells, nil
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
		answer.Samples = placed.RowsOn([]int32{int32(ask.Cell)}).Count()
	}
	return s.answerJSON(w, r, http.StatusOK, answer)
}

// meshCells says which drawn cells have samples of a selection: what other
// views point at.
func (s *Server) meshCells(w http.ResponseWriter, r *http.Request, run *Run) error {
	var ask MeshCellsAsk
	if err := readJSON(w, r, &ask); err != nil {
		return err
	}
	m, dump, err := run.askMesh(&ask.Geometry.Step)
	if err != nil {
		return err
	}
	if m.View == nil {
		return badRequest("%s has no samples", run.Name)
	}
	shell, _, err := run.shell(r.Context(), m, dump, &ask.Geometry)
	if err != nil {
		return err
	}
	placed, err := m.View.At(ask.Geometry.Step)
	if err != nil {
		return err
	}
	cells, err := run.cellsOf(r.Context(), placed, ask.Filter, ask.Where)
	if err != nil {
		return err
	}
	return s.answerJSON(w, r, http.StatusOK, MeshCells{Cells: len(cells), Drawn: list(shell.places(cells))})
}

// meshBrush is the selection of the cells in a rectangle of the plot of
// performance against physics, or of a category.
func (s *Server) meshBrush(w http.ResponseWriter, r *http.Request, run *Run) error {
	var ask MeshBrushAsk
	if err := readJSON(w, r, &ask); err != nil {
		return err
	}
	pairs, _, placed, err := run.pairs(r.Context(), &ask.MeshRelateAsk)
	if err != nil {
		return err
	}
	var cells []int32
	switch {
	case ask.Category == nil:
		cells = pairs.Within(ask.Low, ask.High, ask.AgainstLow, ask.AgainstHigh)
	case pairs.Category == nil:
		return badRequest("a category needs the variable that tells categories apart")
	default:
		for i, c := range pairs.Category {
			if c == *ask.Category {
				cells = append(cells, pairs.Cell[i])
			}
		}
	}
	answer := MeshBrush{Cells: len(cells)}
	if len(cells) > 0 {
		e, err := run.mesh().View.Select(placed.Step, cells)
		if err != nil {
			return badRequest("%v", err)
		}
		answer.Where = e.String()
	}
	return s.answerJSON(w, r, http.StatusOK, answer)
}
