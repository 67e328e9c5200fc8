package demo

import "isobath/internal/grid"

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
// of a dump has thirty, enough to see in which planes they are late.
func DumpCells() [3]int { return [3]int{dumpX, dumpY, 1} }

const dumpX, dumpY = 16, 10

// Dump is the grid of the stencil program after an iteration, coarser than the
// program's own along x and y: the mean of the temperature that the program
// computes, and the thread that owns the plane. The program is computed anew,
// not simulated.
func Dump(iteration int) (*grid.Mesh, error) {
	s := newHeat()
	for range iteration + 1 {
		s.step()
	}
	const cx, cy = nx / dumpX, ny / dumpY
	mean, threads := make([]float64, cx*cy*nz), make([]int32, cx*cy*nz)
	for i, u := range s.u {
		x, y, z := i%nx, i/nx%ny, i/(nx*ny)
		mean[(z*cy+y/dumpY)*cx+x/dumpX] += u / (dumpX * dumpY)
	}
	for i := range threads {
		threads[i] = int32(i / (cx * cy) % stencilThreads)
	}
	g := &grid.Grid{Layout: grid.Image, Spacing: [3]float64{dumpX, dumpY, 1}, Extent: [6]int{0, cx, 0, cy, 0, nz}}
	g.CellData = []grid.Array{{Name: "u", Comps: 1, Data: mean}, {Name: "thread", Comps: 1, Data: threads}}
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
