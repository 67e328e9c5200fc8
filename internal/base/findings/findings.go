// Package findings writes sentences about places in source code in the forms that
// editors, code hosts and build servers show: SARIF, Markdown, JUnit and GitHub's
// workflow commands.
package findings

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Format is a form that findings are written in.
type Format string

// The forms.
const (
	FormSARIF    Format = "sarif"
	FormMarkdown Format = "markdown"
	FormJUnit    Format = "junit"
	FormGitHub   Format = "github"
)

// formats are all of them.
var formats = []Format{FormSARIF, FormMarkdown, FormJUnit, FormGitHub}

// ParseFormat reads the name of a form.
func ParseFormat(text string) (Format, error) {
	if f := Format(text); slices.Contains(formats, f) {
		return f, nil
	}
	return "", fmt.Errorf("%q: want sarif, markdown, junit or github", text)
}

// Level says how much a finding matters, in SARIF's words.
type Level string

// The levels.
const (
	Error   Level = "error"
	Warning Level = "warning"
	Note    Level = "note"
)

// Rule is what findings of one kind have in common.
type Rule struct{ ID, Short, Help string }

// Finding is one sentence, about a place if there is one.
type Finding struct {
	Rule     string // the ID of a rule
	Level    Level
	Name     string // a few words, for lists
	Text     string // the sentence with its numbers
	File     string // empty: about no place
	Line     int    // from 1; 0: about no place
	Function string
	Source   string // the text of the line
}

// List is what a verb found.
type List struct {
	Verb     string // such as "insights"
	Version  string // of the program
	Command  string // what gives the same again
	Summary  string // one sentence
	Notes    []string
	Rules    []Rule
	Findings []Finding
	// Root is the folder that files are named relative to; empty: the work tree
	// around each.
	Root string
}

// Write writes the list in one of the forms.
func (l *List) Write(w io.Writer, f Format) error {
	switch f {
	case FormSARIF:
		return l.SARIF(w)
	case FormMarkdown:
		return l.markdown(w)
	case FormJUnit:
		return l.suite().Write(w)
	case FormGitHub:
		return l.github(w)
	}
	return fmt.Errorf("no form is called %q", f)
}

// place is where a finding is, by the name that the tree around it has for the
// file; empty if it is nowhere or elsewhere.
func (l *List) place(f *Finding) string {
	if f.File == "" || f.Line < 1 {
		return ""
	}
	name, ok := inTree(f.File, l.Root)
	if !ok {
		return ""
	}
	return name
}

// github writes workflow commands, which become notes beside the lines of a
// change. What has no place in the tree stays a note of the whole run.
func (l *List) github(w io.Writer) error {
	for i := range l.Findings {
		f := &l.Findings[i]
		command := map[Level]string{Error: "error", Warning: "warning", Note: "notice"}[f.Level]
		properties := "title=" + commandProperty("isobath "+l.Verb+": "+f.Name)
		if file := l.place(f); file != "" {
			properties = fmt.Sprintf("file=%s,line=%d,%s", commandProperty(file), f.Line, properties)
		}
		if _, err := fmt.Fprintf(w, "::%s %s::%s\n", command, properties, commandText(f.Text)); err != nil {
			return err
		}
	}
	return nil
}

// What would end a command or a property of it is escaped, as the toolkit of
// GitHub's actions does it.
var (
	commandText     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace
	commandProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace
)
