// Package query holds the selection language, and the questions views ask of
// an engine about a table, a selection and a hover.
package query

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Expr is a selection: a predicate over the columns of a table. String returns
// it in the selection language; Parse of that text gives an equal expression.
type Expr interface {
	String() string
	// binding strength, for brackets: 1 or, 2 and, 3 everything else
	strength() int
}

// Op is a comparison operator.
type Op string

// The comparison operators.
const (
	Eq Op = "="
	Ne Op = "!="
	Lt Op = "<"
	Le Op = "<="
	Gt Op = ">"
	Ge Op = ">="
)

// Value is a literal of the language: a number or a name. Text is always set,
// Number only if IsNumber. Addresses keep all 64 bits in Uint.
type Value struct {
	Text     string
	Number   float64
	Uint     uint64 // for whole numbers from 0 up, and 0x… literals
	IsNumber bool
	Quoted   bool // written in quotes, so a name even if it looks like a number
}

// Compare is `column op value`. A row without a value satisfies no comparison,
// not even !=.
type Compare struct {
	Column string
	Op     Op
	Value  Value
}

// Range is `column in lo..hi`, both ends included. An infinite end is open.
type Range struct {
	Column string
	Lo, Hi Value
}

// In is `column in (a, b, c)`.
type In struct {
	Column string
	Values []Value
}

// Match is `column ~ regex`: the text of the value matches anywhere.
type Match struct {
	Column string
	Re     *regexp.Regexp
}

// Missing is `column = none`: the row has no value there; with Not, it has one.
type Missing struct {
	Column string
	Not    bool
}

// At is `at L3:1`: the path of the sample touches that resource.
type At struct{ Resource string }

// RowSet is `rows NAME`: a set of rows stored under a name, such as a cluster.
type RowSet struct{ Name string }

// And, Or and Not combine expressions.
type (
	And struct{ Terms []Expr }
	Or  struct{ Terms []Expr }
	Not struct{ Term Expr }
)

func (e Compare) strength() int { return 3 }
func (e Range) strength() int   { return 3 }
func (e In) strength() int      { return 3 }
func (e Match) strength() int   { return 3 }
func (e Missing) strength() int { return 3 }
func (e At) strength() int      { return 3 }
func (e RowSet) strength() int  { return 3 }
func (e Not) strength() int     { return 3 }
func (e And) strength() int     { return 2 }
func (e Or) strength() int      { return 1 }

func (e Compare) String() string { return name(e.Column) + " " + string(e.Op) + " " + e.Value.String() }
func (e Range) String() string {
	return name(e.Column) + " in " + e.Lo.String() + ".." + e.Hi.String()
}
func (e In) String() string {
	values := make([]string, len(e.Values))
	for i, v := range e.Values {
		values[i] = v.String()
	}
	return name(e.Column) + " in (" + strings.Join(values, ", ") + ")"
}
func (e Match) String() string { return name(e.Column) + " ~ " + quote(e.Re.String()) }
func (e Missing) String() string {
	if e.Not {
		return name(e.Column) + " != none"
	}
	return name(e.Column) + " = none"
}
func (e At) String() string     { return "at " + resourceName(e.Resource) }
func (e RowSet) String() string { return "rows " + name(e.Name) }
func (e Not) String() string    { return "!" + bracket(e.Term, 3) }
func (e And) String() string    { return join(e.Terms, " & ", 2) }
func (e Or) String() string     { return join(e.Terms, " | ", 1) }

func join(terms []Expr, sep string, strength int) string {
	texts := make([]string, len(terms))
	for i, t := range terms {
		// A nested list of the same strength keeps its brackets, so that the
		// text parses to the same tree.
		texts[i] = bracket(t, strength+1)
	}
	return strings.Join(texts, sep)
}

func bracket(e Expr, least int) string {
	if e.strength() < least {
		return "(" + e.String() + ")"
	}
	return e.String()
}

// String writes the value so that it parses back to itself.
func (v Value) String() string {
	if v.IsNumber && !v.Quoted {
		return v.Text
	}
	return name(v.Text)
}

// mostDigits is up to where a whole number is written with all its digits.
const mostDigits = 1e15

// NumberValue makes a literal of a number.
func NumberValue(f float64) Value {
	form := byte('g')
	if f == math.Trunc(f) && math.Abs(f) < mostDigits {
		form = 'f' // the page writes it so too
	}
	v := Value{Text: strconv.FormatFloat(f, form, -1, 64), Number: f, IsNumber: true}
	if f >= 0 && f < 1<<64 && f == float64(uint64(f)) {
		v.Uint = uint64(f)
	}
	return v
}

// TextValue makes a literal of a name.
func TextValue(s string) Value { return Value{Text: s, Quoted: true} }

// AddressValue makes a literal of a 64-bit address.
func AddressValue(a uint64) Value {
	return Value{Text: "0x" + strconv.FormatUint(a, 16), Number: float64(a), Uint: a, IsNumber: true}
}

// name writes a column name or a text, in quotes unless it is a plain word.
func name(s string) string {
	if plainWord(s) {
		return s
	}
	return quote(s)
}

func resourceName(s string) string {
	typ, number, ok := strings.Cut(s, ":")
	if ok && plainWord(typ) && allDigits(number) {
		return s
	}
	return name(s)
}

func allDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// quote writes s in double quotes; inside, only the quote itself and the
// backslash are escaped, so that regular expressions stay readable.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// plainWord reports whether s can be written without quotes: it starts with a
// letter or underscore and is made of word characters, and is not a keyword.
func plainWord(s string) bool {
	if s == "" || keyword(s) {
		return false
	}
	for i, r := range s {
		if !wordRune(r, i == 0) {
			return false
		}
	}
	return !strings.Contains(s, "..")
}

func keyword(s string) bool { return s == "in" || s == "at" || s == "rows" || s == "none" }

func wordRune(r rune, first bool) bool {
	switch {
	case r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
		return true
	case first:
		return false
	}
	return r >= '0' && r <= '9' || r == '.' || r == ':' || r == '/' || r == '+' || r == '-' || r == '@' || r == '#'
}

// Both returns the intersection of two selections, either of which may be nil
// for everything.
func Both(a, b Expr) Expr {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return And{[]Expr{a, b}}
}
