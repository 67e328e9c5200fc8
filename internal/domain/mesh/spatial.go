package mesh

import (
	"math"
	"math/rand/v2"

	"github.com/isobath/isobath/internal/base/stat"
	"github.com/isobath/isobath/internal/data/grid"
)

// Neighbouring cells are alike, so that a thousand of them may say no more than
// twenty that are far apart: two smooth fields that have nothing to do with each other
// often look related. Dutilleul (Biometrics 49, 1993, after Clifford, Richardson and
// Hémon, Biometrics 45, 1989) counts how many independent cells the given ones are
// worth, from how alike each field is at each distance, and tests with that number.

const (
	spatialCells   = 800 // cells that are compared with each other; more are drawn from
	spatialClasses = 24  // of distances
)

// cellCentres are the mean points of the cells of the pairs.
func (p *Pairs) cellCentres(m *grid.Mesh, cells []int32) [][3]float64 {
	first, at := []int{0}, make([][3]float64, len(cells))
	for i := range m.Blocks {
		first = append(first, first[i]+m.Blocks[i].Grid.NumCells())
	}
	var buf []int32
	for i, c := range cells {
		block := 0
		for block+2 < len(first) && int(c) >= first[block+1] {
			block++
		}
		g := m.Blocks[block].Grid
		_, ids := g.Cell(int(c)-first[block], buf)
		at[i] = meanPoint(g, ids)
		if g.Layout <= grid.Structured {
			buf = ids
		}
	}
	return at
}

// Spatial corrects a correlation for neighbours that are alike: it sets Effective and
// SpatialP. The same pairs give the same answer.
func (p *Pairs) Spatial(m *grid.Mesh, c *Correlation) {
	chosen := make([]int, len(p.Cell))
	for i := range chosen {
		chosen[i] = i
	}
	r := rand.New(rand.NewPCG(0x5ba71a1, uint64(len(chosen))))
	r.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
	chosen = chosen[:min(len(chosen), spatialCells)]
	x, y := ranks(p.Perf), ranks(p.Physics)
	cells := make([]int32, len(chosen))
	sx, sy := make([]float64, len(chosen)), make([]float64, len(chosen))
	for i, k := range chosen {
		cells[i], sx[i], sy[i] = p.Cell[k], x[k], y[k]
	}
	classes, most := distanceClasses(p.cellCentres(m, cells))
	c.Effective = effectiveCells(alike(sx, classes, most), alike(sy, classes, most), classes)
	c.SpatialP = coefficientP(c.Spearman, c.Effective)
}

// coefficientP is how often a coefficient as far from zero comes by chance, with so many
// independent cells.
func coefficientP(rho, cells float64) float64 {
	switch rho = math.Abs(rho); {
	case cells <= 2:
		return 1
	case rho >= 1:
		return 0
	}
	return min(1, 2*stat.StudentTail(rho*math.Sqrt((cells-2)/(1-rho*rho)), cells-2))
}

// distanceClasses gives each pair of points the class of its distance, row by row;
// the diagonal is class 0 of its own.
func distanceClasses(at [][3]float64) (classes []uint8, most int) {
	n := len(at)
	far := 0.0
	for i := range at {
		for j := range i {
			d := grid.Sub(at[i], at[j])
			far = max(far, grid.Dot(d, d))
		}
	}
	far = math.Sqrt(far)
	classes = make([]uint8, n*n)
	for i := range at {
		for j := range i {
			d := grid.Sub(at[i], at[j])
			k := 1
			if far > 0 {
				k += min(spatialClasses-1, int(spatialClasses*math.Sqrt(grid.Dot(d, d))/far))
			}
			classes[i*n+j], classes[j*n+i] = uint8(k), uint8(k)
		}
	}
	return classes, spatialClasses + 1
}

// alike is how alike a field is in each class of distances: 1 on the diagonal.
func alike(v []float64, classes []uint8, most int) []float64 {
	n, d := len(v), centred(v)
	sum, count := make([]float64, most), make([]float64, most)
	for i := range d {
		for j := range d {
			k := classes[i*n+j]
			sum[k] += d[i] * d[j]
			count[k]++
		}
	}
	variance := sum[0] / float64(n)
	for k := range sum {
		if count[k] > 0 && variance > 0 {
			sum[k] /= count[k] * variance
		}
	}
	return sum
}

// effectiveCells is 1 + tr(BX) tr(BY) / tr(BX BY), where X and Y have how alike the two
// fields are at the distance of each pair of cells, and B takes the mean away.
func effectiveCells(x, y []float64, classes []uint8) float64 {
	n := int(math.Sqrt(float64(len(classes))))
	meanX, meanY := make([]float64, n), make([]float64, n) // of the columns; the matrices are symmetric
	for i := range n {
		for j := range n {
			meanX[j] += x[classes[i*n+j]] / float64(n)
			meanY[j] += y[classes[i*n+j]] / float64(n)
		}
	}
	var traceX, traceY, both float64
	for i := range n {
		traceX += x[classes[i*n+i]] - meanX[i]
		traceY += y[classes[i*n+i]] - meanY[i]
		for j := range n {
			k := classes[i*n+j]
			both += (x[k] - meanX[j]) * (y[k] - meanY[i])
		}
	}
	if both <= 0 {
		return float64(n) // no more alike than by chance
	}
	return min(float64(n), 1+traceX*traceY/both)
}
