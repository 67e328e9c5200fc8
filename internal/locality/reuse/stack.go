package reuse

import "math/bits"

// First is the distance of the first access to a line.
const First = ^uint32(0)

const (
	pageLines = 64 // lines of one page of the table

	slotNone = ^uint32(0) // the line was never accessed
)

// Stack is the LRU stack of an unbounded cache: Access tells how many other
// lines were accessed since the last access to a line.
//
// Every line has a slot, a number that grows with the time of its last access;
// live slots are bits of words. The distance of a line is the number of live
// slots behind its own: those of its word, and what the counts of the words,
// blocks and ranges after it say. When slots run out the live ones are numbered
// again.
type Stack struct {
	latest   uint64 // the line accessed last, plus one; 0 is none
	latestID uint32

	table  lineTable
	uses   []lastUse // by id
	counts liveCounts
}

// lastUse is when a line was used last: its slot, and the time that the caller
// gave; and the way of a cache that it is in, plus one, or 0. All are needed at
// once, and random memory costs by the place: they share twelve bytes, with 44
// bits for the time and 20 for the way.
type lastUse struct {
	slot uint32
	low  uint32 // of the time
	high uint32 // the way above the upper bits of the time
}

const (
	highTimeBits = 12
	highTimeMask = 1<<highTimeBits - 1
)

// MaxWays is how many ways a cache may have of which a pass tells the use.
const MaxWays = 1<<(32-highTimeBits) - 2

func (u *lastUse) time() uint64 { return uint64(u.high&highTimeMask)<<32 | uint64(u.low) }

func (u *lastUse) setTime(t uint64) {
	u.low, u.high = uint32(t), u.high&^highTimeMask|uint32(t>>32)&highTimeMask
}

// way is where in its set of the cache the line is, -1 if it is not there.
func (u *lastUse) way() int { return int(u.high>>highTimeBits) - 1 }

func (u *lastUse) setWay(way int) {
	u.high = u.high&highTimeMask | uint32(way+1)<<highTimeBits
}

// NewStack returns a stack no line was pushed on.
func NewStack() *Stack { return newStack(4 * rangeSlots) }

// newStack is NewStack with room for a number of slots before the first
// renumbering; tests force that with a small one.
func newStack(slots int) *Stack {
	return &Stack{table: newLineTable(), counts: newLiveCounts(slots)}
}

// Lines is how many distinct lines were accessed.
func (s *Stack) Lines() int { return int(s.table.lines) }

// Access pushes a line and returns its distance, and a dense number of the
// line below 64 times the number of pages touched.
func (s *Stack) Access(line uint64) (distance, id uint32) {
	if s.latest == line+1 {
		return 0, s.latestID
	}
	distance, _ = s.push(line, s.number(line), 0)
	return distance, s.latestID
}

// number returns the dense number of a line and makes room for it.
func (s *Stack) number(line uint64) uint32 {
	id := s.table.id(line)
	for int(id) >= len(s.uses) {
		s.uses = append(s.uses, unused[:]...)
	}
	return id
}

// near reads what an access to a line with a number will read. Asked for many
// lines before the first is accessed, the processor waits for all of them at
// once and not for one after the other. What is returned means nothing.
func (s *Stack) near(id uint32) uint64 {
	if slot := s.uses[id].slot; slot != slotNone {
		return *s.counts.word(slot)
	}
	return 0
}

// at is Access at a time, which is kept, for a line with a number; last is the
// time before, 0 if there was none.
func (s *Stack) at(line uint64, id uint32, now uint64) (distance uint32, last uint64) {
	if s.latest == line+1 {
		u := &s.uses[id]
		last = u.time()
		u.setTime(now)
		return 0, last
	}
	return s.push(line, id, now)
}

// push is at for a line that is not the latest.
func (s *Stack) push(line uint64, id uint32, now uint64) (distance uint32, last uint64) {
	u := &s.uses[id]
	slot := u.slot
	last = u.time()
	u.setTime(now)
	s.latest, s.latestID = line+1, id
	distance = First
	if slot == slotNone {
		s.table.lines++
	} else {
		distance = s.counts.take(slot)
	}
	if s.counts.full() {
		u.slot = slotNone // it is in no word
		s.compact()
	}
	u.slot = s.counts.put()
	return distance, last
}

// unused is the lines of a page nobody has accessed.
var unused = func() (p [pageLines]lastUse) {
	for i := range p {
		p[i].slot = slotNone
	}
	return p
}()

// compact numbers the live slots from 0 on, and makes room for at least three
// times as many, so that its cost is spread over as many accesses.
func (s *Stack) compact() {
	old := s.counts
	rank := make([]uint32, old.now/64)
	n := uint32(0)
	for i := range rank {
		rank[i] = n
		n += uint32(bits.OnesCount64(*old.word(uint32(i) * 64)))
	}
	for i := range s.uses {
		if slot := s.uses[i].slot; slot != slotNone {
			below := *old.word(slot) & (1<<(slot%64) - 1)
			s.uses[i].slot = rank[slot/64] + uint32(bits.OnesCount64(below))
		}
	}
	s.counts = newLiveCounts(max(int(old.now), 4*int(n)+rangeSlots))
	for range n {
		s.counts.put()
	}
}

// lineTable numbers lines: neighbours lie side by side.
type lineTable struct {
	recent [1 << recentBits]numberedPage
	all    []numberedPage // open addressing, at most half full
	pages  uint32
	lines  uint32 // with an access
}

const recentBits = 10

// numberedPage is a page and its number.
type numberedPage struct {
	key    uint64 // plus one; 0 is free
	number uint32
}

func newLineTable() lineTable { return lineTable{all: make([]numberedPage, 1024)} }

// id returns the number of a line.
func (t *lineTable) id(line uint64) uint32 {
	key := line/pageLines + 1
	r := &t.recent[key%(1<<recentBits)]
	if r.key != key {
		*r = numberedPage{key, t.page(key)}
	}
	return r.number*pageLines + uint32(line%pageLines)
}

func (t *lineTable) page(key uint64) uint32 {
	at := t.slot(key)
	if at.key == 0 {
		*at = numberedPage{key, t.pages}
		t.pages++
		if 2*int(t.pages) > len(t.all) {
			t.grow()
		}
		return t.pages - 1
	}
	return at.number
}

// slot is where a page is in the table, or would be.
func (t *lineTable) slot(key uint64) *numberedPage {
	mask := uint64(len(t.all) - 1)
	i := key * 0x9e3779b97f4a7c15 >> 20 & mask
	for t.all[i].key != 0 && t.all[i].key != key {
		i = (i + 1) & mask
	}
	return &t.all[i]
}

func (t *lineTable) grow() {
	old := t.all
	t.all = make([]numberedPage, 2*len(old))
	for _, p := range old {
		if p.key != 0 {
			*t.slot(p.key) = p
		}
	}
}
