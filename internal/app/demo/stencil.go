package demo

import (
	_ "embed"

	"github.com/isobath/isobath/internal/machine/cachesim"
)

//go:embed source/stencil.c
var stencilSource string

// stencilFile is the name of the source in the file column.
const stencilFile = "stencil.c"

// The sizes of stencil.c.
const (
	nx, ny, nz        = 192, 20, 120
	stencilCores      = 16
	stencilThreads    = 30
	stencilIterations = 8
	materials         = 8192
)

// StencilOptions choose a variant of the stencil program.
type StencilOptions struct {
	// Fixed runs the program with parallel first touch, slabs of planes, and
	// neighbouring threads on neighbouring cores.
	Fixed bool
	// Period is the mean number of accesses of a thread between two samples;
	// 0 means that of the built-in run.
	Period int
	// Iterations to run; 0 means those of the source.
	Iterations int
}

// stencilPeriod gives some 80,000 samples for 8 iterations.
const stencilPeriod = 480

// stencil is the simulated program: its arrays and the accesses of its lines.
type stencil struct {
	*team
	fixed                                         bool
	u, unew, rhs, material, coef, partial         *object
	fillU, fillUnew, fillRHS, fillMaterial        *site
	left, leftTo, right, rightTo                  *site
	bottom, bottomTo, top, topTo                  *site
	getMaterial, getCoef, west, east, south       *site
	north, below, above, center, setUnew, getRHS  *site
	resNew, resOld, getPartial, setPartial, total *site
	fillCoef, clear                               *site
}

// Stencil simulates the stencil program and returns the sampled run.
func Stencil(opt StencilOptions) (*Run, error) {
	if opt.Period == 0 {
		opt.Period = stencilPeriod
	}
	if opt.Iterations == 0 {
		opt.Iterations = stencilIterations
	}
	cfg := cachesim.TwoSocket()
	tm, err := newTeam(cfg, stencilPlaces(opt.Fixed), opt.Period, 20)
	if err != nil {
		return nil, err
	}
	src := newSource(stencilFile, stencilSource)
	p := &stencil{team: tm, fixed: opt.Fixed}
	p.arrays()
	p.sites(src)
	if err := src.err(); err != nil {
		return nil, err
	}
	objects := []*object{p.u, p.unew, p.rhs, p.material, p.coef, p.partial}
	p.run(opt.Iterations)
	name, command := "stencil", []string{"./stencil"}
	if opt.Fixed {
		name, command = "stencil-fixed", []string{"./stencil-fixed"}
	}
	return tm.finish(program{name: name, command: command, source: src, text: stencilSource, objects: objects})
}

// owner and place are the functions of the same names in stencil.c.
func (p *stencil) owner(z int) int {
	if p.fixed {
		return z / (nz / stencilThreads)
	}
	return z % stencilThreads
}

func place(t int, fixed bool) int {
	switch k := t / 2; {
	case fixed:
		return k + stencilCores*(t%2)
	case t >= 28:
		return stencilCores/2 - 1 + stencilCores*(t%2)
	default:
		return k/7*stencilCores + k%7 + t%2*stencilCores/2
	}
}

func stencilPlaces(fixed bool) []int {
	cpus := make([]int, stencilThreads)
	for t := range cpus {
		cpus[t] = place(t, fixed)
	}
	return cpus
}

func (p *stencil) arrays() {
	const cells = nx * ny * nz
	var h heap
	p.u = h.array("u", 8, cells)
	p.unew = h.array("unew", 8, cells)
	p.rhs = h.array("rhs", 8, cells)
	p.material = h.array("material", 4, cells)
	p.coef = h.array("coef", 8, materials)
	p.partial = &object{name: "partial", base: bssStart, width: 8, count: stencilThreads}
}

func (p *stencil) sites(s *source) {
	p.fillCoef = s.store("main", "coef[m] = ", "movsd %xmm0,(%rax,%rdx,8)")
	p.clear = s.store("main", "partial[t] = 0.0", "movq $0x0,(%r12)")

	p.fillU = s.store("fill", "u[i] = x == 0", "movsd %xmm0,(%rdi,%rcx,8)")
	p.fillUnew = s.store("fill", "unew[i] = 0.0", "movq $0x0,(%rsi,%rcx,8)")
	p.fillRHS = s.store("fill", "rhs[i] = ", "movsd %xmm1,(%r8,%rcx,8)")
	p.fillMaterial = s.store("fill", "material[i] = ", "mov %eax,(%r9,%rcx,4)")

	p.left = s.load("boundary", "u[at(0, y, z)] =", "movsd 0x8(%rdi),%xmm0")
	p.leftTo = s.store("boundary", "u[at(0, y, z)] =", "movsd %xmm0,(%rdi)")
	p.right = s.load("boundary", "u[at(NX - 1, y, z)] =", "movsd 0x5f0(%rdi),%xmm0")
	p.rightTo = s.store("boundary", "u[at(NX - 1, y, z)] =", "movsd %xmm0,0x5f8(%rdi)")
	p.bottom = s.load("boundary", "u[at(x, 0, z)] =", "movsd 0x600(%rsi,%rcx,8),%xmm0")
	p.bottomTo = s.store("boundary", "u[at(x, 0, z)] =", "movsd %xmm0,(%rsi,%rcx,8)")
	p.top = s.load("boundary", "u[at(x, NY - 1, z)] =", "movsd 0x6c00(%rsi,%rcx,8),%xmm0")
	p.topTo = s.store("boundary", "u[at(x, NY - 1, z)] =", "movsd %xmm0,0x7200(%rsi,%rcx,8)")

	p.getMaterial = s.load("sweep", "coef[material[i]]", "movslq (%r9,%rcx,4),%rax")
	p.getCoef = s.load("sweep", "coef[material[i]]", "movsd (%r10,%rax,8),%xmm2")
	p.west = s.load("sweep", "double sum = u[i - 1]", "movsd -0x8(%rdi,%rcx,8),%xmm0")
	p.east = s.load("sweep", "double sum = u[i - 1]", "addsd 0x8(%rdi,%rcx,8),%xmm0")
	p.south = s.load("sweep", "u[i - NX] + u[i + NX]", "addsd -0x600(%rdi,%rcx,8),%xmm0")
	p.north = s.load("sweep", "u[i - NX] + u[i + NX]", "addsd 0x600(%rdi,%rcx,8),%xmm0")
	p.below = s.load("sweep", "u[i - NX * NY]", "addsd -0x7800(%rdi,%rcx,8),%xmm0")
	p.above = s.load("sweep", "u[i - NX * NY]", "addsd 0x7800(%rdi,%rcx,8),%xmm0")
	p.center = s.load("sweep", "unew[i] = u[i]", "movsd (%rdi,%rcx,8),%xmm1")
	p.getRHS = s.load("sweep", "+ rhs[i];", "addsd (%r8,%rcx,8),%xmm0")
	p.setUnew = s.store("sweep", "unew[i] = u[i]", "movsd %xmm0,(%rsi,%rcx,8)")

	p.resNew = s.load("residual", "double d = unew[i]", "movsd (%rsi,%rcx,8),%xmm0")
	p.resOld = s.load("residual", "double d = unew[i]", "subsd (%rdi,%rcx,8),%xmm0")
	p.getPartial = s.load("residual", "partial[t] += row", "addsd (%r12),%xmm1")
	p.setPartial = s.store("residual", "partial[t] += row", "movsd %xmm1,(%r12)")
	p.total = s.load("reduce", "total += partial[t]", "addsd (%rax,%rdx,8),%xmm0")
}

func at(x, y, z int) int { return (z*ny+y)*nx + x }

func (p *stencil) run(iterations int) {
	main := p.threads[0]
	for m := range materials {
		main.touch(p.fillCoef, p.coef, m)
	}
	if p.fixed {
		p.rows(0, nz, 0, ny, 0, nx, p.fill)
	} else {
		for z := range nz {
			for y := range ny {
				p.fill(main, 0, nx, y, z)
			}
		}
		p.barrier()
	}
	for n := range iterations {
		for _, t := range p.threads {
			t.n = n
			t.touch(p.clear, p.partial, t.id)
		}
		p.barrier()
		p.rows(0, nz, 0, ny, 0, nx, p.boundary)
		p.rows(1, nz-1, 1, ny-1, 1, nx-1, p.sweep)
		p.rows(1, nz-1, 1, ny-1, 1, nx-1, p.residual)
		for t := range p.threads {
			main.touch(p.total, p.partial, t)
		}
		p.u, p.unew = p.unew, p.u
		p.barrier()
	}
}

// rows runs body over the planes of every thread, a piece of a row at a time:
// cells x0 to x1 of row y in plane z, one cache line of doubles.
func (p *stencil) rows(z0, z1, y0, y1, x0, x1 int, body func(t *thread, x0, x1, y, z int)) {
	p.parallel(func(t *thread) func() bool {
		x, y, z := x0, y0, z0
		for z < z1 && p.owner(z) != t.id {
			z++
		}
		return func() bool {
			if z >= z1 {
				return false
			}
			end := min(x1, (x/8+1)*8)
			body(t, x, end, y, z)
			if x = end; x < x1 {
				return true
			}
			if x, y = x0, y+1; y < y1 {
				return true
			}
			y = y0
			for z++; z < z1 && p.owner(z) != t.id; {
				z++
			}
			return z < z1
		}
	})
}

func (p *stencil) fill(t *thread, x0, x1, y, z int) {
	for x := x0; x < x1; x++ {
		t.x, t.y, t.z = x, y, z
		i := at(x, y, z)
		t.touch(p.fillU, p.u, i)
		t.touch(p.fillUnew, p.unew, i)
		t.touch(p.fillRHS, p.rhs, i)
		t.touch(p.fillMaterial, p.material, i)
	}
}

// boundary does its part of a plane whenever the row it belongs to is reached.
func (p *stencil) boundary(t *thread, x0, x1, y, z int) {
	t.x, t.y, t.z = 0, y, z
	inside := y > 0 && y < ny-1
	if x0 == 0 && inside {
		t.touch(p.left, p.u, at(1, y, z))
		t.touch(p.leftTo, p.u, at(0, y, z))
	}
	if x1 == nx && inside {
		t.x = nx - 1
		t.touch(p.right, p.u, at(nx-2, y, z))
		t.touch(p.rightTo, p.u, at(nx-1, y, z))
	}
	for x := x0; x < x1 && !inside; x++ {
		t.x = x
		if y == 0 {
			t.touch(p.bottom, p.u, at(x, 1, z))
			t.touch(p.bottomTo, p.u, at(x, 0, z))
		} else {
			t.touch(p.top, p.u, at(x, ny-2, z))
			t.touch(p.topTo, p.u, at(x, ny-1, z))
		}
	}
}

func (p *stencil) sweep(t *thread, x0, x1, y, z int) {
	for x := x0; x < x1; x++ {
		t.x, t.y, t.z = x, y, z
		i := at(x, y, z)
		t.touch(p.getMaterial, p.material, i)
		t.touch(p.getCoef, p.coef, (x*37+y*101+z*53)%materials)
		t.touch(p.west, p.u, i-1)
		t.touch(p.east, p.u, i+1)
		t.touch(p.south, p.u, i-nx)
		t.touch(p.north, p.u, i+nx)
		t.touch(p.below, p.u, i-nx*ny)
		t.touch(p.above, p.u, i+nx*ny)
		t.touch(p.center, p.u, i)
		t.touch(p.getRHS, p.rhs, i)
		t.touch(p.setUnew, p.unew, i)
		t.clock += 4 // the arithmetic
	}
}

func (p *stencil) residual(t *thread, x0, x1, y, z int) {
	for x := x0; x < x1; x++ {
		t.x, t.y, t.z = x, y, z
		i := at(x, y, z)
		t.touch(p.resNew, p.unew, i)
		t.touch(p.resOld, p.u, i)
		t.clock += 2
	}
	if x1 == nx-1 {
		t.x = none // the whole row
		t.touch(p.getPartial, p.partial, t.id)
		t.touch(p.setPartial, p.partial, t.id)
	}
}
