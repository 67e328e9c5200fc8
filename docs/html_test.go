package docs

import (
	"regexp"
	"strings"
	"testing"
)

func TestHTML(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"heading", "# A & B", "<h1 id=\"a--b\">A &amp; B</h1>\n"},
		{"paragraph of two lines", "a *b*\n**c** `<d>`\n", "<p>\na <em>b</em>\n<strong>c</strong> <code>&lt;d&gt;</code>\n</p>\n"},
		{"code", "```\n# a <b> *c*\n```", "<pre>\n# a &lt;b&gt; *c*\n</pre>\n"},
		{"table", "| a | b |\n|---|---|\n| `x \\| y` | 2 |", "<table>\n<tr><th>a</th><th>b</th></tr>\n<tr><td><code>x | y</code></td><td>2</td></tr>\n</table>\n"},
		{"list", "* a\n  more\n* b", "<ul>\n<li>a\nmore\n<li>b\n</ul>\n"},
		{"links", "[a](b.md#c) [d](../e.md) ![f](g.png)", "<p>\n<a href=\"b#c\">a</a> d <em>f</em>\n</p>\n"},
		{"a script", "<script>alert(1)</script>", "<p>\n&lt;script&gt;alert(1)&lt;/script&gt;\n</p>\n"},
	} {
		if got := (Chapter{Text: tt.text}).HTML(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestBookAsHTML holds that no mark of Markdown is left in any chapter and that
// links lead to chapters.
func TestBookAsHTML(t *testing.T) {
	chapters, err := Chapters()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, c := range chapters {
		names[c.Name] = true
	}
	verbatim := regexp.MustCompile(`(?s)<pre>.*?</pre>|<code>.*?</code>`)
	target := regexp.MustCompile(`href="([^"#]*)`)
	for _, c := range chapters {
		page := verbatim.ReplaceAllString(c.HTML(), "")
		for _, left := range []string{"```", "](", "|---", "\x00", "\x01"} {
			if at := strings.Index(page, left); at >= 0 {
				t.Errorf("%s: %q is left in %q", c.Name, left, page[max(0, at-60):min(len(page), at+60)])
			}
		}
		for _, m := range target.FindAllStringSubmatch(page, -1) {
			if m[1] != "" && !names[m[1]] {
				t.Errorf("%s leads to a chapter %q that is not there", c.Name, m[1])
			}
		}
	}
}
