package tree

import (
	"slices"

	"github.com/isobath/isobath/internal/data/refs/flow"
)

// Two loops of the source have one header in the code where the outer one begins
// with the inner one, and nothing is left to do before it: a do whose body begins
// with a while. Strongly connected parts show them as one loop. They are told apart
// by the ways back to the header: one that passes a branch of the outer statement
// begins a turn of that, one that passes only branches of the inner a turn of the
// inner.

// twins finds them and makes loops of both.
func (m *matcher) twins() {
	if m.guessed {
		return
	}
	for id := int32(0); int(id) < len(m.loops); id++ {
		l := &m.loops[id]
		if l.statement < 0 || l.irreducible {
			continue
		}
		for _, inner := range m.in(m.statements[l.statement].file) {
			if m.outer(inner) == l.statement && !m.statements[inner].endless && !m.hasLoop(id, inner) && m.part(id, inner) {
				break // the new one is next, and may have a twin too
			}
		}
	}
}

// oneHeader is a loop of the code and the statements that may both have become it.
type oneHeader struct {
	*matcher
	id           int32
	header       int32
	outer, inner int32
	blocks       map[int32]bool
	ways         map[int32][]int32 // where each of its basics was come to from
}

// part makes the inner statement a loop of its own, if every way back to the header
// tells whose turn it begins.
func (m *matcher) part(id, inner int32) bool {
	l := &m.loops[id]
	o := &oneHeader{matcher: m, id: id, header: l.header, outer: l.statement, inner: inner, blocks: map[int32]bool{}, ways: map[int32][]int32{}}
	for _, b := range l.blocks {
		o.blocks[b] = true
		for _, e := range m.next[b] {
			o.ways[e.to] = append(o.ways[e.to], b)
		}
	}
	own := o.own()
	if !own[o.header] || !o.decided(own) || !o.whole(own) {
		return false
	}
	at := id + 1
	twin := machineLoop{function: l.function, parent: id, header: l.header, statement: inner, around: -1, tested: true, twin: true, endsTested: o.endsTested(own), unsure: o.blended(own)}
	l.unsure = l.unsure || twin.unsure
	for _, b := range l.blocks {
		if own[b] {
			twin.blocks = append(twin.blocks, b)
		}
	}
	m.insert(at, twin)
	for b := range own {
		if m.loopOf[b] == id {
			m.loopOf[b] = at
		}
	}
	for i := range m.loops {
		if in := &m.loops[i]; in.parent == id && int32(i) != at && own[in.header] {
			in.parent = at
		}
		if p := m.loops[i].parent; p >= 0 {
			m.loops[i].depth = m.loops[p].depth + 1
		}
	}
	return true
}

// insert puts a loop behind the one around it: loops are listed outermost first.
func (f *forest) insert(at int32, l machineLoop) {
	moved := func(id int32) int32 {
		if id >= at {
			return id + 1
		}
		return id
	}
	for i := range f.loops {
		f.loops[i].parent = moved(f.loops[i].parent)
	}
	for b := range f.loopOf {
		f.loopOf[b] = moved(f.loopOf[b])
	}
	f.loops = slices.Insert(f.loops, int(at), l)
}

// tells is the one of the two statements that a basic's choice of its way belongs
// to; -1 if it has none or that of neither.
func (o *oneHeader) tells(b int32) int32 {
	if o.basics[b].ending != flow.Branch && len(o.next[b]) < 2 {
		return -1
	}
	p, ok := o.branch(b)
	if !ok {
		return -1
	}
	for st := o.innermost(p, (*statement).whole); st >= 0; st = o.matcher.outer(st) {
		if st == o.inner || st == o.outer {
			return st
		}
	}
	return -1
}

// tests reports whether a basic ends with a branch of the inner condition.
func (o *oneHeader) tests(b int32) bool {
	p, ok := o.branch(b)
	return ok && o.basics[b].ending == flow.Branch && p.file == o.statements[o.inner].file && o.statements[o.inner].cond.covers(p) && o.tells(b) == o.inner
}

// back are the basics from which a way leads back to the header without passing
// those that stop it.
func (o *oneHeader) back(stops func(b int32) bool) map[int32]bool {
	found := map[int32]bool{}
	for todo := []int32{o.header}; len(todo) > 0; todo = todo[1:] {
		for _, u := range o.ways[todo[0]] {
			if !found[u] && !stops(u) {
				found[u] = true
				if u != o.header {
					todo = append(todo, u)
				}
			}
		}
	}
	return found
}

// ahead are the basics that some lead to before the header comes again. Those that
// stop it are among them, but not what follows them.
func (o *oneHeader) ahead(from []int32, stops func(b int32) bool) map[int32]bool {
	found := map[int32]bool{}
	for _, b := range from {
		found[b] = true
	}
	for todo := from; len(todo) > 0; todo = todo[1:] {
		if stops(todo[0]) {
			continue
		}
		for _, e := range o.next[todo[0]] {
			if o.blocks[e.to] && e.to != o.header && !found[e.to] {
				found[e.to] = true
				todo = append(todo, e.to)
			}
		}
	}
	return found
}

func (o *oneHeader) ofOuter(b int32) bool { return o.tells(b) == o.outer }

// own are the basics on ways from the header back to it that no branch of the outer
// statement is on.
func (o *oneHeader) own() map[int32]bool {
	back := o.back(o.ofOuter)
	own := o.ahead([]int32{o.header}, func(b int32) bool { return !back[b] })
	for b := range own {
		if !back[b] {
			delete(own, b)
		}
	}
	return own
}

// decided reports whether the inner condition is tested on every way back among its
// own, one side of each test leads back at most, and some test leads on to the rest of
// the outer statement.
func (o *oneHeader) decided(own map[int32]bool) bool {
	untested := o.back(func(b int32) bool { return o.ofOuter(b) || o.tests(b) })
	if untested[o.header] {
		return false
	}
	exits := false
	for b := range own {
		if !o.tests(b) {
			continue
		}
		sides := 0
		for _, e := range o.next[b] {
			if e.to == o.header || untested[e.to] {
				sides++
			}
			exits = exits || !own[e.to]
		}
		if sides > 1 {
			return false
		}
	}
	if !exits {
		return false
	}
	// Before the test nothing of the outer statement decides.
	for b := range o.ahead([]int32{o.header}, o.tests) {
		if o.ofOuter(b) {
			return false
		}
	}
	return true
}

// rest are the basics that are come to behind a branch of the outer statement.
func (o *oneHeader) rest() map[int32]bool {
	var from []int32
	for b := range o.blocks {
		if o.ofOuter(b) {
			from = append(from, b)
		}
	}
	return o.ahead(from, func(int32) bool { return false })
}

// whole reports whether loops inside lie in one of both, and what both run is neither
// such a loop nor a test.
func (o *oneHeader) whole(own map[int32]bool) bool {
	for i := range o.loops {
		in := &o.loops[i]
		if in.parent == o.id && slices.ContainsFunc(in.blocks, func(b int32) bool { return own[b] != own[in.header] }) {
			return false
		}
	}
	for b := range o.rest() {
		if own[b] && (o.loopOf[b] != o.id || o.tests(b)) {
			return false
		}
	}
	return true
}

// endsTested reports whether the inner statement tests before each turn, and nothing
// else leaves it.
func (o *oneHeader) endsTested(own map[int32]bool) bool {
	for b := range own {
		if !o.tests(b) && slices.ContainsFunc(o.next[b], func(e step) bool { return !own[e.to] }) {
			return false
		}
	}
	return o.statements[o.inner].testsFirst()
}

// blended reports whether a turn of the inner statement cannot be told for certain
// from what else leads back: where nothing is tested for the outer one, its code on
// that way may be a turn of it; and a turn that something else than the test ends is
// counted only where code of the test is known as such, from the header on.
func (o *oneHeader) blended(own map[int32]bool) bool {
	out, in := &o.statements[o.outer], &o.statements[o.inner]
	behind := o.back(func(b int32) bool { return o.ofOuter(b) || o.tests(b) })
	broken := in.testsFirst() && !o.endsTested(own)
	for b := range own {
		if (out.endless || !o.loops[o.id].tested) && behind[b] && b != o.header && o.holds(b, func(p position) bool { return out.whole().contains(p.at) && !in.whole().contains(p.at) }) {
			return true
		}
		if broken && !o.matcher.tests(b, in) && (b == o.header || !o.holds(b, func(p position) bool { return !in.cond.contains(p.at) })) {
			return true
		}
	}
	return false
}

// holds reports whether a basic has code of the file at some place.
func (o *oneHeader) holds(b int32, at func(position) bool) bool {
	return slices.ContainsFunc(o.listing(b), func(in instruction) bool {
		p := positionOf(&in)
		return p.line() > 0 && p.file == o.statements[o.inner].file && at(p)
	})
}

// twinned reports whether a loop of a group has its header in common with one
// around or inside it.
func (b *build) twinned(gr *group) bool {
	return slices.ContainsFunc(gr.machines, func(m int32) bool { return b.loops[m].twin || b.loopOf[b.loops[m].header] != m })
}

// unsure reports whether turns of a twin and of the loop around it cannot be told
// apart.
func (b *build) unsure(gr *group) bool {
	return slices.ContainsFunc(gr.machines, func(m int32) bool { return b.loops[m].unsure })
}
