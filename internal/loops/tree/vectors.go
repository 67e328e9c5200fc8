package tree

import (
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/flow"
)

// Loops of which one turn of the code is several of the source.

// movesVectors is why the turns of a loop are doubted that only moves.
const movesVectors = "it moves whole vectors, so that one turn of the code may be several of the source"

// sideBySide doubts loops of which an inner one works on several turns at once: its
// vectors do not lie along its own steps but along those of a loop around it, which
// then goes on by a whole vector a turn. The inner loop is entered once for all of
// them.
func (b *build) sideBySide() {
	doubt := func(row int, why string) {
		b.entriesSure[row], b.turnsSure[row] = false, false
		if l := &b.out.Loops[row]; l.Exact {
			l.Exact, l.Why = false, why
		}
	}
	for n := range b.nodes {
		row := b.rowOfNode(int32(n))
		if row < 0 || b.nodes[n].group < 0 || b.out.Loops[row].Factor < 2 && b.out.Loops[row].Why != movesVectors {
			continue
		}
		for _, a := range b.nodes[n].cost.accesses {
			steps := func(k int) bool { // by a whole vector
				return a.moves.known[k] && max(a.moves.stride[k], -a.moves.stride[k]) == int64(a.size)
			}
			if a.size <= 8 || !a.moves.known[0] || steps(0) {
				continue
			}
			up := int32(n)
			for k := 1; k < len(a.moves.known); k++ {
				for up = b.nodes[up].parent; up > 0 && b.nodes[up].group < 0; {
					up = b.nodes[up].parent
				}
				if up <= 0 {
					break
				}
				if steps(k) {
					doubt(b.rowOfNode(up), "a loop inside it works on several of its turns side by side")
					doubt(row, "it works on several turns of a loop around it side by side, for all of which it is entered once")
				}
			}
		}
	}
}

// unpack counts the turns of a loop on vectors by the bytes of its accesses: each
// position of the source touches one element a turn. That is certain where all
// stores are told apart and agree.
func (b *build) unpack(gr *group, element uint64, v *verdict) {
	if element == 0 && v.factor == 1 { // only moves, which may be of anything
		v.why = movesVectors
		return
	}
	stores, loads, plain, untold := b.elements(gr, element)
	most, same := uint64(0), true
	for _, n := range stores {
		same = same && (most == 0 || n == most)
		most = max(most, n)
	}
	if len(stores) == 0 {
		for _, n := range loads {
			most = max(most, n)
		}
	}
	v.why = "one turn of the code works on several turns of the source side by side; they are counted by the bytes they touch"
	entries := uint64(0)
	for _, times := range v.counts.by {
		entries += times
	}
	if most == 0 || entries == 0 || v.counts.rest > 0 || untold { // what is left may be the rest after the vectors
		v.why, v.unsupported.Trips = "one turn of the code works on several turns of the source side by side", true
		return
	}
	if most%entries == 0 && len(v.counts.by) == 1 {
		v.counts.by = map[uint64]uint64{most / entries: entries}
	} else {
		v.counts.spread(most)
	}
	st := &b.statements[gr.statement]
	v.unsupported.Trips = !same || len(stores) == 0 || len(stores) != st.stores
	if same && plain && st.straight && len(stores) > 0 && len(stores) == st.stores && len(v.counts.by) == 1 {
		v.why = ""
	}
}

// copies returns how many copies of an access that moves with the turns a loop
// has: more than one where it was unrolled.
func (b *build) copies(g int32) int {
	type operand struct {
		position
		op     refs.Op
		size   uint32
		stride int64
	}
	most := 0
	for n := range b.nodes {
		if b.nodes[n].group != g {
			continue
		}
		count := map[operand]map[uint64]bool{} // by where they would be in turn 0
		for pc, a := range b.nodes[n].cost.accesses {
			in := b.instructionAt(pc)
			if in == nil || !a.moves.known[0] || a.moves.stride[0] == 0 || a.moves.irregular > 0 {
				continue
			}
			o := operand{positionOf(in), a.op, a.size, a.moves.stride[0]}
			if o.column() == 0 {
				continue // several accesses of a line cannot be told apart
			}
			if count[o] == nil {
				count[o] = map[uint64]bool{}
			}
			count[o][a.moves.base()] = true
		}
		for o, bases := range count {
			if n := len(bases); uint64(n) <= magnitude(o.stride) && spread(bases) < magnitude(o.stride) {
				most = max(most, n)
			}
		}
	}
	return most
}

func magnitude(n int64) uint64 { return uint64(max(n, -n)) }

// spread is how far the places of copies are apart: those of one turn lie within
// its stride, other arrays do not.
func spread(bases map[uint64]bool) uint64 {
	low, high := ^uint64(0), uint64(0)
	for at := range bases {
		low, high = min(low, at), max(high, at)
	}
	return high - low
}

// elements returns for each position of a statement's stores and loads how many
// elements they touch. Plain says that each position of a store also ran one
// element at a time, which tells the size; untold that some stored whole vectors of
// elements of an unknown size.
func (b *build) elements(gr *group, element uint64) (stores, loads map[position]uint64, plain, untold bool) {
	stores, loads, plain = map[position]uint64{}, map[position]uint64{}, true
	type operand struct {
		position
		store bool
	}
	smallest, bytes := map[operand]uint64{}, map[operand]uint64{}
	single := map[operand]uint64{}
	for n := range b.nodes {
		if !b.nodeOfStatement(int32(n), gr) {
			continue
		}
		for pc, a := range b.nodes[n].cost.accesses {
			in := b.instructionAt(pc)
			if in == nil {
				continue
			}
			p := positionOf(in)
			if p.line() == 0 || b.innermostOf(p) != gr.statement {
				continue
			}
			size := uint64(a.size)
			if element > 0 {
				size = min(size, element)
			}
			o := operand{p, a.op != refs.Load}
			if smallest[o] == 0 || size < smallest[o] {
				smallest[o] = size
			}
			bytes[o] += a.times * uint64(a.size)
			if in.Element == 0 && (single[o] == 0 || uint64(a.size) < single[o]) {
				single[o] = uint64(a.size)
			}
		}
	}
	for o, n := range bytes {
		switch {
		case smallest[o] == 0 || smallest[o] >= vectorBytes: // what it moves is not known
			untold = untold || o.store
		case o.store:
			plain = plain && single[o] == smallest[o]
			stores[o.position] = n / smallest[o]
		default:
			loads[o.position] = n / smallest[o]
		}
	}
	return stores, loads, plain, untold
}

// nodeOfStatement reports whether references of a node can be of a statement:
// its own nodes and those directly around them, where copies of its turns are.
func (b *build) nodeOfStatement(n int32, gr *group) bool {
	nd := &b.nodes[n]
	if nd.function != gr.function {
		return false
	}
	if nd.group < 0 {
		return gr.parent < 0
	}
	other := &b.groups[nd.group]
	return other.statement == gr.statement && other.parent == gr.parent || nd.group == gr.parent
}

// vectorBytes is the shortest vector.
const vectorBytes = 16

// packed returns how many turns of the source one turn of the code does at most,
// as vector instructions tell, and the size of the elements they compute with: 0
// if that is not one size. One lane is several of an unknown size, none is a
// plain loop.
func (b *build) packed(gr *group) (lanes int, element uint64) {
	sizes := map[uint64]bool{}
	look := func(id int32, around int32) {
		list := b.listing(id)
		for i := range list {
			in := &list[i]
			if in.Element == 0 {
				continue
			}
			st := b.innermostOf(positionOf(in))
			nested := st >= 0 && b.inStatement(st, gr.statement)
			if st != gr.statement && (!nested || b.hasLoop(around, st)) && (nested || around < 0) {
				continue
			}
			lanes = max(lanes, 1)
			if in.Element != flow.Wide {
				sizes[uint64(in.Element)] = true
				lanes = max(lanes, vectorBytes/int(in.Element))
			}
		}
	}
	for _, m := range gr.machines {
		for _, id := range b.loops[m].blocks {
			if b.loopOf[id] == m {
				look(id, m)
			}
		}
	}
	for id := range b.basics {
		if b.owner[id] == gr.function && (b.loopOf[id] < 0 && gr.parent < 0 || b.loopOf[id] >= 0 && b.groupOf[b.loopOf[id]] == gr.parent) {
			look(int32(id), -1)
		}
	}
	if len(sizes) == 1 {
		for element = range sizes {
		}
	}
	return lanes, element
}
