package grid

import (
	"fmt"
	"reflect"
)

// Mesh is one dump of a simulation: the blocks of one instant.
type Mesh struct {
	Blocks []Block
	// Levels is set for adaptive refinement: the boxes of all blocks by level.
	Levels []Level
	// Cycle is the iteration the simulation wrote into the file; Time the
	// simulated time. The Has fields say whether the file knows them.
	Cycle    int64
	HasCycle bool
	Time     float64
	HasTime  bool
	Warnings []string // what was read only in part, and why
}

// Block is one grid of a mesh with its place in the collection.
type Block struct {
	Name  string
	Level int // refinement level; 0 without refinement
	Grid  *Grid
}

// Bytes is what the mesh takes in memory.
func (m *Mesh) Bytes() int64 {
	var sum int64
	for i := range m.Blocks {
		sum += m.Blocks[i].Grid.bytes()
	}
	return sum
}

func (g *Grid) bytes() int64 {
	sum := int64(len(g.Types)) + 8*int64(len(g.Offsets)+len(g.FaceStart)) + 4*int64(len(g.Conn)+len(g.Faces)) + g.Points.bytes()
	for i := range g.Axes {
		sum += g.Axes[i].bytes()
	}
	for _, list := range [][]Array{g.PointData, g.CellData, g.FieldData} {
		for i := range list {
			sum += list[i].bytes()
		}
	}
	return sum
}

// bytes is what the values take; of texts only their headers.
func (a *Array) bytes() int64 {
	if a.Data == nil {
		return 0
	}
	return int64(a.Values()) * int64(reflect.TypeOf(a.Data).Elem().Size())
}

// Box is a range of cells in a level's index space, both ends inclusive.
type Box struct{ Lo, Hi [3]int }

// Cells returns the number of cells in the box.
func (b Box) Cells() int {
	n := 1
	for a := range b.Lo {
		n *= max(0, b.Hi[a]-b.Lo[a]+1)
	}
	return n
}

// Contains reports whether the cell lies in the box.
func (b Box) Contains(c [3]int) bool {
	for a := range c {
		if c[a] < b.Lo[a] || c[a] > b.Hi[a] {
			return false
		}
	}
	return true
}

// Meet returns the common part of two boxes; ok is false when there is none.
func (b Box) Meet(o Box) (m Box, ok bool) {
	for a := range b.Lo {
		m.Lo[a], m.Hi[a] = max(b.Lo[a], o.Lo[a]), min(b.Hi[a], o.Hi[a])
		if m.Lo[a] > m.Hi[a] {
			return m, false
		}
	}
	return m, true
}

// Level is one refinement level: an index space and the boxes in it. Box i
// belongs to block First+i of the mesh. Boxes of one level do not overlap.
type Level struct {
	First   int
	Boxes   []Box
	Ratio   int // to the next finer level; 1 on the finest
	Origin  [3]float64
	Spacing [3]float64
	Domain  Box // index range of the whole level, the hull of its boxes when the file has none
	Dim     int // 2 or 3: a flat third axis is not refined
}

// Cells returns the number of cells of the level.
func (l *Level) Cells() int {
	n := 0
	for _, b := range l.Boxes {
		n += b.Cells()
	}
	return n
}

// Hull returns the smallest box around all boxes.
func Hull(boxes []Box) Box {
	if len(boxes) == 0 {
		return Box{Hi: [3]int{-1, -1, -1}}
	}
	h := boxes[0]
	for _, b := range boxes[1:] {
		for a := range h.Lo {
			h.Lo[a], h.Hi[a] = min(h.Lo[a], b.Lo[a]), max(h.Hi[a], b.Hi[a])
		}
	}
	return h
}

// coarsen returns the box of the next coarser level that b refines in whole
// or in part.
func coarsen(b Box, ratio, dim int) Box {
	for a := 0; a < dim; a++ {
		b.Lo[a], b.Hi[a] = floorDiv(b.Lo[a], ratio), floorDiv(b.Hi[a], ratio)
	}
	return b
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// Covered marks the cells of level l, in flat order, that a finer level
// refines: their values are stale and views hide them.
func (m *Mesh) Covered(l int) []bool {
	lev := &m.Levels[l]
	out := make([]bool, lev.Cells())
	if l+1 >= len(m.Levels) {
		return out
	}
	at := 0
	for _, box := range lev.Boxes {
		for _, fine := range m.Levels[l+1].Boxes {
			if cut, ok := box.Meet(coarsen(fine, max(1, lev.Ratio), lev.Dim)); ok {
				markBox(out[at:], box, cut)
			}
		}
		at += box.Cells()
	}
	return out
}

func markBox(out []bool, box, cut Box) {
	nx, ny := box.Hi[0]-box.Lo[0]+1, box.Hi[1]-box.Lo[1]+1
	for k := cut.Lo[2]; k <= cut.Hi[2]; k++ {
		for j := cut.Lo[1]; j <= cut.Hi[1]; j++ {
			row := nx * ((j - box.Lo[1]) + ny*(k-box.Lo[2]))
			for i := cut.Lo[0]; i <= cut.Hi[0]; i++ {
				out[row+i-box.Lo[0]] = true
			}
		}
	}
}

// NumCells returns the cells of all blocks.
func (m *Mesh) NumCells() int {
	n := 0
	for i := range m.Blocks {
		n += m.Blocks[i].Grid.NumCells()
	}
	return n
}

// NumPoints returns the points of all blocks.
func (m *Mesh) NumPoints() int {
	n := 0
	for i := range m.Blocks {
		n += m.Blocks[i].Grid.NumPoints()
	}
	return n
}

// Check verifies every block, and that levels and blocks agree.
func (m *Mesh) Check() error {
	for i := range m.Blocks {
		if err := m.Blocks[i].Grid.Check(); err != nil {
			if m.Blocks[i].Name != "" {
				return fmt.Errorf("block %s: %w", m.Blocks[i].Name, err)
			}
			return err
		}
	}
	at := 0
	for l := range m.Levels {
		lev := &m.Levels[l]
		if lev.First != at || at+len(lev.Boxes) > len(m.Blocks) {
			return fmt.Errorf("level %d: %d boxes from block %d; the mesh has %d blocks", l, len(lev.Boxes), lev.First, len(m.Blocks))
		}
		for i, b := range lev.Boxes {
			if n := m.Blocks[at+i].Grid.NumCells(); n != b.Cells() {
				return fmt.Errorf("level %d, box %d: the grid has %d cells, the box %d", l, i, n, b.Cells())
			}
		}
		at += len(lev.Boxes)
	}
	return nil
}

// Stamp takes cycle and time from the field data of the blocks, under the
// names that simulation codes and VTK's writers use.
func (m *Mesh) Stamp() {
	for i := range m.Blocks {
		for k := range m.Blocks[i].Grid.FieldData {
			a := &m.Blocks[i].Grid.FieldData[k]
			if a.Values() != 1 || a.Text() {
				continue
			}
			switch a.Name {
			case "CYCLE", "cycle", "Cycle", "ITERATION", "iteration", "Iteration":
				if v := a.At(0); !m.HasCycle && v == float64(int64(v)) {
					m.Cycle, m.HasCycle = int64(v), true
				}
			case "TIME", "time", "Time", "TimeValue":
				if !m.HasTime {
					m.Time, m.HasTime = a.At(0), true
				}
			}
		}
	}
}
