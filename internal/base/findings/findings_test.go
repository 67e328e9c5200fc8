package findings

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// some is a list with a finding of each level, one without a place and one in a
// file of another tree; names are as bad as names get.
func some(root string) *List {
	return &List{Verb: "insights", Version: "1", Command: "isobath insights `x`", Summary: "4 findings", Root: root, Notes: []string{"a | b"},
		Rules: []Rule{{"isobath/a", "short", "help"}, {"isobath/b", "short", "help"}},
		Findings: []Finding{
			{Rule: "isobath/a", Level: Error, Name: "first, of: all", Text: "100% slow\nand <b>more</b>", File: filepath.Join(root, "src", "a b.c"), Line: 7},
			{Rule: "isobath/a", Level: Warning, Name: "a|b", Text: "second", File: filepath.Join(root, "src", "a b.c"), Line: 9, Source: "x"},
			{Rule: "isobath/b", Level: Note, Name: "whole", Text: "about no line"},
			{Rule: "isobath/b", Level: Note, Name: "elsewhere", Text: "in another tree", File: "/nowhere/z.c", Line: 3},
		}}
}

func tree(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{".git", "src"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "src", "a b.c"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestNamesInTree(t *testing.T) {
	root := tree(t)
	for _, tt := range []struct {
		file, root, want string
		ok               bool
	}{
		{filepath.Join(root, "src", "a b.c"), "", "src/a b.c", true},
		{filepath.Join(root, "src", "a b.c"), filepath.Join(root, "src"), "a b.c", true},
		{"/nowhere/src/a b.c", root, "src/a b.c", true},
		{"/nowhere/src/a b.c", "", "", false},
		{"src/a.c", "", "src/a.c", true},
		{"../../etc/passwd", "", "", false},
		{"../etc/passwd", root, "", false},
	} {
		got, ok := inTree(tt.file, tt.root)
		if ok != tt.ok || ok && got != tt.want {
			t.Errorf("%s below %q: %q, %v; want %q, %v", tt.file, tt.root, got, ok, tt.want, tt.ok)
		}
	}
}

// TestSARIF holds the rules of the published schema that concern what is written:
// required members, the closed lists of words, unique rules that results refer
// to, lines from 1 and names that are relative references.
func TestSARIF(t *testing.T) {
	var b bytes.Buffer
	if err := some(tree(t)).Write(&b, FormSARIF); err != nil {
		t.Fatal(err)
	}
	var log struct {
		Schema  string `json:"$schema"`
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name, Version string
					Rules         []struct {
						ID                     string
						ShortDescription, Help struct{ Text string }
					}
				}
			}
			Results    []map[string]any
			Properties map[string]float64
		}
	}
	dec := json.NewDecoder(&b)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&log); err != nil {
		t.Fatal(err)
	}
	if log.Version != "2.1.0" || len(log.Runs) != 1 || log.Runs[0].Tool.Driver.Name == "" {
		t.Fatalf("%+v", log)
	}
	run := log.Runs[0]
	rules := map[string]bool{}
	for _, r := range run.Tool.Driver.Rules {
		if rules[r.ID] || r.ShortDescription.Text == "" || r.Help.Text == "" {
			t.Errorf("rule %+v", r)
		}
		rules[r.ID] = true
	}
	if len(run.Results) != 3 || run.Properties["filesOutside"] != 1 || run.Properties["leftOut"] != 0 {
		t.Errorf("%d results, %v", len(run.Results), run.Properties)
	}
	levels := regexp.MustCompile(`^(none|note|warning|error)$`)
	for _, r := range run.Results {
		if !rules[r["ruleId"].(string)] || !levels.MatchString(r["level"].(string)) || r["message"].(map[string]any)["text"] == "" {
			t.Errorf("result %v", r)
		}
		for key := range r {
			if !strings.Contains(" ruleId level message locations partialFingerprints ", " "+key+" ") {
				t.Errorf("a result has %s", key)
			}
		}
		at, ok := r["locations"].([]any)
		if !ok {
			continue
		}
		place := at[0].(map[string]any)["physicalLocation"].(map[string]any)
		uri := place["artifactLocation"].(map[string]any)["uri"].(string)
		if uri != "src/a%20b.c" || place["region"].(map[string]any)["startLine"].(float64) < 1 {
			t.Errorf("place %v", place)
		}
	}
}

// TestGitHub holds that a finding is one line, whatever it says.
func TestGitHub(t *testing.T) {
	var b bytes.Buffer
	if err := some(tree(t)).Write(&b, FormGitHub); err != nil {
		t.Fatal(err)
	}
	want := `::error file=src/a b.c,line=7,title=isobath insights%3A first%2C of%3A all::100%25 slow%0Aand <b>more</b>
::warning file=src/a b.c,line=9,title=isobath insights%3A a|b::second
::notice title=isobath insights%3A whole::about no line
::notice title=isobath insights%3A elsewhere::in another tree
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestJUnit(t *testing.T) {
	var b bytes.Buffer
	if err := some(tree(t)).Write(&b, FormJUnit); err != nil {
		t.Fatal(err)
	}
	// What the schemas of Jenkins and of Ant's task require of a suite.
	for _, attribute := range []string{"name", "tests", "failures", "errors"} {
		if !regexp.MustCompile(`<testsuite [^>]*\b` + attribute + `="`).Match(b.Bytes()) {
			t.Errorf("the suite has no %s: %.200s", attribute, b.String())
		}
	}
	var got Suite
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Tests != 4 || got.Failures != 2 || got.Cases[0].Failure == nil || got.Cases[0].File != "src/a b.c" || got.Cases[0].Line != 7 || got.Cases[2].Failure != nil || got.Cases[2].Output != "about no line" {
		t.Errorf("%s", b.String())
	}
}

// TestMarkdown holds that rows have their columns, and that many findings fit a
// comment.
func TestMarkdown(t *testing.T) {
	l := some(tree(t))
	for i := range 2000 {
		l.Findings = append(l.Findings, Finding{Rule: "isobath/a", Level: Note, Name: fmt.Sprint(i), Text: strings.Repeat("x|", 200)})
	}
	var b bytes.Buffer
	if err := l.Write(&b, FormMarkdown); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if b.Len() > MarkdownBytes || !strings.Contains(text, "src/a b.c:7") || !strings.Contains(text, "more are left out") || strings.Contains(text, "<b>") {
		t.Errorf("%d bytes: %.600s", b.Len(), text)
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "| ") && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != 4 {
			t.Fatalf("a row has other columns: %q", line)
		}
	}
}

func TestParseFormat(t *testing.T) {
	if _, err := ParseFormat("xml"); err == nil {
		t.Error("xml is a form")
	}
	for _, f := range formats {
		if got, err := ParseFormat(string(f)); err != nil || got != f {
			t.Errorf("%s: %v, %v", f, got, err)
		}
	}
}
