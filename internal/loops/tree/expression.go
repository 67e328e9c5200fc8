package tree

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// names are what the words of an expression may mean.
type names struct {
	constants map[string]int64
	variables map[string]bool          // of loops around it
	functions map[string]plainFunction // that compute with their arguments alone
}

// plainFunction is a function or macro that only computes.
type plainFunction struct {
	parameters []string
	value      string
}

// parseExpression reads sums and products of numbers, constants and variables, the
// lesser or the greater of two of them, and functions of such.
func parseExpression(text string, known *names) (expression, bool) {
	p := &expressionParser{text: text, names: known}
	return p.whole()
}

type expressionParser struct {
	*names
	text  string
	at    int
	depth int // functions that it is the value of
}

func (p *expressionParser) whole() (expression, bool) {
	e := p.choice()
	p.skip()
	return e, e != nil && p.at == len(p.text)
}

var comparing = regexp.MustCompile(`^(<=|>=|==|!=|<|>)`)

// choice reads 'a < b ? c : d', or an expression without a condition.
func (p *expressionParser) choice() expression {
	left := p.binary(0)
	p.skip()
	op := comparing.FindString(p.text[p.at:])
	if left == nil || op == "" {
		return left
	}
	p.at += len(op)
	right := p.binary(0)
	if right == nil || !p.take('?') {
		return nil
	}
	then := p.choice()
	if then == nil || !p.take(':') {
		return nil
	}
	other := p.choice()
	if other == nil {
		return nil
	}
	return func(variables map[string]int64) (int64, bool) {
		x, ok := left(variables)
		y, ok2 := right(variables)
		if !ok || !ok2 || x < 0 || y < 0 { // numbers without a sign compare otherwise
			return 0, false
		}
		if comparisons[op](x, y) {
			return then(variables)
		}
		return other(variables)
	}
}

// take passes over a character.
func (p *expressionParser) take(c byte) bool {
	p.skip()
	if p.at >= len(p.text) || p.text[p.at] != c {
		return false
	}
	p.at++
	return true
}

func (p *expressionParser) skip() {
	for p.at < len(p.text) && strings.ContainsRune(" \t\r\n", rune(p.text[p.at])) {
		p.at++
	}
}

// operators by how tightly they bind.
var operators = [][]string{{"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}}

func (p *expressionParser) binary(level int) expression {
	if level == len(operators) {
		return p.single()
	}
	left := p.binary(level + 1)
	for left != nil {
		p.skip()
		op := ""
		for _, o := range operators[level] {
			if strings.HasPrefix(p.text[p.at:], o) {
				op = o
			}
		}
		if op == "" {
			return left
		}
		p.at += len(op)
		right := p.binary(level + 1)
		if right == nil {
			return nil
		}
		left = operate(op, left, right)
	}
	return nil
}

func operate(op string, left, right expression) expression {
	return func(variables map[string]int64) (int64, bool) {
		x, ok := left(variables)
		y, ok2 := right(variables)
		if !ok || !ok2 {
			return 0, false
		}
		v := int64(0)
		switch op {
		case "+":
			v = x + y
		case "-":
			v = x - y
		case "*":
			v = x * y
		case "<<", ">>":
			if y < 0 || y > 30 || x < 0 {
				return 0, false
			}
			if v = x >> y; op == "<<" {
				v = x << y
			}
		default:
			if y == 0 {
				return 0, false
			}
			if v = x / y; op == "%" {
				v = x % y
			}
		}
		return v, -maxValue <= v && v <= maxValue
	}
}

func (p *expressionParser) single() expression {
	p.skip()
	if p.at >= len(p.text) {
		return nil
	}
	switch c := p.text[p.at]; {
	case c == '(':
		p.at++
		if e := p.choice(); e != nil && p.take(')') {
			return e
		}
		return nil
	case c == '-':
		p.at++
		if e := p.single(); e != nil {
			return operate("-", func(map[string]int64) (int64, bool) { return 0, true }, e)
		}
		return nil
	case !word(c):
		return nil
	}
	name := p.word()
	if p.skip(); name == "std" && strings.HasPrefix(p.text[p.at:], "::") {
		p.at += 2
		name = "std::" + p.word()
		p.at += len(templateType.FindString(p.text[p.at:]))
	}
	if p.take('(') {
		return p.call(name)
	}
	return p.named(name)
}

// templateType is the type that a function of the library is asked for.
var templateType = regexp.MustCompile(`^\s*<\s*(int|long|size_t|std::size_t|std::ptrdiff_t|ptrdiff_t)\s*>`)

func (p *expressionParser) word() string {
	from := p.at
	for p.at < len(p.text) && word(p.text[p.at]) {
		p.at++
	}
	return p.text[from:p.at]
}

// maxNested bounds functions in functions: nobody writes more.
const maxNested = 4

// call reads arguments up to the closing parenthesis and puts them into the value of
// the function.
func (p *expressionParser) call(name string) expression {
	end := closingParenthesis(p.text, p.at)
	f, ok := p.functions[name]
	if !ok || end < 0 || p.depth == maxNested {
		return nil
	}
	arguments := splitTop(p.text[p.at:end], ",")
	if len(arguments) != len(f.parameters) {
		return nil
	}
	p.at = end + 1
	hidden := false // a variable of the same name as that of a loop
	value := plainWord.ReplaceAllStringFunc(f.value, func(w string) string {
		if i := slices.Index(f.parameters, w); i >= 0 {
			return "(" + arguments[i] + ")"
		}
		hidden = hidden || p.variables[w]
		return w
	})
	if hidden {
		return nil
	}
	in := &expressionParser{names: p.names, text: value, depth: p.depth + 1}
	e, ok := in.whole()
	if !ok {
		return nil
	}
	return e
}

// closingParenthesis is the place of the parenthesis that ends what begins at a place;
// -1 if there is none.
func closingParenthesis(text string, at int) int {
	for depth := 1; at < len(text); at++ {
		switch text[at] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return at
			}
		}
	}
	return -1
}

// splitTop cuts a text where a separator stands outside all parentheses.
func splitTop(text, separator string) (parts []string) {
	depth, from := 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth--
		case depth == 0 && strings.HasPrefix(text[i:], separator):
			parts = append(parts, text[from:i])
			from = i + len(separator)
			i = from - 1
		}
	}
	return append(parts, text[from:])
}

var (
	macroFunction = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*define[ \t]+(\w+)\(([\w\s,]*)\)(.*)$`)
	shortFunction = regexp.MustCompile(`\b(?:int|long|size_t|ptrdiff_t|auto|\w+_t)\s+(\w+)\s*\(([\w\s,]*)\)\s*(?:noexcept\s*)?\{\s*return\b([^;{}]*);\s*\}`)
	wholeNumber   = regexp.MustCompile(`^\s*(?:const\s+)?(?:int|long|size_t|ptrdiff_t|\w+_t)\s+(\w+)\s*$`)
)

// plainFunctions are the macros and functions of the file that are defined once, under
// no condition, and do nothing but return what they compute of whole numbers.
func (s *scanner) plainFunctions() map[string]plainFunction {
	lesser := []string{"a", "b"}
	all := map[string]plainFunction{"std::min": {lesser, "b < a ? b : a"}, "std::max": {lesser, "a < b ? b : a"}}
	times, depth := map[string]int{}, 0
	for _, m := range defined.FindAllSubmatch(s.all, -1) {
		switch string(m[1]) {
		case "if", "ifdef", "ifndef":
			depth++
		case "endif":
			depth--
		}
		if times[string(m[2])]++; depth > 0 {
			times[string(m[2])]++
		}
	}
	for _, m := range macroFunction.FindAllSubmatch(s.all, -1) {
		f := plainFunction{value: string(m[3])}
		for _, parameter := range strings.Split(string(m[2]), ",") {
			f.parameters = append(f.parameters, strings.TrimSpace(parameter))
		}
		if times[string(m[1])] == 1 {
			all[string(m[1])] = f
		}
	}
	for _, m := range shortFunction.FindAllSubmatch(s.all, -1) {
		name, f, known := string(m[1]), plainFunction{value: string(m[3])}, true
		for _, parameter := range strings.Split(string(m[2]), ",") {
			p := wholeNumber.FindStringSubmatch(parameter)
			if known = known && p != nil; known {
				f.parameters = append(f.parameters, p[1])
			}
		}
		again := regexp.MustCompile(`\b`+name+`\s*\([^()]*\)\s*(noexcept\s*)?\{`).FindAllIndex(s.all, 2)
		if known && times[name] == 0 && len(again) == 1 {
			all[name] = f
		}
	}
	return all
}

// named is a number, a constant or a variable.
func (p *expressionParser) named(name string) expression {
	if name[0] >= '0' && name[0] <= '9' {
		n, err := strconv.ParseInt(strings.TrimRight(name, "uUlL"), 0, 32)
		if err != nil {
			return nil
		}
		return func(map[string]int64) (int64, bool) { return n, true }
	}
	if p.variables[name] {
		return func(variables map[string]int64) (int64, bool) { v, ok := variables[name]; return v, ok }
	}
	n, ok := p.constants[name]
	if !ok {
		return nil
	}
	return func(map[string]int64) (int64, bool) { return n, true }
}
