package docs

import (
	"fmt"
	"html"
	"regexp"
	"strings"
)

// HTML is a chapter as a page for browsers: the Markdown that the guide uses,
// which is headings, paragraphs, lists, tables, code, links and pictures.
func (c Chapter) HTML() string {
	w := &writer{}
	for line := range strings.SplitSeq(c.Text, "\n") {
		w.line(line)
	}
	w.open("")
	return w.out.String()
}

// writer is in at most one block at a time: its closing tag is kept.
type writer struct {
	out    strings.Builder
	block  string // p, ul, table, pre or empty
	headed bool   // the table has its head
}

// open ends the block and begins another, unless it is the same.
func (w *writer) open(block string) {
	if w.block == block {
		return
	}
	if w.block != "" {
		fmt.Fprintf(&w.out, "</%s>\n", w.block)
	}
	if block != "" {
		fmt.Fprintf(&w.out, "<%s>\n", block)
	}
	w.block, w.headed = block, false
}

func (w *writer) line(line string) {
	switch {
	case strings.HasPrefix(line, "```"):
		if w.block == "pre" {
			w.open("")
		} else {
			w.open("pre")
		}
	case w.block == "pre":
		w.out.WriteString(html.EscapeString(line) + "\n")
	case strings.TrimSpace(line) == "":
		w.open("")
	case strings.HasPrefix(line, "#"):
		w.open("")
		level := len(line) - len(strings.TrimLeft(line, "#"))
		text := strings.TrimSpace(line[level:])
		fmt.Fprintf(&w.out, "<h%d id=\"%s\">%s</h%d>\n", min(level, 6), anchor(text), inline(text), min(level, 6))
	case strings.HasPrefix(line, "|"):
		w.open("table")
		w.row(line)
	case strings.HasPrefix(line, "* "), strings.HasPrefix(line, "- "), item.MatchString(line):
		w.open("ul")
		fmt.Fprintf(&w.out, "<li>%s\n", inline(strings.TrimSpace(item.ReplaceAllString(strings.TrimPrefix(strings.TrimPrefix(line, "* "), "- "), ""))))
	case w.block == "ul" && strings.HasPrefix(line, " "):
		w.out.WriteString(inline(strings.TrimSpace(line)) + "\n")
	default:
		w.open("p")
		w.out.WriteString(inline(line) + "\n")
	}
}

var item = regexp.MustCompile(`^\d+\. `)

// row writes a row of a table; the line of dashes below the head is left out.
func (w *writer) row(line string) {
	if strings.Trim(line, "|-: ") == "" {
		w.headed = true
		return
	}
	cell := "th"
	if w.headed {
		cell = "td"
	}
	w.out.WriteString("<tr>")
	plain := strings.ReplaceAll(strings.Trim(strings.TrimSpace(line), "|"), `\|`, "\x00")
	for text := range strings.SplitSeq(plain, "|") {
		fmt.Fprintf(&w.out, "<%s>%s</%s>", cell, inline(strings.TrimSpace(strings.ReplaceAll(text, "\x00", "|"))), cell)
	}
	w.out.WriteString("</tr>\n")
}

var (
	codeMark    = regexp.MustCompile("`([^`]+)`")
	boldMark    = regexp.MustCompile(`\*\*([^*]+)\*\*`)
	italicMark  = regexp.MustCompile(`(^|[ (])\*([^* ][^*]*)\*`)
	pictureMark = regexp.MustCompile(`!\[([^\]]*)\]\([^)]*\)`)
	linkMark    = regexp.MustCompile(`\[([^\]]+)\]\(([^)\s]+)\)`)
)

// inline writes the marks within a line. Pictures are not in the program: their
// titles are. Links lead to other chapters; those to other documents are text.
func inline(text string) string {
	var code []string
	text = codeMark.ReplaceAllStringFunc(text, func(m string) string {
		code = append(code, "<code>"+html.EscapeString(strings.Trim(m, "`"))+"</code>")
		return fmt.Sprintf("\x01%d\x01", len(code)-1)
	})
	text = html.EscapeString(text)
	text = pictureMark.ReplaceAllString(text, "<em>$1</em>")
	text = linkMark.ReplaceAllStringFunc(text, func(m string) string {
		parts := linkMark.FindStringSubmatch(m)
		name, section, _ := strings.Cut(parts[2], "#")
		if chapter, ok := strings.CutSuffix(name, ".md"); ok && !strings.Contains(chapter, "/") {
			if section != "" {
				chapter += "#" + section
			}
			return fmt.Sprintf(`<a href="%s">%s</a>`, chapter, parts[1])
		}
		return parts[1]
	})
	text = boldMark.ReplaceAllString(text, "<strong>$1</strong>")
	text = italicMark.ReplaceAllString(text, "$1<em>$2</em>")
	for i, c := range code {
		text = strings.ReplaceAll(text, fmt.Sprintf("\x01%d\x01", i), c)
	}
	return text
}

// anchor is the name of a heading in an address, as code hosts make it.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-':
			return r
		case r == ' ':
			return '-'
		}
		return -1
	}, strings.ToLower(heading))
}
