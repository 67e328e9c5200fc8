package vtkhdf

import (
	"errors"
	"fmt"

	"isobath/internal/formats/hdf5"
	"isobath/internal/grid"
)

// pieces reads the parts of the current time step and joins them, as VTK does.
func (r *reader) pieces(m *grid.Mesh, layout grid.Layout) error {
	points, err := r.ints("NumberOfPoints")
	if err != nil {
		return err
	}
	first, parts := 0, len(points)
	if r.n > 0 {
		if first, err = r.offset("PartOffsets"); err != nil {
			return err
		}
		if parts, err = r.offset("NumberOfParts"); err != nil {
			return err
		}
		if parts == 0 {
			parts = 1
		}
	}
	if first < 0 || parts < 0 || first > len(points) || parts > len(points)-first {
		return fmt.Errorf("parts %d to %d of %d", first, first+parts, len(points))
	}
	at, err := r.offset("PointOffsets")
	if err != nil {
		return err
	}
	walk := cellWalk{r: r, first: first}
	var grids []*grid.Grid
	for p := range parts {
		n := points[first+p]
		g := &grid.Grid{Layout: layout}
		if g.Points, err = r.tuples("Points", at, n); err != nil {
			return err
		}
		if layout == grid.Unstructured {
			err = walk.unstructured(g, p)
		} else {
			err = walk.poly(g, p)
		}
		if err != nil {
			return err
		}
		if g.PointData, err = r.data("PointData", at, n); err != nil {
			return err
		}
		if err := g.Check(); err != nil {
			return fmt.Errorf("part %d: %w", p, err)
		}
		at += n
		grids = append(grids, g)
	}
	g, err := grid.Join(grids)
	if err != nil {
		return err
	}
	g.Layout = layout
	m.Blocks = []grid.Block{{Grid: g}}
	return nil
}

// cellWalk moves through the cells of the parts, which lie one after another.
type cellWalk struct {
	r     *reader
	first int
	cells [4]int // cells passed, by list; unstructured uses the first
	conn  [4]int
	total int
	begun bool
}

func (w *cellWalk) begin(prefix string, k int) error {
	var err error
	if w.cells[k], err = w.r.offset(prefix + "CellOffsets"); err != nil {
		return err
	}
	w.conn[k], err = w.r.offset(prefix + "ConnectivityIdOffsets")
	return err
}

// rows reads offsets and connectivity of one part of a cell list.
func (w *cellWalk) rows(prefix string, k, part int) (off []int, conn []int32, err error) {
	counts, err := w.r.ints(prefix + "NumberOfCells")
	if err != nil {
		return nil, nil, err
	}
	lengths, err := w.r.ints(prefix + "NumberOfConnectivityIds")
	if err != nil {
		return nil, nil, err
	}
	p := w.first + part
	if p >= len(counts) || p >= len(lengths) {
		return nil, nil, fmt.Errorf("part %d of %d", p, len(counts))
	}
	// Offsets have one entry more than cells in every part.
	a, err := w.r.tuples(prefix+"Offsets", w.cells[k]+p, counts[p]+1)
	if err != nil {
		return nil, nil, err
	}
	wide, err := a.Int64s()
	if err != nil {
		return nil, nil, err
	}
	for _, o := range wide {
		off = append(off, int(o))
	}
	c, err := w.r.tuples(prefix+"Connectivity", w.conn[k], lengths[p])
	if err != nil {
		return nil, nil, err
	}
	if wide, err = c.Int64s(); err != nil {
		return nil, nil, err
	}
	conn = make([]int32, len(wide))
	for i, id := range wide {
		if id < 0 || id > 1<<31-1 {
			return nil, nil, fmt.Errorf("point number %d", id)
		}
		conn[i] = int32(id)
	}
	w.conn[k] += lengths[p]
	w.cells[k] += counts[p]
	return off, conn, nil
}

func (w *cellWalk) unstructured(g *grid.Grid, part int) error {
	if !w.begun {
		if err := w.begin("", 0); err != nil {
			return err
		}
		w.begun = true
	}
	at := w.cells[0]
	var err error
	if g.Offsets, g.Conn, err = w.rows("", 0, part); err != nil {
		return err
	}
	n := w.cells[0] - at
	types, err := w.r.tuples("Types", at, n)
	if err != nil {
		return err
	}
	g.Types = make([]grid.CellType, n)
	for i := range g.Types {
		t := types.At(i)
		if t < 0 || t > 255 {
			return fmt.Errorf("cell type %g", t)
		}
		if grid.CellType(t) == grid.Polyhedron {
			return errors.New("polyhedra in VTKHDF files are not read; save the mesh from ParaView as .vtu")
		}
		g.Types[i] = grid.CellType(t)
	}
	g.CellData, err = w.r.data("CellData", at, n)
	return err
}

// poly reads the four cell lists of polygonal data.
func (w *cellWalk) poly(g *grid.Grid, part int) error {
	g.Offsets = []int{0}
	if !w.begun {
		for k, list := range polyLists {
			if err := w.begin(list.name+"/", k); err != nil {
				return err
			}
		}
		var err error
		if w.total, err = w.r.offset("CellOffsets"); err != nil {
			return err
		}
		w.begun = true
	}
	for k, list := range polyLists {
		off, conn, err := w.rows(list.name+"/", k, part)
		if err != nil {
			return err
		}
		base := len(g.Conn)
		g.Conn = append(g.Conn, conn...)
		for i := 0; i+1 < len(off); i++ {
			g.Offsets = append(g.Offsets, base+off[i+1])
			g.Types = append(g.Types, list.shape(off[i+1]-off[i]))
		}
	}
	var err error
	g.CellData, err = w.r.data("CellData", w.total, len(g.Types))
	w.total += len(g.Types)
	return err
}

var polyLists = [4]struct {
	name  string
	shape func(n int) grid.CellType
}{
	{"Vertices", func(n int) grid.CellType { return pick(n == 1, grid.Vertex, grid.PolyVertex) }},
	{"Lines", func(n int) grid.CellType { return pick(n == 2, grid.Line, grid.PolyLine) }},
	{"Polygons", func(n int) grid.CellType {
		return pick(n == 3, grid.Triangle, pick(n == 4, grid.Quad, grid.Polygon))
	}},
	{"Strips", func(int) grid.CellType { return grid.TriangleStrip }},
}

func pick(yes bool, a, b grid.CellType) grid.CellType {
	if yes {
		return a
	}
	return b
}

func attrInts(o *hdf5.Object, name string, out []int) error {
	v, err := o.Attr(name)
	if err != nil {
		return err
	}
	list, err := v.Ints()
	if err != nil || len(list) != len(out) {
		return fmt.Errorf("attribute %s has %d numbers, want %d: %w", name, len(list), len(out), err)
	}
	copy(out, list)
	return nil
}

func attrFloats(o *hdf5.Object, name string, out []float64) error {
	v, err := o.Attr(name)
	if err != nil {
		return err
	}
	list, err := v.Floats()
	if err != nil || len(list) != len(out) {
		return fmt.Errorf("attribute %s has %d numbers, want %d: %w", name, len(list), len(out), err)
	}
	copy(out, list)
	return nil
}

// image reads an ImageData file. Its arrays have the shape of the grid, so
// only vectors have one dimension more.
func (r *reader) image(m *grid.Mesh) error {
	if r.n > 1 {
		return errors.New("images with several time steps are not read")
	}
	g := &grid.Grid{Layout: grid.Image, Spacing: [3]float64{1, 1, 1}}
	if err := attrInts(r.root, "WholeExtent", g.Extent[:]); err != nil {
		return err
	}
	if err := attrFloats(r.root, "Origin", g.Origin[:]); err != nil {
		return err
	}
	if err := attrFloats(r.root, "Spacing", g.Spacing[:]); err != nil {
		return err
	}
	if err := attrFloats(r.root, "Direction", g.Direction[:]); err != nil && !missing(err) {
		return err
	}
	d, c := g.Dims(), g.CellDims()
	var err error
	if g.PointData, err = r.shaped("PointData", d[0]*d[1]*d[2]); err != nil {
		return err
	}
	if g.CellData, err = r.shaped("CellData", c[0]*c[1]*c[2]); err != nil {
		return err
	}
	m.Blocks = []grid.Block{{Grid: g}}
	return nil
}

func (r *reader) shaped(group string, n int) ([]grid.Array, error) {
	names, err := r.names(group)
	if err != nil {
		return nil, err
	}
	var list []grid.Array
	for _, name := range names {
		v, err := r.value(group + "/" + name)
		if err != nil {
			return nil, err
		}
		a, err := toArray(name, v)
		if err != nil {
			return nil, err
		}
		if n <= 0 || a.Values()%n != 0 || a.Values() == 0 {
			return nil, fmt.Errorf("%s/%s has %d values for %d places", group, name, a.Values(), n)
		}
		a.Comps = a.Values() / n
		list = append(list, a)
	}
	return list, nil
}

// amr reads the levels of an OverlappingAMR file: boxes as rows of six
// numbers, the values of all boxes of a level one after another.
func (r *reader) amr(m *grid.Mesh) error {
	if r.n > 1 {
		return errors.New("AMR with several time steps is not read")
	}
	var origin [3]float64
	if err := attrFloats(r.root, "Origin", origin[:]); err != nil {
		return err
	}
	for l := 0; r.root.HasLink(fmt.Sprintf("Level%d", l)); l++ {
		if err := r.amrLevel(m, l, origin); err != nil {
			return fmt.Errorf("level %d: %w", l, err)
		}
	}
	for l := 0; l+1 < len(m.Levels); l++ {
		if fine := m.Levels[l+1].Spacing[0]; fine > 0 {
			m.Levels[l].Ratio = int(min(1024, max(1, m.Levels[l].Spacing[0]/fine+0.5)))
		}
	}
	return nil
}

func (r *reader) amrLevel(m *grid.Mesh, l int, origin [3]float64) error {
	name := fmt.Sprintf("Level%d", l)
	o, err := r.f.Lookup("VTKHDF/" + name)
	if err != nil {
		return err
	}
	lev := grid.Level{First: len(m.Blocks), Ratio: 1, Dim: 3, Origin: origin}
	if err := attrFloats(o, "Spacing", lev.Spacing[:]); err != nil {
		return err
	}
	flat, err := r.ints(name + "/AMRBox")
	if err != nil {
		return err
	}
	points, cells := 0, 0
	for ; len(flat) >= 6; flat = flat[6:] {
		box := grid.Box{Lo: [3]int{flat[0], flat[2], flat[4]}, Hi: [3]int{flat[1], flat[3], flat[5]}}
		g := &grid.Grid{Layout: grid.Image, Spacing: lev.Spacing, Origin: origin}
		np, nc := 1, 1
		for a := range 3 {
			n := box.Hi[a] - box.Lo[a] + 1
			if n < 1 || n > grid.MaxCells/nc {
				return fmt.Errorf("box %v", box)
			}
			nc, np = nc*n, np*(n+1)
			g.Origin[a] += float64(box.Lo[a]) * lev.Spacing[a]
			g.Extent[2*a+1] = n
		}
		if g.PointData, err = r.data(name+"/PointData", points, np); err != nil {
			return err
		}
		if g.CellData, err = r.data(name+"/CellData", cells, nc); err != nil {
			return err
		}
		points, cells = points+np, cells+nc
		lev.Boxes = append(lev.Boxes, box)
		m.Blocks = append(m.Blocks, grid.Block{Name: fmt.Sprintf("level %d box %d", l, len(lev.Boxes)-1), Level: l, Grid: g})
	}
	lev.Domain = grid.Hull(lev.Boxes)
	m.Levels = append(m.Levels, lev)
	return nil
}
