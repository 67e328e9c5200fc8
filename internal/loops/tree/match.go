package tree

import (
	"slices"

	"github.com/isobath/isobath/internal/data/refs/flow"
)

// match finds for every loop of the code the statement it was made of, and the
// basics that only test its condition. sources returns the text of a file, nil
// if there is none.
func (f *forest) match(sources func(file string) []byte) {
	m := &matcher{forest: f, sources: sources, files: map[string][]int32{}}
	for l := range f.loops {
		m.loop(int32(l))
	}
	m.twins()
	m.shared()
	for l := range f.loops {
		m.bound(int32(l))
	}
	m.guards()
	m.marks()
}

type matcher struct {
	*forest
	sources func(string) []byte
	files   map[string][]int32 // statements by file
}

// in returns the statements of a file.
func (m *matcher) in(file string) []int32 {
	if all, ok := m.files[file]; ok || file == "" {
		return all
	}
	var all []int32
	if text := m.sources(file); text != nil {
		base := int32(len(m.statements))
		for _, st := range statements(file, text, m.sources) {
			if st.shape.parent >= 0 {
				st.shape.parent += base
			}
			all = append(all, int32(len(m.statements)))
			m.statements = append(m.statements, st)
		}
	}
	m.files[file] = all
	return all
}

func positionOf(in *flow.Instruction) position {
	return position{in.Place.File, place(in.Place.Line, in.Column)}
}

// innermost returns the smallest statement that contains a position by the
// given part; -1 if there is none.
func (m *matcher) innermost(p position, part func(*statement) span) int32 {
	best := int32(-1)
	for _, id := range m.in(p.file) {
		if st := &m.statements[id]; part(st).covers(p) && (best < 0 || m.statements[best].at < st.at) {
			best = id
		}
	}
	return best
}

// loop finds the statement of one loop. The branch that leaves it or goes round
// stands in the parentheses of its statement; where the loop has no condition,
// it is the innermost statement around all its code. Of several the outermost is
// meant: conditions of inner loops are tested in the outer one too.
func (m *matcher) loop(id int32) {
	l := &m.loops[id]
	st, tested := int32(-1), true
	for _, b := range l.blocks {
		if m.loopOf[b] != id || m.basics[b].ending != flow.Branch && !m.guessed || !m.decides(id, b) {
			continue
		}
		if p, ok := m.branch(b); ok {
			if s := m.innermost(p, func(st *statement) span { return st.head }); s >= 0 && (st < 0 || m.around(s, st)) {
				st = s
			}
		}
	}
	// A condition may be gone, because the compiler knew it or merged it with
	// that of an inner loop.
	around := m.common(id)
	if st < 0 && around >= 0 && m.testsByCall(id, around) {
		st = around
	}
	if st < 0 || around >= 0 && m.around(around, st) && !m.enclosed(id, around) {
		st, tested = around, around >= 0 && m.statements[around].endless
	}
	if st >= 0 && m.implied(id, st) {
		st, tested = -1, false
	}
	l.tested, l.statement, l.around = tested, st, -1
}

// testsByCall reports whether what leaves a loop or goes round is code of functions that
// the condition of a statement calls and that were inlined there.
func (m *matcher) testsByCall(id, st int32) bool {
	return slices.ContainsFunc(m.loops[id].blocks, func(b int32) bool {
		return m.loopOf[b] == id && m.basics[b].ending == flow.Branch && m.decides(id, b) && m.branchCalledBy(b, m.statements[st].cond, m.statements[st].file)
	})
}

// branchCalledBy reports whether the instruction that ends a basic was inlined from a
// call in a part of the text.
func (m *forest) branchCalledBy(b int32, part span, file string) bool {
	list := m.listing(b)
	return len(list) > 0 && calledIn(&list[len(list)-1], part, file)
}

// calledIn reports whether an instruction was inlined from a call in a part of the
// text.
func calledIn(in *flow.Instruction, part span, file string) bool {
	return slices.ContainsFunc(in.Calls, func(c flow.Site) bool {
		return c.File == file && c.Column > 0 && part.contains(place(c.Line, c.Column))
	})
}

// shared settles loops that claim the statement of a loop inside them: they are
// the statement around it, whose condition is gone, or jumps that made a call at
// the end of a function a loop.
func (m *matcher) shared() {
	for id := len(m.loops) - 1; id >= 0; id-- {
		p := m.loops[id].parent
		if st := m.loops[id].statement; p >= 0 && st >= 0 && m.loops[p].statement == st {
			m.loops[p].statement, m.loops[p].tested = m.outer(st), false
			m.loops[p].around = st
		}
	}
}

// outer is the innermost statement around another; -1 if there is none.
func (m *matcher) outer(st int32) int32 { return m.aroundBoth(st, st) }

// bound finds where a loop stands and which basics only test its condition.
func (m *matcher) bound(id int32) {
	l := &m.loops[id]
	if l.statement < 0 {
		l.source = m.lowest(id)
		return
	}
	s := &m.statements[l.statement]
	l.source = position{s.file, s.at}
	l.bounded = true
	for _, b := range l.blocks {
		// Who comes to the header of a do has begun a turn.
		m.test[b] = m.test[b] || m.loopOf[b] == id && m.tests(b, s) && (b != l.header || s.head.from < s.body.from)
	}
	if s.testsFirst() {
		m.conditionFirst(id)
	}
}

// conditionFirst adds to what only tests the condition the parts of it that decide
// nothing: the way on from a call that it makes, or what it chose between. They are
// come to from the header through nothing else.
func (m *matcher) conditionFirst(id int32) {
	l := &m.loops[id]
	s := &m.statements[l.statement]
	part := func(b int32) bool {
		only, _ := m.conditionOnly(b, s)
		return m.loopOf[b] == id && only
	}
	if !part(l.header) {
		return
	}
	from := map[int32][]int32{}
	for _, u := range l.blocks {
		for _, e := range m.next[u] {
			from[e.to] = append(from[e.to], u)
		}
	}
	m.test[l.header] = true
	for more := true; more; {
		more = false
		for _, b := range l.blocks {
			if !m.test[b] && part(b) && !slices.ContainsFunc(from[b], func(u int32) bool { return !m.test[u] || m.loopOf[u] != id }) {
				m.test[b], more = true, true
			}
		}
	}
}

// enclosed reports whether a loop around this one has the statement.
func (m *matcher) enclosed(id, st int32) bool {
	for p := m.loops[id].parent; p >= 0; p = m.loops[p].parent {
		if m.loops[p].statement == st {
			return true
		}
	}
	return false
}

// around reports whether statement a lies around statement b.
func (m *matcher) around(a, b int32) bool {
	x, y := &m.statements[a], &m.statements[b]
	return x.file == y.file && a != b && x.whole().from <= y.whole().from && y.whole().to <= x.whole().to
}

// decides reports whether a basic can leave the loop or go back to its header.
func (m *matcher) decides(id, b int32) bool {
	l := &m.loops[id]
	return slices.ContainsFunc(m.next[b], func(e step) bool {
		return e.to == l.header || m.loopOf[e.to] < 0 || !m.contains(id, m.loopOf[e.to])
	})
}

// branch returns the position of the instruction that ends a basic.
func (m *forest) branch(b int32) (position, bool) {
	list := m.listing(b)
	if len(list) == 0 {
		return position{}, false
	}
	p := positionOf(&list[len(list)-1])
	return p, p.line() > 0
}

// common returns the innermost statement around all code of a loop, without
// what is known to have been moved in: code of no statement.
func (m *matcher) common(id int32) int32 {
	st := int32(-1)
	home := m.functions[m.loops[id].function].name
	inlined := !slices.ContainsFunc(m.loops[id].blocks, func(b int32) bool {
		return slices.ContainsFunc(m.listing(b), func(in flow.Instruction) bool { return in.Place.Function == home })
	})
	for _, b := range m.loops[id].blocks {
		list := m.listing(b)
		for i := range list {
			if list[i].Place.Function != home && !inlined {
				continue
			}
			s := m.innermost(positionOf(&list[i]), (*statement).whole)
			switch {
			case s < 0 || st == s || st >= 0 && m.around(st, s):
			case st < 0 || m.around(s, st):
				st = s
			default: // neither is around the other: what is around both
				st = m.aroundBoth(st, s)
				if st < 0 {
					return -1
				}
			}
		}
	}
	return st
}

func (m *matcher) aroundBoth(a, b int32) int32 {
	best := int32(-1)
	for _, id := range m.files[m.statements[a].file] {
		if m.around(id, a) && m.around(id, b) && (best < 0 || m.around(best, id)) {
			best = id
		}
	}
	return best
}

// lowest is the first line of a loop's own code.
func (m *matcher) lowest(id int32) position {
	var p position
	for _, b := range m.loops[id].blocks {
		if m.loopOf[b] != id {
			continue
		}
		list := m.listing(b)
		for i := range list {
			if q := positionOf(&list[i]); q.line() > 0 && (p.line() == 0 || q.file == p.file && q.at < p.at) {
				p = q
			}
		}
	}
	p.at &^= 1<<columnBits - 1
	return p
}

// tests reports whether a basic does nothing but test the condition.
func (m *matcher) tests(b int32, s *statement) bool {
	only, called := m.conditionOnly(b, s)
	return only && (called || m.basics[b].ending == flow.Branch || m.basics[b].ending == flow.Call || m.guessed)
}

// conditionOnly reports whether all code of a basic is of the condition, and whether
// all of it is of functions that the condition calls.
func (m *matcher) conditionOnly(b int32, s *statement) (only, called bool) {
	list := m.listing(b)
	if s.endless || len(list) == 0 {
		return false, false
	}
	called = true
	for i := range list {
		p := positionOf(&list[i])
		if p.line() == 0 || calledIn(&list[i], s.cond, s.file) {
			continue
		}
		called = false
		if p.file != s.file || !s.cond.covers(p) && (!s.head.covers(p) || s.step.covers(p) || s.init.covers(p)) {
			return false, false
		}
	}
	return true, called
}

// guards finds the basics outside a statement's loops that test its condition
// before they are entered, as compilers put them.
func (m *matcher) guards() {
	type context struct{ statement, function, parent int32 }
	outside := map[context]bool{}
	for id := range m.loops {
		if l := &m.loops[id]; l.statement >= 0 && !m.statements[l.statement].endless {
			outside[context{l.statement, l.function, l.parent}] = true
		}
	}
	for b := range m.basics {
		if m.owner[b] < 0 || m.basics[b].ending != flow.Branch {
			continue
		}
		p, ok := m.branch(int32(b))
		if !ok {
			continue
		}
		st := m.innermost(p, func(s *statement) span { return s.head })
		if st >= 0 && m.statements[st].cond.contains(p.at) && outside[context{st, m.owner[b], m.loopOf[b]}] {
			m.guard[b] = st
		}
	}
}

// marks chooses for every statement the mark that stands for the start of a
// turn, and the one that stands for an entry, and notes the basics that have
// them.
func (m *matcher) marks() {
	turn, entry := marksBy{}, marksBy{}
	for _, mk := range m.code.marks {
		b := m.basicAt(mk.PC)
		if b < 0 || m.owner[b] < 0 {
			continue
		}
		at := place(mk.Line, mk.Column)
		for _, id := range m.in(mk.File) {
			st := &m.statements[id]
			if st.init.contains(at) {
				entry.add(id, at, b)
			}
			if st.body.contains(at) && len(st.first) > 0 && at < st.first[len(st.first)-1].to {
				turn.add(id, at, b)
			}
		}
	}
	for id, at := range turn {
		chosen := m.chosen(id, m.statements[id].first, at)
		for _, b := range chosen {
			m.begun[b] = append(m.begun[b], id)
		}
		m.statements[id].marked = len(chosen) > 0
	}
	m.unmarked()
	for id, at := range entry {
		for _, b := range m.chosen(id, []span{m.statements[id].init}, at) {
			m.opened[b] = append(m.opened[b], id)
		}
	}
}

// marksBy is the basics of marks, one for each, by statement and position.
type marksBy map[int32]map[uint32][]int32

func (by marksBy) add(statement int32, at uint32, basic int32) {
	if by[statement] == nil {
		by[statement] = map[uint32][]int32{}
	}
	by[statement][at] = append(by[statement][at], basic)
}

// chosen returns the basics of the mark that stands for a statement: of the
// marks in the first part that has any, the one with the fewest copies in its
// loops, because without optimisation a line may have several marks a turn.
func (m *matcher) chosen(id int32, parts []span, at map[uint32][]int32) []int32 {
	for _, part := range parts {
		var best []int32
		fewest := 0
		var where uint32
		for p, basics := range at {
			if !part.contains(p) {
				continue
			}
			copies := 0
			for _, b := range basics {
				if l := m.loopOf[b]; l >= 0 && m.loops[l].statement == id {
					copies++
				}
			}
			if best == nil || copies < fewest || copies == fewest && p < where {
				best, fewest, where = basics, copies, p
			}
		}
		if best != nil {
			return best
		}
	}
	return nil
}

// unmarked notes accesses of statements that neither a mark nor a loop tells of.
func (m *matcher) unmarked() {
	looped := map[[2]int32]bool{}
	for l := range m.loops {
		looped[[2]int32{m.loops[l].function, m.loops[l].statement}] = true
	}
	for b := range m.basics {
		if m.owner[b] < 0 {
			continue
		}
		list := m.listing(int32(b))
		for i := range list {
			// A call may do the work of a whole loop, as those that copy do.
			if !list[i].Loads && !list[i].Stores && list[i].Ending != flow.Call {
				continue
			}
			p := positionOf(&list[i])
			st := m.innermost(p, (*statement).whole)
			if st >= 0 && !m.statements[st].init.contains(p.at) && !m.statements[st].marked && !looped[[2]int32{m.owner[b], st}] && !slices.Contains(m.present[b], st) {
				m.present[b] = append(m.present[b], st)
			}
		}
	}
}

// holdsPart reports whether an instruction of a basic stands in a part of the
// text.
func (b *build) holdsPart(id int32, in func(position) bool) bool {
	list := b.listing(id)
	return slices.ContainsFunc(list, func(i instruction) bool { return in(positionOf(&i)) })
}

// innermostOf is the smallest statement around a position; -1 if none is.
func (f *forest) innermostOf(p position) int32 {
	best := int32(-1)
	for id := range f.statements {
		if st := &f.statements[id]; st.file == p.file && st.whole().contains(p.at) && (best < 0 || f.statements[best].at < st.at) {
			best = int32(id)
		}
	}
	return best
}

// inStatement reports whether one statement lies inside another.
func (b *build) inStatement(inner, outer int32) bool {
	x, y := b.statements[inner].whole(), b.statements[outer].whole()
	return inner != outer && b.statements[inner].file == b.statements[outer].file && y.from <= x.from && x.to <= y.to
}

// hasLoop reports whether a statement has a loop of the code inside another.
func (f *forest) hasLoop(around, st int32) bool {
	for l := range f.loops {
		if f.loops[l].statement == st && (around < 0 || int32(l) != around && f.contains(around, int32(l))) {
			return true
		}
	}
	return false
}
