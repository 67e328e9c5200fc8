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
	rows := append([]*compare.Row{&c.Whole}, Rows(c)...)
	for i := range c.Further {
		rows = append(rows, &c.Further[i])
	}
	for _, r := range rows {
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

// class is what a test case is about: the columns of its table, and what of them
// was compared where that is not what the first table has.
func class(c *compare.Comparison, r *compare.Row) string {
	if r == &c.Whole {
		return "run"
	}
	by := strings.Join(c.By, ":")
	if len(r.By) > 0 {
		by = strings.Join(r.By, ":")
	}
	if r.Metric != "" && r.Metric != c.Metric {
		by += ", " + string(r.Metric)
	}
	return by
}
