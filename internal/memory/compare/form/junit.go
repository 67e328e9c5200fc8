package form

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/isobath/isobath/internal/memory/compare"
)

type testsuite struct {
	XMLName    xml.Name   `xml:"testsuite"`
	Name       string     `xml:"name,attr"`
	Tests      int        `xml:"tests,attr"`
	Failures   int        `xml:"failures,attr"`
	Skipped    int        `xml:"skipped,attr"`
	Properties []property `xml:"properties>property"`
	Cases      []testcase `xml:"testcase"`
}

type property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type testcase struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	Failure *outcome `xml:"failure"`
	Skipped *outcome `xml:"skipped"`
}

type outcome struct {
	Type    string `xml:"type,attr,omitempty"`
	Message string `xml:"message,attr"`
}

// JUnit writes one test case a tested group.
func JUnit(w io.Writer, c *compare.Comparison) error {
	s := testsuite{Name: "isobath diff", Properties: []property{{"q", fmt.Sprint(c.Q)}, {"pairs", fmt.Sprint(c.Pairs)}, {"design", string(c.Design)}, {"drift", c.Drift}}}
	for _, r := range append([]*compare.Row{&c.Whole}, Rows(c)...) {
		if !r.Tested() {
			continue
		}
		t := testcase{Class: class(c, r), Name: r.Label}
		switch {
		case r.Fails:
			t.Failure = &outcome{string(r.Verdict), c.Says(r)}
			s.Failures++
		case c.Gate != nil && r.Verdict == compare.Unsure:
			t.Skipped = &outcome{Message: "unsure: detectable " + compare.Percent(*r.Detectable)}
			s.Skipped++
		}
		s.Cases = append(s.Cases, t)
	}
	s.Tests = len(s.Cases)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(&s); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
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
