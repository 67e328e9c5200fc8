package cachesim

// state is what a cache knows about a line it holds. The order matters: from
// exclusive on, no other socket and no other core holds a copy.
type state uint64

const (
	invalid   state = iota
	shared          // others may hold copies; memory may be read instead
	exclusive       // no core or socket outside this cache's reach has a copy
	modified        // exclusive, and memory is stale
)

// cache is one set-associative cache. An entry is the line number shifted left
// by two with the state below; zero is a free way. Each set is kept in order of
// use, latest first, which makes replacement exact LRU and the common hit the
// first comparison.
//
// The methods look at every way and are left out of race detection, which makes
// them ten times slower; Machine.Access is in it, and calls them all.
type cache struct {
	ways    int
	sets    uint64
	mask    uint64 // sets-1 if sets is a power of two, else 0
	entries []uint64
}

func newCache(sets, ways int) *cache {
	c := &cache{ways: ways, sets: uint64(sets), entries: make([]uint64, sets*ways)}
	if powerOfTwo(sets) {
		c.mask = uint64(sets - 1)
	}
	return c
}

func pack(line uint64, s state) uint64 { return line<<2 | uint64(s) }

func unpack(e uint64) (line uint64, s state) { return e >> 2, state(e & 3) }

// set returns the ways of the set that the line falls into.
//
//go:norace
func (c *cache) set(line uint64) []uint64 {
	i := line & c.mask
	if c.mask == 0 {
		i = line % c.sets
	}
	return c.entries[i*uint64(c.ways):][:c.ways]
}

// peek returns the state of the line without using it.
//
//go:norace
func (c *cache) peek(line uint64) state {
	for _, e := range c.set(line) {
		if e>>2 == line && e&3 != 0 {
			return state(e & 3)
		}
	}
	return invalid
}

// use returns the state of the line and makes it the latest used of its set.
//
//go:norace
func (c *cache) use(line uint64) state {
	set := c.set(line)
	for i, e := range set {
		if e>>2 == line && e&3 != 0 {
			copy(set[1:i+1], set[:i])
			set[0] = e
			return state(e & 3)
		}
	}
	return invalid
}

// put changes the state of a line that may be held; it is not a use.
//
//go:norace
func (c *cache) put(line uint64, s state) bool {
	set := c.set(line)
	for i, e := range set {
		if e>>2 == line && e&3 != 0 {
			set[i] = pack(line, s)
			return true
		}
	}
	return false
}

// insert adds a line that is not held, as the latest used, and returns what had
// to leave for it (state invalid if nothing had to).
//
//go:norace
func (c *cache) insert(line uint64, s state) (victim uint64, was state) {
	set := c.set(line)
	victim, was = unpack(set[len(set)-1])
	copy(set[1:], set)
	set[0] = pack(line, s)
	return victim, was
}

// remove drops the line and returns the state it had.
//
//go:norace
func (c *cache) remove(line uint64) state {
	set := c.set(line)
	for i, e := range set {
		if e>>2 == line && e&3 != 0 {
			copy(set[i:], set[i+1:])
			set[len(set)-1] = 0
			return state(e & 3)
		}
	}
	return invalid
}
