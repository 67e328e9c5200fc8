package mesh

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/table"
)

// Positions are coordinates of samples in the space of the mesh, for programs that
// know where they are and not which cell that is. NaN is a row without one.
type Positions struct{ X, Y, Z []float64 }

// positionsOf returns the columns as coordinates if they are that: some value has a
// fraction. Whole numbers are indices.
func positionsOf(ctx context.Context, t *table.Table, c Columns) *Positions {
	p, fraction := &Positions{}, false
	for _, a := range []struct {
		name string
		dst  *[]float64
	}{{c.X, &p.X}, {c.Y, &p.Y}, {c.Z, &p.Z}} {
		col := t.Column(a.name)
		if a.name == "" || col == nil {
			continue
		}
		out := make([]float64, col.Len())
		for i := range table.Scan(ctx, nil, len(out)) {
			out[i] = math.NaN()
			if col.Has(i) {
				out[i] = col.Float(i)
				fraction = fraction || out[i] != math.Trunc(out[i]) && !math.IsInf(out[i], 0)
			}
		}
		*a.dst = out
	}
	if p.X == nil || !fraction {
		return nil
	}
	return p
}

func (p *Positions) at(i int) [3]float64 {
	at := [3]float64{p.X[i]}
	if p.Y != nil {
		at[1] = p.Y[i]
	}
	if p.Z != nil {
		at[2] = p.Z[i]
	}
	return at
}

// LocatePositions returns the cell around every position, or why there is none. Of
// cells that share a face on which a position lies the first has it; of refinement
// levels the finest.
func LocatePositions(ctx context.Context, p *Positions, m *grid.Mesh, sp *Space) ([]int32, error) {
	const perCell = 40 // a cell in eight bins, and its bin
	claim, err := budget.Take(ctx, fmt.Sprintf("finding places among %d cells needs", sp.Cells), perCell*int64(sp.Cells))
	if err != nil {
		return nil, err
	}
	defer claim.Release()
	var parts []*pointLocator
	if sp.AMR {
		for l := len(m.Levels) - 1; l >= 0; l-- {
			parts = append(parts, levelLocator(&m.Levels[l], &sp.Parts[l]))
		}
	} else {
		for i := range m.Blocks {
			parts = append(parts, newPointLocator(ctx, m.Blocks[i].Grid, sp.Parts[i].First))
		}
	}
	place := make([]int32, len(p.X))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = inParts(ctx, len(place), func(lo, hi, _ int) {
		var s insideScratch
		for i := lo; i < hi; i++ {
			place[i] = placeOf(p.at(i), parts, &s)
		}
	})
	return place, err
}

func placeOf(at [3]float64, parts []*pointLocator, s *insideScratch) int32 {
	for _, v := range at {
		if math.IsNaN(v) {
			return NoCell
		}
	}
	for _, l := range parts {
		if c := l.find(at, s); c >= 0 {
			return c
		}
	}
	return OutOfRange
}

// pointLocator finds cells of one part: a level by its spacing, a grid by bins of
// the cells' bounds.
type pointLocator struct {
	level *grid.Level
	part  *Part

	grid   *grid.Grid
	ghosts []bool // cells that are never found; nil: none
	first  int
	lo     [3]float64
	width  [3]float64 // of a bin
	bins   [3]int
	start  []int32 // per bin its first entry in cells, one more at the end
	cells  []int32
	margin float64 // what counts as on a face: rounding of the coordinates
}

func levelLocator(l *grid.Level, p *Part) *pointLocator { return &pointLocator{level: l, part: p} }

// newPointLocator sorts the cells of a grid into about as many bins.
func newPointLocator(ctx context.Context, g *grid.Grid, first int) *pointLocator {
	l := &pointLocator{grid: g, ghosts: g.Ghosts(), first: first}
	n := g.NumCells()
	lo, hi := bounds(g)
	l.lo = lo
	size := 0.0
	for a := range lo {
		size = max(size, hi[a]-lo[a])
	}
	l.margin = size * 1e-12
	flat := 0
	for a := range lo {
		if hi[a]-lo[a] <= l.margin {
			flat++
		}
	}
	// Cells that reach through many bins would be listed in each of them: fewer bins
	// then, down to one that lists all.
	for side := int(math.Pow(float64(max(1, n)), 1/float64(max(1, 3-flat)))); ; side /= 2 {
		l.divide(hi, side)
		if side <= 1 || l.entries(ctx, n) <= 16*n+1<<16 {
			break
		}
	}
	l.fill(ctx, n)
	return l
}

// divide makes bins between the bounds, on the axes that are not flat.
func (l *pointLocator) divide(hi [3]float64, side int) {
	for a := range hi {
		l.bins[a], l.width[a] = 1, max(hi[a]-l.lo[a], l.margin, math.SmallestNonzeroFloat64)
		if hi[a]-l.lo[a] > l.margin {
			l.bins[a] = max(1, min(side, 1024))
			l.width[a] /= float64(l.bins[a])
		}
	}
}

// entries counts how many entries the bins would have.
func (l *pointLocator) entries(ctx context.Context, n int) int {
	var buf []int32
	sum := 0
	for i := range table.Scan(ctx, nil, n) {
		lo, hi := l.cellBounds(i, &buf)
		b, e := l.binOf(lo, -l.margin), l.binOf(hi, l.margin)
		sum += (e[0] - b[0] + 1) * (e[1] - b[1] + 1) * (e[2] - b[2] + 1)
	}
	return sum
}

// fill counts the cells of every bin, then lists them: a cell is in all bins that
// its bounds touch.
func (l *pointLocator) fill(ctx context.Context, n int) {
	bin := func(c [3]int) int { return c[0] + l.bins[0]*(c[1]+l.bins[1]*c[2]) }
	each := func(visit func(bin int, cell int32)) {
		var buf []int32
		for i := range table.Scan(ctx, nil, n) {
			lo, hi := l.cellBounds(i, &buf)
			b, e := l.binOf(lo, -l.margin), l.binOf(hi, l.margin)
			for z := b[2]; z <= e[2]; z++ {
				for y := b[1]; y <= e[1]; y++ {
					for x := b[0]; x <= e[0]; x++ {
						visit(bin([3]int{x, y, z}), int32(i))
					}
				}
			}
		}
	}
	l.start = make([]int32, l.bins[0]*l.bins[1]*l.bins[2]+1)
	each(func(b int, _ int32) { l.start[b+1]++ })
	for i := 1; i < len(l.start); i++ {
		l.start[i] += l.start[i-1]
	}
	l.cells = make([]int32, l.start[len(l.start)-1])
	next := slices.Clone(l.start)
	each(func(b int, cell int32) {
		l.cells[next[b]] = cell
		next[b]++
	})
}

func (l *pointLocator) binOf(p [3]float64, more float64) [3]int {
	var c [3]int
	for a := range p {
		c[a] = max(0, min(l.bins[a]-1, int(math.Floor((p[a]+more-l.lo[a])/l.width[a]))))
	}
	return c
}

func (l *pointLocator) cellBounds(i int, buf *[]int32) (lo, hi [3]float64) {
	_, ids := l.grid.Cell(i, *buf)
	if l.grid.Layout <= grid.Structured {
		*buf = ids
	}
	for k, id := range ids {
		p := l.grid.Point(int(id))
		if k == 0 {
			lo, hi = p, p
		}
		for a := range p {
			lo[a], hi[a] = min(lo[a], p[a]), max(hi[a], p[a])
		}
	}
	return lo, hi
}

func bounds(g *grid.Grid) (lo, hi [3]float64) {
	m := grid.Mesh{Blocks: []grid.Block{{Grid: g}}}
	return m.Bounds()
}

// insideScratch is memory that find reuses between calls.
type insideScratch struct {
	cell  []int32
	faces grid.Scratch
}

// find returns the number of the cell around a point, or -1.
func (l *pointLocator) find(at [3]float64, s *insideScratch) int32 {
	if l.level != nil {
		return l.findInLevel(at)
	}
	b := l.binOf(at, 0)
	k := b[0] + l.bins[0]*(b[1]+l.bins[1]*b[2])
	for _, c := range l.cells[l.start[k]:l.start[k+1]] {
		if (l.ghosts == nil || !l.ghosts[c]) && l.inside(int(c), at, s) {
			return int32(l.first) + c
		}
	}
	return -1
}

func (l *pointLocator) findInLevel(at [3]float64) int32 {
	var c [3]int
	for a := range c {
		if a >= l.level.Dim {
			continue // flat: every height is on it
		}
		v := math.Floor((at[a] - l.level.Origin[a]) / l.level.Spacing[a])
		if !(math.Abs(v) < 1<<30) {
			return -1
		}
		c[a] = int(v)
	}
	n := l.part.boxes.cell(c)
	if n < 0 {
		return -1
	}
	return int32(l.part.First) + n
}

// inside reports whether a point is in a cell: within its bounds, and for solids on
// the inner side of every face's mean plane. Cells of two dimensions lie in a plane;
// there it is the side of every edge.
func (l *pointLocator) inside(i int, at [3]float64, s *insideScratch) bool {
	lo, hi := l.cellBounds(i, &s.cell)
	for a := range at {
		if at[a] < lo[a]-l.margin || at[a] > hi[a]+l.margin {
			return false
		}
	}
	t, ids := l.grid.Cell(i, s.cell)
	if t == grid.Voxel {
		return true // its bounds are the cell
	}
	centre := meanPoint(l.grid, ids)
	switch t.Dim() {
	case 3:
		inner := true
		l.grid.CellFaces(i, &s.faces, func(face []int32) {
			inner = inner && l.sameSide(at, centre, meanPoint(l.grid, face), faceNormal(l.grid, face))
		})
		return inner
	case 2:
		return l.insideFlat(t, ids, at, centre)
	}
	return true // a point or a line: its bounds
}

// sameSide reports whether a point is on the side of a plane on which centre is, or
// on the plane.
func (l *pointLocator) sameSide(at, centre, on, normal [3]float64) bool {
	// A face without an area has no normal, and says nothing: both are zero.
	d, inner := grid.Dot(grid.Sub(at, on), normal), grid.Dot(grid.Sub(centre, on), normal)
	return d*inner >= 0 || math.Abs(d) <= l.margin
}

func (l *pointLocator) insideFlat(t grid.CellType, ids []int32, at, centre [3]float64) bool {
	t, ids = grid.Linear(t, ids)
	order := slices.Clone(ids)
	if t == grid.Pixel && len(order) == 4 {
		order[2], order[3] = order[3], order[2]
	}
	normal := faceNormal(l.grid, order)
	for k := range order {
		a, b := l.grid.Point(int(order[k])), l.grid.Point(int(order[(k+1)%len(order)]))
		if !l.sameSide(at, centre, a, grid.Cross(grid.Sub(b, a), normal)) {
			return false
		}
	}
	return true
}

func meanPoint(g *grid.Grid, ids []int32) [3]float64 {
	var sum [3]float64
	for _, id := range ids {
		p := g.Point(int(id))
		for a := range p {
			sum[a] += p[a]
		}
	}
	for a := range sum {
		sum[a] /= float64(max(1, len(ids)))
	}
	return sum
}

// faceNormal is the normal of a face, the mean one where it is not flat.
func faceNormal(g *grid.Grid, face []int32) [3]float64 {
	var few [8][3]float64
	points := few[:0]
	for _, id := range face {
		points = append(points, g.Point(int(id)))
	}
	return newell(points)
}
