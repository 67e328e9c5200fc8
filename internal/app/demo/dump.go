package demo

import "github.com/isobath/isobath/internal/data/grid"

// Dumps are the iterations after which the stencil program's grid is known.
func Dumps() []int64 {
	out := make([]int64, stencilIterations)
	for i := range out {
		out[i] = int64(i)
	}
	return out
}

// DumpCells is how many cells of the program along each axis make one cell of a
// dump. The program has five times more cells than the run has samples; a cell
// of a dump has some sixty, so that its latency is a mean and not a chance. Rows
// along y stay apart: the first and the last are the walls.
func DumpCells() [3]int { return [3]int{dumpX, 1, dumpZ} }

const (
	dumpX, dumpZ = 24, 12
	dumpNX       = nx / dumpX
	dumpNZ       = nz / dumpZ
)

// Regions of a dump: the rows that stencil.c's boundary copies, and the rest.
const (
	regionInside int32 = iota
	regionWall
)

// Dump is the grid of the stencil program after an iteration, coarser than the
// program's own along x and z: the mean of the temperature that the program
// computes, and the region. The program is computed anew, not simulated.
func Dump(iteration int) (*grid.Mesh, error) {
	s := newHeat()
	for range iteration + 1 {
		s.step()
	}
	mean, region := make([]float64, dumpNX*ny*dumpNZ), make([]int32, dumpNX*ny*dumpNZ)
	for i, u := range s.u {
		x, y, z := i%nx, i/nx%ny, i/(nx*ny)
		cell := (z/dumpZ*ny+y)*dumpNX + x/dumpX
		mean[cell] += u / (dumpX * dumpZ)
		if y == 0 || y == ny-1 {
			region[cell] = regionWall
		}
	}
	g := &grid.Grid{Layout: grid.Image, Spacing: [3]float64{dumpX, 1, dumpZ}, Extent: [6]int{0, dumpNX, 0, ny, 0, dumpNZ}}
	g.CellData = []grid.Array{{Name: "u", Comps: 1, Data: mean}, {Name: "region", Comps: 1, Data: region}}
	m := &grid.Mesh{Blocks: []grid.Block{{Grid: g}}, Cycle: int64(iteration), HasCycle: true}
	return m, g.Check()
}

// heat is the state of stencil.c; its methods are the functions of the same
// names there, for all planes at once.
type heat struct {
	u, next, rhs []float64
	material     []int32
}

func newHeat() *heat {
	const cells = nx * ny * nz
	h := &heat{make([]float64, cells), make([]float64, cells), make([]float64, cells), make([]int32, cells)}
	for i := range h.u {
		x, y, z := i%nx, i/nx%ny, i/(nx*ny)
		if x == 0 {
			h.u[i] = 1
		}
		h.rhs[i] = 1e-3 * float64((x^y^z)&7)
		h.material[i] = int32((x*37 + y*101 + z*53) % materials)
	}
	return h
}

func (h *heat) step() {
	for z := range nz {
		h.boundary(z)
	}
	for z := 1; z < nz-1; z++ {
		h.sweep(z)
	}
	h.u, h.next = h.next, h.u
}

func (h *heat) boundary(z int) {
	at := func(x, y int) int { return (z*ny+y)*nx + x }
	for y := 1; y < ny-1; y++ {
		h.u[at(0, y)] = h.u[at(1, y)]
		h.u[at(nx-1, y)] = h.u[at(nx-2, y)]
	}
	for x := range nx {
		h.u[at(x, 0)] = h.u[at(x, 1)]
		h.u[at(x, ny-1)] = h.u[at(x, ny-2)]
	}
}

func (h *heat) sweep(z int) {
	u := h.u
	for y := 1; y < ny-1; y++ {
		for x := 1; x < nx-1; x++ {
			i := (z*ny+y)*nx + x
			c := 0.05 + 0.1*float64(h.material[i])/materials
			sum := u[i-1] + u[i+1] + u[i-nx] + u[i+nx] + u[i-nx*ny] + u[i+nx*ny]
			h.next[i] = u[i] + c*(sum-6*u[i]) + h.rhs[i]
		}
	}
}
