package form

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/findings"
	"github.com/isobath/isobath/internal/memory/align"
	"github.com/isobath/isobath/internal/memory/compare"
)

// many is a comparison of n groups, a third of which fail.
func many(n int) *compare.Comparison {
	value := func(f float64) *float64 { return &f }
	row := func(label string) compare.Row {
		return compare.Row{Label: label, Key: map[string]any{"line": 7}, Matched: align.Equal, A: compare.Cell{Samples: 100, Cost: 1e6}, B: compare.Cell{Samples: 130, Cost: 1.3e6},
			Ratio: value(1.3), Low: value(1.1), High: value(1.5), P: value(.001), QValue: value(.01), Detectable: value(.2), Verdict: compare.Unsure, File: "/nowhere/src/a b.c", Line: 7, Text: "x = y;"}
	}
	c := &compare.Comparison{By: []string{"file", "line"}, Metric: compare.Cost, Unit: "ns", Design: compare.Pairs, Pairs: 8, Q: .05, Gate: &compare.Verdicts{FailAbove: .05, Failed: true, Unsure: 3, Exit: 3},
		A: compare.Side{Runs: []string{"a"}}, B: compare.Side{Runs: []string{"b"}}}
	c.Whole = row("the whole run")
	for i := range n {
		r := row(fmt.Sprintf("a|b*%d<T>.c:%d", i, i))
		if i%3 == 0 {
			r.Verdict, r.Fails, r.Sure = compare.More, true, true
		}
		c.Groups = append(c.Groups, r)
	}
	return c
}

func TestMarkdownFits(t *testing.T) {
	for _, n := range []int{0, 1, 10, 11, 5000} {
		var b bytes.Buffer
		if err := Markdown(&b, many(n), "isobath diff a b"); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		if b.Len() >= 60_000 || !strings.HasPrefix(text, "### ") || strings.Count(text, "<details>") != strings.Count(text, "</details>") || (n > 10) != strings.Contains(text, "<details>") {
			t.Errorf("%d groups: %d bytes, %.200s", n, b.Len(), text)
		}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "| ") && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != 6 {
				t.Fatalf("a row of %d groups has other columns: %q", n, line)
			}
		}
	}
}

func TestJUnitParses(t *testing.T) {
	var b bytes.Buffer
	if err := JUnit(&b, many(30)); err != nil {
		t.Fatal(err)
	}
	var got findings.Suite
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Tests != 31 || got.Failures != 10 || got.Skipped != 21 || len(got.Cases) != 31 || got.Cases[1].Failure == nil || got.Cases[1].Failure.Type != "more" || got.Cases[1].Class != "file:line" {
		t.Errorf("%+v", got)
	}
}

// TestSARIFNames names files by the tree they lie in, and counts those that lie
// elsewhere.
func TestSARIFNames(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{".git", "src"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "src", "a b.c"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := SARIF(&b, many(9), root, "1"); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); strings.Count(text, `"uri": "src/a%20b.c"`) != 3 || strings.Count(text, `"level": "error"`) != 3 {
		t.Errorf("%s", text)
	}
	b.Reset()
	if err := SARIF(&b, many(9), "", "1"); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `"filesOutside": 3`) {
		t.Errorf("%s", b.String())
	}
}

// TestGateSentence: what a gate says and its exit code agree.
func TestGateSentence(t *testing.T) {
	for want, g := range map[string]compare.Verdicts{
		"passed: nothing moves the wrong way beyond 5 %":                        {FailAbove: .05},
		"passed: nothing is surely beyond 5 %; 3 groups could not be told":      {FailAbove: .05, Unsure: 3},
		"not sure: nothing is surely beyond 5 %, but 1 group could not be told": {FailAbove: .05, Unsure: 1, Exit: 4},
		"failed: beyond 5 %: the whole run":                                     {FailAbove: .05, Failed: true, Unsure: 1, Exit: 3},
	} {
		c := &compare.Comparison{Gate: &g}
		c.Whole.Label, c.Whole.Fails = "the whole run", g.Failed
		if got := gateText(c); got != want {
			t.Errorf("%+v: %q, want %q", g, got, want)
		}
	}
}

// TestBelow: a change that would not show is as large a fall as a growth by the factor
// between both sides, not by the percentage.
func TestBelow(t *testing.T) {
	for _, tt := range []struct {
		from, to float64
		want     string
	}{
		{.05, .05, "below 5 %"}, {.079, .17, "below 7.9 % to 17 %"}, {1, 1, "below +100 % or −50 %"}, {1, 3, "below +100 % to +300 % or −50 % to −75 %"},
	} {
		if got := compare.Below(tt.from, tt.to); got != tt.want {
			t.Errorf("%v to %v: %q, want %q", tt.from, tt.to, got, tt.want)
		}
	}
}

// TestWas says what a row was called in A, and no more than that.
func TestWas(t *testing.T) {
	at := func(file string, line int) map[string]any { return map[string]any{"file": file, "line": line} }
	for want, r := range map[string]compare.Row{
		"":                 {Key: at("/b/x.c", 7), KeyA: at("/b/x.c", 7)},
		" (was 9)":         {Key: at("/b/x.c", 7), KeyA: at("/a/x.c", 9)},
		" (was core.c:7)":  {Key: at("/b/x.c", 7), KeyA: at("/a/core.c", 7)},
		" (was aggregate)": {Key: map[string]any{"function": "summarise"}, KeyA: map[string]any{"function": "aggregate"}},
	} {
		if got := was(&r); got != want {
			t.Errorf("%v was %v: %q, want %q", r.Key, r.KeyA, got, want)
		}
	}
}
