package replay

import "github.com/isobath/isobath/internal/data/refs"

// Dependences are the accesses of a trace by the words of eight bytes they
// touch.
type Dependences struct {
	trace *Trace
	words int
	// first is the number of the first word of each access; an access touches
	// neighbours of it, which have the numbers behind it only if they are in
	// more.
	first []uint32
	more  map[int][]uint32 // of accesses over several words
	was   []wordState
}

// wordState is what happened to a word: the order of its stores, and which loads
// lie between two of them, whatever their order.
type wordState struct {
	stores, loads uint64
}

// NewDependences reads the order of a trace.
func NewDependences(t *Trace) *Dependences {
	d := &Dependences{trace: t, first: make([]uint32, len(t.Accesses)), more: map[int][]uint32{}}
	numbers := refs.NewMemo()
	number := func(word uint64) uint32 { return numbers.Number(refs.Key{word}) }
	for i := range t.Accesses {
		a := &t.Accesses[i]
		from, to := a.Addr/8, (a.Addr+uint64(a.Size)-1)/8
		d.first[i] = number(from)
		for w := from + 1; w <= to; w++ {
			d.more[i] = append(d.more[i], number(w))
		}
	}
	d.words = numbers.Len()
	d.was = d.run(nil)
	return d
}

// run hashes what happens to each word if the accesses come in an order.
func (d *Dependences) run(order []uint32) []wordState {
	out := make([]wordState, d.words)
	for k := range d.trace.Accesses {
		i := k
		if order != nil {
			i = int(order[k])
		}
		op := d.trace.Accesses[i].Op
		out[d.first[i]].add(i, op)
		if more, ok := d.more[i]; ok {
			for _, w := range more {
				out[w].add(i, op)
			}
		}
	}
	for i := range out {
		out[i].close()
	}
	return out
}

// add takes the access at a position of the recorded trace.
func (s *wordState) add(position int, op refs.Op) {
	h := (uint64(position) + 1) * 0x9e3779b97f4a7c15
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	if op != refs.Store {
		s.loads += h
	}
	if op != refs.Load {
		s.close()
		s.stores = s.stores*0xff51afd7ed558ccd + h
	}
}

func (s *wordState) close() {
	s.stores = s.stores*0x100000001b3 ^ s.loads
	s.loads = 0
}

// Keeps reports whether an order leaves every word its stores in their order,
// and every load between the same two stores: then every reference keeps its
// result, for this input.
func (d *Dependences) Keeps(order []uint32) bool {
	now := d.run(order)
	for i := range now {
		if now[i] != d.was[i] {
			return false
		}
	}
	return true
}

// ChangesOnly reports whether all words to which something else happens in an
// order are touched by some accesses alone.
func (d *Dependences) ChangesOnly(order []uint32, among func(*Access) bool) bool {
	now := d.run(order)
	for i := range d.trace.Accesses {
		a := &d.trace.Accesses[i]
		if among(a) {
			continue
		}
		if w := d.first[i]; now[w] != d.was[w] {
			return false
		}
		for _, w := range d.more[i] {
			if now[w] != d.was[w] {
				return false
			}
		}
	}
	return true
}

// Flows reports whether a turn of a loop of a nest loads what another turn of it
// has stored.
func (d *Dependences) Flows(n *Nest, loop int) bool {
	turns := 1 // of the innermost loop in one turn of this one
	for _, trips := range n.Trips[loop+1:] {
		turns *= trips
	}
	stored := make([]int32, d.words) // turn of the last store, plus one
	turn := int32(0)
	for i, k := n.From(), 0; i < n.To(); i++ {
		for k+1 < len(n.turns) && int(n.turns[k+1]) <= i {
			k++
		}
		turn = int32(k/turns) + 1
		op := d.trace.Accesses[i].Op
		if d.flow(stored, d.first[i], turn, op) {
			return true
		}
		for _, w := range d.more[i] {
			if d.flow(stored, w, turn, op) {
				return true
			}
		}
	}
	return false
}

// flow takes one access to a word and reports whether it loads what another turn
// stored.
func (d *Dependences) flow(stored []int32, word uint32, turn int32, op refs.Op) bool {
	if op != refs.Store && stored[word] != 0 && stored[word] != turn {
		return true
	}
	if op != refs.Load {
		stored[word] = turn
	}
	return false
}
