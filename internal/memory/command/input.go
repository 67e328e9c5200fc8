package command

import (
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/engine/query"
)

// input is what was typed, taken apart (thesis, 3.5.4): a verb, then blocks of
// words with numbers that limit them.
type input struct {
	verb   Action
	sure   bool // the verb is a whole word of the list, not a beginning
	blocks []block
	// named is all words, numbers among them, where a number may be part of a
	// name; nil if there is no number.
	named []string
}

type block struct {
	words  []string
	limits []limit
}

// limit is a number and how it bounds.
type limit struct {
	value float64
	op    query.Op // empty: not said
	unit  string   // "%", "ms", …
}

var verbs = []struct {
	word   string
	action Action
}{
	{"select", Select}, {"pick", Select}, {"choose", Select}, {"find", Select}, {"highlight", Select}, {"only", Select},
	{"show", Show}, {"add", Show}, {"display", Show}, {"plot", Show},
	{"hide", Hide}, {"remove", Hide}, {"drop", Hide},
	{"correlate", Correlate}, {"compare", Correlate}, {"relate", Correlate},
}

// comparisons are words that say how the next number bounds.
var comparisons = map[string]query.Op{
	"above": query.Gt, "over": query.Gt, "greater": query.Gt, "more": query.Gt, "larger": query.Gt, "beyond": query.Gt, "exceeding": query.Gt,
	"below": query.Lt, "under": query.Lt, "less": query.Lt, "smaller": query.Lt,
	"from": query.Ge, "least": query.Ge, "min": query.Ge, "minimum": query.Ge,
	"until": query.Le, "most": query.Le, "max": query.Le, "maximum": query.Le, "upto": query.Le,
	"equals": query.Eq, "equal": query.Eq, "is": query.Eq, "exactly": query.Eq,
	">": query.Gt, "<": query.Lt, ">=": query.Ge, "<=": query.Le, "=": query.Eq, "!=": query.Ne, "≥": query.Ge, "≤": query.Le,
}

var separators = map[string]bool{"with": true, "vs": true, "versus": true, "against": true}

// parseInput takes an input apart.
func parseInput(text string) input {
	fields := strings.Fields(spaced(clip(text)))
	var in input
	if len(fields) > 0 {
		in.verb, in.sure = verbOf(fields[0], len(fields) > 1)
		if in.verb != "" {
			fields = fields[1:]
		}
		if in.verb == Show || in.verb == Hide {
			fields = axisNamed(fields)
		}
	}
	in.take(fields)
	return in
}

// axisNamed leaves out of "the cpu axis" what says that it is one.
func axisNamed(fields []string) []string {
	if len(fields) > 1 && strings.EqualFold(fields[0], "the") {
		fields = fields[1:]
	}
	if last := len(fields) - 1; last > 0 && slices.Contains([]string{"axis", "axes", "column", "columns"}, strings.ToLower(fields[last])) {
		return fields[:last]
	}
	return fields
}

// take cuts the words after the verb.
func (in *input) take(fields []string) {
	in.blocks = blocks(fields)
	if slices.ContainsFunc(in.blocks, func(b block) bool { return len(b.limits) > 0 }) {
		in.named = split(strings.Join(fields, " "))
	}
}

func clip(text string) string {
	if len(text) > maxInput {
		return strings.ToValidUTF8(text[:maxInput], "")
	}
	return text
}

// spaced puts blanks around signs, so that "latency>200" has three parts.
func spaced(text string) string {
	r := strings.NewReplacer("!=", " != ", ">=", " >= ", "<=", " <= ", ">", " > ", "<", " < ", "=", " = ", "≥", " ≥ ", "≤", " ≤ ", "..", " ", ":", " ", "–", " ", ",", " ", "(", " ", ")", " ")
	return r.Replace(text)
}

// verbOf recognises the verb: a word of the list, its beginning from three
// letters, or a slip of the keys in a long one.
func verbOf(word string, more bool) (Action, bool) {
	word = strings.ToLower(word)
	for _, v := range verbs {
		if v.word == word {
			return v.action, true
		}
	}
	for _, v := range verbs {
		if len(word) >= 3 && strings.HasPrefix(v.word, word) {
			return v.action, false
		}
	}
	for _, v := range verbs {
		if whole, _ := edits(word, v.word, 1); more && len(word) >= 4 && len(v.word) >= 4 && whole <= 1 {
			return v.action, false
		}
	}
	return "", false
}

// blocks cuts at "with" and after numbers.
func blocks(fields []string) []block {
	var out []block
	var now block
	var op query.Op
	end := func() {
		if len(now.words) > 0 || len(now.limits) > 0 {
			out = append(out, now)
		}
		now, op = block{}, ""
	}
	for i, f := range fields {
		word := strings.ToLower(f)
		if separators[word] {
			end()
			continue
		}
		if o, ok := comparisons[word]; ok && i+1 < len(fields) && (isNumber(fields[i+1]) || len(word) <= 2 || word == "less" || word == "more" || word == "greater" || word == "larger" || word == "smaller") {
			op = o
			continue
		}
		if l, ok := parseLimit(f); ok {
			l.op, op = op, ""
			now.limits = append(now.limits, l)
			continue
		}
		// "than", "and", "to", "between" are not part of a name.
		if word == "than" || (word == "and" || word == "to" || word == "between" || word == "percent" || word == "%") && nearNumber(fields, i) {
			if (word == "percent" || word == "%") && len(now.limits) > 0 {
				now.limits[len(now.limits)-1].unit = "%"
			}
			continue
		}
		if len(now.limits) > 0 && !rest(word) {
			end()
		}
		now.words = append(now.words, split(f)...)
	}
	end()
	return out
}

// rest are words after a number that belong to it.
func rest(word string) bool { return word == "cycles" || word == "bytes" || word == "samples" }

func isNumber(field string) bool {
	_, ok := parseLimit(field)
	return ok
}

func nearNumber(fields []string, i int) bool {
	return i > 0 && isNumber(fields[i-1]) || i+1 < len(fields) && isNumber(fields[i+1])
}

var suffixes = []struct {
	text  string
	scale float64
	unit  string
}{
	{"%", 1, "%"}, {"ns", 1, "ns"}, {"us", 1e3, "ns"}, {"µs", 1e3, "ns"}, {"ms", 1e6, "ns"}, {"s", 1e9, "ns"},
	{"k", 1e3, ""}, {"K", 1e3, ""}, {"M", 1e6, ""}, {"G", 1e9, ""},
}

// parseLimit reads a number; words that merely contain digits are none.
func parseLimit(field string) (limit, bool) {
	if n, err := strconv.ParseUint(field, 0, 64); err == nil {
		return limit{value: float64(n)}, true
	}
	if strings.Trim(field, "0123456789.eE+-") != "" {
		for _, s := range suffixes {
			if number, ok := strings.CutSuffix(field, s.text); ok && strings.Trim(number, "0123456789.") == "" {
				f, err := strconv.ParseFloat(number, 64)
				return limit{value: f * s.scale, unit: s.unit}, err == nil
			}
		}
		return limit{}, false
	}
	f, err := strconv.ParseFloat(field, 64)
	return limit{value: f}, err == nil
}
