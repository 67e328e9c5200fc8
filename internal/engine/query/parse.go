package query

import (
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// maxDepth bounds nesting, so that a hostile text cannot exhaust the stack.
const maxDepth = 200

// maxText bounds the text of a selection: what people write, and what links keep.
// Lists and patterns beyond it take more time and memory than anybody waits for.
const maxText = 64 << 10

// Parse reads a selection over the columns of t. Empty text is everything, a
// nil Expr.
//
//	or      = and { "|" and }
//	and     = unary { "&" unary }
//	unary   = "!" unary | "(" or ")" | "at" resource | "rows" name | term
//	term    = column ( op value | "in" range | "in" "(" values ")" | "~" regex | nothing )
//
// A column alone is a flag that is set. Rows without a value satisfy no
// comparison; `column = none` finds them.
func Parse(text string, t *table.Table) (Expr, error) {
	if len(text) > maxText {
		return nil, &SyntaxError{Text: text[:64] + "…", Position: 0, Problem: fmt.Sprintf("a selection has at most %d bytes, this one %d", maxText, len(text))}
	}
	p := &parser{lexer: lexer{in: text}, table: t}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind == tokenEnd {
		return nil, nil
	}
	e, err := p.or(0)
	if err != nil {
		return nil, err
	}
	if p.tok.kind != tokenEnd {
		return nil, p.errorf(p.tok.at, "expected & or | or the end here")
	}
	return e, nil
}

type parser struct {
	lexer
	tok   token
	table *table.Table
}

func (p *parser) advance() (err error) {
	p.tok, err = p.next()
	return err
}

func (p *parser) sign(s string) bool { return p.tok.kind == tokenSign && p.tok.text == s }

func (p *parser) or(depth int) (Expr, error) {
	return p.chain("|", depth, p.and, func(terms []Expr) Expr { return Or{terms} })
}

func (p *parser) and(depth int) (Expr, error) {
	return p.chain("&", depth, p.unary, func(terms []Expr) Expr { return And{terms} })
}

func (p *parser) chain(sign string, depth int, part func(int) (Expr, error), combine func([]Expr) Expr) (Expr, error) {
	e, err := part(depth)
	if err != nil || !p.sign(sign) {
		return e, err
	}
	terms := []Expr{e}
	for p.sign(sign) {
		if err := p.advance(); err != nil {
			return nil, err
		}
		e, err := part(depth)
		if err != nil {
			return nil, err
		}
		terms = append(terms, e)
	}
	return combine(terms), nil
}

func (p *parser) unary(depth int) (Expr, error) {
	if depth > maxDepth {
		return nil, p.errorf(p.tok.at, "nested more than %d deep", maxDepth)
	}
	switch {
	case p.sign("!"):
		if err := p.advance(); err != nil {
			return nil, err
		}
		e, err := p.unary(depth + 1)
		return Not{e}, err
	case p.sign("("):
		return p.bracketed(depth)
	case p.tok.kind == tokenWord && p.tok.text == "at":
		name, err := p.nameAfter("a resource such as L3:1")
		return At{name}, err
	case p.tok.kind == tokenWord && p.tok.text == "rows":
		name, err := p.nameAfter("the name of a stored set")
		return RowSet{name}, err
	case p.tok.kind == tokenWord || p.tok.kind == tokenText:
		return p.term()
	}
	return nil, p.errorf(p.tok.at, "expected a column name, !, ( or at")
}

func (p *parser) bracketed(depth int) (Expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	e, err := p.or(depth + 1)
	if err != nil {
		return nil, err
	}
	if !p.sign(")") {
		return nil, p.errorf(p.tok.at, "expected )")
	}
	return e, p.advance()
}

func (p *parser) nameAfter(what string) (string, error) {
	if err := p.advance(); err != nil {
		return "", err
	}
	if p.tok.kind != tokenWord && p.tok.kind != tokenText {
		return "", p.errorf(p.tok.at, "expected %s", what)
	}
	name := p.tok.text
	return name, p.advance()
}

func (p *parser) term() (Expr, error) {
	at := p.tok.at
	c := p.table.Column(p.tok.text)
	if c == nil {
		return nil, p.unknownColumn(p.tok)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	switch {
	case p.tok.kind == tokenWord && p.tok.text == "in":
		return p.in(c)
	case p.sign("~"):
		return p.match(c)
	case p.tok.kind == tokenSign && comparison(p.tok.text):
		return p.compare(c)
	case c.Kind == table.Flag:
		return Compare{c.Name, Eq, NumberValue(1)}, nil
	}
	return nil, p.errorf(at, "%s is a %v: expected a comparison after it, such as %s > 100 or %s in (a, b)", c.Name, c.Kind, c.Name, c.Name)
}

func (p *parser) unknownColumn(tok token) error {
	return p.errorf(tok.at, "%v", UnknownColumn(p.table, tok.text))
}

func comparison(s string) bool {
	switch Op(s) {
	case Eq, Ne, Lt, Le, Gt, Ge:
		return true
	}
	return false
}

func (p *parser) compare(c *table.Column) (Expr, error) {
	op := Op(p.tok.text)
	opAt := p.tok.at
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind == tokenWord && p.tok.text == "none" && (op == Eq || op == Ne) {
		return Missing{c.Name, op == Ne}, p.advance()
	}
	if c.Kind == table.Category && op != Eq && op != Ne {
		return nil, p.errorf(opAt, "%s is a category and has no order; use =, !=, in (…) or ~", c.Name)
	}
	v, err := p.value(c)
	return Compare{c.Name, op, v}, err
}

func (p *parser) match(c *table.Column) (Expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind == tokenEnd || p.tok.kind == tokenSign {
		return nil, p.errorf(p.tok.at, "expected a regular expression in quotes")
	}
	re, err := pattern(p.tok.text)
	if err != nil {
		return nil, p.errorf(p.tok.at, "%v", err)
	}
	return Match{c.Name, re}, p.advance()
}

// maxSteps bounds a regular expression as it is tried: a few letters, such as
// .{1000} over and over, may stand for millions of steps, and hundreds of
// megabytes, at every letter of every name.
const maxSteps = 10_000

func pattern(text string) (*regexp.Regexp, error) {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	if steps(parsed) > maxSteps {
		return nil, fmt.Errorf("the regular expression stands for more than %d steps; repeat less in it", maxSteps)
	}
	return regexp.Compile(text)
}

// steps is about how many instructions an expression becomes; those beyond the
// bound are not counted.
func steps(re *syntax.Regexp) int {
	n := 1
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, part := range re.Sub {
		n = min(n+steps(part), maxSteps+1)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return min(n, maxSteps+1)
}

func (p *parser) in(c *table.Column) (Expr, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.sign("(") {
		return p.set(c)
	}
	return p.interval(c)
}

func (p *parser) set(c *table.Column) (Expr, error) {
	e := In{Column: c.Name}
	for {
		// Past "(" or ",".
		if err := p.advance(); err != nil {
			return nil, err
		}
		v, err := p.value(c)
		if err != nil {
			return nil, err
		}
		e.Values = append(e.Values, v)
		if p.sign(")") {
			return e, p.advance()
		}
		if !p.sign(",") {
			return nil, p.errorf(p.tok.at, "expected , or ) in the list of values")
		}
	}
}

// interval reads lo..hi, where one end may be left out.
func (p *parser) interval(c *table.Column) (Expr, error) {
	if c.Kind == table.Category {
		return nil, p.errorf(p.tok.at, "%s is a category and has no order; write %s in (a, b)", c.Name, c.Name)
	}
	e := Range{Column: c.Name, Lo: infinite(-1), Hi: infinite(1)}
	var err error
	if !p.sign("..") {
		if e.Lo, err = p.value(c); err != nil {
			return nil, err
		}
	}
	if !p.sign("..") {
		return nil, p.errorf(p.tok.at, "expected .. and the upper end, as in %s in 0..10", c.Name)
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind == tokenNumber {
		if e.Hi, err = p.value(c); err != nil {
			return nil, err
		}
	}
	if math.IsInf(e.Lo.Number, 0) && math.IsInf(e.Hi.Number, 0) {
		return nil, p.errorf(p.tok.at, "a range needs at least one end")
	}
	return e, nil
}

// infinite is an open end of a range: it has no text.
func infinite(sign int) Value { return Value{Number: math.Inf(sign), IsNumber: true} }

// value reads one literal that fits the column.
func (p *parser) value(c *table.Column) (Value, error) {
	tok := p.tok
	var v Value
	switch tok.kind {
	case tokenNumber:
		v = tok.num
	case tokenWord, tokenText:
		v = Value{Text: tok.text, Quoted: true}
	default:
		return v, p.errorf(tok.at, "expected a value for %s", c.Name)
	}
	if c.Kind != table.Category && !v.IsNumber {
		n, ok := flagWord(c, tok.text)
		if !ok {
			return v, p.errorf(tok.at, "%s is a %v; %q is not a number", c.Name, c.Kind, tok.text)
		}
		v = n
	}
	if c.Name == samples.Level && c.Kind == table.Category {
		v.Text = knownLevel(c, v.Text)
	}
	return v, p.advance()
}

// knownLevel returns what a table calls a level that is spelled as another tool does.
func knownLevel(c *table.Column, word string) string {
	if _, ok := c.Code(word); ok {
		return word
	}
	if level, ok := samples.LevelOf(word); ok {
		return level
	}
	return word
}

func flagWord(c *table.Column, word string) (Value, bool) {
	if c.Kind != table.Flag {
		return Value{}, false
	}
	switch word {
	case "yes", "true", "set":
		return NumberValue(1), true
	case "no", "false", "unset":
		return NumberValue(0), true
	}
	return Value{}, false
}

// nearestName returns the name most like the word, or "" if none is near: at most
// one edit in three letters, case aside.
func nearestName(word string, names []string) string {
	best, limit := "", len(word)/3+1
	for _, n := range names {
		if d := edits(word, n); d < limit || d == limit && best == "" {
			best, limit = n, d
		}
	}
	return best
}

// edits is the Levenshtein distance, ignoring the case of ASCII letters, with
// a swap of neighbours as one edit.
func edits(a, b string) int {
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if lower(a[i-1]) == lower(b[j-1]) {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && lower(a[i-1]) == lower(b[j-2]) && lower(a[i-2]) == lower(b[j-1]) {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// UnknownColumn is the error for a column name that a table does not have.
func UnknownColumn(t *table.Table, name string) error {
	names := make([]string, 0, len(t.Columns()))
	for _, c := range t.Columns() {
		names = append(names, c.Name)
	}
	// Columns that come from debug information have no near ones: they are missing.
	if name == samples.Line || name == samples.File {
		return Refuse("there are no source lines; build the program with -g, or give the folder of its debug files")
	}
	if near := nearestName(name, names); near != "" {
		return Refuse("column %q does not exist; did you mean %q?", name, near)
	}
	return Refuse("column %q does not exist; 'isobath info' lists the columns", name)
}
