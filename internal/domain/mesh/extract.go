package mesh

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/table"
)

// Shell is what a page draws of a mesh: triangles that know their cell, and
// lines. Numbers refer to Positions; cells count through the whole mesh.
type Shell struct {
	Positions []float32 // x, y, z of each vertex
	Triangles []uint32  // three vertices each
	Cells     []uint32  // the cell of each triangle
	Edges     []uint32  // two vertices each: the outlines of the cells' faces
	Features  []uint32  // the edges where sides meet at an angle, or end
	Polygons  int       // faces before they were cut into triangles
}

// Surface extracts the outside of the kept cells: every face that only one of
// them has, and cells that are faces themselves. keep nil keeps all; it is
// indexed by cell of the whole mesh.
func Surface(ctx context.Context, m *grid.Mesh, keep []bool) (*Shell, error) {
	return shellOf(ctx, m, func(b *shellBuilder, g *grid.Grid, first int) error {
		return outside(ctx, g, cellsOf(keep, g, first), b.polygon)
	})
}

// shellOf builds a shell from every block of a mesh; first is the number of the
// block's first cell in the whole mesh.
func shellOf(ctx context.Context, m *grid.Mesh, add func(b *shellBuilder, g *grid.Grid, first int) error) (*Shell, error) {
	b, err := newShellBuilder(ctx)
	if err != nil {
		return nil, err
	}
	defer b.claim.Release()
	first := 0
	for i := range m.Blocks {
		g := m.Blocks[i].Grid
		b.block(g, first)
		if err := add(b, g, first); err != nil {
			return nil, err
		}
		first += g.NumCells()
	}
	return b.shell()
}

// cellsOf is the part of what all cells of a mesh have that is of one block; nil of
// nil.
func cellsOf[T any](all []T, g *grid.Grid, first int) []T {
	if all == nil {
		return nil
	}
	return all[first : first+g.NumCells()]
}

// faceRef is one face of a cell in the table that finds faces twice seen.
type faceRef struct {
	key  uint64 // of its sorted points
	cell int32
	face int32
	next int32 // in the chain of its lowest point, -1 at the end
}

// outside visits the faces that belong to one kept cell only, cell by cell.
func outside(ctx context.Context, g *grid.Grid, keep []bool, visit func(cell int, face []int32)) error {
	if d := solidRows(g); d != ([3]int{}) {
		return outsideOfRows(ctx, g, d, keep, visit)
	}
	return outsideOfCells(ctx, g, keep, visit)
}

// outsideOfCells finds the faces of any cells: they are chained by their lowest point
// and cancel in pairs; a chain is a dozen long.
func outsideOfCells(ctx context.Context, g *grid.Grid, keep []bool, visit func(cell int, face []int32)) error {
	const perHead, perRef = 4, 24
	claim, err := budget.Take(ctx, fmt.Sprintf("the surface of %d cells needs", g.NumCells()), perHead*int64(g.NumPoints()))
	if err != nil {
		return err
	}
	defer claim.Release()
	head := make([]int32, g.NumPoints())
	for i := range head {
		head[i] = -1
	}
	var refs []faceRef
	free := int32(-1)
	var scratch grid.Scratch
	var sorted []int32
	each := func(c int, do func(k int, f []int32)) {
		k := 0
		g.CellFaces(c, &scratch, func(f []int32) {
			do(k, f)
			k++
		})
	}
	var buf []int32
	for c := range table.Scan(ctx, nil, g.NumCells()) {
		if keep != nil && !keep[c] {
			continue
		}
		if room := cap(refs); len(refs)+maxFaces > room { // what append will take, beside what it had
			grown := slices.Grow(refs, maxFaces)
			if err := claim.Grow(perRef * int64(cap(grown)-room)); err != nil {
				return err
			}
			refs = grown
		}
		if t, ids := g.Cell(c, buf); t.Dim() == 2 {
			flatCell(t, ids, func(f []int32) { visit(c, f) })
			continue
		}
		each(c, func(k int, f []int32) {
			if len(f) < 3 {
				return
			}
			sorted = append(sorted[:0], f...)
			slices.Sort(sorted)
			key := faceKey(sorted)
			low := sorted[0]
			for at, prev := head[low], int32(-1); at >= 0; prev, at = at, refs[at].next {
				if refs[at].key != key {
					continue
				}
				if prev < 0 { // the second cell with this face: both go
					head[low] = refs[at].next
				} else {
					refs[prev].next = refs[at].next
				}
				refs[at].next, free = free, at
				return
			}
			r := faceRef{key: key, cell: int32(c), face: int32(k), next: head[low]}
			if free >= 0 {
				head[low], free = free, refs[free].next
				refs[head[low]] = r
			} else {
				head[low] = int32(len(refs))
				refs = append(refs, r)
			}
		})
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	left := []faceRef{}
	for _, at := range head {
		for ; at >= 0; at = refs[at].next {
			left = append(left, refs[at])
		}
	}
	slices.SortFunc(left, func(a, b faceRef) int { return cmp.Or(int(a.cell)-int(b.cell), int(a.face)-int(b.face)) })
	for i := 0; i < len(left); {
		if err := ctx.Err(); err != nil {
			return err
		}
		c := left[i].cell
		each(int(c), func(k int, f []int32) {
			if i < len(left) && left[i].cell == c && left[i].face == int32(k) {
				visit(int(c), f)
				i++
			}
		})
	}
	return nil
}

// maxFaces is more than any cell but a polyhedron has.
const maxFaces = 8

// faceKey mixes sorted point numbers to 64 bits.
func faceKey(ids []int32) uint64 {
	h := uint64(len(ids)) * 0x9e3779b97f4a7c15
	for _, id := range ids {
		h ^= uint64(uint32(id))
		h *= 0xff51afd7ed558ccd
		h ^= h >> 32
	}
	return h
}

// flatCell visits the polygons of a two-dimensional cell.
func flatCell(t grid.CellType, ids []int32, visit func([]int32)) {
	t, ids = grid.Linear(t, ids)
	switch t {
	case grid.Pixel:
		visit([]int32{ids[0], ids[1], ids[3], ids[2]})
	case grid.TriangleStrip:
		for i := 0; i+2 < len(ids); i++ {
			if i%2 == 0 {
				visit([]int32{ids[i], ids[i+1], ids[i+2]})
			} else {
				visit([]int32{ids[i+1], ids[i], ids[i+2]})
			}
		}
	default:
		if len(ids) >= 3 {
			visit(ids)
		}
	}
}

// shellBuilder collects polygons with shared vertices and finds their edges.
type shellBuilder struct {
	s      Shell
	g      *grid.Grid
	first  int
	flat   bool     // all polygons lie in one plane: no side meets another at an angle
	vertex []uint32 // of the block's points, one more than its number; nil before the first
	edges  []edge
	chain  []int32 // of each vertex, its first edge to a higher one; -1 for none
	v      []uint32
	p      [][3]float64 // of the polygon that is added
	claim  *budget.Claim
	short  error // there is no memory for more
}

// polygonBytes is about what one polygon takes: two triangles, a vertex and two
// edges of its own, in slices that grow.
const polygonBytes = 250

// polygonsAtOnce are claimed together.
const polygonsAtOnce = 1 << 14

// edge goes from a vertex to a higher one, in the chain of the lower: an edge is
// found again in a few steps, where a map of a million of them takes a second.
type edge struct {
	to      uint32
	next    int32      // in the chain, -1 at the end
	normal  [3]float32 // of the first face at it
	shared  bool       // by two faces or more
	feature bool
}

func newShellBuilder(ctx context.Context) (*shellBuilder, error) {
	claim, err := budget.Take(ctx, "the picture of the mesh needs", polygonBytes*polygonsAtOnce)
	return &shellBuilder{claim: claim}, err
}

func (b *shellBuilder) block(g *grid.Grid, first int) {
	b.g, b.first, b.vertex = g, first, nil
}

// corner adds a vertex.
func (b *shellBuilder) corner(p [3]float64) uint32 {
	b.s.Positions = append(b.s.Positions, float32(p[0]), float32(p[1]), float32(p[2]))
	b.chain = append(b.chain, -1)
	return uint32(len(b.chain) - 1)
}

func (b *shellBuilder) point(id int32, p [3]float64) uint32 {
	if b.vertex[id] == 0 {
		b.vertex[id] = b.corner(p) + 1
	}
	return b.vertex[id] - 1
}

func (b *shellBuilder) polygon(cell int, face []int32) {
	if b.short != nil {
		return
	}
	if b.vertex == nil {
		const perVertex = 4
		if b.short = b.claim.Grow(perVertex * int64(b.g.NumPoints())); b.short != nil {
			return
		}
		b.vertex = make([]uint32, b.g.NumPoints())
	}
	b.v, b.p = b.v[:0], b.p[:0]
	for _, id := range face {
		p := b.g.Point(int(id))
		b.v, b.p = append(b.v, b.point(id, p)), append(b.p, p)
	}
	b.add(cell, b.v, b.p)
}

// cosFeature is the angle between sides from which their edge is drawn: 30°.
const cosFeature = 0.866

func (b *shellBuilder) add(cell int, v []uint32, p [][3]float64) {
	if b.s.Polygons++; b.s.Polygons%polygonsAtOnce == 0 && b.short == nil {
		b.short = b.claim.Grow(polygonBytes * polygonsAtOnce)
	}
	if b.short != nil {
		return
	}
	normal := newell(p)
	triangulate(p, normal, func(i, j, k int) {
		b.s.Triangles = append(b.s.Triangles, v[i], v[j], v[k])
		b.s.Cells = append(b.s.Cells, uint32(b.first+cell))
	})
	for i := range v {
		if a, c := v[i], v[(i+1)%len(v)]; a != c {
			b.side(min(a, c), max(a, c), normal)
		}
	}
}

// side notes that a face with a normal ends at an edge.
func (b *shellBuilder) side(low, high uint32, normal [3]float64) {
	for at := b.chain[low]; at >= 0; at = b.edges[at].next {
		if e := &b.edges[at]; e.to == high {
			first := [3]float64{float64(e.normal[0]), float64(e.normal[1]), float64(e.normal[2])}
			e.shared, e.feature = true, e.feature || !b.flat && grid.Dot(first, normal) < cosFeature
			return
		}
	}
	b.edges = append(b.edges, edge{to: high, next: b.chain[low], normal: [3]float32{float32(normal[0]), float32(normal[1]), float32(normal[2])}})
	b.chain[low] = int32(len(b.edges) - 1)
}

func (b *shellBuilder) shell() (*Shell, error) {
	if b.short != nil {
		return nil, b.short
	}
	b.s.Edges = make([]uint32, 0, 2*len(b.edges))
	var of []edge
	for low, at := range b.chain {
		of = of[:0]
		for ; at >= 0; at = b.edges[at].next {
			of = append(of, b.edges[at])
		}
		slices.SortFunc(of, func(x, y edge) int { return cmp.Compare(x.to, y.to) })
		for i := range of {
			b.s.Edges = append(b.s.Edges, uint32(low), of[i].to)
			if of[i].feature || !of[i].shared {
				b.s.Features = append(b.s.Features, uint32(low), of[i].to)
			}
		}
	}
	return &b.s, nil
}

// Slice cuts the kept cells with the plane through a point with a normal: at least
// one polygon for each solid cell the plane passes through.
func Slice(ctx context.Context, m *grid.Mesh, at, normal [3]float64, keep []bool) (*Shell, error) {
	p := newPlane(m, at, normal)
	return shellOf(ctx, m, func(b *shellBuilder, g *grid.Grid, _ int) error {
		b.flat = true
		return b.slice(ctx, g, p, keep)
	})
}

// slice cuts the kept cells of one block.
func (b *shellBuilder) slice(ctx context.Context, g *grid.Grid, p plane, keep []bool) error {
	claim, err := budget.Take(ctx, fmt.Sprintf("a slice through %d cells needs", g.NumCells()), 4*int64(g.NumPoints()))
	if err != nil {
		return err
	}
	defer claim.Release()
	cut := newCutter(ctx, g, p)
	for c := range table.Scan(ctx, nil, g.NumCells()) {
		if keep == nil || keep[b.first+c] {
			cut.cell(b, c)
		}
	}
	return ctx.Err()
}

// Bytes is what the shell takes.
func (s *Shell) Bytes() int64 {
	return 4 * int64(len(s.Positions)+len(s.Triangles)+len(s.Cells)+len(s.Edges)+len(s.Features))
}

// Threshold marks the cells whose value lies between lo and hi, ends included;
// cells without a value are not kept.
func Threshold(values []float64, lo, hi float64) []bool {
	keep := make([]bool, len(values))
	for i, v := range values {
		keep[i] = v >= lo && v <= hi
	}
	return keep
}

// OfLevel marks the cells to be drawn: of an adaptive mesh those that no finer level
// refines, or with a level all of its own; of other meshes those that are no ghosts. Nil
// if these are all.
func OfLevel(m *grid.Mesh, level int) []bool {
	if len(m.Levels) == 0 {
		return withoutGhosts(m)
	}
	var keep []bool
	for l := range m.Levels {
		for _, covered := range m.Covered(l) {
			keep = append(keep, level == l || level < 0 && !covered)
		}
	}
	return keep
}

// withoutGhosts marks the cells that are no ghosts; nil if none is one.
func withoutGhosts(m *grid.Mesh) []bool {
	var keep []bool
	first := 0
	for i := range m.Blocks {
		g := m.Blocks[i].Grid
		if ghosts := g.Ghosts(); ghosts != nil {
			if keep == nil {
				keep = slices.Repeat([]bool{true}, m.NumCells())
			}
			for c, ghost := range ghosts {
				keep[first+c] = !ghost
			}
		}
		first += g.NumCells()
	}
	return keep
}

// ghostNote says how many cells are ghosts; empty if none is one.
func ghostNote(m *grid.Mesh) string {
	if len(m.Levels) > 0 {
		return "" // marks there say what finer levels refine
	}
	n := 0
	for _, own := range withoutGhosts(m) {
		if !own {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d cells are ghosts, copies of other pieces' cells or hidden ones: they are not drawn, and no sample lies on one by its position", n, m.NumCells())
}
