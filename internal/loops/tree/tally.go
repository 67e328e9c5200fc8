package tree

import (
	"cmp"
	"maps"
	"slices"
)

// tally counts entries by their turns.
type tally struct {
	last  turns
	times uint64 // entries like the last
	by    map[turns]uint64
	// rest are entries of kinds beyond maxKinds: their number, their sums, and
	// the least and the most.
	rest        uint64
	sums        [maxParts]uint64
	least, most uint64
}

// maxKinds bounds the different numbers of turns that are kept for a median.
const maxKinds = 1 << 16

func (t *tally) add(n turns) {
	if t.times > 0 && n == t.last {
		t.times++
		return
	}
	t.flush()
	t.last, t.times = n, 1
}

func (t *tally) flush() {
	if t.times == 0 {
		return
	}
	if t.by == nil {
		t.by = map[turns]uint64{}
	}
	if _, known := t.by[t.last]; known || len(t.by) < maxKinds {
		t.by[t.last] += t.times
	} else {
		sum := uint64(0)
		for i, n := range t.last {
			t.sums[i] += t.times * uint64(n)
			sum += uint64(n)
		}
		if t.rest == 0 || sum < t.least {
			t.least = sum
		}
		t.most = max(t.most, sum)
		t.rest += t.times
	}
	t.times = 0
}

// merge adds what another counted.
func (t *tally) merge(o *tally) {
	o.flush()
	t.flush()
	for n, times := range o.by {
		t.last, t.times = n, times
		t.flush()
	}
	if o.rest > 0 {
		if t.rest == 0 || o.least < t.least {
			t.least = o.least
		}
		t.most = max(t.most, o.most)
		t.rest += o.rest
		for i := range t.sums {
			t.sums[i] += o.sums[i]
		}
	}
}

// Trips is how often a loop is entered and how many turns it makes.
type Trips struct {
	Entries, Trips   uint64
	Min, Median, Max uint64
	Skipped          uint64 // entries without a turn
	Unknown          Unknown
}

// Unknown says which numbers neither the code nor the text tells: they are 0 and
// mean nothing.
type Unknown struct{ Entries, Trips, Spread bool }

// agree takes back estimates that contradict one another, or the references that
// were made. That a loop makes no turn is no estimate: its turns are in copies that
// are not told apart.
func (t *Trips) agree(references uint64) {
	t.Unknown = Unknown{Entries: t.Entries == 0 && (t.Trips > 0 || references > 0), Trips: t.Trips == 0 && (t.Entries > 0 || references > 0)}
	t.Unknown.Spread = t.Unknown.Entries || t.Unknown.Trips || t.Entries > 0 && (t.Min > t.Trips/t.Entries || t.Max < (t.Trips+t.Entries-1)/t.Entries)
	if t.Unknown.Spread {
		t.Min, t.Median, t.Max, t.Skipped = 0, 0, 0, 0
	}
}

// histogram is entries by their turns.
type histogram struct {
	by          map[uint64]uint64
	rest, sum   uint64 // entries beyond those that are told apart, and their turns
	least, most uint64
}

// weighed counts entries with their parts weighed as a function says.
func (t *tally) weighed(weigh func(turns) uint64) histogram {
	t.flush()
	h := histogram{by: map[uint64]uint64{}, rest: t.rest, least: t.least, most: t.most}
	for n, times := range t.by {
		h.by[weigh(n)] += times
	}
	for _, n := range t.sums {
		h.sum += n
	}
	return h
}

func (h *histogram) merge(o histogram) {
	if h.by == nil {
		h.by = map[uint64]uint64{}
	}
	for n, times := range o.by {
		h.by[n] += times
	}
	if o.rest == 0 {
		return
	}
	if h.rest == 0 || o.least < h.least {
		h.least = o.least
	}
	h.most = max(h.most, o.most)
	h.rest, h.sum = h.rest+o.rest, h.sum+o.sum
}

// spread makes the turns add up to a number, in proportion: where it is known of
// all entries together only.
func (h *histogram) spread(total uint64) {
	have := h.total()
	if have == 0 {
		return
	}
	by := map[uint64]uint64{}
	left := total
	for _, n := range slices.Sorted(maps.Keys(h.by)) {
		m := n * total / have
		by[m] += h.by[n]
		left -= m * h.by[n]
	}
	h.by, h.sum = by, left
}

// once reports whether every entry made one turn.
func (h *histogram) once() bool { return h.rest == 0 && len(h.by) == 1 && h.by[1] > 0 }

// total is all turns.
func (h *histogram) total() uint64 {
	sum := h.sum
	for n, times := range h.by {
		sum += n * times
	}
	return sum
}

func (h histogram) trips() Trips {
	out := Trips{Trips: h.total(), Skipped: h.by[0]}
	values := slices.SortedFunc(maps.Keys(h.by), cmp.Compare[uint64])
	for _, n := range values {
		out.Entries += h.by[n]
	}
	if len(values) > 0 {
		out.Min, out.Max = values[0], values[len(values)-1]
	}
	seen := uint64(0)
	for _, n := range values {
		if seen += h.by[n]; 2*seen >= out.Entries {
			out.Median = n
			break
		}
	}
	if h.rest > 0 {
		if out.Entries == 0 || h.least < out.Min {
			out.Min = h.least
		}
		out.Max = max(out.Max, h.most)
		out.Entries += h.rest
	}
	return out
}
