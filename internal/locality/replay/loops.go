package replay

import (
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/locality/platform"
)

// LoopMisses counts what each loop of a program fetches on a machine, with what
// inner loops and calls fetch. It is modelled: caches are simulated.
type LoopMisses struct {
	caches  *Caches
	threads map[uint32]int
	loops   [][]uint64 // by loop, then level
	before  []uint64
}

// NewLoopMisses counts on empty caches of a machine that has passed Check.
func NewLoopMisses(m *platform.Machine) *LoopMisses {
	return &LoopMisses{caches: NewCaches(m), threads: map[uint32]int{}, before: make([]uint64, len(m.Levels))}
}

// Answered runs one reference and returns the level that answers it: 0 is the
// first, the number of levels is memory.
func (l *LoopMisses) Answered(r *refs.Ref) uint8 {
	k, ok := l.threads[r.Thread]
	if !ok {
		k = len(l.threads)
		l.threads[r.Thread] = k
	}
	copy(l.before, l.caches.Misses)
	l.caches.Access(k, r.Addr, r.Size)
	level := 0
	for i, n := range l.caches.Misses {
		if n > l.before[i] {
			level = i + 1
		}
	}
	return uint8(level)
}

// Visit runs one reference and charges its misses to the loops around it.
func (l *LoopMisses) Visit(r *refs.Ref, around []int) {
	if l.Answered(r) == 0 {
		return
	}
	for _, loop := range around {
		for len(l.loops) <= loop {
			l.loops = append(l.loops, make([]uint64, len(l.before)))
		}
		for i, n := range l.caches.Misses {
			l.loops[loop][i] += n - l.before[i]
		}
	}
}

// Of returns the misses of a loop, by level.
func (l *LoopMisses) Of(loop int) []uint64 {
	if loop >= len(l.loops) {
		return make([]uint64, len(l.before))
	}
	return l.loops[loop]
}

// All are the misses of everything.
func (l *LoopMisses) All() []uint64 { return l.caches.Misses }
