// Package chombo reads the HDF5 plot files of the Chombo library: levels of
// boxes with cell data.
package chombo

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

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
		comps = 0 // a checkpoint, whose variables have their names on their datasets
	}
	if dim < 1 || dim > 3 || levels < 0 || levels > maxLevels || comps < 0 || comps > maxComps {
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

// variable is one dataset of a level: all components of plot files, or one of
// the fields that checkpoints keep apart.
type variable struct {
	names   []string // of its components
	offsets []int
	values  []float64
	ghost   [3]int
}

func readData(m *grid.Mesh, f *hdf5.File, path string, lev *grid.Level, l int, names []string) error {
	stored, left, err := variables(f, path, lev.Dim, lev.Boxes, names)
	if err != nil {
		return err
	}
	if l == 0 { // levels hold the same variables
		m.Warnings = append(m.Warnings, left...)
	}
	for i, box := range lev.Boxes {
		g := &grid.Grid{Layout: grid.Image, Spacing: lev.Spacing}
		for a := range lev.Dim {
			g.Extent[2*a], g.Extent[2*a+1] = box.Lo[a], box.Hi[a]+1
		}
		for _, v := range stored {
			arrays, err := v.box(i, box)
			if err != nil {
				return fmt.Errorf("box %d: %w", i, err)
			}
			g.CellData = append(g.CellData, arrays...)
		}
		m.Blocks = append(m.Blocks, grid.Block{Name: fmt.Sprintf("level %d box %d", l, i), Level: l, Grid: g})
	}
	return nil
}

// variables lists the datasets of a level, and says which hold no cells.
func variables(f *hdf5.File, path string, dim int, boxes []grid.Box, names []string) (list []variable, left []string, err error) {
	group, err := f.Lookup(path)
	if err != nil {
		return nil, nil, err
	}
	if group.HasLink(packed + datatype) {
		v, err := readVariable(f, path, packed, dim, names)
		return []variable{v}, nil, err
	}
	links, err := group.Links()
	if err != nil {
		return nil, nil, err
	}
	for _, link := range links {
		name, ok := strings.CutSuffix(link.Name, datatype)
		if !ok {
			continue
		}
		if !group.HasLink(name + offsetsOf) {
			left = append(left, fmt.Sprintf("%s is left out: it has no offsets", name))
			continue
		}
		if faceCentred(f, path, name) {
			left = append(left, fmt.Sprintf("%s is left out: its values are on faces, not on cells", name))
			continue
		}
		comps := 1
		if n, err := attrInt(f, path+"/"+name+"_attributes", "comps"); err == nil && n > 0 && n <= maxComps {
			comps = n
		}
		parts := make([]string, comps)
		for c := range parts {
			parts[c] = name
			if comps > 1 {
				parts[c] = fmt.Sprintf("%s_%d", name, c)
			}
		}
		v, err := readVariable(f, path, name, dim, parts)
		for i := 0; i < len(boxes) && err == nil; i++ {
			_, _, err = v.place(i, boxes[i])
		}
		if err != nil {
			left = append(left, fmt.Sprintf("%s is left out: %v", name, err))
			continue
		}
		list = append(list, v)
	}
	if len(list) == 0 && len(left) == 0 {
		return nil, nil, fmt.Errorf("no dataset %s%s, and none of one variable", packed, datatype)
	}
	return list, left, nil
}

// The names of the datasets of a level.
const (
	packed    = "data" // all variables together
	datatype  = ":datatype=0"
	offsetsOf = ":offsets=0"
	maxComps  = 1 << 16
)

// faceCentred reports whether the attributes of a dataset say that it has a
// value a face: FArrayBox is Chombo's name of values on cells, FluxBox of values
// on faces.
func faceCentred(f *hdf5.File, path, name string) bool {
	o, err := f.Lookup(path + "/" + name + "_attributes")
	if err != nil {
		return false
	}
	v, err := o.Attr("objectType")
	return err == nil && strings.Contains(strings.ToLower(v.Text()), "flux")
}

func readVariable(f *hdf5.File, path, name string, dim int, comps []string) (variable, error) {
	v := variable{names: comps}
	var err error
	if v.ghost, err = outputGhost(f, path+"/"+name+"_attributes", dim); err != nil {
		return v, err
	}
	v.offsets, v.values, err = flatData(f, path+"/"+name)
	return v, err
}

// place returns where the values of box i begin and how many cells each
// component has, those around the box included.
func (v *variable) place(i int, box grid.Box) (at, cells int, err error) {
	if i >= len(v.offsets) {
		return 0, 0, fmt.Errorf("%d offsets for more boxes", len(v.offsets))
	}
	if cells, err = volume(grown(box, v.ghost)); err != nil {
		return 0, 0, err
	}
	at = v.offsets[i]
	if at < 0 || at > len(v.values) || cells > (len(v.values)-at)/max(1, len(v.names)) {
		return 0, 0, fmt.Errorf("%d components of %d cells from %d do not fit in %d values", len(v.names), cells, at, len(v.values))
	}
	return at, cells, nil
}

// box cuts the components of box i out of the dataset.
func (v *variable) box(i int, box grid.Box) ([]grid.Array, error) {
	at, cells, err := v.place(i, box)
	if err != nil {
		return nil, err
	}
	out := make([]grid.Array, len(v.names))
	for c, name := range v.names {
		part := v.values[at+c*cells : at+(c+1)*cells]
		out[c] = grid.Array{Name: name, Comps: 1, Data: inner(part, grown(box, v.ghost), box)}
	}
	return out, nil
}

// outputGhost is how far the stored boxes reach beyond the boxes themselves.
func outputGhost(f *hdf5.File, path string, dim int) ([3]int, error) {
	var ghost [3]int
	o, err := f.Lookup(path)
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
	o, err := f.Lookup(path + offsetsOf)
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
	if o, err = f.Lookup(path + datatype); err != nil {
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
