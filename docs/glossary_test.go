package docs

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/samples"
	memoryguide "github.com/isobath/isobath/internal/memory/guide"
	"github.com/isobath/isobath/internal/messages/timeline"
)

var update = flag.Bool("update", false, "write the chapter that is made of the glossary")

// glossaryChapter is the glossary as a chapter of the guide.
func glossaryChapter() string {
	text := "# Glossary\n\nEvery column, metric and head of a table: what it means, how it is worked out, and what to do about it. In the page the\n" +
		"same words appear where the pointer rests on a head, an axis, a statistic or a choice of a menu, and in the command\n" +
		"search; `isobath guide NAME` prints one of them. The list is in `docs/glossary_terms.go`.\n"
	for _, t := range Glossary() {
		text += "\n" + t.Markdown()
	}
	return text
}

// TestGlossaryChapter holds that the chapter is that of the list.
func TestGlossaryChapter(t *testing.T) {
	file := filepath.Join("guide", GlossaryName+".md")
	if *update {
		if err := os.WriteFile(file, []byte(glossaryChapter()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != glossaryChapter() {
		t.Errorf("%s is stale: run 'go test ./docs -run GlossaryChapter -update'", file)
	}
}

// TestTerms holds that each name has one term, and that what it leads to is there.
func TestTerms(t *testing.T) {
	chapters, err := Chapters()
	if err != nil {
		t.Fatal(err)
	}
	places := map[string]bool{}
	for _, c := range chapters {
		places[c.Name] = true
		for _, part := range sections(c) {
			places[c.Name+"#"+anchor(strings.TrimLeft(part[0], "# "))] = true
		}
	}
	owner := map[string]string{}
	for _, term := range Glossary() {
		for _, name := range append([]string{term.Name}, term.Also...) {
			name = strings.ToLower(name)
			if other := owner[name]; other != "" && other != term.Name {
				t.Errorf("%q is a name of %s and of %s", name, other, term.Name)
			}
			owner[name] = term.Name
		}
		if !strings.HasSuffix(term.Means, ".") || !slices.Contains([]string{ofColumn, ofMetric, ofWord}, term.Kind) {
			t.Errorf("%s: kind %q means %q", term.Name, term.Kind, term.Means)
		}
		if !places[term.Chapter] {
			t.Errorf("%s leads to %q, which is not in the guide", term.Name, term.Chapter)
		}
	}
}

// plain are heads that name what a row is, or say themselves what they are.
var plain = strings.Fields(`chapter title section on shards`)

// TestEverythingIsExplained holds that each column and metric, each head of a
// table on the command line, and each head of a list in the page has a term.
func TestEverythingIsExplained(t *testing.T) {
	for _, f := range samples.Fields() {
		explained(t, "column", f.Name, f.Name)
		explained(t, "label", f.Label, f.Name)
		explained(t, "head of an axis", f.Head, "")
	}
	for _, m := range memoryguide.Metrics {
		explained(t, "metric", m.Title, "")
	}
	for _, m := range []timeline.Metric{timeline.Lateness, timeline.Differential, timeline.PartLateness, timeline.PartDifferential, timeline.Duration} {
		explained(t, "metric of a trace", string(m), "")
	}
	printed := headsPrinted(t)
	if len(printed) < 40 {
		t.Errorf("only %d heads found on the command line", len(printed))
	}
	for _, head := range printed {
		explained(t, "head on the command line", head, "")
	}
	drawn := headsDrawn(t)
	if len(drawn) < 40 {
		t.Errorf("only %d heads found in the page", len(drawn))
	}
	for _, head := range drawn {
		explained(t, "head in the page", head, "")
	}
}

// explained fails without a term of the name; term is which one it must be, if it
// is not empty.
func explained(t *testing.T, what, name, term string) {
	t.Helper()
	name = strings.TrimSpace(strings.TrimPrefix(name, "→ "))
	if name == "" || slices.Contains(plain, name) {
		return
	}
	found, ok := Explain(name)
	if !ok || term != "" && found.Name != term {
		t.Errorf("%s %q has no entry in the glossary (found %q)", what, name, found.Name)
	}
}

// headsPrinted are the heads of the tables that commands print.
func headsPrinted(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../cmd/isobath/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			pair, ok := n.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			key, isName := pair.Key.(*ast.Ident)
			value, isText := pair.Value.(*ast.BasicLit)
			if isName && isText && key.Name == "Head" {
				head, err := strconv.Unquote(value.Value)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, head)
			}
			return true
		})
	}
	return out
}

var (
	listHead  = regexp.MustCompile(`\bhead: '([^']+)'`)
	tableHead = regexp.MustCompile(`<th(?: class="[a-z]+"| title="[^"]*")*>([^<{]+)</th`)
)

// headsDrawn are the heads of the lists and tables of the page that stand in its
// sources.
func headsDrawn(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir("../web/src/pages", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".test.ts") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, kind := range []*regexp.Regexp{listHead, tableHead} {
			for _, m := range kind.FindAllSubmatch(text, -1) {
				out = append(out, string(m[1]))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestFindTerms(t *testing.T) {
	got := FindTerms("LATE")
	if len(got) == 0 || !strings.HasPrefix(strings.ToLower(got[0].Name), "late") {
		t.Errorf("%+v", got)
	}
	if got := FindTerms("no such thing"); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}
