package advice

import (
	"slices"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/locality/layout"
	"github.com/isobath/isobath/internal/locality/replay"
)

// reach is how visits of the elements of an object come about. An element can be
// put elsewhere where a pointer or a number that is stored in memory leads to it:
// the same location leads to the same element again. What is computed, as the
// slot of a key in a hash table is, leads from the same locations to others.
type reach struct {
	visits uint64
	every  uint64 // one location in so many is followed
	// By how many loads before a visit: visits after a load from a location that led
	// somewhere before, and of them those to the same element.
	known, led [leadingLoads]uint64
}

// leastKnown is the part of the visits, one in so many, that must tell something.
const leastKnown = 16

// best is the load that most visits follow.
func (r *reach) best() (known, led uint64) {
	for lag, k := range r.known {
		if k > 0 && leastKnown*k*r.every >= r.visits && (known == 0 || r.led[lag]*known > led*k) {
			known, led = k, r.led[lag]
		}
	}
	return known, led
}

// byStored reports whether nearly all visits follow what is stored; of the steps
// of a bisection half go the same way again.
func (r *reach) byStored() bool {
	known, led := r.best()
	return 5*led > 4*known
}

// leastUnused is the part of the elements between those in use that is never used,
// from which on their places are taken to be computed: a key that is read twice leads
// to the same slot of a hash table twice, as a stored number would.
const leastUnused = 0.1

// unusedBetween is how many elements lie from the first to the last that is used, and
// how many of them never are.
func (p *profile) unusedBetween() (of, unused uint64) {
	if len(p.firstUse) == 0 {
		return 0, 0
	}
	of = uint64(slices.Max(p.firstUse)-slices.Min(p.firstUse)) + 1
	return of, of - uint64(len(p.firstUse))
}

const (
	// leadingLoads is how many loads before a visit may have led to it: a pointer or
	// a number, and what a turn of a loop loads besides.
	leadingLoads = 6
	// followedLocations is about how many locations are followed; of larger objects
	// a part of them tells enough.
	followedLocations = 1 << 18
)

// recent is the locations that a thread loaded from last.
type recent struct {
	at   [leadingLoads]uint64
	led  [leadingLoads]uint32 // number of the location plus one; 0 where nobody asked
	n    int
	last uint64 // element plus one
}

// leads is where locations led, by how many loads before a visit they were loaded
// from.
type leads struct {
	numbers map[uint64]uint32
	to      [][leadingLoads]uint32 // elements plus one, by number
}

// number is that of the location which a thread loaded from lag loads ago.
func (l *leads) number(near *recent, lag int) uint32 {
	k := (near.n - 1 - lag) % leadingLoads
	if near.led[k] == 0 {
		id, ok := l.numbers[near.at[k]]
		if !ok {
			id = uint32(len(l.to))
			l.numbers[near.at[k]] = id
			l.to = append(l.to, [leadingLoads]uint32{})
		}
		near.led[k] = id + 1
	}
	return near.led[k] - 1
}

// reachOf follows the visits of an object's elements.
func (p *profile) reachOf(t *replay.Trace) (r reach) {
	o := p.object
	n := o.Elements()
	r.every = n/followedLocations + 1
	leads := leads{numbers: map[uint64]uint32{}}
	threads := make([]recent, len(t.Threads))
	for i := range t.Accesses {
		a := &t.Accesses[i]
		near := &threads[a.Thread]
		if a.Object == o.Number {
			if e, _ := o.Locate(a.Addr); e < n && near.last != e+1 {
				near.last = e + 1
				r.visit(o, near, &leads, uint32(e))
			}
		}
		// A pointer or a number has four bytes or eight; of some traces sizes are not known.
		if a.Op != refs.Store && (a.Size == 4 || a.Size == 8 || a.Size == 0) {
			near.at[near.n%leadingLoads], near.led[near.n%leadingLoads] = a.Addr, 0
			near.n++
		}
	}
	return r
}

// visit counts a visit, and notes what may have led to it.
func (r *reach) visit(o *layout.Object, near *recent, leads *leads, element uint32) {
	r.visits++
	for lag := range min(near.n, leadingLoads) {
		at := near.at[(near.n-1-lag)%leadingLoads]
		if r.every > 1 && at*0x9e3779b97f4a7c15>>32%r.every != 0 || beside(o, at, element) {
			continue
		}
		to := &leads.to[leads.number(near, lag)][lag]
		if *to != 0 {
			r.known[lag]++
			if *to == element+1 {
				r.led[lag]++
			}
		}
		*to = element + 1
	}
}

// beside reports whether a location lies in an element or next to it: that one is
// visited after the other follows from their places alone.
func beside(o *layout.Object, at uint64, element uint32) bool {
	if at < o.Start || at >= o.Start+o.Size {
		return false
	}
	e, _ := o.Locate(at)
	return e+1 >= uint64(element) && e <= uint64(element)+1
}
