package query

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/table"
)

// fewNames is how many names of a column a sentence lists. Among manyNames, or for a
// longName, no near one is looked for: that takes the product of their lengths each.
const fewNames, manyNames, longName = 8, 20_000, 200

// Absent says of each name in a selection that no row has, and what was perhaps meant:
// such a selection is right, and finds nothing.
func Absent(e Expr, t *table.Table) []string {
	var said []string
	walkNames(e, func(column string, v Value) {
		c := t.Column(column)
		if c == nil || c.Kind != table.Category {
			return
		}
		if _, ok := c.Code(v.Text); !ok {
			if line := absent(c, v.Text); !slices.Contains(said, line) {
				said = append(said, line)
			}
		}
	})
	return said
}

func absent(c *table.Column, text string) string {
	line := fmt.Sprintf("no row has %s %q", c.Name, term.ClipEnd(text, longName))
	if text == "" || len(text) > longName || !utf8.ValidString(text) {
		return line // nothing that is near could be typed
	}
	with := regexp.MustCompile("(?i)" + regexp.QuoteMeta(text))
	near, n := "", 0
	for _, name := range c.Dict {
		if with.MatchString(name) {
			near = name
			n++
		}
	}
	if n == 0 && len(c.Dict) <= manyNames {
		near = nearestName(text, c.Dict)
	}
	switch {
	case n > 1:
		return fmt.Sprintf("%s; %s with it: %s", line, term.Counted(n, "name"), Match{c.Name, with})
	case near != "":
		return fmt.Sprintf("%s; did you mean %q?", line, term.ClipEnd(near, longName))
	case len(c.Dict) > 0 && len(c.Dict) <= fewNames:
		return term.ClipEnd(line+"; there are "+strings.Join(c.Dict, ", "), 2*longName)
	}
	return line
}

// walkNames visits what an expression compares columns with.
func walkNames(e Expr, visit func(column string, v Value)) {
	switch e := e.(type) {
	case Compare:
		visit(e.Column, e.Value)
	case In:
		for _, v := range e.Values {
			visit(e.Column, v)
		}
	case And:
		for _, term := range e.Terms {
			walkNames(term, visit)
		}
	case Or:
		for _, term := range e.Terms {
			walkNames(term, visit)
		}
	case Not:
		walkNames(e.Term, visit)
	}
}
