package findings

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Bounds of a Markdown report: comments of code reviews take 64 kB.
const (
	MarkdownBytes = 60_000
	markdownFoot  = 2_000 // kept for what follows the rows
)

// markdown writes a comment for a code review.
func (l *List) markdown(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "### %s\n\n", Escape(Clip(l.Summary, 500)))
	for _, note := range l.Notes[:min(len(l.Notes), 10)] {
		fmt.Fprintf(&b, "> %s\n", Escape(Clip(note, 500)))
	}
	if len(l.Findings) > 0 {
		b.WriteString("\n| | where | what |\n|---|---|---|\n")
	}
	for i := range l.Findings {
		f := &l.Findings[i]
		sign := map[Level]string{Error: "✗", Warning: "▲", Note: "·"}[f.Level]
		line := fmt.Sprintf("| %s | %s | **%s** %s |\n", sign, Escape(Clip(l.where(f), 200)), Escape(Clip(f.Name, 200)), Escape(Clip(f.Text, 1000)))
		if b.Len()+len(line) > MarkdownBytes-markdownFoot {
			fmt.Fprintf(&b, "\n%d more are left out.\n", len(l.Findings)-i)
			break
		}
		b.WriteString(line)
	}
	if l.Command != "" {
		fmt.Fprintf(&b, "\n`%s`\n", Clip(strings.ReplaceAll(l.Command, "`", "'"), 1000))
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Escape keeps names from being read as Markdown.
var Escape = strings.NewReplacer("|", "\\|", "<", "&lt;", ">", "&gt;", "*", "\\*", "_", "\\_", "`", "'", "\r", " ", "\n", " ", "~", "\\~", "[", "\\[", "]", "\\]").Replace

// Clip cuts a text at a number of characters.
func Clip(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
