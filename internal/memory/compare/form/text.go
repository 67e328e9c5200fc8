// Package form writes a comparison for people and for machines that build
// programs: text, Markdown, JUnit and SARIF. All of them print the same rows.
package form

import (
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/memory/align"
	"github.com/isobath/isobath/internal/memory/compare"
)

// Text writes the sentence, and then at most top rows; 0 is all.
func Text(w io.Writer, c *compare.Comparison, top int) error {
	style := term.StyleFor(w)
	fmt.Fprintln(w, style.Bold(c.Sentence()))
	fmt.Fprintln(w, side("A", c, &c.A))
	fmt.Fprintln(w, side("B", c, &c.B))
	if c.Where != "" {
		fmt.Fprintln(w, "where "+c.Where)
	}
	if limits := c.Limits(); limits != "" {
		fmt.Fprintln(w, limits)
	}
	for _, warning := range c.Warnings {
		fmt.Fprintf(w, "%s %s\n", style.Warn("note:"), warning)
	}
	if gate := gateText(c); gate != "" {
		fmt.Fprintln(w, style.Bold(gate))
	}
	rows, all := textRows(c, top)
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\n%s\n", headline(c, all))
	t := term.Table{Columns: []term.Column{{Head: "A", Align: term.Right}, {Head: "B", Align: term.Right}, {Head: "B − A", Align: term.Right}, {Head: "change", Align: term.Right}, {Head: ""},
		{Head: "interval", Align: term.Right}, {Head: strings.Join(c.By, ":"), Give: true}}}
	shown := rows
	if top > 0 && len(shown) > top {
		shown = shown[:top]
	}
	for _, r := range shown {
		t.Row(cells(c, r)...)
	}
	if err := t.Write(w, term.Width); err != nil {
		return err
	}
	if hidden := len(rows) - len(shown); hidden > 0 {
		_, err := fmt.Fprintf(w, "%s\n", style.Dim(fmt.Sprintf("… %s more", term.Thousands(hidden))))
		return err
	}
	return nil
}

// side says what one side holds.
func side(name string, c *compare.Comparison, s *compare.Side) string {
	text := fmt.Sprintf("%s  %s of %s %s", name, term.Thousands(s.Samples), term.Thousands(s.Of), c.Rows())
	if s.Latency != nil {
		text += fmt.Sprintf(", %s %s, mean %.1f (%s)", c.About()+term.Short(*s.Latency), s.Unit, *s.Mean, s.Provenance)
	}
	if len(s.Runs) > 1 {
		return text + fmt.Sprintf(", mean of %d runs", len(s.Runs))
	}
	return text + ", " + s.Runs[0]
}

// textRows are the rows to print: every group where there is room for all, with
// those that were not tested.
func textRows(c *compare.Comparison, top int) (rows []*compare.Row, all bool) {
	if top > 0 && len(c.Groups) > top || c.Small == nil {
		return Rows(c), false
	}
	for i := range c.Groups {
		rows = append(rows, &c.Groups[i])
	}
	return rows, true
}

// headline says what the columns hold.
func headline(c *compare.Comparison, all bool) string {
	unit := c.Unit
	if unit == "ns" {
		unit = "run time"
	}
	what := string(c.Metric)
	switch {
	case c.Metric == compare.Share:
		what = "share of " + unit
	case c.Metric == compare.Samples:
		what = unit
	case c.Metric == compare.Mean:
		what = "mean " + unit + " a sample"
	case unit != "" && what != unit:
		what += " in " + unit
	}
	if len(c.A.Runs)+len(c.B.Runs) > 2 {
		what += ", mean of runs"
	}
	text := what + ", largest change first"
	if !c.Exact() {
		text += "; ~ within sampling"
		if c.Design == compare.One && c.Tau != nil && *c.Tau > 0 {
			text += ", ? within how runs differ"
		} else if c.Design != compare.One {
			text = what + ", largest change first; ~ not sure"
		}
	}
	if all {
		text += ", · too small to be tested alone"
	}
	return text
}

// gateText is the decision of a gate in words; empty without one.
func gateText(c *compare.Comparison) string {
	g := c.Gate
	if g == nil {
		return ""
	}
	limit := limitsText(g)
	var failing []string
	for _, r := range c.Failing() {
		failing = append(failing, strings.Replace(name(r), r.Label+r.With(), c.Named(r), 1))
	}
	switch {
	case g.Failed:
		if len(failing) > 3 {
			failing = append(failing[:3], fmt.Sprintf("%d more", len(failing)-3))
		}
		return fmt.Sprintf("failed: beyond %s: %s", limit, strings.Join(failing, ", "))
	case g.Exit != 0: // --strict
		return fmt.Sprintf("not sure: nothing is surely beyond %s, but %s could not be told", limit, term.Counted(g.Unsure, "group"))
	case g.Unsure > 0:
		return fmt.Sprintf("passed: nothing is surely beyond %s; %s could not be told", limit, term.Counted(g.Unsure, "group"))
	}
	return "passed: nothing moves the wrong way beyond " + limit
}

// limitsText is what a gate must keep: "5 %", or "10 % of cost by file:line or 5 %
// of cost by function" where there are several.
func limitsText(g *compare.Verdicts) string {
	if len(g.Limits) == 0 {
		return compare.Percent(g.FailAbove)
	}
	var all []string
	for _, l := range g.Limits {
		text := compare.Percent(l.Change)
		if l.Points {
			text = strings.TrimSuffix(text, " %") + " points"
		}
		if l.Below {
			text = "−" + text
		}
		if len(g.Limits) > 1 || l.Points {
			text += " of " + string(l.Metric)
		}
		if len(g.Limits) > 1 {
			text += " by " + strings.Join(l.By, ":")
		}
		all = append(all, text)
	}
	return strings.Join(all, " or ")
}

// Rows are the rows worth printing: groups that were tested, those that are
// sure although small, and one for the rest.
func Rows(c *compare.Comparison) []*compare.Row {
	var out []*compare.Row
	for i := range c.Groups {
		if r := &c.Groups[i]; r.Tested() {
			out = append(out, r)
		}
	}
	if c.Small != nil {
		out = append(out, c.Small)
	}
	return out
}

func cells(c *compare.Comparison, r *compare.Row) []string {
	c = c.As(r)
	a, b, delta := amounts(c, r)
	change, interval := "", ""
	switch {
	case r.B.Cost == 0 && r.A.Cost > 0:
		change = "gone"
	case r.A.Cost == 0 && r.B.Cost > 0:
		change = "new"
	}
	if r.Ratio != nil && c.Metric != compare.Share {
		change = compare.Signed(*r.Ratio)
		interval = interval95(r)
	}
	mark := r.Mark
	if !r.Tested() {
		mark = "·"
		if r.A.Cost > 0 && r.B.Cost > 0 {
			change = compare.Signed(r.B.Cost / r.A.Cost)
		}
	}
	return []string{a, b, delta, change, mark, interval, name(r)}
}

func interval95(r *compare.Row) string {
	if *r.Low == *r.High {
		return "exact"
	}
	return minus(fmt.Sprintf("%+.0f … %+.0f %%", 100*(*r.Low-1), 100*(*r.High-1)))
}

func minus(s string) string { return strings.ReplaceAll(s, "-", "−") }

// amounts are the two sides and their difference in what is compared.
func amounts(c *compare.Comparison, r *compare.Row) (a, b, delta string) {
	switch c.Metric {
	case compare.Share:
		return term.Percent(r.A.Share), term.Percent(r.B.Share), minus(fmt.Sprintf("%+.1f", 100*r.Change))
	case compare.Mean:
		mean := func(cell compare.Cell) string {
			if cell.Mean == nil {
				return "–"
			}
			return c.About() + fmt.Sprintf("%.1f", *cell.Mean)
		}
		if r.A.Mean != nil && r.B.Mean != nil {
			delta = minus(fmt.Sprintf("%+.1f", *r.B.Mean-*r.A.Mean))
		}
		return mean(r.A), mean(r.B), delta
	}
	sign := "+"
	d := r.Delta()
	if d < 0 {
		sign, d = "−", -d
	}
	if d == 0 {
		sign = ""
	}
	return c.Amount(r.A.Cost), c.Amount(r.B.Cost), c.About() + sign + strings.TrimPrefix(c.Amount(d), c.About())
}

// name is the key of a row, with that of A where it was another.
func name(r *compare.Row) string {
	text := r.Label + r.With()
	if r.Matched == align.Modified || r.Matched == align.Moved {
		text += was(r)
	}
	if r.Metric != "" {
		text += "  [" + strings.Join(r.By, ":") + ", " + string(r.Metric) + "]"
	}
	return text
}

// was is what A calls a row, as far as that is another name.
func was(r *compare.Row) string {
	file, other := fmt.Sprint(r.KeyA["file"]), fmt.Sprint(r.Key["file"])
	if base := path.Base(file); r.KeyA["file"] != nil && base != path.Base(other) {
		if line := r.KeyA["line"]; line != nil {
			return fmt.Sprintf(" (was %s:%v)", base, line)
		}
		return fmt.Sprintf(" (was %s)", base)
	}
	for _, column := range []string{"line", "function", "symbol", "file"} {
		if x, y := r.KeyA[column], r.Key[column]; x != nil && x != y {
			return fmt.Sprintf(" (was %v)", x)
		}
	}
	return ""
}
