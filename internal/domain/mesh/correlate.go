package mesh

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/table"
)

// Physics returns a variable of the simulation as one number per cell of the
// whole mesh. Point variables are averaged over the points of each cell,
// vectors are taken by length. Blocks without the variable are NaN.
func Physics(ctx context.Context, m *grid.Mesh, name string) ([]float64, error) {
	claim, err := budget.Take(ctx, fmt.Sprintf("a variable on %d cells needs", m.NumCells()), 8*int64(m.NumCells()))
	if err != nil {
		return nil, err
	}
	defer claim.Release()
	out := make([]float64, 0, m.NumCells())
	found := false
	for i := range m.Blocks {
		g := m.Blocks[i].Grid
		a, points := grid.Find(g.CellData, name), false
		if a == nil {
			a, points = grid.Find(g.PointData, name), true
		}
		if a == nil || a.Text() {
			for range g.NumCells() {
				out = append(out, math.NaN())
			}
			continue
		}
		found = true
		out = appendCells(ctx, out, g, a, points)
	}
	if !found {
		return nil, fmt.Errorf("the mesh has no variable %q; it has %s", name, fmt.Sprint(Variables(m)))
	}
	return out, ctx.Err()
}

func appendCells(ctx context.Context, out []float64, g *grid.Grid, a *grid.Array, points bool) []float64 {
	var buf []int32
	for c := range table.Scan(ctx, nil, g.NumCells()) {
		if !points {
			out = append(out, length(a, c))
			continue
		}
		_, ids := g.Cell(c, buf)
		sum := 0.0
		for _, id := range ids {
			sum += length(a, int(id))
		}
		out = append(out, sum/float64(len(ids)))
		if g.Layout <= grid.Structured {
			buf = ids
		}
	}
	return out
}

func length(a *grid.Array, i int) float64 {
	if a.Comps == 1 {
		return a.At(i)
	}
	sum := 0.0
	for k := range a.Comps {
		sum += a.At(i*a.Comps+k) * a.At(i*a.Comps+k)
	}
	return math.Sqrt(sum)
}

// Variables lists the simulation's variables by name, cell variables first.
func Variables(m *grid.Mesh) []string {
	var names []string
	add := func(list []grid.Array) {
		for i := range list {
			if !list[i].Text() && !slices.Contains(names, list[i].Name) {
				names = append(names, list[i].Name)
			}
		}
	}
	for i := range m.Blocks {
		add(m.Blocks[i].Grid.CellData)
	}
	for i := range m.Blocks {
		add(m.Blocks[i].Grid.PointData)
	}
	return names
}

// Correlation relates a performance field to a variable of the simulation over
// the cells that have both. SpearmanP and MutualP come from permutations, which treat
// cells as independent; neighbours are alike, so these two are optimistic. SpatialP is
// the one to read.
type Correlation struct {
	Cells        int     `json:"cells"` // cells used
	MinSamples   int     `json:"min_samples"`
	Pearson      float64 `json:"pearson"`
	Spearman     float64 `json:"spearman"`
	SpearmanP    float64 `json:"spearman_p"`
	Mutual       float64 `json:"mutual_information"` // bits
	MutualP      float64 `json:"mutual_information_p"`
	Permutations int     `json:"permutations"` // 0: the p-values are not computed and 1
	// Effective is how many independent cells these are worth, at most 800; SpatialP the
	// p-value of Spearman's coefficient with so many. Zero: not computed.
	Effective float64 `json:"effective_cells"`
	SpatialP  float64 `json:"spatial_p"`
}

// Pairs are the cells that enter a correlation, with their two values.
type Pairs struct {
	Cell     []int32
	Perf     []float64
	Physics  []float64
	Category []float64 // nil without a category
}

// Pair takes the cells with at least k samples in which both numbers exist.
func Pair(f *Field, physics, category []float64, k int) (*Pairs, error) {
	if len(physics) != len(f.Values) || category != nil && len(category) != len(f.Values) {
		return nil, fmt.Errorf("field of %d cells, variable of %d", len(f.Values), len(physics))
	}
	p := &Pairs{}
	for c, v := range f.Values {
		if int(f.Samples[c]) < k || math.IsNaN(v) || math.IsNaN(physics[c]) {
			continue
		}
		p.Cell = append(p.Cell, int32(c))
		p.Perf = append(p.Perf, v)
		p.Physics = append(p.Physics, physics[c])
		if category != nil {
			p.Category = append(p.Category, category[c])
		}
	}
	return p, nil
}

// Within returns the cells whose pair lies in a rectangle, ends included: what
// a brush over the scatter plot selects.
func (p *Pairs) Within(perfLo, perfHi, physLo, physHi float64) []int32 {
	var cells []int32
	for i, c := range p.Cell {
		if p.Perf[i] >= perfLo && p.Perf[i] <= perfHi && p.Physics[i] >= physLo && p.Physics[i] <= physHi {
			cells = append(cells, c)
		}
	}
	return cells
}

// minPairs is the least number of cells for which a correlation is computed.
const minPairs = 8

// Correlate computes the coefficients and their p-values. The same pairs give
// the same p-values: the permutations start from a fixed seed.
func (p *Pairs) Correlate(ctx context.Context, k int) (*Correlation, error) {
	return p.correlate(ctx, k, max(99, min(999, 40_000_000/max(1, len(p.Cell)))))
}

// Coefficients computes the coefficients alone, which is hundreds of times
// quicker: what a page shows while a selection changes.
func (p *Pairs) Coefficients(ctx context.Context, k int) (*Correlation, error) {
	return p.correlate(ctx, k, 0)
}

func (p *Pairs) correlate(ctx context.Context, k, permutations int) (*Correlation, error) {
	n := len(p.Cell)
	if n < minPairs {
		return nil, fmt.Errorf("only %d cells have at least %d samples and a value; at least %d are needed", n, k, minPairs)
	}
	c := &Correlation{Cells: n, MinSamples: k, Permutations: permutations}
	c.Pearson = pearson(p.Perf, p.Physics)
	x, y := ranks(p.Perf), ranks(p.Physics)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.Spearman = pearson(x, y)
	if math.IsNaN(c.Spearman) {
		return nil, errors.New("one of the two is the same in all cells; there is nothing to correlate")
	}
	bins := max(2, min(16, int(math.Sqrt(float64(n)/5))))
	bx, by := rankBins(x, bins), rankBins(y, bins)
	c.Mutual = mutual(bx, by, bins)
	rho, info := 1, 1
	r := rand.New(rand.NewPCG(0x150ba7, uint64(n)))
	dx, dy := centred(x), centred(y)
	norm := math.Sqrt(dot(dx, dx) * dot(dy, dy))
	for range c.Permutations {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r.Shuffle(n, func(i, j int) {
			dy[i], dy[j] = dy[j], dy[i]
			by[i], by[j] = by[j], by[i]
		})
		if math.Abs(dot(dx, dy)/norm) >= math.Abs(c.Spearman)-1e-12 {
			rho++
		}
		if mutual(bx, by, bins) >= c.Mutual-1e-12 {
			info++
		}
	}
	c.SpearmanP = float64(rho) / float64(c.Permutations+1)
	c.MutualP = float64(info) / float64(c.Permutations+1)
	return c, nil
}

func centred(v []float64) []float64 {
	mean := 0.0
	for _, x := range v {
		mean += x
	}
	mean /= float64(len(v))
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = x - mean
	}
	return out
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// pearson is NaN when one side does not vary.
func pearson(a, b []float64) float64 {
	a, b = centred(a), centred(b)
	aa, bb := dot(a, a), dot(b, b)
	if aa == 0 || bb == 0 {
		return math.NaN()
	}
	return dot(a, b) / math.Sqrt(aa*bb)
}

// ranks gives equal values their mean rank.
func ranks(v []float64) []float64 {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(v[a], v[b]) })
	out := make([]float64, len(v))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && v[order[j]] == v[order[i]] {
			j++
		}
		for k := i; k < j; k++ {
			out[order[k]] = float64(i+j-1) / 2
		}
		i = j
	}
	return out
}

// rankBins puts ranks into bins of about equal size; equal values share one.
func rankBins(ranks []float64, bins int) []uint8 {
	out := make([]uint8, len(ranks))
	for i, r := range ranks {
		out[i] = uint8(min(bins-1, int(r*float64(bins)/float64(len(ranks)))))
	}
	return out
}

// mutual is the mutual information of two binned variables in bits.
func mutual(x, y []uint8, bins int) float64 {
	joint, px, py := make([]int, bins*bins), make([]int, bins), make([]int, bins)
	for i := range x {
		joint[int(x[i])*bins+int(y[i])]++
		px[x[i]]++
		py[y[i]]++
	}
	n, sum := float64(len(x)), 0.0
	for i, c := range joint {
		if c > 0 {
			sum += float64(c) / n * math.Log2(float64(c)*n/(float64(px[i/bins])*float64(py[i%bins])))
		}
	}
	return sum
}

// CategoryStats is the spread of the performance field in one category, such
// as a material, a region or a refinement level.
type CategoryStats struct {
	Value       float64      `json:"value"`
	Cells       int          `json:"cells"`
	P10         float64      `json:"p10"`
	Median      float64      `json:"median"`
	P90         float64      `json:"p90"`
	Correlation *Correlation `json:"correlation,omitempty"`
}

// ByCategory splits the pairs by category. Categories with enough cells get a
// correlation of their own, with p-values if they are wanted, among them the one that
// counts how alike neighbours are. Cells without a category are in none.
func (p *Pairs) ByCategory(ctx context.Context, m *grid.Mesh, k int, permute bool) []CategoryStats {
	groups := map[float64]*Pairs{}
	for i := range table.Scan(ctx, nil, len(p.Category)) {
		v := p.Category[i]
		if math.IsNaN(v) { // as a key it would be found never again
			continue
		}
		g := groups[v]
		if g == nil {
			g = &Pairs{}
			groups[v] = g
		}
		g.Cell = append(g.Cell, p.Cell[i])
		g.Perf = append(g.Perf, p.Perf[i])
		g.Physics = append(g.Physics, p.Physics[i])
	}
	var out []CategoryStats
	for v, g := range groups {
		sorted := slices.Sorted(slices.Values(g.Perf))
		s := CategoryStats{Value: v, Cells: len(g.Cell), P10: quantile(sorted, 0.1), Median: quantile(sorted, 0.5), P90: quantile(sorted, 0.9)}
		relate := g.Coefficients
		if permute {
			relate = g.Correlate
		}
		if c, err := relate(ctx, k); err == nil {
			if permute {
				g.Spatial(m, c)
			}
			s.Correlation = c
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b CategoryStats) int { return cmp.Compare(a.Value, b.Value) })
	return out
}

// Density counts pairs in a grid of bins: Counts[y*NX+x], x the performance
// field. A pair on an edge is counted above it, one beyond the ends in the bin
// at the end.
type Density struct {
	NX, NY int       `json:"-"`
	X      []float64 `json:"x"` // NX+1 edges
	Y      []float64 `json:"y"`
	Log    bool      `json:"log"` // whether the edges that nobody gave are logarithmic
	Counts []uint32  `json:"counts"`
}

// Density bins the pairs between edges that suit both ranges: logarithmic when
// both exceed 30 : 1.
func (p *Pairs) Density(nx, ny int) (*Density, error) {
	if len(p.Cell) == 0 || nx < 1 || ny < 1 || nx*ny > 1<<22 {
		return nil, errors.New("no cells to count")
	}
	x0, x1 := slices.Min(p.Perf), slices.Max(p.Perf)
	y0, y1 := slices.Min(p.Physics), slices.Max(p.Physics)
	log := x0 > 0 && y0 > 0 && x1 > 30*x0 && y1 > 30*y0
	d := p.DensityBetween(edges(x0, x1, nx, log), edges(y0, y1, ny, log))
	d.Log = log
	return d, nil
}

// DensityBetween bins the pairs between edges of the performance field and of the
// variable, at least two each, that do not fall.
func (p *Pairs) DensityBetween(perf, physics []float64) *Density {
	d := &Density{NX: len(perf) - 1, NY: len(physics) - 1, X: perf, Y: physics}
	d.Counts = make([]uint32, d.NX*d.NY)
	for i := range p.Cell {
		d.Counts[BinOf(d.Y, p.Physics[i])*d.NX+BinOf(d.X, p.Perf[i])]++
	}
	return d
}

func edges(lo, hi float64, n int, log bool) []float64 {
	out := make([]float64, n+1)
	for i := range out {
		t := float64(i) / float64(n)
		if log {
			out[i] = lo * math.Pow(hi/lo, t)
		} else {
			out[i] = lo + (hi-lo)*t
		}
	}
	out[n] = hi
	return out
}

// BinOf is the last bin that begins at the value or below it: of several edges at
// one value the bin with room for others has it.
func BinOf(edges []float64, v float64) int {
	inner := edges[1 : len(edges)-1]
	return sort.Search(len(inner), func(i int) bool { return inner[i] > v })
}
