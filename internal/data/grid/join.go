package grid

import (
	"errors"
	"fmt"
	"slices"
)

// Join makes one grid of the pieces of an Unstructured or Poly grid: points
// and cells one piece after another, arrays that all pieces have.
func Join(pieces []*Grid) (*Grid, error) {
	pieces = slices.DeleteFunc(slices.Clone(pieces), func(g *Grid) bool { return len(pieces) > 1 && g.NumPoints() == 0 })
	if len(pieces) == 0 {
		return &Grid{Layout: Unstructured, Offsets: []int{0}, Points: Array{Comps: 3, Data: []float32{}}}, nil
	}
	if len(pieces) == 1 {
		return pieces[0], nil
	}
	out := &Grid{Layout: pieces[0].Layout, Offsets: []int{0}, FieldData: pieces[0].FieldData}
	polyhedra := slices.ContainsFunc(pieces, func(g *Grid) bool { return g.FaceStart != nil })
	points, cells := 0, 0
	for _, p := range pieces {
		if points+p.NumPoints() > 1<<31-1 || cells+len(p.Types) > MaxCells {
			return nil, fmt.Errorf("the pieces have more than %d cells", MaxCells)
		}
		out.appendCells(p, int32(points), polyhedra)
		points, cells = points+p.NumPoints(), cells+len(p.Types)
	}
	var err error
	all := func(pick func(*Grid) *[]Array) []*[]Array {
		lists := make([]*[]Array, len(pieces))
		for i, p := range pieces {
			lists[i] = pick(p)
		}
		return lists
	}
	for _, p := range pieces {
		if out.Points.Data == nil {
			out.Points = p.Points
		} else if out.Points, err = concatArrays(out.Points, p.Points); err != nil {
			return nil, err
		}
	}
	if out.PointData, err = joinArrays(all(func(g *Grid) *[]Array { return &g.PointData })); err != nil {
		return nil, err
	}
	if out.CellData, err = joinArrays(all(func(g *Grid) *[]Array { return &g.CellData })); err != nil {
		return nil, err
	}
	if out.Layout == Poly {
		out.sortPoly()
	}
	return out, nil
}

func (g *Grid) appendCells(p *Grid, shift int32, polyhedra bool) {
	g.Types = append(g.Types, p.Types...)
	base := len(g.Conn)
	for _, id := range p.Conn {
		g.Conn = append(g.Conn, id+shift)
	}
	for _, o := range p.Offsets[1:] {
		g.Offsets = append(g.Offsets, base+o)
	}
	if !polyhedra {
		return
	}
	for i := range p.Types {
		if p.FaceStart == nil || p.FaceStart[i] < 0 {
			g.FaceStart = append(g.FaceStart, -1)
			continue
		}
		g.FaceStart = append(g.FaceStart, len(g.Faces))
		n := 0
		p.polyhedronFaces(i, func([]int32) { n++ })
		g.Faces = append(g.Faces, int32(n))
		p.polyhedronFaces(i, func(face []int32) {
			g.Faces = append(g.Faces, int32(len(face)))
			for _, id := range face {
				g.Faces = append(g.Faces, id+shift)
			}
		})
	}
}

// joinArrays joins the arrays that every list has, in the order of the first.
func joinArrays(lists []*[]Array) ([]Array, error) {
	var out []Array
next:
	for _, a := range *lists[0] {
		parts := []*Array{&a}
		for _, l := range lists[1:] {
			b := Find(*l, a.Name)
			if b == nil {
				continue next
			}
			parts = append(parts, b)
		}
		total := 0
		for _, p := range parts {
			total += p.Len()
		}
		if a.Data == nil {
			return nil, errors.New("array without values")
		}
		whole := a.Like(total)
		at := 0
		for _, p := range parts {
			if err := CopyTuples(&whole, at, p, 0, p.Len()); err != nil {
				return nil, err
			}
			at += p.Len()
		}
		out = append(out, whole)
	}
	return out, nil
}

// polyOrder is the order in which VTK numbers the cells of a Poly grid.
func polyOrder(t CellType) int {
	switch t {
	case Vertex, PolyVertex:
		return 0
	case Line, PolyLine:
		return 1
	case TriangleStrip:
		return 3
	}
	return 2
}

// sortPoly brings the cells of several joined pieces into VTK's order:
// vertices, lines, polygons, strips.
func (g *Grid) sortPoly() {
	order := make([]int, len(g.Types))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return polyOrder(g.Types[a]) - polyOrder(g.Types[b]) })
	types, conn, offsets := make([]CellType, 0, len(order)), make([]int32, 0, len(g.Conn)), []int{0}
	for _, i := range order {
		types = append(types, g.Types[i])
		conn = append(conn, g.Conn[g.Offsets[i]:g.Offsets[i+1]]...)
		offsets = append(offsets, len(conn))
	}
	g.Types, g.Conn, g.Offsets = types, conn, offsets
	for i := range g.CellData {
		g.CellData[i] = g.CellData[i].Gather(order)
	}
}

// Assemble makes one grid of pieces that each hold a part of an implicit
// layout's extent.
func Assemble(pieces []*Grid, whole [6]int) (*Grid, error) {
	if len(pieces) == 0 {
		return nil, errors.New("no pieces")
	}
	if len(pieces) == 1 && pieces[0].Extent == whole {
		return pieces[0], nil
	}
	first := pieces[0]
	out := &Grid{Layout: first.Layout, Extent: whole, Origin: first.Origin, Spacing: first.Spacing,
		Direction: first.Direction, FieldData: first.FieldData}
	if err := out.checkSize(); err != nil {
		return nil, err
	}
	have := 0
	for _, p := range pieces {
		d := p.Dims()
		have += d[0] * d[1] * d[2]
	}
	if d := out.Dims(); have < d[0]*d[1]*d[2] {
		return nil, fmt.Errorf("pieces hold %d of the %d points of the whole extent", have, d[0]*d[1]*d[2])
	}
	return out, out.place(pieces)
}

func (g *Grid) place(pieces []*Grid) error {
	d, c := g.Dims(), g.CellDims()
	points, cells := d[0]*d[1]*d[2], c[0]*c[1]*c[2]
	for _, p := range pieces {
		if p.NumPoints() == 0 {
			continue
		}
		for a := 0; a < 3; a++ {
			if p.Extent[2*a] < g.Extent[2*a] || p.Extent[2*a+1] > g.Extent[2*a+1] {
				return fmt.Errorf("piece %v lies outside the whole extent %v", p.Extent, g.Extent)
			}
		}
		if g.Layout == Structured {
			if err := placeArray(&g.Points, &p.Points, d, p.Dims(), g.Extent, p.Extent, points); err != nil {
				return err
			}
		}
		if g.Layout == Rectilinear {
			for a := range g.Axes {
				if g.Axes[a].Data == nil {
					g.Axes[a] = p.Axes[a].Like(d[a])
				}
				if err := CopyTuples(&g.Axes[a], p.Extent[2*a]-g.Extent[2*a], &p.Axes[a], 0, p.Dims()[a]); err != nil {
					return err
				}
			}
		}
		if err := placeAll(&g.PointData, p.PointData, d, p.Dims(), g.Extent, p.Extent, points); err != nil {
			return err
		}
		if err := placeAll(&g.CellData, p.CellData, c, p.CellDims(), g.Extent, p.Extent, cells); err != nil {
			return err
		}
	}
	return nil
}

func placeAll(dst *[]Array, src []Array, to, from [3]int, whole, part [6]int, n int) error {
	for i := range src {
		a := Find(*dst, src[i].Name)
		if a == nil {
			*dst = append(*dst, Array{Name: src[i].Name})
			a = &(*dst)[len(*dst)-1]
		}
		if err := placeArray(a, &src[i], to, from, whole, part, n); err != nil {
			return err
		}
	}
	return nil
}

// placeArray copies the tuples of one piece, row by row along the first axis,
// to their place in the whole.
func placeArray(dst, src *Array, to, from [3]int, whole, part [6]int, n int) error {
	if dst.Data == nil {
		*dst = src.Like(n)
	}
	if src.Len() != from[0]*from[1]*from[2] {
		return fmt.Errorf("array %q has %d tuples in a piece of %d", src.Name, src.Len(), from[0]*from[1]*from[2])
	}
	for k := range from[2] {
		for j := range from[1] {
			at := part[0] - whole[0] + to[0]*(part[2]-whole[2]+j+to[1]*(part[4]-whole[4]+k))
			if err := CopyTuples(dst, at, src, from[0]*(j+from[1]*k), from[0]); err != nil {
				return err
			}
		}
	}
	return nil
}
