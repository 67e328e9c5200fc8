package findings

import (
	"encoding/xml"
	"io"
)

// Suite is a JUnit test suite: what build servers list.
type Suite struct {
	XMLName    xml.Name   `xml:"testsuite"`
	Name       string     `xml:"name,attr"`
	Tests      int        `xml:"tests,attr"`
	Failures   int        `xml:"failures,attr"`
	Errors     int        `xml:"errors,attr"` // none, but schemas of build servers want it
	Skipped    int        `xml:"skipped,attr"`
	Properties []Property `xml:"properties>property"`
	Cases      []Case     `xml:"testcase"`
}

// Property is a fact about a suite.
type Property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// Case is one test.
type Case struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	File    string   `xml:"file,attr,omitempty"`
	Line    int      `xml:"line,attr,omitempty"`
	Failure *Outcome `xml:"failure"`
	Skipped *Outcome `xml:"skipped"`
	Output  string   `xml:"system-out,omitempty"`
}

// Outcome is why a case failed or was skipped.
type Outcome struct {
	Type    string `xml:"type,attr,omitempty"`
	Message string `xml:"message,attr"`
}

// Add appends a case and counts it.
func (s *Suite) Add(c Case) {
	s.Tests++
	if c.Failure != nil {
		s.Failures++
	}
	if c.Skipped != nil {
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

// Write writes the suite as XML.
func (s *Suite) Write(w io.Writer) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(s); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// suite makes a case of each finding; notes pass.
func (l *List) suite() *Suite {
	s := &Suite{Name: "isobath " + l.Verb, Properties: []Property{{"command", l.Command}, {"summary", l.Summary}}}
	for i := range l.Findings {
		f := &l.Findings[i]
		c := Case{Class: f.Rule, Name: f.Name, File: l.place(f)}
		if c.File != "" {
			c.Line = f.Line
		}
		if f.Level == Note {
			c.Output = f.Text
		} else {
			c.Failure = &Outcome{string(f.Level), f.Text}
		}
		s.Add(c)
	}
	return s
}
