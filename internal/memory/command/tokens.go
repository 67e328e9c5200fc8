package command

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/engine/query"
)

// token is a word or a number of an input, as composed reads it. Names keep
// their underscores and dots.
type token struct {
	word   string // in small letters; empty for a number
	number float64
	unit   string // behind the number: "ms", "%"; empty if none
	// list is what a number with commas is where things are numbered: 1,2,5.
	// There 12,5 is two of them, elsewhere it is a decimal comma.
	list []float64
	up   bool // "200+"
}

func (t *token) isNumber() bool { return t.word == "" }

// to is the token between the ends of a range.
const to = "to"

var (
	rangeField  = regexp.MustCompile(`^(\d[\d.,]*)([a-zµ%]*)(?:-|\.\.)(\d[\d.,]*)([a-zµ%]*)$`)
	numberField = regexp.MustCompile(`^(\d[\d.,]*(?:e[+-]?\d+)?|0x[0-9a-f]+)([a-zµ%]*)(\+?)$`)
	in1000s     = regexp.MustCompile(`\b[1-9]\d{0,2}(?:(?:\.\d{3})+|(?:,\d{3})+)\b`)
	// apart000 is a number whose thousands are apart: by a thin blank, as the page
	// writes it, or by any where what follows is no number of its own.
	apart000 = regexp.MustCompile(`\b\d{1,3}(?:(?:[\x{00a0}\x{2009}\x{202f}]\d{3})+|(?:\s0\d{2})+)\b`)
	// then is what people also write for "than".
	then       = regexp.MustCompile(`(?i)\b(more|less|\w{3,}er) then\b`)
	nameNumber = regexp.MustCompile(`^(.*[^\d:]):(\d+)(?:-(\d+))?$`)
)

// tokensOf cuts an input. Signs, commas between things, and what joins the ends
// of a range are tokens of their own.
func tokensOf(text string) []token {
	text = strings.NewReplacer("–", "-", "—", "-", "≥", ">=", "≤", "<=", "?", " ", "!", " not ", "(", " ", ")", " ").Replace(strings.ToLower(clip(text)))
	text = strings.NewReplacer("not =", " != ", ">=", " >= ", "<=", " <= ", ">", " > ", "<", " < ", "=", " = ").Replace(text)
	var out []token
	for _, f := range strings.Fields(text) {
		field := strings.TrimRight(f, ",;")
		out = append(out, fieldTokens(field)...)
		if field != f {
			out = append(out, token{word: ","})
		}
		if len(out) > maxWords {
			return out[:maxWords]
		}
	}
	return out
}

func fieldTokens(f string) []token {
	if f == "" {
		return nil
	}
	if m := rangeField.FindStringSubmatch(f); m != nil {
		a, okA := numberToken(m[1], m[2], "")
		b, okB := numberToken(m[3], m[4], "")
		if okA && okB {
			return []token{a, {word: to}, b}
		}
	}
	if m := numberField.FindStringSubmatch(f); m != nil {
		if n, ok := numberToken(m[1], m[2], m[3]); ok {
			return []token{n}
		}
	}
	if m := nameNumber.FindStringSubmatch(f); m != nil {
		n, ok := numberToken(m[2], "", "")
		last, ranged := numberToken(m[3], "", "")
		switch {
		case ok && ranged:
			return []token{{word: m[1]}, n, {word: to}, last}
		case ok:
			return []token{{word: m[1]}, n}
		}
	}
	switch f {
	case "-", "..":
		return []token{{word: to}}
	case "&", "&&", "+":
		return []token{{word: "and"}}
	case "|", "||", "/":
		return []token{{word: "or"}}
	case "percent":
		return []token{{word: "%"}}
	}
	return []token{{word: f}}
}

func numberToken(digits, unit, plus string) (token, bool) {
	t := token{unit: unit, up: plus != ""}
	if scale, ok := map[string]float64{"k": 1e3, "m": 1e6, "g": 1e9}[unit]; ok {
		n, err := strconv.ParseFloat(digits, 64)
		t.number, t.unit = n*scale, ""
		return t, err == nil
	}
	if !knownUnit(unit) {
		return t, false // 3rd, 4th, 2d: part of a name
	}
	if n, err := strconv.ParseUint(digits, 0, 64); err == nil {
		t.number = float64(n)
		return t, true
	}
	parts := strings.Split(digits, ",")
	if len(parts) == 1 {
		n, err := strconv.ParseFloat(digits, 64)
		t.number = n
		return t, err == nil
	}
	for _, p := range parts {
		n, err := strconv.ParseFloat(p, 64)
		if err != nil {
			return t, false
		}
		t.list = append(t.list, n)
	}
	n, err := strconv.ParseFloat(strings.Replace(digits, ",", ".", 1), 64)
	if t.number = n; err != nil {
		t.number = t.list[0]
	}
	return t, true
}

// timeUnits are units of time in nanoseconds.
var timeUnits = map[string]float64{"ns": 1, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9, "sec": 1e9, "seconds": 1e9, "second": 1e9, "minute": 60e9, "minutes": 60e9,
	"milliseconds": 1e6, "microseconds": 1e3, "nanoseconds": 1}

// countUnits are words for what a number counts.
var countUnits = map[string]bool{"cycles": true, "cycle": true, "bytes": true, "byte": true, "%": true, "ticks": true}

func knownUnit(u string) bool {
	_, time := timeUnits[u]
	return u == "" || time || countUnits[u]
}

// bound is what one or two numbers of an input limit.
type bound struct {
	op     query.Op // empty: not said
	lo, hi *token   // hi nil: one number
	list   []float64
	count  int // tokens that are numbers
	end    int // the token after it
}

// unit is the unit of the last number that has one: "60 to 80 ms".
func (b *bound) unit() string {
	if b.hi != nil && b.hi.unit != "" {
		return b.hi.unit
	}
	return b.lo.unit
}

// boundWords say how the number behind them bounds, longest first.
var boundWords = []struct {
	words string
	op    query.Op
}{
	{"no more than", query.Le}, {"not more than", query.Le}, {"no less than", query.Ge}, {"not less than", query.Ge},
	{"more than", query.Gt}, {"greater than", query.Gt}, {"longer than", query.Gt}, {"larger than", query.Gt}, {"slower than", query.Gt}, {"higher than", query.Gt},
	{"less than", query.Lt}, {"smaller than", query.Lt}, {"shorter than", query.Lt}, {"faster than", query.Lt}, {"fewer than", query.Lt}, {"lower than", query.Lt},
	{"at least", query.Ge}, {"at most", query.Le}, {"up to", query.Le},
	{"above", query.Gt}, {"over", query.Gt}, {"beyond", query.Gt}, {"exceeding", query.Gt}, {"exceeds", query.Gt}, {"exceed", query.Gt}, {"after", query.Gt}, {">", query.Gt},
	{"below", query.Lt}, {"under", query.Lt}, {"before", query.Lt}, {"<", query.Lt}, {"first", query.Lt},
	{"since", query.Ge}, {"starting at", query.Ge}, {"starting from", query.Ge}, {"min", query.Ge}, {"minimum", query.Ge}, {">=", query.Ge}, {"until", query.Le}, {"max", query.Le}, {"maximum", query.Le}, {"<=", query.Le},
	{"=", query.Eq}, {"is", query.Eq}, {"equals", query.Eq}, {"exactly", query.Eq},
	{"between", ""}, {"from", ""}, {"of", ""}, {"in", ""},
}

// afterWords say so behind it.
var afterWords = []struct {
	words string
	op    query.Op
}{
	{"or more", query.Ge}, {"and more", query.Ge}, {"and above", query.Ge}, {"or above", query.Ge}, {"and up", query.Ge}, {"or higher", query.Ge},
	{"or later", query.Ge}, {"and later", query.Ge}, {"or after", query.Ge}, {"and after", query.Ge}, {"onwards", query.Ge}, {"onward", query.Ge}, {"and onwards", query.Ge},
	{"or greater", query.Ge}, {"or larger", query.Ge}, {"or longer", query.Ge}, {"or slower", query.Ge}, {"and higher", query.Ge}, {"or over", query.Ge}, {"and over", query.Ge},
	{"or earlier", query.Le}, {"and earlier", query.Le}, {"or before", query.Le}, {"and before", query.Le},
	{"or smaller", query.Le}, {"or shorter", query.Le}, {"or faster", query.Le}, {"or lower", query.Le}, {"and lower", query.Le}, {"or fewer", query.Le}, {"or under", query.Le}, {"and under", query.Le},
	{"or less", query.Le}, {"and less", query.Le}, {"and below", query.Le}, {"or below", query.Le},
}

// said returns how many tokens the words take at a place; 0 if others stand
// there.
func saidAt(tokens []token, at int, words string) int {
	n := 0
	for w := range strings.FieldsSeq(words) {
		if at+n >= len(tokens) || tokens[at+n].word != w {
			return 0
		}
		n++
	}
	return n
}

// boundAt reads numbers with what is said about them.
func boundAt(tokens []token, at int) (bound, bool) {
	b := bound{}
	for _, w := range boundWords {
		if n := saidAt(tokens, at, w.words); n > 0 {
			b.op, at = w.op, at+n
			break
		}
	}
	if at >= len(tokens) || !tokens[at].isNumber() {
		return b, false
	}
	first := tokens[at]
	b.lo, b.count, at = &first, 1, at+1
	at = unitAt(tokens, at, b.lo)
	if first.up {
		b.op = query.Ge
	}
	for _, w := range afterWords {
		// "before 5 ms and after 2 ms" has another limit there
		if n := saidAt(tokens, at, w.words); n > 0 && (at+n == len(tokens) || !tokens[at+n].isNumber()) {
			b.op, b.end = w.op, at+n
			return b, true
		}
	}
	// "from iteration 3 on"
	if at+1 == len(tokens) && tokens[at].word == "on" && slices.ContainsFunc(tokens[:at], func(t token) bool { return t.word == "from" }) {
		b.op, b.end = query.Ge, at+1
		return b, true
	}
	b.list = numbersOf(b.lo)
	if at+1 < len(tokens) && b.op == "" {
		at = b.more(tokens, at)
	}
	b.end = at
	return b, true
}

func numbersOf(t *token) []float64 {
	if t.list != nil {
		return t.list
	}
	return []float64{t.number}
}

func unitAt(tokens []token, at int, of *token) int {
	if at < len(tokens) && !tokens[at].isNumber() && knownUnit(tokens[at].word) && tokens[at].word != "" {
		of.unit = tokens[at].word
		return at + 1
	}
	return at
}

// more reads the other end of a range, or the rest of a list.
func (b *bound) more(tokens []token, at int) int {
	joint := tokens[at].word
	if joint == to && tokens[at+1].isNumber() {
		second := tokens[at+1]
		b.hi, b.list, b.count = &second, nil, 2
		return unitAt(tokens, at+2, b.hi)
	}
	for at < len(tokens) {
		next := at
		for next < len(tokens) && (tokens[next].word == "," || tokens[next].word == "and" || tokens[next].word == "or") {
			next++
		}
		if next >= len(tokens) || !tokens[next].isNumber() || next+2 < len(tokens) && tokens[next+1].word == to && tokens[next+2].isNumber() {
			break // no number, or the first end of a range
		}
		last := tokens[next]
		b.list = append(b.list, numbersOf(&last)...)
		b.count++
		b.hi, at = &last, unitAt(tokens, next+1, &last)
	}
	return at
}
