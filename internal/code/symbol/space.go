package symbol

import (
	"math/bits"
	"slices"
	"strings"
)

// Kernel is the process that kernel mappings belong to, as in perf.data.
const Kernel = -1

// Mapping is a file, or nothing, in the memory of a process.
type Mapping struct {
	Start, End uint64
	Offset     uint64 // in the file
	// Path is the file, or a name such as "[heap]" or "//anon".
	Path    string
	BuildID string // in hexadecimal; empty if the recording has none
	Exec    bool   // mapped for execution, as far as known
}

// anonymous reports whether no file is behind the mapping.
func (m *Mapping) anonymous() bool {
	return m.Path == "" || m.Path == "//anon" || m.Path == "[anon]" || strings.HasPrefix(m.Path, "[anon:") || m.Path == "/dev/zero" || m.Path == "/anon_hugepage"
}

// VDSO reports whether the mapping is the library that the kernel maps into
// every process. Files finds it by its build id, although it is no file.
func (m *Mapping) VDSO() bool { return m.Path == vdsoName }

// Named reports whether the path is a name of the kernel's and not of a file.
func (m *Mapping) Named() bool {
	return m.anonymous() || strings.HasPrefix(m.Path, "[") || strings.HasPrefix(m.Path, "//")
}

// inMemory reports whether the file behind the mapping is only memory with a name,
// as some compilers at run time use it.
func (m *Mapping) inMemory() bool { return strings.HasPrefix(m.Path, "/memfd:") }

// Space is the mappings of all processes over time. Add what a recording says
// in any order of time; find when all is added. Not safe for concurrent use.
type Space struct{ timeline[*Mapping] }

// Map adds a mapping from a time on. What it covers is replaced. A recording
// that does not know when gives 0.
func (s *Space) Map(pid int, at uint64, m Mapping) {
	if m.Start < m.End {
		s.grown = grownMapping
		s.add(event[*Mapping]{at: at, pid: pid, op: opPut, low: m.Start, high: m.End, value: &m})
	}
}

// Fork copies the mappings of a process. A thread is not a fork.
func (s *Space) Fork(parent, child int, at uint64) {
	if parent != child {
		s.add(event[*Mapping]{at: at, pid: child, parent: parent, op: opFork})
	}
}

// Exec removes all mappings of a process.
func (s *Space) Exec(pid int, at uint64) {
	s.add(event[*Mapping]{at: at, pid: pid, op: opClear})
}

// Find returns the mapping of an address at a time; nil if there is none. It
// is quick while times do not fall.
func (s *Space) Find(pid int, at, addr uint64) *Mapping {
	m, _, _ := s.reach(pid, at, addr)
	return m
}

// reach is Find, and the part of the mapping that is not covered by others.
func (s *Space) reach(pid int, at, addr uint64) (m *Mapping, low, high uint64) {
	m, low, high, ok := s.find(pid, at, addr)
	if !ok && addr>>63 == 1 && pid != Kernel {
		m, low, high, _ = s.find(Kernel, at, addr)
	}
	return m, low, high
}

// grownMapping is the new part of a mapping that the kernel joined with the one
// beside it: recordings show the joined extent. Both must be anonymous.
func grownMapping(old, joined *Mapping, low, high uint64) (*Mapping, bool) {
	if !old.anonymous() || !joined.anonymous() {
		return nil, false
	}
	part := *joined
	part.Start, part.End = low, high
	return &part, true
}

type op uint8

const (
	opPut op = iota
	opEnd    // drops the range that begins at low
	opFork
	opClear
)

type event[T any] struct {
	at          uint64
	pid, parent int
	op          op
	low, high   uint64
	value       T
}

// timeline replays changes of address ranges in order of time.
type timeline[T any] struct {
	events []event[T]
	sorted bool
	next   int // the first event that has not been applied
	now    uint64
	live   map[int]*node[T]
	seed   uint64
	// grown, if set, returns the value of the new part of a range that grew.
	grown func(old, joined T, low, high uint64) (T, bool)
	// changes counts applied events: what was found holds until it rises.
	changes int
}

func (l *timeline[T]) add(e event[T]) {
	l.events = append(l.events, e)
	l.sorted = false
}

// find returns the value at an address and how far it reaches.
func (l *timeline[T]) find(pid int, at, addr uint64) (value T, low, high uint64, ok bool) {
	l.advance(at)
	n := l.live[pid].find(addr)
	if n == nil {
		return value, 0, 0, false
	}
	return n.value, n.low, n.high, true
}

// advance applies the events up to and including a time; back in time it starts
// again.
func (l *timeline[T]) advance(at uint64) {
	if l.sorted && at >= l.now && (l.next == len(l.events) || l.events[l.next].at > at) {
		l.now = at
		return
	}
	l.replay(at)
}

func (l *timeline[T]) replay(at uint64) {
	if !l.sorted {
		slices.SortStableFunc(l.events, func(a, b event[T]) int {
			switch {
			case a.at < b.at:
				return -1
			case a.at > b.at:
				return 1
			}
			return 0
		})
		l.sorted = true
		l.restart()
	}
	if at < l.now {
		l.restart()
	}
	for l.next < len(l.events) && l.events[l.next].at <= at {
		l.apply(&l.events[l.next])
		l.next++
	}
	l.now = at
}

func (l *timeline[T]) restart() {
	l.next, l.now, l.live = 0, 0, map[int]*node[T]{}
	l.changes++
}

func (l *timeline[T]) apply(e *event[T]) {
	l.changes++
	switch e.op {
	case opClear:
		delete(l.live, e.pid)
	case opFork:
		// Nodes are never changed, so both processes may share them.
		l.live[e.pid] = l.live[e.parent]
	case opEnd:
		if n := l.live[e.pid].find(e.low); n != nil && n.low == e.low {
			low, rest := split(l.live[e.pid], n.low)
			_, high := split(rest, n.high)
			l.live[e.pid] = join(low, high)
		}
	case opPut:
		low, rest := split(l.live[e.pid], e.low)
		covered, high := split(rest, e.high)
		l.live[e.pid] = join(join(low, l.place(e, covered)), high)
	}
}

// place returns what is in the range of a new value: the value, or, if what was
// there grew, the old parts with the new ones in the gaps.
func (l *timeline[T]) place(e *event[T], covered *node[T]) *node[T] {
	whole := l.leaf(e.low, e.high, e.value)
	if l.grown == nil || covered == nil {
		return whole
	}
	old := covered.list(nil)
	if old[0].low != e.low && old[len(old)-1].high != e.high {
		return whole
	}
	var out *node[T]
	at, gaps := e.low, 0
	for i := 0; i <= len(old); i++ {
		end := e.high
		if i < len(old) {
			end = old[i].low
		}
		if at < end {
			value, ok := l.grown(old[min(i, len(old)-1)].value, e.value, at, end)
			if !ok {
				return whole
			}
			out = join(out, l.leaf(at, end, value))
			gaps++
		}
		if i < len(old) {
			out = join(out, l.leaf(old[i].low, old[i].high, old[i].value))
			at = old[i].high
		}
	}
	if gaps == 0 {
		return whole // the same range again is a new mapping
	}
	return out
}

func (l *timeline[T]) leaf(low, high uint64, value T) *node[T] {
	l.seed++
	return &node[T]{low: low, high: high, value: value, priority: scatter(l.seed)}
}

// node is a range in a tree that is ordered by address and, to stay shallow,
// heaped by a scattered priority. Trees share nodes: none is changed once made.
type node[T any] struct {
	low, high   uint64
	value       T
	priority    uint64
	left, right *node[T]
}

// find returns the range around an address; nil if there is none.
func (n *node[T]) find(addr uint64) *node[T] {
	for n != nil {
		switch {
		case addr < n.low:
			n = n.left
		case addr >= n.high:
			n = n.right
		default:
			return n
		}
	}
	return nil
}

// list appends the ranges of a tree in order.
func (n *node[T]) list(to []*node[T]) []*node[T] {
	if n == nil {
		return to
	}
	return n.right.list(append(n.left.list(to), n))
}

// split cuts a tree in two at an address; a range across it is cut too.
func split[T any](n *node[T], at uint64) (below, above *node[T]) {
	switch {
	case n == nil:
		return nil, nil
	case n.high <= at:
		c := *n
		c.right, above = split(n.right, at)
		return &c, above
	case n.low >= at:
		c := *n
		below, c.left = split(n.left, at)
		return below, &c
	}
	lower, upper := *n, *n
	lower.high, lower.right = at, nil
	upper.low, upper.left = at, nil
	return &lower, &upper
}

// join joins two trees, all of a below all of b.
func join[T any](a, b *node[T]) *node[T] {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.priority > b.priority:
		c := *a
		c.right = join(a.right, b)
		return &c
	}
	c := *b
	c.left = join(a, b.left)
	return &c
}

// scatter gives successive numbers unrelated priorities (the finaliser of
// splitmix64).
func scatter(n uint64) uint64 {
	n *= 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return bits.RotateLeft64(n^n>>31, 1)
}
