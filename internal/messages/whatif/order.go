package whatif

import "github.com/isobath/isobath/internal/messages/trace"

// sortOrder puts exits and nodes into an order in which each comes after all it
// depends on. Lines are followed until they have to wait for one that is behind;
// a damaged trace, in which lines wait for each other, loses the dependency that
// closes the circle.
func (g *Graph) sortOrder() {
	s := &sorter{Graph: g, at: make([]int32, g.Lines()), on: make([]int32, g.Lines()), next: make([]int32, g.Lines()), lineWait: make([]int32, g.Lines()),
		nodeWait: make([]int32, len(g.Prev)), missing: make([]int32, len(g.Prev)), target: make([]int32, g.Lines()), done: make([]bool, len(g.Prev))}
	s.order = make([]int32, 0, g.Len()+len(g.Prev))
	s.feeds()
	for p := range s.at {
		s.at[p], s.lineWait[p], s.next[p] = g.Start[p], trace.None, trace.None
	}
	for n := range s.nodeWait {
		s.nodeWait[n] = trace.None
	}
	for p := range int32(g.Lines()) {
		s.ready = append(s.ready, p)
		s.entered(g.Start[p], p)
	}
	for {
		for len(s.ready) > 0 {
			p := s.ready[len(s.ready)-1]
			s.ready = s.ready[:len(s.ready)-1]
			s.run(p)
		}
		if !s.cut() {
			break
		}
	}
	g.order = s.order
}

// resort orders again if dependencies were added, and fits anew where that cut
// one.
func (g *Graph) resort(b *builder) {
	if !b.added {
		return
	}
	before := g.Cycles
	g.sortOrder()
	if g.Cycles > before {
		for i := range int32(g.Len()) {
			b.fitCall(i)
		}
	}
}

type sorter struct {
	*Graph
	order    []int32
	ready    []int32
	at       []int32 // per line: the first call whose exit is not known
	target   []int32 // per waiting line: the call whose enter it needs
	on       []int32 // per waiting line: the line, or as ^node the node it waits for
	next     []int32 // per waiting line: the next that waits for the same
	lineWait []int32 // per line: the first that waits for one of its enters
	nodeWait []int32
	missing  []int32 // per node: members that have not come, and the node before
	done     []bool
	feedAt   []int32 // nodes that call i feeds: feed[feedAt[i]:feedAt[i+1]]
	feed     []int32
	after    map[int32]int32 // node to the one that follows it
}

func (s *sorter) feeds() {
	s.feedAt = make([]int32, s.Len()+1)
	for _, m := range s.Member {
		s.feedAt[m+1]++
	}
	for i := range s.Len() {
		s.feedAt[i+1] += s.feedAt[i]
	}
	s.feed = make([]int32, len(s.Member))
	place := append([]int32(nil), s.feedAt...)
	for n := range int32(len(s.Prev)) {
		s.missing[n] = s.NodeStart[n+1] - s.NodeStart[n]
		for _, m := range s.Member[s.NodeStart[n]:s.NodeStart[n+1]] {
			s.feed[place[m]] = n
			place[m]++
		}
		if prev := s.Prev[n]; prev >= 0 {
			if s.after == nil {
				s.after = map[int32]int32{}
			}
			s.after[prev] = n
			s.missing[n]++
		}
	}
}

// entered tells that the enter of call i of line p is known.
func (s *sorter) entered(i, p int32) {
	if i < s.Start[p+1] {
		for _, n := range s.feed[s.feedAt[i]:s.feedAt[i+1]] {
			s.come(n)
		}
	}
	q, keep := s.lineWait[p], trace.None
	for q >= 0 {
		following := s.next[q]
		if s.target[q] <= i {
			s.ready = append(s.ready, q)
		} else {
			s.next[q] = keep
			keep = q
		}
		q = following
	}
	s.lineWait[p] = keep
}

func (s *sorter) come(n int32) {
	for {
		s.missing[n]--
		if s.missing[n] > 0 {
			return
		}
		s.done[n] = true
		s.order = append(s.order, int32(s.Len())+n)
		for q := s.nodeWait[n]; q >= 0; q = s.next[q] {
			s.ready = append(s.ready, q)
		}
		s.nodeWait[n] = trace.None
		following, ok := s.after[n]
		if !ok {
			return
		}
		n = following
	}
}

// run follows a line until it has to wait or ends.
func (s *sorter) run(p int32) {
	for i := s.at[p]; i < s.Start[p+1]; i++ {
		for d := s.First[i]; d < s.First[i+1]; d++ {
			if s.Deps.Kind[d] != dropped && !s.known(p, s.Deps.Cause[d]) {
				s.at[p] = i
				return
			}
		}
		s.order = append(s.order, i)
		s.at[p] = i + 1
		s.entered(i+1, p)
	}
}

// known tells whether a cause has a time; if not, line p waits for it.
func (s *sorter) known(p, cause int32) bool {
	if cause < 0 {
		n := ^cause
		if s.done[n] {
			return true
		}
		s.next[p], s.nodeWait[n], s.on[p] = s.nodeWait[n], p, cause
		return false
	}
	q := s.Line[cause]
	if s.at[q] >= cause {
		return true
	}
	s.target[p] = cause
	s.next[p], s.lineWait[q], s.on[p] = s.lineWait[q], p, q
	return false
}

// cut drops the dependency that keeps the line waiting whose call ended first,
// and reports whether there was one.
func (s *sorter) cut() bool {
	first := trace.None
	for p := range int32(s.Lines()) {
		if i := s.at[p]; i < s.Start[p+1] && (first < 0 || s.Exit[i] < s.Exit[s.at[first]]) {
			first = p
		}
	}
	if first < 0 {
		return false
	}
	s.unwait(first)
	i := s.at[first]
	for d := s.First[i]; d < s.First[i+1]; d++ {
		cause := s.Deps.Cause[d]
		if s.Deps.Kind[d] == dropped || cause < 0 && s.done[^cause] || cause >= 0 && s.at[s.Line[cause]] >= cause {
			continue
		}
		s.Deps.Kind[d] = dropped
		s.Cycles++
		break
	}
	s.ready = append(s.ready, first)
	return true
}

// unwait takes a line out of the list it waits in.
func (s *sorter) unwait(p int32) {
	var at *int32
	if on := s.on[p]; on >= 0 {
		at = &s.lineWait[on]
	} else {
		at = &s.nodeWait[^on]
	}
	for *at >= 0 && *at != p {
		at = &s.next[*at]
	}
	if *at == p {
		*at, s.next[p] = s.next[p], trace.None
	}
}
