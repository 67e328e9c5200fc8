package form

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/isobath/isobath/internal/memory/compare"
)

// Bounds of a Markdown report: comments of code reviews take 64 kB.
const (
	markdownRows  = 10
	markdownBytes = 60_000
	markdownFoot  = 2_000 // kept for what follows the rows
)

// Markdown writes a comment for a code review. Command is what made it.
func Markdown(w io.Writer, c *compare.Comparison, command string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "### %s\n\n", escape(c.Sentence()))
	if gate := gateText(c); gate != "" {
		fmt.Fprintf(&b, "**%s**\n\n", escape(gate))
	}
	if limits := c.Limits(); limits != "" {
		fmt.Fprintf(&b, "%s\n\n", escape(limits))
	}
	for i, warning := range c.Warnings {
		if i == 10 {
			break
		}
		fmt.Fprintf(&b, "> %s\n", escape(clip(warning, 500)))
	}
	rows := Rows(c)
	head := min(len(rows), markdownRows)
	markdownTable(&b, c, rows[:head])
	if rest := rows[head:]; len(rest) > 0 {
		fmt.Fprintf(&b, "\n<details><summary>%d more</summary>\n\n", len(rest))
		left := markdownTable(&b, c, rest)
		b.WriteString("\n</details>\n")
		if left > 0 {
			fmt.Fprintf(&b, "\n%d rows are left out.\n", left)
		}
	}
	fmt.Fprintf(&b, "\n%s, %d and %d runs; `%s`\n", map[compare.Design]string{compare.Pairs: fmt.Sprintf("%d pairs", c.Pairs), compare.Sides: "runs without pairs", compare.One: "one run a side"}[c.Design],
		len(c.A.Runs), len(c.B.Runs), clip(strings.ReplaceAll(command, "`", "'"), 1000))
	_, err := w.Write(b.Bytes())
	return err
}

// markdownTable writes rows while there is room and returns how many are left.
func markdownTable(b *bytes.Buffer, c *compare.Comparison, rows []*compare.Row) (left int) {
	fmt.Fprintf(b, "\n| %s | A | B | change | interval |\n|---|--:|--:|--:|--:|\n", escape(strings.Join(c.By, ":")))
	for i, r := range rows {
		cell := cells(c, r)
		arrow := ""
		switch r.Verdict {
		case compare.More:
			arrow = "▲ "
		case compare.Less:
			arrow = "▼ "
		}
		if r.Fails {
			arrow = "✗ " + arrow
		}
		line := fmt.Sprintf("| %s | %s | %s | %s%s %s | %s |\n", escape(clip(cell[6], 300)), cell[0], cell[1], arrow, cell[3], cell[4], cell[5])
		if b.Len()+len(line) > markdownBytes-markdownFoot {
			return len(rows) - i
		}
		b.WriteString(line)
	}
	return 0
}

// escape keeps names from being read as Markdown.
var escape = strings.NewReplacer("|", "\\|", "<", "&lt;", ">", "&gt;", "*", "\\*", "_", "\\_", "`", "'", "\n", " ", "~", "\\~", "[", "\\[", "]", "\\]").Replace

func clip(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
