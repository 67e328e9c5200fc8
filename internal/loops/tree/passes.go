package tree

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/isobath/isobath/internal/data/refs"
)

// Loops that make no references leave nothing in a trace without control flow but
// the addresses of the loops inside them: their instructions go on by a stride for
// a pass, and begin the next pass elsewhere. Where all passes are equally long,
// each is an entry of the inner loop, and a turn of one around it.

// leastPass is how many turns a pass has at least: two values that are used in
// turn are no loop.
const leastPass = 4

// stepper follows the addresses of one instruction in one thread: turns that go on
// by one stride are a pass, and so are passes whose starts do.
type stepper struct {
	times  uint64
	levels [maxLevels]pass
}

// pass is the passes of one level.
type pass struct {
	start, last uint64
	stride      int64  // between two turns
	run         uint64 // turns of the pass under way
	length      uint64 // turns of each pass; 0 before the first has ended
	known       bool   // the stride is
	uneven      bool   // passes differ: nothing is told from here on
}

func (s *stepper) add(addr uint64) {
	s.times++
	s.step(0, addr)
}

func (s *stepper) step(level int, addr uint64) {
	p := &s.levels[level]
	if p.uneven {
		return
	}
	if p.run == 0 {
		p.start, p.last, p.run = addr, addr, 1
		return
	}
	moved := int64(addr - p.last)
	p.last = addr
	switch {
	case !p.known:
		p.stride, p.known, p.run = moved, true, 2
	case moved == p.stride:
		p.run++
		p.uneven = p.length > 0 && p.run > p.length
	case p.length == 0 && (level > 0 || p.run >= leastPass):
		p.length, p.run = p.run, 1
		s.above(level, p.start)
		s.above(level, addr)
	case p.run == p.length:
		p.run = 1
		s.above(level, addr)
	default:
		p.uneven = true
	}
}

// above tells the next level that a pass begins.
func (s *stepper) above(level int, addr uint64) {
	if level+1 < maxLevels {
		s.step(level+1, addr)
	}
}

// periods are the turns of a pass, of a pass of passes, and so on, as far as all
// of them are whole and alike.
func (s *stepper) periods() []uint64 {
	var out []uint64
	turns := uint64(1)
	for i := range s.levels {
		p := &s.levels[i]
		if p.uneven || p.length == 0 || p.run != p.length {
			break
		}
		turns *= p.length
		out = append(out, turns)
	}
	return out
}

// spot is an instruction in a thread.
type spot struct {
	thread uint32
	pc     uint64
}

// stays is a visitor that counts how often loops are entered and turn, by the code
// alone.
type stays struct {
	*forest
	of     []stay
	inside []int32 // the innermost loop that each basic ran in, also one that called it; see home
	thread uint32
	active []int32
	turns  []uint64 // of the loops that are active
}

// What is not the number of a loop.
const (
	notRun  = -2
	several = -3
)

// stay is one loop.
type stay struct {
	entries     uint64
	least, most uint64            // turns of an entry
	turns       map[uint32]uint64 // by thread
	around      int32             // the loop that is active when it is entered; see home
}

func (s *stay) total() uint64 {
	sum := uint64(0)
	for _, n := range s.turns {
		sum += n
	}
	return sum
}

// even is the turns of each entry; 0 where they differ.
func (s *stay) even() uint64 {
	if s.least == s.most {
		return s.most
	}
	return 0
}

// home is a loop that is always the same: of where it was before and where it is.
func home(was, is int32) int32 {
	if was == notRun || was == is {
		return is
	}
	return several
}

// innermost is the loop that is active last; -1 if none is.
func (s *stays) innermost() int32 {
	if len(s.active) == 0 {
		return -1
	}
	return s.active[len(s.active)-1]
}

func (s *stays) call(st *stack, v int32) {
	st.top().mark = len(s.active)
	s.arrive(st, v)
}

func (s *stays) edge(st *stack, _, v int32) { s.arrive(st, v) }

func (s *stays) leave(st *stack) {
	for len(s.active) > st.top().mark {
		s.close()
	}
}

// arrive leaves the loops of a frame that a basic is not in, and enters those that
// it is in.
func (s *stays) arrive(st *stack, v int32) {
	l, mark := s.loopOf[v], st.top().mark
	for len(s.active) > mark && (l < 0 || !s.contains(s.innermost(), l)) {
		s.close()
	}
	s.open(l, mark)
	for i := mark; i < len(s.active); i++ {
		if s.loops[s.active[i]].header == v {
			s.turns[i]++
		}
	}
	s.inside[v] = home(s.inside[v], s.innermost())
}

// open enters a loop and those around it that are not active, outermost first.
func (s *stays) open(l int32, mark int) {
	if l < 0 || slices.Contains(s.active[mark:], l) {
		return
	}
	s.open(s.loops[l].parent, mark)
	s.of[l].around = home(s.of[l].around, s.innermost())
	s.active, s.turns = append(s.active, l), append(s.turns, 0)
}

// close leaves the innermost loop.
func (s *stays) close() {
	n := len(s.active) - 1
	at, turns := &s.of[s.active[n]], s.turns[n]
	s.active, s.turns = s.active[:n], s.turns[:n]
	if at.entries == 0 {
		at.least, at.turns = turns, map[uint32]uint64{}
	}
	at.entries++
	at.least, at.most = min(at.least, turns), max(at.most, turns)
	at.turns[s.thread] += turns
}

// countStays walks the threads once more, with the loops known.
func (b *build) countStays(ctx context.Context, f *forest) (*stays, error) {
	s := &stays{forest: f, of: make([]stay, len(f.loops)), inside: make([]int32, len(f.basics))}
	for i := range s.of {
		s.of[i].around = notRun
	}
	for i := range s.inside {
		s.inside[i] = notRun
	}
	var st *stack
	err := b.eachBasic(ctx, f, "passes", func(thread uint32) func(v int32) {
		if st != nil {
			st.popTo(0)
		}
		s.thread, st = thread, &stack{code: f.code, visit: s}
		return st.enter
	})
	if st != nil {
		st.popTo(0)
	}
	return s, err
}

// inferred is the loops around one that make no references.
type inferred struct {
	periods []uint64 // turns of the inner loop in a pass, in a pass of passes, …
	rows    []int    // of the loops around it, innermost first
}

// infer finds the loops without references around those that are known, and gives
// them rows behind all others. Rows must be numbered.
func (b *build) infer(ctx context.Context, f *forest) error {
	b.inferred = map[int]*inferred{}
	if len(b.steppers) == 0 || len(f.loops) == 0 {
		return nil
	}
	s, err := b.countStays(ctx, f)
	if err != nil {
		return err
	}
	of, told := s.of, b.told(s)
	next := len(b.members)
	for row, groups := range b.members {
		if len(groups) != 1 || len(b.groups[groups[0]].machines) != 1 {
			continue
		}
		l := b.groups[groups[0]].machines[0]
		periods := within(told[l], &of[l])
		if len(periods) == 0 || slices.ContainsFunc(f.loops[l].blocks, func(v int32) bool { return f.loopOf[v] == l && f.test[v] }) {
			continue
		}
		b.passes[l] = periods
		in := &inferred{periods: periods}
		for range periods {
			in.rows = append(in.rows, next)
			next++
		}
		b.inferred[row] = in
	}
	return nil
}

// told are the passes of each loop, in turns of its own, that its instructions
// tell of, and those of loops that every turn enters once.
func (b *build) told(s *stays) [][]uint64 {
	all := make([][]uint64, len(s.loops))
	for at, steps := range b.steppers {
		v := s.basicAt(at.pc)
		if v < 0 || s.inside[v] < 0 {
			continue
		}
		if l := s.inside[v]; steps.times == s.of[l].turns[at.thread] {
			all[l] = append(all[l], steps.periods()...)
		}
	}
	for _, l := range s.innerFirst() {
		all[l] = chain(all[l])
		each, around := s.of[l].even(), s.of[l].around
		if around < 0 || each == 0 || s.of[l].entries != s.of[around].total() {
			continue
		}
		for _, p := range all[l] {
			if p > each && p%each == 0 {
				all[around] = append(all[around], p/each)
			}
		}
	}
	return all
}

// maxNest bounds how deep loops are looked for in one another.
const maxNest = 64

// innerFirst lists the loops so that each comes before what it is always in.
func (s *stays) innerFirst() []int32 {
	depth := make([]int, len(s.of))
	order := make([]int32, len(s.of))
	for l := range s.of {
		order[l] = int32(l)
		for at := s.of[l].around; at >= 0 && depth[l] < maxNest; at = s.of[at].around {
			depth[l]++ // recursion may lead round
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(depth[b], depth[a]) })
	return order
}

// chain sorts passes, each once; those that do not divide each other tell nothing.
func chain(periods []uint64) []uint64 {
	slices.Sort(periods)
	periods = slices.Compact(periods)
	for i := 1; i < len(periods); i++ {
		if periods[i]%periods[i-1] != 0 {
			return nil
		}
	}
	return periods
}

// within are the passes that fit into each entry of a loop more than once.
func within(periods []uint64, s *stay) []uint64 {
	each := s.even()
	if each == 0 {
		if s.entries != uint64(len(s.turns)) {
			return nil // passes cannot be told from entries
		}
		return periods // one entry a thread holds whole passes
	}
	n := 0
	for n < len(periods) && periods[n] < each {
		if each%periods[n] != 0 {
			return nil
		}
		n++
	}
	return periods[:n]
}

// outward are the rows of the loops around one that make no references, innermost
// first.
func (b *build) outward(row int) []int {
	if in := b.inferred[row]; in != nil {
		return in.rows
	}
	return nil
}

// addInferred adds the rows of loops that make no references. Those that the text
// tells of have their statements.
func (b *build) addInferred() {
	known := map[int32]bool{}
	for i := range b.groups {
		known[b.groups[i].statement] = true
	}
	for _, row := range slices.Sorted(maps.Keys(b.inferred)) {
		st := b.groups[b.members[row][0]].statement
		b.out.Loops[row].Why = whyInferred
		for range b.inferred[row].rows {
			l := b.row(row)
			l.Around, l.Why, l.Text, l.Irreducible, l.Versions = true, whyInferred, "", false, 0
			if st >= 0 {
				st = b.statements[st].shape.parent
			}
			if st >= 0 && !known[st] {
				at := position{b.statements[st].file, b.statements[st].at}
				l.Around, l.File, l.Line, l.Text = false, at.file, at.line(), b.statements[st].text
				l.Function = b.written(at, l.Home)
			}
			b.out.Loops = append(b.out.Loops, l)
		}
	}
}

const whyInferred = "rebuilt from the instructions that make references, and parted where their addresses begin anew: the recording has no control flow"

// countInferred parts the turns of loops into passes.
func (b *build) countInferred() {
	for row, in := range b.inferred {
		l := &b.out.Loops[row]
		all := in.levels(l.Trips)
		l.Trips = all[0]
		for i, outer := range in.rows {
			b.out.Loops[outer].Trips = all[i+1]
		}
	}
}

// levels are the counts of a loop and of those around it, from those of all of
// them as one. What does not add up is not known.
func (in *inferred) levels(whole Trips) []Trips {
	out := make([]Trips, len(in.periods)+1)
	inside := uint64(1)
	for i, p := range in.periods {
		if whole.Trips%p != 0 {
			return out
		}
		out[i] = alike(whole.Trips/p, p/inside)
		inside = p
	}
	last := &out[len(in.periods)]
	last.Entries, last.Trips = whole.Entries, whole.Trips/inside
	if whole.Min%inside == 0 && whole.Median%inside == 0 && whole.Max%inside == 0 {
		last.Min, last.Median, last.Max = whole.Min/inside, whole.Median/inside, whole.Max/inside
	}
	return out
}

// alike are entries that make the same turns each.
func alike(entries, turns uint64) Trips {
	return Trips{Entries: entries, Trips: entries * turns, Min: turns, Median: turns, Max: turns}
}

// nestInferred puts loops that make no references between the loop inside them and
// that around it.
func (b *build) nestInferred() {
	for row, in := range b.inferred {
		around := b.out.Loops[row].Parent
		at := row
		for _, outer := range in.rows {
			b.out.Loops[at].Parent = outer
			at = outer
		}
		b.out.Loops[at].Parent = around
	}
	for i := range b.out.Nodes { // those added are behind
		in := b.inferred[b.out.Nodes[i].Loop]
		if in == nil {
			continue
		}
		around, at := b.out.Nodes[i].Parent, i
		all := in.levels(b.out.Nodes[i].Trips)
		b.out.Nodes[i].Trips = all[0]
		for k, outer := range in.rows {
			n := b.out.Nodes[i]
			n.Loop, n.Trips = outer, all[k+1]
			b.out.Nodes[at].Parent = len(b.out.Nodes)
			at = len(b.out.Nodes)
			b.out.Nodes = append(b.out.Nodes, n)
		}
		b.out.Nodes[at].Parent = around
	}
}

// maxSteppers bounds the instructions that are followed: 60 MB. Loops of others
// stay as they are found.
const maxSteppers = 1 << 18

// follow notes where a reference goes, and of instructions that were not met before
// the place.
func (b *build) follow(r *refs.Ref, places map[uint64]uint32) {
	at := spot{r.Thread, r.PC}
	s := b.steppers[at]
	if s == nil {
		if _, known := places[r.PC]; !known {
			places[r.PC] = r.Place
		}
		if len(b.steppers) == maxSteppers {
			return
		}
		s = &stepper{}
		b.steppers[at] = s
	}
	s.add(r.Addr)
}
