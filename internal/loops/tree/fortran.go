package tree

import (
	"regexp"
	"slices"
	"strings"
)

var (
	fortranLabel = regexp.MustCompile(`^(\d+)\s+`)
	labelledDo   = regexp.MustCompile(`^do\s+(\d+)\b`)
)

// fortranLoops finds do … end do, and do 10 … 10 continue. Columns are of no use:
// compilers tell lines.
func fortranLoops(file string, text []byte) []statement {
	var open []string // the labels that end them; empty for end do
	found := lineLoops(file, text, func(line string) (opens bool, closes int) {
		l := strings.ToLower(strings.TrimSpace(line))
		if at := strings.Index(l, "!"); at >= 0 {
			l = strings.TrimSpace(l[:at])
		}
		if m := fortranLabel.FindStringSubmatch(l); m != nil {
			l = l[len(m[0]):]
			for len(open) > 0 && open[len(open)-1] == m[1] { // several loops may end there
				open = open[:len(open)-1]
				closes++
			}
		}
		if name, rest, ok := strings.Cut(l, ":"); ok && !strings.ContainsAny(name, " (=") {
			l = strings.TrimSpace(rest)
		}
		switch {
		case l == "do" || strings.HasPrefix(l, "do "):
			label := ""
			if m := labelledDo.FindStringSubmatch(l); m != nil {
				label = m[1]
			}
			open = append(open, label)
			opens = true
		case (strings.HasPrefix(l, "end do") || strings.HasPrefix(l, "enddo")) && closes == 0 && len(open) > 0:
			open = open[:len(open)-1]
			closes = 1
		}
		return opens, closes
	})
	for k := range found {
		found[k].lined = true
	}
	fortranShapes(file, text, found)
	return found
}

// implied reports whether a loop is of one statement of Fortran inside the do that it was
// taken for: an expression with arrays, of which the text has no loop.
func (m *matcher) implied(id, st int32) bool {
	s := &m.statements[st]
	if !s.lined {
		return false
	}
	first, last := 0, 0
	for _, b := range m.loops[id].blocks {
		list := m.listing(b)
		for i := range list {
			p := positionOf(&list[i])
			switch line := p.line(); {
			case p.file != s.file || line == 0 || !s.whole().covers(p):
			case s.head.covers(p):
				return false
			case first == 0:
				first, last = line, line
			default:
				first, last = min(first, line), max(last, line)
			}
		}
	}
	return first > 0 && continued(m.sources(s.file), first, last)
}

// continued reports whether lines of Fortran are one statement.
func continued(text []byte, first, last int) bool {
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		if number < first {
			continue
		}
		code, _, _ := strings.Cut(line, "!")
		if number >= last || !strings.HasSuffix(strings.TrimSpace(code), "&") {
			return number >= last
		}
	}
	return false
}

// lastUntold reports whether the last time around in a loop of a group may be a turn or
// only its test. Of what counts, tests and was taken from the body only the line of the
// statement is known: it is a test for certain only where it leaves a loop from a
// header that does nothing else, before code that has other lines.
func (b *build) lastUntold(gr *group) bool {
	st := &b.statements[gr.statement]
	if !st.lined || st.endless {
		return false
	}
	other := func(id int32) bool {
		return b.holdsPart(id, func(p position) bool { return p.line() > 0 && !st.head.covers(p) })
	}
	return slices.ContainsFunc(gr.machines, func(m int32) bool {
		l := &b.loops[m]
		return !other(l.header) && !(b.leaves(m, l.header) && slices.ContainsFunc(l.blocks, other))
	})
}
