// Package exodus reads Exodus II meshes, in classic netCDF and in netCDF-4.
package exodus

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/data/grid"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/formats/hdf5"
)

// Format recognises Exodus files: netCDF with element blocks.
var Format = foreign.Format{Name: "exodus", Kind: kind.Mesh, Mesh: grid.TimedDumps(Times, Read), Sniff: func(in *foreign.Input) bool {
	if bytes.HasPrefix(in.Head, []byte("CDF")) {
		return bytes.Contains(in.Head, []byte("num_el_blk")) || bytes.Contains(in.Head, []byte("num_nodes"))
	}
	return sniffModern(in)
}}

var sniffModern = hdf5.Sniff(func(root *hdf5.Object) bool {
	return root.HasLink("num_el_blk") || root.HasLink("eb_prop1") || root.HasLink("connect1")
})

// source is an open netCDF file of either kind.
type source interface {
	dim(name string) (int, bool)
	has(name string) bool
	attr(variable, name string) string
	// numbers reads a variable; with step >= 0 one time step of it.
	numbers(name string, step int) (any, error)
	// records reads all time steps of a variable with one number each.
	records(name string) ([]float64, error)
	texts(name string) []string
	close() error
}

func open(path string) (source, error) {
	if f, err := hdf5.Open(path); err == nil {
		return modern{f}, nil
	}
	return openClassic(path)
}

// Times returns the simulated times of the steps in the file.
func Times(path string) ([]float64, error) {
	s, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	defer s.close()
	return times(s)
}

func times(s source) ([]float64, error) {
	if !s.has("time_whole") {
		return nil, nil
	}
	return s.records("time_whole")
}

// Read reads the mesh with the variables of one time step, counted from 0.
func Read(path string, step int) (*grid.Mesh, error) {
	s, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	defer s.close()
	m, err := read(s, step)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return m, nil
}

func read(s source, step int) (*grid.Mesh, error) {
	when, err := times(s)
	if err != nil {
		return nil, err
	}
	m := &grid.Mesh{}
	if len(when) > 0 {
		if step < 0 || step >= len(when) {
			return nil, fmt.Errorf("%d time steps; step %d does not exist", len(when), step)
		}
		m.Time, m.HasTime = when[step], true
	}
	points, err := coordinates(s)
	if err != nil {
		return nil, err
	}
	var nodal []grid.Array
	if len(when) > 0 {
		nodal, m.Warnings = nodalVariables(s, step, points.Len())
	}
	nodal = joinVectors(nodal)
	displace(points.Data.([]float64), nodal)
	names, vars := s.texts("eb_names"), s.texts("name_elem_var")
	for b, n := 1, blockCount(s); b <= n; b++ {
		g, err := emptyBlock(), error(nil)
		if hasElements(s, b) {
			g, err = block(s, b, points, nodal)
		}
		if err != nil {
			return nil, fmt.Errorf("element block %d: %w", b, err)
		}
		if len(when) > 0 && g.NumCells() > 0 {
			m.Warnings = append(m.Warnings, elementVariables(s, g, vars, b, step)...)
		}
		name := fmt.Sprintf("block %d", b)
		if b <= len(names) && names[b-1] != "" {
			name = names[b-1]
		}
		m.Blocks = append(m.Blocks, grid.Block{Name: name, Grid: g})
	}
	if m.NumCells() == 0 {
		return nil, errors.New("no elements")
	}
	return m, m.Check()
}

// emptyBlock stands for a block without elements, so that blocks are numbered as in VTK.
func emptyBlock() *grid.Grid {
	return &grid.Grid{Layout: grid.Unstructured, Offsets: []int{0}, Points: grid.Array{Name: "points", Comps: 3, Data: []float64{}}}
}

// hasElements reports whether a block has any: one process of many has blocks of which
// it holds no element, and the file then has nothing but their names.
func hasElements(s source, b int) bool {
	return s.has(fmt.Sprintf("connect%d", b)) || s.has(fmt.Sprintf("facconn%d", b))
}

// blockCount is how many element blocks the file says it has; where it does not, those
// that are there.
func blockCount(s source) int {
	n, _ := s.dim("num_el_blk")
	n = min(n, maxBlocks)
	for hasElements(s, n+1) {
		n++
	}
	return n
}

// maxBlocks bounds what a header may claim.
const maxBlocks = 1 << 16

// coordinates reads coordx, coordy, coordz, or coord of older files.
func coordinates(s source) (grid.Array, error) {
	var axes [3]grid.Array
	n := 0
	for a, name := range []string{"coordx", "coordy", "coordz"} {
		if !s.has(name) {
			continue
		}
		v, err := s.numbers(name, -1)
		if err != nil {
			return grid.Array{}, err
		}
		axes[a] = grid.Array{Comps: 1, Data: v}
		n = max(n, axes[a].Values())
	}
	if n == 0 && s.has("coord") {
		v, err := s.numbers("coord", -1)
		if err != nil {
			return grid.Array{}, err
		}
		all := (&grid.Array{Comps: 1, Data: v}).Floats()
		dim, ok := s.dim("num_dim")
		if !ok || dim < 1 || dim > 3 {
			return grid.Array{}, errors.New("coord without num_dim")
		}
		n = len(all) / dim
		for a := range dim {
			axes[a] = grid.Array{Comps: 1, Data: all[a*n : (a+1)*n]}
		}
	}
	p := make([]float64, 3*n)
	for a := range axes {
		if k := axes[a].Values(); k != 0 && k != n {
			return grid.Array{}, fmt.Errorf("axis %d has %d coordinates, another %d", a, k, n)
		}
		for i := range axes[a].Values() {
			p[3*i+a] = axes[a].At(i)
		}
	}
	return grid.Array{Name: "points", Comps: 3, Data: p}, nil
}

// nodalVariables reads the variables of the nodes, and says which it could not
// read: the mesh is worth seeing without them.
func nodalVariables(s source, step, points int) (list []grid.Array, left []string) {
	for i, name := range s.texts("name_nod_var") {
		a, err := nodalVariable(s, i, step, points)
		if err != nil {
			left = append(left, fmt.Sprintf("nodal variable %q is left out: %v", name, err))
			continue
		}
		a.Name = name
		list = append(list, a)
	}
	return list, left
}

// nodalVariable reads variable i at a step: from a netCDF variable of its own,
// or from the one of all that files before large models have, time × variable ×
// node.
func nodalVariable(s source, i, step, points int) (grid.Array, error) {
	own := fmt.Sprintf("vals_nod_var%d", i+1)
	if s.has(own) || !s.has("vals_nod_var") {
		v, err := s.numbers(own, step)
		if err != nil {
			return grid.Array{}, err
		}
		a := grid.Array{Comps: 1, Data: v}
		if a.Values() != points {
			return grid.Array{}, fmt.Errorf("%d values for %d nodes", a.Values(), points)
		}
		return a, nil
	}
	v, err := s.numbers("vals_nod_var", step)
	if err != nil {
		return grid.Array{}, err
	}
	all := grid.Array{Comps: 1, Data: v}
	if points == 0 || all.Values()%points != 0 || all.Values() < (i+1)*points {
		return grid.Array{}, fmt.Errorf("vals_nod_var has %d values a step for %d nodes", all.Values(), points)
	}
	order := make([]int, points)
	for k := range order {
		order[k] = i*points + k
	}
	return all.Gather(order), nil
}

// elementVariables reads the variables of the elements of a block, and says
// which it could not read.
func elementVariables(s source, g *grid.Grid, names []string, b, step int) (left []string) {
	for i, name := range names {
		variable := fmt.Sprintf("vals_elem_var%deb%d", i+1, b)
		if !s.has(variable) {
			continue // the truth table says: not on this block
		}
		v, err := s.numbers(variable, step)
		a := grid.Array{Name: name, Comps: 1, Data: v}
		if err == nil && a.Values() != g.NumCells() {
			err = fmt.Errorf("%d values for %d elements", a.Values(), g.NumCells())
		}
		if err != nil {
			left = append(left, fmt.Sprintf("variable %q of element block %d is left out: %v", name, b, err))
			continue
		}
		g.CellData = append(g.CellData, a)
	}
	g.CellData = joinVectors(g.CellData)
	return left
}

// families are the endings of variables that make one: vectors of two and three
// components and symmetric tensors.
var families = [][]string{{"xx", "yy", "zz", "xy", "xz", "yz"}, {"x", "y", "z"}, {"x", "y"}}

// joinVectors makes vectors and tensors of variables that follow one another
// and differ in their endings only: Exodus has scalars only. The name is what
// they share, as in VTK.
func joinVectors(list []grid.Array) []grid.Array {
	var out []grid.Array
	for len(list) > 0 {
		n, name := family(list)
		a := list[0]
		if n > 1 {
			wide := make([]float64, a.Values()*n)
			for c := range n {
				for i := range a.Values() {
					wide[i*n+c] = list[c].At(i)
				}
			}
			a = grid.Array{Name: name, Comps: n, Data: wide}
		}
		out = append(out, a)
		list = list[n:]
	}
	return out
}

// family returns how many variables at the head of the list belong together,
// and the name they share.
func family(list []grid.Array) (int, string) {
	for _, endings := range families {
		size := len(endings[0])
		if len(list) < len(endings) || len(list[0].Name) <= size {
			continue
		}
		prefix := list[0].Name[:len(list[0].Name)-size]
		all := true
		for i, e := range endings {
			upper := list[i].Name == prefix+strings.ToUpper(e)
			all = all && (upper || list[i].Name == prefix+e) && list[i].Values() == list[0].Values()
		}
		if all {
			return len(endings), prefix
		}
	}
	return 1, ""
}

// displace moves the points by the first vector whose name starts with "dis",
// as ParaView does: the mesh of a step is the deformed one.
func displace(points []float64, nodal []grid.Array) {
	for i := range nodal {
		a := &nodal[i]
		if a.Comps < 2 || len(a.Name) < 3 || !strings.EqualFold(a.Name[:3], "dis") {
			continue
		}
		for k := range a.Len() {
			for c := range min(3, a.Comps) {
				points[3*k+c] += a.At(k*a.Comps + c)
			}
		}
		return
	}
}

// block reads one element block with the points it uses, numbered in order of
// first use, as VTK does.
func block(s source, b int, points grid.Array, nodal []grid.Array) (*grid.Grid, error) {
	name := fmt.Sprintf("connect%d", b)
	if !s.has(name) {
		return polyhedra(s, b, points, nodal)
	}
	conn, err := integers(s, name)
	if err != nil {
		return nil, err
	}
	kind := strings.ToUpper(strings.TrimRight(s.attr(name, "elem_type"), " \x00"))
	g := &grid.Grid{Layout: grid.Unstructured, Offsets: []int{0}}
	sizes, err := elementSizes(s, b, len(conn))
	if err != nil {
		return nil, err
	}
	var used []int
	number := map[int64]int32{}
	for _, n := range sizes {
		if n > len(conn) {
			return nil, fmt.Errorf("%s ends inside an element", name)
		}
		shape, order := elementShape(kind, n)
		for k := range n {
			id := conn[k]
			if order != nil {
				id = conn[order[k]]
			}
			if id < 1 || id > int64(points.Len()) {
				return nil, fmt.Errorf("node number %d; the mesh has %d nodes", id, points.Len())
			}
			if _, ok := number[id]; !ok {
				number[id] = int32(len(used))
				used = append(used, int(id-1))
			}
			g.Conn = append(g.Conn, number[id])
		}
		conn = conn[n:]
		g.Types = append(g.Types, shape)
		g.Offsets = append(g.Offsets, len(g.Conn))
	}
	g.Points = points.Gather(used)
	for i := range nodal {
		g.PointData = append(g.PointData, nodal[i].Gather(used))
	}
	return g, nil
}

// elementSizes returns the number of nodes of each element: one number for
// all, or a list of its own for polygons.
func elementSizes(s source, b, total int) ([]int, error) {
	if per := fmt.Sprintf("ebepecnt%d", b); s.has(per) {
		return counts(s, per, total)
	}
	per, ok := s.dim(fmt.Sprintf("num_nod_per_el%d", b))
	if !ok || per < 1 || total%per != 0 {
		return nil, fmt.Errorf("%d node numbers, %d per element", total, per)
	}
	sizes := make([]int, total/per)
	for i := range sizes {
		sizes[i] = per
	}
	return sizes, nil
}

// swapped turns Exodus' order of edge points (bottom, vertical, top) to VTK's
// (bottom, top, vertical).
var (
	hex20   = []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 12, 13, 14, 15}
	hex27   = append(hex20[:20:20], 23, 24, 25, 26, 21, 22, 20)
	wedge15 = []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14, 9, 10, 11}
)

// elementShape returns VTK's cell type for an element, and where its points
// are in Exodus' order (nil: the same).
func elementShape(kind string, n int) (grid.CellType, []int) {
	has := func(prefixes ...string) bool {
		for _, p := range prefixes {
			if strings.HasPrefix(kind, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("SPH", "CIR", "POI"):
		return grid.Vertex, nil
	case has("NSI"):
		return grid.Polygon, nil
	case has("TET"):
		return pickShape(n, map[int]grid.CellType{4: grid.Tetra, 10: 24}), nil
	case has("PYR"):
		return pickShape(n, map[int]grid.CellType{5: grid.Pyramid, 13: 27}), nil
	case has("WED"):
		if n == 15 {
			return 26, wedge15
		}
		return pickShape(n, map[int]grid.CellType{6: grid.Wedge}), nil
	case has("HEX"):
		switch n {
		case 20:
			return 25, hex20
		case 27:
			return 29, hex27
		}
		return pickShape(n, map[int]grid.CellType{8: grid.Hexahedron}), nil
	case has("QUA", "TRI", "SHE"):
		return pickShape(n, map[int]grid.CellType{3: grid.Triangle, 4: grid.Quad, 6: 22, 7: 34, 8: 23, 9: 28}), nil
	case has("BEA", "BAR", "TRU", "EDG", "ROD"):
		return pickShape(n, map[int]grid.CellType{2: grid.Line, 3: 21}), nil
	}
	return pickShape(n, map[int]grid.CellType{1: grid.Vertex, 2: grid.Line}), nil
}

// pickShape falls back to a cloud of points: the element is kept and can be
// selected, though it has no faces.
func pickShape(n int, known map[int]grid.CellType) grid.CellType {
	if t, ok := known[n]; ok {
		return t
	}
	return grid.PolyVertex
}

// rows cuts a character array of fixed width into texts.
func rows(b []byte, width int) []string {
	if width <= 0 {
		return nil
	}
	var out []string
	for ; len(b) >= width; b = b[width:] {
		text, _, _ := bytes.Cut(b[:width], []byte{0})
		out = append(out, strings.TrimRight(string(text), " "))
	}
	return out
}
