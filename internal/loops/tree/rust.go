package tree

import (
	"regexp"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/refs/flow"
)

var (
	rustLoop = regexp.MustCompile(`\b(for|while|loop)\b`)
	lifetime = regexp.MustCompile(`'[A-Za-z_]\w*\b`)
	rustIn   = regexp.MustCompile(`\bin\b`)
)

// withoutLifetimes blanks names such as 'a, which are no characters that a quote
// closes.
func withoutLifetimes(text []byte) []byte {
	out := slices.Clone(text)
	for _, at := range lifetime.FindAllIndex(text, -1) {
		if at[1] == len(text) || text[at[1]] != '\'' {
			for i := at[0]; i < at[1]; i++ {
				out[i] = ' '
			}
		}
	}
	return out
}

// rustLoops finds for … in … { … }, while … { … } and loop { … }. What they are
// said to do first is left open: the compiler keeps no marks that tell it.
func rustLoops(file string, text []byte) []statement {
	s := &scanner{file: file, text: blanked(withoutLifetimes(text)), lines: strings.Split(string(text), "\n")}
	s.positions()
	for _, at := range rustLoop.FindAllIndex(s.text, -1) {
		open := s.opening(at[1])
		if open < 0 {
			continue
		}
		kind, head := string(s.text[at[0]:at[1]]), s.text[at[1]:open]
		if kind == "for" && !rustIn.Match(head) || kind == "loop" && strings.TrimSpace(string(head)) != "" {
			continue // impl … for …, or a name
		}
		end := s.closing(open)
		if end < 0 {
			continue
		}
		st := statement{file: file, at: s.pos[at[0]], text: s.firstLine(at[0]), head: span{s.pos[at[0]], s.pos[open]}, cond: span{s.pos[at[1]], s.pos[open]},
			body: span{s.pos[open], s.pos[end]}, unproved: true, from: at[0], bodyAt: open, bodyTo: end, shape: shape{parent: -1}}
		if kind == "loop" {
			st.endless, st.cond = true, span{}
		}
		s.add(st)
	}
	return s.found
}

// opening is the brace that opens the body of a Rust loop whose head begins at i; -1
// if the statement ends before one comes.
func (s *scanner) opening(i int) int {
	for depth := 0; i < len(s.text); i++ {
		switch s.text[i] {
		case '(', '[':
			depth++
		case ')', ']':
			if depth--; depth < 0 {
				return -1
			}
		case '{':
			if depth == 0 {
				return i
			}
			if i = s.closing(i); i < 0 { // of a closure in parentheses
				return -1
			}
			i--
		case ';', '}':
			return -1
		}
	}
	return -1
}

// blendedUnproved reports whether code that goes round for a group's statement may be
// that of several turns, or of a loop around it, where neither marks nor the text tell:
// a test of it stands there twice, or the head of a loop around it has code there.
func (b *build) blendedUnproved(gr *group) bool {
	st := &b.statements[gr.statement]
	if !st.unproved {
		return false
	}
	tests := map[position]bool{}
	return slices.ContainsFunc(gr.machines, func(m int32) bool {
		return slices.ContainsFunc(b.loops[m].blocks, func(id int32) bool {
			if b.loopOf[id] != m {
				return false
			}
			p, ok := b.forest.branch(id)
			ok = ok && b.basics[id].ending == flow.Branch && p.file == st.file && st.cond.contains(p.at)
			again := ok && tests[p]
			tests[p] = tests[p] || ok
			return again || b.ofHeadAround(id, gr.statement)
		})
	})
}

// ofHeadAround reports whether a basic has code of the head of a loop around a
// statement, or of what that calls.
func (b *build) ofHeadAround(id, inner int32) bool {
	list := b.listing(id)
	for outer := range int32(len(b.statements)) {
		st := &b.statements[outer]
		if b.inStatement(inner, outer) && slices.ContainsFunc(list, func(in instruction) bool {
			p := positionOf(&in)
			return p.file == st.file && p.column() > 0 && st.head.contains(p.at) || calledIn(&in, st.head, st.file)
		}) {
			return true
		}
	}
	return false
}
