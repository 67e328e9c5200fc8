package mesh

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/data/grid"
)

// TestOutsideOfRows: whatever is kept of cells in rows, the faces that neighbours'
// numbers give are those that points give, in the same order.
func TestOutsideOfRows(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 27))
	for n := range 60 {
		d := [3]int{1 + r.IntN(5), 1 + r.IntN(5), 1 + r.IntN(5)}
		g := &grid.Grid{Layout: grid.Image, Spacing: [3]float64{1, 1, 1}, Extent: [6]int{0, d[0], 0, d[1], 0, d[2]}}
		if n%3 > 0 {
			flat, err := (&grid.Mesh{Blocks: []grid.Block{{Grid: g}}}).Flatten()
			if err != nil {
				t.Fatal(err)
			}
			if g = flat; n%6 == 1 {
				g, err = (&grid.Mesh{Blocks: []grid.Block{{Grid: crumpled(2, 0.1, 1).Blocks[0].Grid}}}).Flatten()
				d = [3]int{2, 2, 2}
				if err != nil {
					t.Fatal(err)
				}
			} else if n%3 == 1 {
				g = &grid.Grid{Layout: grid.Structured, Extent: [6]int{0, d[0], 0, d[1], 0, d[2]}, Points: flat.Points}
			}
		}
		var keep []bool
		if n%4 > 0 {
			keep = make([]bool, g.NumCells())
			for c := range keep {
				keep[c] = r.IntN(4) >= n%4
			}
		}
		rows := solidRows(g)
		if rows != d {
			t.Fatalf("%s grid of %v cells: rows of %v", g.Layout, d, rows)
		}
		if got, want := facesOf(t, g, keep, true), facesOf(t, g, keep, false); !slices.Equal(got, want) {
			t.Fatalf("%s grid of %v cells: %d faces, want %d\n got %v\nwant %v", g.Layout, d, len(got), len(want), got, want)
		}
	}
}

func facesOf(t *testing.T, g *grid.Grid, keep []bool, rows bool) (faces []string) {
	t.Helper()
	visit := func(cell int, face []int32) { faces = append(faces, fmt.Sprint(cell, face)) }
	var err error
	if rows {
		err = outsideOfRows(t.Context(), g, solidRows(g), keep, visit)
	} else {
		err = outsideOfCells(t.Context(), g, keep, visit)
	}
	if err != nil {
		t.Fatal(err)
	}
	return faces
}

// TestSolidRowsOf: cells that are joined otherwise than in rows are not taken for rows,
// even if the first points of each are where those of rows are.
func TestSolidRowsOf(t *testing.T) {
	m := &grid.Mesh{Blocks: []grid.Block{{Grid: &grid.Grid{Layout: grid.Image, Spacing: [3]float64{1, 1, 1}, Extent: [6]int{0, 3, 0, 3, 0, 3}}}}}
	g, err := m.Flatten()
	if err != nil {
		t.Fatal(err)
	}
	if d := solidRows(g); d != [3]int{3, 3, 3} {
		t.Fatalf("rows of %v", d)
	}
	c := g.Conn[g.Offsets[13]:] // the cell in the middle gets another upper corner
	c[6]--
	if d := solidRows(g); d != ([3]int{}) {
		t.Errorf("a crack in the mesh, and rows of %v", d)
	}
}
