package server

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

var update = flag.Bool("update", false, "rewrite the files that tests compare with")

// TestWireTypes keeps web/src/api/wire.ts equal to the Go types it mirrors.
func TestWireTypes(t *testing.T) {
	var ts typescript
	ts.WriteString("// Made from the Go types of the messages by\n" +
		"// `go test ./internal/app/server -run WireTypes -update`. Do not edit.\n")
	ts.file(t, "internal/engine/query/question.go", "Scale", "Axis", "Group", "Order", "Stat", "Page")
	ts.file(t, "internal/app/server/frame/wire.go")
	ts.file(t, "internal/app/server/memory/wire.go")
	ts.file(t, "internal/memory/guide/wire.go")
	ts.file(t, "internal/messages/logical/report.go")
	ts.file(t, "internal/messages/logical/report_parts.go")
	ts.file(t, "internal/messages/logical/compare.go")
	ts.file(t, "internal/messages/timeline/timeline.go", "Metric")
	ts.file(t, "internal/messages/timeline/rows.go")
	ts.file(t, "internal/messages/timeline/picture.go", "Window", "Line")
	ts.file(t, "internal/messages/timeline/operation.go")
	ts.file(t, "internal/app/server/messages/wire.go")
	ts.file(t, "internal/loops/spiral/colour.go", "Colour", "Structure")
	ts.file(t, "internal/loops/spiral/reference.go", "Reference")
	ts.file(t, "internal/app/server/references/wire.go")
	ts.file(t, "internal/domain/mesh/project.go", "Counts", "Mode")
	ts.file(t, "internal/domain/mesh/correlate.go", "Correlation", "CategoryStats", "Density")
	ts.file(t, "internal/app/server/mesh/wire.go")
	ts.file(t, "internal/memory/command/command.go", "Action", "Suggestion")
	ts.file(t, "internal/memory/cacheline/cacheline.go", "Sharing", "CacheLine", "LineOffset", "CacheLines")
	ts.file(t, "internal/memory/spread/spread.go", "Spread", "LevelCount", "Latencies")
	ts.file(t, "internal/memory/profile/calls.go", "Calls", "Call")
	ts.file(t, "internal/data/gaps/gaps.go", "Gap")
	ts.file(t, "internal/memory/firsttouch/firsttouch.go", "Touched", "PageCount")
	ts.file(t, "internal/app/server/memory/wire_code.go")
	ts.file(t, "internal/memory/assembly/assembly.go", "Assembly", "Instruction")
	ts.file(t, "internal/formats/foreign/foreign.go", "Candidate")

	compareFile(t, filepath.Join(test.Root(), "web", "src", "api", "wire.ts"), ts.Bytes())
}

// compareFile fails if the file differs from got, or rewrites it with -update.
func compareFile(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is stale: run 'go test ./internal/app/server -run %s -update'", filepath.Base(path), t.Name())
	}
}

// typescript is the text of a declaration file under construction.
type typescript struct{ bytes.Buffer }

// file writes the declarations of the named types of a Go file, or of all.
func (ts *typescript) file(t *testing.T, path string, names ...string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(test.Root(), path), nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	wanted := func(name string) bool {
		for _, n := range names {
			if n == name {
				return true
			}
		}
		return len(names) == 0
	}
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.TYPE {
			continue
		}
		for _, s := range g.Specs {
			if s := s.(*ast.TypeSpec); s.Name.IsExported() && wanted(s.Name.Name) {
				ts.declare(s, g.Doc, f)
			}
		}
	}
}

func (ts *typescript) declare(s *ast.TypeSpec, doc *ast.CommentGroup, f *ast.File) {
	ts.WriteString("\n")
	ts.comment("", doc)
	st, ok := s.Type.(*ast.StructType)
	if !ok {
		alias := typeName(s.Type)
		if alias == "string" {
			alias = strings.Join(constants(f, s.Name.Name), " | ")
		}
		fmt.Fprintf(ts, "export type %s = %s;\n", s.Name.Name, alias)
		return
	}
	extends := ""
	for _, field := range st.Fields.List {
		if len(field.Names) == 0 {
			extends = " extends " + typeName(field.Type)
		}
	}
	fmt.Fprintf(ts, "export interface %s%s {\n", s.Name.Name, extends)
	for _, field := range st.Fields.List {
		if len(field.Names) > 0 {
			ts.field(field)
		}
	}
	ts.WriteString("}\n")
}

func (ts *typescript) field(field *ast.Field) {
	if field.Tag == nil {
		return // it does not travel
	}
	raw, _ := strconv.Unquote(field.Tag.Value)
	tag := reflect.StructTag(raw)
	name, options, _ := strings.Cut(tag.Get("json"), ",")
	if name == "-" {
		return
	}
	ts.comment("  ", field.Doc)
	if strings.Contains(options, "omitempty") {
		name += "?"
	}
	typ := tag.Get("ts")
	if typ == "" {
		typ = typeName(field.Type)
	}
	if strings.HasSuffix(name, "?") {
		typ = strings.TrimSuffix(typ, " | null") // left out, never null
	}
	if strings.HasSuffix(typ, "[]") {
		typ = "readonly " + typ
	}
	fmt.Fprintf(ts, "  readonly %s: %s;", name, typ)
	if c := strings.TrimSpace(field.Comment.Text()); c != "" {
		fmt.Fprintf(ts, " // %s", c)
	}
	ts.WriteString("\n")
}

func (ts *typescript) comment(indent string, doc *ast.CommentGroup) {
	if doc == nil {
		return
	}
	for _, line := range strings.Split(strings.TrimSpace(doc.Text()), "\n") {
		ts.WriteString(strings.TrimRight(indent+"// "+line, " ") + "\n")
	}
}

// constants returns the values of the constants of a string type.
func constants(f *ast.File, typ string) []string {
	var values []string
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			s := s.(*ast.ValueSpec)
			if id, ok := s.Type.(*ast.Ident); ok && id.Name == typ {
				text, _ := strconv.Unquote(s.Values[0].(*ast.BasicLit).Value)
				values = append(values, "'"+text+"'")
			}
		}
	}
	return values
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		switch e.Name {
		case "int", "int32", "int64", "uint32", "uint64", "float64":
			return "number"
		case "bool":
			return "boolean"
		}
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.StarExpr:
		return typeName(e.X) + " | null"
	case *ast.ArrayType:
		element := typeName(e.Elt)
		switch {
		case e.Len != nil:
			// The only arrays are one value for each layer.
			return fmt.Sprintf("readonly [%[1]s, %[1]s, %[1]s]", element)
		case strings.HasSuffix(element, "[]"):
			return "(readonly " + element + ")[]"
		}
		return element + "[]"
	}
	return fmt.Sprintf("unknown /* %T */", e)
}
