package silo

import (
	"errors"
	"fmt"

	"github.com/isobath/isobath/internal/data/grid"
)

// coords reads coord0 to coord2; a missing axis is zero.
func (f *file) coords(o *object) ([3]grid.Array, int, error) {
	var axes [3]grid.Array
	n := 0
	for a := range axes {
		c, err := f.array(o, fmt.Sprintf("coord%d", a))
		if err != nil {
			if a > 0 && isMissing(err) {
				break
			}
			return axes, 0, err
		}
		axes[a] = c
		n = max(n, c.Values())
	}
	return axes, n, nil
}

// explicit makes the points of a mesh with a coordinate list per axis.
func (f *file) explicit(o *object) (grid.Array, error) {
	axes, n, err := f.coords(o)
	if err != nil {
		return grid.Array{}, err
	}
	for a := range axes {
		if k := axes[a].Values(); k != 0 && k != n {
			return grid.Array{}, fmt.Errorf("axis %d has %d coordinates, another %d", a, k, n)
		}
	}
	if _, ok := axes[0].Data.([]float32); ok {
		return points[float32](axes, n), nil
	}
	return points[float64](axes, n), nil
}

func points[T float32 | float64](axes [3]grid.Array, n int) grid.Array {
	p := make([]T, 3*n)
	for a := range axes {
		for i := range axes[a].Values() {
			p[3*i+a] = T(axes[a].At(i))
		}
	}
	return grid.Array{Name: "points", Comps: 3, Data: p}
}

func (f *file) points(o *object) (*grid.Grid, error) {
	p, err := f.explicit(o)
	if err != nil {
		return nil, err
	}
	n := p.Len()
	g := &grid.Grid{Layout: grid.Poly, Points: p, Offsets: make([]int, n+1), Conn: make([]int32, n), Types: make([]grid.CellType, n)}
	for i := range n {
		g.Types[i], g.Conn[i], g.Offsets[i+1] = grid.Vertex, int32(i), i+1
	}
	return g, nil
}

// quad reads a mesh of rows and columns, rectilinear or curvilinear.
func (f *file) quad(o *object) (*grid.Grid, error) {
	v, err := o.members.Field("dims")
	if err != nil {
		return nil, err
	}
	dims, err := v.Ints()
	if err != nil {
		return nil, err
	}
	ndims, err := o.int("ndims")
	if err != nil || ndims < 1 || ndims > 3 || len(dims) < ndims {
		return nil, errors.New("no dimensions")
	}
	g := &grid.Grid{Layout: grid.Rectilinear}
	for a := range ndims {
		g.Extent[2*a+1] = dims[a] - 1
	}
	if kind, err := o.int("coordtype"); o.kind == quadCurv || err == nil && kind == quadCurv {
		g.Layout = grid.Structured
		g.Points, err = f.explicit(o)
		return g, err
	}
	axes, _, err := f.coords(o)
	if err != nil {
		return nil, err
	}
	for a := range axes {
		if axes[a].Data == nil {
			axes[a] = grid.Array{Comps: 1, Data: []float64{0}}
		}
	}
	g.Axes = axes
	return g, nil
}

// shape is a zone type of silo.h: VTK's number, and where VTK's points are in
// Silo's order. Silo turns tetrahedra and pyramids the other way round, and
// lists a prism as a quadrilateral with an edge above it.
type shape struct {
	cell  grid.CellType
	order []int
}

var shapes = map[int64]shape{
	10: {grid.Line, []int{0, 1}},
	20: {grid.Polygon, nil},
	23: {grid.Triangle, []int{0, 1, 2}},
	24: {grid.Quad, []int{0, 1, 2, 3}},
	34: {grid.Tetra, []int{1, 0, 2, 3}},
	35: {grid.Pyramid, []int{0, 3, 2, 1, 4}},
	36: {grid.Wedge, []int{2, 1, 5, 3, 0, 4}},
	38: {grid.Hexahedron, []int{0, 1, 2, 3, 4, 5, 6, 7}},
}

// bySize is the zone type of files that do not name it.
func bySize(ndims int, size int64) int64 {
	if ndims == 3 {
		return map[int64]int64{4: 34, 5: 35, 6: 36, 8: 38}[size]
	}
	return map[int64]int64{2: 10, 3: 23, 4: 24}[size]
}

func (f *file) unstructured(o *object) (*grid.Grid, error) {
	p, err := f.explicit(o)
	if err != nil {
		return nil, err
	}
	g := &grid.Grid{Layout: grid.Unstructured, Points: p, Offsets: []int{0}}
	v, err := o.members.Field("zonelist")
	if err != nil {
		return nil, err
	}
	for i := range f.objects {
		z := &f.objects[i]
		if z.dir == o.dir && z.name == v.Text() {
			return g, f.zones(g, z)
		}
	}
	return nil, fmt.Errorf("zone list %q is not in the file", v.Text())
}

func (f *file) zones(g *grid.Grid, z *object) error {
	nodes, err := f.ints(z, "nodelist")
	if err != nil {
		return err
	}
	counts, err := f.ints(z, "shapecnt")
	if err != nil {
		return err
	}
	sizes, err := f.ints(z, "shapesize")
	if err != nil {
		return err
	}
	types, err := f.ints(z, "shapetype")
	if err != nil && !isMissing(err) {
		return err
	}
	ndims, _ := z.int("ndims")
	origin, _ := z.int("origin") // absent: 0
	if len(sizes) != len(counts) {
		return fmt.Errorf("%d shape sizes for %d shapes", len(sizes), len(counts))
	}
	for i, n := range counts {
		kind := bySize(ndims, sizes[i])
		if i < len(types) {
			kind = types[i]
		}
		s, ok := shapes[kind]
		if !ok {
			return fmt.Errorf("zones of type %d with %d nodes are not read", kind, sizes[i])
		}
		if n < 0 || sizes[i] < 1 || s.order != nil && int64(len(s.order)) != sizes[i] || n > int64(len(nodes))/sizes[i] {
			return fmt.Errorf("%d zones of %d nodes of type %d in %d node numbers", n, sizes[i], kind, len(nodes))
		}
		for range n {
			appendZone(g, s, nodes[:sizes[i]], int64(origin))
			nodes = nodes[sizes[i]:]
		}
	}
	return nil
}

func appendZone(g *grid.Grid, s shape, nodes []int64, origin int64) {
	for k := range nodes {
		from := k
		if s.order != nil {
			from = s.order[k]
		}
		id := nodes[from] - origin
		if id < 0 || id > 1<<31-1 {
			id = -1 // Check names the place
		}
		g.Conn = append(g.Conn, int32(id))
	}
	g.Types = append(g.Types, s.cell)
	g.Offsets = append(g.Offsets, len(g.Conn))
}
