// Package grid is the model of a simulation mesh: points, cells, the arrays on
// them, blocks and refinement levels. It knows no file format; the readers in
// internal/formats fill it and internal/domain/mesh asks it questions.
package grid

import (
	"fmt"
	"math"
)

// Layout says how a Grid stores its points and cells.
type Layout uint8

// The layouts, named as VTK names its data sets.
const (
	Image        Layout = iota // origin and spacing
	Rectilinear                // one coordinate list per axis
	Structured                 // explicit points, implicit cells
	Unstructured               // explicit points and cells
	Poly                       // explicit points; cells of dimension 0 to 2
)

var layoutNames = [...]string{"image", "rectilinear", "structured", "unstructured", "poly"}

// String returns the layout's name.
func (l Layout) String() string { return layoutNames[l] }

// Grid is one piece of a mesh.
type Grid struct {
	Layout Layout

	// Extent is first and last point index of each axis of the three layouts
	// with implicit cells. An axis with last < first makes the grid empty.
	Extent [6]int
	// Origin, Spacing and Direction (row-major) place the points of an Image.
	Origin, Spacing [3]float64
	Direction       [9]float64
	Axes            [3]Array // coordinates of a Rectilinear grid

	Points Array // 3 components; Structured, Unstructured, Poly

	Types   []CellType
	Offsets []int   // len(Types)+1 positions in Conn
	Conn    []int32 // point numbers of the cells, one cell after another
	// Faces holds, for each polyhedron, "number of faces" and then for each
	// face "number of points, points…"; FaceStart its position per cell, -1
	// for other shapes. Both nil when the grid has no polyhedra.
	Faces     []int32
	FaceStart []int

	PointData, CellData, FieldData []Array
}

// Dims returns the number of points on each axis of an implicit layout.
func (g *Grid) Dims() [3]int {
	var d [3]int
	for a := range d {
		d[a] = max(0, g.Extent[2*a+1]-g.Extent[2*a]+1)
	}
	return d
}

// implicit reports whether cells follow from the extent.
func (g *Grid) implicit() bool { return g.Layout <= Structured }

// CellDims returns the number of cells on each axis of an implicit layout;
// a flat axis (one point) counts as one cell.
func (g *Grid) CellDims() [3]int {
	d := g.Dims()
	for a := range d {
		if d[a] > 1 {
			d[a]--
		}
	}
	return d
}

// NumPoints returns the number of points.
func (g *Grid) NumPoints() int {
	if g.Layout == Image || g.Layout == Rectilinear {
		d := g.Dims()
		return d[0] * d[1] * d[2]
	}
	return g.Points.Len()
}

// NumCells returns the number of cells.
func (g *Grid) NumCells() int {
	if !g.implicit() {
		return len(g.Types)
	}
	d := g.CellDims()
	return d[0] * d[1] * d[2]
}

// Point returns the position of point i.
func (g *Grid) Point(i int) [3]float64 {
	switch g.Layout {
	case Image:
		return g.imagePoint(i)
	case Rectilinear:
		ijk := g.pointIndex(i)
		return [3]float64{g.Axes[0].At(ijk[0]), g.Axes[1].At(ijk[1]), g.Axes[2].At(ijk[2])}
	}
	switch p := g.Points.Data.(type) {
	case []float32:
		return [3]float64{float64(p[3*i]), float64(p[3*i+1]), float64(p[3*i+2])}
	case []float64:
		return [3]float64{p[3*i], p[3*i+1], p[3*i+2]}
	}
	return [3]float64{g.Points.At(3 * i), g.Points.At(3*i + 1), g.Points.At(3*i + 2)}
}

func (g *Grid) pointIndex(i int) [3]int {
	d := g.Dims()
	return [3]int{i % d[0], i / d[0] % d[1], i / (d[0] * d[1])}
}

func (g *Grid) imagePoint(i int) [3]float64 {
	ijk := g.pointIndex(i)
	var step [3]float64
	for a := range step {
		step[a] = float64(g.Extent[2*a]+ijk[a]) * g.Spacing[a]
	}
	if g.Direction == ([9]float64{}) || g.Direction == identity {
		return [3]float64{g.Origin[0] + step[0], g.Origin[1] + step[1], g.Origin[2] + step[2]}
	}
	p := g.Origin
	for r := range p {
		for c := range step {
			p[r] += g.Direction[3*r+c] * step[c]
		}
	}
	return p
}

var identity = [9]float64{1, 0, 0, 0, 1, 0, 0, 0, 1}

// Cell returns shape and points of cell i. The slice is buf or aliases the
// grid; it is valid until the next call with the same buf.
func (g *Grid) Cell(i int, buf []int32) (CellType, []int32) {
	if !g.implicit() {
		return g.Types[i], g.Conn[g.Offsets[i]:g.Offsets[i+1]]
	}
	d, c := g.Dims(), g.CellDims()
	at := [3]int{i % c[0], i / c[0] % c[1], i / (c[0] * c[1])}
	base := int32(at[0] + d[0]*(at[1]+d[1]*at[2]))
	stride := [3]int32{1, int32(d[0]), int32(d[0] * d[1])}
	buf = append(buf[:0], base)
	dim := 0
	for a := range d {
		if d[a] > 1 {
			for _, id := range buf[:len(buf):len(buf)] {
				buf = append(buf, id+stride[a])
			}
			dim++
		}
	}
	if g.Layout == Structured { // quads and hexahedra walk around, pixels and voxels do not
		for k := 2; k+1 < len(buf); k += 4 {
			buf[k], buf[k+1] = buf[k+1], buf[k]
		}
		return [...]CellType{Vertex, Line, Quad, Hexahedron}[dim], buf
	}
	return [...]CellType{Vertex, Line, Pixel, Voxel}[dim], buf
}

// CellFaces calls visit with the outward faces of a solid cell. Cells that are
// not solids have no faces.
func (g *Grid) CellFaces(i int, scratch *Scratch, visit func(face []int32)) {
	t, ids := g.Cell(i, scratch.cell)
	scratch.cell = ids[:0:cap(ids)]
	if !g.implicit() {
		scratch.cell = nil // ids alias the grid: never write into them
	}
	t, ids = Linear(t, ids)
	switch t {
	case Polyhedron:
		g.polyhedronFaces(i, visit)
	case ConvexPointSet:
		g.hullFaces(ids, visit)
	default:
		for _, f := range faces[t] {
			face := scratch.face[:0]
			for _, k := range f {
				face = append(face, ids[k])
			}
			scratch.face = face
			visit(face)
		}
	}
}

// Scratch is memory that CellFaces reuses between calls.
type Scratch struct{ cell, face []int32 }

func (g *Grid) polyhedronFaces(i int, visit func([]int32)) {
	if g.FaceStart == nil || g.FaceStart[i] < 0 {
		return
	}
	f := g.Faces[g.FaceStart[i]:]
	n := int(f[0])
	f = f[1:]
	for range n {
		k := int(f[0])
		visit(f[1 : 1+k])
		f = f[1+k:]
	}
}

// Check verifies what the accessors rely on: every point number, offset and
// array length is in range. Readers call it before they hand a grid out.
func (g *Grid) Check() error {
	if err := g.checkSize(); err != nil {
		return err
	}
	np := g.NumPoints()
	if g.Layout == Structured {
		if d := g.Dims(); d[0]*d[1]*d[2] != np {
			return fmt.Errorf("structured grid of %d x %d x %d points has coordinates for %d", d[0], d[1], d[2], np)
		}
	}
	if g.Layout == Rectilinear {
		for a, n := range g.Dims() {
			if g.Axes[a].Values() != n {
				return fmt.Errorf("axis %d has %d coordinates; the extent wants %d", a, g.Axes[a].Values(), n)
			}
		}
	}
	if !g.implicit() {
		if err := g.checkCells(np); err != nil {
			return err
		}
	}
	if err := checkArrays("point", g.PointData, np); err != nil {
		return err
	}
	return checkArrays("cell", g.CellData, g.NumCells())
}

// MaxCells bounds one grid. An implicit grid of any size fits in a line of
// text, and what is computed per cell afterwards must fit in memory.
const MaxCells = 1 << 28

func (g *Grid) checkSize() error {
	if !g.implicit() {
		if len(g.Types) > MaxCells || g.Points.Values()/3 > math.MaxInt32 {
			return fmt.Errorf("grid has %d cells and %d points; at most %d cells are supported", len(g.Types), g.Points.Len(), MaxCells)
		}
		return nil
	}
	n := 1
	for a := 0; a < 3; a++ {
		lo, hi := g.Extent[2*a], g.Extent[2*a+1]
		if lo < -1<<40 || hi > 1<<40 {
			return fmt.Errorf("extent %v is out of range", g.Extent)
		}
		k := max(0, hi-lo+1)
		if n *= min(k, 2*MaxCells+1); n > 2*MaxCells {
			return fmt.Errorf("extent %v has too many cells; at most %d are supported", g.Extent, MaxCells)
		}
	}
	return nil
}

func checkArrays(what string, list []Array, n int) error {
	for i := range list {
		if a := &list[i]; a.Len() != n || a.Values() != n*a.Comps {
			return fmt.Errorf("%s array %q has %d tuples, the grid has %d %ss", what, a.Name, a.Len(), n, what)
		}
	}
	return nil
}

func (g *Grid) checkCells(points int) error {
	if len(g.Offsets) != len(g.Types)+1 {
		return fmt.Errorf("%d cells have %d offsets, want one more than cells", len(g.Types), len(g.Offsets))
	}
	last := 0
	for i, o := range g.Offsets {
		if o < last || o > len(g.Conn) || i == 0 && o != 0 {
			return fmt.Errorf("cell %d: offset %d is out of order or beyond the %d point numbers", i, o, len(g.Conn))
		}
		last = o
	}
	for i, id := range g.Conn[:last] {
		if id < 0 || int(id) >= points {
			return fmt.Errorf("point number %d at position %d; the grid has %d points", id, i, points)
		}
	}
	for i, t := range g.Types {
		n := g.Offsets[i+1] - g.Offsets[i]
		if !t.Known() {
			return fmt.Errorf("cell %d has type %d, which VTK does not define", i, t)
		}
		if want := t.Nodes(); want > 0 && n != want || n < t.corners() {
			return fmt.Errorf("cell %d is a %s of %d points, want %d", i, t, n, max(want, t.corners()))
		}
	}
	return g.checkFaces(points)
}

func (g *Grid) checkFaces(points int) error {
	if g.FaceStart == nil {
		return nil
	}
	if len(g.FaceStart) != len(g.Types) {
		return fmt.Errorf("%d cells have %d face offsets", len(g.Types), len(g.FaceStart))
	}
	for i, start := range g.FaceStart {
		if start < 0 {
			continue
		}
		if err := g.checkPolyhedron(start, points); err != nil {
			return fmt.Errorf("faces of cell %d: %w", i, err)
		}
	}
	return nil
}

func (g *Grid) checkPolyhedron(at, points int) error {
	if at >= len(g.Faces) {
		return fmt.Errorf("start %d is beyond the %d face entries", at, len(g.Faces))
	}
	n := int(g.Faces[at])
	at++
	for range n {
		if at >= len(g.Faces) {
			return fmt.Errorf("list ends after %d of %d faces", at, n)
		}
		k := int(g.Faces[at])
		at++
		if k < 0 || k > len(g.Faces)-at {
			return fmt.Errorf("a face of %d points, %d entries left", k, len(g.Faces)-at)
		}
		for _, id := range g.Faces[at : at+k] {
			if id < 0 || int(id) >= points {
				return fmt.Errorf("point number %d; the grid has %d points", id, points)
			}
		}
		at += k
	}
	return nil
}
