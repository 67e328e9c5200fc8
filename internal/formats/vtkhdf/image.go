package vtkhdf

import (
	"fmt"
	"path"

	"github.com/isobath/isobath/internal/data/grid"
)

// image reads an ImageData file. Its arrays have the shape of the grid, so
// only vectors have one dimension more; with time steps the first dimension
// counts what is stored, and Steps says which of it a step has.
func (r *reader) image(m *grid.Mesh) error {
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
	m.Blocks = append(m.Blocks, grid.Block{Grid: g})
	return nil
}

func (r *reader) shaped(group string, n int) ([]grid.Array, error) {
	return r.arrays(group, func(name string) (grid.Array, error) {
		v, err := r.value(group + "/" + name)
		if err != nil {
			return grid.Array{}, err
		}
		row, timed, err := r.stepEntry(group + "Offsets/" + name)
		if err != nil {
			return grid.Array{}, err
		}
		if timed {
			if v, err = v.Row(row); err != nil {
				return grid.Array{}, err
			}
		}
		a, err := toArray(name, v)
		if err != nil {
			return a, err
		}
		if n <= 0 || a.Values()%n != 0 || a.Values() == 0 {
			return a, fmt.Errorf("%d values for %d places", a.Values(), n)
		}
		a.Comps = a.Values() / n
		return a, nil
	})
}

// amr reads the levels of an OverlappingAMR file: boxes as rows of six
// numbers, the values of all boxes of a level one after another.
func (r *reader) amr(m *grid.Mesh) error {
	var origin [3]float64
	if err := attrFloats(r.root, "Origin", origin[:]); err != nil {
		return err
	}
	for l := 0; r.root.HasLink(fmt.Sprintf("Level%d", l)); l++ {
		more, err := r.amrLevel(m, l, origin)
		if err != nil {
			return fmt.Errorf("level %d: %w", l, err)
		}
		if !more {
			break
		}
	}
	for l := 0; l+1 < len(m.Levels); l++ {
		if fine := m.Levels[l+1].Spacing[0]; fine > 0 {
			m.Levels[l].Ratio = int(min(1024, max(1, m.Levels[l].Spacing[0]/fine+0.5)))
		}
	}
	return nil
}

// amrLevel adds one level; false if it has no box at this time step, and so no
// finer level has.
func (r *reader) amrLevel(m *grid.Mesh, l int, origin [3]float64) (bool, error) {
	name := fmt.Sprintf("Level%d", l)
	o, err := r.f.Lookup(path.Join(r.base, name))
	if err != nil {
		return false, err
	}
	lev := grid.Level{First: len(m.Blocks), Ratio: 1, Dim: 3, Origin: origin}
	if err := attrFloats(o, "Spacing", lev.Spacing[:]); err != nil {
		return false, err
	}
	flat, err := r.boxes(name)
	if err != nil || len(flat) < 6 {
		return false, err
	}
	// VTK writes boxes in the plane of x and y as ending one before they begin in z.
	if flat[5] == flat[4]-1 {
		lev.Dim = 2
	}
	points, cells := 0, 0
	for ; len(flat) >= 6; flat = flat[6:] {
		box := grid.Box{Lo: [3]int{flat[0], flat[2], flat[4]}, Hi: [3]int{flat[1], flat[3], flat[5]}}
		if lev.Dim == 2 {
			if flat[5] != flat[4]-1 {
				return false, fmt.Errorf("box %d has thickness and those before have none", len(lev.Boxes))
			}
			box.Lo[2], box.Hi[2] = 0, 0
		}
		g := &grid.Grid{Layout: grid.Image, Spacing: lev.Spacing, Origin: origin}
		np, nc := 1, 1
		for a := range lev.Dim {
			n := box.Hi[a] - box.Lo[a] + 1
			if n < 1 || n > grid.MaxCells/nc {
				return false, fmt.Errorf("box %d goes from %d to %d along %c: boxes without thickness are read in the plane of x and y alone, and others need a cell on each axis", len(lev.Boxes), box.Lo[a], box.Hi[a], 'x'+a)
			}
			nc, np = nc*n, np*(n+1)
			g.Origin[a] += float64(box.Lo[a]) * lev.Spacing[a]
			g.Extent[2*a+1] = n
		}
		if g.PointData, err = r.levelData(name, "PointData", points, np); err != nil {
			return false, err
		}
		if g.CellData, err = r.levelData(name, "CellData", cells, nc); err != nil {
			return false, err
		}
		points, cells = points+np, cells+nc
		lev.Boxes = append(lev.Boxes, box)
		m.Blocks = append(m.Blocks, grid.Block{Name: fmt.Sprintf("level %d box %d", l, len(lev.Boxes)-1), Level: l, Grid: g})
	}
	lev.Domain = grid.Hull(lev.Boxes)
	m.Levels = append(m.Levels, lev)
	return true, nil
}

// boxes are those of a level at this time step, six numbers each. Version 2.2 of
// the format writes the names of the step's datasets without their last letters.
func (r *reader) boxes(level string) ([]int, error) {
	flat, err := r.ints(level + "/AMRBox")
	if err != nil {
		return nil, err
	}
	n, timed, err := r.stepEntry(level+"/NumberOfAMRBoxes", level+"/NumberOfAMRBox")
	if err != nil || !timed {
		return flat, err
	}
	first, err := r.offset(level+"/AMRBoxOffsets", level+"/AMRBoxOffset")
	if err != nil {
		return nil, err
	}
	if have := len(flat) / 6; first < 0 || n < 0 || first > have || n > have-first {
		return nil, fmt.Errorf("boxes %d to %d of %d", first, first+n, have)
	}
	return flat[6*first : 6*(first+n)], nil
}

// levelData reads the arrays of a box, which lie behind those of the boxes before
// it, and with time steps behind those of the steps before.
func (r *reader) levelData(level, group string, at, n int) ([]grid.Array, error) {
	group = level + "/" + group
	return r.arrays(group, func(name string) (grid.Array, error) {
		first, err := r.offset(group+"Offsets/"+name, group+"Offset/"+name)
		if err != nil {
			return grid.Array{}, err
		}
		return r.tuples(group+"/"+name, first+at, n)
	})
}
