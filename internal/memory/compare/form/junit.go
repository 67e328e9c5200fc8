package form

import (
	"fmt"
	"io"
	"strings"

	"github.com/isobath/isobath/internal/base/findings"
	"github.com/isobath/isobath/internal/memory/compare"
)

// JUnit writes one test case a tested group.
func JUnit(w io.Writer, c *compare.Comparison) error {
	s := findings.Suite{Name: "isobath diff", Properties: []findings.Property{{Name: "q", Value: fmt.Sprint(c.Q)}, {Name: "pairs", Value: fmt.Sprint(c.Pairs)},
		{Name: "design", Value: string(c.Design)}, {Name: "drift", Value: c.Drift}}}
	for _, r := range append([]*compare.Row{&c.Whole}, Rows(c)...) {
		if !r.Tested() {
			continue
		}
		t := findings.Case{Class: class(c, r), Name: r.Label}
		switch {
		case r.Fails:
			t.Failure = &findings.Outcome{Type: string(r.Verdict), Message: c.Says(r)}
		case c.Gate != nil && r.Verdict == compare.Unsure:
			t.Skipped = &findings.Outcome{Message: "unsure: detectable " + compare.Percent(*r.Detectable)}
		}
		s.Add(t)
	}
	return s.Write(w)
}

// class is what a test case is about: the columns of its table.
func class(c *compare.Comparison, r *compare.Row) string {
	if r == &c.Whole {
		return "run"
	}
	if len(r.By) > 0 {
		return strings.Join(r.By, ":")
	}
	return strings.Join(c.By, ":")
}
