package tree

import (
	"cmp"
	"slices"
)

// step is a way from one basic to another that was taken, or one out of a loop.
type step struct {
	to    int32
	times uint64
}

// machineLoop is a loop of the code as it ran: a strongly connected part of a
// function with the basic that it is entered by.
type machineLoop struct {
	function    int32
	parent      int32 // the loop around it; -1 if none
	depth       int32
	header      int32
	blocks      []int32 // those of inner loops too
	irreducible bool    // it is entered at more than one place
	statement   int32   // index into forest.statements; -1 if unknown
	// around is the statement that it and a loop inside it were taken for; -1 if
	// none.
	around int32
	// source is where it stands: the statement, or as near as the line table
	// tells.
	source position
	// bounded says that it is known which basics only test the condition.
	bounded bool
	// tested says that its own condition, if it has one, is among what leaves it.
	tested bool
	// twin loops have the header of the loop around them, and are entered there
	// alone. Of unsure ones and those around them turns cannot be told apart. Those
	// that are left by their test alone, which comes before each turn, have as many
	// turns as lead back.
	twin, unsure, endsTested bool
}

// forest is the loops of all functions.
type forest struct {
	*code
	next   [][]step // by basic
	owner  []int32  // the function each basic ran in; -1 if it did not
	begins []bool   // a function was entered here
	loops  []machineLoop
	loopOf []int32 // the innermost loop of each basic; -1 if none
	// test marks basics that only test the condition of their loop's statement.
	test []bool
	// guard is the statement whose condition a basic outside its loops tests; -1
	// if none.
	guard []int32
	// begun are the statements of which a turn begins in each basic, once for
	// every mark.
	begun [][]int32
	// opened are the statements of which an entry begins in each basic.
	opened [][]int32
	// present are the statements without marks that a basic has accesses of.
	present    [][]int32
	statements []statement
}

func newForest(c *code) *forest {
	n := len(c.basics)
	f := &forest{code: c, next: make([][]step, n), owner: filled(n), begins: make([]bool, n), loopOf: filled(n), test: make([]bool, n), guard: filled(n), begun: make([][]int32, n), opened: make([][]int32, n), present: make([][]int32, n)}
	return f
}

func filled(n int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = -1
	}
	return s
}

// call, edge and leave count what happens in a first walk.
func (f *forest) call(s *stack, v int32) {
	f.own(s, v)
	f.begins[v] = true
}

func (f *forest) own(s *stack, v int32) {
	if f.owner[v] < 0 {
		f.owner[v] = s.top().function
	}
}

func (f *forest) edge(s *stack, u, v int32) {
	f.own(s, v)
	f.next[u] = onceMore(f.next[u], v)
}

// onceMore adds one to how often a basic comes in a short list.
func onceMore(l []step, v int32) []step {
	for i := range l {
		if l[i].to == v {
			l[i].times++
			return l
		}
	}
	return append(l, step{v, 1})
}

func (f *forest) leave(*stack) {}

// find finds the loops of every function.
func (f *forest) find() {
	members := map[int32][]int32{}
	for b, fn := range f.owner {
		if fn >= 0 {
			members[fn] = append(members[fn], int32(b))
		}
	}
	for fn := range int32(len(f.functions)) {
		s := &searcher{forest: f, function: fn, region: map[int32]int32{}}
		s.within(members[fn], -1, -1)
	}
}

// searcher finds the loops of one function: strongly connected parts, then
// those of each part without the ways back to its header, and so on.
type searcher struct {
	*forest
	function int32
	region   map[int32]int32 // the part each basic is looked for in, by a number
	regions  int32
	index    map[int32]int32
	low      map[int32]int32
	onStack  map[int32]bool
	path     []int32
	parts    [][]int32
}

// within finds loops among some basics. Ways to the header of the loop around
// them do not count.
func (s *searcher) within(blocks []int32, parent, header int32) {
	s.regions++
	region := s.regions
	for _, b := range blocks {
		s.region[b] = region
	}
	s.index, s.low, s.onStack, s.path, s.parts = map[int32]int32{}, map[int32]int32{}, map[int32]bool{}, nil, nil
	for _, b := range blocks {
		if _, seen := s.index[b]; !seen {
			s.connect(b, region, header)
		}
	}
	parts := s.parts
	slices.SortFunc(parts, func(a, b []int32) int { return cmp.Compare(slices.Min(a), slices.Min(b)) })
	for _, part := range parts {
		s.loop(part, parent, header)
	}
}

// connect is Tarjan's algorithm. Functions are not so deep that the recursion
// would matter: goroutine stacks grow.
func (s *searcher) connect(u, region, header int32) {
	s.index[u] = int32(len(s.index))
	s.low[u] = s.index[u]
	s.path = append(s.path, u)
	s.onStack[u] = true
	for _, e := range s.next[u] {
		v := e.to
		if v == header || s.region[v] != region {
			continue
		}
		if _, seen := s.index[v]; !seen {
			s.connect(v, region, header)
			s.low[u] = min(s.low[u], s.low[v])
		} else if s.onStack[v] {
			s.low[u] = min(s.low[u], s.index[v])
		}
	}
	if s.low[u] != s.index[u] {
		return
	}
	at := slices.Index(s.path, u)
	part := slices.Clone(s.path[at:])
	s.path = s.path[:at]
	for _, b := range part {
		delete(s.onStack, b)
	}
	if len(part) > 1 || slices.ContainsFunc(s.next[u], func(e step) bool { return e.to == u }) && u != header {
		s.parts = append(s.parts, part)
	}
}

// loop adds the loop of a connected part and finds those inside.
func (s *searcher) loop(part []int32, parent, outer int32) {
	slices.Sort(part)
	header, entries := s.entrance(part, outer)
	l := machineLoop{function: s.function, parent: parent, header: header, blocks: part, irreducible: entries > 1, statement: -1}
	if parent >= 0 {
		l.depth = s.loops[parent].depth + 1
	}
	id := int32(len(s.loops))
	s.loops = append(s.loops, l)
	for _, b := range part {
		s.loopOf[b] = id
	}
	s.within(part, id, header)
}

// entrance returns the basic that a part is entered by most, and how many there
// are.
func (s *searcher) entrance(part []int32, outer int32) (header int32, entries int) {
	inside := map[int32]bool{}
	for _, b := range part {
		inside[b] = true
	}
	times := map[int32]uint64{}
	for _, b := range part {
		if s.begins[b] {
			times[b]++
		}
	}
	for u, fn := range s.owner {
		if fn != s.function || inside[int32(u)] {
			continue
		}
		for _, e := range s.next[u] {
			if inside[e.to] {
				times[e.to] += e.times
			}
		}
	}
	header = part[0]
	for _, b := range part {
		if times[b] > times[header] {
			header = b
		}
	}
	return header, len(times)
}

// contains reports whether loop l is loop k or lies in it.
func (f *forest) contains(k, l int32) bool {
	for l >= 0 && f.loops[l].depth > f.loops[k].depth {
		l = f.loops[l].parent
	}
	return l == k
}
