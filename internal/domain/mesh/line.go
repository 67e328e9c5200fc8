package mesh

import (
	"context"
	"fmt"
	"math"

	"github.com/isobath/isobath/internal/data/grid"
)

// LinePiece is a part of a line that lies in one cell: from and to are parts of its
// length, 0 to 1.
type LinePiece struct {
	Cell int     `json:"cell"`
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

// linePoints is how many places of a line are looked at; a cell that the line passes
// through on less than a two-thousandth of its length may be missed.
const linePoints = 2000

// Line lists the cells that a straight line passes through, in its order; parts outside
// of the mesh are in none. Where cells of levels lie on each other it is the finest.
func Line(ctx context.Context, m *grid.Mesh, sp *Space, from, to [3]float64) ([]LinePiece, error) {
	for k := range from {
		if !finite(from[k]) || !finite(to[k]) {
			return nil, fmt.Errorf("a line needs two points with three numbers each")
		}
	}
	at := &Positions{X: make([]float64, linePoints), Y: make([]float64, linePoints), Z: make([]float64, linePoints)}
	for i := range linePoints {
		t := (float64(i) + 0.5) / linePoints
		at.X[i], at.Y[i], at.Z[i] = from[0]+t*(to[0]-from[0]), from[1]+t*(to[1]-from[1]), from[2]+t*(to[2]-from[2])
	}
	cells, err := LocatePositions(ctx, at, m, sp)
	if err != nil {
		return nil, err
	}
	pieces := []LinePiece{}
	for i, c := range cells {
		if c < 0 {
			continue
		}
		end := float64(i+1) / linePoints
		if n := len(pieces); n > 0 && pieces[n-1].Cell == int(c) && math.Abs(pieces[n-1].To-float64(i)/linePoints) < 1e-9 {
			pieces[n-1].To = end
			continue
		}
		pieces = append(pieces, LinePiece{int(c), float64(i) / linePoints, end})
	}
	return pieces, nil
}
