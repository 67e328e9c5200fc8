package align

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// function is a function of a source file: lines from to to, not counting to.
type function struct {
	name     string
	from, to int
}

// Heads of functions. What stands before a brace is one if a name precedes its
// first parenthesis and is no word of control.
var (
	wordHead = regexp.MustCompile(`\b(?:func\s*(?:\([^)]*\)\s*)?|fn\s+)([A-Za-z_]\w*)`) // Go, Rust
	callHead = regexp.MustCompile(`([A-Za-z_~][\w:~]*(?:<[^<>()]*>)?)\s*\(`)
)

var control = map[string]bool{"if": true, "for": true, "while": true, "switch": true, "catch": true, "return": true, "sizeof": true, "defined": true, "do": true}

// functionsOf finds the functions of a source file by the words of Fortran, or by
// braces, and says whether it is Fortran.
func functionsOf(text []string) (found []function, fortran bool) {
	if found, fortran = fortranFunctions(text); fortran {
		return found, true
	}
	return bracedFunctions(text), false
}

// scanner walks over braces outside of comments, strings and directives.
type scanner struct {
	out      []function
	head     strings.Builder // since the last brace or semicolon
	headFrom int             // the line it began at; −1 before its first sign
	markFrom int             // the first of the attributes of Rust before it; −1 without
	depth    int
	inside   int // the depth of the function that is open; −1 outside
	comment  bool
}

// maxHead bounds what is looked at before a brace.
const maxHead = 4096

func bracedFunctions(text []string) []function {
	s := scanner{headFrom: -1, markFrom: -1, inside: -1}
	directive := false
	for i, t := range text {
		if !s.comment && s.headFrom < 0 && strings.HasPrefix(strings.TrimSpace(t), "#[") {
			if s.markFrom < 0 {
				s.markFrom = i
			}
			continue
		}
		if !s.comment && (directive || strings.HasPrefix(strings.TrimSpace(t), "#")) {
			directive = strings.HasSuffix(strings.TrimRight(t, " \t\r"), `\`)
			continue
		}
		if strings.HasPrefix(t, "}") && !s.comment {
			s.depth = 1 // what closes at the margin closes everything, whatever was left open
			s.inside = min(s.inside, 0)
		}
		s.line(t, i)
	}
	if s.inside >= 0 {
		s.out[len(s.out)-1].to = len(text)
	}
	return s.out
}

func (s *scanner) line(t string, number int) {
	for i := 0; i < len(t); i++ {
		c := t[i]
		if s.comment {
			if c == '*' && strings.HasPrefix(t[i:], "*/") {
				s.comment = false
				i++
			}
			continue
		}
		switch {
		case strings.HasPrefix(t[i:], "//"):
			s.sign(' ', number)
			return
		case strings.HasPrefix(t[i:], "/*"):
			s.comment = true
			i++
		case c == '"' || c == '`' || c == '\'' && isCharacter(t, i):
			i = closing(t, i)
		default:
			s.sign(c, number)
		}
	}
	s.sign(' ', number)
}

// isCharacter tells a character in quotes from a quote that closes nothing: a lifetime
// of Rust, such as &'a str, or one that parts the digits of a number of C++.
func isCharacter(t string, i int) bool {
	if strings.HasPrefix(t[i:], `'\`) {
		return true
	}
	_, size := utf8.DecodeRuneInString(t[i+1:])
	return strings.HasPrefix(t[i+1+size:], "'")
}

// closing is where the string that begins at i ends, or the end of the line.
func closing(t string, i int) int {
	quote := t[i]
	for i++; i < len(t) && t[i] != quote; i++ {
		if t[i] == '\\' {
			i++
		}
	}
	return i
}

func (s *scanner) sign(c byte, number int) {
	switch c {
	case '{':
		if name, ok := headName(s.head.String()); ok && s.inside < 0 {
			s.out = append(s.out, function{name: name, from: s.headFrom, to: number + 1})
			s.inside = s.depth
		}
		s.depth++
		s.clear()
	case '}':
		s.depth = max(s.depth-1, 0)
		if s.inside == s.depth {
			s.out[len(s.out)-1].to = number + 1
			s.inside = -1
		}
		s.clear()
	case ';':
		s.clear()
	default:
		if s.headFrom < 0 && c != ' ' && c != '\t' && c != '\r' {
			s.headFrom = number
			if s.markFrom >= 0 {
				s.headFrom = s.markFrom
			}
		}
		if s.headFrom >= 0 && s.head.Len() < maxHead {
			s.head.WriteByte(c)
		}
	}
}

func (s *scanner) clear() {
	s.head.Reset()
	s.headFrom, s.markFrom = -1, -1
}

func headName(head string) (string, bool) {
	if m := wordHead.FindStringSubmatch(head); m != nil {
		return m[1], true
	}
	head = withoutAttributes(head)
	m := callHead.FindStringSubmatch(head)
	if m == nil || control[m[1]] || strings.ContainsAny(strings.TrimSpace(head[:strings.Index(head, m[0])]), "=") {
		return "", false
	}
	return m[1], true
}

// attribute begins what compilers are told about a function before its name.
var attribute = regexp.MustCompile(`(?:__attribute__|__declspec|alignas|_Alignas|__asm__|asm|\[\[[^\]]*\]\])\s*\(?`)

// withoutAttributes cuts attributes and their arguments out of a head.
func withoutAttributes(head string) string {
	for {
		at := attribute.FindStringIndex(head)
		if at == nil {
			return head
		}
		end := at[1]
		for open := strings.Count(head[at[0]:at[1]], "("); open > 0 && end < len(head); end++ {
			switch head[end] {
			case '(':
				open++
			case ')':
				open--
			}
		}
		head = head[:at[0]] + head[end:]
	}
}

// similarEnough is the share of lines and words that two functions of different
// names must have in common to be one.
const similarEnough = .6

// maxStrangers bounds how many functions without a namesake are compared with
// each other.
const maxStrangers = 300

// namesakes pairs the functions of two files by name, the k-th of a name with the
// k-th.
func namesakes(a, b *file) [][2]int {
	var pairs [][2]int
	named := map[string][]int{}
	for j, f := range b.functions {
		if !b.paired[j] {
			named[f.name] = append(named[f.name], j)
		}
	}
	for i, f := range a.functions {
		if list := named[f.name]; len(list) > 0 && !a.paired[i] {
			pairs = append(pairs, [2]int{i, list[0]})
			named[f.name] = list[1:]
			a.paired[i], b.paired[list[0]] = true, true
		}
	}
	return pairs
}

// lookalikes pairs functions of two files that have no partner by what is in them.
func lookalikes(a, b *file) [][2]int {
	var pairs [][2]int
	for _, m := range alike(strangersIn("", a), strangersIn("", b)) {
		pairs = append(pairs, [2]int{m.a.function, m.b.function})
	}
	return pairs
}

// functionAt is a function of a file.
type functionAt struct {
	file     string
	function int
	of       *file
}

// movedFunction is one that is in another file than before.
type movedFunction struct{ a, b functionAt }

// movedNamesakes pairs functions without a partner in their own file by a name that
// only one on each side has.
func movedNamesakes(a, b map[string]*file) []movedFunction {
	only := func(files map[string]*file) map[string]functionAt {
		out, several := map[string]functionAt{}, map[string]bool{}
		for _, f := range strangers(files) {
			name := f.of.functions[f.function].name
			_, seen := out[name]
			several[name] = several[name] || seen
			out[name] = f
		}
		maps.DeleteFunc(out, func(name string, _ functionAt) bool { return several[name] })
		return out
	}
	inA, inB := only(a), only(b)
	var pairs []movedFunction
	for _, name := range slices.Sorted(maps.Keys(inA)) {
		if there, ok := inB[name]; ok {
			pairs = append(pairs, paired(inA[name], there))
		}
	}
	return pairs
}

// movedLookalikes pairs functions whose file and name are others by what is in them.
func movedLookalikes(a, b map[string]*file) []movedFunction {
	first := func(all []functionAt) []functionAt { return all[:min(len(all), maxStrangers)] }
	return alike(first(strangers(a)), first(strangers(b)))
}

func paired(a, b functionAt) movedFunction {
	a.of.paired[a.function], b.of.paired[b.function] = true, true
	return movedFunction{a, b}
}

// strangers are the functions without a partner, in order.
func strangers(files map[string]*file) []functionAt {
	var out []functionAt
	for _, name := range slices.Sorted(maps.Keys(files)) {
		out = append(out, strangersIn(name, files[name])...)
	}
	return out
}

// strangersIn are those of one file, as many as are compared with each other.
func strangersIn(name string, f *file) []functionAt {
	var out []functionAt
	for i, has := range f.paired {
		if !has && len(out) < maxStrangers {
			out = append(out, functionAt{name, i, f})
		}
	}
	return out
}

// alike pairs functions by what is in them, best first, each once.
func alike(a, b []functionAt) []movedFunction {
	type match struct {
		a, b  functionAt
		alike float64
	}
	var all []match
	for _, x := range a {
		mine := x.of.bodyOf(x.function)
		for _, y := range b {
			if alike := mine.alike(y.of.bodyOf(y.function)); alike >= similarEnough {
				all = append(all, match{x, y, alike})
			}
		}
	}
	slices.SortStableFunc(all, func(x, y match) int { return cmp.Compare(y.alike, x.alike) })
	var pairs []movedFunction
	for _, m := range all {
		if !m.a.of.paired[m.a.function] && !m.b.of.paired[m.b.function] {
			pairs = append(pairs, paired(m.a, m.b))
		}
	}
	return pairs
}

// body is what a function consists of, without its order.
type body struct{ lines, tokens []string }

// alike is the mean of the shares of lines and of words that two bodies share; 0
// where their sizes say that it is too little.
func (a *body) alike(b *body) float64 {
	most := func(x, y []string) float64 { return 2 * float64(min(len(x), len(y))) / float64(max(len(x)+len(y), 1)) }
	if most(a.lines, b.lines)+most(a.tokens, b.tokens) < 2*similarEnough {
		return 0
	}
	return (dice(a.lines, b.lines) + dice(a.tokens, b.tokens)) / 2
}

func bodyOf(lines []line) *body {
	b := &body{}
	for _, l := range lines {
		if !l.common {
			b.lines = append(b.lines, l.text)
			b.tokens = append(b.tokens, l.tokens...)
		}
	}
	slices.Sort(b.lines)
	slices.Sort(b.tokens)
	return b
}
