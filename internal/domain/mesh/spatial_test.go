package mesh

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/grid"
)

// smooth is a random field on n × n cells whose neighbours within a reach are alike.
func smooth(r *rand.Rand, n, reach int) []float64 {
	raw, out := make([]float64, n*n), make([]float64, n*n)
	for i := range raw {
		raw[i] = r.NormFloat64()
	}
	for y := range n {
		for x := range n {
			for dy := -reach; dy <= reach; dy++ {
				for dx := -reach; dx <= reach; dx++ {
					out[y*n+x] += raw[(y+dy+n)%n*n+(x+dx+n)%n]
				}
			}
		}
	}
	return out
}

// TestSpatialFalseAlarms relates fields that have nothing to do with each other: taking
// cells as independent finds a relation in most smooth ones, the corrected test in about
// as many as its level says. Real relations are still found.
func TestSpatialFalseAlarms(t *testing.T) {
	test.NoRaces(t, "statistics of 720 pairs of small fields, each in one goroutine")
	const n, trials = 16, 120
	m := &grid.Mesh{Blocks: []grid.Block{{Grid: &grid.Grid{Layout: grid.Image, Spacing: [3]float64{1, 1, 1}, Extent: [6]int{0, n, 0, n, 0, 0}}}}}
	r := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		reach       int
		independent float64 // alarms of the plain test, at least
	}{{0, 0}, {2, 0.3}, {4, 0.4}} {
		plain, spatial, found, missed := 0, 0, 0, 0
		for range trials {
			x := smooth(r, n, c.reach)
			related := make([]float64, len(x))
			scale := float64(2*c.reach + 1)
			for i := range x {
				related[i] = x[i] + 0.5*scale*r.NormFloat64()
			}
			for _, y := range [][]float64{smooth(r, n, c.reach), related} {
				p := &Pairs{Perf: x, Physics: y}
				for i := range x {
					p.Cell = append(p.Cell, int32(i))
				}
				k, err := p.Coefficients(context.Background(), 1)
				if err != nil {
					t.Fatal(err)
				}
				p.Spatial(m, k)
				if &y[0] == &related[0] {
					if k.SpatialP < 0.05 {
						found++
					} else {
						missed++
					}
					continue
				}
				if k.SpatialP < 0.05 {
					spatial++
				}
				if coefficientP(k.Spearman, n*n) < 0.05 {
					plain++
				}
			}
		}
		t.Logf("reach %d: alarms %d plain, %d spatial of %d; real relations found %d, missed %d", c.reach, plain, spatial, trials, found, missed)
		if float64(spatial) > 0.12*trials || float64(plain) < c.independent*trials || found < 9*trials/10 {
			t.Errorf("reach %d: alarms %d plain, %d spatial of %d; found %d", c.reach, plain, spatial, trials, found)
		}
	}
}

// TestSpatialByCategory: the p-value of a region is that of its cells alone.
func TestSpatialByCategory(t *testing.T) {
	const n = 16
	m := &grid.Mesh{Blocks: []grid.Block{{Grid: &grid.Grid{Layout: grid.Image, Spacing: [3]float64{1, 1, 1}, Extent: [6]int{0, n, 0, n, 0, 0}}}}}
	r := rand.New(rand.NewPCG(7, 8))
	x, y := smooth(r, n, 3), smooth(r, n, 3)
	all, halves := &Pairs{}, [2]*Pairs{{}, {}}
	for i := range x {
		half := i % n * 2 / n
		for _, p := range []*Pairs{all, halves[half]} {
			p.Cell, p.Perf, p.Physics = append(p.Cell, int32(i)), append(p.Perf, x[i]), append(p.Physics, y[i])
		}
		all.Category = append(all.Category, float64(half))
	}
	got := all.ByCategory(t.Context(), m, 1, true)
	for i, p := range halves {
		want, err := p.Coefficients(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		p.Spatial(m, want)
		c := got[i].Correlation
		if c == nil || c.SpatialP != want.SpatialP || c.Effective != want.Effective || c.Effective > n*n/4 {
			t.Errorf("half %d: %+v, want p %g of %g cells", i, c, want.SpatialP, want.Effective)
		}
	}
}
