package form

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/isobath/isobath/internal/base/findings"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/memory/compare"
)

const (
	markdownRows = 10
	markdownFoot = 2_000 // bytes kept for what follows the rows
)

// Markdown writes a comment for a code review. Command is what made it.
func Markdown(w io.Writer, c *compare.Comparison, command string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "### %s\n\n", findings.Escape(c.Sentence()))
	if gate := gateText(c); gate != "" {
		fmt.Fprintf(&b, "**%s**\n\n", findings.Escape(gate))
	}
	if limits := c.Limits(); limits != "" {
		fmt.Fprintf(&b, "%s\n\n", findings.Escape(limits))
	}
	for i, warning := range c.Warnings {
		if i == 10 {
			break
		}
		fmt.Fprintf(&b, "> %s\n", findings.Escape(findings.Clip(warning, 500)))
	}
	rows := Rows(c)
	head := min(len(rows), markdownRows)
	markdownTable(&b, c, rows[:head])
	if rest := rows[head:]; len(rest) > 0 {
		fmt.Fprintf(&b, "\n<details><summary>%d more</summary>\n\n", len(rest))
		left := markdownTable(&b, c, rest)
		b.WriteString("\n</details>\n")
		if left > 0 {
			fmt.Fprintf(&b, "\n%s %s left out.\n", term.Counted(left, "row"), term.Agree(left, "is", "are"))
		}
	}
	fmt.Fprintf(&b, "\n%s, %d and %s; `%s`\n", map[compare.Design]string{compare.Pairs: term.Counted(c.Pairs, "pair"), compare.Sides: "runs without pairs", compare.One: "one run a side"}[c.Design],
		len(c.A.Runs), term.Counted(len(c.B.Runs), "run"), findings.Clip(strings.ReplaceAll(command, "`", "'"), 1000))
	_, err := w.Write(b.Bytes())
	return err
}

// markdownTable writes rows while there is room and returns how many are left.
func markdownTable(b *bytes.Buffer, c *compare.Comparison, rows []*compare.Row) (left int) {
	fmt.Fprintf(b, "\n| %s | A | B | change | interval |\n|---|--:|--:|--:|--:|\n", findings.Escape(strings.Join(c.By, ":")))
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
		line := fmt.Sprintf("| %s | %s | %s | %s%s %s | %s |\n", findings.Escape(findings.Clip(cell[6], 300)), cell[0], cell[1], arrow, cell[3], cell[4], cell[5])
		if b.Len()+len(line) > findings.MarkdownBytes-markdownFoot {
			return len(rows) - i
		}
		b.WriteString(line)
	}
	return 0
}
