package reuse

import "math/bits"

// First is the distance of the first access to a line.
const First = ^uint32(0)

// frontSize is how many of the latest lines are looked up by comparing: more
// than half of the references of most programs are to one of them.
const frontSize = 8

const (
	blockSlots = 512 // slots of one node of the tree
	blockWords = blockSlots / 64
	pageLines  = 64 // lines of one page of the table

	slotNone  = ^uint32(0)     // the line was never accessed
	slotFront = ^uint32(0) - 1 // the line is in the front
)

// Stack is the LRU stack of an unbounded cache: Access tells how many other
// lines were accessed since the last access to a line.
//
// The latest lines are in front, in order. Every other line has a slot, a
// number that grows with the time it left the front; live slots are bits of
// words. The distance of a line is the number of live slots behind its own: a
// population count of the words of its block, and a Fenwick tree over the blocks
// before the newest. When slots run out the live ones are numbered again.
type Stack struct {
	front [frontSize]uint64 // lines plus one; 0 is none
	ids   [frontSize]uint32 // of the lines in front

	table lineTable
	slots []uint32 // by id
	words []uint64
	// closed is the Fenwick tree of live slots in blocks that are full; open
	// counts those of the newest block.
	closed []int32
	open   int32
	now    uint32
	live   int32
}

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
	key := line + 1
	if s.front[0] == key {
		return 0, s.ids[0]
	}
	for i := 1; i < frontSize; i++ {
		if s.front[i] == key {
			id = s.ids[i]
			s.push(i, key, id)
			return uint32(i), id
		}
	}
	return s.accessBehind(key)
}

// accessBehind is Access for a line that is not in front.
func (s *Stack) accessBehind(key uint64) (distance, id uint32) {
	id = s.table.id(key - 1)
	for int(id) >= len(s.slots) {
		s.slots = append(s.slots, newSlots[:]...)
	}
	distance = First
	if slot := s.slots[id]; slot != slotNone {
		distance = frontSize + s.newer(slot)
		s.clear(slot)
	} else {
		s.table.lines++
	}
	s.slots[id] = slotFront
	if last := s.front[frontSize-1]; last != 0 {
		s.spill(s.ids[frontSize-1])
	}
	s.push(frontSize-1, key, id)
	return distance, id
}

// push puts a line first, and moves those before place at back by one.
func (s *Stack) push(at int, key uint64, id uint32) {
	copy(s.front[1:at+1], s.front[:at])
	copy(s.ids[1:at+1], s.ids[:at])
	s.front[0], s.ids[0] = key, id
}

// newSlots is the slots of a page nobody has accessed.
var newSlots = func() (p [pageLines]uint32) {
	for i := range p {
		p[i] = slotNone
	}
	return p
}()

// newer counts the live slots after a slot.
func (s *Stack) newer(slot uint32) uint32 {
	w := slot / 64
	n := bits.OnesCount64(s.words[w] >> (slot % 64) >> 1)
	block := slot / blockSlots
	for _, rest := range s.words[w+1 : (block+1)*blockWords] {
		n += bits.OnesCount64(rest)
	}
	if block == s.now/blockSlots {
		return uint32(n)
	}
	// live counts all; the tree those up to and with this block.
	return uint32(n) + uint32(s.live-s.prefix(int(block)+1))
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

func (s *Stack) clear(slot uint32) {
	s.words[slot/64] &^= 1 << (slot % 64)
	s.live--
	if block := slot / blockSlots; block == s.now/blockSlots {
		s.open--
	} else {
		s.add(int(block), -1)
	}
}

// spill gives the line that leaves the front the next slot.
func (s *Stack) spill(id uint32) {
	if int(s.now) == len(s.words)*64 {
		s.compact()
	}
	s.slots[id] = s.now
	s.words[s.now/64] |= 1 << (s.now % 64)
	s.live++
	s.open++
	s.now++
	if s.now%blockSlots == 0 {
		s.add(int(s.now)/blockSlots-1, s.open)
		s.open = 0
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
	for id, slot := range s.slots {
		if slot < slotFront {
			below := s.words[slot/64] & (1<<(slot%64) - 1)
			s.slots[id] = rank[slot/64] + uint32(bits.OnesCount64(below))
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
