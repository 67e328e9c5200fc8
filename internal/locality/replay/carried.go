package replay

import (
	"cmp"
	"slices"

	"github.com/isobath/isobath/internal/locality/reuse"
)

// Carried is the reuses of the lines of an object that one loop of a nest
// carries: between a use and the one before the turn of this loop differs, and
// those of all loops around it do not (the carrying scope of Marin and
// Mellor-Crummey).
type Carried struct {
	Object uint32
	Loop   int // index into Trips; AroundNest or InsideTurn where it is none of them
	Reuses uint64
	Lines  uint64 // sum of their distances
	Far    uint64 // reuses at or beyond the distance asked for
}

// What carries a reuse that no loop of the nest carries.
const (
	AroundNest = -1 // the nest is run again
	InsideTurn = -2 // one turn of the innermost loop uses the line twice
)

// Carried finds out which loop carries the reuses of each object in a nest, those
// with the most far reuses first. The nest begins with lines nobody has used.
func (n *Nest) Carried(t *Trace, line int, far uint32) []Carried {
	weights := n.weights()
	index := map[[2]int]int{}
	var out []Carried
	stack := reuse.NewStack()
	var last []int32 // turn of the last use of each line, plus one
	for i, turn := n.From(), 0; i < n.To(); i++ {
		for turn+1 < len(n.turns) && int(n.turns[turn+1]) <= i {
			turn++
		}
		a := &t.Accesses[i]
		carrier, distance := InsideTurn, uint32(0)
		first := false
		for l := a.Addr / uint64(line); l <= (a.Addr+uint64(max(a.Size, 1))-1)/uint64(line); l++ {
			d, id := stack.Access(l)
			for int(id) >= len(last) {
				last = append(last, make([]int32, 1024)...)
			}
			first = first || d == reuse.First
			if before := last[id]; before > 0 && d >= distance && d != reuse.First {
				carrier, distance = carrying(weights, turn, int(before)-1), d
			}
			last[id] = int32(turn) + 1
		}
		if first {
			continue
		}
		key := [2]int{int(a.Object), carrier}
		at, ok := index[key]
		if !ok {
			at = len(out)
			index[key] = at
			out = append(out, Carried{Object: a.Object, Loop: carrier})
		}
		out[at].add(distance, far)
	}
	slices.SortStableFunc(out, func(a, b Carried) int { return cmp.Or(cmp.Compare(b.Far, a.Far), cmp.Compare(b.Reuses, a.Reuses)) })
	return out
}

func (c *Carried) add(distance, far uint32) {
	c.Reuses++
	c.Lines += uint64(distance)
	if distance >= far {
		c.Far++
	}
}

// weights is how many turns of the innermost loop one turn of each loop has; the
// last entry is of the whole nest.
func (n *Nest) weights() []int {
	out := make([]int, len(n.Trips)+1)
	w := 1
	for i := len(n.Trips) - 1; i >= 0; i-- {
		out[i] = w
		w *= n.Trips[i]
	}
	out[len(n.Trips)] = w
	return out
}

// carrying is the outermost loop whose turns differ between two turns of the
// innermost.
func carrying(weights []int, turn, before int) int {
	loops := len(weights) - 1
	if turn/weights[loops] != before/weights[loops] {
		return AroundNest
	}
	for i, w := range weights[:loops] {
		if turn/w != before/w {
			return i
		}
	}
	return InsideTurn
}
