package logical

import (
	"math"

	"github.com/isobath/isobath/internal/messages/trace"
)

// measure computes the lateness of every operation against its peers of the
// partition and against all operations of its step.
func (s *Structure) measure() {
	p := &s.Parts
	base := make([]int32, p.Count()+1)
	for q := range p.Count() {
		base[q+1] = base[q] + p.Len[q]
	}
	part := lateness{Structure: s, cells: int(base[p.Count()]), cell: func(op int32) int32 {
		q := s.Part[op]
		return base[q] + s.Step[op] - p.First[q]
	}}
	s.Late, s.AggLate = part.late()
	if s.async != nil {
		s.async.byLate = s.async.latest(s, s.Late)
	}
	s.Diff, s.AggDiff = part.fresh(s.Late, s.AggLate, func() []int32 { return s.async.byLate })
	all := lateness{Structure: s, cells: s.Steps, cell: func(op int32) int32 { return s.Step[op] }}
	s.GlobalLate, s.GlobalAggLate = all.late()
	if s.async != nil {
		s.async.byGlobal = s.async.latest(s, s.GlobalLate)
	}
	s.GlobalDiff, s.GlobalAggDiff = all.fresh(s.GlobalLate, s.GlobalAggLate, func() []int32 { return s.async.byGlobal })
}

// lateness compares operations that share a cell.
type lateness struct {
	*Structure
	cells int
	cell  func(op int32) int32
}

// late returns how much later than the earliest of its cell each operation
// ended and began.
func (l *lateness) late() (exit, enter []int64) {
	const never = math.MaxInt64
	minExit, minEnter := make([]int64, l.cells), make([]int64, l.cells)
	for c := range minExit {
		minExit[c], minEnter[c] = never, never
	}
	n := int32(l.Len())
	for i := range n {
		c := l.cell(i)
		minExit[c], minEnter[c] = min(minExit[c], l.Exit[i]), min(minEnter[c], l.Enter[i])
	}
	exit, enter = make([]int64, n), make([]int64, n)
	for i := range n {
		c := l.cell(i)
		exit[i], enter[i] = l.Exit[i]-minExit[c], l.Enter[i]-minEnter[c]
	}
	return exit, enter
}

// fresh returns the part of the lateness that operations did not inherit: at
// exit from the computation before or from a sender, at entry from the
// previous operation of the process. What is caught up does not count.
func (l *lateness) fresh(exit, enter []int64, starts func() []int32) (diff, aggDiff []int64) {
	n := int32(l.Len())
	diff, aggDiff = make([]int64, n), make([]int64, n)
	for i := range n {
		before := enter[i]
		if l.Kind[i] == trace.Recv {
			from, to := l.recvs(i)
			for r := from; r < to; r++ {
				if u := l.sender(r); u >= 0 {
					before = max(before, exit[u])
				}
			}
			l.async.awaited(i, func(v int32) {
				if u := starts()[v]; u >= 0 {
					before = max(before, exit[u])
				}
			})
		}
		diff[i] = max(0, exit[i]-before)
		aggDiff[i] = enter[i]
		if i > l.Start[l.Proc[i]] {
			aggDiff[i] = max(0, enter[i]-exit[i-1])
		}
	}
	return diff, aggDiff
}
