package mesh

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/table"
)

// cutter intersects cells of one grid with a plane.
type cutter struct {
	g       *grid.Grid
	u, v    [3]float64 // axes in the plane
	side    []float32  // signed distance of each point
	crossed map[[2]int32]uint32
	scratch grid.Scratch
	buf     []int32

	// Of the cell that is cut:
	hits   []uint32     // corners of the cut, one an edge
	points [][3]float64 // and where they are
	pieces [][2]int     // cuts of its faces, between two corners
}

// plane is what cells are cut with. Points nearer to it than near lie on it: the
// border of two boxes is in a file at two places that differ by rounding, and a plane
// between the two would cut the layers on both sides, or neither.
type plane struct {
	at, normal [3]float64 // the normal has length 1
	near       float64
}

// Parts of the size of a mesh, or of its smallest cells where they are known, that
// count as rounding: single precision has seven digits, and texts often six.
const (
	nearOfMesh = 1e-6
	nearOfCell = 1e-3
)

// newPlane makes the plane through a point. One that no part of the mesh lies above
// looks the other way, so that the upper end of a mesh is cut as the lower one is.
func newPlane(m *grid.Mesh, at, normal [3]float64) plane {
	l := max(math.Sqrt(grid.Dot(normal, normal)), math.SmallestNonzeroFloat64)
	lo, hi := m.Bounds()
	p := plane{at: at}
	beyond, size := 0.0, 0.0 // of the mesh above the plane; along the normal in all
	for k := range normal {
		n := normal[k] / l
		p.normal[k] = n
		beyond += max(n*(lo[k]-at[k]), n*(hi[k]-at[k]))
		size += math.Abs(n) * (hi[k] - lo[k])
	}
	p.near = nearOfMesh * size
	if n := len(m.Levels); n > 0 {
		fine := m.Levels[n-1].Spacing
		p.near = 0
		for k, n := range p.normal {
			p.near += nearOfCell * math.Abs(n) * fine[k]
		}
	}
	if math.IsNaN(p.near) || math.IsInf(p.near, 0) {
		p.near = 0
	}
	if beyond <= p.near {
		for k := range p.normal {
			p.normal[k] = -p.normal[k]
		}
	}
	return p
}

func newCutter(ctx context.Context, g *grid.Grid, p plane) *cutter {
	c := &cutter{g: g, side: make([]float32, g.NumPoints()), crossed: map[[2]int32]uint32{}}
	for i := range table.Scan(ctx, nil, len(c.side)) {
		if d := grid.Dot(p.normal, grid.Sub(g.Point(i), p.at)); math.Abs(d) > p.near {
			c.side[i] = float32(d)
		}
	}
	other := [3]float64{1, 0, 0}
	if math.Abs(p.normal[0]) > 0.9 {
		other = [3]float64{0, 1, 0}
	}
	c.u = grid.Cross(p.normal, other)
	c.v = grid.Cross(p.normal, c.u)
	return c
}

// above puts points on the plane to the lower side, so that a plane through a
// layer of points cuts the cells above it only.
func (c *cutter) above(id int32) bool { return c.side[id] > 0 }

func (c *cutter) cell(b *shellBuilder, cell int) {
	t, ids := c.g.Cell(cell, c.buf)
	if c.g.Layout <= grid.Structured {
		c.buf = ids
	}
	if t.Dim() != 3 {
		return
	}
	up := 0
	for _, id := range ids {
		if c.above(id) {
			up++
		}
	}
	if up == 0 || up == len(ids) {
		return
	}
	c.hits, c.points, c.pieces = c.hits[:0], c.points[:0], c.pieces[:0]
	c.g.CellFaces(cell, &c.scratch, func(f []int32) { c.face(b, f) })
	for _, loop := range c.loops() {
		v, p := make([]uint32, len(loop)), make([][3]float64, len(loop))
		for i, k := range loop {
			v[i], p[i] = c.hits[k], c.points[k]
		}
		if c.area(p) < 0 {
			slices.Reverse(v)
			slices.Reverse(p)
		}
		b.add(cell, v, p)
	}
}

// face notes where the plane cuts a face: from where its border comes up through
// the plane to where it goes down again. The cell on the other side of the face
// finds the same piece, also where a twisted face is cut twice, so the cuts of
// neighbours meet without a gap.
func (c *cutter) face(b *shellBuilder, f []int32) {
	n := len(f)
	for i := range f {
		if c.above(f[i]) || !c.above(f[(i+1)%n]) {
			continue
		}
		j := i + 1
		for c.above(f[(j+1)%n]) {
			j++
		}
		up, down := c.hit(b, f[i], f[(i+1)%n]), c.hit(b, f[j%n], f[(j+1)%n])
		if up != down {
			c.pieces = append(c.pieces, [2]int{up, down})
		}
	}
}

// hit is the number, within the cell, of the corner of the cut on an edge.
func (c *cutter) hit(b *shellBuilder, x, y int32) int {
	v, p := c.cross(b, min(x, y), max(x, y))
	if k := slices.Index(c.hits, v); k >= 0 {
		return k
	}
	c.hits, c.points = append(c.hits, v), append(c.points, p)
	return len(c.hits) - 1
}

// loops joins the pieces to closed outlines of three corners or more. Every
// edge of a sound cell is one of two faces, so at every corner two pieces meet.
func (c *cutter) loops() [][]int {
	next := make([][]int, len(c.hits))
	for _, p := range c.pieces {
		next[p[0]], next[p[1]] = append(next[p[0]], p[1]), append(next[p[1]], p[0])
	}
	for _, n := range next {
		if len(n) != 2 {
			return c.around()
		}
	}
	var out [][]int
	done := make([]bool, len(c.hits))
	for start := range next {
		var loop []int
		for at := start; !done[at]; {
			done[at] = true
			loop = append(loop, at)
			if n := next[at]; done[n[0]] {
				at = n[1]
			} else {
				at = n[0]
			}
		}
		if len(loop) >= 3 {
			out = append(out, loop)
		}
	}
	return out
}

// area is that of a polygon in the plane, negative if it runs clockwise.
func (c *cutter) area(p [][3]float64) float64 {
	sum := 0.0
	for i := range p {
		a, b := grid.Sub(p[i], p[0]), grid.Sub(p[(i+1)%len(p)], p[0])
		sum += grid.Dot(a, c.u)*grid.Dot(b, c.v) - grid.Dot(a, c.v)*grid.Dot(b, c.u)
	}
	return sum
}

// cross returns the vertex where the plane meets an edge.
func (c *cutter) cross(b *shellBuilder, x, y int32) (uint32, [3]float64) {
	p, q := c.g.Point(int(x)), c.g.Point(int(y))
	dx, dy := float64(c.side[x]), float64(c.side[y])
	t := dx / (dx - dy)
	var at [3]float64
	for k := range at {
		at[k] = p[k] + t*(q[k]-p[k])
	}
	v, ok := c.crossed[[2]int32{x, y}]
	if !ok {
		v = b.corner(at)
		c.crossed[[2]int32{x, y}] = v
	}
	return v, at
}

// around is the outline of a cell whose faces do not close: the corners of its
// cut by angle.
func (c *cutter) around() [][]int {
	if len(c.hits) < 3 {
		return nil
	}
	var mid [3]float64
	for _, p := range c.points {
		for k := range mid {
			mid[k] += p[k] / float64(len(c.points))
		}
	}
	order, angle := make([]int, len(c.hits)), make([]float64, len(c.hits))
	for i, p := range c.points {
		d := grid.Sub(p, mid)
		order[i], angle[i] = i, math.Atan2(grid.Dot(d, c.v), grid.Dot(d, c.u))
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(angle[a], angle[b]) })
	return [][]int{order}
}
