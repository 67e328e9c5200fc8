// Package vtkhdf reads VTKHDF files: unstructured grids, polygonal data,
// images and overlapping AMR, with time steps for the first two.
package vtkhdf

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"isobath/internal/formats"
	"isobath/internal/formats/hdf5"
	"isobath/internal/grid"
)

// Format recognises VTKHDF files.
var Format = formats.Format{Name: "vtkhdf", Kind: formats.Mesh, Sniff: hdf5.Sniff(func(root *hdf5.Object) bool {
	return root.HasLink("VTKHDF")
})}

// reader is an open file at one time step.
type reader struct {
	f    *hdf5.File
	root *hdf5.Object
	step int
	n    int // time steps; 0 when the file has no Steps group
}

// Times returns the values of the time steps; none when the file holds a
// single instant.
func Times(name string) ([]float64, error) {
	r, err := open(name, 0)
	if err != nil {
		return nil, err
	}
	defer r.f.Close()
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
	r := &reader{f: f, step: step}
	if r.root, err = f.Lookup("VTKHDF"); err == nil {
		var steps *hdf5.Object
		if steps, err = f.Lookup("VTKHDF/Steps"); err == nil {
			r.n, err = attrInt(steps, "NSteps")
		} else {
			err = nil
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	return r, nil
}

func attrInt(o *hdf5.Object, name string) (int, error) {
	v, err := o.Attr(name)
	if err != nil {
		return 0, err
	}
	return v.Int()
}

func (r *reader) read() (*grid.Mesh, error) {
	v, err := r.root.Attr("Type")
	if err != nil {
		return nil, errors.New("the VTKHDF group has no Type attribute, so the data cannot be interpreted")
	}
	if r.n > 0 && (r.step < 0 || r.step >= r.n) {
		return nil, fmt.Errorf("%d time steps; step %d does not exist", r.n, r.step)
	}
	m := &grid.Mesh{}
	switch kind := v.Text(); kind {
	case "UnstructuredGrid":
		err = r.pieces(m, grid.Unstructured)
	case "PolyData":
		err = r.pieces(m, grid.Poly)
	case "ImageData":
		err = r.image(m)
	case "OverlappingAMR":
		err = r.amr(m)
	default:
		err = fmt.Errorf("VTKHDF type %q is not read, only UnstructuredGrid, PolyData, ImageData and OverlappingAMR; save it from ParaView as .vtm or .vtu", kind)
	}
	if err != nil {
		return nil, err
	}
	if len(m.Blocks) > 0 {
		if m.Blocks[0].Grid.FieldData, err = r.fields(); err != nil {
			return nil, err
		}
	}
	m.Stamp()
	if r.n > 0 {
		times, err := r.floats("Steps/Values")
		if err == nil && r.step < len(times) {
			m.Time, m.HasTime = times[r.step], true
		}
	}
	return m, m.Check()
}

func (r *reader) value(name string) (*hdf5.Value, error) {
	o, err := r.f.Lookup(path.Join("VTKHDF", name))
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
func (r *reader) offset(name string) (int, error) {
	if r.n == 0 {
		return 0, nil
	}
	v, err := r.value("Steps/" + name)
	if missing(err) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	row, err := v.Row(r.step)
	if err != nil {
		return 0, err
	}
	list, err := row.Ints()
	if err != nil || len(list) == 0 {
		return 0, fmt.Errorf("Steps/%s has no whole number: %w", name, err)
	}
	return list[0], nil
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
	o, err := r.f.Lookup(path.Join("VTKHDF", group))
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
	names, err := r.names("FieldData")
	if err != nil {
		return nil, err
	}
	var list []grid.Array
	for _, name := range names {
		v, err := r.value("FieldData/" + name)
		if err != nil {
			return nil, err
		}
		a, err := toArray(name, v)
		if err != nil {
			return nil, fmt.Errorf("FieldData/%s: %w", name, err)
		}
		list = append(list, a)
	}
	return list, nil
}

// data reads the arrays of a data group for one part.
func (r *reader) data(group string, at, n int) ([]grid.Array, error) {
	names, err := r.names(group)
	if err != nil {
		return nil, err
	}
	var list []grid.Array
	for _, name := range names {
		from := at
		if r.n > 0 && (group == "PointData" || group == "CellData") {
			// The array may have its own offset: values that do not change are stored once.
			own, err := r.offset(group + "Offsets/" + name)
			if err != nil {
				return nil, err
			}
			base, err := r.offset(strings.TrimSuffix(group, "Data") + "Offsets")
			if err != nil {
				return nil, err
			}
			from = own + at - base
		}
		a, err := r.tuples(group+"/"+name, from, n)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}
