// Package sharing finds the lines that several threads use, one of them writing,
// and counts the misses that keeping them coherent costs: true where a thread
// needs what another wrote, false where their bytes merely share a line. Which
// order the threads ran in is chance, so the answer is a range over schedules
// that keep what the program itself fixed.
package sharing

import (
	"cmp"
	"slices"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/locality/replay"
)

// Misses are the coherence misses of one schedule.
type Misses struct {
	Coherence uint64 `json:"coherence"`
	True      uint64 `json:"true"`
	False     uint64 `json:"false"`
}

func (m *Misses) add(o Misses) {
	m.Coherence += o.Coherence
	m.True += o.True
	m.False += o.False
}

// ref is an access to a shared line, cut to what matters here.
type ref struct {
	addr   uint64
	size   uint32
	thread uint16
	store  bool
	code   uint32
	object uint32
}

// Trace is the accesses that can be part of sharing, in recorded order.
type Trace struct {
	refs    []ref
	threads int
	waits   []wait // by thread and position; see deps
	starts  []int  // of each thread's waits
	by      [][]int32
	// turn is the order in which threads take turns: by their ids.
	turn []int
}

// widest is the span within which two threads' bytes may come to share a line:
// lines of 128 bytes, moved by up to 64.
const widest = 256

// Filter keeps the accesses to blocks that at least two threads use and one
// writes. Everything else can have no coherence miss, however it is shifted.
func Filter(t *replay.Trace) *Trace {
	type user struct {
		first  uint16
		many   bool
		stores bool
	}
	users := map[uint64]*user{}
	note := func(block uint64, a *replay.Access) {
		u := users[block]
		if u == nil {
			u = &user{first: a.Thread}
			users[block] = u
		}
		u.many = u.many || u.first != a.Thread
		u.stores = u.stores || a.Op != refs.Load
	}
	for i := range t.Accesses {
		a := &t.Accesses[i]
		// Neighbours may come together when an object moves.
		for b := a.Addr/widest - 1; b <= (a.Addr+uint64(a.Size)-1)/widest+1; b++ {
			note(b, a)
		}
	}
	out := &Trace{threads: len(t.Threads)}
	for i := range t.Accesses {
		a := &t.Accesses[i]
		u := users[a.Addr/widest]
		w := users[(a.Addr+uint64(a.Size)-1)/widest]
		if u.many && u.stores || w.many && w.stores {
			out.refs = append(out.refs, ref{a.Addr, uint32(a.Size), a.Thread, a.Op != refs.Load, a.Code, a.Object})
		}
	}
	out.turn = byID(t.Threads)
	out.split()
	return out
}

// byID orders threads by the system's number of each.
func byID(ids []uint32) []int {
	out := make([]int, len(ids))
	for i := range out {
		out[i] = i
	}
	slices.SortFunc(out, func(a, b int) int { return cmp.Compare(ids[a], ids[b]) })
	return out
}

// split lists the positions of each thread's accesses, and what they wait for.
func (t *Trace) split() {
	t.by = make([][]int32, t.threads)
	for i, r := range t.refs {
		t.by[r.thread] = append(t.by[r.thread], int32(i))
	}
	t.dependences()
}

// wait says that an access of a thread comes after the accesses of another up to
// a number.
type wait struct {
	at     int32 // position among the thread's own accesses
	thread uint16
	until  int32 // so many accesses of that thread come before
}

// dependences finds what the recorded order of accesses to the same byte, one of
// them a store, asks of every schedule: what locks and hand-overs leave behind.
func (t *Trace) dependences() {
	type touch struct {
		writer int32 // thread plus one
		wrote  int32
		reads  []int32 // position plus one of the last read of each thread
	}
	bytes := map[uint64]*touch{}
	position := make([]int32, t.threads)
	best := make([][]int32, t.threads)
	waits := make([][]wait, t.threads)
	for i := range best {
		best[i] = make([]int32, t.threads)
	}
	for _, r := range t.refs {
		at := position[r.thread]
		position[r.thread]++
		need := func(thread uint16, until int32) {
			if until > best[r.thread][thread] {
				best[r.thread][thread] = until
				waits[r.thread] = append(waits[r.thread], wait{at, thread, until})
			}
		}
		for b := r.addr; b < r.addr+uint64(r.size); b++ {
			x := bytes[b]
			if x == nil {
				x = &touch{}
				bytes[b] = x
			}
			if x.writer != 0 && uint16(x.writer-1) != r.thread {
				need(uint16(x.writer-1), x.wrote+1)
			}
			if r.store {
				for u, k := range x.reads {
					if k > 0 && uint16(u) != r.thread {
						need(uint16(u), k)
					}
				}
				x.writer, x.wrote = int32(r.thread)+1, at
				clear(x.reads)
				continue
			}
			if x.reads == nil {
				x.reads = make([]int32, t.threads)
			}
			x.reads[r.thread] = at + 1
		}
	}
	t.starts = []int{0}
	for _, w := range waits {
		t.waits = append(t.waits, w...)
		t.starts = append(t.starts, len(t.waits))
	}
}

// Len is how many accesses may be part of sharing.
func (t *Trace) Len() int { return len(t.refs) }

// recorded is the order of the recording.
func (t *Trace) recorded() []int32 {
	out := make([]int32, len(t.refs))
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

// turns lets the threads take turns of so many accesses, as far as the waits
// allow.
func (t *Trace) turns(quantum int) []int32 {
	s := newSchedule(t)
	out := make([]int32, 0, len(t.refs))
	for moved := true; moved; {
		moved = false
		for _, thread := range t.turn {
			for range quantum {
				if !s.ready(thread) {
					break
				}
				out = append(out, s.next(thread))
				moved = true
			}
		}
	}
	return out
}

// schedule is how far each thread has come.
type schedule struct {
	*Trace
	position []int32
	wait     []int // the next wait of each thread to look at
}

func newSchedule(t *Trace) *schedule {
	return &schedule{Trace: t, position: make([]int32, t.threads), wait: slices.Clone(t.starts[:t.threads])}
}

// ready reports whether a thread may make its next access.
func (s *schedule) ready(thread int) bool {
	if int(s.position[thread]) >= len(s.by[thread]) {
		return false
	}
	for s.wait[thread] < s.starts[thread+1] {
		w := s.waits[s.wait[thread]]
		if w.at > s.position[thread] {
			return true
		}
		if s.position[w.thread] < w.until {
			return false
		}
		s.wait[thread]++
	}
	return true
}

func (s *schedule) next(thread int) int32 {
	i := s.by[thread][s.position[thread]]
	s.position[thread]++
	return i
}

// Clock says how long things take in the clocked schedule, in cycles.
type Clock struct {
	Hit     int64
	Latency int64 // until a line asked for arrives
}

// DefaultClock is of the class of server processors.
var DefaultClock = Clock{Hit: 5, Latency: 100}

// clocked lets every thread run by its own clock: a line that another thread
// holds arrives a latency after it was asked for, and is used by its holder until
// then.
func (t *Trace) clocked(shift uint, c Clock) []int32 {
	s := newSchedule(t)
	out := make([]int32, 0, len(t.refs))
	now := make([]int64, t.threads)
	asked := make([]bool, t.threads) // the thread waits for a line
	holders := map[uint64]*lineHolders{}
	for len(out) < len(t.refs) {
		thread := -1
		for k := range t.threads {
			if s.ready(k) && (thread < 0 || now[k] < now[thread]) {
				thread = k
			}
		}
		if thread < 0 {
			break // cannot be: the recorded order is a schedule
		}
		r := &t.refs[t.by[thread][s.position[thread]]]
		if !asked[thread] && t.away(holders, r, shift) {
			asked[thread] = true
			now[thread] += c.Latency
			continue
		}
		asked[thread] = false
		t.hold(holders, r, shift)
		now[thread] += c.Hit
		out = append(out, s.next(thread))
		// Whoever waited for this thread goes on no earlier than it.
		for k := range t.threads {
			if k != thread && now[k] < now[thread]-c.Hit && !s.ready(k) {
				now[k] = now[thread]
			}
		}
	}
	return out
}

// lineHolders is who has a line: several may read, one may write.
type lineHolders struct{ has []bool }

// away reports whether a line of an access must be asked for.
func (t *Trace) away(all map[uint64]*lineHolders, r *ref, shift uint) bool {
	for line := r.addr >> shift; line <= (r.addr+uint64(r.size)-1)>>shift; line++ {
		h := all[line]
		if h == nil {
			continue // nobody has it: it comes from memory, which is another question
		}
		if !h.has[r.thread] {
			return true
		}
		if r.store {
			for u, has := range h.has {
				if has && u != int(r.thread) {
					return true
				}
			}
		}
	}
	return false
}

func (t *Trace) hold(all map[uint64]*lineHolders, r *ref, shift uint) {
	for line := r.addr >> shift; line <= (r.addr+uint64(r.size)-1)>>shift; line++ {
		h := all[line]
		if h == nil {
			h = &lineHolders{make([]bool, t.threads)}
			all[line] = h
		}
		if r.store {
			clear(h.has)
		}
		h.has[r.thread] = true
	}
}

// sortLines orders the lines of an answer: most misses first.
func sortLines(lines []*Line) {
	slices.SortStableFunc(lines, func(a, b *Line) int {
		return cmp.Or(cmp.Compare(b.Clocked.Coherence, a.Clocked.Coherence), cmp.Compare(b.Most.Coherence, a.Most.Coherence), cmp.Compare(a.Addr, b.Addr))
	})
}

// Writers is how many of the threads that use a line store to it: those that
// need a line of their own. Others only read what these wrote.
func (l *Line) Writers() int {
	n := 0
	for _, u := range l.Users {
		if u.Stores > 0 {
			n++
		}
	}
	return n
}
