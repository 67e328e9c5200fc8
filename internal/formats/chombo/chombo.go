// Package chombo reads the HDF5 plot files of the Chombo library: levels of
// boxes with cell data.
package chombo

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/hdf5"
)

// Format recognises Chombo plot files.
var Format = foreign.Format{Name: "chombo", Kind: kind.Mesh, Mesh: grid.OneDump(Read), Sniff: hdf5.Sniff(func(root *hdf5.Object) bool {
	return root.HasLink("Chombo_global") && root.HasLink("level_0")
})}

// maxLevels bounds the levels of a file; codes use about ten.
const maxLevels = 64

// Read reads one plot file.
func Read(path string) (*grid.Mesh, error) {
	f, err := hdf5.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return m, nil
}

func read(f *hdf5.File) (*grid.Mesh, error) {
	root, err := f.Root()
	if err != nil {
		return nil, err
	}
	dim, err := attrInt(f, "Chombo_global", "SpaceDim")
	if err != nil {
		return nil, err
	}
	levels, err := attrInt(f, "/", "num_levels")
	if err != nil {
		return nil, err
	}
	comps, err := attrInt(f, "/", "num_components")
	if err != nil {
		return nil, err
	}
	if dim < 1 || dim > 3 || levels < 0 || levels > maxLevels || comps < 0 || comps > 1<<16 {
		return nil, fmt.Errorf("%d dimensions, %d levels, %d components cannot be", dim, levels, comps)
	}
	names := make([]string, comps)
	for i := range names {
		v, err := root.Attr(fmt.Sprintf("component_%d", i))
		if err != nil {
			return nil, err
		}
		names[i] = v.Text()
	}
	m := &grid.Mesh{}
	stamp(m, root)
	for l := range levels {
		if err := readLevel(m, f, l, dim, names); err != nil {
			return nil, fmt.Errorf("level_%d: %w", l, err)
		}
	}
	return m, m.Check()
}

func stamp(m *grid.Mesh, root *hdf5.Object) {
	if v, err := root.Attr("iteration"); err == nil {
		if n, err := v.Int(); err == nil {
			m.Cycle, m.HasCycle = int64(n), true
		}
	}
	if v, err := root.Attr("time"); err == nil {
		if t, err := v.Floats(); err == nil && len(t) > 0 {
			m.Time, m.HasTime = t[0], true
		}
	}
}

func attrInt(f *hdf5.File, path, name string) (int, error) {
	o, err := f.Lookup(path)
	if err != nil {
		return 0, err
	}
	v, err := o.Attr(name)
	if err != nil {
		return 0, err
	}
	return v.Int()
}

func readLevel(m *grid.Mesh, f *hdf5.File, l, dim int, names []string) error {
	path := fmt.Sprintf("level_%d", l)
	lev := grid.Level{First: len(m.Blocks), Ratio: 1, Dim: dim}
	group, err := f.Lookup(path)
	if err != nil {
		return err
	}
	if lev.Spacing, err = spacing(group); err != nil {
		return err
	}
	if r, err := attrInt(f, path, "ref_ratio"); err == nil && r > 0 && r <= 1024 {
		lev.Ratio = r
	}
	if v, err := group.Attr("prob_domain"); err == nil {
		if boxes, err := readBoxes(v, dim); err == nil && len(boxes) == 1 {
			lev.Domain = boxes[0]
		}
	}
	boxes, err := f.Lookup(path + "/boxes")
	if err != nil {
		return err
	}
	v, err := boxes.Read()
	if err != nil {
		return err
	}
	if lev.Boxes, err = readBoxes(v, dim); err != nil {
		return err
	}
	if lev.Domain == (grid.Box{}) {
		lev.Domain = grid.Hull(lev.Boxes)
	}
	if err := readData(m, f, path, &lev, l, names); err != nil {
		return err
	}
	m.Levels = append(m.Levels, lev)
	return nil
}

// spacing is one number, or one per axis in vec_dx.
func spacing(group *hdf5.Object) ([3]float64, error) {
	var s [3]float64
	if v, err := group.Attr("vec_dx"); err == nil {
		for a, axis := range []string{"x", "y", "z"} {
			if c, err := v.Field(axis); err == nil {
				if f, err := c.Floats(); err == nil && len(f) > 0 {
					s[a] = f[0]
				}
			}
		}
		return s, nil
	}
	v, err := group.Attr("dx")
	if err != nil {
		return s, err
	}
	f, err := v.Floats()
	if err != nil || len(f) == 0 {
		return s, errors.New("dx is not a number")
	}
	for a := range s {
		s[a] = f[min(a, len(f)-1)]
	}
	return s, nil
}

func readBoxes(v *hdf5.Value, dim int) ([]grid.Box, error) {
	boxes := make([]grid.Box, v.Len())
	for a := range dim {
		lo, err := column(v, "lo_"+"ijk"[a:a+1])
		if err != nil {
			return nil, err
		}
		hi, err := column(v, "hi_"+"ijk"[a:a+1])
		if err != nil {
			return nil, err
		}
		if len(lo) != len(boxes) || len(hi) != len(boxes) {
			return nil, fmt.Errorf("%d and %d ends of %d boxes", len(lo), len(hi), len(boxes))
		}
		for i := range boxes {
			boxes[i].Lo[a], boxes[i].Hi[a] = lo[i], hi[i]
			if hi[i] < lo[i] || hi[i]-lo[i] > 1<<31 {
				return nil, fmt.Errorf("box %d runs from %d to %d", i, lo[i], hi[i])
			}
		}
	}
	return boxes, nil
}

func column(v *hdf5.Value, name string) ([]int, error) {
	c, err := v.Field(name)
	if err != nil {
		return nil, err
	}
	return c.Ints()
}

func readData(m *grid.Mesh, f *hdf5.File, path string, lev *grid.Level, l int, names []string) error {
	ghost, err := outputGhost(f, path, lev.Dim)
	if err != nil {
		return err
	}
	offsets, values, err := flatData(f, path)
	if err != nil {
		return err
	}
	if len(offsets) < len(lev.Boxes) {
		return fmt.Errorf("%d offsets for %d boxes", len(offsets), len(lev.Boxes))
	}
	for i, box := range lev.Boxes {
		g := &grid.Grid{Layout: grid.Image, Spacing: lev.Spacing}
		for a := range lev.Dim {
			g.Extent[2*a], g.Extent[2*a+1] = box.Lo[a], box.Hi[a]+1
		}
		stored := grown(box, ghost)
		cells, err := volume(stored)
		if err != nil {
			return fmt.Errorf("box %d: %w", i, err)
		}
		at := offsets[i]
		if at < 0 || at > len(values) || cells > (len(values)-at)/max(1, len(names)) {
			return fmt.Errorf("box %d: %d components of %d cells from %d do not fit in %d values", i, len(names), cells, at, len(values))
		}
		for c, name := range names {
			part := values[at+c*cells : at+(c+1)*cells]
			g.CellData = append(g.CellData, grid.Array{Name: name, Comps: 1, Data: inner(part, stored, box)})
		}
		m.Blocks = append(m.Blocks, grid.Block{Name: fmt.Sprintf("level %d box %d", l, i), Level: l, Grid: g})
	}
	return nil
}

// outputGhost is how far the stored boxes reach beyond the boxes themselves.
func outputGhost(f *hdf5.File, path string, dim int) ([3]int, error) {
	var ghost [3]int
	o, err := f.Lookup(path + "/data_attributes")
	if err != nil {
		return ghost, nil
	}
	v, err := o.Attr("outputGhost")
	if err != nil {
		return ghost, nil
	}
	for a := range dim {
		c, err := column(v, "intvect"+"ijk"[a:a+1])
		if err != nil || len(c) == 0 || c[0] < 0 || c[0] > 64 {
			return ghost, fmt.Errorf("outputGhost of axis %d: %v %w", a, c, err)
		}
		ghost[a] = c[0]
	}
	return ghost, nil
}

func flatData(f *hdf5.File, path string) ([]int, []float64, error) {
	o, err := f.Lookup(path + "/data:offsets=0")
	if err != nil {
		return nil, nil, err
	}
	v, err := o.Read()
	if err != nil {
		return nil, nil, err
	}
	offsets, err := v.Ints()
	if err != nil {
		return nil, nil, err
	}
	if o, err = f.Lookup(path + "/data:datatype=0"); err != nil {
		return nil, nil, err
	}
	if v, err = o.Read(); err != nil {
		return nil, nil, err
	}
	values, err := v.Floats()
	return offsets, values, err
}

func grown(b grid.Box, by [3]int) grid.Box {
	for a := range by {
		b.Lo[a], b.Hi[a] = b.Lo[a]-by[a], b.Hi[a]+by[a]
	}
	return b
}

func volume(b grid.Box) (int, error) {
	n := 1
	for a := range b.Lo {
		k := b.Hi[a] - b.Lo[a] + 1
		if k > grid.MaxCells/n {
			return 0, fmt.Errorf("more than %d cells", grid.MaxCells)
		}
		n *= k
	}
	return n, nil
}

// inner cuts the box out of its stored, possibly larger, surroundings.
func inner(values []float64, stored, box grid.Box) []float64 {
	if stored == box {
		return values
	}
	nx, ny := stored.Hi[0]-stored.Lo[0]+1, stored.Hi[1]-stored.Lo[1]+1
	out := make([]float64, 0, box.Cells())
	for k := box.Lo[2]; k <= box.Hi[2]; k++ {
		for j := box.Lo[1]; j <= box.Hi[1]; j++ {
			row := box.Lo[0] - stored.Lo[0] + nx*(j-stored.Lo[1]+ny*(k-stored.Lo[2]))
			out = append(out, values[row:row+box.Hi[0]-box.Lo[0]+1]...)
		}
	}
	return out
}
