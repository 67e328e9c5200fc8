package tree

import (
	"fmt"
	"slices"
	"strings"
)

// prove holds what was counted against what the text tells, where it tells it for
// certain: constant limits, and loops that every turn of another reaches once.
// Compilers leave out turns that do nothing, and work on several at once; the
// text does not.
func (b *build) prove() {
	if b.rebuilt {
		return
	}
	p := &prover{build: b, rows: map[int32]int{}, told: map[int32]*histogram{}}
	for row, groups := range b.members {
		if st := b.groups[groups[0]].statement; st >= 0 && !b.partial(row) {
			p.rows[st] = row
		}
	}
	prove := p.statement
	if b.unwound || b.unfinished { // turns that did not come to their end reached less than the text tells
		prove = p.doubtEntries
	} else {
		b.prover = p
	}
	for st := range int32(len(b.statements)) { // outer loops first
		if row, ok := p.rows[st]; ok {
			prove(st, row)
		}
	}
}

// doubtEntries takes back what contradicts the loop around, each of whose turns reaches
// a loop once, where the text cannot prove anything.
func (p *prover) doubtEntries(st int32, row int) {
	l, sh := &p.out.Loops[row], &p.statements[st].shape
	around, ok := p.rows[sh.parent]
	if !ok || !sh.always || !l.Exact || !p.reworked(row) && !p.reworked(around) {
		return
	}
	if out := &p.out.Loops[around]; !out.Exact || l.Entries != out.Trips.Trips {
		l.Exact, l.Why = false, "not every turn of the loop around it came to its end, and its entries are not those that the text tells"
		p.entriesSure[row] = false
	}
}

// vanished adds rows for loops that the text tells of, but of which no code is
// left: two became one, or all turns one vector. Every loop that makes references
// has a row.
func (b *build) vanished() {
	if b.prover == nil {
		return
	}
	p := b.prover
	for st := range int32(len(b.statements)) {
		h := p.told[st]
		if _, ok := p.rows[st]; ok || h == nil {
			continue
		}
		around, ok := p.rows[b.statements[st].shape.parent]
		if !ok || !b.out.Loops[around].Exact || b.statements[b.statements[st].shape.parent].shape.guarded && b.out.Loops[around].Factor == 1 {
			continue
		}
		l := p.vanishedRow(st, around)
		l.Trips, l.Exact = h.trips(), true
		p.addVanished(st, l)
	}
	for st := int32(len(b.statements)) - 1; st >= 0; st-- { // inner loops first
		if _, ok := p.rows[st]; !ok {
			p.dissolved(st)
		}
	}
	b.depths()
}

func (p *prover) addVanished(st int32, l Loop) {
	p.rows[st] = len(p.out.Loops)
	p.out.Loops = append(p.out.Loops, l)
	p.members = append(p.members, nil)
}

// dissolved adds a row for a loop around one that makes references, though neither
// code nor text tells how often it turns: it was unrolled, or became one with the
// loop inside it. Where each of its turns reaches that one, it turns as often as
// that is entered.
func (p *prover) dissolved(st int32) {
	for in := range p.statements {
		sh := &p.statements[in].shape
		row, ok := p.rows[int32(in)]
		if !ok || sh.parent != st || p.out.Loops[row].References == 0 {
			continue
		}
		l := p.vanishedRow(st, p.rowAround(st))
		if l.Home == "" {
			l.Function, l.Home = p.out.Loops[row].Function, p.out.Loops[row].Home
		}
		l.Why = "no code of its own is left: its turns were unrolled, or became one with those of the loop inside it"
		if sh.always && p.out.Loops[row].Exact {
			l.Trips.Trips = p.out.Loops[row].Entries
		}
		if l.Parent >= 0 && p.statements[st].shape.always && p.out.Loops[l.Parent].Exact {
			l.Entries = p.out.Loops[l.Parent].Trips.Trips
		}
		p.addVanished(st, l)
		return
	}
}

// rowAround is the row of the nearest loop around a statement that has one; -1 if
// none has.
func (p *prover) rowAround(st int32) int {
	for up := p.statements[st].shape.parent; up >= 0; up = p.statements[up].shape.parent {
		if row, ok := p.rows[up]; ok {
			return row
		}
	}
	return -1
}

// vanishedRow is the row of a loop without code: its references are those of the
// loops inside it.
func (p *prover) vanishedRow(st int32, around int) Loop {
	s := &p.statements[st]
	l := Loop{Kind: Plain, File: s.file, Line: position{s.file, s.at}.line(), Text: s.text, Parent: around, Factor: 1, LinesExact: true}
	if around >= 0 {
		l.Function, l.Home = p.out.Loops[around].Function, p.out.Loops[around].Home
	}
	for in := range p.statements {
		row, ok := p.rows[int32(in)]
		if !ok || p.statements[in].shape.parent != st {
			continue
		}
		inner := &p.out.Loops[row]
		inner.Parent = len(p.out.Loops)
		l.References, l.Loads, l.Stores, l.Modifies, l.Bytes = l.References+inner.References, l.Loads+inner.Loads, l.Stores+inner.Stores, l.Modifies+inner.Modifies, l.Bytes+inner.Bytes
		l.Lines, l.LinesExact = l.Lines+inner.Lines, false
	}
	return l
}

// prover holds one build against the text.
type prover struct {
	*build
	rows  map[int32]int
	told  map[int32]*histogram // entries by turns, as loops around tell
	inner map[int32][]int32    // the counted loops that every turn of one reaches
}

// partial reports whether a function of a loop was entered in its middle, because
// the recording began there.
func (b *build) partial(row int) bool {
	for _, g := range b.members[row] {
		if b.midway[b.groups[g].function] {
			return true
		}
	}
	return false
}

func (p *prover) statement(st int32, row int) {
	l := &p.out.Loops[row]
	if p.Flow.Hooked {
		defer p.keepProven(st, row)
	}
	sh := &p.statements[st].shape
	entries, sure := p.entries(st, row)
	if around, ok := p.rows[sh.parent]; ok && sh.always && l.Exact && !p.out.Loops[around].Exact && (l.Entries != p.out.Loops[around].Trips.Trips || !p.turnsSure[around]) {
		l.Exact, l.Why = false, "the turns of the loop around it, each of which reaches it, are not certain"
	}
	if around, ok := p.rows[sh.parent]; ok && !sure && l.Entries > p.out.Loops[around].Trips.Trips {
		if l.Exact {
			l.Exact, l.Why = false, fmt.Sprintf("it is entered %d times and the loop around it has %d turns, each of which reaches it once at most", l.Entries, p.out.Loops[around].Trips.Trips)
		}
		return // what the text tells of an entry proves nothing of so many
	}
	if calls, ok := p.calls(st, row); ok && sh.parent < 0 && !sure && l.Entries > calls && !p.goesRound(row) {
		p.unsupported[row].Entries = true
		if l.Exact {
			l.Exact, l.Why = false, "its code is entered more often than its function is called, each call of which reaches it once at most"
		}
		return
	}
	if sure && entries != l.Entries {
		l.Why = fmt.Sprintf("the code enters it %d times, the text %d times", l.Entries, entries)
		l.Exact, l.Entries = false, entries
		p.unsupported[row].Entries = false
	} else if sure && p.turnsSure[row] {
		l.Exact, l.Why = true, ""
	}
	h := p.told[st]
	if h == nil {
		p.blurred(st, l)
		if sh.hollow {
			p.hollow(st, l)
		}
		if sh.counted == nil || !sure && !p.entriesSure[row] {
			return
		}
		if !sure && p.fewerEntries(sh, l) {
			l.Exact, l.Why = false, "the loop around it, each of whose turns reaches it, has no code of its own or makes more turns than it is entered"
			l.Entries = 0 // not known
			return
		}
		if h = p.simulate(st, l.Entries); h == nil {
			return
		}
	}
	p.settle(l, sh, h)
}

// fewerEntries reports whether the code enters a loop less often than every turn of
// the one around it reaches it: the code that was taken for it is that of both.
func (p *prover) fewerEntries(sh *shape, l *Loop) bool {
	if sh.parent < 0 || !sh.always {
		return false
	}
	around, ok := p.rows[sh.parent]
	return !ok || p.out.Loops[around].Trips.Trips > l.Entries
}

// keepProven notes a loop whose entries and turns the text tells.
func (p *prover) keepProven(st int32, row int) {
	if _, sure := p.entries(st, row); sure && (p.told[st] != nil || p.statements[st].shape.counted != nil) {
		p.proven[row] = true
	}
}

// besideHooks doubts what the text does not prove of loops whose code has compiler
// hooks: jumps are threaded past tests and blocks copied otherwise than without
// them, so that entries are missed or seen twice. Where one loop ends because of
// what the next one tests, gcc jumps past that test: an entry without turns is then
// no code that runs, and only a loop whose entries the text tells has them all.
func (b *build) besideHooks() {
	for row := range b.members {
		if l := &b.out.Loops[row]; b.Flow.Hooked && l.Exact && !b.proven[row] {
			l.Exact, l.Why = false, "compiler hooks move what tells its entries apart, and the text does not prove them; --backend step or qemu counts the program without hooks"
		}
	}
}

// hollow doubts loops of which the compiler may have left out empty turns, where
// the text does not tell how many there are.
func (p *prover) hollow(st int32, l *Loop) {
	around, ok := p.rows[p.statements[st].shape.parent]
	if !ok || !p.reworked(around) {
		return
	}
	for _, of := range []*Loop{l, &p.out.Loops[around]} {
		if of.Exact {
			of.Exact, of.Why = false, "turns without a turn of the inner loop do nothing, and the compiler may have left them out"
		}
	}
}

// rotated reports whether the code of a loop begins with its body: the compiler
// worked on it.
func (b *build) rotated(gr *group) bool {
	for _, m := range gr.machines {
		if h := b.loops[m].header; !b.test[h] || b.loopOf[h] != m { // the test is that of a twin
			return true
		}
	}
	return false
}

// reworked reports whether a loop of a row is rotated.
func (b *build) reworked(row int) bool {
	for _, g := range b.members[row] {
		if b.rotated(&b.groups[g]) {
			return true
		}
	}
	return false
}

// blurred doubts loops whose header is a macro that the compiler worked on: what
// is tested and what is stepped have the same place in the text.
func (p *prover) blurred(st int32, l *Loop) {
	if p.statements[st].blurred && l.Exact && p.reworked(p.rows[st]) {
		l.Exact, l.Why = false, "its header is a macro, whose parts cannot be told apart"
	}
}

// entries are those that the text tells of: the turns of the loop around it, or
// the calls of its function.
func (p *prover) entries(st int32, row int) (uint64, bool) {
	sh := &p.statements[st].shape
	h := p.told[st]
	switch {
	case h != nil:
		return h.trips().Entries, true
	case p.statements[st].resumed: // which is entered to go on, too
		return 0, false
	case sh.parent >= 0 && (sh.always || sh.completed):
		around, ok := p.rows[sh.parent]
		if !ok || !p.out.Loops[around].Exact || !sh.always && !p.leftByCondition(around) {
			return 0, false
		}
		return p.out.Loops[around].Trips.Trips, true
	case !sh.always:
		return 0, false
	}
	return p.calls(st, row)
}

// leftByCondition reports whether all entries of a loop ended by its condition, so that
// all its turns came to their end.
func (p *prover) leftByCondition(row int) bool {
	if row >= len(p.members) {
		return false
	}
	exits, known := p.knownExits(row)
	return known && !slices.ContainsFunc(exits, func(e Exit) bool { return !e.Condition })
}

// calls are how often the function of a loop was called; false where that is not
// known, as of inlined code.
func (p *prover) calls(st int32, row int) (uint64, bool) {
	sh := &p.statements[st].shape
	function := p.groups[p.members[row][0]].function
	if sh.function == "" || plainName(p.functions[function].name) != sh.function || p.strayed[row] {
		return 0, false // inlined, or one of several
	}
	for _, g := range p.members[row] {
		if p.groups[g].function != function {
			return 0, false
		}
	}
	calls := uint64(0)
	for n := range p.nodes {
		if p.nodes[n].group < 0 && p.nodes[n].function == function {
			calls += p.nodes[n].calls
		}
	}
	return calls, calls > 0
}

// goesRound reports whether the code of a loop is part of another, as gotos make it:
// one call may then enter it several times.
func (p *prover) goesRound(row int) bool {
	for _, g := range p.members[row] {
		if p.groups[g].parent >= 0 {
			return true
		}
	}
	return false
}

// plainName is the name of a function without its parameters and what it is a
// member of.
func plainName(name string) string {
	name, _, _ = strings.Cut(name, "(")
	name, _, _ = strings.Cut(name, "<")
	return name[strings.LastIndex(name, ":")+1:]
}

// settle decides between what was counted and what the text tells. Code makes
// fewer turns than the text where the compiler found out what they do, never
// more.
func (p *prover) settle(l *Loop, sh *shape, h *histogram) {
	told := h.trips()
	same := told.Trips == l.Trips.Trips
	switch {
	case told.Entries != l.Entries:
		return
	case l.Exact && !same && told.Trips < l.Trips.Trips:
		l.Exact, l.Why = false, fmt.Sprintf("the text tells %d turns, the code makes %d: is it the text of this program?", told.Trips, l.Trips.Trips)
		return
	case sh.guarded && !same && l.Factor == 1:
		l.Exact, l.Why = false, fmt.Sprintf("the text tells %d turns, the code %d, and something that it calls may end the loop", told.Trips, l.Trips.Trips)
		return
	}
	l.Trips, l.Exact, l.Why = told, true, ""
}

// maxSimulated bounds the turns that are run through to count them.
const maxSimulated = 1 << 22

// simulate runs the headers of a loop and of those that each of its turns
// reaches, so many times, and notes how many turns each entry makes. It returns
// nil where a number is not known.
func (p *prover) simulate(st int32, entries uint64) *histogram {
	counts := map[int32]map[uint64]uint64{}
	budget := maxSimulated
	if !p.run(st, map[string]int64{}, counts, &budget) {
		return nil
	}
	for id, by := range counts {
		h := &histogram{by: map[uint64]uint64{}}
		for turns, times := range by {
			h.by[turns] = times * entries
		}
		p.told[id] = h
	}
	return p.told[st]
}

// run goes once through a loop.
func (p *prover) run(st int32, variables map[string]int64, counts map[int32]map[uint64]uint64, budget *int) bool {
	c := p.statements[st].shape.counted
	v, ok := c.from(variables)
	if !ok {
		return false
	}
	turns := uint64(0)
	for {
		goes, ok := c.goesOn(v, variables)
		if !ok {
			return false
		}
		if !goes {
			break
		}
		if *budget--; *budget < 0 || v < -maxValue || v > maxValue {
			return false
		}
		turns++
		variables[c.variable] = v
		for _, in := range p.within(st) {
			if !p.run(in, variables, counts, budget) {
				return false
			}
		}
		variables[c.variable] = v
		v = c.next(v)
	}
	delete(variables, c.variable)
	if counts[st] == nil {
		counts[st] = map[uint64]uint64{}
	}
	counts[st][turns]++
	return true
}

// within are the counted loops that every turn of one reaches.
func (p *prover) within(st int32) []int32 {
	if in, ok := p.inner[st]; ok {
		return in
	}
	var in []int32
	for id := range p.statements {
		if sh := &p.statements[id].shape; sh.parent == st && sh.always && sh.counted != nil {
			in = append(in, int32(id))
		}
	}
	if p.inner == nil {
		p.inner = map[int32][]int32{}
	}
	p.inner[st] = in
	return in
}
