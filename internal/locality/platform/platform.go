// Package platform describes the caches and TLBs that references are replayed
// on: taken from a hardware tree, from a preset, or set by hand. What no source
// says is assumed, and listed as such.
package platform

import (
	"fmt"

	"github.com/isobath/isobath/internal/machine/cachesim"
)

// Level is the caches of one level.
type Level struct {
	Name   string // "L1"
	Size   int    // bytes
	Ways   int
	Line   int // bytes
	Policy Policy
	// Step is how many cycles a miss here costs beyond a hit.
	Step int
	// Assumed names what the description did not say.
	Assumed []string
}

// Geometry is the shape of one cache of the level.
func (l *Level) Geometry() cachesim.Geometry {
	return cachesim.Geometry{Size: l.Size, Ways: l.Ways, Line: l.Line}
}

// Policy is how a level relates to the one nearer to the core.
type Policy string

// The policies; see cachesim.Policy.
const (
	NonInclusive Policy = "non-inclusive"
	Inclusive    Policy = "inclusive"
	Exclusive    Policy = "exclusive"
)

// TLB is one level of address translation.
type TLB struct {
	Entries, Ways int
}

// Core is where on the machine a thread may run: which cache of each level, by
// number, and which memory node.
type Core struct {
	Caches []int
	Node   int
}

// Machine is what references are replayed on.
type Machine struct {
	Name   string
	Levels []Level
	DTLB   TLB
	STLB   TLB
	Page   int // bytes
	Walk   int // cycles of a page walk
	// Remote is the cycles that a line from another memory node takes beyond one
	// from the own, Queue those that a line waits where one node serves more
	// than its share.
	Remote, Queue int
	Cores         []Core
	Nodes         int
	Assumed       []string // of the machine as a whole
}

// The steps of a miss, in cycles, that advice is ranked by: of the class of
// server processors, and rough on purpose.
var steps = [MaxLevels]int{10, 30, 160, 160, 160}

// MaxLevels is how many levels of cache a machine may have.
const MaxLevels = 5

// The cost of memory nodes, in cycles: a line of the other socket takes about
// half as long again as one of the own.
const (
	defaultRemote = 100
	defaultQueue  = 50
)

// defaultWalk is the cost of a page walk, in cycles.
const defaultWalk = 30

// Check reports a description that cannot be replayed.
func (m *Machine) Check() error {
	if len(m.Levels) == 0 || len(m.Levels) > MaxLevels {
		return fmt.Errorf("machine %s: %d levels of cache, want 1 to %d", m.Name, len(m.Levels), MaxLevels)
	}
	for i, l := range m.Levels {
		if err := l.Geometry().Check(); err != nil {
			return fmt.Errorf("machine %s: %s: %w", m.Name, l.Name, err)
		}
		if l.Line > 1024 {
			return fmt.Errorf("machine %s: %s: lines of %d bytes: want at most 1024", m.Name, l.Name, l.Line)
		}
		if i > 0 && l.Line < m.Levels[i-1].Line {
			return fmt.Errorf("machine %s: lines of %s have %d bytes and those of %s only %d", m.Name, m.Levels[i-1].Name, m.Levels[i-1].Line, l.Name, l.Line)
		}
		if i > 0 && l.Policy != NonInclusive && l.Line != m.Levels[i-1].Line {
			return fmt.Errorf("machine %s: %s is %s, so its lines must have the size of those of %s", m.Name, l.Name, l.Policy, m.Levels[i-1].Name)
		}
	}
	if l := &m.Levels[0]; l.Policy != NonInclusive {
		return fmt.Errorf("machine %s: %s has no nearer cache to be %s of", m.Name, l.Name, l.Policy)
	}
	for _, t := range []TLB{m.DTLB, m.STLB} {
		if t.Entries <= 0 || t.Ways <= 0 || t.Entries%t.Ways != 0 {
			return fmt.Errorf("machine %s: a TLB of %d entries in sets of %d", m.Name, t.Entries, t.Ways)
		}
	}
	if m.Page < 512 || m.Page&(m.Page-1) != 0 {
		return fmt.Errorf("machine %s: pages of %d bytes: want a power of two from 512", m.Name, m.Page)
	}
	if len(m.Cores) == 0 {
		return fmt.Errorf("machine %s has no cores", m.Name)
	}
	return nil
}

// uniform makes cores that have a cache of each level for so many of them.
func uniform(cores int, sharedBy []int, nodes int) []Core {
	out := make([]Core, cores)
	for i := range out {
		for _, n := range sharedBy {
			out[i].Caches = append(out[i].Caches, i/n)
		}
		out[i].Node = i * nodes / cores
	}
	return out
}

// CoreOf places the k-th thread that appears: one after another on the nodes in
// turn, and on each node's cores in order.
func (m *Machine) CoreOf(k int) Core {
	byNode := make([][]Core, max(m.Nodes, 1))
	for _, c := range m.Cores {
		byNode[c.Node] = append(byNode[c.Node], c)
	}
	var used [][]Core
	for _, cores := range byNode {
		if len(cores) > 0 {
			used = append(used, cores)
		}
	}
	cores := used[k%len(used)]
	return cores[k/len(used)%len(cores)]
}

// Private reports whether no two cores share a cache of a level.
func (m *Machine) Private(level int) bool {
	seen := map[int]bool{}
	for _, c := range m.Cores {
		if seen[c.Caches[level]] {
			return false
		}
		seen[c.Caches[level]] = true
	}
	return true
}
