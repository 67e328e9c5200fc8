package platform

import (
	"fmt"

	"github.com/isobath/isobath/internal/machine/hw"
)

// FromTopology takes the caches on the way from the first CPU to memory. On a
// machine with several kinds of cores the others are left out, and said so.
func FromTopology(t *hw.Topology) (*Machine, error) {
	m := &Machine{Name: t.Root().Name, Page: 4096, Walk: defaultWalk, Remote: defaultRemote, Queue: defaultQueue, DTLB: assumedDTLB, STLB: assumedSTLB, Nodes: max(len(t.At(hw.NUMA)), 1),
		Assumed: []string{"TLBs", "page size", "latency steps", "replacement: LRU"}}
	if t.Page > 0 {
		m.Page = t.Page
		m.known("page size")
	}
	cpus := t.At(hw.CPU)
	if len(cpus) == 0 {
		return nil, fmt.Errorf("%s has no CPUs", m.Name)
	}
	path := caches(t, cpus[0])
	for _, c := range path {
		r := &t.Resources[c]
		near := 64
		if n := len(m.Levels); n > 0 {
			near = m.Levels[n-1].Line
		}
		l, err := level(r, len(m.Levels), near)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
		m.Levels = append(m.Levels, l)
	}
	if len(m.Levels) == 0 {
		return nil, fmt.Errorf("%s has no caches in its description; give --set L1.size=32K,L1.ways=8,…", m.Name)
	}
	m.addCores(t, cpus, path)
	return m, m.Check()
}

// caches lists the caches from a CPU outwards.
func caches(t *hw.Topology, cpu int) (path []int) {
	for i := cpu; i >= 0; i = t.Resources[i].Parent {
		if k := t.Resources[i].Kind; k.IsCache() && k != hw.SideCache {
			path = append(path, i)
		}
	}
	return path
}

// level describes a cache; near is the line of the one nearer to the core, which
// is taken where the description has none.
func level(r *hw.Resource, depth, near int) (Level, error) {
	l := Level{Name: r.Kind.String(), Size: int(r.Size), Ways: r.Ways, Line: r.Line, Policy: NonInclusive, Step: steps[min(depth, len(steps)-1)]}
	if depth > 0 {
		l.Assumed = append(l.Assumed, "policy")
	}
	if l.Size == 0 {
		return l, fmt.Errorf("%s has no size in the description", r.ID)
	}
	if l.Line == 0 {
		l.Line = near
		l.Assumed = append(l.Assumed, "line")
	}
	switch {
	case l.Ways == hw.FullyAssociative:
		l.Ways = l.Size / l.Line
	case l.Ways == 0:
		l.Ways = likelyWays(l.Size / l.Line)
		l.Assumed = append(l.Assumed, "ways")
	}
	return l, nil
}

// likelyWays is the number of ways nearest to eight that makes the number of
// sets a power of two.
func likelyWays(lines int) int {
	odd := lines
	for odd%2 == 0 {
		odd /= 2
	}
	ways := odd
	for ways*3 <= 16 && lines%(2*ways) == 0 {
		ways *= 2
	}
	return ways
}

// addCores adds a core for the first CPU of each core that has the same levels.
func (m *Machine) addCores(t *hw.Topology, cpus, path []int) {
	seen := map[int]bool{}
	numbers := map[int]int{}
	counts := map[int]int{}
	others := 0
	nodes := map[int]int{}
	for i, n := range t.At(hw.NUMA) {
		nodes[n] = i
	}
	for _, cpu := range cpus {
		core := t.Resources[cpu].Parent
		if t.Resources[core].Kind == hw.Core {
			if seen[core] {
				continue
			}
			seen[core] = true
		}
		own := caches(t, cpu)
		if !sameShape(t, own, path) {
			others++
			continue
		}
		c := Core{}
		for depth, r := range own {
			if _, ok := numbers[r]; !ok {
				numbers[r] = counts[depth]
				counts[depth]++
			}
			c.Caches = append(c.Caches, numbers[r])
		}
		if near, ok := t.Node(t.Resources[cpu].OS); ok {
			c.Node = nodes[near.Index]
		}
		m.Cores = append(m.Cores, c)
	}
	if others > 0 {
		m.Assumed = append(m.Assumed, fmt.Sprintf("%d cores with other caches are left out", others))
	}
}

func sameShape(t *hw.Topology, a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := &t.Resources[a[i]], &t.Resources[b[i]]
		if x.Kind != y.Kind || x.Size != y.Size || x.Ways != y.Ways || x.Line != y.Line {
			return false
		}
	}
	return true
}
