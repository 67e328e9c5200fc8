// Package vtkhdf reads VTKHDF files: unstructured grids with polyhedra,
// polygonal data, images, overlapping AMR and collections of blocks, all with
// time steps.
package vtkhdf

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/hdf5"
)

// Format recognises VTKHDF files.
var Format = foreign.Format{Name: "vtkhdf", Kind: kind.Mesh, Mesh: grid.TimedDumps(Times, Read), Sniff: hdf5.Sniff(func(root *hdf5.Object) bool {
	return root.HasLink("VTKHDF")
})}

// reader is an open file, or one block of it, at one time step.
type reader struct {
	f    *hdf5.File
	root *hdf5.Object
	base string // path of root
	step int
	n    int // time steps; 0 when the file has no Steps group
	left []string
}

// arrays reads the variables of a group. One that cannot be read is noted, once for
// all parts: what the mesh is made of does not depend on it.
func (r *reader) arrays(group string, read func(name string) (grid.Array, error)) ([]grid.Array, error) {
	names, err := r.names(group)
	if err != nil {
		return nil, err
	}
	var list []grid.Array
	for _, name := range names {
		a, err := read(name)
		if err == nil {
			list = append(list, a)
			continue
		}
		said := fmt.Sprintf("%s/%s is left out: ", group, term.ClipEnd(name, 40))
		if !slices.ContainsFunc(r.left, func(s string) bool { return strings.HasPrefix(s, said) }) {
			r.left = append(r.left, said+err.Error())
		}
	}
	return list, nil
}

// Times returns the values of the time steps; none when the file holds a
// single instant.
func Times(name string) ([]float64, error) {
	r, err := open(name, 0)
	if err != nil {
		return nil, err
	}
	defer r.f.Close()
	if r.n == 0 { // the steps of a collection are those of its blocks
		blocks, err := r.blocks()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(name), err)
		}
		for _, b := range blocks {
			if r, err = at(r.f, b.base, 0); err != nil {
				return nil, fmt.Errorf("%s: %w", filepath.Base(name), err)
			}
			if r.n > 0 {
				break
			}
		}
	}
	if r.n == 0 {
		return nil, nil
	}
	return r.floats("Steps/Values")
}

// Read reads one time step, counted from 0.
func Read(name string, step int) (*grid.Mesh, error) {
	r, err := open(name, step)
	if err != nil {
		return nil, err
	}
	defer r.f.Close()
	m, err := r.read()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	return m, nil
}

func open(name string, step int) (*reader, error) {
	f, err := hdf5.Open(name)
	if err != nil {
		return nil, err
	}
	r, err := at(f, "VTKHDF", step)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	return r, nil
}

// at prepares to read the data set of a group.
func at(f *hdf5.File, base string, step int) (*reader, error) {
	r := &reader{f: f, base: base, step: step}
	var err error
	if r.root, err = f.Lookup(base); err != nil {
		return nil, err
	}
	steps, err := f.Lookup(path.Join(base, "Steps"))
	if missing(err) {
		return r, nil
	}
	if err == nil {
		r.n, err = attrInt(steps, "NSteps")
	}
	return r, err
}

func attrInt(o *hdf5.Object, name string) (int, error) {
	v, err := o.Attr(name)
	if err != nil {
		return 0, err
	}
	return v.Int()
}

func (r *reader) read() (*grid.Mesh, error) {
	m := &grid.Mesh{}
	kind, err := r.kind()
	if err != nil {
		return nil, err
	}
	if composite(kind) {
		err = r.collection(m)
	} else {
		err = r.dataSet(m, kind)
	}
	if err != nil {
		return nil, err
	}
	m.Stamp()
	return m, m.Check()
}

func (r *reader) kind() (string, error) {
	v, err := r.root.Attr("Type")
	if err != nil {
		return "", fmt.Errorf("the group %s has no Type attribute, so the data cannot be interpreted", r.base)
	}
	return v.Text(), nil
}

// dataSet adds a data set to a mesh, with its time.
func (r *reader) dataSet(m *grid.Mesh, kind string) error {
	if r.n > 0 && (r.step < 0 || r.step >= r.n) {
		return fmt.Errorf("%d time steps; step %d does not exist", r.n, r.step)
	}
	var err error
	first := len(m.Blocks)
	switch kind {
	case "UnstructuredGrid":
		err = r.pieces(m, grid.Unstructured)
	case "PolyData":
		err = r.pieces(m, grid.Poly)
	case "ImageData":
		err = r.image(m)
	case "OverlappingAMR":
		err = r.amr(m)
	default:
		err = fmt.Errorf("VTKHDF type %q is not read, only UnstructuredGrid, PolyData, ImageData, OverlappingAMR and collections of them; save it from ParaView as .vtm or .vtu", kind)
	}
	if err != nil {
		return err
	}
	if len(m.Blocks) > first {
		if m.Blocks[first].Grid.FieldData, err = r.fields(); err != nil {
			return err
		}
	}
	m.Warnings = append(m.Warnings, r.left...)
	if r.n > 0 {
		times, err := r.floats("Steps/Values")
		if err == nil && r.step < len(times) {
			m.Time, m.HasTime = times[r.step], true
		}
	}
	return nil
}

func (r *reader) value(name string) (*hdf5.Value, error) {
	o, err := r.f.Lookup(path.Join(r.base, name))
	if err != nil {
		return nil, err
	}
	return o.Read()
}

func (r *reader) floats(name string) ([]float64, error) {
	v, err := r.value(name)
	if err != nil {
		return nil, err
	}
	return v.Floats()
}

func (r *reader) ints(name string) ([]int, error) {
	v, err := r.value(name)
	if err != nil {
		return nil, err
	}
	return v.Ints()
}

// offset returns the entry of a Steps dataset for this time step; 0 without
// time steps or without the dataset.
func (r *reader) offset(names ...string) (int, error) {
	n, _, err := r.stepEntry(names...)
	return n, err
}

// stepEntry is the entry for this time step of the first of the Steps datasets
// that exists.
func (r *reader) stepEntry(names ...string) (n int, found bool, err error) {
	return r.stepColumn(0, names...)
}

// stepColumn is an entry of a Steps dataset that has one for each of several lists.
func (r *reader) stepColumn(column int, names ...string) (n int, found bool, err error) {
	if r.n == 0 {
		return 0, false, nil
	}
	for _, name := range names {
		v, err := r.value("Steps/" + name)
		if missing(err) {
			continue
		}
		if err != nil {
			return 0, false, err
		}
		row, err := v.Row(r.step)
		if err != nil {
			return 0, false, err
		}
		list, err := row.Ints()
		if err != nil {
			return 0, false, fmt.Errorf("Steps/%s: %w", name, err)
		}
		if len(list) <= column {
			return 0, false, fmt.Errorf("Steps/%s has %d numbers a step, want %d", name, len(list), column+1)
		}
		return list[column], true, nil
	}
	return 0, false, nil
}

func missing(err error) bool { var n *hdf5.NotFoundError; return errors.As(err, &n) }

// tuples reads n rows of a dataset from row at.
func (r *reader) tuples(name string, at, n int) (grid.Array, error) {
	v, err := r.value(name)
	if err != nil {
		return grid.Array{}, err
	}
	a, err := toArray(path.Base(name), v)
	if err != nil {
		return a, fmt.Errorf("%s: %w", name, err)
	}
	if at < 0 || n < 0 || at > a.Len() || n > a.Len()-at {
		return a, fmt.Errorf("%s: rows %d to %d of %d", name, at, at+n, a.Len())
	}
	if at == 0 && n == a.Len() {
		return a, nil
	}
	part := a.Like(n)
	return part, grid.CopyTuples(&part, 0, &a, at, n)
}

// toArray makes an array of a dataset: the first dimension counts tuples.
func toArray(name string, v *hdf5.Value) (grid.Array, error) {
	a := grid.Array{Name: name, Comps: 1}
	if v.Type.Class == hdf5.String || v.Type.Class == hdf5.VarLen {
		s, err := v.Strings()
		a.Data = s
		return a, err
	}
	data, per, err := v.Numbers()
	if err != nil {
		return a, err
	}
	a.Data, a.Comps = data, per
	if len(v.Dims) > 1 {
		for _, d := range v.Dims[1:] {
			a.Comps *= d
		}
	}
	if a.Comps == 0 {
		a.Comps = 1
	}
	return a, nil
}

// names lists the datasets of a group; none when the group does not exist.
func (r *reader) names(group string) ([]string, error) {
	o, err := r.f.Lookup(path.Join(r.base, group))
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	links, err := o.Links()
	if err != nil {
		return nil, err
	}
	list := make([]string, len(links))
	for i, l := range links {
		list[i] = l.Name
	}
	return list, nil
}

func (r *reader) fields() ([]grid.Array, error) {
	return r.arrays("FieldData", func(name string) (grid.Array, error) {
		v, err := r.value("FieldData/" + name)
		if err != nil {
			return grid.Array{}, err
		}
		return toArray(name, v)
	})
}

// data reads the arrays of a data group for one part.
func (r *reader) data(group string, at, n int) ([]grid.Array, error) {
	return r.arrays(group, func(name string) (grid.Array, error) {
		from := at
		if r.n > 0 && (group == "PointData" || group == "CellData") {
			// The array may have its own offset: values that do not change are stored once.
			own, err := r.offset(group + "Offsets/" + name)
			if err != nil {
				return grid.Array{}, err
			}
			base, err := r.offset(strings.TrimSuffix(group, "Data") + "Offsets")
			if err != nil {
				return grid.Array{}, err
			}
			from = own + at - base
		}
		return r.tuples(group+"/"+name, from, n)
	})
}
