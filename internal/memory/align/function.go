package align

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// function is a function of a source file: lines from to to, not counting to.
type function struct {
	name     string
	from, to int
}

// Heads of functions. What stands before a brace is one if a name precedes its
// first parenthesis and is no word of control.
var (
	goHead      = regexp.MustCompile(`\bfunc\s*(?:\([^)]*\)\s*)?([A-Za-z_]\w*)`)
	callHead    = regexp.MustCompile(`([A-Za-z_~][\w:~]*(?:<[^<>()]*>)?)\s*\(`)
	fortranHead = regexp.MustCompile(`(?i)^\s*(?:[a-z_*()0-9, =]*\s)?(?:subroutine|function|program)\s+([a-z_]\w*)`)
	fortranEnd  = regexp.MustCompile(`(?i)^\s*end\s*(?:subroutine|function|program)?\b\s*\w*\s*$`)
)

var control = map[string]bool{"if": true, "for": true, "while": true, "switch": true, "catch": true, "return": true, "sizeof": true, "defined": true, "do": true}

// functionsOf finds the functions of a source file by its braces, or by the words
// of Fortran where there are none.
func functionsOf(text []string) []function {
	if found := bracedFunctions(text); len(found) > 0 {
		return found
	}
	return fortranFunctions(text)
}

// scanner walks over braces outside of comments, strings and directives.
type scanner struct {
	out      []function
	head     strings.Builder // since the last brace or semicolon
	headFrom int             // the line it began at; −1 before its first sign
	depth    int
	inside   int // the depth of the function that is open; −1 outside
	comment  bool
}

// maxHead bounds what is looked at before a brace.
const maxHead = 4096

func bracedFunctions(text []string) []function {
	s := scanner{headFrom: -1, inside: -1}
	directive := false
	for i, t := range text {
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
		case c == '"' || c == '\'' || c == '`':
			i = closing(t, i)
		default:
			s.sign(c, number)
		}
	}
	s.sign(' ', number)
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
		}
		if s.headFrom >= 0 && s.head.Len() < maxHead {
			s.head.WriteByte(c)
		}
	}
}

func (s *scanner) clear() {
	s.head.Reset()
	s.headFrom = -1
}

func headName(head string) (string, bool) {
	if m := goHead.FindStringSubmatch(head); m != nil {
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

func fortranFunctions(text []string) []function {
	var out []function
	open := false
	for i, t := range text {
		switch m := fortranHead.FindStringSubmatch(t); {
		case m != nil && !strings.HasPrefix(strings.ToLower(strings.TrimSpace(t)), "end"):
			if open {
				out[len(out)-1].to = i
			}
			out, open = append(out, function{name: strings.ToLower(m[1]), from: i, to: len(text)}), true
		case open && fortranEnd.MatchString(t):
			out[len(out)-1].to, open = i+1, false
		}
	}
	return out
}

// similarEnough is the share of lines and words that two functions of different
// names must have in common to be one.
const similarEnough = .6

// maxStrangers bounds how many functions without a namesake are compared with
// each other.
const maxStrangers = 300

// pairFunctions pairs functions by name, the k-th of a name with the k-th, and
// then those left by what is in them, best first.
func pairFunctions(a, b *file) [][2]int {
	var pairs [][2]int
	usedA, usedB := make([]bool, len(a.functions)), make([]bool, len(b.functions))
	named := map[string][]int{}
	for j, f := range b.functions {
		named[f.name] = append(named[f.name], j)
	}
	for i, f := range a.functions {
		if list := named[f.name]; len(list) > 0 {
			pairs = append(pairs, [2]int{i, list[0]})
			named[f.name] = list[1:]
			usedA[i], usedB[list[0]] = true, true
		}
	}
	type match struct {
		a, b  int
		alike float64
	}
	var strangers []match
	leftA, leftB := unused(usedA), unused(usedB)
	for _, i := range leftA {
		for _, j := range leftB {
			if alike := a.bodyOf(i).alike(b.bodyOf(j)); alike >= similarEnough {
				strangers = append(strangers, match{i, j, alike})
			}
		}
	}
	slices.SortStableFunc(strangers, func(x, y match) int { return cmp.Compare(y.alike, x.alike) })
	for _, m := range strangers {
		if !usedA[m.a] && !usedB[m.b] {
			usedA[m.a], usedB[m.b] = true, true
			pairs = append(pairs, [2]int{m.a, m.b})
		}
	}
	return pairs
}

func unused(used []bool) []int {
	var out []int
	for i, u := range used {
		if !u && len(out) < maxStrangers {
			out = append(out, i)
		}
	}
	return out
}

// body is what a function consists of, without its order.
type body struct{ lines, tokens []string }

// alike is the mean of the shares of lines and of words that two bodies share.
func (a *body) alike(b *body) float64 { return (dice(a.lines, b.lines) + dice(a.tokens, b.tokens)) / 2 }

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
