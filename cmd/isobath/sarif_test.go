package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	_ "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif" // has the schema
	"github.com/xeipuuv/gojsonschema"

	"github.com/isobath/isobath/internal/base/test"
)

// sarifSchema takes the published schema (2.1.0, errata 01) from the source of
// go-sarif, which keeps it as a constant of its own.
func sarifSchema(t *testing.T) *gojsonschema.Schema {
	t.Helper()
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif").Output()
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "schema.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			part, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			text += part
		}
		return true
	})
	if !strings.Contains(text, "errata01/os/schemas/sarif-schema-2.1.0.json") {
		t.Fatal("the schema is another one")
	}
	s, err := gojsonschema.NewSchema(gojsonschema.NewStringLoader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSARIFSchema validates findings about the examples that are built in, and
// that some of each are on lines.
func TestSARIFSchema(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	s := sarifSchema(t)
	for _, args := range []string{
		"report demo --format sarif", "insights demo --format sarif", "diff demo demo:fixed --format sarif", "diff demo demo:fixed --sarif -",
		"steps demo:messages --format sarif", "advise demo:locality --machine classic --kind interchange --format sarif",
	} {
		t.Run(args, func(t *testing.T) {
			out := printedBy(t, args)
			result, err := s.Validate(gojsonschema.NewStringLoader(out))
			if err != nil {
				t.Fatalf("%v: %.300s", err, out)
			}
			for i, e := range result.Errors() {
				if i < 10 {
					t.Error(e)
				}
			}
			if !strings.Contains(out, `"ruleId"`) {
				t.Errorf("no findings: %.300s", out)
			}
			if !strings.Contains(args, "demo:messages") && !strings.Contains(out, `"startLine"`) { // its trace has no lines
				t.Errorf("no finding is on a line: %.300s", out)
			}
		})
	}
}

// TestSARIFSchemaRefuses holds that the validator would see what is wrong.
func TestSARIFSchemaRefuses(t *testing.T) {
	s := sarifSchema(t)
	for _, text := range []string{
		`{"version":"2.1.0"}`,
		`{"version":"2.0.0","runs":[]}`,
		`{"version":"2.1.0","runs":[{"tool":{"driver":{}}}]}`,
		`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[{"message":{"text":"m"},"level":"bad"}]}]}`,
		`{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"x"}},"results":[{"message":{"text":"m"},"unknown":1}]}]}`,
	} {
		if result, err := s.Validate(gojsonschema.NewStringLoader(text)); err != nil || result.Valid() {
			t.Errorf("accepted: %s (%v)", text, err)
		}
	}
}
