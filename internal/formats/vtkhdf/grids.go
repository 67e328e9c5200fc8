package vtkhdf

import (
	"fmt"

	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/formats/hdf5"
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
	if parts == 0 { // a block without data on any process
		return nil
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
	m.Blocks = append(m.Blocks, grid.Block{Grid: g})
	return nil
}

// cellWalk moves through the cells of the parts, which lie one after another.
type cellWalk struct {
	r     *reader
	first int
	cells [4]int // cells passed, by list; unstructured uses the first
	conn  [4]int
	// written is the part from which on this step's cells were written, by list:
	// an earlier one where steps share them.
	written [4]int
	total   int
	begun   bool
	// Polyhedra: faces, their point numbers, and the faces of cells passed.
	faces, faceConn, toFaces int
}

// begin finds where the cells of this step lie in list k; polygonal data has an offset
// for each of its four lists.
func (w *cellWalk) begin(prefix string, k int) error {
	var err error
	if w.cells[k], _, err = w.r.stepColumn(k, "CellOffsets"); err != nil {
		return err
	}
	if w.conn[k], _, err = w.r.stepColumn(k, "ConnectivityIdOffsets"); err != nil {
		return err
	}
	w.written[k], err = w.sharedWith(prefix, k)
	return err
}

// sharedWith returns the first part of the earliest step whose cells begin where
// this step's do and are as many: a topology that stays is written once, though
// every step may have parts of its own.
func (w *cellWalk) sharedWith(prefix string, k int) (int, error) {
	if w.r.n == 0 {
		return w.first, nil
	}
	counts, err := w.r.ints(prefix + "NumberOfCells")
	if err != nil {
		return 0, err
	}
	at := *w.r
	for at.step = range w.r.step {
		cells, found, err := at.stepColumn(k, "CellOffsets")
		if err != nil || !found {
			return w.first, err
		}
		conn, _, err := at.stepColumn(k, "ConnectivityIdOffsets")
		if err != nil {
			return 0, err
		}
		first, err := at.offset("PartOffsets")
		if err != nil {
			return 0, err
		}
		within := first >= 0 && first < len(counts) && w.first < len(counts)
		if cells == w.cells[k] && conn == w.conn[k] && within && counts[first] == counts[w.first] {
			return first, nil
		}
	}
	return w.first, nil
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
	// Offsets have one entry more than cells in every part that was written.
	a, err := w.r.tuples(prefix+"Offsets", w.cells[k]+w.written[k]+part, counts[p]+1)
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
		if err := w.beginFaces(); err != nil {
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
		g.Types[i] = grid.CellType(t)
	}
	if err := w.polyhedra(g, part, at); err != nil {
		return err
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
