package logical

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/isobath/isobath/internal/messages/trace"
)

// reorder puts the receives of each partition into the order in which an ideal
// program would have received them, so that a message that came early does not
// push all that follows to the right (the paper's figure 11). It assumes that
// a send depends only on the receive directly before it, so it may show an
// order that never happened. Sends and collectives keep their order, and no
// receive crosses a collective.
func (s *Structure) reorder() {
	weight := s.weights()
	order := slices.Clone(s.order)
	for p := range s.Trace.Procs {
		for i := s.Start[p]; i < s.Start[p+1]; {
			j := i + 1
			for j < s.Start[p+1] && s.Part[j] == s.Part[i] && s.Kind[j] != trace.Collective && s.Kind[j-1] != trace.Collective {
				j++
			}
			s.sortSegment(order[i:j], weight)
			i = j
		}
	}
	s.order = order
	s.place = make([]int32, len(order))
	s.Moved = make([]bool, len(order))
	moved := 0
	for i, op := range order {
		s.place[op] = int32(i)
		if int(op) != i && s.Kind[op] == trace.Recv {
			s.Moved[op] = true
			moved++
		}
	}
	s.Notes = append(s.Notes, fmt.Sprintf("moved %d receives into an idealised order; times and their order in the trace are unchanged", moved))
}

// sortSegment sorts operations by weight, receives before sends, then by the
// sender, then as they were.
func (s *Structure) sortSegment(ops []int32, weight []int32) {
	slices.SortStableFunc(ops, func(a, b int32) int {
		if c := cmp.Compare(weight[a], weight[b]); c != 0 {
			return c
		}
		ra, rb := s.Kind[a] == trace.Recv, s.Kind[b] == trace.Recv
		switch {
		case ra && !rb:
			return -1
		case rb && !ra:
			return 1
		case !ra:
			return 0
		}
		return cmp.Compare(s.firstSender(a), s.firstSender(b))
	})
}

func (s *Structure) firstSender(op int32) int32 {
	first := int32(1 << 30)
	from, to := s.recvs(op)
	for i := from; i < to; i++ {
		if u := s.sender(i); u >= 0 {
			first = min(first, s.Proc[u])
		}
	}
	return first
}

// weights gives each operation its ideal position: a receive comes after its
// senders, a send after the send before it and the receive directly before it,
// a collective after everything before it on any member.
func (s *Structure) weights() []int32 {
	weight := make([]int32, s.Len())
	for _, op := range s.bySteps() {
		switch s.Kind[op] {
		case trace.Recv:
			weight[op] = s.recvWeight(op, weight)
		case trace.Send:
			weight[op] = s.sendWeight(op, weight)
		default:
			if weight[op] == 0 { // not yet set by another member
				w := s.collectiveWeight(op, weight)
				for _, m := range s.Collective(op) {
					weight[s.of[m]] = w
				}
			}
		}
	}
	return weight
}

// bySteps returns the operations partition by partition in the order of their
// steps, which is an order of happened before.
func (s *Structure) bySteps() []int32 {
	ops := slices.Clone(s.order)
	slices.SortStableFunc(ops, func(a, b int32) int {
		return cmp.Or(cmp.Compare(s.Part[a], s.Part[b]), cmp.Compare(s.Step[a], s.Step[b]))
	})
	return ops
}

// inPart tells whether operation op-1 is on the same process and partition.
func (s *Structure) inPart(op int32) bool {
	return op > s.Start[s.Proc[op]] && s.Part[op-1] == s.Part[op]
}

func (s *Structure) recvWeight(op int32, weight []int32) int32 {
	w := int32(-1)
	from, to := s.recvs(op)
	for i := from; i < to; i++ {
		if u := s.sender(i); u >= 0 {
			w = max(w, weight[u])
		}
	}
	if s.async != nil {
		for _, row := range s.async.dones[op] { // not before its own start, whoever it waits for
			w = max(w, weight[s.of[s.async.t.Begin[row]]])
		}
		s.async.awaited(op, func(v int32) {
			for _, row := range s.async.feeds[v] {
				w = max(w, weight[s.of[s.async.t.Begin[row]]])
			}
		})
	}
	if w < 0 && s.inPart(op) { // nothing known: stay behind the one before
		w = weight[op-1]
	}
	return w + 1
}

func (s *Structure) sendWeight(op int32, weight []int32) int32 {
	if !s.inPart(op) {
		return 0
	}
	w := weight[op-1]
	for i := op; s.inPart(i); i-- {
		if s.Kind[i-1] != trace.Recv {
			w = max(w, weight[i-1])
			break
		}
	}
	return w + 1
}

func (s *Structure) collectiveWeight(op int32, weight []int32) int32 {
	w := int32(-1)
	for _, m := range s.Collective(op) {
		for i := s.of[m]; s.inPart(i); i-- {
			w = max(w, weight[i-1])
			if s.Kind[i-1] == trace.Collective {
				break // it is already behind all before it
			}
		}
	}
	return w + 1
}
