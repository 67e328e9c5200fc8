package mesh

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/grid"
)

// Space numbers the cells of a mesh: parts one after another, a part being a
// block, or a refinement level with its boxes in file order.
type Space struct {
	Cells int
	Parts []Part
	AMR   bool
}

// Part is a run of cells that a viewer asks for at once.
type Part struct {
	Name   string
	Domain int
	Level  int
	First  int // number of its first cell in the whole
	Cells  int
	// Dims are the cells per axis when cells are numbered by index, else zero.
	Dims [3]int
	// Lo is the index of the first cell; zero for blocks, which count from 0.
	Lo [3]int

	boxes *boxIndex // refinement levels
}

// NewSpace numbers the cells of a mesh.
func NewSpace(m *grid.Mesh) (*Space, error) {
	s := &Space{AMR: len(m.Levels) > 0}
	if s.AMR {
		for l := range m.Levels {
			p := Part{Name: fmt.Sprintf("level %d", l), Level: l, Cells: m.Levels[l].Cells(), boxes: newBoxIndex(m.Levels[l].Boxes)}
			s.add(p)
		}
	} else {
		for i := range m.Blocks {
			g := m.Blocks[i].Grid
			s.add(Part{Name: m.Blocks[i].Name, Domain: i, Cells: g.NumCells(), Dims: indexDims(g)})
		}
	}
	if s.Cells > math.MaxInt32 {
		return nil, fmt.Errorf("mesh has %d cells; at most %d can be numbered", s.Cells, math.MaxInt32)
	}
	return s, nil
}

func (s *Space) add(p Part) {
	p.First = s.Cells
	s.Cells += p.Cells
	s.Parts = append(s.Parts, p)
}

// Part returns the part of a domain and level, or nil.
func (s *Space) Part(domain, level int) *Part {
	for i := range s.Parts {
		if p := &s.Parts[i]; p.Domain == domain && p.Level == level {
			return p
		}
	}
	return nil
}

// PartOf returns the part of a cell and the cell's number in it.
func (s *Space) PartOf(cell int) (*Part, int) {
	for i := range s.Parts {
		if p := &s.Parts[i]; cell >= p.First && cell < p.First+p.Cells {
			return p, cell - p.First
		}
	}
	return nil, 0
}

// SetDims states how the cells of the only block are numbered.
func (s *Space) SetDims(d [3]int) error {
	if len(s.Parts) != 1 || s.AMR {
		return fmt.Errorf("dimensions can be stated for a mesh of one block; this one has %d parts", len(s.Parts))
	}
	if d[0] < 1 || d[1] < 1 || d[2] < 1 || d[0]*d[1]*d[2] != s.Cells {
		return fmt.Errorf("%d x %d x %d is not the %d cells of the mesh", d[0], d[1], d[2], s.Cells)
	}
	s.Parts[0].Dims = d
	return nil
}

// BoxHash identifies the boxes of an adaptive mesh: SHA-256 over the lines
// "level lo… hi…" in file order.
func BoxHash(m *grid.Mesh) string {
	h := sha256.New()
	for l := range m.Levels {
		for _, b := range m.Levels[l].Boxes {
			fmt.Fprintf(h, "%d", l)
			for a := range m.Levels[l].Dim {
				fmt.Fprintf(h, " %d", b.Lo[a])
			}
			for a := range m.Levels[l].Dim {
				fmt.Fprintf(h, " %d", b.Hi[a])
			}
			fmt.Fprintln(h)
		}
	}
	return fmt.Sprintf("sha256:%x", h.Sum(nil))
}

// indexDims returns the cells per axis of a grid whose cells are numbered x
// fastest: implicit grids, and unstructured boxes or rectangles that a
// structured code wrote, which is verified cell by cell.
func indexDims(g *grid.Grid) [3]int {
	if g.Layout <= grid.Structured {
		return g.CellDims()
	}
	n := len(g.Types)
	if n == 0 || !slices.Contains([]grid.CellType{grid.Hexahedron, grid.Voxel, grid.Quad, grid.Pixel}, g.Types[0]) {
		return [3]int{}
	}
	low := func(i int) int { return int(g.Conn[g.Offsets[i]]) }
	base := low(0)
	nx := run(n, func(i int) bool { return low(i) == base+i })
	ny := run(n/nx, func(j int) bool { return low(j*nx) == base+j*(nx+1) })
	nz := n / (nx * ny)
	if nx*ny*nz != n {
		return [3]int{}
	}
	for i := range n {
		x, y, z := i%nx, i/nx%ny, i/(nx*ny)
		if g.Types[i] != g.Types[0] || low(i) != base+x+(nx+1)*(y+(ny+1)*z) || int(g.Conn[g.Offsets[i]+1]) != low(i)+1 {
			return [3]int{}
		}
	}
	return [3]int{nx, ny, nz}
}

// run counts how many of the first numbers satisfy ok, at least 1.
func run(n int, ok func(int) bool) int {
	for i := 1; i < n; i++ {
		if !ok(i) {
			return i
		}
	}
	return max(1, n)
}

// boxIndex finds the box of a cell in a level, by tiles about the size of a
// box.
type boxIndex struct {
	boxes []grid.Box
	first []int32 // number of each box's first cell in the level
	tile  int
	at    map[[3]int32][]int32
}

func newBoxIndex(boxes []grid.Box) *boxIndex {
	b := &boxIndex{boxes: boxes, first: make([]int32, len(boxes)), tile: 1, at: map[[3]int32][]int32{}}
	cells := 0
	for i, box := range boxes {
		b.first[i] = int32(cells)
		cells += box.Cells()
		for a := range box.Lo {
			b.tile = max(b.tile, (box.Hi[a]-box.Lo[a]+1)/4)
		}
	}
	for i, box := range boxes {
		lo, hi := b.tileOf(box.Lo), b.tileOf(box.Hi)
		for z := lo[2]; z <= hi[2]; z++ {
			for y := lo[1]; y <= hi[1]; y++ {
				for x := lo[0]; x <= hi[0]; x++ {
					t := [3]int32{x, y, z}
					b.at[t] = append(b.at[t], int32(i))
				}
			}
		}
	}
	return b
}

func (b *boxIndex) tileOf(c [3]int) [3]int32 {
	var t [3]int32
	for a := range c {
		t[a] = int32(math.Floor(float64(c[a]) / float64(b.tile)))
	}
	return t
}

// cell returns the number of a cell within its level, or -1.
func (b *boxIndex) cell(c [3]int) int32 {
	for _, i := range b.at[b.tileOf(c)] {
		if box := b.boxes[i]; box.Contains(c) {
			nx, ny := box.Hi[0]-box.Lo[0]+1, box.Hi[1]-box.Lo[1]+1
			return b.first[i] + int32(c[0]-box.Lo[0]+nx*(c[1]-box.Lo[1]+ny*(c[2]-box.Lo[2])))
		}
	}
	return -1
}

// Describe says in one line what a mesh consists of.
func (s *Space) Describe() string {
	var parts []string
	for _, p := range s.Parts[:min(len(s.Parts), 4)] {
		text := fmt.Sprintf("%d cells", p.Cells)
		if p.Dims != ([3]int{}) {
			text += fmt.Sprintf(" (%d x %d x %d)", p.Dims[0], p.Dims[1], p.Dims[2])
		}
		parts = append(parts, strings.TrimSpace(p.Name+" "+text))
	}
	if len(s.Parts) > 4 {
		parts = append(parts, fmt.Sprintf("… %d parts", len(s.Parts)))
	}
	return strings.Join(parts, ", ")
}
