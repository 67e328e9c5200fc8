package main

import "math/bits"

// textbook finds reuse distances as textbooks do: a hash table says when each line
// was used last, and a Fenwick tree over the times of all last uses counts those
// behind. It is the measure of how quick the machine is today: where the bars of
// the rows were set it took 96 ns a reference, of a trace of the same kind.
type textbook struct {
	keys  []uint64 // line plus one, open addressing
	last  []uint32 // time of the last use
	lines int
	live  []uint64 // a bit a time: some line was used last then
	tree  []int32  // Fenwick, of words of live
	now   uint32
}

const textbookTimes = 1 << 22

func newTextbook() *textbook {
	return &textbook{keys: make([]uint64, 1<<12), last: make([]uint32, 1<<12), live: make([]uint64, textbookTimes/64), tree: make([]int32, textbookTimes/64+1)}
}

// access is the lines used since the last use of a line, and whether there was one.
func (b *textbook) access(line uint64) (distance int, again bool) {
	if b.now == textbookTimes {
		b.compact()
	}
	k := b.slot(line)
	if b.keys[k] == 0 {
		b.keys[k] = line + 1
		if b.lines++; 2*b.lines > len(b.keys) {
			b.grow()
			k = b.slot(line)
		}
	} else {
		at := b.last[k]
		distance, again = b.lines-b.upTo(at), true
		b.live[at/64] &^= 1 << (at % 64)
		b.add(at/64, -1)
	}
	b.last[k] = b.now
	b.live[b.now/64] |= 1 << (b.now % 64)
	b.add(b.now/64, 1)
	b.now++
	return distance, again
}

func (b *textbook) slot(line uint64) uint64 {
	mask := uint64(len(b.keys) - 1)
	k := line * 0x9e3779b97f4a7c15 >> 20 & mask
	for b.keys[k] != 0 && b.keys[k] != line+1 {
		k = (k + 1) & mask
	}
	return k
}

func (b *textbook) grow() {
	keys, last := b.keys, b.last
	b.keys, b.last = make([]uint64, 2*len(keys)), make([]uint32, 2*len(keys))
	for i, key := range keys {
		if key != 0 {
			k := b.slot(key - 1)
			b.keys[k], b.last[k] = key, last[i]
		}
	}
}

// add counts in the words of a tree.
func (b *textbook) add(word uint32, n int32) {
	for i := int(word) + 1; i < len(b.tree); i += i & -i {
		b.tree[i] += n
	}
}

// upTo is how many lines were used last at a time or before.
func (b *textbook) upTo(at uint32) int {
	n := bits.OnesCount64(b.live[at/64] << (63 - at%64))
	for i := int(at / 64); i > 0; i -= i & -i {
		n += int(b.tree[i])
	}
	return n
}

// compact numbers the times of last uses from 0 on.
func (b *textbook) compact() {
	rank := make([]uint32, len(b.live))
	n := uint32(0)
	for i, w := range b.live {
		rank[i] = n
		n += uint32(bits.OnesCount64(w))
	}
	for k, key := range b.keys {
		if key != 0 {
			at := b.last[k]
			b.last[k] = rank[at/64] + uint32(bits.OnesCount64(b.live[at/64]&(1<<(at%64)-1)))
		}
	}
	clear(b.live)
	clear(b.tree)
	b.now = n
	for at := range n {
		b.live[at/64] |= 1 << (at % 64)
		b.add(at/64, 1)
	}
}
