package command

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// This file reads what is said of names and not the names themselves: how they begin or
// end, what they contain, and that there is none.

// nameColumns are the columns of names that people mean where they say no column.
var nameColumns = []string{samples.Symbol, samples.Function, samples.File}

// likenesses are words before a part of a name, longest first, and what stands before
// and behind that part in a pattern; as is how the command writes them.
var likenesses = []struct{ words, as, before, behind string }{
	{"starting with", "starting with", "^", ""}, {"starts with", "starting with", "^", ""}, {"start with", "starting with", "^", ""},
	{"beginning with", "starting with", "^", ""}, {"begins with", "starting with", "^", ""}, {"begin with", "starting with", "^", ""},
	{"ending with", "ending in", "", "$"}, {"ending in", "ending in", "", "$"}, {"ends with", "ending in", "", "$"}, {"ends in", "ending in", "", "$"},
	{"end with", "ending in", "", "$"}, {"end in", "ending in", "", "$"},
	{"containing", "containing", "", ""}, {"contains", "containing", "", ""}, {"contain", "containing", "", ""},
}

// likeAt reads "functions that start with grid", "objects containing energy".
func (c *Catalogue) likeAt(tokens []token, at int) []part {
	column, end := c.axisAt(tokens, at)
	for end < len(tokens) && slices.Contains([]string{"that", "which", "whose", "name", "names"}, tokens[end].word) {
		end++
	}
	for _, l := range likenesses {
		n := saidAt(tokens, end, l.words)
		if n == 0 || end+n >= len(tokens) || tokens[end+n].isNumber() {
			continue
		}
		text := strings.Trim(tokens[end+n].word, `"'`)
		columns := nameColumns
		if column != "" {
			columns = []string{column}
		}
		if text == "" {
			return nil
		}
		return c.likeOf(columns, "(?i)"+l.before+regexp.QuoteMeta(text)+l.behind, l.as+" "+text, end+n+1)
	}
	return nil
}

// likeOf is what has a name like a pattern in the first of some columns that has one.
func (c *Catalogue) likeOf(columns []string, pattern, said string, end int) []part {
	like, err := regexp.Compile(pattern)
	if err != nil {
		return nil
	}
	tried := ""
	for _, column := range columns {
		col := samples.UsableAs(c.table, column, table.Category)
		if col == nil {
			continue
		}
		tried = column
		if !slices.ContainsFunc(col.Dict, like.MatchString) {
			continue
		}
		e, err := query.Parse(fmt.Sprintf("%s ~ %s", column, query.TextValue(pattern)), c.table)
		if err != nil {
			return nil
		}
		return []part{{score: 1, text: column + " " + said, expr: e, axes: []string{column}, end: end}}
	}
	if tried == "" {
		return nil // a column of numbers, or none
	}
	return []part{part{text: tried + " " + said, end: end}.cannot("this data has no " + tried + " " + said)}
}

// lackings are words before the kind of name that samples do not have, longest first.
var lackings = []string{"without any known", "without a known", "with no known", "without any", "without an", "without a", "without", "with no", "no known", "no", "unknown", "missing", "unnamed"}

// lackingAt reads "samples without an object", "unknown function".
func (c *Catalogue) lackingAt(tokens []token, at int) []part {
	for _, w := range lackings {
		n := saidAt(tokens, at, w)
		if n == 0 {
			continue
		}
		column, end := c.axisAt(tokens, at+n)
		col := samples.UsableAs(c.table, column, table.Category)
		if col == nil || end < len(tokens) && (tokens[end].isNumber() || len(c.valuesAt(tokens[end].word, column, end+1, 1)) > 0) {
			return nil // "no function main" leaves that one out
		}
		if col.Valid == nil {
			return []part{part{text: "no " + c.title(column), end: end}.cannot("every sample has a value of the column " + column)}
		}
		e, err := query.Parse(fmt.Sprintf("!%s ~ %s", column, query.TextValue(".*")), c.table)
		if err != nil {
			return nil
		}
		return []part{{score: 1, text: "no " + c.title(column), expr: e, axes: []string{column}, end: end}}
	}
	return nil
}

// shown reads "show time and cpu": several axes, of which some may be there.
func (c *Catalogue) shown(text string, ctx *Context) []Suggestion {
	rest, ok := after(text, []string{"show me", "show", "add", "display", "plot"})
	if !ok {
		return nil
	}
	tokens := tokensOf(rest)
	var columns, names, said []string
	for at := 0; at < len(tokens); {
		if slices.Contains([]string{"the", "axis", "axes", "and", "both", ","}, tokens[at].word) {
			at++
			continue
		}
		column, end := c.axisAt(tokens, at)
		if column == "" {
			return nil
		}
		if !slices.Contains(columns, column) && !slices.Contains(ctx.Shown, column) {
			columns, names = append(columns, column), append(names, c.title(column))
		}
		said, at = append(said, column), end
	}
	switch {
	case len(said) == 2 && len(columns) == 0 && said[0] != said[1]: // they are there, and may be far apart
		return []Suggestion{c.pair(&c.entries[c.axes[said[0]]], &c.entries[c.axes[said[1]]], nil, nil, 1)}
	case len(said) < 2 || len(columns) == 0:
		return nil
	}
	list := strings.Join(names, " and ")
	return []Suggestion{{Text: "show " + list, Action: Show, Axes: columns, Score: 1, Does: "adds the axes " + list}}
}

// groupings are words before the column that somebody wants a list by.
var groupings = []string{"group by", "grouped by", "sort by", "sorted by", "order by", "rank by", "ranked by", "split by", "break down by", "breakdown by", "list by", "aggregate by"}

// grouped reads "group by function": the lists have that.
func (c *Catalogue) grouped(text string) []Suggestion {
	rest, ok := after(text, groupings)
	if !ok {
		return nil
	}
	tokens := tokensOf(rest)
	column, end := c.axisAt(tokens, 0)
	if column == "" || end != len(tokens) || !slices.Contains(grouping, column) {
		return nil
	}
	return c.listOf(column)
}

// listOf goes to where the values of a column are listed by what they cost.
func (c *Catalogue) listOf(column string) []Suggestion {
	if slices.Contains([]string{samples.Line, samples.Symbol, samples.Function, samples.File}, column) {
		return c.page("offenders")
	}
	return c.page("category")
}
