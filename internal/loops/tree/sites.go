package tree

import (
	"fmt"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/refs/flow"
)

// Code of one statement stands at several places where its function was put into
// others, or is a template: each has its own loop, or none if it never went round
// there.

// site is a function of the code and the calls that were put into it, innermost first.
type site struct {
	function int32
	calls    string
}

func siteOf(function int32, in *flow.Instruction) site {
	var calls strings.Builder
	for _, c := range in.Calls {
		calls.WriteString(c.File + ":")
		fmt.Fprintf(&calls, "%d:%d;", c.Line, c.Column)
	}
	return site{function, calls.String()}
}

// elsewhere reports whether code of a row's statement ran at a site where the code has
// no loop of it, or code that is come to past it, and whether that is code
// of its body: entries there were decided without going round, and nothing counts them.
func (b *build) elsewhere(row int) (ran, body bool) {
	id := b.groups[b.members[row][0]].statement
	if id < 0 {
		return false, false
	}
	st := &b.statements[id]
	inside, known := map[int32]bool{}, map[site]bool{}
	for _, g := range b.members[row] {
		gr := &b.groups[g]
		for basic := range b.inLoops(gr) {
			inside[basic] = true
		}
	}
	own := b.textNames(st, inside)
	each := func(basic int32, visit func(in *flow.Instruction, p position)) {
		list := b.listing(basic)
		for i := range list {
			if p := positionOf(&list[i]); p.file == st.file && p.line() > 0 && (st.whole().covers(p) || st.after.covers(p)) && own(list[i].Place.Function) {
				visit(&list[i], p)
			}
		}
	}
	covered := func(basic int32) func(*flow.Instruction, position) {
		return func(in *flow.Instruction, p position) {
			if st.whole().covers(p) {
				known[siteOf(b.owner[basic], in)] = true
			}
		}
	}
	for basic := range inside {
		each(basic, covered(basic))
	}
	if len(known) == 0 {
		return false, false
	}
	for basic, begun := range b.begun { // marks tell what ran there
		if slices.Contains(begun, id) {
			each(int32(basic), covered(int32(basic)))
		}
	}
	for basic := range int32(len(b.basics)) {
		if b.owner[basic] < 0 || inside[basic] {
			continue
		}
		each(basic, func(in *flow.Instruction, p position) {
			if !known[siteOf(b.owner[basic], in)] {
				ran, body = true, body || st.body.covers(p)
			}
		})
	}
	return ran, body
}

// textNames tells the functions that a statement stands in the text of, as code names
// them: what was put into its body has other names.
func (b *build) textNames(st *statement, inside map[int32]bool) func(name string) bool {
	if st.shape.function != "" {
		return func(name string) bool { return bareName(name) == st.shape.function }
	}
	names := map[string]bool{}
	for basic := range inside {
		list := b.listing(basic)
		for i := range list {
			if p := positionOf(&list[i]); p.file == st.file && p.line() > 0 && st.head.covers(p) {
				names[list[i].Place.Function] = true
			}
		}
	}
	return func(name string) bool { return names[name] }
}

// bareName is the name of a function without parameters, arguments of templates and
// what it is a member of.
func bareName(name string) string {
	var out []byte
	depth := 0
	for i := range len(name) {
		switch c := name[i]; {
		case c == '<' || c == '(':
			depth++
		case c == '>' || c == ')':
			depth--
		case depth == 0:
			out = append(out, c)
		}
	}
	bare := strings.TrimSpace(string(out))
	return bare[strings.LastIndexAny(bare, ": ")+1:]
}

// apart notes rows of which code ran at a site without a loop, before anything is
// proved of them.
func (b *build) apart() {
	b.strayed = make([]bool, len(b.members))
	if b.rebuilt {
		return
	}
	folded := b.foldedCalls()
	for row := range b.members {
		ran, body := b.elsewhere(row)
		why := "its function is in several places of the code, and at some of them it ran without going round: its entries there are not told apart"
		if st := b.groups[b.members[row][0]].statement; !ran && st >= 0 && folded[b.statements[st].shape.function] {
			ran, body, why = true, true, "calls of its function ran without leaving code: the compiler worked out what they do, or made one of several"
		}
		if !ran {
			continue
		}
		b.strayed[row], b.entriesSure[row], b.turnsSure[row] = true, false, false
		b.unsupported[row].Entries = true
		b.unsupported[row].Trips = b.unsupported[row].Trips || body
		if l := &b.out.Loops[row]; l.Exact {
			l.Exact, l.Why = false, why
		}
	}
}
