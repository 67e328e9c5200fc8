package replay

import (
	"fmt"

	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/machine/cachesim"
)

// Alone is a machine of one cache.
func Alone(g cachesim.Geometry) *platform.Machine {
	return &platform.Machine{Name: "alone", Levels: []platform.Level{{Name: "L1", Size: g.Size, Ways: g.Ways, Line: g.Line, Policy: platform.NonInclusive, Step: 10}},
		DTLB: platform.TLB{Entries: 64, Ways: 4}, STLB: platform.TLB{Entries: 1536, Ways: 12}, Page: 4096, Walk: 30, Nodes: 1, Cores: []platform.Core{{Caches: []int{0}}}}
}

// Cachegrind counts as Valgrind's cachegrind does: a reference misses at most
// once, both lines of one that spans two are always looked up, one that misses
// goes to the last level as a whole, a modify is a read, sizes are cut to the
// shortest line, and the last level sees instructions too.
type Cachegrind struct {
	i1, d1, ll *grindCache
	least      uint32
}

// GrindCounts are the events of one instruction, in cachegrind's order and
// names.
type GrindCounts struct {
	Ir, I1mr, ILmr, Dr, D1mr, DLmr, Dw, D1mw, DLmw uint64
}

type grindCache struct {
	lru  *cachesim.LRU
	line uint64
}

// NewCachegrind makes empty caches.
func NewCachegrind(i1, d1, ll cachesim.Geometry) (*Cachegrind, error) {
	c := &Cachegrind{least: uint32(min(i1.Line, d1.Line, ll.Line))}
	for _, x := range []struct {
		name string
		g    cachesim.Geometry
		to   **grindCache
	}{{"I1", i1, &c.i1}, {"D1", d1, &c.d1}, {"LL", ll, &c.ll}} {
		if err := x.g.Check(); err != nil {
			return nil, fmt.Errorf("%s: %w", x.name, err)
		}
		*x.to = &grindCache{cachesim.NewLRU(x.g), uint64(x.g.Line)}
	}
	return c, nil
}

// miss looks up every line of a reference and reports whether one was missing.
func (g *grindCache) miss(addr uint64, size uint32) bool {
	from, to := addr/g.line, (addr+uint64(size)-1)/g.line
	missed := !g.lru.Access(from)
	if to != from {
		missed = !g.lru.Access(to) || missed
	}
	return missed
}

// Fetch runs an instruction.
func (c *Cachegrind) Fetch(addr uint64, size uint32, n *GrindCounts) {
	n.Ir++
	if c.i1.miss(addr, size) {
		n.I1mr++
		if c.ll.miss(addr, size) {
			n.ILmr++
		}
	}
}

// Access runs a data reference; a modify is no store.
func (c *Cachegrind) Access(addr uint64, size uint32, store bool, n *GrindCounts) {
	total, first, last := &n.Dr, &n.D1mr, &n.DLmr
	if store {
		total, first, last = &n.Dw, &n.D1mw, &n.DLmw
	}
	*total++
	size = min(max(size, 1), c.least)
	if c.d1.miss(addr, size) {
		*first++
		if c.ll.miss(addr, size) {
			*last++
		}
	}
}
