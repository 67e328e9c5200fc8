package tree

import (
	"context"
	"slices"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/flow"
)

// group is the loops of the code that one statement became at one place: a loop
// on vectors with the rest after it, or two versions of which one runs.
type group struct {
	function  int32
	parent    int32 // the group around it in the function; -1 if none
	statement int32
	machines  []int32
}

// node is a loop, or a call, on one path of calls.
type node struct {
	parent   int32
	function int32
	group    int32 // -1 for a call
	children map[int32]int32
	// calls counts how often a function was entered, again how often while it
	// was under way already.
	calls, again uint64
	entries      tally // by the turns of the code
	begun        tally // by the marks of the source
	even         evenness
	cost         cost
}

// walker follows threads a second time, with the loops known, and counts.
type walker struct {
	*forest
	groups  []group
	groupOf []int32            // of each loop of the code
	parts   []int32            // the place of each loop of the code in its group
	passes  [][]uint64         // turns of the passes of each loop of the code; see inferred
	courses []course           // by group
	exits   [][]step           // by loop of the code: the basics it was left from
	inside  map[[3]int32]int32 // groups by function, group around them, statement
	stray   map[[2]int32]int32 // one group for each function and statement
	nodes   []node
	threads map[uint32]*thread
	flows   map[uint32]*flow.Thread
	// loose are the groups without a loop of the code that instructions belong to.
	loose  map[uint64]int32
	blocks int
	lost   uint64 // references that no block explains
	// midway are functions that a thread was in when its recording began.
	midway map[int32]bool
	// unfinished says that a loop was under way when the recording ended.
	unfinished bool
	// unwound says that calls were left other than by returning.
	unwound bool
	// stopped says that the recording ended while the program went on, open what was
	// under way then.
	stopped bool
	open    underWay
}

// thread is where a thread stands in both walks.
type thread struct {
	stack
	cursor *flow.Cursor
	cut    bool
	ended  bool
	block  uint32
	next   int32 // the first basic of the block that was not come to yet, and the end
	end    int32
	active []active
}

// active is a loop under way, or the part of a call that is in no loop.
type active struct {
	node    int32
	machine int32 // -1 for a call
	turn    uint64
	body    bool   // this turn ran more than the test
	marks   uint32 // of its statement, in this turn
	touched []touch
	passes  []uint64 // of its machine
}

// touch is a statement within one turn of what is around it.
type touch struct {
	node  int32
	group int32
	turns turns
	ran   uint32 // the parts that ran, a bit each
	begun uint32 // turns by the marks of the source
	open  bool   // a mark told of the entry
}

// turns are the turns of one entry, by part of the group. Parts beyond the last
// are added up there.
type turns [maxParts]uint32

const maxParts = 4

func newWalker(f *forest, t *flow.Trace) *walker {
	w := &walker{forest: f, groupOf: filled(len(f.loops)), parts: make([]int32, len(f.loops)), passes: make([][]uint64, len(f.loops)), inside: map[[3]int32]int32{}, threads: map[uint32]*thread{}, flows: map[uint32]*flow.Thread{}, blocks: len(t.Blocks)}
	w.stopped, w.open.nodes = t.Stopped, map[int32]bool{}
	for i := range t.Threads {
		w.flows[t.Threads[i].ID] = &t.Threads[i]
		w.stopped = w.stopped || t.Threads[i].Cut()
	}
	for l := range f.loops {
		w.join(int32(l))
	}
	w.unrolled()
	w.stray = map[[2]int32]int32{}
	w.midway = map[int32]bool{}
	for g, gr := range w.groups {
		if gr.statement >= 0 {
			w.stray[[2]int32{gr.function, gr.statement}] = int32(g)
		}
	}
	w.findLoose()
	w.courses = make([]course, len(w.groups))
	w.exits = make([][]step, len(f.loops))
	w.nodes = []node{{parent: -1, function: -1, group: -1, children: map[int32]int32{}}}
	return w
}

// join puts a loop of the code into its group. Loops are listed outermost
// first.
func (w *walker) join(l int32) {
	m := &w.loops[l]
	parent := int32(-1)
	if m.parent >= 0 {
		parent = w.groupOf[m.parent]
	}
	key := [3]int32{m.function, parent, m.statement}
	if m.statement < 0 {
		key[2] = -2 - l // each its own
	}
	g, ok := w.inside[key]
	if !ok {
		g = int32(len(w.groups))
		w.inside[key] = g
		w.groups = append(w.groups, group{function: m.function, parent: parent, statement: m.statement})
	}
	w.groupOf[l] = g
	w.parts[l] = int32(min(len(w.groups[g].machines), maxParts-1))
	w.groups[g].machines = append(w.groups[g].machines, l)
}

// unrolled adds groups for statements of which turns are seen in the code, but
// no loop: they were unrolled, or never went round.
func (w *walker) unrolled() {
	for b, begun := range w.begun {
		for _, st := range slices.Concat(begun, w.present[b]) {
			if _, ok := w.groupAt(int32(b), st); ok {
				continue
			}
			parent := int32(-1)
			if l := w.loopOf[b]; l >= 0 {
				parent = w.groupOf[l]
			}
			g := int32(len(w.groups))
			w.inside[[3]int32{w.owner[b], parent, st}] = g
			w.groups = append(w.groups, group{function: w.owner[b], parent: parent, statement: st})
		}
	}
}

// groupAt returns the group of a statement that the code of a basic is part of:
// that of a loop around it, or that which one of those loops contains.
func (w *walker) groupAt(b, st int32) (int32, bool) {
	for l := w.loopOf[b]; ; l = w.loops[l].parent {
		parent := int32(-1)
		if l >= 0 {
			if parent = w.groupOf[l]; w.loops[l].statement == st {
				return parent, true
			}
		}
		if g, ok := w.inside[[3]int32{w.owner[b], parent, st}]; ok {
			return g, true
		}
		if l < 0 {
			return 0, false
		}
	}
}

// child returns the node below another; calls have the keys below zero.
func (w *walker) child(parent, key int32, make func() node) int32 {
	id, ok := w.nodes[parent].children[key]
	if !ok {
		n := make()
		n.parent, n.children = parent, map[int32]int32{}
		id = int32(len(w.nodes))
		w.nodes = append(w.nodes, n)
		w.nodes[parent].children[key] = id
	}
	return id
}

func (w *walker) loopNode(parent, g int32) int32 {
	return w.child(parent, g, func() node { return node{function: w.groups[g].function, group: g} })
}

// callNode is the node of a call. A function that is under way already is the
// same node: recursion is a loop of calls.
func (w *walker) callNode(parent, function int32) int32 {
	for n := parent; n > 0; n = w.nodes[n].parent {
		if w.nodes[n].group < 0 && w.nodes[n].function == function {
			w.nodes[n].again++
			return n
		}
	}
	return w.child(parent, -1-function, func() node { return node{function: function, group: -1} })
}

// thread returns the state of a thread.
func (w *walker) thread(id uint32) *thread {
	t := w.threads[id]
	if t == nil {
		t = &thread{}
		t.stack = stack{code: w.code, visit: &threadVisitor{w, t}}
		if way := w.flows[id]; way != nil {
			t.cursor = way.Cursor(w.blocks)
			t.cut = way.Cut()
		} else {
			t.ended = true
		}
		w.threads[id] = t
	}
	return t
}

// next moves a thread on by one block.
func (w *walker) next(t *thread) bool {
	b, ok := t.cursor.Next()
	if !ok {
		t.ended = true
		return false
	}
	t.advance(t.end)
	t.block, t.next, t.end = b, w.of[b][0], w.of[b][1]
	if w.stopped { // in this block, it may be: what follows its start is sure once something of it was seen
		t.advance(t.next + 1)
	} else {
		t.advance(t.end)
	}
	return true
}

// advance enters the basics of a thread's block up to one.
func (t *thread) advance(end int32) {
	for ; t.next < end; t.next++ {
		t.enter(t.next)
	}
}

// place returns the node that a reference belongs to; 0 is none.
func (w *walker) place(r *refs.Ref) (int32, *thread) {
	t := w.thread(r.Thread)
	if r.Enters || len(t.frames) == 0 {
		for {
			if t.ended || !w.next(t) {
				w.lost++
				return 0, t
			}
			if w.holds(t.block, r.PC) {
				break
			}
		}
	}
	for t.next < t.end && w.basics[t.next].start <= r.PC {
		t.advance(t.next + 1)
	}
	if len(t.active) == 0 {
		return 0, t
	}
	n := w.nodeOf(t, r.PC)
	if g, ok := w.loose[r.PC]; ok && w.groups[g].parent == w.nodes[n].group && w.groups[g].function == w.nodes[n].function {
		n = w.loopNode(n, g)
	}
	return n, t
}

// findLoose finds the instructions of statements that no loop of the code is left
// of.
func (w *walker) findLoose() {
	w.loose = map[uint64]int32{}
	for b := range w.basics {
		if w.owner[b] < 0 {
			continue
		}
		list := w.listing(int32(b))
		for i := range list {
			if !list[i].Loads && !list[i].Stores {
				continue
			}
			st := w.innermostOf(positionOf(&list[i]))
			if st < 0 {
				continue
			}
			if g, ok := w.groupAt(int32(b), st); ok && len(w.groups[g].machines) == 0 {
				w.loose[list[i].PC] = g
			}
		}
	}
}

// holds reports whether a recorded block contains an instruction.
func (w *walker) holds(block uint32, pc uint64) bool {
	o := w.of[block]
	return pc-w.basics[o[0]].start < w.basics[o[1]-1].end-w.basics[o[0]].start
}

// nodeOf is the node of an instruction of the block that ran last. A block of
// several basics may begin outside a loop and end in it.
func (w *walker) nodeOf(t *thread, pc uint64) int32 {
	n := t.active[len(t.active)-1]
	o := w.of[t.block]
	if o[1]-o[0] == 1 || n.machine < 0 {
		return n.node
	}
	for v := o[0]; v < o[1]; v++ {
		if !w.basics[v].contains(pc) {
			continue
		}
		for i := len(t.active) - 1; i >= t.top().mark; i-- {
			if a := &t.active[i]; a.machine < 0 || w.loopOf[v] >= 0 && w.contains(a.machine, w.loopOf[v]) {
				return a.node
			}
		}
	}
	return n.node
}

// finish runs what threads did after their last reference, and closes what is
// open.
func (w *walker) finish(ctx context.Context) error {
	ids := make([]uint32, 0, len(w.flows))
	for id := range w.flows {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		t := w.thread(id)
		for n := 1; !t.cut && !t.ended && w.next(t); n++ {
			if n%checkEvery == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		if w.stopped {
			w.open.stop(w, t)
		}
		w.unfinished = w.unfinished || w.stopped || slices.ContainsFunc(t.active, func(a active) bool { return a.machine >= 0 })
		w.unwound = w.unwound || t.unwound
		t.popTo(0)
	}
	return nil
}

// threadVisitor is the walker for one thread.
type threadVisitor struct {
	*walker
	t *thread
}

func (v *threadVisitor) call(s *stack, b int32) {
	t := v.t
	parent := int32(0)
	if n := len(t.active); n > 0 {
		parent = t.active[n-1].node
	}
	id := v.callNode(parent, s.top().function)
	v.nodes[id].calls++
	if f := s.top().function; v.functions[f].start != v.basics[b].start {
		v.midway[f] = true
	}
	s.top().mark = len(t.active)
	t.active = append(t.active, active{node: id, machine: -1})
	v.arrive(b)
}

func (v *threadVisitor) leave(s *stack) {
	for len(v.t.active) > s.top().mark {
		v.close(s.top().at)
	}
}

// close ends the innermost loop or call, which the thread leaves from a basic.
func (v *threadVisitor) close(from int32) {
	t := v.t
	n := len(t.active) - 1
	a := &t.active[n]
	if a.machine >= 0 {
		v.exits[a.machine] = onceMore(v.exits[a.machine], from)
	}
	v.settle(a, true)
	t.active = t.active[:n]
	if a.machine < 0 || n == 0 {
		return
	}
	done := a.turn
	if (a.body || !v.loops[a.machine].bounded) && !v.loops[a.machine].endsTested {
		done++
		if a.marks == 0 {
			v.nodes[a.node].even.unmarked++
			if v.endedBy(a.machine, from) {
				v.nodes[a.node].even.ended++
			}
		}
	}
	around := &t.active[n-1]
	for i := range around.touched {
		if around.touched[i].node == a.node {
			around.touched[i].turns[v.parts[a.machine]] += uint32(done)
		}
	}
}

// endedBy reports whether a basic decides by the condition of a loop's statement, and
// has nothing of a turn.
func (v *threadVisitor) endedBy(m, b int32) bool {
	st := v.loops[m].statement
	if st < 0 || b < 0 || v.basics[b].ending != flow.Branch {
		return false
	}
	s := &v.statements[st]
	p, ok := v.branch(b)
	if !v.branchCalledBy(b, s.cond, s.file) && !(ok && p.file == s.file && s.cond.covers(p)) {
		return false
	}
	list := v.listing(b)
	return s.unproved || !slices.ContainsFunc(list, func(in instruction) bool {
		p := positionOf(&in)
		return p.file == s.file && p.column() > 0 && (s.step.contains(p.at) || s.body.contains(p.at))
	})
}

// settle counts the statements that were reached in the turn that ends. One that
// was only opened may run in the next.
func (v *threadVisitor) settle(a *active, last bool) {
	kept := a.touched[:0]
	for i := range a.touched {
		u := &a.touched[i]
		if u.open && u.ran == 0 && u.begun == 0 && !last {
			kept = append(kept, *u)
			continue
		}
		v.count(u)
	}
	a.touched = kept
}

func (v *threadVisitor) edge(s *stack, u, b int32) {
	t := v.t
	l := v.loopAt(b)
	a := &t.active[len(t.active)-1]
	if a.machine == l { // nothing is left, at most entered anew
		if l >= 0 && v.loops[l].header == b {
			v.turn(a)
		}
		v.arrive(b)
		return
	}
	for a.machine >= 0 && (l < 0 || !v.contains(a.machine, l)) {
		v.close(u)
		a = &t.active[len(t.active)-1]
	}
	if a.machine >= 0 && v.loops[a.machine].header == b {
		v.turn(a)
	}
	v.arrive(b)
}

// loopAt is the innermost loop that a thread comes to with a basic. A twin is entered
// by its header alone: what else it has may be run by the loop around it too.
func (v *threadVisitor) loopAt(b int32) int32 {
	l := v.loopOf[b]
	for l >= 0 && v.loops[l].twin && v.loops[l].header != b && !v.underWay(l) {
		l = v.loops[l].parent
	}
	return l
}

// underWay reports whether a loop of the function that runs is.
func (v *threadVisitor) underWay(l int32) bool {
	return slices.ContainsFunc(v.t.active[v.t.top().mark:], func(a active) bool { return a.machine == l })
}

// turn ends one turn of a loop and begins the next.
func (v *threadVisitor) turn(a *active) {
	v.settle(a, false)
	a.turn++
	if a.marks == 1 {
		v.nodes[a.node].even.even++
	} else {
		v.nodes[a.node].even.uneven++
	}
	a.body, a.marks = false, 0
}

// arrive enters the loops around a basic that are not under way, and notes what
// the basic means for the one it is in.
func (v *threadVisitor) arrive(b int32) {
	t := v.t
	l := v.loopAt(b)
	if a := &t.active[len(t.active)-1]; a.machine != l {
		v.open(a.machine, l)
	}
	a := &t.active[len(t.active)-1]
	if !v.test[b] {
		a.body = true
	}
	if st := v.guard[b]; st >= 0 {
		v.attempt(a, b, st)
	}
	for _, st := range v.opened[b] {
		if u := v.reach(b, st, false); u != nil {
			if u.open || u.ran != 0 || u.begun != 0 {
				v.count(u)
			}
			u.open = true
		}
	}
	for _, st := range v.begun[b] {
		if u := v.reach(b, st, true); u != nil {
			u.begun++
		}
	}
	for _, st := range v.present[b] {
		v.reach(b, st, false)
	}
}

// reach returns what is counted of a statement whose mark is in a basic: of the
// innermost loop under way with that statement, or of the one that contains it.
// Copies behind the end of a loop around it count where they are.
func (v *threadVisitor) reach(b, st int32, turn bool) *touch {
	t := v.t
	low := t.top().mark
	for i := len(t.active) - 1; i > low; i-- {
		if a := &t.active[i]; a.machine >= 0 && v.loops[a.machine].statement == st {
			if !turn {
				return nil // an entry that begins in its own loop tells nothing
			}
			a.marks++
			return v.touch(&t.active[i-1], a.node, v.groupOf[a.machine])
		}
	}
	for i := len(t.active) - 1; i >= low; i-- {
		a := &t.active[i]
		parent := int32(-1)
		if a.machine >= 0 {
			parent = v.groupOf[a.machine]
		}
		if g, ok := v.inside[[3]int32{v.owner[b], parent, st}]; ok {
			return v.touch(a, v.loopNode(a.node, g), g)
		}
	}
	if g, ok := v.stray[[2]int32{v.owner[b], st}]; ok && turn {
		a := &t.active[len(t.active)-1]
		return v.touch(a, v.loopNode(a.node, g), g)
	}
	return nil
}

// course is the turns of entries in the order they came, thinned to a bound.
type course struct {
	turns []uint64
	every uint64 // entries that each of them stands for
	seen  uint64
}

// maxCourse bounds the entries that are kept in order.
const maxCourse = 512

func (c *course) add(n uint64) {
	if c.every == 0 {
		c.every = 1
	}
	if c.seen%c.every == 0 {
		if len(c.turns) == maxCourse {
			for i := range maxCourse / 2 {
				c.turns[i] = c.turns[2*i]
			}
			c.turns = c.turns[:maxCourse/2]
			c.every *= 2
		}
		if c.seen%c.every == 0 {
			c.turns = append(c.turns, n)
		}
	}
	c.seen++
}

// count ends an entry.
func (v *threadVisitor) count(u *touch) {
	total := uint64(0)
	for _, n := range u.turns {
		total += uint64(n)
	}
	v.courses[u.group].add(total)
	v.nodes[u.node].entries.add(u.turns)
	v.nodes[u.node].begun.add(turns{u.begun})
	if u.ran == 0 && u.begun > 0 {
		v.nodes[u.node].even.astray++
	}
	*u = touch{node: u.node, group: u.group}
}

// open enters the loops between one and another inside it, outermost first.
func (v *threadVisitor) open(from, to int32) {
	if to == from || to < 0 {
		return
	}
	v.open(from, v.loops[to].parent)
	t := v.t
	a := &t.active[len(t.active)-1]
	a.body = true
	g := v.groupOf[to]
	n := v.loopNode(a.node, g)
	u := v.touch(a, n, g)
	bit := uint32(1) << v.parts[to]
	if u.ran&bit != 0 { // the same code again: the statement was reached again
		v.count(u)
	}
	u.ran |= bit
	t.active = append(t.active, active{node: n, machine: to, passes: v.passes[to]})
}

func (v *threadVisitor) touch(a *active, n, g int32) *touch {
	for i := range a.touched {
		if a.touched[i].node == n {
			return &a.touched[i]
		}
	}
	a.touched = append(a.touched, touch{node: n, group: g})
	return &a.touched[len(a.touched)-1]
}

// attempt notes that the condition of a statement is tested before its loop is
// entered: if it is not, that was an entry without a turn.
func (v *threadVisitor) attempt(a *active, b, st int32) {
	parent := int32(-1)
	if a.machine >= 0 {
		parent = v.groupOf[a.machine]
	}
	if g, ok := v.inside[[3]int32{v.owner[b], parent, st}]; ok {
		v.touch(a, v.loopNode(a.node, g), g) // which a mark or a turn may open
	}
}
