package otf2

import (
	"fmt"
	"math"
	"sort"
)

// idMap maps the ids one location used while recording to global ids.
type idMap struct {
	dense  []uint64
	sparse map[uint64]uint64
}

// mappings are the tables of one location by kind. A nil receiver and a kind
// without a table map every id to itself.
type mappings [mapKinds]*idMap

func (m *mappings) apply(kind int8, id uint64) uint64 {
	if kind < 0 || m == nil {
		return id
	}
	t := m[kind]
	if t == nil {
		return id
	}
	if id < uint64(len(t.dense)) {
		return t.dense[id]
	}
	if t.sparse != nil {
		if g, ok := t.sparse[id]; ok {
			return g
		}
	}
	return id
}

// clockOffset is one measured difference between a local and the global clock.
type clockOffset struct {
	time   uint64
	offset int64
}

// local is what NAME/<location>.def says about one location.
type local struct {
	maps   mappings
	clocks []clockOffset
}

const (
	localMappingTable = 5
	localClockOffset  = 6
)

// readLocal reads the mapping tables and clock offsets; local definitions are
// skipped because the global ones replace them.
func readLocal(s *stream, w *Warnings) local {
	var l local
	place := func() string { return fmt.Sprintf("%s, byte %d", s.file, s.pos) }
	for {
		if s.pos >= s.limit {
			w.Add("local definitions end without an end mark", s.file)
			break
		}
		id := s.data[s.pos]
		if id == endOfChunk {
			if s.next() {
				continue
			}
			w.Add("local definitions end without an end mark", s.file)
			break
		}
		if id == endOfBuffer || id == endOfFile {
			break
		}
		body, end, ok := recordLength(s.data, s.pos+1, s.limit, s.big)
		if !ok {
			w.Add("local definitions are damaged; the rest of them is missing", place())
			break
		}
		c := cursor{b: s.data, i: body, end: end, big: s.big}
		switch id {
		case localMappingTable:
			if problem := l.addMapping(&c); problem != "" {
				w.Add(problem, place())
			}
		case localClockOffset:
			if problem := l.addClock(&c); problem != "" {
				w.Add(problem, place())
			}
		}
		s.pos = end
	}
	if len(l.clocks) == 1 {
		// The library applies no correction then; so do we, to agree with it.
		w.Add("a location has a single clock offset, which is not applied", s.file)
		l.clocks = nil
	}
	return l
}

func (l *local) addClock(c *cursor) (problem string) {
	o := clockOffset{time: c.fixed(8), offset: int64(c.compressed(8))}
	if c.bad || c.short {
		return "a clock offset is damaged and left out"
	}
	if n := len(l.clocks); n > 0 && o.time <= l.clocks[n-1].time {
		return "a clock offset is not later than the one before it and is left out"
	}
	l.clocks = append(l.clocks, o)
	return ""
}

func (l *local) addMapping(c *cursor) (problem string) {
	kind := c.byte()
	n := c.compressed(8)
	sparse := c.byte() != 0
	least := uint64(1)
	if sparse {
		least = 2
	}
	if c.bad || c.short || n > uint64(c.left())/least {
		return "a mapping table is damaged and left out"
	}
	if kind >= mapKinds {
		return ""
	}
	if l.maps[kind] != nil {
		return "a second mapping table of a kind; the first counts"
	}
	m := &idMap{}
	if !sparse {
		m.dense = make([]uint64, n)
		for i := range m.dense {
			m.dense[i] = c.compressed(8)
		}
	} else {
		m.sparse = make(map[uint64]uint64, n)
		for range n {
			from, to := c.compressed(8), c.compressed(8)
			m.sparse[from] = to
		}
		m.flatten()
	}
	if c.bad || c.short {
		return "a mapping table is damaged and left out"
	}
	l.maps[kind] = m
	return ""
}

// flatten turns a sparse table of small ids into a dense one, because the
// lookup runs once or twice per event.
func (m *idMap) flatten() {
	top := uint64(0)
	for from := range m.sparse {
		top = max(top, from)
	}
	if top > 4*uint64(len(m.sparse))+64 {
		return
	}
	m.dense = make([]uint64, top+1)
	for i := range m.dense {
		m.dense[i] = uint64(i)
		if to, ok := m.sparse[uint64(i)]; ok {
			m.dense[i] = to
		}
	}
	m.sparse = nil
}

// corrector applies clock offsets to rising times; last remembers the interval
// of the previous event.
type corrector struct {
	clocks []clockOffset
	last   int
}

// at returns the corrected time. Between two offsets the difference is
// interpolated as the OTF2 library does it: slope in float64, rounded half to
// even, added in wrapping 64-bit arithmetic. Times outside all intervals use
// the nearest one.
func (k *corrector) at(t uint64) uint64 {
	n := len(k.clocks)
	if n < 2 {
		return t
	}
	i := k.last
	if t > k.clocks[i+1].time || i > 0 && t <= k.clocks[i].time {
		i = sort.Search(n-2, func(j int) bool { return t <= k.clocks[j+1].time })
		k.last = i
	}
	a, b := k.clocks[i], k.clocks[i+1]
	slope := float64(b.offset-a.offset) / float64(b.time-a.time)
	drift := math.RoundToEven(slope * float64(int64(t-a.time)))
	return t + uint64(a.offset) + uint64(int64(drift))
}

// LocationClock is a location's own clock beside the global one, as the recorder
// measured them.
type LocationClock struct{ of corrector }

// Measured is the stretch of the location's own time between the first and the last
// measurement; ok is false if there were fewer than two.
func (c *LocationClock) Measured() (from, to uint64, ok bool) {
	n := len(c.of.clocks)
	if n < 2 {
		return 0, 0, false
	}
	return c.of.clocks[0].time, c.of.clocks[n-1].time, true
}

// Behind is what to add to a time of the location to get the global one.
func (c *LocationClock) Behind(t uint64) int64 { return int64(c.of.at(t) - t) }
