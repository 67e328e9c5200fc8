package reuse

import (
	"math/bits"

	"github.com/isobath/isobath/internal/machine/cachesim"
)

// residents is a set-associative LRU cache that knows which bytes of each line
// were touched since it was fetched, and for whom. It counts what
// cachesim.Usage counts, and searches for no line: the way of each is kept with
// its last use, which is at hand anyway.
type residents struct {
	ways  int
	sets  uint64
	mask  uint64 // sets-1 if sets is a power of two
	words int    // of the mask of a line
	// By place, which is set·ways + way:
	ids    []uint32 // number of the line there, plus one; 0 is free
	owners []uint32
	used   []uint64 // when, above the way; never is the way alone
	masks  []uint64 // words for each
	tick   uint64
	latest int // place of the line used last
}

func newResidents(g cachesim.Geometry) *residents {
	n := g.Sets() * g.Ways
	c := &residents{ways: g.Ways, sets: uint64(g.Sets()), words: max(g.Line/64, 1), ids: make([]uint32, n), owners: make([]uint32, n), used: make([]uint64, n)}
	c.masks = make([]uint64, n*c.words)
	if c.sets&(c.sets-1) == 0 {
		c.mask = c.sets - 1
	}
	for i := range c.used {
		c.used[i] = uint64(i % c.ways)
	}
	return c
}

// wayBits hold a way below the time of its use, so that the least of those of a
// set names the way, without a branch that nobody foresees.
const wayBits = 20

// first is the place of the first way of the set that a line belongs to.
func (c *residents) first(line uint64) int {
	set := line & c.mask
	if c.mask == 0 && c.sets > 1 {
		set = line % c.sets
	}
	return int(set) * c.ways
}

// use makes a line the latest if it is there.
func (c *residents) use(u *lastUse, line uint64) bool {
	way := u.way()
	if way < 0 {
		return false
	}
	c.using(c.first(line), way)
	return true
}

// using makes a way of a set the latest.
func (c *residents) using(first, way int) {
	c.latest = first + way
	c.tick++
	c.used[c.latest] = c.tick<<wayBits | uint64(way)
}

// replace brings in a line that is not there, in place of that of its set which
// was used before all others.
func (c *residents) replace(uses []lastUse, id uint32, line uint64, owner uint32) leaving {
	first := c.first(line)
	oldest := ^uint64(0)
	for _, used := range c.used[first : first+c.ways] {
		oldest = min(oldest, used)
	}
	way := int(oldest & (1<<wayBits - 1))
	c.using(first, way)
	if old := c.ids[c.latest]; old != 0 {
		uses[old-1].setWay(-1)
	}
	l := c.leave(c.latest)
	uses[id].setWay(way)
	c.ids[c.latest], c.owners[c.latest] = id+1, owner
	return l
}

// mark touches bytes from to to, both included, of the line at a place.
func (c *residents) mark(place int, from, to uint) {
	if c.words == 1 {
		c.masks[place] |= (^uint64(0) >> ((63 - (to - from)) & 63)) << (from & 63)
		return
	}
	mask := c.masks[place*c.words:][:c.words]
	for b := from; b <= to; b++ {
		mask[b/64] |= 1 << (b % 64)
	}
}

// leaving is a line that leaves the cache, if one was there: for whom it was
// fetched and how many of its bytes were touched.
type leaving struct {
	was   bool
	owner uint32
	bytes int
}

// leave takes out what is at a place.
func (c *residents) leave(place int) leaving {
	if c.ids[place] == 0 {
		return leaving{}
	}
	l := leaving{was: true, owner: c.owners[place]}
	for i := range c.masks[place*c.words:][:c.words] {
		w := &c.masks[place*c.words+i]
		l.bytes += bits.OnesCount64(*w)
		*w = 0
	}
	c.ids[place] = 0
	return l
}
