package tree

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/isobath/isobath/internal/base/term"
)

// tree makes rows of what was counted.
func (b *build) tree() *Tree {
	b.out.Recorded, b.out.Stopped = !b.rebuilt, b.stopped
	if b.out.Lost = b.lost; b.lost > 0 {
		b.out.Notes = append(b.out.Notes, fmt.Sprintf("%s of the references are at no place of the recorded way, as where contexts are switched: they are in no loop, and loops of theirs may be missing", term.Thousands(b.lost)))
	}
	for row := range b.members {
		b.out.Loops = append(b.out.Loops, b.row(row))
	}
	b.addInferred()
	b.recursions()
	b.costs()
	b.counts()
	b.countInferred()
	b.apart()
	b.sideBySide()
	b.intoItself()
	b.proven = map[int]bool{}
	b.prove()
	b.besideHooks()
	b.takeCourses()
	b.parents()
	b.intoItself() // whatever the text proves of one call
	b.exchanged()
	b.takeExits()
	b.vanished()
	b.cutShort()
	b.agree()
	b.outside()
	return &b.out
}

// row describes a loop without its counts.
func (b *build) row(row int) Loop {
	gr := &b.groups[b.members[row][0]]
	l := Loop{Kind: Plain, Home: b.functions[gr.function].name, Parent: -1, Factor: 1, Exact: !b.rebuilt}
	if len(gr.machines) > 0 { // else it went round nowhere in the code
		l.Head = b.basics[b.loops[gr.machines[0]].header].start
	}
	for _, g := range b.members[row] {
		for _, m := range b.groups[g].machines {
			l.Irreducible = l.Irreducible || b.loops[m].irreducible
			l.Versions++
		}
	}
	at := position{}
	if gr.statement >= 0 {
		st := &b.statements[gr.statement]
		at, l.Text = position{st.file, st.at}, st.text
	} else {
		at = b.loops[gr.machines[0]].source
		l.Text = lineOf(b.Source(at.file), at.line())
	}
	l.File, l.Line = at.file, at.line()
	l.Function = b.written(at, l.Home)
	if b.rebuilt {
		l.Why = "rebuilt from the instructions that make references: the recording has no control flow"
	}
	return l
}

// Where says where a loop stands: its line, or else its code, which every loop has.
func (l *Loop) Where() string {
	at := fmt.Sprintf("code at %#x", l.Head)
	switch {
	case l.Line > 0:
		at = fmt.Sprintf("%s:%d", filepath.Base(l.File), l.Line)
	case l.Function != "":
		at += " in " + l.Function
	}
	if l.Around {
		return "around " + at
	}
	return at
}

// written is the function in whose text a position stands.
func (b *build) written(at position, home string) string {
	for i := range b.instructions {
		if p := b.instructions[i].Place; p.File == at.file && p.Line == at.line() && p.Function != "" {
			return p.Function
		}
	}
	return home
}

// recursions adds a row for each function that calls itself.
func (b *build) recursions() {
	b.recursive = map[int32]int{}
	for n := range b.nodes {
		nd := &b.nodes[n]
		if nd.group >= 0 || nd.again == 0 {
			continue
		}
		row, ok := b.recursive[nd.function]
		if !ok {
			row = len(b.out.Loops)
			b.recursive[nd.function] = row
			l := Loop{Kind: Recursion, Function: b.functions[nd.function].name, Home: b.functions[nd.function].name, Parent: -1, Factor: 1, Versions: 1, Exact: !b.rebuilt, Head: b.functions[nd.function].start}
			l.File, l.Line = b.entry(nd.function)
			l.Text = lineOf(b.Source(l.File), l.Line)
			b.out.Loops = append(b.out.Loops, l)
		}
		l := &b.out.Loops[row]
		l.Entries += nd.calls - nd.again
		l.Trips.Trips += nd.calls
	}
}

// entry is the source line of a function's first instruction.
func (b *build) entry(fn int32) (string, int) {
	i, ok := slices.BinarySearchFunc(b.instructions, b.functions[fn].start, func(in instruction, pc uint64) int { return cmp.Compare(in.PC, pc) })
	if !ok {
		return "", 0
	}
	return b.instructions[i].Place.File, b.instructions[i].Place.Line
}

// costs adds up references: each counts for every loop around it once.
func (b *build) costs() {
	lines := make([]lineSet, len(b.out.Loops))
	objects := make([]map[uint32]uint64, len(b.out.Loops))
	accesses := make([]map[uint64]*access, len(b.out.Loops))
	for i := range b.out.Loops {
		objects[i], accesses[i] = map[uint32]uint64{}, map[uint64]*access{}
	}
	for n := range b.nodes {
		c := &b.nodes[n].cost
		if c.references == 0 {
			continue
		}
		own := true
		seen := map[int]bool{}
		for at := int32(n); at > 0; at = b.nodes[at].parent {
			row := b.rowOfNode(at)
			if row < 0 || seen[row] {
				continue
			}
			seen[row] = true
			for _, to := range append([]int{row}, b.outward(row)...) {
				mergeCost(&b.out.Loops[to], c)
				lines[to].merge(&c.lines)
				for id, times := range c.objects {
					objects[to][id] += times
				}
			}
			if own {
				b.out.Loops[row].Own += c.references
				for pc, a := range c.accesses {
					accesses[row][pc] = joinAccess(accesses[row][pc], a)
				}
			}
			own = false
		}
	}
	for i := range b.out.Loops {
		l := &b.out.Loops[i]
		l.Lines, l.LinesExact = lines[i].size()
		l.Objects = objectsOf(objects[i], b.about.Objects)
		for _, a := range accesses[i] {
			l.Accesses = append(l.Accesses, a.export(b.about.Places))
		}
		slices.SortFunc(l.Accesses, func(x, y Access) int { return cmp.Compare(x.PC, y.PC) })
	}
}

// joinAccess adds the same instruction on another path of calls. Strides that
// differ there are none.
func joinAccess(a, o *access) *access {
	if a == nil {
		c := *o
		return &c
	}
	a.times += o.times
	a.moves.irregular += o.moves.irregular
	for k := range a.moves.known {
		if a.moves.known[k] && o.moves.known[k] && a.moves.stride[k] != o.moves.stride[k] {
			a.moves.known[k] = false
			a.moves.irregular += o.times
		}
		if !a.moves.known[k] && o.moves.known[k] {
			a.moves.known[k], a.moves.stride[k] = true, o.moves.stride[k]
		}
	}
	return a
}

// counts decides how many turns each loop made.
func (b *build) counts() {
	code, marks := make([]tally, len(b.groups)), make([]tally, len(b.groups))
	even := make([]evenness, len(b.groups))
	for n := range b.nodes {
		if g := b.nodes[n].group; g >= 0 {
			code[g].merge(&b.nodes[n].entries)
			marks[g].merge(&b.nodes[n].begun)
			even[g].add(b.nodes[n].even)
		}
	}
	for row := range b.members {
		l := &b.out.Loops[row]
		b.entriesSure, b.turnsSure = append(b.entriesSure, !b.rebuilt), append(b.turnsSure, !b.rebuilt)
		var all histogram
		var unsupported Unknown
		for _, g := range b.members[row] {
			v := b.verdict(g, &code[g], &marks[g], even[g])
			if v.counts.trips().Entries == 0 {
				continue // a place that was never reached
			}
			all.merge(v.counts)
			unsupported.Entries, unsupported.Trips = unsupported.Entries || v.unsupported.Entries, unsupported.Trips || v.unsupported.Trips
			l.Factor = max(l.Factor, v.factor)
			b.entriesSure[row] = b.entriesSure[row] && v.entriesSure
			b.turnsSure[row] = b.turnsSure[row] && v.turnsSure
			if v.why != "" && l.Exact {
				l.Exact, l.Why = false, v.why
			}
		}
		if b.scattered(row) {
			b.entriesSure[row], unsupported.Entries = false, true
			if l.Exact {
				l.Exact, l.Why = false, whySeveral
			}
		}
		l.Trips = all.trips()
		b.unsupported = append(b.unsupported, unsupported)
	}
}

// agree leaves no estimate that contradicts another, and no count of a path that
// contradicts what is certain of all: what the text proves of a loop is that of its
// only path, and of several nobody knows which had how many.
func (b *build) agree() {
	paths := make([][]int, len(b.out.Loops))
	for i := range b.out.Nodes {
		at := b.out.Nodes[i].Loop
		paths[at] = append(paths[at], i)
	}
	for i := range b.out.Loops {
		l := &b.out.Loops[i]
		if l.Kind != Plain || !l.Exact {
			continue
		}
		entries, trips := uint64(0), uint64(0)
		for _, n := range paths[i] {
			entries, trips = entries+b.out.Nodes[n].Entries, trips+b.out.Nodes[n].Trips.Trips
		}
		for _, n := range paths[i] {
			switch to := &b.out.Nodes[n].Trips; {
			case len(paths[i]) == 1:
				*to = l.Trips
			case entries != l.Entries || trips != l.Trips.Trips:
				*to = Trips{Unknown: Unknown{true, true, true}}
			}
		}
	}
	for i := range b.out.Loops {
		if l := &b.out.Loops[i]; l.Kind == Plain && !l.Exact {
			b.supported(i, &l.Trips, l.References)
		}
	}
	for i := range b.out.Nodes {
		if n := &b.out.Nodes[i]; !b.out.Loops[n.Loop].Exact {
			b.supported(n.Loop, &n.Trips, n.References)
		}
	}
}

// supported takes back numbers that nothing speaks for, and those that contradict
// others.
func (b *build) supported(row int, t *Trips, references uint64) {
	var not Unknown
	if row < len(b.unsupported) {
		not = b.unsupported[row]
	}
	if not.Entries {
		t.Entries = 0
	}
	if not.Trips {
		t.Trips = 0
	}
	t.agree(references)
	if not != (Unknown{}) {
		t.Min, t.Median, t.Max, t.Skipped = 0, 0, 0, 0
		t.Unknown = Unknown{Entries: t.Unknown.Entries || not.Entries, Trips: t.Unknown.Trips || not.Trips, Spread: true}
	}
}

// takeCourses gives exact loops the order of their entries, where the code made
// each turn by itself.
func (b *build) takeCourses() {
	for row, groups := range b.members {
		l := &b.out.Loops[row]
		if c := &b.courses[groups[0]]; l.Exact && l.Factor == 1 && len(groups) == 1 && c.seen > 0 && c.seen == l.Entries && slices.Max(c.turns) <= l.Max && slices.Min(c.turns) >= l.Min {
			l.Course, l.CourseEvery = c.turns, c.every
		}
	}
}

// scattered reports whether a loop with a condition stands at several places of
// the code, so that a test of it may belong to either. Functions that were not put into
// others have their tests for themselves, as the copies of a template.
func (b *build) scattered(row int) bool {
	places := map[int32]int{} // by function; those in others together
	for _, g := range b.members[row] {
		gr := &b.groups[g]
		if gr.statement < 0 || len(gr.machines) == 0 || b.statements[gr.statement].endless || b.opens(gr) {
			continue
		}
		of := int32(-1)
		if bareName(b.functions[gr.function].name) == b.statements[gr.statement].shape.function {
			of = gr.function
		}
		places[of]++
	}
	most := 0
	for _, n := range places {
		most = max(most, n)
	}
	return most > 1 || places[-1] > 0 && len(places) > 1
}

// parents finds the loop around each: on the path with the most references.
func (b *build) parents() {
	best := make([]uint64, len(b.out.Loops))
	total := make([]uint64, len(b.nodes))
	for n := len(b.nodes) - 1; n > 0; n-- { // children come after their parents
		total[n] += b.nodes[n].cost.references
		total[b.nodes[n].parent] += total[n]
	}
	index := map[int32]int{}
	for n := range b.nodes {
		nd := &b.nodes[n]
		row := b.rowOfNode(int32(n))
		if row < 0 {
			continue
		}
		up := nd.parent
		var path []string
		for ; up > 0 && b.rowOfNode(up) < 0; up = b.nodes[up].parent {
			path = append(path, b.nameOf(b.nodes[up].function))
		}
		slices.Reverse(path)
		if nd.group >= 0 {
			node := Node{Loop: row, Parent: -1, Path: path, Trips: b.verdict(nd.group, &nd.entries, &nd.begun, nd.even).counts.trips(), References: total[n], Bytes: nd.cost.bytes}
			if at, ok := index[up]; ok {
				node.Parent = at
			}
			index[int32(n)] = len(b.out.Nodes)
			b.out.Nodes = append(b.out.Nodes, node)
		}
		if total[n] >= best[row] {
			best[row] = total[n]
			b.out.Loops[row].Parent = -1
			if up > 0 {
				b.out.Loops[row].Parent = b.rowOfNode(up)
			}
		}
	}
	b.unround()
	b.nestInferred()
	b.depths()
}

// rowOfNode is the row of a loop, or of a function that calls itself; -1 for
// other calls.
func (b *build) rowOfNode(n int32) int {
	nd := &b.nodes[n]
	if nd.group >= 0 {
		return b.rowOf[nd.group]
	}
	if row, ok := b.recursive[nd.function]; ok && nd.again > 0 {
		return row
	}
	return -1
}

// unround takes the parents of loops that would lie around themselves: on the
// path with the most references each may lie in the other.
func (b *build) unround() {
	for i := range b.out.Loops {
		at := b.out.Loops[i].Parent
		for steps := 0; at >= 0 && at != i && steps < len(b.out.Loops); steps++ {
			at = b.out.Loops[at].Parent
		}
		if at >= 0 {
			b.out.Loops[i].Parent = -1
		}
	}
}

func (b *build) depths() {
	for i := range b.out.Loops {
		depth := 0
		for p := b.out.Loops[i].Parent; p >= 0 && depth < len(b.out.Loops); p = b.out.Loops[p].Parent {
			depth++
		}
		b.out.Loops[i].Depth = depth
	}
}

func (b *build) nameOf(fn int32) string {
	if f := &b.functions[fn]; f.name != "" {
		return f.name
	}
	return fmt.Sprintf("%#x", b.functions[fn].start)
}

func (b *build) outside() {
	for n := range b.nodes {
		at := int32(n)
		for at > 0 && b.rowOfNode(at) < 0 {
			at = b.nodes[at].parent
		}
		if at <= 0 {
			b.out.Outside += b.nodes[n].cost.references
		}
	}
}
