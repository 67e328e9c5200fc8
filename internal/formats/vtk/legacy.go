package vtk

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/grid"
)

// legacy reads one file of the format that starts "# vtk DataFile Version".
// The keyword blocks are those of vtkDataReader.cxx and its subclasses.
type legacy struct {
	buf    []byte
	pos    int
	binary bool
	grid   *grid.Grid
	polys  [4]cellRows // verts, lines, polygons, strips: the order VTK numbers them
	target *[]grid.Array
	want   int // tuples of target's arrays, -1 for field data
	warn   []string
}

// ReadLegacy reads a legacy VTK file from memory.
func ReadLegacy(buf []byte) (*grid.Mesh, error) {
	r := &legacy{buf: buf}
	if err := r.read(); err != nil {
		return nil, fmt.Errorf("byte %d: %w", r.pos, err)
	}
	m := &grid.Mesh{Blocks: []grid.Block{{Grid: r.grid}}, Warnings: r.warn}
	m.Stamp()
	return m, m.Check()
}

func (r *legacy) read() error {
	first := r.line()
	version, ok := bytes.CutPrefix(first, []byte("# vtk DataFile Version"))
	if !ok {
		return errors.New(`not a legacy VTK file: it does not start with "# vtk DataFile Version"`)
	}
	r.line() // title: anything
	switch mode := strings.ToUpper(r.word()); mode {
	case "ASCII":
	case "BINARY":
		r.binary = true
	default:
		return fmt.Errorf("the title is followed by %q, want ASCII or BINARY", term.ClipEnd(mode, 25))
	}
	r.grid = &grid.Grid{Spacing: [3]float64{1, 1, 1}}
	dataset := false
	for {
		word := strings.ToUpper(r.word())
		if word == "" {
			break
		}
		dataset = dataset || word == "DATASET"
		err := r.block(word)
		if err != nil && r.target != nil {
			// The mesh itself is there, and nothing tells where the next variable begins.
			r.warn = append(r.warn, fmt.Sprintf("byte %d: %s: %v; it and what follows are left out", r.pos, word, err))
			break
		}
		if err != nil {
			return fmt.Errorf("%s: %w", word, err)
		}
	}
	if !dataset {
		return errors.New("no DATASET block")
	}
	if r.grid.Layout == grid.Poly {
		joinRows(r.grid, r.polys)
	}
	if before(string(version), 5, 1) {
		renumberHexahedra(r.grid)
	}
	return nil
}

func (r *legacy) block(word string) error {
	g := r.grid
	switch word {
	case "DATASET":
		return r.dataset(strings.ToUpper(r.word()))
	case "DIMENSIONS":
		return r.dimensions()
	case "EXTENT":
		return r.ints(g.Extent[:])
	case "SPACING", "ASPECT_RATIO":
		return r.reals(g.Spacing[:])
	case "ORIGIN":
		return r.reals(g.Origin[:])
	case "POINTS":
		return r.points()
	case "X_COORDINATES", "Y_COORDINATES", "Z_COORDINATES":
		return r.axis(int(word[0] - 'X'))
	case "CELLS":
		return r.cells()
	case "CELL_TYPES":
		return r.cellTypes()
	case "VERTICES", "LINES", "POLYGONS", "TRIANGLE_STRIPS":
		rows, err := r.rows()
		r.polys[strings.Index("VLPT", word[:1])] = rows
		return err
	case "POINT_DATA":
		n, err := r.count(0)
		r.target, r.want = &g.PointData, n
		return err
	case "CELL_DATA":
		n, err := r.count(0)
		r.target, r.want = &g.CellData, n
		return err
	case "METADATA":
		r.metadata()
		return nil
	}
	return r.attribute(word)
}

func (r *legacy) dataset(kind string) error {
	layouts := map[string]grid.Layout{
		"STRUCTURED_POINTS": grid.Image, "STRUCTURED_GRID": grid.Structured, "RECTILINEAR_GRID": grid.Rectilinear,
		"UNSTRUCTURED_GRID": grid.Unstructured, "POLYDATA": grid.Poly,
	}
	l, ok := layouts[kind]
	if !ok {
		return fmt.Errorf("data set type %q is not a mesh; want STRUCTURED_POINTS, STRUCTURED_GRID, RECTILINEAR_GRID, UNSTRUCTURED_GRID or POLYDATA", term.ClipEnd(kind, 25))
	}
	r.grid.Layout = l
	if l == grid.Unstructured || l == grid.Poly {
		r.grid.Offsets = []int{0}
	}
	r.grid.Points = grid.Array{Comps: 3, Data: []float32{}}
	return nil
}

func (r *legacy) dimensions() error {
	var d [3]int
	if err := r.ints(d[:]); err != nil {
		return err
	}
	for a, n := range d {
		r.grid.Extent[2*a], r.grid.Extent[2*a+1] = 0, n-1
	}
	return nil
}

func (r *legacy) points() error {
	n, err := r.count(0)
	if err != nil {
		return err
	}
	a, err := r.values("Points", 3, n, r.word())
	r.grid.Points = a
	return err
}

func (r *legacy) axis(i int) error {
	n, err := r.count(0)
	if err != nil {
		return err
	}
	r.grid.Axes[i], err = r.values("axis", 1, n, r.word())
	return err
}

func (r *legacy) cells() error {
	rows, err := r.rows()
	r.grid.Conn, r.grid.Offsets = rows.conn, rows.offsets
	return err
}

func (r *legacy) cellTypes() error {
	n, err := r.count(0)
	if err != nil {
		return err
	}
	a, err := r.values("types", 1, n, "int")
	if err != nil {
		return err
	}
	r.grid.Types = make([]grid.CellType, n)
	for i, t := range a.Data.([]int32) {
		if t < 0 || t > 255 {
			return fmt.Errorf("cell %d has type %d", i, t)
		}
		r.grid.Types[i] = grid.CellType(t)
	}
	if len(r.grid.Offsets) == 0 {
		return errors.New("comes before CELLS")
	}
	return unpackPolyhedra(r.grid)
}

// cellRows is a list of cells without their types.
type cellRows struct {
	offsets []int
	conn    []int32
}

// rows reads "n size" and then either rows of "count id…" (before version 5)
// or an OFFSETS and a CONNECTIVITY array.
func (r *legacy) rows() (cellRows, error) {
	n, err := r.count(0)
	if err != nil {
		return cellRows{}, err
	}
	size, err := r.count(0)
	if err != nil {
		return cellRows{}, err
	}
	at := r.pos
	if strings.EqualFold(r.word(), "OFFSETS") {
		return r.offsetRows(n, size)
	}
	r.pos = at
	a, err := r.values("cells", 1, size, "int")
	if err != nil {
		return cellRows{}, err
	}
	return splitRows(a.Data.([]int32), n)
}

func splitRows(flat []int32, n int) (cellRows, error) {
	if n > len(flat) {
		return cellRows{}, fmt.Errorf("%d cells in %d numbers", n, len(flat))
	}
	rows := cellRows{offsets: make([]int, 1, n+1), conn: make([]int32, 0, len(flat)-n)}
	for i := range n {
		if len(flat) == 0 {
			return rows, fmt.Errorf("list ends after %d of %d cells", i, n)
		}
		k := int(flat[0])
		if k < 0 || k >= len(flat) {
			return rows, fmt.Errorf("cell %d has %d points, %d numbers are left", i, k, len(flat)-1)
		}
		rows.conn = append(rows.conn, flat[1:1+k]...)
		rows.offsets = append(rows.offsets, len(rows.conn))
		flat = flat[1+k:]
	}
	return rows, nil
}

func (r *legacy) offsetRows(n, size int) (cellRows, error) {
	off, err := r.values("offsets", 1, n, r.word())
	if err != nil {
		return cellRows{}, err
	}
	if w := r.word(); !strings.EqualFold(w, "CONNECTIVITY") {
		return cellRows{}, fmt.Errorf("OFFSETS is followed by %q, want CONNECTIVITY", term.ClipEnd(w, 25))
	}
	conn, err := r.values("connectivity", 1, size, r.word())
	if err != nil {
		return cellRows{}, err
	}
	return rowsOf(&off, &conn, true)
}

// rowsOf makes rows of an offset and a connectivity array. With lead the
// offsets start with 0; without it they are the ends of the cells.
func rowsOf(off, conn *grid.Array, lead bool) (cellRows, error) {
	ends, err := off.Int64s()
	if err != nil {
		return cellRows{}, err
	}
	rows := cellRows{offsets: make([]int, 0, len(ends)+1)}
	if !lead || len(ends) == 0 {
		rows.offsets = append(rows.offsets, 0)
	}
	for _, e := range ends {
		rows.offsets = append(rows.offsets, int(e))
	}
	rows.conn, err = pointNumbers(conn)
	return rows, err
}

// pointNumbers converts a connectivity array to 32-bit point numbers.
func pointNumbers(a *grid.Array) ([]int32, error) {
	if d, ok := a.Data.([]int32); ok {
		return d, nil
	}
	wide, err := a.Int64s()
	if err != nil {
		return nil, err
	}
	out := make([]int32, len(wide))
	for i, v := range wide {
		if v < 0 || v > 1<<31-1 {
			return nil, fmt.Errorf("point number %d at position %d does not fit 31 bits", v, i)
		}
		out[i] = int32(v)
	}
	return out, nil
}

// joinRows makes the cells of a Poly grid from its four lists, in the order
// VTK numbers them: vertices, lines, polygons, strips.
func joinRows(g *grid.Grid, lists [4]cellRows) {
	g.Offsets = []int{0}
	for kind, rows := range lists {
		for i := 0; i+1 < len(rows.offsets); i++ {
			n := rows.offsets[i+1] - rows.offsets[i]
			if n < 0 || rows.offsets[i] < 0 || rows.offsets[i+1] > len(rows.conn) {
				// Left for Check, which names the place.
				g.Offsets = append(g.Offsets, -1)
				g.Types = append(g.Types, grid.Empty)
				continue
			}
			g.Conn = append(g.Conn, rows.conn[rows.offsets[i]:rows.offsets[i+1]]...)
			g.Offsets = append(g.Offsets, len(g.Conn))
			g.Types = append(g.Types, polyType(kind, n))
		}
	}
}

// polyType is the shape vtkPolyData gives a cell of n points in each list.
func polyType(kind, n int) grid.CellType {
	switch {
	case kind == 0 && n == 1:
		return grid.Vertex
	case kind == 0:
		return grid.PolyVertex
	case kind == 1 && n == 2:
		return grid.Line
	case kind == 1:
		return grid.PolyLine
	case kind == 3:
		return grid.TriangleStrip
	case n == 3:
		return grid.Triangle
	case n == 4:
		return grid.Quad
	}
	return grid.Polygon
}

// unpackPolyhedra moves the face streams that legacy files keep in the cell
// rows of polyhedra ("faces, points of face, ids…") to the grid's own list and
// leaves the distinct points of each polyhedron, as VTK does.
func unpackPolyhedra(g *grid.Grid) error {
	has := false
	for _, t := range g.Types {
		has = has || t == grid.Polyhedron
	}
	if !has {
		return nil
	}
	if len(g.Offsets) != len(g.Types)+1 {
		return fmt.Errorf("%d types for %d cells", len(g.Types), len(g.Offsets)-1)
	}
	g.FaceStart = make([]int, len(g.Types))
	conn, offsets := make([]int32, 0, len(g.Conn)), []int{0}
	for i, t := range g.Types {
		lo, hi := g.Offsets[i], g.Offsets[i+1]
		if lo < 0 || hi < lo || hi > len(g.Conn) {
			return fmt.Errorf("cell %d: offsets %d and %d are out of order", i, lo, hi)
		}
		row := g.Conn[lo:hi]
		g.FaceStart[i] = -1
		if t == grid.Polyhedron {
			g.FaceStart[i] = len(g.Faces)
			g.Faces = append(g.Faces, row...)
			conn = appendDistinct(conn, row)
		} else {
			conn = append(conn, row...)
		}
		offsets = append(offsets, len(conn))
	}
	g.Conn, g.Offsets = conn, offsets
	return nil
}

// appendDistinct appends the points of a face stream once each, in ascending
// order.
func appendDistinct(conn, stream []int32) []int32 {
	var ids []int32
	for at := 1; at < len(stream); {
		k := int(stream[at])
		at++
		for ; k > 0 && at < len(stream); k, at = k-1, at+1 {
			ids = append(ids, stream[at])
		}
	}
	slices.Sort(ids)
	return append(conn, slices.Compact(ids)...)
}

// before reports whether a version "major.minor" is older than another.
func before(version string, major, minor int) bool {
	a, b, _ := strings.Cut(strings.TrimSpace(version), ".")
	x, errX := strconv.Atoi(a)
	y, errY := strconv.Atoi(b)
	return errX == nil && errY == nil && (x < major || x == major && y < minor)
}

// renumberHexahedra swaps the points of the last two vertical edges of
// Lagrange and Bezier hexahedra: VTK 9 changed their order, and reads older
// files so.
func renumberHexahedra(g *grid.Grid) {
	const lagrange, bezier = 72, 79
	for i, t := range g.Types {
		if t != lagrange && t != bezier || i+1 >= len(g.Offsets) {
			continue
		}
		lo, hi := g.Offsets[i], g.Offsets[i+1]
		inner := int(math.Round(math.Cbrt(float64(hi-lo)))) - 2 // points inside an edge
		if lo < 0 || hi > len(g.Conn) || inner < 1 || (inner+2)*(inner+2)*(inner+2) != hi-lo {
			continue
		}
		edge := g.Conn[lo+8+10*inner : lo+8+12*inner]
		for k := range inner {
			edge[k], edge[inner+k] = edge[inner+k], edge[k]
		}
	}
}

// decode undoes the percent escapes of names in legacy files.
func decode(name string) string {
	if !strings.Contains(name, "%") {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		if name[i] == '%' && i+2 < len(name) {
			if v, err := strconv.ParseUint(name[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(v))
				i += 2
				continue
			}
		}
		b.WriteByte(name[i])
	}
	return b.String()
}
