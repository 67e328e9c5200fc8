package memory

import (
	"math"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/engine/query"
)

// encodeAnswer writes an engine's answer as the message described in
// docs/formats.md. fold folds counts per place onto the topology; it is nil
// when places were not asked for.
func encodeAnswer(q *query.Request, a *query.Answer, head *Answer, fold func(*frame.Body, *query.Places, bool) *PlacesAnswer) *frame.Body {
	c := &frame.Body{}
	hover := q.Hover != nil
	head.Counts, head.HoverAll = a.Counts, a.HoverAll
	head.Axes = make([]AxisAnswer, len(a.Axes))
	for i, h := range a.Axes {
		head.Axes[i] = axisAnswer(c, &h, hover)
	}
	head.Pairs = make([]PairAnswer, len(a.Pairs))
	for i, d := range a.Pairs {
		head.Pairs[i] = PairAnswer{Left: frame.Add(c, d.Left), Right: frame.Add(c, d.Right), Counts: frame.CellCounts(c, d.Counts, hover)}
	}
	head.Groups = make([]GroupAnswer, len(a.Groups))
	for i, g := range a.Groups {
		head.Groups[i] = groupAnswer(c, len(q.Groups[i].By), &g, hover)
	}
	head.Stats = make([]StatAnswer, len(a.Stats))
	for i, s := range a.Stats {
		head.Stats[i] = statAnswer(c, &s, hover)
	}
	if a.Places != nil && fold != nil {
		head.Places = fold(c, a.Places, hover)
	}
	if r := a.Rows; r != nil {
		head.Rows = &RowsAnswer{Columns: frame.List(r.Columns), Index: frame.List(r.Index), Cells: frame.List(r.Cells)}
	}
	head.Columns = frame.List(c.Refs)
	return c
}

func axisAnswer(c *frame.Body, h *query.Histogram, hover bool) AxisAnswer {
	b := h.Binning
	return AxisAnswer{
		Column: b.Column, Scale: b.Scale, Bins: b.Bins, Lo: frame.Finite(b.Lo), Hi: frame.Finite(b.Hi),
		Edges: frame.Add(c, b.Edges), Labels: frame.List(b.Labels), More: b.More, Missing: b.Missing,
		Below: b.Below, Above: b.Above, Min: frame.OrNull(b.Min), Max: frame.OrNull(b.Max),
		Counts: frame.Layered(c, h.Counts, hover),
	}
}

func groupAnswer(c *frame.Body, by int, g *query.Groups, hover bool) GroupAnswer {
	keys := make([][]string, by)
	for k := range keys {
		keys[k] = make([]string, len(g.Rows))
		for i, r := range g.Rows {
			keys[k][i] = r.Keys[k]
		}
	}
	count := func(of func(*query.GroupRow, int) int) frame.PerLayer {
		return frame.Layered(c, perLayer(g.Rows, func(r *query.GroupRow, l int) uint32 { return uint32(of(r, l)) }), hover)
	}
	number := func(of func(*query.GroupRow, int) float64) frame.PerLayer {
		return frame.Layered(c, perLayer(g.Rows, of), hover)
	}
	return GroupAnswer{
		Total: g.Total, Keys: keys,
		Counts:   count(func(r *query.GroupRow, l int) int { return r.Counts[l] }),
		Sums:     number(func(r *query.GroupRow, l int) float64 { return r.Sums[l] }),
		Squares:  number(func(r *query.GroupRow, l int) float64 { return r.Squares[l] }),
		Valued:   count(func(r *query.GroupRow, l int) int { return r.Valued[l] }),
		Distinct: count(func(r *query.GroupRow, l int) int { return r.Distinct[l] }),
	}
}

// perLayer turns rows of layers into layers of rows.
func perLayer[R any, T uint32 | float64](rows []R, of func(*R, int) T) (out [query.Layers][]T) {
	for l := range out {
		out[l] = make([]T, len(rows))
		for i := range rows {
			out[l][i] = of(&rows[i], l)
		}
	}
	return out
}

func statAnswer(c *frame.Body, s *query.Stats, hover bool) StatAnswer {
	var counts []uint32
	for _, n := range s.Counts {
		counts = append(counts, uint32(n))
	}
	// What an empty layer does not have is not 0.
	sums, squares, lo, hi := s.Sums, s.Squares, s.Min, s.Max
	for l, n := range counts {
		if n == 0 {
			sums[l], squares[l], lo[l], hi[l] = math.NaN(), math.NaN(), math.NaN(), math.NaN()
		}
	}
	return StatAnswer{
		Counts: frame.Add(c, counts), Sums: frame.Add(c, sums[:]), Squares: frame.Add(c, squares[:]),
		Min: frame.Add(c, lo[:]), Max: frame.Add(c, hi[:]), Quantiles: frame.Layered(c, s.Quantiles, hover),
	}
}
