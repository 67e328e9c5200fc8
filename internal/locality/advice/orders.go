package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/locality/replay"
)

// tiles are the sizes of blocks that are tried.
var tiles = []int{8, 16, 32, 64}

// maxPermuted is how many loops of a nest are exchanged.
const maxPermuted = 4

const legalText = "every one of %d references keeps its result for this input: each byte sees its stores in the same order, and each load lies between the same two stores"

// orders tries other orders of the loops that the addresses show.
func (f *finder) orders() (out []*Advice, err error) {
	if !f.wants(Interchange) && !f.wants(Block) || f.Object != "" {
		return nil, nil
	}
	nests, refused := replay.FindNests(f.trace)
	f.noteRefused(refused)
	var deps *replay.Dependences
	for _, n := range nests {
		if len(n.Trips) < 2 || !n.Stores(f.trace) || uint64(n.Turns())*uint64(len(n.Body)) < uint64(len(f.trace.Accesses))/20 {
			continue
		}
		if deps == nil {
			deps = replay.NewDependences(f.trace)
		}
		found, err := f.ordersOf(n, deps)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

// leastPass is from how many turns with equal steps on they are a pass of a loop.
const leastPass = 2

// noteRefused says once of each place which loops have no other order.
func (f *finder) noteRefused(refused []replay.Refused) {
	var said []string
	at := map[string]bool{}
	for _, r := range refused {
		if max(r.Length, r.Other) <= leastPass {
			continue // steps that are never equal for long: not passes of a loop
		}
		place := placeText(f.trace.Place(&f.trace.Accesses[r.At]))
		if at[place] {
			continue
		}
		at[place] = true
		said = append(said, fmt.Sprintf("%s (%d and %d turns)", cmp.Or(place, "code without lines"), r.Length, r.Other))
	}
	if len(said) > 0 {
		f.note("loops keep their order where passes of equal steps are not equally long: %s", strings.Join(said, ", "))
	}
}

// ordersOf tries the orders of one nest, and says of those worth it why they
// are.
func (f *finder) ordersOf(n *replay.Nest, deps *replay.Dependences) (out []*Advice, err error) {
	withheld, counters, held := 0, 0, f.holdsOnStack(n)
	named := f.naming(n)
	for _, c := range f.loopOrders(n, named, deps) {
		order := n.Order(f.trace, c.loops)
		legal := deps.Keeps(order)
		if !legal && !f.Reassociate {
			withheld++
			if held && deps.ChangesOnly(order, f.onStack) {
				counters++
			}
			f.tried()
			continue
		}
		a, err := f.tryOrder(n, c, named, order, legal)
		if err != nil {
			return nil, err
		}
		if a != nil {
			out = append(out, a)
		}
	}
	if counters > 0 {
		f.note("%s of the loops %s not offered because of variables on the stack alone, such as the counters of loops in code that is not optimised: record a build with -O1 or -O2, which keeps them in registers",
			term.Counted(counters, "order"), named.where)
	}
	if withheld > counters {
		f.note("%s of the loops %s not offered: a byte would see its accesses in another order, which only a sum or the like survives (--reassociate)",
			term.Counted(withheld-counters, "order"), named.where)
	}
	if len(out) > 0 {
		carried, why := f.carriedBy(n, named)
		for _, a := range out {
			a.Carried, a.Why = carried, why
		}
	}
	return out, nil
}

// holdsOnStack reports whether the innermost loop comes back to one place of a stack,
// as to a counter; an array that is filled there is not held.
func (f *finder) holdsOnStack(n *replay.Nest) bool {
	inner := n.Strides[len(n.Strides)-1]
	for i := n.From(); i < n.To(); i++ {
		if a := &f.trace.Accesses[i]; f.onStack(a) {
			if k := slices.Index(n.Body, a.Code); k >= 0 {
				return inner[k] == 0
			}
		}
	}
	return false
}

// onStack reports whether an access is to a stack.
func (f *finder) onStack(a *replay.Access) bool {
	o := f.table.Objects[a.Object]
	return o != nil && o.Stack
}

// carriedBy says which loop carries the reuses that the first level does not
// hold: what an order of the loops is to bring nearer.
func (f *finder) carriedBy(n *replay.Nest, named loopNaming) ([]CarriedReuse, string) {
	l1 := &f.Machine.Levels[0]
	lines := l1.Size / l1.Line
	var out []CarriedReuse
	why := ""
	for _, c := range n.Carried(f.trace, l1.Line, uint32(lines)) {
		r := CarriedReuse{Carried: c, By: "a turn of its own"}
		switch {
		case c.Loop == replay.AroundNest:
			r.By = "the nest run again"
		case c.Loop >= 0:
			r.By = "loop " + named.name(c.Loop)
		}
		if o := f.table.Objects[c.Object]; o != nil {
			r.Object = o.Name
		}
		out = append(out, r)
		if why == "" && c.Far > 0 && c.Object != 0 {
			why = fmt.Sprintf("lines of %s are used again %d times by %s, %d lines later on average: %d of these reuses lie beyond the %d lines of %s",
				r.Object, c.Reuses, r.By, c.Lines/c.Reuses, c.Far, lines, l1.Name)
		}
	}
	return out, why
}

// placeText is a place in the source; empty if it is not known.
func placeText(p refs.Place) string {
	if p.Line > 0 {
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return ""
}

// linesOf are the first and the last line of the references that the loops make, in
// the file of the first.
func (f *finder) linesOf(n *replay.Nest) Lines {
	first := f.trace.PlaceOf(n.Body[0])
	out := Lines{first.File, first.Line, first.Line}
	for _, c := range n.Body {
		if p := f.trace.PlaceOf(c); p.File == out.File && p.Line > 0 {
			out.From, out.To = min(out.From, p.Line), max(out.To, p.Line)
		}
	}
	return out
}

type loopOrder struct {
	kind  Kind
	what  string
	loops []replay.Loop
}

// repeats counts the outermost loops whose turns all make the same references
// and pass values on to the next, such as time steps: they stay where they are.
func repeats(n *replay.Nest, deps *replay.Dependences) (outer int) {
	for outer < len(n.Strides) && deps.Flows(n, outer) {
		for _, d := range n.Strides[outer] {
			if d != 0 {
				return outer
			}
		}
		outer++
	}
	return outer
}

// loopOrders lists the permutations of up to four innermost loops, and tiles of
// all loops and of the two innermost.
func (f *finder) loopOrders(n *replay.Nest, named loopNaming, deps *replay.Dependences) (out []loopOrder) {
	depth := len(n.Trips)
	fixed := max(repeats(n, deps), named.outside)
	outer := max(depth-maxPermuted, fixed)
	if depth-fixed < 2 {
		return nil
	}
	if f.wants(Interchange) {
		for _, p := range permutations(depth - outer) {
			var loops []replay.Loop
			for i := range outer {
				loops = append(loops, replay.Loop{Of: i})
			}
			for _, i := range p {
				loops = append(loops, replay.Loop{Of: outer + i})
			}
			out = append(out, loopOrder{Interchange, "order " + named.order(loops), loops})
		}
	}
	if !f.wants(Block) {
		return out
	}
	from := []int{depth - 2}
	if depth-fixed > 2 && depth-fixed <= maxPermuted {
		from = append(from, fixed)
	}
	for _, first := range from {
		for _, size := range tiles {
			if loops, ok := tiled(n, first, size); ok {
				out = append(out, loopOrder{Block, fmt.Sprintf("blocks of %d over %s", size, named.order(loops[len(loops)-(depth-first):])), loops})
			}
		}
	}
	return out
}

// tiled cuts the loops from first on into tiles.
func tiled(n *replay.Nest, first, size int) (loops []replay.Loop, ok bool) {
	for i := range first {
		loops = append(loops, replay.Loop{Of: i})
	}
	for i := first; i < len(n.Trips); i++ {
		if n.Trips[i] > size {
			loops, ok = append(loops, replay.Loop{Of: i, Tile: size}), true
		}
	}
	for i := first; i < len(n.Trips); i++ {
		if n.Trips[i] > size {
			loops = append(loops, replay.Loop{Of: i, Tile: size, In: true})
		} else {
			loops = append(loops, replay.Loop{Of: i})
		}
	}
	return loops, ok
}

// permutations lists all orders of n loops but the one they have.
func permutations(n int) (out [][]int) {
	var walk func(have []int)
	walk = func(have []int) {
		if len(have) == n {
			same := true
			for i, x := range have {
				same = same && i == x
			}
			if !same {
				out = append(out, append([]int{}, have...))
			}
			return
		}
	next:
		for i := range n {
			for _, x := range have {
				if x == i {
					continue next
				}
			}
			walk(append(have, i))
		}
	}
	walk(nil)
	return out
}

var loopLetters = []string{"i", "j", "k", "l", "m", "n", "o", "p"}

// letters are the loops of a nest as maps call them, outermost first.
var letters = loopNaming{names: loopLetters}

// tryOrder replays one order; nil if it gains too little.
func (f *finder) tryOrder(n *replay.Nest, c loopOrder, named loopNaming, order []uint32, legal bool) (*Advice, error) {
	a := &Advice{Kind: c.kind, What: c.what, plan: &replay.Plan{Order: order}, References: uint64(n.To() - n.From()), Code: named.code(n, c.loops), Place: named.place, At: named.where, Lines: f.linesOf(n),
		Legal: fmt.Sprintf(legalText, len(order)), Assumes: []string{"proven for the recorded input only", "a value that a register carries from turn to turn, such as a sum, is not in the references: its order changes", named.rests(n)}}
	if !legal {
		a.Legal = "the order of stores to some bytes changes: only a sum or another operation that may be done in any order keeps its result"
		a.Assumes = append(a.Assumes, "sums may be reassociated")
	}
	a.Map = fmt.Sprintf("loops %s order %s\n", placeText(f.trace.PlaceOf(n.Body[0])), letters.order(c.loops))
	return f.try(a)
}
