package command

import (
	"regexp"
	"strings"

	"github.com/isobath/isobath/internal/engine/query"
)

// This file reads what is left out by a word behind a name: "cpu not 3", "latency isn't
// above 200", "every object but m_x".

var (
	shortNot = regexp.MustCompile(`(?i)\b(?:(?:is|are|was|were|do|does|did|has|have|had|should|would|could|must)n'?t|won'?t|can'?t|cannot|never)\b`)
	unlike   = strings.NewReplacer("’", "'", "!=", " != ", "<>", " != ", "≠", " != ")
	hashed   = regexp.MustCompile(`(^|[\s(,])#(\d)`)
	sub100   = regexp.MustCompile(`(?i)\bsub-(\d)`)
	ish200   = regexp.MustCompile(`(?i)\b(\d[\d.,]*)-?ish\b`)
)

// spelledOut writes an input without what is short in it: isn't is a "not", cpu #3 is
// cpu 3, sub-100 is under 100.
func spelledOut(text string) string {
	text = ish200.ReplaceAllString(sub100.ReplaceAllString(text, "under $1"), "about $1")
	text = shortNot.ReplaceAllString(unlike.Replace(text), "not")
	return strings.TrimSpace(hashed.ReplaceAllString(text, "$1$2"))
}

// behindName are words that leave out what follows them behind the name of a column.
var behindName = []string{"not", "!=", "but not", "other than", "but", "except", "except for", "excluding", "without", "apart from", "besides"}

// leftOutAt reads a column and what of it is left out.
func (c *Catalogue) leftOutAt(tokens []token, at int) []part {
	column, end := c.axisAt(tokens, at)
	if column == "" {
		return nil
	}
	for end < len(tokens) && (tokens[end].word == "is" || tokens[end].word == "are" || tokens[end].word == "was") {
		end++
	}
	words := 0
	for _, w := range behindName {
		words = max(words, saidAt(tokens, end, w))
	}
	if end += words; words == 0 || end >= len(tokens) {
		return nil
	}
	if tokens[end].word == "=" && end+1 < len(tokens) {
		end++
	}
	out := []part{}
	if b, ok := boundAt(tokens, end); ok {
		if e := c.limits(column, &b); e != nil {
			e, end = c.furtherLimits(tokens, column, &b, e, b.end)
			out = append(out, leftOut(e, column, end))
		}
	}
	if end < len(tokens) && !tokens[end].isNumber() {
		for _, p := range c.valuesAt(tokens[end].word, column, end+1, 1) {
			if p.expr != nil {
				out = append(out, leftOut(p.expr, column, p.end))
			}
		}
	}
	return out
}

// reverse is the sign that takes what another does not.
var reverse = map[query.Op]query.Op{query.Eq: query.Ne, query.Ne: query.Eq, query.Lt: query.Ge, query.Ge: query.Lt, query.Gt: query.Le, query.Le: query.Gt}

func leftOut(e query.Expr, column string, end int) part {
	if compare, ok := e.(query.Compare); ok {
		compare.Op = reverse[compare.Op]
		e = compare
	} else {
		e = query.Not{Term: e}
	}
	return part{score: 1, text: e.String(), expr: e, axes: []string{column}, end: end}
}

// sinceAt reads a limit before the name of its column: "after iteration 3", "up to line
// 500".
func (c *Catalogue) sinceAt(tokens []token, at int) []part {
	for _, w := range boundWords {
		n := saidAt(tokens, at, w.words)
		if n == 0 {
			continue
		}
		column, end := c.axisAt(tokens, at+n)
		if p, ok := c.endsOf(tokens, column, end); ok && w.words == "between" {
			return []part{p}
		}
		b, ok := boundAt(tokens, end)
		if w.op == "" || w.op == query.Eq || w.words == "first" || column == "" || !ok || b.op != "" || b.hi != nil || b.count > 1 || len(b.list) > 1 {
			return nil
		}
		b.op = w.op
		e := c.limits(column, &b)
		if e == nil {
			return nil
		}
		return []part{{score: 1, text: e.String(), expr: e, axes: []string{column}, end: b.end}}
	}
	return nil
}

// endsOf reads "2 and 5" behind "between iteration".
func (c *Catalogue) endsOf(tokens []token, column string, at int) (part, bool) {
	b, ok := boundAt(tokens, at)
	if !ok || column == "" || b.op != "" || b.hi == nil || b.count != 2 {
		return part{}, false
	}
	b.list = nil // two of a list are its ends
	e := c.limits(column, &b)
	if e == nil {
		return part{}, false
	}
	return part{score: 1, text: e.String(), expr: e, axes: []string{column}, end: b.end}, true
}
