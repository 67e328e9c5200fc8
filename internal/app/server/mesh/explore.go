package mesh

import (
	"context"
	"math"
	"net/http"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/domain/mesh"
)

// meshTimeBrush is the selection of the samples in a part of a heat map of regions and
// dumps.
func (s routes) meshTimeBrush(w http.ResponseWriter, r *http.Request, m *Mesh) error {
	var ask MeshTimeBrushAsk
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	if m.View == nil {
		return frame.BadRequest("%s has no samples", m.Run.Name)
	}
	e, err := m.View.SelectOverTime(r.Context(), mesh.TimeBrush(ask))
	if err != nil {
		return frame.WrongAsk(err)
	}
	answer := MeshWhere{}
	if e != nil {
		answer.Where = e.String()
	}
	return s.Answer(w, r, answer)
}

// meshRank orders the variables of the simulation by what they explain of a field.
func (s routes) meshRank(w http.ResponseWriter, r *http.Request, m *Mesh) error {
	var ask MeshRankAsk
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	ask.Variable = ""
	dump, err := m.askMesh(r.Context(), &ask.Step)
	if err != nil {
		return err
	}
	f, placed, err := m.values(r.Context(), dump, ask.MeshFieldAsk)
	if err != nil {
		return err
	}
	ranked, err := m.View.Rank(r.Context(), placed, f.Field, max(1, ask.Least))
	if err != nil {
		return frame.WrongAsk(err)
	}
	return s.Answer(w, r, MeshRanked{*ranked})
}

// meshLine answers with the cells on a line.
func (s routes) meshLine(w http.ResponseWriter, r *http.Request, m *Mesh) error {
	var ask MeshLineAsk
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	a, err := m.line(r.Context(), &ask)
	if err != nil {
		return err
	}
	return s.Answer(w, r, a)
}

func (m *Mesh) line(ctx context.Context, ask *MeshLineAsk) (*MeshLine, error) {
	dump, err := m.askMesh(ctx, &ask.Step)
	if err != nil {
		return nil, err
	}
	space, err := mesh.NewSpace(dump)
	if err != nil {
		return nil, err
	}
	pieces, err := mesh.Line(ctx, dump, space, ask.Start, ask.End)
	if err != nil {
		return nil, frame.WrongAsk(err)
	}
	out := &MeshLine{Length: distance(ask.Start, ask.End), Pieces: make([]MeshLinePiece, len(pieces))}
	for i, p := range pieces {
		out.Pieces[i].LinePiece = p
	}
	ask.Variable = ""
	if ask.Field != "" {
		f, _, err := m.values(ctx, dump, ask.MeshFieldAsk)
		if err != nil {
			return nil, err
		}
		out.Unit, _ = m.origin(f.Spec)
		for i, p := range pieces {
			if v, ok := valueOf(f.Field, p.Cell); ok {
				out.Pieces[i].Value, out.Pieces[i].Samples = &v, f.Samples[p.Cell]
			}
		}
	}
	if ask.Against != "" {
		f, _, err := m.values(ctx, dump, MeshFieldAsk{Step: ask.Step, Variable: ask.Against, Since: ask.Since})
		if err != nil {
			return nil, err
		}
		for i, p := range pieces {
			out.Pieces[i].Against = frame.OrNull(f.Values[p.Cell])
		}
	}
	return out, nil
}

func distance(a, b [3]float64) float64 {
	return math.Hypot(math.Hypot(b[0]-a[0], b[1]-a[1]), b[2]-a[2])
}
