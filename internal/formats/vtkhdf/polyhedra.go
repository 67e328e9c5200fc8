package vtkhdf

import (
	"fmt"

	"github.com/isobath/isobath/internal/data/grid"
)

func (w *cellWalk) beginFaces() error {
	for _, o := range []struct {
		name string
		at   *int
	}{{"FaceOffsetsOffsets", &w.faces}, {"FaceConnectivityOffsets", &w.faceConn}, {"PolyhedronToFaceIdOffsets", &w.toFaces}} {
		var err error
		if *o.at, err = w.r.offset(o.name); err != nil {
			return err
		}
	}
	return nil
}

// polyhedra adds the faces of the polyhedra of one part, whose cells begin at
// cell at of all. Faces are numbered within the part; every cell has a range of
// them, empty for other shapes (VTKHDF 2.5).
func (w *cellWalk) polyhedra(g *grid.Grid, part, at int) error {
	some := false
	for _, t := range g.Types {
		some = some || t == grid.Polyhedron
	}
	if !w.r.root.HasLink("FaceConnectivity") {
		if some {
			return fmt.Errorf("part %d has polyhedra, and the file no FaceConnectivity to say of which faces", part)
		}
		return nil
	}
	p := w.first + part
	faces, err := w.count("NumberOfFaces", p)
	if err != nil {
		return err
	}
	conn, err := w.count("NumberOfFaceConnectivityIds", p)
	if err != nil {
		return err
	}
	ids, err := w.count("NumberOfPolyhedronToFaceIds", p)
	if err != nil {
		return err
	}
	if some {
		var f polyFaces
		// As everywhere in the format, offsets have one entry more in every part.
		if f.faceOff, err = w.longs("FaceOffsets", w.faces+p, faces+1); err != nil {
			return err
		}
		if f.points, err = w.longs("FaceConnectivity", w.faceConn, conn); err != nil {
			return err
		}
		if f.cellOff, err = w.longs("PolyhedronOffsets", at+p, len(g.Types)+1); err != nil {
			return err
		}
		if f.faces, err = w.longs("PolyhedronToFaces", w.toFaces, ids); err != nil {
			return err
		}
		if err := f.fill(g); err != nil {
			return fmt.Errorf("part %d: %w", part, err)
		}
	}
	w.faces, w.faceConn, w.toFaces = w.faces+faces, w.faceConn+conn, w.toFaces+ids
	return nil
}

// count is the entry of a part in a list of counts.
func (w *cellWalk) count(name string, part int) (int, error) {
	list, err := w.r.ints(name)
	if err != nil {
		return 0, err
	}
	if part >= len(list) || list[part] < 0 || list[part] > grid.MaxCells {
		return 0, fmt.Errorf("%s has no count for part %d", name, part)
	}
	return list[part], nil
}

func (w *cellWalk) longs(name string, at, n int) ([]int64, error) {
	a, err := w.r.tuples(name, at, n)
	if err != nil {
		return nil, err
	}
	return a.Int64s()
}

// polyFaces are the faces of the cells of a part.
type polyFaces struct {
	faceOff, points []int64 // points of each face
	cellOff, faces  []int64 // faces of each cell
}

// span is entry i of a list with offsets, checked.
func span(what string, off, list []int64, i int64) ([]int64, error) {
	if i < 0 || i+1 >= int64(len(off)) {
		return nil, fmt.Errorf("%s %d of %d", what, i, len(off)-1)
	}
	if a, b := off[i], off[i+1]; a >= 0 && a <= b && b <= int64(len(list)) {
		return list[a:b], nil
	}
	return nil, fmt.Errorf("%s %d has entries %d to %d of %d", what, i, off[i], off[i+1], len(list))
}

func (f *polyFaces) fill(g *grid.Grid) error {
	for c, t := range g.Types {
		if t != grid.Polyhedron {
			g.FaceStart = append(g.FaceStart, -1)
			continue
		}
		faces, err := span("cell", f.cellOff, f.faces, int64(c))
		if err != nil {
			return err
		}
		g.FaceStart = append(g.FaceStart, len(g.Faces))
		g.Faces = append(g.Faces, int32(len(faces)))
		for _, face := range faces {
			points, err := span("face", f.faceOff, f.points, face)
			if err != nil {
				return err
			}
			// One face may be named by any number of cells.
			if len(points) > grid.MaxCells-len(g.Faces) {
				return fmt.Errorf("cell %d: the faces have more than %d points", c, grid.MaxCells)
			}
			g.Faces = append(g.Faces, int32(len(points)))
			for _, id := range points {
				if id < 0 || id > 1<<31-1 {
					return fmt.Errorf("face %d: point number %d", face, id)
				}
				g.Faces = append(g.Faces, int32(id))
			}
		}
	}
	return nil
}
