package replay

import (
	"cmp"
	"slices"

	"github.com/isobath/isobath/internal/data/refs"
)

// Nest is a rectangular loop nest found in the addresses of its innermost
// instructions: optimised outer loops make no references of their own, but their
// strides are there.
type Nest struct {
	Body []uint32 // codes of one turn, in order of first use
	// Trips are the turns of each loop, outermost first; Strides the bytes
	// between turns for each instruction of the body.
	Trips   []int
	Strides [][]int64
	// Outer is how often the whole nest is run with unrelated addresses.
	Outer int
	// turns are where in the trace each turn begins; end is where the last ends.
	turns []int32
	end   int32
	at    int32 // position of the first reference of the body, without what prepares it
}

// Bytes is about what the nest takes in memory: where its turns begin.
func (n *Nest) Bytes() int64 { return 4 * int64(cap(n.turns)) }

// Turns is how many turns the innermost loop makes in all.
func (n *Nest) Turns() int { return len(n.turns) }

// From and To are the positions of the nest in the trace.
func (n *Nest) From() int { return int(n.turns[0]) }

// To is the position behind the nest.
func (n *Nest) To() int { return int(n.end) }

// Stores reports whether an instruction of the body stores. A nest that only
// loads keeps its result in registers, and what the order of its turns means to
// that is not in the references.
func (n *Nest) Stores(t *Trace) bool {
	turns := 0
	for i := n.From(); i < n.To() && turns < 2; i++ { // one turn tells
		a := &t.Accesses[i]
		if a.Op != refs.Load && slices.Contains(n.Body, a.Code) {
			return true
		}
		if a.Code == n.Body[0] {
			turns++
		}
	}
	return false
}

const (
	minTurns   = 64
	maxNests   = 4
	maxNestLen = 1 << 28 // references; their positions are kept
)

// Refused is a loop that is no nest: its passes, the runs of turns with equal
// steps, are not equally long.
type Refused struct {
	At            int // position of the first reference of its body in the trace
	Length, Other int // turns of the first pass, and of the first that differs
}

// FindNests looks for nests among the instructions of one thread that run
// equally often. It returns them with the most references first, and says why
// what looked like a nest is none.
func FindNests(t *Trace) (nests []*Nest, refused []Refused) {
	if len(t.Threads) != 1 || len(t.Accesses) > maxNestLen {
		return nil, nil
	}
	counts := make([]int, len(t.Codes))
	first := make([]int32, len(t.Codes))
	second := make([]int32, len(t.Codes))
	for i := range t.Accesses {
		c := t.Accesses[i].Code
		switch counts[c] {
		case 0:
			first[c] = int32(i)
		case 1:
			second[c] = int32(i)
		}
		counts[c]++
	}
	for _, body := range bodies(counts, first, second) {
		n, why := nestOf(t, body)
		switch {
		case n != nil:
			nests = append(nests, n)
		case why != nil:
			refused = append(refused, *why)
		}
	}
	return nests, refused
}

// bodies groups instructions that run equally often and in turn, the busiest
// group first.
func bodies(counts []int, first, second []int32) [][]uint32 {
	groups := map[int][]uint32{}
	for c, n := range counts {
		if n >= minTurns {
			groups[n] = append(groups[n], uint32(c))
		}
	}
	var out [][]uint32
	for _, g := range groups {
		slices.SortFunc(g, func(a, b uint32) int { return cmp.Compare(first[a], first[b]) })
		// Instructions of one body all run before the first of them runs again.
		// Those of another loop that turns as often, perhaps in every step of a
		// loop around both, do not.
		for len(g) > 0 {
			k := 1
			for k < len(g) && first[g[k]] < second[g[0]] {
				k++
			}
			out = append(out, g[:k])
			g = g[k:]
		}
	}
	slices.SortFunc(out, func(a, b []uint32) int {
		return cmp.Or(cmp.Compare(len(b)*counts[b[0]], len(a)*counts[a[0]]), cmp.Compare(a[0], b[0]))
	})
	return out[:min(len(out), maxNests)]
}

// nestOf follows the addresses of a body.
func nestOf(t *Trace, body []uint32) (*Nest, *Refused) {
	n := &Nest{Body: body, Outer: 1}
	slot := map[uint32]int{}
	for i, c := range body {
		slot[c] = i
	}
	k := len(body)
	var rows []uint64 // k addresses a turn
	seen := 0
	for i := range t.Accesses {
		a := &t.Accesses[i]
		s, ok := slot[a.Code]
		if !ok {
			continue
		}
		if s == 0 {
			if seen%k != 0 {
				return nil, nil
			}
			n.turns = append(n.turns, int32(i))
		}
		if s != seen%k || len(n.turns) == 0 {
			return nil, nil // the instructions do not take turns
		}
		seen++
		rows = append(rows, a.Addr)
		n.end = int32(i) + 1
	}
	if len(n.turns) < minTurns || seen%k != 0 {
		return nil, nil
	}
	n.at = n.turns[0]
	n.takeHeads(t)
	why := n.unroll(rows, k)
	if len(n.Trips) == 0 {
		return nil, why
	}
	return n, nil
}

// takeHeads moves the start of turns back over the references before them whose
// instructions come before the body: they prepare the loop that begins, and do
// not belong to the turn that ended.
func (n *Nest) takeHeads(t *Trace) {
	low := ^uint64(0)
	for _, c := range n.Body {
		low = min(low, t.Codes[c].PC)
	}
	last := n.Body[len(n.Body)-1]
	for i, at := range n.turns {
		for at > 0 && (i == 0 || at > n.turns[i-1]+1) {
			c := t.Accesses[at-1].Code
			if c == last || t.Codes[c].PC == 0 || t.Codes[c].PC >= low {
				break
			}
			at--
		}
		n.turns[i] = at
	}
}

// unroll finds the loops from the innermost outwards: a run of turns with equal
// differences is one pass of a loop, and all passes must be equally long.
func (n *Nest) unroll(rows []uint64, k int) (why *Refused) {
	for turns := len(rows) / k; turns > 1; turns = len(rows) / k {
		d := difference(rows, k, 1)
		length, other, even := runLength(rows, k, d)
		if !even || length == 1 {
			if !even && len(n.Trips) == 0 {
				why = &Refused{At: int(n.at), Length: length, Other: other}
			}
			n.Outer = turns
			return why
		}
		n.Trips = append([]int{length}, n.Trips...)
		n.Strides = append([][]int64{d}, n.Strides...)
		var starts []uint64
		for i := 0; i < turns; i += length {
			starts = append(starts, rows[i*k:(i+1)*k]...)
		}
		rows = starts
	}
	return nil
}

// difference is what the addresses of turn i are beyond those of the turn
// before.
func difference(rows []uint64, k, i int) []int64 {
	d := make([]int64, k)
	for j := range d {
		d[j] = int64(rows[i*k+j] - rows[(i-1)*k+j])
	}
	return d
}

// runLength is how many turns in a row differ by d, in every run alike; even is
// false if the runs are not equally long.
func runLength(rows []uint64, k int, d []int64) (length, other int, even bool) {
	run := 1
	turns := len(rows) / k
	for i := 1; i <= turns; i++ {
		if i < turns && equalDifference(rows, k, i, d) {
			run++
			continue
		}
		if length == 0 {
			length = run
		} else if run != length {
			return length, run, false
		}
		run = 1
	}
	return length, length, true
}

func equalDifference(rows []uint64, k, i int, d []int64) bool {
	for j, want := range d {
		if int64(rows[i*k+j]-rows[(i-1)*k+j]) != want {
			return false
		}
	}
	return true
}

// Loop is one loop of a changed nest: a loop of the old one, or a part of it.
type Loop struct {
	Of   int // index into Trips
	Tile int // 0: the whole loop; else this loop steps over tiles of so many turns, and Inner walks one
	In   bool
}

// Order returns the positions of the accesses of the trace if the loops of the
// nest are run in another order. Everything outside the nest stays where it is;
// what lies between turns goes with the turn it prepares, or the one it follows.
func (n *Nest) Order(t *Trace, loops []Loop) []uint32 {
	out := make([]uint32, 0, len(t.Accesses))
	for i := range n.From() {
		out = append(out, uint32(i))
	}
	weights := n.weights()
	w := weights[len(n.Trips)]
	index := make([]int, len(n.Trips))
	tile := make([]int, len(n.Trips))
	var walk func(depth, base int)
	walk = func(depth, base int) {
		if depth == len(loops) {
			turn := base
			for i, x := range index {
				turn += (tile[i] + x) * weights[i]
			}
			out = n.appendTurn(out, turn)
			return
		}
		l := loops[depth]
		switch {
		case l.Tile > 0 && !l.In:
			for tile[l.Of] = 0; tile[l.Of] < n.Trips[l.Of]; tile[l.Of] += l.Tile {
				walk(depth+1, base)
			}
			tile[l.Of] = 0
		case l.Tile > 0:
			for index[l.Of] = 0; index[l.Of] < l.Tile && tile[l.Of]+index[l.Of] < n.Trips[l.Of]; index[l.Of]++ {
				walk(depth+1, base)
			}
			index[l.Of] = 0
		default:
			for index[l.Of] = 0; index[l.Of] < n.Trips[l.Of]; index[l.Of]++ {
				walk(depth+1, base)
			}
			index[l.Of] = 0
		}
	}
	for outer := range n.Outer {
		walk(0, outer*w)
	}
	for i := n.To(); i < len(t.Accesses); i++ {
		out = append(out, uint32(i))
	}
	return out
}

func (n *Nest) appendTurn(out []uint32, turn int) []uint32 {
	to := n.end
	if turn+1 < len(n.turns) {
		to = n.turns[turn+1]
	}
	for i := n.turns[turn]; i < to; i++ {
		out = append(out, uint32(i))
	}
	return out
}

// Has reports whether an instruction is in the body of the nest.
func (n *Nest) Has(code uint32) bool { return slices.Contains(n.Body, code) }

// InnerPass is the positions of one pass of the innermost loop: the middle one,
// which no edge of the data bends.
func (n *Nest) InnerPass() (from, to int) {
	trips := n.Trips[len(n.Trips)-1]
	k := len(n.turns) / trips / 2 * trips
	from, to = int(n.turns[k]), int(n.end)
	if k+trips < len(n.turns) {
		to = int(n.turns[k+trips])
	}
	return from, to
}
