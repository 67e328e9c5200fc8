package grid

// CellType is VTK's number for the shape of a cell (vtkCellType.h).
type CellType uint8

// The linear shapes. Every other shape of VTK is a higher-order form of one
// of these and starts with the same corners.
const (
	Empty           CellType = 0
	Vertex          CellType = 1
	PolyVertex      CellType = 2
	Line            CellType = 3
	PolyLine        CellType = 4
	Triangle        CellType = 5
	TriangleStrip   CellType = 6
	Polygon         CellType = 7
	Pixel           CellType = 8
	Quad            CellType = 9
	Tetra           CellType = 10
	Voxel           CellType = 11
	Hexahedron      CellType = 12
	Wedge           CellType = 13
	Pyramid         CellType = 14
	PentagonalPrism CellType = 15
	HexagonalPrism  CellType = 16
	ConvexPointSet  CellType = 41
	Polyhedron      CellType = 42
)

// shape describes one VTK cell type.
type shape struct {
	name   string
	linear CellType // the shape its corners make
	dim    int8     // topological dimension
	nodes  int16    // required number of points, 0 = any
}

// shapes follows vtkCellType.h. The curved types list their corners first, so
// the first points of a cell are the cell of type linear.
var shapes = map[CellType]shape{
	Empty: {"empty", Empty, 0, 0}, Vertex: {"vertex", Vertex, 0, 1}, PolyVertex: {"poly-vertex", PolyVertex, 0, 0},
	Line: {"line", Line, 1, 2}, PolyLine: {"poly-line", PolyLine, 1, 0}, Triangle: {"triangle", Triangle, 2, 3},
	TriangleStrip: {"triangle strip", TriangleStrip, 2, 0}, Polygon: {"polygon", Polygon, 2, 0},
	Pixel: {"pixel", Pixel, 2, 4}, Quad: {"quad", Quad, 2, 4}, Tetra: {"tetrahedron", Tetra, 3, 4},
	Voxel: {"voxel", Voxel, 3, 8}, Hexahedron: {"hexahedron", Hexahedron, 3, 8}, Wedge: {"wedge", Wedge, 3, 6},
	Pyramid: {"pyramid", Pyramid, 3, 5}, PentagonalPrism: {"pentagonal prism", PentagonalPrism, 3, 10},
	HexagonalPrism: {"hexagonal prism", HexagonalPrism, 3, 12},
	21:             {"quadratic edge", Line, 1, 3}, 22: {"quadratic triangle", Triangle, 2, 6},
	23: {"quadratic quad", Quad, 2, 8}, 24: {"quadratic tetrahedron", Tetra, 3, 10},
	25: {"quadratic hexahedron", Hexahedron, 3, 20}, 26: {"quadratic wedge", Wedge, 3, 15},
	27: {"quadratic pyramid", Pyramid, 3, 13}, 28: {"biquadratic quad", Quad, 2, 9},
	29: {"triquadratic hexahedron", Hexahedron, 3, 27}, 30: {"quadratic linear quad", Quad, 2, 6},
	31: {"quadratic linear wedge", Wedge, 3, 12}, 32: {"biquadratic quadratic wedge", Wedge, 3, 18},
	33: {"biquadratic quadratic hexahedron", Hexahedron, 3, 24}, 34: {"biquadratic triangle", Triangle, 2, 7},
	35: {"cubic line", Line, 1, 4}, 36: {"quadratic polygon", Polygon, 2, 0},
	37:             {"triquadratic pyramid", Pyramid, 3, 19},
	ConvexPointSet: {"convex point set", ConvexPointSet, 3, 0}, Polyhedron: {"polyhedron", Polyhedron, 3, 0},
	60: {"higher-order edge", Line, 1, 0}, 61: {"higher-order triangle", Triangle, 2, 0},
	62: {"higher-order quad", Quad, 2, 0}, 63: {"higher-order polygon", Polygon, 2, 0},
	64: {"higher-order tetrahedron", Tetra, 3, 0}, 65: {"higher-order wedge", Wedge, 3, 0},
	66: {"higher-order pyramid", Pyramid, 3, 0}, 67: {"higher-order hexahedron", Hexahedron, 3, 0},
	68: {"Lagrange curve", Line, 1, 0}, 69: {"Lagrange triangle", Triangle, 2, 0}, 70: {"Lagrange quad", Quad, 2, 0},
	71: {"Lagrange tetrahedron", Tetra, 3, 0}, 72: {"Lagrange hexahedron", Hexahedron, 3, 0},
	73: {"Lagrange wedge", Wedge, 3, 0}, 74: {"Lagrange pyramid", Pyramid, 3, 0},
	75: {"Bezier curve", Line, 1, 0}, 76: {"Bezier triangle", Triangle, 2, 0}, 77: {"Bezier quad", Quad, 2, 0},
	78: {"Bezier tetrahedron", Tetra, 3, 0}, 79: {"Bezier hexahedron", Hexahedron, 3, 0},
	80: {"Bezier wedge", Wedge, 3, 0}, 81: {"Bezier pyramid", Pyramid, 3, 0},
}

// Known reports whether VTK defines the type.
func (t CellType) Known() bool { _, ok := shapes[t]; return ok }

// String returns the shape's name.
func (t CellType) String() string {
	if s, ok := shapes[t]; ok {
		return s.name
	}
	return "unknown cell"
}

// Dim returns the topological dimension, 0 to 3.
func (t CellType) Dim() int { return int(shapes[t].dim) }

// Nodes returns how many points a cell of the type has, 0 when it varies.
func (t CellType) Nodes() int { return int(shapes[t].nodes) }

// corners is the number of points of the linear shapes with a fixed number.
func (t CellType) corners() int {
	switch s := shapes[t]; s.linear {
	case PolyVertex, PolyLine, TriangleStrip, Polygon, ConvexPointSet, Polyhedron, Empty:
		return 0
	default:
		return int(shapes[s.linear].nodes)
	}
}

// Linear returns the shape and points of a cell with straight edges: the
// corners of a curved cell, everything of a linear one.
func Linear(t CellType, ids []int32) (CellType, []int32) {
	s, ok := shapes[t]
	if !ok {
		return Empty, nil
	}
	if t == 36 { // a quadratic polygon lists n corners, then n edge midpoints
		return Polygon, ids[:len(ids)/2]
	}
	n := t.corners()
	if n == 0 {
		return s.linear, ids
	}
	if len(ids) < n {
		return Empty, nil
	}
	return s.linear, ids[:n]
}

// faces of the linear solids in local point numbers, outward by the right-hand
// rule when the cell is not inverted (vtkHexahedron.cxx and its siblings).
var faces = map[CellType][][]int8{
	Tetra: {{0, 1, 3}, {1, 2, 3}, {2, 0, 3}, {0, 2, 1}},
	Voxel: {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}},
	Hexahedron: {{0, 4, 7, 3}, {1, 2, 6, 5}, {0, 1, 5, 4}, {3, 7, 6, 2}, {0, 3, 2, 1},
		{4, 5, 6, 7}},
	Wedge:   {{0, 1, 2}, {3, 5, 4}, {0, 3, 4, 1}, {1, 4, 5, 2}, {2, 5, 3, 0}},
	Pyramid: {{0, 3, 2, 1}, {0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}},
	PentagonalPrism: {{0, 4, 3, 2, 1}, {5, 6, 7, 8, 9}, {0, 1, 6, 5}, {1, 2, 7, 6}, {2, 3, 8, 7},
		{3, 4, 9, 8}, {4, 0, 5, 9}},
	HexagonalPrism: {{0, 5, 4, 3, 2, 1}, {6, 7, 8, 9, 10, 11}, {0, 1, 7, 6}, {1, 2, 8, 7}, {2, 3, 9, 8},
		{3, 4, 10, 9}, {4, 5, 11, 10}, {5, 0, 6, 11}},
}
