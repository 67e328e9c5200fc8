package tree

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/refs"
)

// position is a place in a source file: line and column in one number, so that
// they compare. Column 0 is a line without a known column.
type position struct {
	file string
	at   uint32
}

const columnBits = 8

func place(line, column int) uint32 {
	return uint32(line)<<columnBits | uint32(min(max(column, 0), 1<<columnBits-1))
}

func (p position) line() int   { return int(p.at >> columnBits) }
func (p position) column() int { return int(p.at & (1<<columnBits - 1)) }

// span is a half-open range of positions in one file.
type span struct{ from, to uint32 }

func (s span) contains(at uint32) bool { return s.from <= at && at < s.to }

// covers reports whether a position lies in the range, or may: one without a
// column is its whole line.
func (s span) covers(p position) bool {
	if p.column() > 0 {
		return s.contains(p.at)
	}
	return s.from < s.to && s.from>>columnBits <= p.at>>columnBits && p.at < s.to
}

// statement is a loop as it is written.
type statement struct {
	file string
	at   uint32 // of its keyword
	text string // its first line, trimmed
	head span   // from the keyword to the end of the parentheses; of do, those at its end
	init span   // what runs once before a for
	cond span   // the condition; empty if there is none
	step span   // what follows each turn of a for
	body span
	// after is what stands behind it up to the end of the braces around both: who runs
	// that came past the statement. It is empty where a condition without braces decides
	// whether the statement is reached.
	after span
	// first are the first statements of the body, up to one that may end the
	// turn; what runs at the start of every turn begins in them. Of a loop it is
	// the part before its condition.
	first []span
	// stores is how many assignments to memory its body has, as far as they can be
	// told from variables: through an index, a pointer or a member.
	stores int
	// leavings are where its body has statements that leave it.
	leavings []uint32
	// straight says that nothing in its body is conditional: each turn runs all of
	// it.
	straight bool
	// bare says that its body does nothing: all that it does is in its header.
	bare bool
	// choices are the conditions of ifs and switches in its body, but for those in
	// loops inside it, on which it depends whether a turn does anything that lasts.
	choices []choice
	// resuming are the conditions in its body that end a turn and not the loop.
	resuming []span
	// marked says that the start of each turn can be told from marks in the code.
	marked bool
	// unproved says that nothing is known of what its compiler does with loops, and
	// neither marks nor its text tell.
	unproved bool
	// resumed says that its body is left and entered again in its middle, as that of
	// a coroutine.
	resumed bool
	// lined says that of its header only the line is known: what tests it may as well
	// be what counts.
	lined bool
	// blurred says that all parts of its header have the same position.
	blurred bool
	// endless says that nothing is tested: for (;;), while (1).
	endless bool

	from           int      // where its keyword stands in the text
	bodyAt, bodyTo int      // and its body
	header         []string // the three parts in the parentheses of a for
	shape          shape
}

// whole is everything from the keyword to the end of the body.
func (s *statement) whole() span {
	return span{min(s.at, s.head.from), max(s.body.to, s.head.to)}
}

// testsFirst says that a turn begins only after its condition was tested, as of
// for and while.
func (s *statement) testsFirst() bool { return !s.endless && s.head.from < s.body.from }

// statements finds the loops of a source file. source returns the text of
// others that it includes.
func statements(file string, text []byte, source func(string) []byte) []statement {
	switch {
	case refs.Place{File: file}.Fortran():
		return fortranLoops(file, text)
	case strings.ToLower(filepath.Ext(file)) == ".go":
		return goLoops(file, text)
	case strings.ToLower(filepath.Ext(file)) == ".rs":
		return rustLoops(file, text)
	}
	s := &scanner{file: file, text: blanked(text)}
	s.lines = strings.Split(string(text), "\n")
	s.positions()
	s.all = s.withIncluded(source)
	s.macros = s.loopMacros()
	s.scan()
	s.shapes()
	return s.found
}

// scanner reads C and C++. Comments and strings are blanked first, so that
// brackets can be counted.
type scanner struct {
	file  string
	text  []byte
	lines []string
	pos   []uint32 // of each byte
	// functions of the file that only compute, by name
	functions map[string]plainFunction
	found     []statement
	all       []byte // the text and what it includes
	// macros are the names that stand for the header of a loop.
	macros map[string]macro
}

// macro is a name for the header of a loop.
type macro struct {
	parameters []string
	header     []string // of a for: its three parts
}

// blanked replaces comments, strings and characters by blanks, byte by byte.
func blanked(text []byte) []byte {
	out := []byte(string(text))
	blank := func(from, to int) {
		for i := from; i < min(to, len(out)); i++ {
			if out[i] != '\n' {
				out[i] = ' '
			}
		}
	}
	for i := 0; i < len(out); i++ {
		rest := string(out[i:min(i+2, len(out))])
		switch {
		case rest == "//":
			n := strings.IndexByte(string(text[i:]), '\n')
			if n < 0 {
				n = len(text) - i
			}
			blank(i, i+n)
			i += n
		case rest == "/*":
			n := strings.Index(string(text[i+2:]), "*/")
			if n < 0 {
				n = len(text) - i - 4
			}
			blank(i, i+n+4)
			i += n + 3
		case out[i] == '"' || out[i] == '\'' && (i == 0 || !word(out[i-1])):
			k := i + 1
			for k < len(text) && text[k] != text[i] && text[k] != '\n' {
				if text[k] == '\\' {
					k++
				}
				k++
			}
			blank(i, k+1)
			i = k
		}
	}
	return out
}

func word(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

func (s *scanner) positions() {
	s.pos = make([]uint32, len(s.text)+1)
	line, column := 1, 1
	for i := range s.text {
		s.pos[i] = place(line, column)
		column++
		if s.text[i] == '\n' {
			line, column = line+1, 1
		}
	}
	s.pos[len(s.text)] = place(line+1, 0)
}

// keyword reports whether a word stands at i.
func (s *scanner) keyword(i int, name string) bool {
	return strings.HasPrefix(string(s.text[i:min(i+len(name), len(s.text))]), name) &&
		(i == 0 || !word(s.text[i-1])) && (i+len(name) >= len(s.text) || !word(s.text[i+len(name)]))
}

func (s *scanner) scan() {
	tails := map[int]bool{} // whiles that end a do
	for i := 0; i < len(s.text); i++ {
		if (i == 0 || !word(s.text[i-1])) && word(s.text[i]) {
			s.named(i)
		}
		switch {
		case s.keyword(i, "for"):
			s.forLoop(i)
		case s.keyword(i, "while") && !tails[i]:
			s.whileLoop(i)
		case s.keyword(i, "do"):
			if tail := s.doLoop(i); tail > 0 {
				tails[tail] = true
			}
		}
	}
}

func (s *scanner) blank(i int) int {
	for i < len(s.text) && (s.text[i] == ' ' || s.text[i] == '\t' || s.text[i] == '\n' || s.text[i] == '\r') {
		i++
	}
	return i
}

// closing returns the place behind the bracket that closes the one at i; -1 if
// none does.
func (s *scanner) closing(i int) int {
	depth := 0
	for ; i < len(s.text); i++ {
		switch s.text[i] {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// statementEnd returns the place behind the statement at i.
func (s *scanner) statementEnd(i int) int {
	i = s.blank(i)
	switch {
	case i >= len(s.text):
		return i
	case s.text[i] == '{':
		if end := s.closing(i); end > 0 {
			return end
		}
		return len(s.text)
	}
	for _, name := range []string{"for", "while", "if", "switch"} {
		if !s.keyword(i, name) {
			continue
		}
		open := s.blank(i + len(name))
		if open >= len(s.text) || s.text[open] != '(' {
			break
		}
		end := s.closing(open)
		if end < 0 {
			return len(s.text)
		}
		end = s.statementEnd(end)
		if k := s.blank(end); name == "if" && k < len(s.text) && s.keyword(k, "else") {
			return s.statementEnd(k + len("else"))
		}
		return end
	}
	for depth := 0; i < len(s.text); i++ {
		switch s.text[i] {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			depth--
		case ';':
			if depth <= 0 {
				return i + 1
			}
		}
	}
	return i
}

func (s *scanner) firstLine(i int) string {
	return strings.TrimSpace(s.lines[int(s.pos[i]>>columnBits)-1])
}

func (s *scanner) add(st statement) { s.found = append(s.found, st) }

func (s *scanner) forLoop(i int) {
	open := s.blank(i + len("for"))
	if open >= len(s.text) || s.text[open] != '(' {
		return
	}
	end := s.closing(open)
	if end < 0 {
		return
	}
	st := statement{file: s.file, at: s.pos[i], stores: s.assignments(end), text: s.firstLine(i), head: span{s.pos[i], s.pos[end]}, body: span{s.pos[end], s.pos[s.statementEnd(end)]}, first: s.firsts(end),
		from: i, bodyAt: end, bodyTo: s.statementEnd(end)}
	semi := semicolons(s.text, open+1, end-1)
	if len(semi) == 2 {
		st.init = span{s.pos[open], s.pos[semi[0]]}
		st.cond, st.step = span{s.pos[semi[0]], s.pos[semi[1]]}, span{s.pos[semi[1]], s.pos[end]}
		st.header = []string{string(s.text[open+1 : semi[0]]), string(s.text[semi[0]+1 : semi[1]]), string(s.text[semi[1]+1 : end-1])}
		st.endless = strings.TrimSpace(st.header[1]) == ""
	} else { // over a range: its parts have the position of the colon or the name
		st.cond = span{s.pos[open], s.pos[end]}
	}
	s.add(st)
}

// semicolons are those of a part of the text that no brackets enclose.
func semicolons(text []byte, from, to int) []int {
	var semi []int
	for k, depth := from, 0; k < to; k++ {
		switch text[k] {
		case '(', '{', '[':
			depth++
		case ')', '}', ']':
			depth--
		case ';':
			if depth == 0 {
				semi = append(semi, k)
			}
		}
	}
	return semi
}

func (s *scanner) whileLoop(i int) {
	open := s.blank(i + len("while"))
	if open >= len(s.text) || s.text[open] != '(' {
		return
	}
	end := s.closing(open)
	if end < 0 {
		return
	}
	inside := strings.TrimSpace(string(s.text[open+1 : end-1]))
	s.add(statement{file: s.file, at: s.pos[i], text: s.firstLine(i), stores: s.assignments(end), head: span{s.pos[i], s.pos[end]}, cond: span{s.pos[open], s.pos[end]},
		body: span{s.pos[end], s.pos[s.statementEnd(end)]}, first: s.firsts(end), endless: inside == "1" || inside == "true",
		from: i, bodyAt: end, bodyTo: s.statementEnd(end)})
}

// doLoop returns where the while stands that ends it; 0 if there is none.
func (s *scanner) doLoop(i int) int {
	end := s.statementEnd(i + len("do"))
	tail := s.blank(end)
	if tail >= len(s.text) || !s.keyword(tail, "while") {
		return 0
	}
	open := s.blank(tail + len("while"))
	if open >= len(s.text) || s.text[open] != '(' {
		return 0
	}
	shut := s.closing(open)
	if shut < 0 {
		return 0
	}
	s.add(statement{file: s.file, at: s.pos[i], text: s.firstLine(i), head: span{s.pos[tail], s.pos[shut]}, cond: span{s.pos[open], s.pos[shut]},
		body: span{s.pos[i], s.pos[tail]}, first: s.firsts(i + len("do")),
		from: i, bodyAt: i + len("do"), bodyTo: end})
	return tail
}

var (
	loopMacro = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*define[ \t]+(\w+)(?:\(([^)]*)\))?[ \t]+(for|while)[ \t]*\((.*)\)[ \t]*$`)
	plainWord = regexp.MustCompile(`\b[A-Za-z_]\w*\b`)
)

// loopMacros are the names that the text or what it includes defines as the
// header of a loop.
func (s *scanner) loopMacros() map[string]macro {
	names := map[string]macro{}
	for _, m := range loopMacro.FindAllSubmatch(s.all, -1) {
		mc := macro{parameters: splitTrimmed(string(m[2]))}
		inside := m[4]
		if semi := semicolons(inside, 0, len(inside)); string(m[3]) == "for" && len(semi) == 2 {
			mc.header = []string{string(inside[:semi[0]]), string(inside[semi[0]+1 : semi[1]]), string(inside[semi[1]+1:])}
		}
		if _, twice := names[string(m[1])]; twice {
			mc.header = nil // which one holds is not known
		}
		names[string(m[1])] = mc
	}
	return names
}

func splitTrimmed(list string) []string {
	var out []string
	for _, part := range strings.Split(list, ",") {
		out = append(out, strings.TrimSpace(part))
	}
	return out
}

// with is the header of a loop with the arguments of the macro in it; nil if it is
// not known.
func (m macro) with(arguments []string) []string {
	if len(arguments) != len(m.parameters) {
		return nil
	}
	var out []string
	for _, part := range m.header {
		out = append(out, plainWord.ReplaceAllStringFunc(part, func(name string) string {
			if i := slices.Index(m.parameters, name); i >= 0 {
				return arguments[i]
			}
			return name
		}))
	}
	return out
}

// named adds the loop that begins with the name at i: one of a macro, or a label
// that is gone back to.
func (s *scanner) named(i int) {
	end := i
	for end < len(s.text) && word(s.text[end]) {
		end++
	}
	name := string(s.text[i:end])
	if _, ok := s.macros[name]; ok {
		s.macroLoop(i, end, name)
	} else if next := s.blank(end); next < len(s.text) && s.text[next] == ':' && (next+1 == len(s.text) || s.text[next+1] != ':') {
		s.labelLoop(i, next+1, name)
	}
}

// macroLoop adds a loop whose header is a macro. All its code has the position of
// the name, so that what is tested and what is stepped cannot be told apart.
func (s *scanner) macroLoop(i, end int, name string) {
	if line := s.lines[int(s.pos[i]>>columnBits)-1]; strings.HasPrefix(strings.TrimSpace(line), "#") {
		return
	}
	arguments := []string{""}
	if open := s.blank(end); open < len(s.text) && s.text[open] == '(' {
		if end = s.closing(open); end < 0 {
			return
		}
		arguments = splitTrimmed(string(s.text[open+1 : end-1]))
	}
	head := span{s.pos[i], s.pos[end]}
	s.add(statement{file: s.file, at: s.pos[i], text: s.firstLine(i), stores: s.assignments(end), head: head, cond: head,
		body: span{s.pos[end], s.pos[s.statementEnd(end)]}, first: s.firsts(end), from: i, bodyAt: end, bodyTo: s.statementEnd(end),
		header: s.macros[name].with(arguments), blurred: true})
}

// labelLoop adds the loop that a goto makes by going back to a label.
func (s *scanner) labelLoop(i, after int, name string) {
	shut := s.functionEnd(i)
	if shut < 0 {
		return
	}
	jumps := regexp.MustCompile(`\b(if\s*\([^;{}]*\)\s*)?goto\s+`+name+`\s*;`).FindAllIndex(s.text[after:shut], -1)
	if len(jumps) == 0 {
		return
	}
	last := jumps[len(jumps)-1]
	from, to := after+last[0], after+last[1]
	back := span{s.pos[from], s.pos[to]}
	st := statement{file: s.file, at: s.pos[i], text: s.firstLine(i), head: back, cond: back,
		body: span{s.pos[i], s.pos[from]}, first: s.firsts(after), from: i, bodyAt: after, bodyTo: from}
	if s.keyword(from, "goto") { // on no condition
		st.endless, st.cond = true, span{}
	}
	s.add(st)
}

// functionEnd is the place behind the function around a place; -1 if there is
// none.
func (s *scanner) functionEnd(i int) int {
	if open := s.functionBody(i); open >= 0 {
		return s.closing(open)
	}
	return -1
}

// assignment finds those to memory: something indexed, a member, or what a
// pointer points to, before = or an operator with it.
var assignment = regexp.MustCompile(`(\]|->\s*\w+|\.\s*\w+|\*\s*\w+)\s*([-+*/%&|^]|<<|>>)?=[^=]|\]\s*(\+\+|--)`)

func (s *scanner) assignments(body int) int {
	return len(assignment.FindAll(s.text[body:min(s.statementEnd(body), len(s.text))], -1))
}

// maxFirsts is how many statements at the start of a body are looked at for one
// that left a mark.
const maxFirsts = 4

// firsts returns the statements at the start of a body that always run.
func (s *scanner) firsts(body int) []span {
	i := s.blank(body)
	braced := i < len(s.text) && s.text[i] == '{'
	if braced {
		i = s.blank(i + 1)
	}
	var out []span
	for i < len(s.text) && s.text[i] != '}' && len(out) < maxFirsts {
		end := s.statementEnd(i)
		switch {
		case s.keyword(i, "for"):
			if semi := strings.IndexByte(string(s.text[i:end]), ';'); semi > 0 {
				out = append(out, span{s.pos[i], s.pos[i+semi]})
			}
			return out
		case s.keyword(i, "while") || s.keyword(i, "do"):
			return out
		}
		if s.keyword(i, "if") || s.keyword(i, "switch") {
			if shut := s.closing(i); shut > 0 { // what it tests always runs
				out = append(out, span{s.pos[i], s.pos[shut]})
			}
			return out
		}
		out = append(out, span{s.pos[i], s.pos[end]})
		text := string(s.text[i:end])
		if !braced || strings.ContainsAny(text, "?{&|") || strings.Contains(text, "if") || strings.Contains(text, "break") || strings.Contains(text, "return") ||
			strings.Contains(text, "goto") || strings.Contains(text, "continue") || strings.Contains(text, "switch") {
			return out
		}
		i = s.blank(end)
	}
	return out
}

// goLoops finds for … { … } as gofmt writes it: the closing brace begins a line that
// is indented as the for. One that a brace follows ends a list that is gone through.
func goLoops(file string, text []byte) []statement {
	var open []string
	return lineLoops(file, text, func(line string) (opens bool, closes int) {
		rest := strings.TrimLeft(line, "\t")
		indent := line[:len(line)-len(rest)]
		opening := strings.HasSuffix(strings.TrimSpace(string(blanked([]byte(rest)))), "{")
		if strings.HasPrefix(rest, "for ") && opening {
			open = append(open, indent)
			return true, 0
		}
		if n := len(open); n > 0 && strings.HasPrefix(rest, "}") && indent == open[n-1] && !opening {
			open = open[:n-1]
			return false, 1
		}
		return false, 0
	})
}

// untested are the first lines of loops without a condition.
var untested = regexp.MustCompile(`(?i)^(\w+\s*:\s*)?(do|for\s*\{)\s*$`)

// lineLoops finds loops whose first and last lines are told by a function.
func lineLoops(file string, text []byte, what func(line string) (opens bool, closes int)) []statement {
	var found []statement
	var open []int
	for i, line := range strings.Split(string(text), "\n") {
		opens, closes := what(line)
		at := place(i+1, 0)
		for ; closes > 0 && len(open) > 0; closes-- {
			found[open[len(open)-1]].body.to = place(i+2, 0)
			open = open[:len(open)-1]
		}
		if opens {
			head := span{at, place(i+2, 0)}
			open = append(open, len(found))
			bare := strings.TrimSpace(line)
			code, _, _ := strings.Cut(string(blanked([]byte(bare))), "!") // without comments of either language
			found = append(found, statement{file: file, at: at, text: bare, head: head, cond: head, body: span{place(i+2, 0), place(i+2, 0)}, shape: shape{parent: -1},
				endless: untested.MatchString(code)})
		}
	}
	return found
}

// lineOf returns a line of a text, trimmed; empty if there is none.
func lineOf(text []byte, line int) string {
	lines := strings.Split(string(text), "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	return strings.TrimSpace(lines[line-1])
}
