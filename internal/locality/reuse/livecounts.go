package reuse

import "math/bits"

const (
	blockSlots = 512 // eight words
	groupSlots = 4 * blockSlots
	rangeSlots = 4 * groupSlots
)

// liveCounts counts the live among numbered slots. Random slots make branches
// that nobody foresees, so that up to a range everything is added without one:
// the counts of eight words are bytes of a number, those of four blocks and of
// four groups are quarters of one, and a product adds up its parts. Ranges before
// the newest are in a Fenwick tree, which most accesses do not reach.
type liveCounts struct {
	ranges []slotRange
	closed []int32 // Fenwick tree of the live in ranges that are full
	open   int32   // live in the newest range
	live   int32
	now    uint32 // the next slot
	next   nextSlot
}

type slotRange struct {
	live   uint64 // of each group
	groups [4]slotGroup
}

type slotGroup struct {
	live   uint64 // of each block
	blocks [4]slotBlock
}

type slotBlock struct {
	live  uint64 // of each word
	words [8]uint64
}

// nextSlot is where the next slot is counted, and what one more adds there.
type nextSlot struct {
	word                     *uint64
	block, group, of         *uint64
	inBlock, inGroup, inThis uint64
}

// newLiveCounts has room for so many slots, or a few more.
func newLiveCounts(slots int) liveCounts {
	n := max((slots+rangeSlots-1)/rangeSlots, 1)
	c := liveCounts{ranges: make([]slotRange, n), closed: make([]int32, n+1)}
	c.step()
	return c
}

// full says that there is no room for another slot.
func (c *liveCounts) full() bool { return int(c.now) == len(c.ranges)*rangeSlots }

// word is the live slots of 64, by the first or any of them.
func (c *liveCounts) word(slot uint32) *uint64 {
	return &c.ranges[slot/rangeSlots].groups[slot/groupSlots%4].blocks[slot/blockSlots%4].words[slot/64%8]
}

// put makes the next slot live, for which there must be room.
func (c *liveCounts) put() (slot uint32) {
	slot = c.now
	c.now++
	n := &c.next
	*n.word |= 1 << (slot & 63)
	*n.block += n.inBlock
	*n.group += n.inGroup
	*n.of += n.inThis
	c.live++
	c.open++
	if slot&63 == 63 {
		c.step()
	}
	return slot
}

// step goes on to the next word.
func (c *liveCounts) step() {
	slot := c.now
	if slot%rangeSlots == 0 && slot > 0 {
		c.add(int(slot/rangeSlots)-1, c.open)
		c.open = 0
	}
	if c.full() {
		return
	}
	r := &c.ranges[slot/rangeSlots]
	g := &r.groups[slot/groupSlots%4]
	b := &g.blocks[slot/blockSlots%4]
	c.next = nextSlot{word: &b.words[slot/64%8], block: &b.live, group: &g.live, of: &r.live,
		inBlock: 1 << wordPart(slot), inGroup: 1 << blockPart(slot), inThis: 1 << groupPart(slot)}
}

// wordPart, blockPart and groupPart are where the count of what holds a slot
// begins in the number of counts.
func wordPart(slot uint32) uint32 { return slot / 64 % 8 * 8 & 63 }

func blockPart(slot uint32) uint32 { return slot / blockSlots % 4 * 16 & 63 }

func groupPart(slot uint32) uint32 { return slot / groupSlots % 4 * 16 & 63 }

// take removes a live slot and counts the live ones after it.
func (c *liveCounts) take(slot uint32) uint32 {
	of := &c.ranges[slot/rangeSlots]
	group := &of.groups[slot/groupSlots%4]
	block := &group.blocks[slot/blockSlots%4]
	word := &block.words[slot/64%8]
	n := uint64(bits.OnesCount64(*word >> (slot & 63) >> 1))
	*word &^= 1 << (slot & 63)

	at := wordPart(slot)
	n += eightParts(block.live >> at >> 8)
	block.live -= 1 << at
	at = blockPart(slot)
	n += fourParts(group.live >> at >> 16)
	group.live -= 1 << at
	at = groupPart(slot)
	n += fourParts(of.live >> at >> 16)
	of.live -= 1 << at

	if r := slot / rangeSlots; r == c.now/rangeSlots {
		c.open--
	} else {
		// live counts all; the tree those up to and with this range.
		n += uint64(c.live - c.prefix(int(r)+1))
		c.add(int(r), -1)
	}
	c.live--
	return uint32(n)
}

// eightParts adds up the bytes of a number: up to eight times 64.
func eightParts(x uint64) uint64 {
	const even = 0x00ff00ff00ff00ff
	return fourParts(x&even + x>>8&even)
}

// fourParts adds up the quarters of a number.
func fourParts(x uint64) uint64 { return x * 0x0001000100010001 >> 48 }

// prefix sums the closed ranges before range r.
func (c *liveCounts) prefix(r int) (sum int32) {
	for ; r > 0; r &= r - 1 {
		sum += c.closed[r]
	}
	return sum
}

// add adds to a closed range.
func (c *liveCounts) add(r int, n int32) {
	for i := r + 1; i < len(c.closed); i += i & -i {
		c.closed[i] += n
	}
}
