package logical

// graph is the partition graph: an edge from a to b wherever an operation of b
// directly follows one of a on some process.
type graph struct {
	n     int
	start []int32
	to    []int32
}

func (g *graph) out(q int32) []int32 { return g.to[g.start[q]:g.start[q+1]] }

// graph returns the graph of the current partitions.
func (s *Structure) graph() *graph { return newGraph(s.Start, s.Part, len(s.Parts.Start)-1) }

// newGraph builds the graph in linear time: edges are bucketed by their origin
// and repeated ones dropped with a mark per target. Every consecutive pair
// counts, not only the first and last operation of a partition: two exchanges
// that overlap as A B A B precede each other.
func newGraph(start, part []int32, n int) *graph {
	g := &graph{n: n, start: make([]int32, n+1)}
	each := func(visit func(a, b int32)) {
		for p := 0; p+1 < len(start); p++ {
			for i := start[p] + 1; i < start[p+1]; i++ {
				if a, b := part[i-1], part[i]; a != b {
					visit(a, b)
				}
			}
		}
	}
	each(func(a, _ int32) { g.start[a+1]++ })
	for q := range n {
		g.start[q+1] += g.start[q]
	}
	g.to = make([]int32, g.start[n])
	next := append([]int32(nil), g.start[:n]...)
	each(func(a, b int32) {
		g.to[next[a]] = b
		next[a]++
	})
	mark := make([]int32, n)
	kept := int32(0)
	for q := range int32(n) {
		from, to := g.start[q], g.start[q+1]
		g.start[q] = kept
		for _, b := range g.to[from:to] {
			if mark[b] != q+1 {
				mark[b] = q + 1
				g.to[kept] = b
				kept++
			}
		}
	}
	g.start[n] = kept
	g.to = g.to[:kept]
	return g
}

// components finds the strongly connected components with Tarjan's algorithm,
// without recursion because chains are as long as the trace. Components are
// numbered so that edges between them go upwards.
func (g *graph) components() (comp []int32, count int) {
	t := tarjan{g: g, comp: make([]int32, g.n), index: make([]int32, g.n), low: make([]int32, g.n), next: make([]int32, g.n)}
	for q := range int32(g.n) {
		t.comp[q] = -1
	}
	for q := range int32(g.n) {
		if t.index[q] == 0 {
			t.visit(q)
		}
	}
	// Tarjan completes a component after all it leads to.
	for q := range t.comp {
		t.comp[q] = t.count - 1 - t.comp[q]
	}
	return t.comp, int(t.count)
}

type tarjan struct {
	g          *graph
	comp       []int32
	index, low []int32 // 0 is unseen
	next       []int32 // position in the edge list
	path       []int32 // the frames of the recursion
	stack      []int32 // nodes whose component is open
	clock      int32
	count      int32
}

func (t *tarjan) open(q int32) {
	t.clock++
	t.index[q], t.low[q] = t.clock, t.clock
	t.next[q] = t.g.start[q]
	t.path, t.stack = append(t.path, q), append(t.stack, q)
}

func (t *tarjan) visit(root int32) {
	t.open(root)
	for len(t.path) > 0 {
		q := t.path[len(t.path)-1]
		if t.next[q] < t.g.start[q+1] {
			r := t.g.to[t.next[q]]
			t.next[q]++
			if t.index[r] == 0 {
				t.open(r)
			} else if t.comp[r] < 0 {
				t.low[q] = min(t.low[q], t.index[r])
			}
			continue
		}
		t.path = t.path[:len(t.path)-1]
		if len(t.path) > 0 {
			up := t.path[len(t.path)-1]
			t.low[up] = min(t.low[up], t.low[q])
		}
		if t.low[q] == t.index[q] {
			t.closeComponent(q)
		}
	}
}

func (t *tarjan) closeComponent(q int32) {
	for {
		r := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		t.comp[r] = t.count
		if r == q {
			break
		}
	}
	t.count++
}
