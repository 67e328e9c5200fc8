package reuse

import "math/bits"

// First is the distance of the first access to a line.
const First = ^uint32(0)

const (
	blockSlots = 512 // slots of one node of the tree
	blockWords = blockSlots / 64
	pageLines  = 64 // lines of one page of the table

	slotNone = ^uint32(0) // the line was never accessed
)

// Stack is the LRU stack of an unbounded cache: Access tells how many other
// lines were accessed since the last access to a line.
//
// Every line has a slot, a number that grows with the time of its last access;
// live slots are bits of words. The distance of a line is the number of live
// slots behind its own: a population count of the words of its block, and a
// Fenwick tree over the blocks before the newest, which most accesses do not
// reach. When slots run out the live ones are numbered again.
type Stack struct {
	latest   uint64 // the line accessed last, plus one; 0 is none
	latestID uint32

	table lineTable
	uses  []lastUse // by id
	words []uint64
	// closed is the Fenwick tree of live slots in blocks that are full; open
	// counts those of the newest block.
	closed []int32
	open   int32
	now    uint32
	live   int32
}

// lastUse is when a line was used last: its slot, and the time that the caller
// gave. Both are needed at once, and random memory costs by the place.
type lastUse struct {
	slot     uint32
	low, top uint32 // halves of the time: twelve bytes in place of sixteen
}

func (u *lastUse) time() uint64 { return uint64(u.top)<<32 | uint64(u.low) }

func (u *lastUse) setTime(t uint64) { u.low, u.top = uint32(t), uint32(t>>32) }

// NewStack returns a stack no line was pushed on.
func NewStack() *Stack { return newStack(64 * blockSlots) }

// newStack is NewStack with room for a number of slots before the first
// renumbering; tests force that with a small one.
func newStack(slots int) *Stack {
	s := &Stack{table: newLineTable()}
	s.room(slots)
	return s
}

func (s *Stack) room(slots int) {
	blocks := max((slots+blockSlots-1)/blockSlots, 1)
	s.words = make([]uint64, blocks*blockWords)
	s.closed = make([]int32, blocks+1)
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
	slot := s.uses[id].slot
	if w := int(slot / 64); w < len(s.words) {
		return s.words[w]
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
		distance = s.take(slot)
	}
	if int(s.now) == len(s.words)*64 {
		u.slot = slotNone // it is in no word
		s.compact()
	}
	s.live++
	s.open++
	u.slot = s.now
	s.words[s.now/64] |= 1 << (s.now % 64)
	s.now++
	if s.now%blockSlots == 0 {
		s.add(int(s.now)/blockSlots-1, s.open)
		s.open = 0
	}
	return distance, last
}

// unused is the lines of a page nobody has accessed.
var unused = func() (p [pageLines]lastUse) {
	for i := range p {
		p[i].slot = slotNone
	}
	return p
}()

// take removes a slot and counts the live slots after it.
func (s *Stack) take(slot uint32) uint32 {
	w := slot / 64
	block := slot / blockSlots
	word := s.words[w]
	n := bits.OnesCount64(word >> (slot % 64) >> 1)
	s.words[w] = word &^ (1 << (slot % 64))
	if block == s.now/blockSlots {
		for _, rest := range s.words[w+1 : s.now/64+1] {
			n += bits.OnesCount64(rest)
		}
		s.live--
		s.open--
		return uint32(n)
	}
	for _, rest := range s.words[w+1 : (block+1)*blockWords] {
		n += bits.OnesCount64(rest)
	}
	// live counts all; the tree those up to and with this block.
	n += int(s.live - s.prefix(int(block)+1))
	s.add(int(block), -1)
	s.live--
	return uint32(n)
}

// prefix sums the closed blocks before block b.
func (s *Stack) prefix(b int) (sum int32) {
	for ; b > 0; b &= b - 1 {
		sum += s.closed[b]
	}
	return sum
}

// add adds to a closed block.
func (s *Stack) add(block int, n int32) {
	for i := block + 1; i < len(s.closed); i += i & -i {
		s.closed[i] += n
	}
}

// compact numbers the live slots from 0 on, and makes room for at least three
// times as many, so that its cost is spread over as many accesses.
func (s *Stack) compact() {
	rank := make([]uint32, len(s.words))
	n := uint32(0)
	for i, w := range s.words {
		rank[i] = n
		n += uint32(bits.OnesCount64(w))
	}
	for i := range s.uses {
		if slot := s.uses[i].slot; slot != slotNone {
			below := s.words[slot/64] & (1<<(slot%64) - 1)
			s.uses[i].slot = rank[slot/64] + uint32(bits.OnesCount64(below))
		}
	}
	s.room(max(len(s.words)*64, 4*int(n)+blockSlots))
	for i := range n / 64 {
		s.words[i] = ^uint64(0)
	}
	if n%64 != 0 {
		s.words[n/64] = 1<<(n%64) - 1
	}
	s.now, s.live, s.open = n, int32(n), int32(n%blockSlots)
	for b := range int(n / blockSlots) {
		s.add(b, blockSlots)
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
