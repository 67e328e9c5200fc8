package logical

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// Pattern is a shape of communication that was recognised for certain, and
// where: in so many stages, the stretches between collectives of all
// processes.
type Pattern struct {
	Name     string
	Stages   int
	Messages int
	First    int32 // step of the first of them
}

// Patterns names the exchanges between global collectives.
func (s *Structure) Patterns() []Pattern {
	edges := s.stageEdges()
	var out []Pattern
	index := map[string]int{}
	cache := map[string]string{}
	for _, e := range edges {
		key := pairsKey(e.pairs)
		name, ok := cache[key]
		if !ok {
			name = classify(e.pairs, len(s.Trace.Procs))
			cache[key] = name
		}
		k, ok := index[name]
		if !ok {
			k = len(out)
			index[name] = k
			out = append(out, Pattern{Name: name, First: e.first})
		}
		out[k].Stages++
		out[k].Messages += e.messages
	}
	return out
}

// pairsKey makes a map key of a list of pairs, so that the same exchange in
// every iteration is classified once.
func pairsKey(pairs [][2]int32) string {
	b := make([]byte, 0, 8*len(pairs))
	for _, e := range pairs {
		b = binary.LittleEndian.AppendUint32(b, uint32(e[0]))
		b = binary.LittleEndian.AppendUint32(b, uint32(e[1]))
	}
	return string(b)
}

// stage is the traffic between two global collectives.
type stage struct {
	pairs    [][2]int32 // sender and receiver, sorted, without repeats
	messages int
	first    int32
}

// stageEdges splits the messages by the global collectives around them.
func (s *Structure) stageEdges() []stage {
	stageOf := s.stages()
	if len(stageOf) == 0 {
		return nil
	}
	all := make([]stage, stageOf[len(stageOf)-1]+1)
	for i := range all {
		all[i].first = -1
	}
	for op := range int32(s.Len()) {
		from, to := s.sends(op)
		for r := from; r < to; r++ {
			v := s.receiver(r)
			if v < 0 {
				continue
			}
			e := &all[stageOf[s.Step[op]]]
			if e.first < 0 || s.Step[op] < e.first {
				e.first = s.Step[op]
			}
			e.messages++
			e.pairs = append(e.pairs, [2]int32{s.Proc[op], s.Proc[v]})
		}
	}
	for i := range all {
		slices.SortFunc(all[i].pairs, func(a, b [2]int32) int {
			if a[0] != b[0] {
				return int(a[0] - b[0])
			}
			return int(a[1] - b[1])
		})
		all[i].pairs = slices.Compact(all[i].pairs)
	}
	return slices.DeleteFunc(all, func(e stage) bool { return e.messages == 0 })
}

// stages numbers the steps by the global collectives before them.
func (s *Structure) stages() []int32 {
	out := make([]int32, s.Steps)
	c := &s.Trace.Colls
	border := make([]bool, s.Steps)
	for i := range c.Comm {
		if int(c.Start[i+1]-c.Start[i]) == len(s.Trace.Procs) {
			border[s.Step[s.of[c.Member[c.Start[i]]]]] = true
		}
	}
	k := int32(0)
	for step, b := range border {
		if b {
			k++
		}
		out[step] = k
	}
	return out
}

// classify names the shape of a set of directed pairs among n processes. It
// names a regular shape only if every pair of that shape occurs and no other.
func classify(pairs [][2]int32, n int) string {
	has := make(map[[2]int32]bool, len(pairs))
	involved := map[int32]bool{}
	for _, e := range pairs {
		has[e] = true
		involved[e[0]], involved[e[1]] = true, true
	}
	symmetric := true
	for _, e := range pairs {
		symmetric = symmetric && has[[2]int32{e[1], e[0]}]
	}
	switch {
	case len(involved) == 1:
		return "messages to itself"
	case len(involved) == 2:
		return "pair"
	case len(pairs) == n*(n-1):
		return "all-to-all"
	}
	if name := circulant(pairs, n); name != "" {
		return name
	}
	if symmetric {
		if name := hypercube(pairs, n); name != "" {
			return name
		}
		if name := grid(pairs, has, n); name != "" {
			return name
		}
	}
	if name := tree(pairs, involved); name != "" {
		return name
	}
	if symmetric {
		return "irregular exchange"
	}
	return "irregular"
}

// circulant recognises patterns in which every process sends to the same
// distances around a ring.
func circulant(pairs [][2]int32, n int) string {
	count := map[int]int{}
	for _, e := range pairs {
		count[(int(e[1])-int(e[0])+n)%n]++
	}
	var offsets []int
	for d, k := range count {
		if k != n {
			return ""
		}
		offsets = append(offsets, d)
	}
	slices.Sort(offsets)
	switch {
	case len(offsets) == 1 && (offsets[0] == 1 || offsets[0] == n-1):
		return "ring"
	case len(offsets) == 1:
		return fmt.Sprintf("shift by %d", offsets[0])
	case len(offsets) == 2 && offsets[0] == 1 && offsets[1] == n-1:
		return "ring, both ways"
	}
	if len(offsets) != bits.Len(uint(n-1)) {
		return ""
	}
	for k, d := range offsets {
		if d != 1<<k {
			return ""
		}
	}
	return "dissemination"
}

// hypercube recognises exchanges with all ranks that differ in one bit.
func hypercube(pairs [][2]int32, n int) string {
	if n&(n-1) != 0 || len(pairs) != n*bits.TrailingZeros(uint(n)) || n < 8 {
		return ""
	}
	for _, e := range pairs {
		if bits.OnesCount32(uint32(e[0]^e[1])) != 1 {
			return ""
		}
	}
	return "hypercube"
}

// grid recognises exchanges with the neighbours of a row-major grid of up to
// three dimensions, with or without corners, open or periodic.
func grid(pairs [][2]int32, has map[[2]int32]bool, n int) string {
	for _, dims := range factorizations(n) {
		for _, corners := range []bool{false, true} {
			for _, periodic := range []bool{false, true} {
				if isGrid(pairs, has, dims, corners, periodic) {
					return gridName(dims, corners, periodic)
				}
			}
		}
	}
	return ""
}

func gridName(dims []int, corners, periodic bool) string {
	text := make([]string, len(dims))
	for i, d := range dims {
		text[i] = fmt.Sprint(d)
	}
	name := fmt.Sprintf("stencil on a %s grid", strings.Join(text, " x "))
	if len(dims) == 1 {
		name = "stencil on a line"
	}
	if corners && len(dims) > 1 {
		name += " with corners"
	}
	if periodic {
		name += ", periodic"
	}
	return name
}

// factorizations returns the grids of n processes, slowest dimension first,
// squarest first.
func factorizations(n int) [][]int {
	var out [][]int
	for a := 2; a <= n/2; a++ {
		if n%a != 0 {
			continue
		}
		out = append(out, []int{a, n / a})
		for b := 2; b <= n/a/2; b++ {
			if n/a%b == 0 {
				out = append(out, []int{a, b, n / a / b})
			}
		}
	}
	out = append(out, []int{n})
	spread := func(d []int) int { return slices.Max(d) - slices.Min(d) }
	slices.SortStableFunc(out, func(a, b []int) int { return spread(a) - spread(b) })
	return out
}

func isGrid(pairs [][2]int32, has map[[2]int32]bool, dims []int, corners, periodic bool) bool {
	n := 1
	for _, d := range dims {
		n *= d
	}
	total := 0
	for u := range n {
		for _, v := range neighbours(u, dims, corners, periodic) {
			if !has[[2]int32{int32(u), int32(v)}] {
				return false
			}
			total++
		}
	}
	return total == len(pairs)
}

// neighbours lists the grid neighbours of u once each.
func neighbours(u int, dims []int, corners, periodic bool) []int {
	at := make([]int, len(dims))
	for i, rest := len(dims)-1, u; i >= 0; i-- {
		at[i], rest = rest%dims[i], rest/dims[i]
	}
	var out []int
	moves := 1
	for range dims {
		moves *= 3
	}
	for m := range moves {
		v, steps, ok := 0, 0, true
		for i, rest := 0, m; i < len(dims); i, rest = i+1, rest/3 {
			x := at[i] + rest%3 - 1
			if rest%3 != 1 {
				steps++
			}
			if x < 0 || x >= dims[i] {
				ok = ok && periodic
				x = (x + dims[i]) % dims[i]
			}
			v = v*dims[i] + x
		}
		if ok && v != u && steps > 0 && (corners || steps == 1) && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// tree recognises connected traffic without a cycle.
func tree(pairs [][2]int32, involved map[int32]bool) string {
	undirected := map[[2]int32]bool{}
	degree := map[int32]int{}
	set := map[int32]int32{}
	find := func(x int32) int32 {
		for {
			p, ok := set[x]
			if !ok || p == x {
				return x
			}
			x = p
		}
	}
	for _, e := range pairs {
		key := [2]int32{min(e[0], e[1]), max(e[0], e[1])}
		if undirected[key] {
			continue
		}
		undirected[key] = true
		degree[e[0]]++
		degree[e[1]]++
		a, b := find(e[0]), find(e[1])
		if a == b {
			return ""
		}
		set[a] = b
	}
	if len(undirected) != len(involved)-1 {
		return ""
	}
	both := ""
	if len(pairs) == 2*len(undirected) {
		both = ", both ways"
	}
	for p, d := range degree {
		if d == len(involved)-1 {
			return fmt.Sprintf("star around process %d%s", p, both)
		}
	}
	return "tree" + both
}
