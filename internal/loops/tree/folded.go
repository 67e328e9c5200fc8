package tree

import (
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

// mentions are the calls in a text, and where the functions that it defines have their
// bodies.
func (s *scanner) mentions() (calls []mention, bodies map[string][]span) {
	bodies = map[string][]span{}
	for _, at := range nameAndOpen.FindAllSubmatchIndex(s.text, -1) {
		name := string(s.text[at[2]:at[3]])
		end := s.closing(at[1] - 1)
		if end < 0 || controls.MatchString(name) {
			continue
		}
		if open := s.blank(end); open < len(s.text) && s.text[open] == '{' && s.opensFunction(open) {
			if to := s.closing(open); to > 0 {
				bodies[name] = append(bodies[name], span{uint32(open), uint32(to)})
			}
			continue
		}
		if body := s.functionBody(at[2]); body >= 0 {
			calls = append(calls, mention{name, at[2], end, span{s.pos[at[2]], s.pos[end]}, body})
		}
	}
	return calls, bodies
}

// passedOver finds text between the start of a statement and a call in it that may
// decide that the call is not made.
var passedOver = regexp.MustCompile(`[;{}?]|&&|\|\||\b(if|for|while|switch|else|do|case|default|and|or|sizeof|decltype|auto)\b`)

// foldedCalls are the functions of which calls of the text were made without leaving
// code, and those that they call.
func (b *build) foldedCalls() map[string]bool {
	folded := map[string]bool{}
	calledBy := map[string]map[string]bool{}
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
			for _, m := range calls {
				if slices.ContainsFunc(in, func(body span) bool { return body.contains(uint32(m.from)) }) {
					if calledBy[name] == nil {
						calledBy[name] = map[string]bool{}
					}
					calledBy[name][m.name] = true
				}
			}
		}
		left := b.leftOf(file)
		for _, m := range calls {
			if !folded[m.name] && b.leavesNoCode(s, &m, left) {
				folded[m.name] = true
			}
		}
	}
	for more := true; more; {
		more = false
		for name := range folded {
			for callee := range calledBy[name] {
				more = more || !folded[callee]
				folded[callee] = true
			}
		}
	}
	return folded
}

// written reports whether a file is C or C++.
func written(file string) bool { return !fortranOrOther.MatchString(strings.ToLower(file)) }

var fortranOrOther = regexp.MustCompile(`\.(f|for|f\d\d|rs|go)$`)

// left is what the code that ran has of a file: its calls by where they stand in the
// text, inlined or not, and where statements begin.
type left struct {
	calls  map[uint32][]int32 // basics
	begins []uint32           // in order
}

func (b *build) leftOf(file string) *left {
	l := &left{calls: map[uint32][]int32{}}
	for id := range int32(len(b.basics)) {
		if b.owner[id] < 0 {
			continue
		}
		list := b.listing(id)
		for i := range list {
			if p := positionOf(&list[i]); p.file == file && list[i].Ending != flow.Straight {
				l.calls[p.at] = append(l.calls[p.at], id)
			}
			for _, c := range list[i].Calls {
				if c.File == file {
					at := place(c.Line, c.Column)
					l.calls[at] = append(l.calls[at], id)
				}
			}
		}
	}
	for _, mk := range b.marks {
		if id := b.basicAt(mk.PC); mk.File == file && id >= 0 && b.owner[id] >= 0 {
			l.begins = append(l.begins, place(mk.Line, mk.Column))
		}
	}
	slices.Sort(l.begins)
	return l
}

// leavesNoCode reports whether the statement of a call ran, nothing in it decides
// whether the call is made, and no code is left of it: or none in the loop that it is
// written in, of which there is code.
func (b *build) leavesNoCode(s *scanner, m *mention, l *left) bool {
	i, _ := slices.BinarySearch(l.begins, m.span.from+1)
	if i == 0 {
		return false
	}
	begin, _ := slices.BinarySearch(s.pos, l.begins[i-1])
	if begin < m.body || begin > m.from || passedOver.Match(s.text[begin:m.from]) {
		return false
	}
	around := int32(-1)
	for id := range int32(len(b.statements)) {
		if st := &b.statements[id]; st.file == s.file && st.body.contains(m.span.from) && st.from > m.body && (around < 0 || b.statements[around].at < st.at) {
			around = id
		}
	}
	none, outside := true, true
	for at, basics := range l.calls {
		if !m.span.contains(at) {
			continue
		}
		none = false
		for _, id := range basics {
			for loop := b.loopOf[id]; loop >= 0; loop = b.loops[loop].parent {
				outside = outside && b.loops[loop].statement != around
			}
		}
	}
	return none || outside && around >= 0 && b.hasLoop(-1, around)
}
