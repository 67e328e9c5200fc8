package logical

import (
	"cmp"
	"slices"

	"github.com/isobath/isobath/internal/messages/trace"
)

// Critical is the critical path: the chain of computations and calls, from
// the end of the trace backwards, that no other work could have shortened
// alone.
type Critical struct {
	Segments []Segment // in time order
	Compute  int64     // ticks on the path outside and inside operations
	Calls    int64
	Procs    []Share // by time on the path, largest first
	Regions  []Share // by region; computation under the region around it
}

// Segment is a stretch of the path on one process. Op is the operation, or for
// a computation the one after it.
type Segment struct {
	Proc        int32
	Op          int32
	Computation bool
	From, To    int64
}

// Share is a part of the path; ID is a process or a region, None for code
// outside any region.
type Share struct {
	ID          int32
	Computation bool
	Ticks       int64
}

// CriticalPath walks back from the operation that ends last: from a receive
// that had to wait to its last sender, from a collective to the member that
// came last, else to the operation before.
func (s *Structure) CriticalPath() *Critical {
	c := &Critical{}
	op := trace.None
	for i := range int32(s.Len()) {
		if op < 0 || s.Exit[i] > s.Exit[op] {
			op = i
		}
	}
	// The walk goes back on every process. In a sound trace that follows from
	// the times; in a damaged one, or where calls that communicate are nested,
	// it has to be asked for.
	reached := append([]int32(nil), s.Start[1:]...)
	for op >= 0 {
		end := s.Exit[op]
		reached[s.Proc[op]] = op
		from := s.heldUpBy(op, reached)
		reached[s.Proc[from]] = from
		c.add(Segment{Proc: s.Proc[op], Op: op, From: s.Enter[from], To: end})
		op = from
		if op == s.Start[s.Proc[op]] {
			break
		}
		c.add(Segment{Proc: s.Proc[op], Op: op, Computation: true, From: s.Exit[op-1], To: s.Enter[op]})
		op--
	}
	slices.Reverse(c.Segments)
	c.sum(s)
	return c
}

func (c *Critical) add(g Segment) {
	if g.To > g.From {
		c.Segments = append(c.Segments, g)
	}
}

// heldUpBy returns the operation whose entry let op go on, among those before
// what was reached on their process: op itself if it waited for nobody.
func (s *Structure) heldUpBy(op int32, reached []int32) int32 {
	last := op
	later := func(u int32) {
		// One that enters after op has left held nobody up: the clocks differ.
		if s.Enter[u] > s.Enter[last] && s.Enter[u] < s.Exit[op] && u < reached[s.Proc[u]] {
			last = u
		}
	}
	s.Senders(op, later)
	for _, m := range s.Collective(op) {
		later(s.of[m])
	}
	return last
}

func (c *Critical) sum(s *Structure) {
	procs, regions := map[int32]int64{}, map[Share]int64{}
	for _, g := range c.Segments {
		d := g.To - g.From
		procs[g.Proc] += d
		key := Share{ID: s.Trace.Ops.Region[s.First[g.Op]]}
		if g.Computation {
			c.Compute += d
			key = Share{ID: s.Around(g.Op), Computation: true}
		} else {
			c.Calls += d
		}
		regions[key] += d
	}
	for p, d := range procs {
		c.Procs = append(c.Procs, Share{ID: p, Ticks: d})
	}
	for k, d := range regions {
		k.Ticks = d
		c.Regions = append(c.Regions, k)
	}
	for _, list := range [][]Share{c.Procs, c.Regions} {
		slices.SortFunc(list, func(a, b Share) int {
			return cmp.Or(cmp.Compare(b.Ticks, a.Ticks), cmp.Compare(a.ID, b.ID), int(boolInt(a.Computation)-boolInt(b.Computation)))
		})
	}
}

// Around returns the region that called an operation, or None.
func (s *Structure) Around(op int32) int32 {
	f := s.Trace.Ops.Frame[s.First[op]]
	if f < 0 {
		return trace.None
	}
	return s.Trace.Frames.Region[f]
}
