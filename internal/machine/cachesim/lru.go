package cachesim

import (
	"fmt"
	"math/bits"
)

// Geometry is the shape of one cache or TLB.
type Geometry struct {
	Size int // bytes
	Ways int
	Line int // bytes, a power of two
}

// Sets is the number of sets.
func (g Geometry) Sets() int { return g.Size / g.Ways / g.Line }

// Check reports a shape that no cache has.
func (g Geometry) Check() error {
	switch {
	case !powerOfTwo(g.Line) || g.Line > maxLine:
		return fmt.Errorf("lines of %d bytes: want a power of two up to %d", g.Line, maxLine)
	case g.Ways <= 0 || g.Size < g.Ways*g.Line || g.Size%(g.Ways*g.Line) != 0:
		return fmt.Errorf("%d bytes are not whole sets of %d lines of %d bytes", g.Size, g.Ways, g.Line)
	}
	return nil
}

// maxLine bounds the line size of a cache, in bytes. Pages are lines of a TLB.
const maxLine = 1 << 30

// LRU is one set-associative cache that replaces the line unused for longest.
// Nothing but the numbers of the lines is kept: it is the fast path for one
// stream without coherence, and counts what Machine would count. Sets need not
// be a power of two.
type LRU struct {
	ways int
	sets Divisor
	mask uint64 // sets-1 if sets is a power of two
	one  bool   // set
	// tags are the lines of each set plus one, latest first; 0 is free.
	tags []uint64
}

// NewLRU makes an empty cache. The geometry must have passed Check.
func NewLRU(g Geometry) *LRU {
	sets := uint64(g.Sets())
	c := &LRU{ways: g.Ways, sets: NewDivisor(sets), one: sets == 1, tags: make([]uint64, g.Sets()*g.Ways)}
	if powerOfTwo(g.Sets()) {
		c.mask = sets - 1
	}
	return c
}

func (c *LRU) set(line uint64) []uint64 {
	i := line & c.mask
	if c.mask == 0 && !c.one {
		_, i = c.sets.Of(line)
	}
	return c.tags[i*uint64(c.ways):][:c.ways:c.ways]
}

// Access uses a line, which is then the latest of its set; it reports whether
// the line was there.
func (c *LRU) Access(line uint64) bool {
	set := c.set(line)
	key := line + 1
	moved := set[0]
	if moved == key {
		return true
	}
	// Sets are short: moving while looking costs less than a copy afterwards.
	set[0] = key
	for i := 1; i < len(set); i++ {
		set[i], moved = moved, set[i]
		if moved == key {
			return true
		}
	}
	return false
}

// Latest reports whether a line is the latest of its set: to use it changes
// nothing then.
func (c *LRU) Latest(line uint64) bool { return c.set(line)[0] == line+1 }

// Use is Access for a line that is there; one that is not stays away.
func (c *LRU) Use(line uint64) bool {
	set := c.set(line)
	for i, k := range set {
		if k == line+1 {
			copy(set[1:i+1], set[:i])
			set[0] = line + 1
			return true
		}
	}
	return false
}

// Insert brings in a line that is not there, and returns what had to leave.
func (c *LRU) Insert(line uint64) (victim uint64, left bool) {
	set := c.set(line)
	last := set[len(set)-1]
	copy(set[1:], set)
	set[0] = line + 1
	return last - 1, last != 0
}

// Remove takes a line out.
func (c *LRU) Remove(line uint64) bool {
	set := c.set(line)
	for i, k := range set {
		if k == line+1 {
			copy(set[i:], set[i+1:])
			set[len(set)-1] = 0
			return true
		}
	}
	return false
}

// Usage is a cache that remembers which bytes of each line were touched since
// it was fetched, and for whom it was fetched.
type Usage struct {
	ways  int
	sets  uint64
	mask  uint64 // sets-1 if sets is a power of two
	shift uint
	// latest is the line touched last, which is the first of its set.
	latest *usedLine
	words  int // of the mask of a line
	lines  []usedLine
	masks  []uint64
	// Left is told about every line that leaves: who fetched it and how many of
	// its bytes were touched, in how many accesses.
	Left func(owner uint32, bytes, accesses int)
	// Touched, if it is set, is told before which bytes of which line those are,
	// one bit a byte. The mask is the cache's own.
	Touched func(owner uint32, line uint64, mask []uint64)
}

// usedLine is one way. Its mask is found by place, so that keeping the order of
// use moves no masks.
type usedLine struct {
	key      uint64 // line plus one; 0 is free
	owner    uint32
	place    uint32
	accesses uint32
}

// NewUsage makes an empty cache. The geometry must have passed Check; lines are
// at most 4096 bytes.
func NewUsage(g Geometry, left func(owner uint32, bytes, accesses int)) *Usage {
	n := g.Sets() * g.Ways
	c := &Usage{ways: g.Ways, sets: uint64(g.Sets()), shift: uint(bits.TrailingZeros(uint(g.Line))), words: max(g.Line/64, 1),
		lines: make([]usedLine, n), Left: left}
	c.masks = make([]uint64, n*c.words)
	c.latest = &usedLine{}
	if powerOfTwo(g.Sets()) {
		c.mask = c.sets - 1
	}
	for i := range c.lines {
		c.lines[i].place = uint32(i)
	}
	return c
}

// Access touches bytes for an owner, line by line, lower first. It returns how
// many lines had to be fetched.
func (c *Usage) Access(addr uint64, size uint32, owner uint32) (fetched int) {
	last := addr + uint64(max(size, 1)) - 1
	if line := addr >> c.shift; line+1 == c.latest.key && line == last>>c.shift {
		c.mark(c.latest, uint(addr-line<<c.shift), uint(last-line<<c.shift))
		return 0
	}
	for line := addr >> c.shift; ; line++ {
		from, to := addr, last
		if start := line << c.shift; from < start {
			from = start
		}
		if end := line<<c.shift + 1<<c.shift - 1; to > end {
			to = end
		}
		if c.touch(line, uint(from-line<<c.shift), uint(to-line<<c.shift), owner) {
			fetched++
		}
		if line == last>>c.shift {
			return fetched
		}
	}
}

// touch uses bytes from to to (both included) of a line, and reports whether it
// had to be fetched, which then was for the owner.
func (c *Usage) touch(line uint64, from, to uint, owner uint32) (fetched bool) {
	set := c.set(line)
	at := 0
	for at < len(set) && set[at].key != line+1 {
		at++
	}
	if at == len(set) {
		at--
		c.evict(&set[at])
		set[at].key, set[at].owner, set[at].accesses = line+1, owner, 0
		fetched = true
	}
	if at > 0 {
		used := set[at]
		copy(set[1:at+1], set[:at])
		set[0] = used
	}
	c.latest = &set[0]
	c.mark(c.latest, from, to)
	return fetched
}

// set is the ways of the set that a line belongs to.
func (c *Usage) set(line uint64) []usedLine {
	i := line & c.mask
	if c.mask == 0 && c.sets > 1 {
		i = line % c.sets
	}
	return c.lines[i*uint64(c.ways):][:c.ways:c.ways]
}

// mark counts an access to bytes from to to of a line that is there.
func (c *Usage) mark(l *usedLine, from, to uint) {
	l.accesses++
	if c.words == 1 {
		c.masks[l.place] |= (^uint64(0) >> (63 - (to - from))) << from
		return
	}
	mask := c.masks[int(l.place)*c.words:][:c.words]
	for b := from; b <= to; b++ {
		mask[b/64] |= 1 << (b % 64)
	}
}

func (c *Usage) evict(l *usedLine) {
	if l.key == 0 {
		return
	}
	mask := c.masks[int(l.place)*c.words:][:c.words]
	if c.Touched != nil {
		c.Touched(l.owner, l.key-1, mask)
	}
	n := 0
	for i, w := range mask {
		n += bits.OnesCount64(w)
		mask[i] = 0
	}
	c.Left(l.owner, n, int(l.accesses))
	l.key = 0
}

// Flush lets every line leave.
func (c *Usage) Flush() {
	for i := range c.lines {
		c.evict(&c.lines[i])
	}
}
