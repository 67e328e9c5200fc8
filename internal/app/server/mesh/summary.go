package mesh

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"slices"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/domain/mesh"
)

// Bounds of a summary.
const (
	maxParts = 256
	topCells = 5
	// maxPermuted bounds the cells for which a page gets p-values: of more they
	// take seconds, and are small whatever the coefficient. The verb mesh has them.
	maxPermuted = 100_000
	markValues  = 400 // of selected cells, beside the legend and in the plot
)

// meshSummary answers with what a page says about fields in numbers: it follows
// the picture, which does not wait for it.
func (s routes) meshSummary(w http.ResponseWriter, r *http.Request, m *Mesh) error {
	var ask MeshSummaryAsk
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	answer := MeshSummary{}
	for _, f := range []struct {
		ask *MeshSummedAsk
		out **MeshSummed
	}{{ask.Performance, &answer.Performance}, {ask.Physics, &answer.Physics}} {
		if f.ask == nil {
			continue
		}
		var err error
		if *f.out, err = m.summed(r.Context(), f.ask, &ask); err != nil {
			return err
		}
	}
	if ask.Relate != nil {
		rel, err := m.relate(r.Context(), ask.Relate)
		if err != nil {
			return err
		}
		answer.Relation = rel
	}
	return s.Answer(w, r, answer)
}

// rising refuses edges between which nothing can be counted.
func rising(edges []float64, most int) error {
	if len(edges) < 2 || len(edges) > most+1 || !slices.IsSorted(edges) {
		return frame.BadRequest("a histogram needs 2 to %d edges that do not fall; these are %d", most+1, len(edges))
	}
	return nil
}

func (m *Mesh) summed(ctx context.Context, a *MeshSummedAsk, ask *MeshSummaryAsk) (*MeshSummed, error) {
	if err := rising(a.Edges, maxParts); err != nil {
		return nil, err
	}
	dump, err := m.askMesh(ctx, &a.Step)
	if err != nil {
		return nil, err
	}
	f, placed, err := m.values(ctx, dump, a.MeshFieldAsk)
	if err != nil {
		return nil, err
	}
	out := &MeshSummed{Histogram: histogram(ctx, f.Field, a.Edges), All: fieldStats(ctx, f.Field, nil), Highest: highest(ctx, f.Field), Marks: []float64{}, Few: f.Few(a.Few)}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if ask.Picked == "" || m.View == nil {
		return out, nil
	}
	if placed == nil {
		if placed, err = m.View.At(ctx, a.Step); err != nil {
			return nil, err
		}
	}
	cells, err := m.cellsOf(ctx, placed, ask.Filter, ask.Picked)
	if err != nil {
		return nil, err
	}
	stats := fieldStats(ctx, f.Field, cells)
	out.Picked = &stats
	for i := 0; i < len(cells); i += max(1, len(cells)/markValues) {
		if v, ok := valueOf(f.Field, int(cells[i])); ok {
			out.Marks = append(out.Marks, v)
		}
	}
	return out, nil
}

// valueOf is the number to colour: a count of 0 is none.
func valueOf(f *mesh.Field, cell int) (float64, bool) {
	v := f.Values[cell]
	return v, !math.IsNaN(v) && !math.IsInf(v, 0) && (f.Samples == nil || f.Samples[cell] > 0)
}

// histogram counts cells between edges: those on an edge above it. Values beyond
// the ends are in the first and last part.
func histogram(ctx context.Context, f *mesh.Field, edges []float64) []int {
	counts := make([]int, len(edges)-1)
	for c := range table.Scan(ctx, nil, len(f.Values)) {
		v, ok := valueOf(f, c)
		if !ok {
			continue
		}
		counts[mesh.BinOf(edges, v)]++
	}
	return counts
}

// fieldStats describes the values of cells; nil for all of them.
func fieldStats(ctx context.Context, f *mesh.Field, cells []uint32) MeshStats {
	s := MeshStats{Cells: len(cells)}
	n := len(cells)
	if cells == nil {
		s.Cells, n = len(f.Values), len(f.Values)
	}
	values := make([]float64, 0, n)
	for i := range table.Scan(ctx, nil, n) {
		c := i
		if cells != nil {
			c = int(cells[i])
		}
		if f.Samples != nil {
			s.Samples += int(f.Samples[c])
		}
		if v, ok := valueOf(f, c); ok {
			values = append(values, v)
		}
	}
	s.Valued = len(values)
	if len(values) == 0 {
		return s
	}
	at := func(q float64) *float64 {
		v := mesh.NthElement(values, min(len(values)-1, int(q*float64(len(values)))))
		return &v
	}
	s.Median, s.P90 = at(0.5), at(0.9)
	lo, hi := slices.Min(values), slices.Max(values)
	s.Min, s.Max = &lo, &hi
	return s
}

// highest are the cells with the largest values, largest first; of equals the
// first.
func highest(ctx context.Context, f *mesh.Field) []MeshValue {
	top := []MeshValue{}
	for c := range table.Scan(ctx, nil, len(f.Values)) {
		v, ok := valueOf(f, c)
		if !ok || len(top) == topCells && !(v > top[topCells-1].Value) {
			continue
		}
		at := slices.IndexFunc(top, func(o MeshValue) bool { return v > o.Value })
		if at < 0 {
			at = len(top)
		}
		top = slices.Insert(top, at, MeshValue{c, v})
		top = top[:min(len(top), topCells)]
	}
	return top
}

// pairs takes the cells that enter a relation, and their category.
func (m *Mesh) pairs(ctx context.Context, ask *MeshRelateAsk) (*mesh.Pairs, []float64, *mesh.Placed, error) {
	if ask.Variable != "" {
		return nil, nil, nil, frame.BadRequest("a variable of the simulation is related to a performance field, not to another one")
	}
	dump, err := m.askMesh(ctx, &ask.Step)
	if err != nil {
		return nil, nil, nil, err
	}
	f, placed, err := m.values(ctx, dump, ask.MeshFieldAsk)
	if err != nil {
		return nil, nil, nil, err
	}
	physics, _, err := m.values(ctx, dump, MeshFieldAsk{Step: ask.Step, Variable: ask.Against, Since: ask.Since})
	if err != nil {
		return nil, nil, nil, err
	}
	var category []float64
	if ask.By != "" {
		if category, err = m.View.Variable(ctx, placed, ask.By); err != nil {
			return nil, nil, nil, frame.WrongAsk(err)
		}
	}
	p, err := mesh.Pair(f.Field, physics.Values, category, max(1, ask.Least))
	return p, category, placed, frame.WrongAsk(err)
}

// meshRelate answers with coefficients and, if they are wanted, their p-values,
// which take a hundred times as long.
func (s routes) meshRelate(w http.ResponseWriter, r *http.Request, m *Mesh) error {
	var ask MeshRelateAsk
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	a, err := m.relate(r.Context(), &ask)
	if err != nil {
		return err
	}
	return s.Answer(w, r, a)
}

func (m *Mesh) relate(ctx context.Context, ask *MeshRelateAsk) (*MeshRelation, error) {
	if ask.Bins < 1 || ask.Bins > maxDensity {
		return nil, frame.BadRequest("%d bins: want 1 to %d", ask.Bins, maxDensity)
	}
	given := ask.Edges != nil || ask.AgainstEdges != nil
	if given {
		if err := cmp.Or(rising(ask.Edges, maxDensity), rising(ask.AgainstEdges, maxDensity)); err != nil {
			return nil, err
		}
	}
	pairs, category, placed, err := m.pairs(ctx, ask)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	least := max(1, ask.Least)
	a := &MeshRelation{Categories: []mesh.CategoryStats{}, Picked: []MeshPoint{}}
	coefficients := pairs.Coefficients
	permute := ask.Permute && len(pairs.Cell) <= maxPermuted
	if permute {
		coefficients = pairs.Correlate
	}
	if a.Correlation, err = coefficients(ctx, least); err != nil {
		a.Problem = err.Error()
	} else if permute {
		pairs.Spatial(placed.Mesh, a.Correlation)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if given && len(pairs.Cell) > 0 {
		a.Density = pairs.DensityBetween(ask.Edges, ask.AgainstEdges)
	} else if a.Density, err = pairs.Density(ask.Bins, ask.Bins); err != nil {
		a.Problem = err.Error()
	}
	if category != nil {
		a.Categories = frame.List(pairs.ByCategory(ctx, placed.Mesh, least, permute))
	}
	if ask.Picked == "" {
		return a, nil
	}
	cells, err := m.cellsOf(ctx, placed, ask.Filter, ask.Picked)
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(cells); i += max(1, len(cells)/markValues) {
		if k, ok := slices.BinarySearch(pairs.Cell, int32(cells[i])); ok {
			a.Picked = append(a.Picked, MeshPoint{pairs.Physics[k], pairs.Perf[k]})
		}
	}
	return a, nil
}
