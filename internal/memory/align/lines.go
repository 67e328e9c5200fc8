package align

import (
	"slices"
)

// How says how a pair was made.
type How string

// The ways to be paired, best first.
const (
	Equal    How = "equal"
	Modified How = "modified"  // the same thing, changed
	Moved    How = "moved"     // equal, at another place
	ByNumber How = "by number" // nothing but the number is known
	OnlyA    How = "only a"
	OnlyB    How = "only b"
)

// Bounds of the work on one pair of files: whatever they hold, they are done in
// seconds. Lines beyond are left without a partner.
const (
	maxOccurrences = 4       // of a line that anchors others
	maxGapCells    = 40_000  // of one gap compared word by word
	maxCells       = 600_000 // of all gaps
	visitsPerLine  = 64
	alikeLines     = .6  // Dice's coefficient of the words of a modified line
	alikeAlone     = .4  // of one that alone lies between the same neighbours
	alikeInPlace   = .25 // of one of as many as lie between their partners
	maxInPlace     = 3
)

// file is a source file made ready to be matched.
type file struct {
	lines     []line
	functions []function
	bodies    []*body // of functions; made when asked for
	paired    []bool  // functions that have a partner
	away      []bool  // lines of functions whose partner is in another file
}

func newFile(text []string) *file {
	functions, fortran := functionsOf(text)
	if fortran { // letters large and small are one there
		text = lowered(text)
	}
	f := &file{lines: newLines(text), functions: functions}
	f.bodies, f.paired, f.away = make([]*body, len(f.functions)), make([]bool, len(f.functions)), make([]bool, len(f.lines))
	return f
}

func (f *file) bodyOf(i int) *body {
	if f.bodies[i] == nil {
		fn := f.functions[i]
		f.bodies[i] = bodyOf(f.lines[fn.from:fn.to])
	}
	return f.bodies[i]
}

// matching pairs the lines of two files.
type matching struct {
	a, b   []line
	toB    []int // by line of a, from 0; −1 without a partner
	toA    []int
	how    []How // by line of a
	visits int   // left
	cells  int   // left
}

// matchFiles pairs the lines of two files: function by function, then what lies
// outside of functions, then what moved from one to another.
func matchFiles(a, b *file, functions [][2]int) *matching {
	m := newMatching(a.lines, b.lines)
	inA, inB := slices.Clone(a.away), slices.Clone(b.away)
	for _, p := range functions {
		fa, fb := a.functions[p[0]], b.functions[p[1]]
		m.match(span(fa.from, fa.to, inA), span(fb.from, fb.to, inB))
	}
	for _, f := range a.functions {
		span(f.from, f.to, inA)
	}
	for _, f := range b.functions {
		span(f.from, f.to, inB)
	}
	m.match(outside(inA), outside(inB))
	m.between(rising(m.pairs()), a.away, b.away)
	m.moved(a.away, b.away)
	m.between(m.pairs(), a.away, b.away)
	return m
}

// newMatching is one of lines of which none has a partner yet.
func newMatching(a, b []line) *matching {
	return &matching{a: a, b: b, toB: fill(len(a)), toA: fill(len(b)), how: make([]How, len(a)), visits: visitsPerLine * (len(a) + len(b)), cells: maxCells}
}

// pick are the lines at some numbers.
func pick(lines []line, at []int) []line {
	out := make([]line, len(at))
	for k, i := range at {
		out[k] = lines[i]
	}
	return out
}

// upTo are the numbers below n.
func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// pairs are the numbers of lines that have a partner, by those of a.
func (m *matching) pairs() [][2]int {
	var out [][2]int
	for i, j := range m.toB {
		if j >= 0 {
			out = append(out, [2]int{i, j})
		}
	}
	return out
}

// between matches what is left between neighbouring pairs that come in one order,
// wherever functions begin and end: braces may be unbalanced, functions without a
// partner, code moved.
func (m *matching) between(pairs [][2]int, awayA, awayB []bool) {
	from := [2]int{-1, -1}
	for _, to := range append(pairs, [2]int{len(m.a), len(m.b)}) {
		if from[1] < to[1] {
			a, b := without(m.toB, awayA, from[0]+1, to[0]), without(m.toA, awayB, from[1]+1, to[1])
			m.match(a, b)
			m.lone(a, b, to[1]-from[1]-1)
			if len(a) == to[0]-from[0]-1 && len(b) == to[1]-from[1]-1 {
				m.inPlace(a, b)
			}
		}
		from = to
	}
}

// without are the lines from from to to that have no partner.
func without(partner []int, away []bool, from, to int) []int {
	var out []int
	for i := from; i < to; i++ {
		if partner[i] < 0 && !away[i] {
			out = append(out, i)
		}
	}
	return out
}

// lone pairs the only line that is left between two neighbours with the only one
// between their partners: its place speaks for it, so fewer words need to. Of inAll
// lines that lie there in b none may belong elsewhere.
func (m *matching) lone(a, b []int, inAll int) {
	if len(b) < inAll {
		return
	}
	a, b = only(a, m.a, m.toB), only(b, m.b, m.toA)
	if len(a) == 1 && len(b) == 1 && dice(m.a[a[0]].tokens, m.b[b[0]].tokens) >= alikeAlone {
		m.pair(a[0], b[0], Modified)
	}
}

// inPlace pairs the lines that lie between two neighbours with those between their
// partners in their order, where these are as many and few: short lines have too few
// words to be known by them.
func (m *matching) inPlace(a, b []int) {
	if len(a) != len(b) || len(a) > maxInPlace {
		return
	}
	for k, i := range a {
		if j := b[k]; m.toB[i] < 0 && m.toA[j] < 0 && dice(m.a[i].words(), m.b[j].words()) >= alikeInPlace {
			m.pair(i, j, Modified)
		}
	}
}

// only are those of some lines that have no partner and say something.
func only(at []int, lines []line, partner []int) []int {
	var out []int
	for _, i := range at {
		if partner[i] < 0 && !lines[i].common {
			out = append(out, i)
		}
	}
	return out
}

func fill(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = -1
	}
	return out
}

// span lists the lines from to to and marks them as taken; lines of an earlier
// function that overlaps are left out.
func span(from, to int, taken []bool) []int {
	var out []int
	for i := from; i < to; i++ {
		if !taken[i] {
			taken[i] = true
			out = append(out, i)
		}
	}
	return out
}

func outside(taken []bool) []int {
	var out []int
	for i, t := range taken {
		if !t {
			out = append(out, i)
		}
	}
	return out
}

func (m *matching) pair(i, j int, how How) {
	m.toB[i], m.toA[j], m.how[i] = j, i, how
}

// match pairs lines of a with lines of b that come in the same order: equal ones
// at both ends, then rare ones as anchors with what lies between them, then those
// with most words in common.
func (m *matching) match(a, b []int) {
	for len(a) > 0 && len(b) > 0 && m.a[a[0]].text == m.b[b[0]].text {
		m.pair(a[0], b[0], Equal)
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && m.a[a[len(a)-1]].text == m.b[b[len(b)-1]].text {
		m.pair(a[len(a)-1], b[len(b)-1], Equal)
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) == 0 || len(b) == 0 {
		return
	}
	m.visits -= len(a) + len(b)
	if m.visits < 0 {
		return
	}
	anchors := m.anchors(a, b)
	if len(anchors) == 0 {
		m.gap(a, b)
		return
	}
	fromA, fromB := 0, 0
	for _, p := range anchors {
		m.pair(a[p[0]], b[p[1]], Equal)
		m.match(a[fromA:p[0]], b[fromB:p[1]])
		fromA, fromB = p[0]+1, p[1]+1
	}
	m.match(a[fromA:], b[fromB:])
}

// anchors returns pairs of positions of rare equal lines in one order.
func (m *matching) anchors(a, b []int) [][2]int {
	inA, inB := m.occurrences(m.a, a), m.occurrences(m.b, b)
	rarest := maxOccurrences + 1
	for text, list := range inA {
		if other := inB[text]; len(other) == len(list) {
			rarest = min(rarest, len(list))
		}
	}
	if rarest > maxOccurrences {
		return nil
	}
	var pairs [][2]int
	for text, list := range inA {
		if other := inB[text]; len(list) == rarest && len(other) == rarest {
			for k := range list {
				pairs = append(pairs, [2]int{list[k], other[k]})
			}
		}
	}
	slices.SortFunc(pairs, func(x, y [2]int) int { return x[0] - y[0] })
	return rising(pairs)
}

func (m *matching) occurrences(lines []line, at []int) map[string][]int {
	out := make(map[string][]int, len(at))
	for k, i := range at {
		if l := &lines[i]; !l.common {
			if list := out[l.text]; len(list) <= maxOccurrences {
				out[l.text] = append(list, k)
			}
		}
	}
	return out
}

// rising keeps the longest list of pairs, sorted by their first, whose seconds
// rise.
func rising(pairs [][2]int) [][2]int {
	var ends []int // ends[k] is the pair that ends a list of k+1 with the lowest second
	before := make([]int, len(pairs))
	for i, p := range pairs {
		k, _ := slices.BinarySearchFunc(ends, p[1], func(e, second int) int { return pairs[e][1] - second })
		before[i] = -1
		if k > 0 {
			before[i] = ends[k-1]
		}
		if k == len(ends) {
			ends = append(ends, i)
		} else {
			ends[k] = i
		}
	}
	if len(ends) == 0 {
		return nil
	}
	out := make([][2]int, len(ends))
	for i, k := ends[len(ends)-1], len(ends)-1; k >= 0; i, k = before[i], k-1 {
		out[k] = pairs[i]
	}
	return out
}

// gap pairs lines by the words they share, in one order, so that the sum of what
// they share is largest.
func (m *matching) gap(a, b []int) {
	cells := len(a) * len(b)
	if cells > maxGapCells || cells > m.cells {
		return
	}
	m.cells -= cells
	width := len(b) + 1
	best := make([]float64, (len(a)+1)*width)
	alike := make([]float64, cells)
	for i := range a {
		for j := range b {
			s := m.alike(a[i], b[j])
			alike[i*len(b)+j] = s
			at := (i+1)*width + j + 1
			best[at] = max(best[at-1], best[at-width])
			if s > 0 {
				best[at] = max(best[at], best[at-width-1]+s)
			}
		}
	}
	for i, j := len(a), len(b); i > 0 && j > 0; {
		at := i*width + j
		s := alike[(i-1)*len(b)+j-1]
		switch {
		case s > 0 && best[at] == best[at-width-1]+s:
			m.pair(a[i-1], b[j-1], m.howAlike(a[i-1], b[j-1]))
			i--
			j--
		case best[at] == best[at-width]:
			i--
		default:
			j--
		}
	}
}

// alike is what a pair of lines is worth; 0 if they are not one line. Braces are
// worth little: they follow their neighbours.
func (m *matching) alike(i, j int) float64 {
	a, b := &m.a[i], &m.b[j]
	if a.common || b.common {
		if a.text == b.text {
			return .01
		}
		return 0
	}
	if s := dice(a.tokens, b.tokens); s >= alikeLines {
		return s
	}
	return 0
}

func (m *matching) howAlike(i, j int) How {
	if m.a[i].text == m.b[j].text {
		return Equal
	}
	return Modified
}

// moved pairs what is left where a line is the only one of its text on both
// sides, and then its equal neighbours: code that moved or was taken out into a
// function of its own.
func (m *matching) moved(awayA, awayB []bool) {
	left := func(lines []line, partner []int, away []bool) map[string]int {
		only := map[string]int{} // −1 if there are several
		for i := range lines {
			if l := &lines[i]; partner[i] < 0 && !l.common && !away[i] {
				if _, seen := only[l.text]; seen {
					only[l.text] = -1
				} else {
					only[l.text] = i
				}
			}
		}
		return only
	}
	inB := left(m.b, m.toA, awayB)
	var found [][2]int
	for text, i := range left(m.a, m.toB, awayA) {
		if j, ok := inB[text]; ok && i >= 0 && j >= 0 {
			found = append(found, [2]int{i, j})
		}
	}
	slices.SortFunc(found, func(x, y [2]int) int { return x[0] - y[0] })
	for _, p := range found {
		if m.toB[p[0]] < 0 && m.toA[p[1]] < 0 {
			m.pair(p[0], p[1], Moved)
			for _, step := range []int{1, -1} {
				m.grow(p[0], p[1], step, awayA, awayB)
			}
		}
	}
}

func (m *matching) grow(i, j, step int, awayA, awayB []bool) {
	for i, j = i+step, j+step; i >= 0 && j >= 0 && i < len(m.a) && j < len(m.b); i, j = i+step, j+step {
		if m.toB[i] >= 0 || m.toA[j] >= 0 || awayA[i] || awayB[j] || m.a[i].text != m.b[j].text {
			return
		}
		m.pair(i, j, Moved)
	}
}
