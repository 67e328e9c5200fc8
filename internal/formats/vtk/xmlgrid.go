package vtk

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/grid"
)

var xmlLayouts = map[string]grid.Layout{
	"ImageData": grid.Image, "RectilinearGrid": grid.Rectilinear, "StructuredGrid": grid.Structured,
	"UnstructuredGrid": grid.Unstructured, "PolyData": grid.Poly,
}

// readXML reads an XML file of any type but a time collection. Files it names
// are found through dir.
func readXML(buf []byte, dir folder) (*grid.Mesh, error) {
	d, err := parseXML(buf)
	if err != nil {
		return nil, err
	}
	kind := d.root.attrs["type"]
	body := d.root.kid(kind)
	if body == nil {
		return nil, fmt.Errorf("VTKFile of type %q has no element of that name", term.ClipEnd(kind, 25))
	}
	m := &grid.Mesh{}
	if layout, ok := xmlLayouts[kind]; ok {
		g, err := d.grid(body, layout)
		if err != nil {
			return nil, err
		}
		m.Blocks = []grid.Block{{Grid: g}}
	} else if err := readComposite(m, kind, body, dir); err != nil {
		return nil, err
	}
	d.wholeFieldData(m, body)
	for _, l := range d.left {
		m.Warnings = append(m.Warnings, fmt.Sprintf("%s: %v; it is left out", l.what, l.why))
	}
	m.Stamp()
	return m, m.Check()
}

func (d *document) wholeFieldData(m *grid.Mesh, body *node) {
	fd := d.root.kid("FieldData")
	if fd == nil {
		fd = body.kid("FieldData")
	}
	if fd == nil || len(m.Blocks) == 0 {
		return
	}
	g := m.Blocks[0].Grid
	for _, a := range d.arrays(fd, "field data", -1) {
		g.FieldData = put(g.FieldData, a)
	}
}

// grid reads the pieces of one data set and makes them one.
func (d *document) grid(body *node, layout grid.Layout) (*grid.Grid, error) {
	var pieces []*grid.Grid
	whole := [6]int{0, -1, 0, -1, 0, -1}
	if layout <= grid.Structured {
		var err error
		if whole, err = extent(body.attrs["WholeExtent"]); err != nil {
			return nil, fmt.Errorf("WholeExtent: %w", err)
		}
	}
	for _, n := range body.kids {
		if n.name != "Piece" {
			continue
		}
		g, err := d.piece(n, body, layout)
		if err != nil {
			return nil, fmt.Errorf("piece %d: %w", len(pieces), err)
		}
		pieces = append(pieces, g)
	}
	if layout > grid.Structured {
		g, err := grid.Join(pieces)
		if err == nil {
			g.Layout = layout
		}
		return g, err
	}
	if len(pieces) == 0 {
		return nil, errors.New("no Piece element")
	}
	return grid.Assemble(pieces, whole)
}

func extent(s string) ([6]int, error) {
	var e [6]int
	f := strings.Fields(s)
	if len(f) != 6 {
		return e, fmt.Errorf("%q, want six whole numbers", term.ClipEnd(s, 25))
	}
	for i, w := range f {
		v, err := strconv.Atoi(w)
		if err != nil || v > 1<<40 || v < -1<<40 {
			return e, fmt.Errorf("%q is not an index", term.ClipEnd(w, 25))
		}
		e[i] = v
	}
	return e, nil
}

func reals(s string, out []float64) error {
	if s == "" {
		return nil
	}
	f := strings.Fields(s)
	if len(f) != len(out) {
		return fmt.Errorf("%q, want %d numbers", term.ClipEnd(s, 25), len(out))
	}
	for i, w := range f {
		v, err := strconv.ParseFloat(w, 64)
		if err != nil {
			return fmt.Errorf("%q is not a number", term.ClipEnd(w, 25))
		}
		out[i] = v
	}
	return nil
}

func (d *document) piece(n, body *node, layout grid.Layout) (*grid.Grid, error) {
	g := &grid.Grid{Layout: layout, Spacing: [3]float64{1, 1, 1}, Points: grid.Array{Comps: 3, Data: []float32{}}}
	if layout > grid.Structured {
		return g, d.explicitPiece(g, n)
	}
	var err error
	if g.Extent, err = extent(n.attrs["Extent"]); err != nil {
		return nil, fmt.Errorf("Extent: %w", err)
	}
	if layout == grid.Image {
		if err := placement(g, body); err != nil {
			return nil, err
		}
	}
	if layout == grid.Rectilinear {
		if err := d.axes(g, n.kid("Coordinates")); err != nil {
			return nil, err
		}
	}
	dims := g.Dims()
	points := 1
	for _, k := range dims {
		if k > 1<<31 || points*k > 1<<31 {
			return nil, fmt.Errorf("extent %v has too many points", g.Extent)
		}
		points *= k
	}
	if layout == grid.Structured {
		if err := d.points(g, n, points); err != nil {
			return nil, err
		}
	}
	c := g.CellDims()
	d.data(g, n, points, c[0]*c[1]*c[2])
	return g, nil
}

func placement(g *grid.Grid, body *node) error {
	if err := reals(body.attrs["Origin"], g.Origin[:]); err != nil {
		return fmt.Errorf("Origin: %w", err)
	}
	if err := reals(body.attrs["Spacing"], g.Spacing[:]); err != nil {
		return fmt.Errorf("Spacing: %w", err)
	}
	if err := reals(body.attrs["Direction"], g.Direction[:]); err != nil {
		return fmt.Errorf("Direction: %w", err)
	}
	return nil
}

func (d *document) axes(g *grid.Grid, n *node) error {
	if n == nil || len(n.kids) < 3 {
		return errors.New("Coordinates wants three arrays")
	}
	for a, want := range g.Dims() {
		var err error
		if g.Axes[a], err = d.array(n.kids[a], want); err != nil {
			return err
		}
	}
	return nil
}

func (d *document) points(g *grid.Grid, n *node, want int) error {
	p := n.kid("Points")
	if p == nil || p.kid("DataArray") == nil {
		if want == 0 {
			return nil
		}
		return errors.New("no Points array")
	}
	var err error
	if g.Points, err = d.array(p.kid("DataArray"), want); err != nil {
		return err
	}
	if g.Points.Comps != 3 {
		return fmt.Errorf("points have %d components, want 3", g.Points.Comps)
	}
	return nil
}

func (d *document) data(g *grid.Grid, n *node, points, cells int) {
	if p := n.kid("PointData"); p != nil && points > 0 {
		g.PointData = d.arrays(p, "point data", points)
	}
	if c := n.kid("CellData"); c != nil && cells > 0 {
		g.CellData = d.arrays(c, "cell data", cells)
	}
}

// arrays reads the variables of a piece; what of them cannot be read is noted.
func (d *document) arrays(n *node, what string, want int) []grid.Array {
	var list []grid.Array
	for _, k := range n.kids {
		if k.name != "DataArray" && k.name != "Array" {
			continue
		}
		a, err := d.array(k, want)
		if err != nil {
			d.leaveOut(leftArray{what, a.Name, err})
			continue
		}
		list = put(list, a)
	}
	return list
}

func (d *document) explicitPiece(g *grid.Grid, n *node) error {
	points, err := countAttr(n, "NumberOfPoints")
	if err != nil {
		return err
	}
	if err := d.points(g, n, points); err != nil {
		return err
	}
	if g.Layout == grid.Poly {
		err = d.polyCells(g, n)
	} else {
		err = d.cells(g, n)
	}
	if err != nil {
		return err
	}
	d.data(g, n, points, len(g.Types))
	// Check before joining: Join trusts offsets and face lists.
	return g.Check()
}

func countAttr(n *node, name string) (int, error) {
	s, ok := n.attrs[name]
	if !ok {
		return 0, nil
	}
	v, err := countAttribute(s)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	return v, nil
}

func (n *node) array(name string) *node {
	if n == nil {
		return nil
	}
	for _, k := range n.kids {
		if k.attrs["Name"] == name {
			return k
		}
	}
	return nil
}

func (d *document) rows(n *node, count int) (cellRows, error) {
	offsets, conn := n.array("offsets"), n.array("connectivity")
	if count == 0 {
		return cellRows{offsets: []int{0}}, nil
	}
	if offsets == nil || conn == nil {
		return cellRows{}, errors.New("no connectivity or no offsets array")
	}
	off, err := d.array(offsets, count)
	if err != nil {
		return cellRows{}, err
	}
	ids, err := d.array(conn, -1)
	if err != nil {
		return cellRows{}, err
	}
	return rowsOf(&off, &ids, false)
}

func (d *document) cells(g *grid.Grid, n *node) error {
	count, err := countAttr(n, "NumberOfCells")
	if err != nil {
		return err
	}
	c := n.kid("Cells")
	rows, err := d.rows(c, count)
	if err != nil {
		return err
	}
	g.Offsets, g.Conn = rows.offsets, rows.conn
	if count == 0 {
		return nil
	}
	types := c.array("types")
	if types == nil {
		return errors.New("no types array")
	}
	a, err := d.array(types, count)
	if err != nil {
		return err
	}
	g.Types = make([]grid.CellType, count)
	for i := range g.Types {
		v := a.At(i)
		if v < 0 || v > 255 {
			return fmt.Errorf("cell %d has type %g", i, v)
		}
		g.Types[i] = grid.CellType(v)
	}
	if before(d.root.attrs["version"], 2, 1) {
		renumberHexahedra(g)
	}
	return d.polyhedra(g, c)
}

// polyhedra reads faces and faceoffsets. An offset is the end of the cell's
// part of the face list, -1 for cells that are no polyhedra.
func (d *document) polyhedra(g *grid.Grid, c *node) error {
	if c.array("polyhedron_to_faces") != nil {
		return d.sharedFaces(g, c)
	}
	faces, ends := c.array("faces"), c.array("faceoffsets")
	if faces == nil || ends == nil {
		return nil
	}
	f, err := d.array(faces, -1)
	if err != nil {
		return err
	}
	e, err := d.array(ends, -1)
	if err != nil {
		return err
	}
	if e.Values() == 0 {
		return nil
	}
	if g.Faces, err = pointNumbers(&f); err != nil {
		return err
	}
	end, err := e.Int64s()
	if err != nil {
		return err
	}
	g.FaceStart = make([]int, len(end))
	at := 0
	for i, v := range end {
		g.FaceStart[i] = -1
		if v >= 0 {
			g.FaceStart[i], at = at, int(v)
		}
	}
	return nil
}

// sharedFaces reads polyhedra as VTK writes them from 9.4 on: a list of faces,
// and for each cell the numbers of its faces. Both offset arrays hold ends.
func (d *document) sharedFaces(g *grid.Grid, c *node) error {
	var lists [4][]int64
	for i, name := range [...]string{"face_connectivity", "face_offsets", "polyhedron_to_faces", "polyhedron_offsets"} {
		n := c.array(name)
		if n == nil {
			return fmt.Errorf("no array %q", name)
		}
		a, err := d.array(n, -1)
		if err != nil {
			return err
		}
		if lists[i], err = a.Int64s(); err != nil {
			return err
		}
	}
	points, ends, faces, cellEnds := lists[0], lists[1], lists[2], lists[3]
	if len(cellEnds) != len(g.Types) {
		return fmt.Errorf("%d cells have %d polyhedron offsets", len(g.Types), len(cellEnds))
	}
	g.FaceStart = make([]int, len(g.Types))
	at := int64(0)
	for i, end := range cellEnds {
		g.FaceStart[i] = -1
		if end < at || end > int64(len(faces)) {
			return fmt.Errorf("cell %d: polyhedron offset %d is out of order", i, end)
		}
		if g.Types[i] == grid.Polyhedron {
			g.FaceStart[i] = len(g.Faces)
			g.Faces = append(g.Faces, int32(end-at))
			for _, f := range faces[at:end] {
				face, err := slice(points, ends, f)
				if err != nil {
					return fmt.Errorf("cell %d: %w", i, err)
				}
				g.Faces = append(g.Faces, int32(len(face)))
				for _, id := range face {
					g.Faces = append(g.Faces, int32(max(-1, min(id, 1<<31-1)))) // Check names a bad one
				}
			}
		}
		at = end
	}
	return nil
}

// slice returns part i of a list that is cut at ends.
func slice(list, ends []int64, i int64) ([]int64, error) {
	if i < 0 || i >= int64(len(ends)) {
		return nil, fmt.Errorf("face %d of %d", i, len(ends))
	}
	lo := int64(0)
	if i > 0 {
		lo = ends[i-1]
	}
	if lo < 0 || ends[i] < lo || ends[i] > int64(len(list)) {
		return nil, fmt.Errorf("face %d: offset %d is out of order", i, ends[i])
	}
	return list[lo:ends[i]], nil
}

func (d *document) polyCells(g *grid.Grid, n *node) error {
	var lists [4]cellRows
	for i, kind := range [...]string{"Verts", "Lines", "Polys", "Strips"} {
		count, err := countAttr(n, "NumberOf"+kind)
		if err != nil {
			return err
		}
		if lists[i], err = d.rows(n.kid(kind), count); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	joinRows(g, lists)
	return nil
}
