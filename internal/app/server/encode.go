package server

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"

	"github.com/isobath/isobath/internal/engine/query"
)

// columns collects the binary part of an answer.
type columns struct {
	refs []ColumnRef
	body []byte
}

// add appends a column and returns its index. Equal neighbours of a layered
// column are added once; see layered.
func add[T uint16 | uint32 | float32 | float64](c *columns, values []T) Column {
	ref := ColumnRef{Offset: len(c.body), Length: len(values)}
	switch values := any(values).(type) {
	case []uint16:
		ref.Type = "u16"
		for _, v := range values {
			c.body = binary.LittleEndian.AppendUint16(c.body, v)
		}
	case []uint32:
		ref.Type = "u32"
		for _, v := range values {
			c.body = binary.LittleEndian.AppendUint32(c.body, v)
		}
	case []float32:
		ref.Type = "f32"
		for _, v := range values {
			c.body = binary.LittleEndian.AppendUint32(c.body, math.Float32bits(v))
		}
	case []float64:
		ref.Type = "f64"
		for _, v := range values {
			c.body = binary.LittleEndian.AppendUint64(c.body, math.Float64bits(v))
		}
	}
	c.body = append(c.body, make([]byte, -len(c.body)&7)...)
	c.refs = append(c.refs, ref)
	return Column(len(c.refs) - 1)
}

// layered adds a column for each layer. Without a selection the selected layer
// equals all and travels once; a layer that was not asked for is empty.
func layered[T uint16 | uint32 | float64](c *columns, layers [query.Layers][]T, hover bool) PerLayer {
	var p PerLayer
	for l := range layers {
		values := layers[l]
		if query.Layer(l) == query.Hovered && !hover {
			values = nil
		}
		if l > 0 && slices.Equal(values, layers[l-1]) {
			p[l] = p[l-1]
			continue
		}
		p[l] = add(c, values)
	}
	return p
}

// cellCounts adds the counts of the cells of a pair, in two bytes each if they
// fit: they are most of an answer, and no layer has more than all rows.
func cellCounts(c *columns, layers [query.Layers][]uint32, hover bool) PerLayer {
	for _, n := range layers[query.All] {
		if n > math.MaxUint16 {
			return layered(c, layers, hover)
		}
	}
	var short [query.Layers][]uint16
	for l, counts := range layers {
		short[l] = make([]uint16, len(counts))
		for i, n := range counts {
			short[l][i] = uint16(n)
		}
	}
	return layered(c, short, hover)
}

// message puts header and columns together. The header is padded, so that
// columns start at a multiple of 8 from the start of the message.
func message(header any, body []byte) ([]byte, error) {
	text, err := json.Marshal(header)
	if err != nil {
		return nil, err
	}
	start := (8 + len(text) + 7) &^ 7
	out := make([]byte, start, start+len(body))
	copy(out, "ISOB")
	binary.LittleEndian.PutUint32(out[4:], uint32(len(text)))
	copy(out[8:], text)
	return append(out, body...), nil
}

// encodeAnswer writes an engine's answer as the message described in
// docs/formats.md. fold folds counts per place onto the topology; it is nil
// when places were not asked for.
func encodeAnswer(q *query.Request, a *query.Answer, head Answer, fold func(*columns, *query.Places, bool) *PlacesAnswer) ([]byte, error) {
	c := &columns{}
	hover := q.Hover != nil
	head.Counts, head.HoverAll = a.Counts, a.HoverAll
	head.Axes = make([]AxisAnswer, len(a.Axes))
	for i, h := range a.Axes {
		head.Axes[i] = axisAnswer(c, &h, hover)
	}
	head.Pairs = make([]PairAnswer, len(a.Pairs))
	for i, d := range a.Pairs {
		head.Pairs[i] = PairAnswer{Left: add(c, d.Left), Right: add(c, d.Right), Counts: cellCounts(c, d.Counts, hover)}
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
		head.Rows = &RowsAnswer{Columns: list(r.Columns), Index: list(r.Index), Cells: list(r.Cells)}
	}
	head.Columns = list(c.refs)
	return message(head, c.body)
}

func axisAnswer(c *columns, h *query.Histogram, hover bool) AxisAnswer {
	b := h.Binning
	return AxisAnswer{
		Column: b.Column, Scale: b.Scale, Bins: b.Bins, Lo: finite(b.Lo), Hi: finite(b.Hi),
		Edges: add(c, b.Edges), Labels: list(b.Labels), More: b.More, Missing: b.Missing,
		Below: b.Below, Above: b.Above, Min: orNull(b.Min), Max: orNull(b.Max),
		Counts: layered(c, h.Counts, hover),
	}
}

func groupAnswer(c *columns, by int, g *query.Groups, hover bool) GroupAnswer {
	keys := make([][]string, by)
	for k := range keys {
		keys[k] = make([]string, len(g.Rows))
		for i, r := range g.Rows {
			keys[k][i] = r.Keys[k]
		}
	}
	count := func(of func(*query.GroupRow, int) int) PerLayer {
		return layered(c, perLayer(g.Rows, func(r *query.GroupRow, l int) uint32 { return uint32(of(r, l)) }), hover)
	}
	number := func(of func(*query.GroupRow, int) float64) PerLayer {
		return layered(c, perLayer(g.Rows, of), hover)
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

func statAnswer(c *columns, s *query.Stats, hover bool) StatAnswer {
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
		Counts: add(c, counts), Sums: add(c, sums[:]), Squares: add(c, squares[:]),
		Min: add(c, lo[:]), Max: add(c, hi[:]), Quantiles: layered(c, s.Quantiles, hover),
	}
}

// list makes a nil slice an empty one: JSON has [] for it, not null.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// finite replaces what JSON cannot hold.
func finite(f float64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0
	}
	return f
}

func orNull(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}
