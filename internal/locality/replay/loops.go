package replay

import (
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/locality/platform"
)

// LoopMisses counts what each loop of a program fetches on a machine, with what
// inner loops and calls fetch. It is modelled: caches are simulated.
type LoopMisses struct {
	machine *platform.Machine
	caches  *Caches
	away    *elsewhere
	threads map[uint32]int
	codes   map[uint64]uint32 // instructions, numbered
	recent  [256]numbered     // of them, by the end of their address
	streams streams
	thread  int  // of the reference under way
	hidden  bool // it continues its stream
	missed  bool // it missed
	level   int  // that answers it
	now     Tally
	all     Tally
	loops   []Tally
}

// numbered is an instruction and its number plus one.
type numbered struct {
	pc     uint64
	number uint32
}

// NewLoopMisses counts on empty caches of a machine that has passed Check.
func NewLoopMisses(m *platform.Machine) *LoopMisses {
	l := &LoopMisses{machine: m, caches: NewCaches(m), threads: map[uint32]int{}, codes: map[uint64]uint32{}, now: NewTally(len(m.Levels)), all: NewTally(len(m.Levels))}
	l.away = newElsewhere(m, l.now.missElsewhere)
	l.caches.missed = func(line uint64, level int) {
		l.missed, l.level = true, max(l.level, level)
		l.now.miss(level, l.hidden)
		l.away.fetch(l.thread, line, l.caches.pageShift)
	}
	return l
}

// Answered runs one reference and returns the level that answers it: 0 is the
// first, the number of levels is memory.
func (l *LoopMisses) Answered(r *refs.Ref) uint8 {
	k, ok := l.threads[r.Thread]
	if !ok {
		k = len(l.threads)
		l.threads[r.Thread] = k
	}
	if l.missed {
		l.now.clear()
	}
	l.missed, l.level = false, 0
	l.thread, l.hidden = k, l.streams.follow(k, l.code(r.PC), r.Addr)
	l.caches.Access(k, r.Addr, r.Size)
	if l.missed {
		l.all.Add(&l.now)
	}
	return uint8(l.level)
}

// code numbers an instruction.
func (l *LoopMisses) code(pc uint64) uint32 {
	at := &l.recent[pc%uint64(len(l.recent))]
	if at.number > 0 && at.pc == pc {
		return at.number - 1
	}
	n, ok := l.codes[pc]
	if !ok {
		n = uint32(len(l.codes))
		l.codes[pc] = n
	}
	*at = numbered{pc, n + 1}
	return n
}

// Visit runs one reference and charges its misses to the loops around it.
func (l *LoopMisses) Visit(r *refs.Ref, around []int) {
	if l.Answered(r) == 0 {
		return
	}
	for _, loop := range around {
		for len(l.loops) <= loop {
			l.loops = append(l.loops, NewTally(len(l.machine.Levels)))
		}
		l.loops[loop].Add(&l.now)
	}
}

// Of returns the misses of a loop, by level.
func (l *LoopMisses) Of(loop int) *Tally {
	if loop >= len(l.loops) {
		none := NewTally(len(l.machine.Levels))
		return &none
	}
	return &l.loops[loop]
}

// All are the misses of everything.
func (l *LoopMisses) All() *Tally { return &l.all }
