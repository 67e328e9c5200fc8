package exodus

import (
	"fmt"

	"github.com/isobath/isobath/internal/data/grid"
)

// integers reads a variable of whole numbers.
func integers(s source, name string) ([]int64, error) {
	v, err := s.numbers(name, -1)
	if err != nil {
		return nil, err
	}
	return (&grid.Array{Name: name, Comps: 1, Data: v}).Int64s()
}

// counts reads how many entries of a list each element has; together they fit
// into the list.
func counts(s source, name string, total int) ([]int, error) {
	list, err := integers(s, name)
	if err != nil {
		return nil, err
	}
	out := make([]int, len(list))
	for i, n := range list {
		if n < 0 || n > int64(total) {
			return nil, fmt.Errorf("%s: an element with %d of %d entries", name, n, total)
		}
		out[i] = int(n)
		total -= int(n)
	}
	return out, nil
}

// faceLists reads the faces of all face blocks, numbered through: the nodes of
// each, counted from 1.
func faceLists(s source) ([][]int64, error) {
	var faces [][]int64
	for f := 1; s.has(fmt.Sprintf("fbconn%d", f)); f++ {
		conn, err := integers(s, fmt.Sprintf("fbconn%d", f))
		if err != nil {
			return nil, err
		}
		sizes, err := counts(s, fmt.Sprintf("fbepecnt%d", f), len(conn))
		if err != nil {
			return nil, err
		}
		for _, n := range sizes {
			faces = append(faces, conn[:n])
			conn = conn[n:]
		}
	}
	return faces, nil
}

// polyhedra reads a block of type NFACED, whose elements are lists of faces.
func polyhedra(s source, b int, points grid.Array, nodal []grid.Array) (*grid.Grid, error) {
	name := fmt.Sprintf("facconn%d", b)
	conn, err := integers(s, name)
	if err != nil {
		return nil, err
	}
	sizes, err := counts(s, fmt.Sprintf("ebepecnt%d", b), len(conn))
	if err != nil {
		return nil, err
	}
	faces, err := faceLists(s)
	if err != nil {
		return nil, err
	}
	g := &grid.Grid{Layout: grid.Unstructured, Offsets: []int{0}}
	used, number := []int(nil), map[int64]int32{}
	for _, n := range sizes {
		g.FaceStart = append(g.FaceStart, len(g.Faces))
		g.Faces = append(g.Faces, int32(n))
		own := map[int32]bool{}
		for _, f := range conn[:n] {
			if f < 1 || f > int64(len(faces)) {
				return nil, fmt.Errorf("%s: face number %d; there are %d", name, f, len(faces))
			}
			g.Faces = append(g.Faces, int32(len(faces[f-1])))
			for _, id := range faces[f-1] {
				if id < 1 || id > int64(points.Len()) {
					return nil, fmt.Errorf("node number %d; the mesh has %d nodes", id, points.Len())
				}
				if _, ok := number[id]; !ok {
					number[id] = int32(len(used))
					used = append(used, int(id-1))
				}
				at := number[id]
				g.Faces = append(g.Faces, at)
				if !own[at] {
					own[at] = true
					g.Conn = append(g.Conn, at)
				}
			}
			if len(g.Faces) > grid.MaxCells {
				return nil, fmt.Errorf("%s: the faces of all elements have more than %d points", name, grid.MaxCells)
			}
		}
		conn = conn[n:]
		g.Types = append(g.Types, grid.Polyhedron)
		g.Offsets = append(g.Offsets, len(g.Conn))
	}
	g.Points = points.Gather(used)
	for i := range nodal {
		g.PointData = append(g.PointData, nodal[i].Gather(used))
	}
	return g, nil
}
