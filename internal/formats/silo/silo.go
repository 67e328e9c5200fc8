// Package silo reads meshes written by the Silo library with its HDF5 driver:
// unstructured, rectilinear, curvilinear and point meshes, their variables and
// materials, and multi-block meshes.
package silo

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/hdf5"
)

// Format recognises Silo files: those of the HDF5 driver, which are read, and
// those of the PDB driver, which are refused with a word on what to do.
var Format = foreign.Format{Name: "silo", Kind: kind.Mesh, Mesh: grid.OneDump(Read), Sniff: func(in *foreign.Input) bool {
	return pdb(in.Head) || inHDF5(in)
}}

var inHDF5 = hdf5.Sniff(func(root *hdf5.Object) bool {
	return root.HasLink("_silolibinfo") || root.HasLink(".silo")
})

// pdb reports whether a file begins as those of Lawrence Livermore's portable
// database do, which Silo's other driver writes.
func pdb(head []byte) bool {
	return bytes.HasPrefix(head, []byte("<<PDB:")) || bytes.HasPrefix(head, []byte("!<<PDB:"))
}

var errPDB = errors.New("the file is written by Silo's PDB driver, which is not read; write it with DBCreate(…, DB_HDF5), or open it in VisIt and export it as VTK")

// Object types of silo.h.
const (
	quadRect  = 130
	quadCurv  = 131
	quadMesh  = 500
	quadVar   = 501
	ucdMesh   = 510
	ucdVar    = 511
	multiMesh = 520
	material  = 530
	pointMesh = 570
	pointVar  = 571
)

// Bounds against files that describe themselves without end.
const (
	maxObjects = 200_000
	maxDepth   = 16
)

// object is one Silo object: a compound attribute of named members.
type object struct {
	dir, name string
	kind      int
	members   *hdf5.Value
}

// file is one open Silo file with its objects in order of discovery.
type file struct {
	h       *hdf5.File
	objects []object
}

// Read reads one Silo file and the files its multi-block mesh names.
func Read(name string) (*grid.Mesh, error) {
	f, err := open(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	defer f.h.Close()
	m, err := f.read(filepath.Dir(name))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	return m, nil
}

func open(name string) (*file, error) {
	h, err := hdf5.Open(name)
	if err != nil {
		if in, lookErr := foreign.Look(name); lookErr == nil && pdb(in.Head) {
			return nil, errPDB
		}
		return nil, err
	}
	f := &file{h: h}
	root, err := h.Root()
	if err == nil {
		err = f.scan(root, "/", 0)
	}
	if err != nil {
		h.Close()
		return nil, err
	}
	return f, nil
}

// scan collects the Silo objects of a folder and those below it. Silo links
// every folder to its parent as "..".
func (f *file) scan(dir *hdf5.Object, name string, depth int) error {
	links, err := dir.Links()
	if err != nil {
		return err
	}
	for _, l := range links {
		if l.Name == ".." || l.Name == ".silo" || depth > maxDepth {
			continue
		}
		o, err := dir.Child(l)
		if err != nil {
			return err
		}
		if o.IsGroup() {
			if err := f.scan(o, path.Join(name, l.Name), depth+1); err != nil {
				return err
			}
			continue
		}
		kind, err := o.Attr("silo_type")
		if err != nil {
			continue
		}
		n, err := kind.Int()
		if err != nil {
			return err
		}
		members, err := o.Attr("silo")
		if err != nil {
			return fmt.Errorf("%s: %w", path.Join(name, l.Name), err)
		}
		if len(f.objects) >= maxObjects {
			return fmt.Errorf("more than %d objects", maxObjects)
		}
		f.objects = append(f.objects, object{dir: name, name: l.Name, kind: n, members: members})
	}
	return nil
}

func (o *object) mesh() bool {
	switch o.kind {
	case quadRect, quadCurv, quadMesh, ucdMesh, pointMesh:
		return true
	}
	return false
}

func (o *object) path() string { return path.Join(o.dir, o.name) }

// read builds the mesh: the blocks of the first multi-block mesh if there is
// one, else every mesh in the file.
func (f *file) read(dir string) (*grid.Mesh, error) {
	m := &grid.Mesh{}
	for i := range f.objects {
		if f.objects[i].kind == multiMesh {
			if err := f.readMulti(m, &f.objects[i], dir); err != nil {
				return nil, fmt.Errorf("%s: %w", f.objects[i].path(), err)
			}
			return m, m.Check()
		}
	}
	for i := range f.objects {
		if f.objects[i].mesh() {
			if err := f.addBlock(m, &f.objects[i]); err != nil {
				return nil, err
			}
		}
	}
	if len(m.Blocks) == 0 {
		return nil, errors.New("no mesh object in this Silo file")
	}
	return m, m.Check()
}

func (f *file) readMulti(m *grid.Mesh, multi *object, dir string) error {
	names, err := f.text(multi, "meshnames")
	if err != nil {
		return err
	}
	others := map[string]*file{}
	defer func() {
		for _, o := range others {
			o.h.Close()
		}
	}()
	for _, name := range strings.Split(names, ";") {
		if name == "" || name == "EMPTY" {
			continue
		}
		in := f
		if other, inside, ok := strings.Cut(name, ":"); ok {
			if !filepath.IsLocal(filepath.FromSlash(other)) {
				return fmt.Errorf("file %q lies outside the folder of the mesh", other)
			}
			if others[other] == nil {
				o, err := open(filepath.Join(dir, filepath.FromSlash(other)))
				if err != nil {
					return err
				}
				others[other] = o
			}
			in, name = others[other], inside
		}
		full := path.Join("/", multi.dir, name)
		if strings.HasPrefix(name, "/") {
			full = path.Clean(name)
		}
		i := slices.IndexFunc(in.objects, func(o object) bool { return o.mesh() && o.path() == full })
		if i < 0 {
			return fmt.Errorf("block %s is not in the file", full)
		}
		if err := in.addBlock(m, &in.objects[i]); err != nil {
			return err
		}
	}
	return nil
}

func (f *file) addBlock(m *grid.Mesh, o *object) error {
	var g *grid.Grid
	var err error
	switch o.kind {
	case ucdMesh:
		g, err = f.unstructured(o)
	case pointMesh:
		g, err = f.points(o)
	default:
		g, err = f.quad(o)
	}
	if err == nil {
		err = f.variables(m, g, o)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", o.path(), err)
	}
	if n, err := o.int("cycle"); err == nil && !m.HasCycle {
		m.Cycle, m.HasCycle = int64(n), true
	}
	if v, err := o.members.Field("dtime"); err == nil && !m.HasTime {
		if t, err := v.Floats(); err == nil && len(t) == 1 {
			m.Time, m.HasTime = t[0], true
		}
	}
	m.Blocks = append(m.Blocks, grid.Block{Name: strings.TrimPrefix(o.path(), "/"), Grid: g})
	return nil
}

// variables adds the variables and materials of a mesh: those of its folder
// that name it.
func (f *file) variables(m *grid.Mesh, g *grid.Grid, mesh *object) error {
	for i := range f.objects {
		o := &f.objects[i]
		if o.dir != mesh.dir {
			continue
		}
		v, err := o.members.Field("meshid")
		if err != nil || path.Base(v.Text()) != mesh.name {
			continue
		}
		switch o.kind {
		case ucdVar, quadVar, pointVar:
			err = f.variable(g, o)
		case material:
			err = f.material(g, o)
		default:
			continue
		}
		if err != nil {
			m.Warnings = append(m.Warnings, fmt.Sprintf("variable %s is left out: %v", o.path(), err))
		}
	}
	return nil
}

func (f *file) variable(g *grid.Grid, o *object) error {
	parts, err := f.components(o)
	if err != nil {
		return err
	}
	a := grid.Array{Name: o.name, Comps: len(parts), Data: parts[0].Data}
	if len(parts) > 1 {
		n := parts[0].Values()
		wide := make([]float64, n*len(parts))
		for k := range parts {
			if parts[k].Values() != n {
				return errors.New("components of different length")
			}
			for i := range n {
				wide[i*len(parts)+k] = parts[k].At(i)
			}
		}
		a.Data = wide
	}
	centering, err := o.int("centering")
	n := a.Len()
	switch nodes := n == g.NumPoints(); {
	case err == nil && centering == 111 && n == g.NumCells(), nodes && n == g.NumCells() && centering != 110:
		g.CellData = append(g.CellData, a)
	case nodes:
		g.PointData = append(g.PointData, a)
	case n == g.NumCells():
		g.CellData = append(g.CellData, a)
	default:
		return fmt.Errorf("%d values on %d nodes and %d zones", n, g.NumPoints(), g.NumCells())
	}
	return nil
}

// components reads value0, value1, … (data0, … of point variables).
func (f *file) components(o *object) ([]grid.Array, error) {
	var parts []grid.Array
	for _, prefix := range []string{"value", "data"} {
		for k := 0; k < 64; k++ {
			a, err := f.array(o, fmt.Sprintf("%s%d", prefix, k))
			if err != nil {
				if k == 0 || isMissing(err) {
					break
				}
				return nil, err
			}
			parts = append(parts, a)
		}
	}
	if len(parts) == 0 {
		return nil, errors.New("no values")
	}
	return parts, nil
}

type missingError struct{ error }

func isMissing(err error) bool { var m missingError; return errors.As(err, &m) }

func (f *file) material(g *grid.Grid, o *object) error {
	a, err := f.array(o, "matlist")
	if err != nil {
		return err
	}
	if a.Values() != g.NumCells() {
		return fmt.Errorf("%d material numbers for %d zones", a.Values(), g.NumCells())
	}
	a.Name = o.name
	g.CellData = append(g.CellData, a)
	return nil
}

// array reads the dataset that a string member names.
func (f *file) array(o *object, member string) (grid.Array, error) {
	v, err := o.members.Field(member)
	if err != nil {
		return grid.Array{}, missingError{err}
	}
	name := v.Text()
	if name == "" {
		return grid.Array{}, missingError{fmt.Errorf("member %s names nothing", member)}
	}
	if !strings.HasPrefix(name, "/") {
		name = path.Join(o.dir, name)
	}
	d, err := f.h.Lookup(name)
	if err != nil {
		return grid.Array{}, err
	}
	val, err := d.Read()
	if err != nil {
		return grid.Array{}, err
	}
	data, _, err := val.Numbers()
	return grid.Array{Name: member, Comps: 1, Data: data}, err
}

func (f *file) ints(o *object, member string) ([]int64, error) {
	a, err := f.array(o, member)
	if err != nil {
		return nil, err
	}
	return a.Int64s()
}

// text reads a string member, or the characters of the dataset it names.
func (f *file) text(o *object, member string) (string, error) {
	a, err := f.array(o, member)
	if err != nil {
		return "", err
	}
	n, err := a.Int64s()
	if err != nil {
		return "", err
	}
	b := make([]byte, 0, len(n))
	for _, c := range n {
		if c != 0 {
			b = append(b, byte(c))
		}
	}
	return string(b), nil
}

func (o *object) int(member string) (int, error) {
	v, err := o.members.Field(member)
	if err != nil {
		return 0, err
	}
	return v.Int()
}
