package demo

import (
	_ "embed"
	"math/rand/v2"

	"github.com/isobath/isobath/internal/machine/cachesim"
)

//go:embed source/lookup.c
var lookupSource string

// The sizes of lookup.c.
const (
	lookupThreads = 32
	tableRows     = 1 << 18
	tableWidth    = 6
	bucketSize    = 1024
	fullBucket    = 16 * bucketSize
	lookups       = 3000
	draws         = 12000
)

// lookup is the simulated program.
type lookup struct {
	*team
	table, grid, seed, sum *object
	bucket                 []*object
	random                 []*rand.Rand // the energies of each thread

	getSeed, setSeed, setBucket               *site
	low, high, setLow, setHigh                *site
	search, read, getTotal, setTotal          *site
	fillGrid, fillTable, fillBucket, fillSeed *site
}

// Lookup simulates the table-lookup program, which has three phases: cheap
// generation, a sort whose first bucket keeps one core busy in its L2, and
// lookups in a table that lies in the memory of node 0. Sampling starts when
// everything is set up.
func Lookup() (*Run, error) {
	cpus := make([]int, lookupThreads)
	for t := range cpus {
		cpus[t] = t
	}
	tm, err := newTeam(cachesim.TwoSocket(), cpus, 100, 30)
	if err != nil {
		return nil, err
	}
	src := newSource("lookup.c", lookupSource)
	p := &lookup{team: tm}
	objects := p.arrays()
	p.sites(src)
	if err := src.err(); err != nil {
		return nil, err
	}
	p.run()
	return tm.finish(program{name: "lookup", command: []string{"./lookup"}, source: src, text: lookupSource, objects: objects})
}

func (p *lookup) arrays() []*object {
	var h heap
	p.table = h.array("table", 8, tableRows*tableWidth)
	p.grid = h.array("grid", 8, tableRows)
	p.seed = &object{name: "seed", base: bssStart &^ 63, width: 8, count: 8 * lookupThreads}
	p.sum = &object{name: "total", base: p.seed.base + 64*lookupThreads, width: 8, count: 8 * lookupThreads}
	all := []*object{p.table, p.grid, p.seed, p.sum}
	for t := range lookupThreads {
		b := h.array("bucket", 8, p.size(t))
		p.bucket = append(p.bucket, b)
		p.random = append(p.random, rand.New(rand.NewPCG(uint64(t), 3)))
		all = append(all, b)
	}
	return all
}

func (p *lookup) size(t int) int {
	if t == 0 {
		return fullBucket
	}
	return bucketSize
}

func (p *lookup) sites(s *source) {
	p.fillGrid = s.store("setup", "grid[i] = ", "movsd %xmm0,(%rdi,%rcx,8)")
	p.fillTable = s.store("setup", "table[i * WIDTH + k] =", "movsd %xmm0,(%rsi,%rax,8)")
	p.fillBucket = s.store("setup", "bucket[t] = calloc", "rep stos %rax,(%rdi)")
	p.fillSeed = s.store("setup", "seed[t][0] = 88172645463325252UL", "mov %rax,(%rbx)")
	p.getSeed = s.load("draw", "unsigned long s = seed", "mov (%rbx),%rax")
	p.setSeed = s.store("draw", "seed[t][0] = s;", "mov %rax,(%rbx)")
	p.setBucket = s.store("generate", "bucket[t][i % BUCKET] = e", "movsd %xmm0,(%r8,%rdx,8)")
	p.low = s.load("sort", "double low = b[i]", "movsd (%r8,%rcx,8),%xmm0")
	p.high = s.load("sort", "double high = b[i + gap]", "movsd (%r8,%rdx,8),%xmm1")
	p.setLow = s.store("sort", "b[i] = high", "movsd %xmm1,(%r8,%rcx,8)")
	p.setHigh = s.store("sort", "b[i + gap] = low", "movsd %xmm0,(%r8,%rdx,8)")
	p.search = s.load("find", "if (grid[mid] > e)", "comisd (%rdi,%rdx,8),%xmm0")
	p.read = s.load("lookup", "sum += table[row * WIDTH + k]", "addsd (%rsi,%rax,8),%xmm1")
	p.getTotal = s.load("lookup", "total[t][0] += sum", "addsd (%r9),%xmm1")
	p.setTotal = s.store("lookup", "total[t][0] += sum", "movsd %xmm1,(%r9)")
}

func (p *lookup) run() {
	p.setup()
	p.resume()
	p.parallel(func(t *thread) func() bool { return times(draws/8, func(i int) { p.generate(t, 8*i) }) })
	p.parallel(p.sort)
	p.parallel(func(t *thread) func() bool { return times(lookups, func(int) { p.look(t) }) })
}

// times returns work of n equal pieces.
func times(n int, piece func(i int)) func() bool {
	i := 0
	return func() bool {
		piece(i)
		i++
		return i < n
	}
}

// setup runs on thread 0, so that every page lies on node 0; then every thread
// warms its own bucket, the part that generate writes last.
func (p *lookup) setup() {
	p.on = false
	main := p.threads[0]
	for i := range tableRows {
		main.touch(p.fillGrid, p.grid, i)
		for k := range tableWidth {
			main.touch(p.fillTable, p.table, i*tableWidth+k)
		}
	}
	for t := range lookupThreads {
		main.touch(p.fillSeed, p.seed, 8*t)
		main.touch(p.setTotal, p.sum, 8*t)
		for i := range p.size(t) {
			main.touch(p.fillBucket, p.bucket[t], i)
		}
	}
	p.barrier()
	for _, t := range p.threads {
		t.touch(p.setSeed, p.seed, 8*t.id)
		for i := p.size(t.id) - 1; i >= 0; i-- {
			t.touch(p.setLow, p.bucket[t.id], i)
		}
	}
	p.barrier()
}

func (p *lookup) draw(t *thread) {
	t.touch(p.getSeed, p.seed, 8*t.id)
	t.touch(p.setSeed, p.seed, 8*t.id)
	t.clock += 40 // shifts, a conversion and a division
}

func (p *lookup) generate(t *thread, from int) {
	for i := from; i < from+8; i++ {
		p.draw(t)
		t.touch(p.setBucket, p.bucket[t.id], i%bucketSize)
	}
}

// sort compares as sort() does; one pair in three is exchanged.
func (p *lookup) sort(t *thread) func() bool {
	n, b := p.size(t.id), p.bucket[t.id]
	gap, i := n*2/3, 0
	return func() bool {
		for range 8 {
			if i+gap >= n {
				if gap <= 1 {
					return false
				}
				gap, i = gap*2/3, 0
			}
			t.touch(p.low, b, i)
			t.touch(p.high, b, i+gap)
			if p.random[t.id].IntN(3) == 0 {
				t.touch(p.setLow, b, i)
				t.touch(p.setHigh, b, i+gap)
			}
			i++
		}
		return true
	}
}

func (p *lookup) look(t *thread) {
	p.draw(t)
	row := p.random[t.id].IntN(tableRows)
	lo, hi := 0, tableRows
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		t.touch(p.search, p.grid, mid)
		if mid > row {
			hi = mid
		} else {
			lo = mid
		}
	}
	for k := range tableWidth {
		t.touch(p.read, p.table, row*tableWidth+k)
	}
	t.touch(p.getTotal, p.sum, 8*t.id)
	t.touch(p.setTotal, p.sum, 8*t.id)
}
