package whatif

// Rooms are how much each edge of the longest path can shrink before another
// path is the longest: shrinking one edge alone by d gains min(d, room).
type Rooms struct {
	Path []Edge
	Room []int64
	// The longest ways from calls and nodes to the end.
	exitTail, enterTail, nodeTails []int64
	span                           int64
	times                          *Times
	weights                        *Weights
	graph                          *Graph
}

// FindRooms works out the room of every edge of the longest path in one sweep:
// a path that avoids an edge crosses the cut at its beginning by another edge.
func (g *Graph) FindRooms(w *Weights, t *Times) *Rooms {
	r := &Rooms{Path: g.LongestPath(w, t, nil), span: t.Span, times: t, weights: w, graph: g}
	r.enterTail, r.nodeTails = g.tails(w)
	r.exitTail = make([]int64, g.Len())
	for i := range r.exitTail {
		r.exitTail[i] = g.exitTail(int32(i), w, r.enterTail)
	}
	s := newSweep(r)
	s.cover()
	r.Room = make([]int64, len(r.Path))
	for k := range r.Path {
		avoid := s.best(k)
		if avoid < 0 {
			avoid = 0
		}
		r.Room[k] = r.span - min(avoid, r.span)
	}
	return r
}

// sweep finds for each edge of the path the longest way around it. Edges off the
// path raise the value of all path edges they run beside, kept in a tree of
// maxima over the path.
type sweep struct {
	*Rooms
	enterPos, exitPos, nodePos []int32
	positions                  int32
	pathAt                     []int32 // position to the first edge of the path that begins at it or later
	tree                       []int64
	on                         map[Edge]bool
}

func newSweep(r *Rooms) *sweep {
	g := r.graph
	n := g.Len()
	s := &sweep{Rooms: r, enterPos: make([]int32, n), exitPos: make([]int32, n), nodePos: make([]int32, len(g.Prev)), on: make(map[Edge]bool, len(r.Path))}
	pos := int32(1) // 0 is the beginning of the run
	for p := range g.Lines() {
		if i := g.Start[p]; i < g.Start[p+1] {
			s.enterPos[i] = pos
			pos++
		}
	}
	for _, v := range g.order {
		if int(v) >= n {
			s.nodePos[int(v)-n] = pos
		} else {
			s.exitPos[v] = pos
			if next := v + 1; next < g.Start[g.Line[v]+1] {
				pos++
				s.enterPos[next] = pos
			}
		}
		pos++
	}
	s.positions = pos
	s.pathAt = make([]int32, pos+2)
	k := 0
	starts := s.pathStarts()
	for at := range s.pathAt {
		for k < len(starts) && starts[k] < int32(at) {
			k++
		}
		s.pathAt[at] = int32(k)
	}
	for _, e := range r.Path {
		s.on[e] = true
	}
	s.tree = make([]int64, 2*len(r.Path))
	for k := range s.tree {
		s.tree[k] = noWay
	}
	return s
}

// pathStarts are the positions at which the edges of the path begin. The edge
// into a first enter begins with the line, at the beginning of the run; both are
// one stretch.
func (s *sweep) pathStarts() []int32 {
	g := s.graph
	out := make([]int32, 0, len(s.Path))
	for _, e := range s.Path {
		switch e.Kind {
		case Start:
			out = append(out, 0)
		case Compute:
			if e.Index == g.Start[g.Line[e.Index]] {
				out = append(out, 0)
			} else {
				out = append(out, s.exitPos[e.Index-1])
			}
		case OwnTime:
			out = append(out, s.enterPos[e.Index])
		case Lag:
			if c := g.Deps.Cause[e.Index]; c >= 0 {
				out = append(out, s.enterPos[c])
			} else {
				out = append(out, s.nodePos[^c])
			}
		default:
			p := e.Index
			if g.Start[p] == g.Start[p+1] {
				out = append(out, 0)
			} else {
				out = append(out, s.exitPos[g.Start[p+1]-1])
			}
		}
	}
	return out
}

// raise lets the edges of the path that begin in [from, to) know of a way.
func (s *sweep) raise(from, to int32, way int64) {
	n := len(s.Path)
	l, h := int(s.pathAt[from])+n, int(s.pathAt[to])+n
	for l < h {
		if l&1 == 1 {
			s.tree[l] = max(s.tree[l], way)
			l++
		}
		if h&1 == 1 {
			h--
			s.tree[h] = max(s.tree[h], way)
		}
		l, h = l/2, h/2
	}
}

func (s *sweep) best(k int) int64 {
	v := int64(noWay)
	for i := k + len(s.Path); i > 0; i /= 2 {
		v = max(v, s.tree[i])
	}
	return v
}

// cover visits every edge off the path.
func (s *sweep) cover() {
	g, w, t := s.graph, s.weights, s.times
	for p := range int32(g.Lines()) {
		first, last := g.Start[p], g.Start[p+1]-1
		head := w.Begin[p] - g.First0
		if last < first {
			if !s.on[Edge{TailEnd, p, -1}] {
				s.raise(0, s.positions, head+w.Tail[p])
			}
			continue
		}
		if !s.on[Edge{Compute, first, first}] {
			s.raise(0, s.enterPos[first], head+w.Comp[first]+s.enterTail[first])
		}
		if !s.on[Edge{TailEnd, p, -1}] {
			s.raise(s.exitPos[last], s.positions, t.Exit[last]-g.First0+w.Tail[p])
		}
	}
	for i := range int32(g.Len()) {
		if i > g.Start[g.Line[i]] && !s.on[Edge{Compute, i, i}] {
			s.raise(s.exitPos[i-1], s.enterPos[i], t.Exit[i-1]-g.First0+w.Comp[i]+s.enterTail[i])
		}
		if !s.on[Edge{OwnTime, i, i}] {
			s.raise(s.enterPos[i], s.exitPos[i], t.Enter[i]-g.First0+w.Own[i]+s.exitTail[i])
		}
		for d := g.First[i]; d < g.First[i+1]; d++ {
			if c := g.Deps.Cause[d]; c >= 0 && !s.on[Edge{Lag, d, i}] {
				s.raise(s.enterPos[c], s.exitPos[i], t.Enter[c]-g.First0+w.Lag[d]+s.exitTail[i])
			}
		}
	}
	s.coverNodes()
}

// coverNodes visits the ways through nodes: into them, and on from them. The
// way into a node that the path itself takes holds no edge of the path that
// has a duration.
func (s *sweep) coverNodes() {
	g, w, t := s.graph, s.weights, s.times
	for n := range int32(len(g.Prev)) {
		for _, m := range g.Member[g.NodeStart[n]:g.NodeStart[n+1]] {
			s.raise(s.enterPos[m], s.nodePos[n], t.Enter[m]-g.First0+s.nodeTails[n])
		}
		if p := g.Prev[n]; p >= 0 {
			s.raise(s.nodePos[p], s.nodePos[n], t.node[p]-g.First0+s.nodeTails[n])
		}
	}
	for i := range int32(g.Len()) {
		for d := g.First[i]; d < g.First[i+1]; d++ {
			if c := g.Deps.Cause[d]; c < 0 && !s.on[Edge{Lag, d, i}] {
				s.raise(s.nodePos[^c], s.exitPos[i], t.node[^c]-g.First0+w.Lag[d]+s.exitTail[i])
			}
		}
	}
}
