package form

import (
	"io"

	"github.com/isobath/isobath/internal/base/findings"
	"github.com/isobath/isobath/internal/memory/align"
	"github.com/isobath/isobath/internal/memory/compare"
)

const (
	ruleMore = "isobath/more"
	ruleNew  = "isobath/new"
)

var rules = []findings.Rule{
	{ID: ruleMore, Short: "The line costs more than before", Help: "Its cost grew beyond what chance explains; the message has both costs and the interval."},
	{ID: ruleNew, Short: "The line is new and costs", Help: "The version compared with has no such line."},
}

// Findings are the lines and functions that cost more, for tools that show them in
// the code.
func Findings(c *compare.Comparison) *findings.List {
	l := &findings.List{Verb: "diff", Summary: c.Sentence(), Notes: c.Warnings, Rules: rules}
	for _, r := range Rows(c) {
		if r.Verdict != compare.More || r.File == "" || r.Line == 0 {
			continue
		}
		f := findings.Finding{Rule: ruleMore, Level: findings.Note, Name: r.Label, Text: c.Says(r), File: r.File, Line: r.Line, Function: r.Function, Source: r.Text}
		if r.Matched == align.OnlyB {
			f.Rule = ruleNew
		}
		if r.Fails {
			f.Level = findings.Error
		}
		l.Findings = append(l.Findings, f)
	}
	return l
}

// SARIF writes the findings. Files are named relative to root; without one, to
// the work tree around each.
func SARIF(w io.Writer, c *compare.Comparison, root, version string) error {
	l := Findings(c)
	l.Root, l.Version = root, version
	return l.SARIF(w)
}
