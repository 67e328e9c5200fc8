package docs

import (
	"fmt"
	"slices"
	"strings"
)

// Kind of a term.
const (
	ofColumn = "column" // a column of a table of samples, references or operations
	ofMetric = "metric" // a number that is worked out
	ofWord   = "word"
)

// Term is a word that the program shows beside numbers: a column, a metric or
// the head of a table.
type Term struct {
	Name     string   `json:"name"`
	Kind     string   `json:"kind"` // column, metric or word
	Also     []string `json:"also"` // other names that it is shown under
	Unit     string   `json:"unit"`
	Means    string   `json:"means"`
	Equation string   `json:"equation"` // how it is worked out; empty for what was recorded
	Advice   string   `json:"advice"`   // what to do about it
	Chapter  string   `json:"chapter"`  // of the guide, with a heading behind #
	Anchor   string   `json:"anchor"`   // in the chapter of the glossary
}

// GlossaryName is the chapter that is made of the terms.
const GlossaryName = "glossary"

// Glossary is every term, in the order of their names.
func Glossary() []Term {
	out := slices.Clone(terms)
	for i := range out {
		out[i].Anchor = anchor(out[i].Name)
		if out[i].Also == nil {
			out[i].Also = []string{}
		}
	}
	slices.SortFunc(out, func(a, b Term) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return out
}

// Explain finds the term of a column, a metric or the head of a table.
func Explain(name string) (Term, bool) {
	for _, t := range terms {
		if strings.EqualFold(t.Name, name) || slices.ContainsFunc(t.Also, func(also string) bool { return strings.EqualFold(also, name) }) {
			return t, true
		}
	}
	return Term{}, false
}

// FindTerms are the terms whose names have all of some words, or begin so; names
// that begin with them come first.
func FindTerms(words string) []Term {
	wanted := strings.Fields(strings.ToLower(words))
	if len(wanted) == 0 {
		return nil
	}
	var begin, hold []Term
	for _, t := range Glossary() {
		names := strings.ToLower(strings.Join(append([]string{t.Name}, t.Also...), "\n"))
		switch {
		case slices.ContainsFunc(strings.Split(names, "\n"), func(n string) bool { return strings.HasPrefix(n, strings.Join(wanted, " ")) }):
			begin = append(begin, t)
		case !slices.ContainsFunc(wanted, func(w string) bool { return !strings.Contains(names, w) }):
			hold = append(hold, t)
		}
	}
	return append(begin, hold...)
}

// Markdown is the part of the glossary about a term.
func (t Term) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s", t.Name, t.Means)
	if t.Unit != "" {
		fmt.Fprintf(&b, " Unit: %s.", t.Unit)
	}
	b.WriteString("\n")
	if len(t.Also) > 0 {
		fmt.Fprintf(&b, "\nAlso shown as %s.\n", strings.Join(t.Also, ", "))
	}
	if t.Equation != "" {
		fmt.Fprintf(&b, "\nEquation: `%s`\n", t.Equation)
	}
	if t.Advice != "" {
		fmt.Fprintf(&b, "\nWhat to do: %s\n", t.Advice)
	}
	if chapter, heading, found := strings.Cut(t.Chapter, "#"); found {
		fmt.Fprintf(&b, "\nMore: [%s](%s.md#%s).\n", chapter, chapter, heading)
	} else {
		fmt.Fprintf(&b, "\nMore: [%s](%s.md).\n", chapter, chapter)
	}
	return b.String()
}
