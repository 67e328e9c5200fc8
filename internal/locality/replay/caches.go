package replay

import (
	"math/bits"

	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/machine/cachesim"
)

// Counts is what a machine counted.
type Counts struct {
	References uint64
	Misses     []uint64 // lines fetched, by level
	Hidden     []uint64 // of them those that an ideal stride prefetcher hides; nil where it was not asked
	DTLB       uint64   // pages that the first TLB did not know
	Walks      uint64   // pages that neither knew
	// Local and Remote are the lines from memory of the own and of other nodes,
	// Busiest those of the node that serves most, Crowded what that is beyond an
	// even share of the nodes that have threads. All are 0 where one node or one
	// thread is replayed.
	Local, Remote, Busiest, Crowded uint64
}

// Cost is the modelled cost in cycles: every miss its step to the next level,
// every walk and every line of another node its own. It ranks changes; it is no
// time.
func (c *Counts) Cost(m *platform.Machine) float64 {
	cost := float64(c.Walks)*float64(m.Walk) + float64(c.Remote)*float64(m.Remote) + float64(c.Crowded)*float64(m.Queue)
	for i, n := range c.Misses {
		cost += float64(n) * float64(m.Levels[i].Step)
	}
	return cost
}

// Prefetch is the misses of a level with an ideal stride prefetcher and with none.
func (c *Counts) Prefetch(level int) [2]uint64 {
	n := c.Misses[level]
	return [2]uint64{n - c.Hidden[level], n}
}

// Prefetched is the counts with an ideal stride prefetcher, which hides no walk: it
// stays in its page.
func (c *Counts) Prefetched() Counts {
	out := *c
	out.Misses = make([]uint64, len(c.Misses))
	for i := range c.Misses {
		out.Misses[i] = c.Prefetch(i)[0]
	}
	return out
}

// Caches are the caches and TLBs of a machine with the threads of one program.
type Caches struct {
	Counts
	machine *platform.Machine
	shift   uint // of the first level's line
	// pageShift is of the pages in use; pageTag tells those of another size than
	// the machine's apart from them.
	pageShift uint
	pageTag   uint64
	shared    map[[2]int]*cachesim.LRU // level and number
	threads   []*path
	mixed     bool // a level is not filled by every miss
	alike     bool // all levels have lines of one size
	linesOnly bool // nobody asks for TLBs
	// missed is told the level that answered each line; nil if nobody asks.
	missed func(line uint64, level int)
	// evicted is told which line left a cache; nil if nobody asks.
	evicted func(c *cachesim.LRU, line uint64)
}

// path is the caches a thread sees, nearest first.
type path struct {
	levels     []*cachesim.LRU
	dtlb, stlb *cachesim.LRU
	lastLine   uint64 // plus one
	lastPage   uint64 // plus one
}

// NewCaches makes empty caches. The machine must have passed Check.
func NewCaches(m *platform.Machine) *Caches {
	c := &Caches{machine: m, shift: uint(bits.TrailingZeros(uint(m.Levels[0].Line))), pageShift: uint(bits.TrailingZeros(uint(m.Page))),
		shared: map[[2]int]*cachesim.LRU{}}
	c.Misses = make([]uint64, len(m.Levels))
	c.alike = true
	for _, l := range m.Levels[1:] {
		c.mixed = c.mixed || l.Policy != platform.NonInclusive
		c.alike = c.alike && l.Line == m.Levels[0].Line
	}
	return c
}

// thread returns the path of the k-th thread.
func (c *Caches) thread(k int) *path {
	for len(c.threads) <= k {
		core := c.machine.CoreOf(len(c.threads))
		p := &path{
			dtlb: cachesim.NewLRU(cachesim.Geometry{Size: c.machine.DTLB.Entries, Ways: c.machine.DTLB.Ways, Line: 1}),
			stlb: cachesim.NewLRU(cachesim.Geometry{Size: c.machine.STLB.Entries, Ways: c.machine.STLB.Ways, Line: 1}),
		}
		for i := range c.machine.Levels {
			key := [2]int{i, core.Caches[i]}
			if c.shared[key] == nil {
				c.shared[key] = cachesim.NewLRU(c.machine.Levels[i].Geometry())
			}
			p.levels = append(p.levels, c.shared[key])
		}
		c.threads = append(c.threads, p)
	}
	return c.threads[k]
}

// Access runs one reference of the k-th thread.
func (c *Caches) Access(k int, addr uint64, size uint32) {
	c.References++
	c.piece(c.thread(k), addr, size)
}

// piece runs a part of a reference that lies together.
func (c *Caches) piece(p *path, addr uint64, size uint32) {
	end := addr + uint64(max(size, 1)) - 1
	line, last := addr>>c.shift, end>>c.shift
	if line == last && line+1 == p.lastLine {
		return // the same line again changes nothing
	}
	if line == last && c.page(addr)+1 == p.lastPage && p.levels[0].Latest(line) {
		p.lastLine = line + 1
		return // nor does the latest line of its set, on the page used last
	}
	c.translate(p, c.page(addr))
	for ; ; line++ {
		if line > addr>>c.shift {
			c.translate(p, c.page(line<<c.shift))
		}
		if c.mixed {
			c.fetchMixed(p, line)
		} else {
			c.fetch(p, line)
		}
		if line >= last {
			break
		}
	}
	p.lastLine = last + 1
}

// page is the number of the page that holds an address.
func (c *Caches) page(addr uint64) uint64 { return addr>>c.pageShift | c.pageTag }

// usePages has the next addresses lie on the pages that a plan has for an object:
// those of the machine, or of 2 MiB.
func (c *Caches) usePages(plan *Plan, object uint32) {
	if len(plan.Huge) == 0 {
		return
	}
	if plan.Huge[object] {
		c.pageShift, c.pageTag = hugeShift, hugeTag
	} else {
		c.pageShift, c.pageTag = uint(bits.TrailingZeros(uint(c.machine.Page))), 0
	}
}

func (c *Caches) translate(p *path, page uint64) {
	if page+1 == p.lastPage {
		return
	}
	p.lastPage = page + 1
	if c.linesOnly {
		return
	}
	if p.dtlb.Access(page) {
		return
	}
	c.DTLB++
	if !p.stlb.Access(page) {
		c.Walks++
	}
}

// fetch asks the levels in turn until one has the line; those before it get it.
func (c *Caches) fetch(p *path, line uint64) {
	for i, l := range p.levels {
		if c.lookUp(l, c.at(i, line)) {
			c.answered(line, i)
			return
		}
		c.Misses[i]++
	}
	c.answered(line, len(p.levels))
}

// lookUp uses a line of a cache, which then has it.
func (c *Caches) lookUp(l *cachesim.LRU, line uint64) (hit bool) {
	if c.evicted == nil {
		return l.Access(line)
	}
	if l.Use(line) {
		return true
	}
	if victim, left := l.Insert(line); left {
		c.evicted(l, victim)
	}
	return false
}

func (c *Caches) answered(line uint64, level int) {
	if c.missed != nil && level > 0 {
		c.missed(line, level)
	}
}

// at is the number of a line of the first level in level i.
func (c *Caches) at(i int, line uint64) uint64 {
	if i == 0 || c.alike {
		return line
	}
	return line << c.shift / uint64(c.machine.Levels[i].Line)
}

// fetchMixed is fetch for machines with inclusive or exclusive levels.
func (c *Caches) fetchMixed(p *path, line uint64) {
	hit := 0
	for ; hit < len(p.levels); hit++ {
		l := p.levels[hit]
		there := false
		if hit > 0 && c.machine.Levels[hit].Policy == platform.Exclusive {
			there = l.Remove(c.at(hit, line))
		} else {
			there = l.Use(c.at(hit, line))
		}
		if there {
			break
		}
		c.Misses[hit]++
	}
	c.answered(line, hit)
	for i := min(hit, len(p.levels)) - 1; i >= 0; i-- {
		if i == 0 || c.machine.Levels[i].Policy != platform.Exclusive {
			c.fill(p, i, c.at(i, line))
		}
	}
}

// fill brings a line into a level. What leaves an inclusive level leaves the
// nearer ones too; an exclusive level takes what leaves the one before it.
func (c *Caches) fill(p *path, level int, line uint64) {
	victim, left := p.levels[level].Insert(line)
	if !left {
		return
	}
	if c.evicted != nil {
		c.evicted(p.levels[level], victim)
	}
	if c.machine.Levels[level].Policy == platform.Inclusive {
		c.expel(level, victim)
	}
	if next := level + 1; next < len(p.levels) && c.machine.Levels[next].Policy == platform.Exclusive && !p.levels[next].Use(victim) {
		c.fill(p, next, victim)
	}
}

// expel takes a line out of every cache nearer than a level, of any thread: a
// shared inclusive cache serves all.
func (c *Caches) expel(level int, line uint64) {
	for _, t := range c.threads {
		for i := range level {
			t.levels[i].Remove(line)
		}
		t.lastLine = 0
	}
}
