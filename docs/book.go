// Package docs holds the documents. The guide is also inside the program.
package docs

import (
	"embed"
	"slices"
	"strings"
)

//go:embed guide/*.md
var guide embed.FS

// Chapter is a chapter of the guide.
type Chapter struct {
	Name  string `json:"name"` // of the file, without its ending
	Title string `json:"title"`
	Text  string `json:"text"` // Markdown
}

// order is that of the book. A chapter that is not named comes at the end.
var order = strings.Fields(`install first-picture slow-stencil parallel-coordinates commands let-it-guide-you record-your-program
	every-reference loops locality late-ranks mesh many-hosts did-it-help notebooks agents limits glossary`)

// Chapters is the book.
func Chapters() ([]Chapter, error) {
	files, err := guide.ReadDir("guide")
	if err != nil {
		return nil, err
	}
	var out []Chapter
	for _, f := range files {
		text, err := guide.ReadFile("guide/" + f.Name())
		if err != nil {
			return nil, err
		}
		first, _, _ := strings.Cut(string(text), "\n")
		out = append(out, Chapter{Name: strings.TrimSuffix(f.Name(), ".md"), Title: strings.TrimLeft(first, "# "), Text: string(text)})
	}
	slices.SortStableFunc(out, func(a, b Chapter) int { return place(a) - place(b) })
	return out, nil
}

func place(c Chapter) int {
	if at := slices.Index(order, c.Name); at >= 0 {
		return at
	}
	return len(order)
}

// Section is a part of a chapter below one heading.
type Section struct {
	Chapter string `json:"chapter"`
	Heading string `json:"heading"`
	Line    string `json:"line"`   // the first line that has the words
	Found   int    `json:"found"`  // how often
	Anchor  string `json:"anchor"` // of the heading in the chapter
}

// Find looks for sections that have all of some words, most often first.
func Find(chapters []Chapter, words string) []Section {
	wanted := strings.Fields(strings.ToLower(words))
	if len(wanted) == 0 {
		return nil
	}
	var out []Section
	for _, c := range chapters {
		for _, part := range sections(c) {
			if s, ok := match(c, part, wanted); ok {
				out = append(out, s)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Section) int { return b.Found - a.Found })
	return out
}

// sections cuts a chapter at its headings, those in code left alone.
func sections(c Chapter) [][]string {
	var out [][]string
	code := false
	for line := range strings.SplitSeq(c.Text, "\n") {
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		if len(out) == 0 || !code && strings.HasPrefix(line, "#") {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], line)
	}
	return out
}

// match counts words in a section; those of its heading count ten times.
func match(c Chapter, lines []string, wanted []string) (Section, bool) {
	s := Section{Chapter: c.Name, Heading: strings.TrimLeft(lines[0], "# ")}
	s.Anchor = anchor(s.Heading)
	all := strings.ToLower(strings.Join(lines, "\n"))
	heading := strings.ToLower(s.Heading)
	for _, w := range wanted {
		n := strings.Count(all, w)
		if n == 0 {
			return s, false
		}
		s.Found += n + 10*strings.Count(heading, w)
	}
	for _, line := range lines[1:] {
		if strings.Contains(strings.ToLower(line), wanted[0]) {
			s.Line = strings.TrimSpace(line)
			break
		}
	}
	return s, true
}
