package tree

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/refs/flow"
)

// Compilers work out what calls do whose arguments they know, and call functions once
// that give the same each time: such calls leave no code, and the loops of the
// function ran fewer times than the text calls it.

// mention is a call as it is written: a name and its arguments in parentheses.
type mention struct {
	name     string
	from, to int // in the text: the name, and behind the parentheses
	span     span
	body     int // of the function around it
}

var nameAndOpen = regexp.MustCompile(`\b([A-Za-z_]\w*)\s*(<[^;(){}]*>\s*)?\(`)

// mentions are the calls in a text in their order, and where the functions that it
// defines have their bodies. One pass over the text finds where parentheses and bodies
// end: sources have megabytes.
func (s *scanner) mentions() (calls []mention, bodies map[string][]span) {
	found := nameAndOpen.FindAllSubmatchIndex(s.text, -1)
	ends := make([]int32, len(s.text)) // behind what is opened at a place; 0 if it is not closed
	opens := map[int]bool{}            // braces of functions
	around := make([]int, len(found))  // the brace of the function that each is in; -1 in none
	var open, braces, functions []int
	k := 0
	for i, c := range s.text {
		for ; k < len(found) && found[k][2] == i; k++ {
			if around[k] = -1; len(functions) > 0 {
				around[k] = functions[len(functions)-1]
			}
		}
		switch c {
		case '(', '[', '{':
			open = append(open, i)
			if c != '{' {
				break
			}
			braces = append(braces, i)
			if opens[i] = s.opensFunction(i); opens[i] {
				functions = append(functions, i)
			}
		case ')', ']', '}':
			if n := len(open); n > 0 {
				ends[open[n-1]], open = int32(i+1), open[:n-1]
			}
			if n := len(braces); c == '}' && n > 0 {
				if f := len(functions); f > 0 && functions[f-1] == braces[n-1] {
					functions = functions[:f-1]
				}
				braces = braces[:n-1]
			}
		}
	}
	bodies = map[string][]span{}
	for k, at := range found {
		name, end := string(s.text[at[2]:at[3]]), int(ends[at[1]-1])
		if end == 0 || controls.MatchString(name) {
			continue
		}
		if brace := s.blank(end); brace < len(s.text) && opens[brace] {
			if to := ends[brace]; to > 0 {
				bodies[name] = append(bodies[name], span{uint32(brace), uint32(to)})
			}
			continue
		}
		if around[k] >= 0 {
			calls = append(calls, mention{name, at[2], end, span{s.pos[at[2]], s.pos[end]}, around[k]})
		}
	}
	return calls, bodies
}

// closesMore reports whether a text closes parentheses that it does not open: what
// follows may depend on what stands in them.
func closesMore(text []byte) bool {
	depth := 0
	for _, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth < 0 {
				return true
			}
		}
	}
	return false
}

// callsIn are the calls that stand in a body.
func callsIn(calls []mention, body span) []mention {
	before := func(m mention, at uint32) int { return cmp.Compare(uint32(m.from), at) }
	from, _ := slices.BinarySearchFunc(calls, body.from, before)
	to, _ := slices.BinarySearchFunc(calls, body.to, before)
	return calls[from:to]
}

// passedOver finds text between the start of a statement and a call in it that may
// decide that the call is not made.
var passedOver = regexp.MustCompile(`[;{}?]|&&|\|\||\b(if|for|while|switch|else|do|case|default|and|or|sizeof|decltype|auto)\b`)

// foldedCalls are the functions of which calls of the text were made without leaving
// code, and those that they call.
func (b *build) foldedCalls() map[string]bool {
	folded, callees := map[string]bool{}, map[string]map[string]bool{}
	var added []string
	add := func(name string) {
		if !folded[name] {
			folded[name] = true
			added = append(added, name)
		}
	}
	seen := map[string]bool{}
	for i := range b.statements {
		file := b.statements[i].file
		if seen[file] || !written(file) {
			continue
		}
		seen[file] = true
		text := b.Source(file)
		if text == nil {
			continue
		}
		s := &scanner{file: file, text: blanked(text), lines: strings.Split(string(text), "\n")}
		s.positions()
		calls, bodies := s.mentions()
		if !slices.ContainsFunc(calls, func(m mention) bool { return len(bodies[m.name]) > 0 }) {
			continue
		}
		for name, in := range bodies {
			for _, body := range in {
				for _, m := range callsIn(calls, body) {
					if callees[name] == nil {
						callees[name] = map[string]bool{}
					}
					callees[name][m.name] = true
				}
			}
		}
		left := b.leftOf(file)
		for i := range calls {
			if m := &calls[i]; !folded[m.name] && b.leavesNoCode(s, m, left) && !left.standsFor(calls, m) {
				add(m.name)
			}
		}
	}
	for len(added) > 0 {
		name := added[len(added)-1]
		added = added[:len(added)-1]
		for callee := range callees[name] {
			add(callee)
		}
	}
	return folded
}

// written reports whether a file is C or C++.
func written(file string) bool { return !fortranOrOther.MatchString(strings.ToLower(file)) }

var fortranOrOther = regexp.MustCompile(`\.(f|for|f\d\d|rs|go)$`)

// left is what the code that ran has of a file: its calls, inlined or not, by where
// they stand in the text, where statements begin, and the loops of the text.
type left struct {
	calls  []calling
	begins []uint32 // in order
	loops  []int32  // statements
}

// calling is a basic with a call that stands at a place of the text; made says that
// it is one, not code of a function that was put there.
type calling struct {
	at    uint32
	basic int32
	made  bool
}

func (b *build) leftOf(file string) *left {
	l := &left{}
	for id := range int32(len(b.basics)) {
		if b.owner[id] < 0 {
			continue
		}
		list := b.listing(id)
		for i := range list {
			if p := positionOf(&list[i]); p.file == file && list[i].Ending != flow.Straight {
				l.calls = append(l.calls, calling{p.at, id, list[i].Ending == flow.Call})
			}
			for _, c := range list[i].Calls {
				if c.File == file {
					l.calls = append(l.calls, calling{place(c.Line, c.Column), id, false})
				}
			}
		}
	}
	slices.SortFunc(l.calls, func(a, b calling) int { return cmp.Compare(a.at, b.at) })
	for _, mk := range b.marks {
		if id := b.basicAt(mk.PC); mk.File == file && id >= 0 && b.owner[id] >= 0 {
			l.begins = append(l.begins, place(mk.Line, mk.Column))
		}
	}
	slices.Sort(l.begins)
	for id := range int32(len(b.statements)) {
		if b.statements[id].file == file {
			l.loops = append(l.loops, id)
		}
	}
	return l
}

// in are the calls of the code that stand in a part of the text.
func (l *left) in(part span) []calling {
	before := func(c calling, at uint32) int { return cmp.Compare(c.at, at) }
	from, _ := slices.BinarySearchFunc(l.calls, part.from, before)
	to, _ := slices.BinarySearchFunc(l.calls, part.to, before)
	return l.calls[from:to]
}

// maxAround bounds the calls around one that are looked at.
const maxAround = 8

// standsFor reports whether a call around one has more code than its own: a compiler may
// give calls that make its arguments its own place in the text.
func (l *left) standsFor(calls []mention, m *mention) bool {
	at, _ := slices.BinarySearchFunc(calls, m.from, func(c mention, from int) int { return cmp.Compare(c.from, from) })
	for i, around := at-1, 0; i >= 0 && around < maxAround && m.from-calls[i].from < maxStatement; i-- {
		if calls[i].to < m.to {
			continue
		}
		if around++; l.spare(calls[i:], &calls[i]) >= 0 {
			return true
		}
	}
	return false
}

// spare is how many calls of the code there are at the place of a call beside its own,
// less the calls in its arguments that have none.
func (l *left) spare(calls []mention, around *mention) int {
	without, inside := 0, map[int32]bool{}
	for k := 1; k < len(calls) && calls[k].from < around.to; k++ {
		in := l.in(calls[k].span)
		if len(in) == 0 {
			without++
		}
		for _, c := range in {
			inside[c.basic] = true
		}
	}
	own := 0
	for _, c := range l.in(around.span) {
		if c.made && !inside[c.basic] {
			own++
		}
	}
	return own - 1 - without
}

// maxStatement bounds the text between the start of a statement and a call in it.
const maxStatement = 1 << 14

// leavesNoCode reports whether the statement of a call ran, nothing in it decides
// whether the call is made, and no code is left of it: or none in the loop that it is
// written in, of which there is code.
func (b *build) leavesNoCode(s *scanner, m *mention, l *left) bool {
	i, _ := slices.BinarySearch(l.begins, m.span.from+1)
	if i == 0 {
		return false
	}
	begin, _ := slices.BinarySearch(s.pos, l.begins[i-1])
	if begin < m.body || begin > m.from || m.from-begin > maxStatement || passedOver.Match(s.text[begin:m.from]) || closesMore(s.text[begin:m.from]) {
		return false
	}
	around := int32(-1)
	for _, id := range l.loops {
		if st := &b.statements[id]; st.body.contains(m.span.from) && st.from > m.body && (around < 0 || b.statements[around].at < st.at) {
			around = id
		}
	}
	none, outside := true, true
	for _, c := range l.in(m.span) {
		none = false
		for loop := b.loopOf[c.basic]; loop >= 0; loop = b.loops[loop].parent {
			outside = outside && b.loops[loop].statement != around
		}
	}
	return none || outside && around >= 0 && b.hasLoop(-1, around)
}
