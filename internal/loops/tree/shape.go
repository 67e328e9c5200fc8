package tree

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/source"
)

// shape is what the text of a loop tells of its turns, whatever the compiler
// makes of it.
type shape struct {
	parent int32 // the statement around it in the same function; -1 if none
	// always says that every turn of the parent, or every call of the function if
	// there is none, reaches it once.
	always bool
	// completed says the same of every turn of the parent that comes to its end.
	completed bool
	// counted loops run a variable from a value to a limit. It is nil where that is
	// not known, or where something else may end the loop.
	counted *counted
	// hollow says that the turns of the parent leave nothing behind but what this
	// loop does, whose limits move with them: compilers leave out turns in which it
	// is empty.
	hollow bool
	// function is the name of the function it stands in; empty if not found.
	function string
	// guarded says that names in capitals are called in it that the file does not
	// define: a macro may end the loop.
	guarded bool
}

// counted is the header of a loop that runs a variable from a value to a limit.
type counted struct {
	variable string
	from     expression
	tests    []limited // it goes on while all hold
	next     func(v int64) int64
}

// limited is a comparison of the variable with a limit.
type limited struct {
	limit expression
	holds func(v, limit int64) bool
}

// goesOn reports whether a turn follows with a value of the variable; known is false
// where a limit is not.
func (c *counted) goesOn(v int64, variables map[string]int64) (is, known bool) {
	for _, t := range c.tests {
		limit, ok := t.limit(variables)
		if !ok {
			return false, false
		}
		if !t.holds(v, limit) {
			return false, true
		}
	}
	return true, true
}

// expression is a whole number of loop variables; false if it is none.
type expression func(variables map[string]int64) (int64, bool)

// maxValue bounds the numbers that are computed with: no type of a loop variable
// is known, and most wrap beyond.
const maxValue = 1<<31 - 1

// shapes finds what the text of every loop tells. Loops are in order of their
// keywords, so that those around others come first.
func (s *scanner) shapes() {
	constants := s.constants()
	s.functions = s.plainFunctions()
	for k := range s.found {
		st := &s.found[k]
		st.shape.parent = int32(s.enclosing(k))
		body := s.functionBody(st.from)
		if p := st.shape.parent; p >= 0 {
			if body > s.found[p].from { // of a function inside another, such as a lambda
				st.shape.parent = -1
			} else {
				body = s.found[p].bodyAt
			}
		}
		st.shape.always = body >= 0 && s.reaches(body, st.from, ends, leaves)
		st.shape.completed = st.shape.parent >= 0 && body >= 0 && s.reaches(body, st.from, skips, skips)
		st.shape.function = s.functionName(s.functionBody(st.from))
		st.shape.counted = s.counted(k, constants)
		st.shape.guarded = s.guarded(k)
		st.shape.hollow = st.shape.parent >= 0 && st.shape.always && s.hollow(k)
		for _, at := range leaving.FindAllIndex(s.text[st.bodyAt:st.bodyTo], -1) {
			st.leavings = append(st.leavings, s.pos[st.bodyAt+at[0]])
		}
		st.straight = !conditional.Match(s.text[st.bodyAt:st.bodyTo])
		st.bare = !plainWord.Match(capitalCall.ReplaceAll(s.text[st.bodyAt:st.bodyTo], []byte(" ")))
		st.choices = s.choices(k)
		st.resuming = s.resuming(k)
		st.resumed = s.resumed(k)
		st.after = s.after(k)
	}
}

// after is the text behind a loop up to the brace that closes what it stands in.
func (s *scanner) after(k int) span {
	st := &s.found[k]
	before := st.from // behind what stands in front of it
	for before > 0 && bytes.IndexByte(blanks, s.text[before-1]) >= 0 {
		before--
	}
	if afterCondition.Match(s.text[max(0, before-len(" else")):before]) {
		return span{}
	}
	from, depth := s.statementEnd(st.from), 0
	for i := from; i < min(len(s.text), from+maxStatement); i++ {
		switch s.text[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth < 0 {
				return span{s.pos[from], s.pos[i]}
			}
		}
	}
	return span{}
}

// afterCondition finds that an if, an else or a loop without braces ends a text.
var afterCondition = regexp.MustCompile(`(\)|\b(else|do))$`)

var blanks = []byte(" \t\r\n")

var choosing = regexp.MustCompile(`\b(if|switch)\s*\(`)

// choice is the condition of an if or a switch.
type choice struct {
	span
	skips bool // what it chooses may end the turn, whatever stands behind it
}

// choices are the conditions of a loop's body on which it depends whether a turn does
// anything that lasts, but for those in loops inside it.
func (s *scanner) choices(k int) (all []choice) {
	st := &s.found[k]
	var skipping []choice
	plain := st.bodyAt // what every turn runs begins here
	for _, at := range choosing.FindAllIndex(s.text[st.bodyAt:st.bodyTo], -1) {
		from := st.bodyAt + at[0]
		end := s.closing(st.bodyAt + at[1] - 1)
		if end < 0 || s.innermost(from) != k {
			continue
		}
		then, whole := s.statementEnd(end), s.statementEnd(from)
		if s.lasts(plain, from) || from >= plain && s.lasts(end, then) && s.lasts(then, whole) {
			return skipping
		}
		plain = max(plain, whole)
		c := choice{span{s.pos[from], s.pos[end]}, s.mayEndTurn(from, end, whole) && len(bytes.Trim(s.text[whole:st.bodyTo], "{};) \t\r\n")) > 0}
		all = append(all, c)
		if c.skips {
			skipping = append(skipping, c)
		}
	}
	if s.lasts(plain, st.bodyTo) {
		return skipping
	}
	return all
}

// mayEndTurn reports whether what an if or a switch chooses, between end and whole, may end
// the turn around it. A break may be that of a switch.
func (s *scanner) mayEndTurn(from, end, whole int) bool {
	chosen := s.text[end:whole]
	if continueWord.Match(chosen) || leaves.Match(chosen) {
		return true
	}
	if s.keyword(from, "switch") {
		return false
	}
	switches := switchWord.FindAllIndex(chosen, -1)
	return slices.ContainsFunc(breakWord.FindAllIndex(chosen, -1), func(at []int) bool {
		return !slices.ContainsFunc(switches, func(w []int) bool { return w[0] < at[0] && end+at[0] < s.statementEnd(end+w[0]) })
	})
}

// resuming are the conditions of a loop's body, but for those in loops inside it, that
// may end a turn and never the loop.
func (s *scanner) resuming(k int) (out []span) {
	st := &s.found[k]
	for _, at := range choosing.FindAllIndex(s.text[st.bodyAt:st.bodyTo], -1) {
		from := st.bodyAt + at[0]
		end := s.closing(st.bodyAt + at[1] - 1)
		if end < 0 || s.innermost(from) != k {
			continue
		}
		if chosen := s.text[end:s.statementEnd(from)]; continueWord.Match(chosen) && !leaving.Match(chosen) {
			out = append(out, span{s.pos[from], s.pos[end]})
		}
	}
	return out
}

// lasts reports whether a part of the text writes or calls anything.
func (s *scanner) lasts(from, to int) bool {
	return from < to && lasting.Match(capitalCall.ReplaceAll(s.text[from:to], []byte(" ")))
}

// innermost is the last loop whose body a place in the text is in; -1 if it is in none.
func (s *scanner) innermost(at int) int {
	found := -1
	for k := range s.found { // those around others come first
		if s.found[k].bodyAt <= at && at < s.found[k].bodyTo {
			found = k
		}
	}
	return found
}

// enclosing is the innermost loop whose body contains another; -1 if none does.
func (s *scanner) enclosing(k int) int {
	best := -1
	for p := range s.found {
		if o := &s.found[p]; p != k && o.bodyAt <= s.found[k].from && s.found[k].from < o.bodyTo && (best < 0 || s.found[best].from < o.from) {
			best = p
		}
	}
	return best
}

var defined = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*(define|undef|if|ifdef|ifndef|endif)\b[ \t]*(\w*)(.*)$`)

var conditional = regexp.MustCompile(`\b(if|else|switch|for|while|do|break|continue|return|goto|throw)\b|\?|&&|\|\|`)

// withIncluded is the text with that of the project's own files it includes, as
// far as there is any, without comments.
func (s *scanner) withIncluded(read func(string) []byte) []byte {
	all := slices.Clone(s.text)
	seen := map[string]bool{s.file: true}
	texts := map[string][]byte{s.file: []byte(strings.Join(s.lines, "\n"))}
	for todo := []string{s.file}; len(todo) > 0 && len(seen) < maxIncluded; todo = todo[1:] {
		for _, name := range source.Included(texts[todo[0]]) {
			name = filepath.Join(filepath.Dir(todo[0]), name)
			if text := read(name); !seen[name] && text != nil {
				seen[name], texts[name] = true, text
				all = append(append(all, '\n'), blanked(text)...)
				todo = append(todo, name)
			}
		}
	}
	return all
}

// maxIncluded bounds the files that are read for their definitions.
const maxIncluded = 64

// constants are the numbers that the file defines once and for all.
func (s *scanner) constants() map[string]int64 {
	type definition struct {
		text  string
		times int
	}
	all := map[string]*definition{}
	depth := 0
	for _, m := range defined.FindAllSubmatch(s.all, -1) {
		name, text := string(m[2]), string(m[3])
		switch string(m[1]) {
		case "if", "ifdef", "ifndef":
			depth++
			continue
		case "endif":
			depth--
			continue
		}
		if all[name] == nil {
			all[name] = &definition{text: text}
		}
		if all[name].times++; depth > 0 || string(m[1]) == "undef" || strings.HasPrefix(text, "(") {
			all[name].times++
		}
	}
	values := map[string]int64{}
	for range all { // one may be told by another
		before := len(values)
		for name, d := range all {
			if d.times != 1 {
				continue
			}
			if v, ok := parseExpression(d.text, &names{constants: values}); ok {
				if n, ok := v(nil); ok {
					values[name] = n
				}
			}
		}
		if len(values) == before {
			break
		}
	}
	s.settled(values)
	return values
}

var initialised = regexp.MustCompile(`\b(\w+)\s*=\s*([^=;,{}]+)[;,]`)

// settled adds variables that only this file can change, and that it never does.
func (s *scanner) settled(values map[string]int64) {
	depth := 0
	from := 0 // of the declaration
	for i, c := range s.text {
		switch c {
		case '{', '(':
			depth++
		case '}', ')':
			depth--
		}
		if depth != 0 || c != ';' && c != '}' {
			continue
		}
		declaration := s.text[from : i+1]
		from = i + 1
		if !private.Match(declaration) {
			continue
		}
		for _, m := range initialised.FindAllSubmatch(declaration, -1) {
			name := string(m[1])
			e, ok := parseExpression(string(m[2]), &names{constants: values})
			if !ok || values[name] != 0 || len(changes(name).FindAllIndex(s.text, -1)) != 1 || len(declares(name).FindAllIndex(s.text, -1)) > 1 {
				continue
			}
			if n, ok := e(nil); ok {
				values[name] = n
			}
		}
	}
}

var private = regexp.MustCompile(`^\s*(static|const|constexpr)\b[^()]*$`)

// declares finds a name behind another one, or in a list of parameters: it may
// be declared there.
func declares(name string) *regexp.Regexp {
	return regexp.MustCompile(`\b(int|long|short|char|unsigned|signed|auto|bool|const|\w+_t|float|double)\b[\s*&]*\b` + name + `\b|[(,]\s*[A-Za-z_]\w*[\s*&]+` + name + `\s*[,)]`)
}

var nameBefore = regexp.MustCompile(`(\w+)\s*$`)

// functionName is the name before the parameters that a brace follows.
func (s *scanner) functionName(brace int) string {
	if brace < 0 {
		return ""
	}
	depth := 0
	for i := brace - 1; i >= 0; i-- {
		switch s.text[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				if m := nameBefore.FindSubmatch(s.text[max(0, i-200):i]); m != nil {
					return string(m[1])
				}
				return ""
			}
		}
	}
	return ""
}

// functionBody is the place of the brace that opens the function around a place;
// -1 if none is found.
func (s *scanner) functionBody(at int) int {
	depth := 0
	for i := at - 1; i >= 0; i-- {
		switch s.text[i] {
		case '}':
			depth++
		case '{':
			if depth--; depth < 0 {
				depth = 0
				if s.opensFunction(i) {
					return i
				}
			}
		}
	}
	return -1
}

var (
	afterParentheses = regexp.MustCompile(`\)\s*(const|noexcept|override|final|mutable|\s)*(->\s*[\w:<>*& ]+)?\s*$`)
	controls         = regexp.MustCompile(`(^|\W)(if|for|while|switch|catch)(\s+constexpr)?\s*$`)
)

// noFunction stands before parentheses that are an attribute of something else.
var noFunction = regexp.MustCompile(`\bnamespace\b[^;{}()]*$|\b(struct|class|union)\s+alignas\s*$`)

// opensFunction reports whether a brace follows the parameters of a function.
func (s *scanner) opensFunction(brace int) bool {
	before := s.text[max(0, brace-400):brace]
	loc := afterParentheses.FindIndex(before)
	if loc == nil {
		return false
	}
	depth := 0
	for i := loc[0]; i >= 0; i-- {
		switch before[i] {
		case ')':
			depth++
		case '(':
			if depth--; depth == 0 {
				if m := nameBefore.FindSubmatch(before[:i]); m != nil {
					if _, loop := s.macros[string(m[1])]; loop {
						return false
					}
				}
				return !controls.Match(before[:i]) && !noFunction.Match(before[:i])
			}
		}
	}
	return false
}

var (
	ends         = regexp.MustCompile(`\b(break|continue|return|goto|throw|longjmp|exit|_exit|abort|co_return|co_await|co_yield|asm|__asm__)\b`)
	leaves       = regexp.MustCompile(`\b(return|goto|throw|longjmp|exit|_exit|abort|co_return|co_await|co_yield|asm|__asm__)\b`)
	skips        = regexp.MustCompile(`\b(continue|goto|co_return|co_await|co_yield|asm|__asm__)\b`)
	leaving      = regexp.MustCompile(`\b(break|return|goto|throw)\b`)
	label        = regexp.MustCompile(`^\w+\s*:([^:]|$)`)
	capitals     = regexp.MustCompile(`\b[A-Z][A-Z0-9_]+\s*\(`)
	labels       = regexp.MustCompile(`(?m)(^|[;{}])\s*\w+\s*:([^:]|$)`)
	switchWord   = regexp.MustCompile(`\bswitch\s*\(`)
	continueWord = regexp.MustCompile(`\bcontinue\b`)
	breakWord    = regexp.MustCompile(`\bbreak\b`)
	byName       = regexp.MustCompile(`\[\s*&`)
)

// reaches reports whether every run of the statement at body comes to the loop at
// target: nothing before it may end the run, as words of ending do, or those of
// leavingLoops in loops, and no condition stands around it.
func (s *scanner) reaches(body, target int, ending, leavingLoops *regexp.Regexp) bool {
	i := s.blank(body)
	if i >= len(s.text) || s.text[i] != '{' {
		return i == target
	}
	for i = s.blank(i + 1); i < len(s.text) && s.text[i] != '}' && i <= target; {
		if i == target {
			return true
		}
		end := s.statementEnd(i)
		if s.text[i] == '{' && target < end {
			return s.reaches(i, target, ending, leavingLoops)
		}
		text := s.text[i:end]
		loop := s.keyword(i, "for") || s.keyword(i, "while") || s.keyword(i, "do")
		if label.Match(text) || loop && leavingLoops.Match(text) || !loop && ending.Match(text) {
			return false
		}
		i = s.blank(end)
	}
	return false
}

// counted reads the header of a for, if nothing but its condition ends the loop.
func (s *scanner) counted(k int, constants map[string]int64) *counted {
	st := &s.found[k]
	if len(st.header) != 3 || st.endless || !s.unbroken(k) {
		return nil
	}
	known := &names{constants: constants, functions: s.functions, variables: s.variablesAround(k)}
	c := &counted{}
	if !c.readInit(st.header[0], known) || !c.readCondition(st.header[1], known) || !c.readStep(st.header[2], known) {
		return nil
	}
	if assigns(string(s.text[st.bodyAt:st.bodyTo]), c.variable) {
		return nil
	}
	return c
}

// variablesAround are the variables of the counted loops around one, as far out
// as each turn of the one reaches the next.
func (s *scanner) variablesAround(k int) map[string]bool {
	known := map[string]bool{}
	for s.found[k].shape.always && s.found[k].shape.parent >= 0 {
		k = int(s.found[k].shape.parent)
		c := s.found[k].shape.counted
		if c == nil {
			break
		}
		known[c.variable] = true
	}
	return known
}

// unbroken reports whether only its condition ends a loop, and only its start
// begins it.
func (s *scanner) unbroken(k int) bool {
	st := &s.found[k]
	body := s.text[st.bodyAt:st.bodyTo]
	if leaves.Match(body) || labels.Match(withoutCases(body)) || byName.Match(body) {
		return false
	}
	own := []byte(string(body))
	blank := func(from, to int) {
		for i := max(from, 0); i < min(to, len(own)); i++ {
			own[i] = ' '
		}
	}
	for o := range s.found {
		if in := &s.found[o]; o != k && in.from >= st.bodyAt && in.from < st.bodyTo {
			blank(in.bodyAt-st.bodyAt, in.bodyTo-st.bodyAt)
		}
	}
	for _, at := range switchWord.FindAllIndex(body, -1) {
		blank(at[0], s.statementEnd(st.bodyAt+at[0])-st.bodyAt)
	}
	return !breakWord.Match(own) && !caseWord.Match(own)
}

// resumed reports whether the body of a loop is entered in its middle: where a
// coroutine goes on, or at a label of a switch around the loop, which it was left from.
func (s *scanner) resumed(k int) bool {
	st := &s.found[k]
	body := s.text[st.bodyAt:st.bodyTo]
	if suspends.Match(body) {
		return true
	}
	if !leaves.Match(body) { // all its entries at labels are entries
		return false
	}
	switches := switchWord.FindAllIndex(body, -1)
	for _, at := range caseWord.FindAllIndex(body, -1) {
		if !slices.ContainsFunc(switches, func(w []int) bool {
			return w[0] < at[0] && st.bodyAt+at[0] < s.statementEnd(st.bodyAt+w[0])
		}) {
			return true
		}
	}
	return false
}

var suspends = regexp.MustCompile(`\bco_(await|yield)\b`)

var caseWord = regexp.MustCompile(`\b(case\b[^:?;{}]*|default\s*):`)

// withoutCases blanks the labels of switches.
func withoutCases(text []byte) []byte { return caseWord.ReplaceAll(text, []byte(" ")) }

// guarded reports whether a loop calls a name in capitals that the file does not
// define.
func (s *scanner) guarded(k int) bool {
	st := &s.found[k]
	for _, m := range capitals.FindAll(s.text[st.bodyAt:st.bodyTo], -1) {
		name := strings.TrimSpace(strings.TrimSuffix(string(m), "("))
		all := regexp.MustCompile(`(?m)^[ \t]*#[ \t]*define[ \t]+`+name+`\b(.*\\\n)*.*$`).FindAll(s.all, -1)
		if len(all) == 0 || slices.ContainsFunc(all, ends.Match) {
			return true
		}
	}
	return false
}

// hollow reports whether the loop around one writes and calls nothing else, and a
// compiler can know of turns around it that the one is empty in: the variable
// around it is in its header, or it depends on data that nothing but the one
// changes, on a variable that only its own turns change, or on what changes further
// out.
func (s *scanner) hollow(k int) bool {
	st := &s.found[k]
	around := &s.found[st.shape.parent]
	before, behind := string(s.text[around.bodyAt:st.from]), string(s.text[st.bodyTo:around.bodyTo])
	rest := capitalCall.ReplaceAllString(before+behind, " ")
	if lasting.MatchString(rest) || strings.HasPrefix(string(s.text[st.from:st.bodyAt]), "do") { // which is never empty
		return false
	}
	moving := ""
	if len(around.header) == 3 {
		if m := initial.FindStringSubmatch(around.header[0]); m != nil {
			moving = m[1]
		}
	}
	if len(st.header) == 3 && moving != "" && !plainWord.MatchString(rest) &&
		regexp.MustCompile(`\b`+moving+`\b`).MatchString(inBrackets.ReplaceAllString(st.header[0]+" "+st.header[1], " ")) {
		return true
	}
	limits := string(s.text[st.from:st.bodyAt])
	init := ""
	if len(st.header) == 3 {
		init, limits = st.header[0], st.header[0]+" ; "+st.header[1]
	}
	inside := string(s.text[st.from:st.bodyTo])
	if end := leaving.FindStringIndex(inside); st.endless && end != nil {
		limits += " ; " + inside[:end[0]]
	}
	for _, name := range plainWord.FindAllString(limits, -1) {
		if set := regexp.MustCompile(`\b` + name + `\s*=([^=;][^;]*);`).FindStringSubmatch(before); set != nil {
			limits += " ; " + set[1]
		}
	}
	body := string(s.text[around.bodyAt:around.bodyTo])
	moves := func(name string) bool { return name == moving || assigns(body, name) }
	for _, data := range bracketed(limits) {
		if !slices.ContainsFunc(plainWord.FindAllString(data, -1), moves) {
			return true
		}
	}
	// Once such a loop is empty, nothing changes what it depends on.
	settles := func(name string) bool {
		return name != moving && assigns(inside, name) && !assigns(rest, name) && !assigns(init, name)
	}
	if slices.ContainsFunc(plainWord.FindAllString(limits, -1), settles) {
		return true
	}
	// What is the same in all turns around it is tested before them. It differs from
	// one entry to the next if a loop further out changes it.
	return slices.ContainsFunc(plainWord.FindAllString(limits, -1), func(name string) bool { return !moves(name) && s.changedAround(int(st.shape.parent), name) })
}

// changedAround reports whether a loop around one changes a variable.
func (s *scanner) changedAround(k int, name string) bool {
	for p := s.found[k].shape.parent; p >= 0; p = s.found[p].shape.parent {
		if out := &s.found[p]; assigns(string(s.text[out.from:out.bodyTo]), name) {
			return true
		}
	}
	return false
}

// bracketed are what stands in the outermost square brackets of a text.
func bracketed(text string) (found []string) {
	depth, from := 0, 0
	for i, c := range text {
		switch c {
		case '[':
			if depth++; depth == 1 {
				from = i + 1
			}
		case ']':
			if depth--; depth == 0 {
				found = append(found, text[from:i])
			}
		}
	}
	return found
}

// lasting is what stays when a turn has ended: writing through an index, a pointer
// or a member, and calls.
var lasting = regexp.MustCompile(`[\])]\s*([-+*/%&|^]|<<|>>)?=[^=]|\]\s*(\+\+|--)|(\+\+|--)\s*\w+\s*\[|(^|[;{}])\s*\*|->|\.\w+\s*([-+*/%&|^]|<<|>>)?=[^=]|\b\w+\s*\(`)

// inBrackets is what data tells, which compilers do not know.
var inBrackets = regexp.MustCompile(`\[[^\]]*\]|\w+\([^)]*\)`)

var capitalCall = regexp.MustCompile(`\b[A-Z][A-Z0-9_]+\s*\([^()]*\)\s*;`)

// assigns reports whether a text may change a variable.
func assigns(text, variable string) bool { return changes(variable).MatchString(text) }

func changes(variable string) *regexp.Regexp {
	v := `\b` + variable + `\b`
	return regexp.MustCompile(v + `\s*([-+*/%&|^]|<<|>>)?=([^=]|$)|(\+\+|--)\s*` + v + `|` + v + `\s*(\+\+|--)|&\s*` + v)
}

var (
	initial   = regexp.MustCompile(`^\s*(?:(?:[\w:]+\s+)+)?(\w+)\s*=([^=].*)$`)
	condition = regexp.MustCompile(`^\s*(\w+)\s*(<=|>=|<|>|!=)([^=<>].*)$`)
	turned    = regexp.MustCompile(`^([^<>=!?]+)(<=|>=|<|>|!=)\s*(\w+)\s*$`)
	assigned  = regexp.MustCompile(`^\s*(\w+)\s*(\+|-|\*|/|<<|>>)=(.*)$`)
	stepped   = regexp.MustCompile(`^\s*(?:(\+\+|--)\s*(\w+)|(\w+)\s*(\+\+|--))\s*$`)
)

func (c *counted) readInit(text string, known *names) bool {
	m := initial.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	c.variable = m[1]
	var ok bool
	c.from, ok = parseExpression(m[2], known)
	return ok && known.constants[c.variable] == 0
}

// readCondition reads comparisons of the variable with limits, of which all must hold.
func (c *counted) readCondition(text string, known *names) bool {
	for _, part := range splitTop(text, "&&") {
		m := condition.FindStringSubmatch(part)
		if m == nil || m[1] != c.variable {
			if m = turned.FindStringSubmatch(part); m == nil || m[3] != c.variable {
				return false
			}
			m = []string{"", m[3], mirrored[m[2]], m[1]}
		}
		limit, ok := parseExpression(m[3], known)
		if !ok {
			return false
		}
		c.tests = append(c.tests, limited{limit, comparisons[m[2]]})
	}
	return true
}

// comparisons by how they are written.
var comparisons = map[string]func(x, y int64) bool{
	"<": func(x, y int64) bool { return x < y }, "<=": func(x, y int64) bool { return x <= y },
	">": func(x, y int64) bool { return x > y }, ">=": func(x, y int64) bool { return x >= y },
	"!=": func(x, y int64) bool { return x != y }, "==": func(x, y int64) bool { return x == y },
}

// mirrored are comparisons whose sides changed places.
var mirrored = map[string]string{"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}

func (c *counted) readStep(text string, known *names) bool {
	if m := stepped.FindStringSubmatch(text); m != nil {
		by := int64(1)
		if m[1]+m[4] == "--" {
			by = -1
		}
		c.next = func(v int64) int64 { return v + by }
		return m[2]+m[3] == c.variable
	}
	m := assigned.FindStringSubmatch(text)
	if m == nil || m[1] != c.variable {
		return false
	}
	by, ok := parseExpression(m[3], &names{constants: known.constants})
	if !ok {
		return false
	}
	n, ok := by(nil)
	if !ok || n <= 0 || n > 62 && strings.Contains("<<>>", m[2]) {
		return false
	}
	c.next = map[string]func(int64) int64{
		"+": func(v int64) int64 { return v + n }, "-": func(v int64) int64 { return v - n },
		"*": func(v int64) int64 { return v * n }, "/": func(v int64) int64 { return v / n },
		"<<": func(v int64) int64 { return v << n }, ">>": func(v int64) int64 { return v >> n },
	}[m[2]]
	return true
}
