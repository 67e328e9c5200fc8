package server

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/engine/query"
)

var update = flag.Bool("update", false, "rewrite the files that tests compare with")

// wireAreas says which Go types each file of web/src/api/wire mirrors: all of a
// Go file, or those that are named.
var wireAreas = []struct {
	name    string
	sources [][]string
}{
	{"frame", [][]string{
		{"internal/engine/query/question.go", "Scale", "Axis", "Group", "Order", "Stat", "Page"},
		{"docs/glossary.go", "Term"},
		{"docs/book.go", "Section"},
		{"internal/app/server/frame/wire.go"},
		{"internal/formats/foreign/foreign.go", "Candidate"},
		{"internal/formats/tabular/words.go", "Wording"},
	}},
	{"memory", [][]string{
		{"internal/app/server/memory/wire.go"},
		{"internal/memory/guide/wire.go"},
		{"internal/memory/command/command.go", "Action", "Suggestion"},
		{"internal/memory/cacheline/cacheline.go", "Sharing", "CacheLine", "LineOffset", "CacheLines"},
		{"internal/memory/spread/spread.go", "Spread", "LevelCount", "Latencies"},
		{"internal/memory/profile/calls.go", "Calls", "Call"},
		{"internal/memory/profile/counted.go", "CallWeight"},
		{"internal/memory/profile/tree.go", "CallNode", "CallFunction", "CallTree"},
		{"internal/app/server/memory/wire_calls.go"},
		{"internal/data/gaps/gaps.go", "Gap"},
		{"internal/memory/firsttouch/firsttouch.go", "Touched", "PageCount"},
		{"internal/memory/allocated/allocated.go", "Allocations", "AllocationSite", "AllocationFrame"},
		{"internal/app/server/memory/wire_code.go"},
		{"internal/memory/heatmap/heatmap.go", "HeatRow"},
		{"internal/app/server/memory/wire_heatmap.go"},
		{"internal/app/server/memory/wire_resources.go"},
		{"internal/app/server/memory/wire_compare.go"},
		{"internal/memory/assembly/assembly.go", "Assembly", "Instruction"},
	}},
	{"messages", [][]string{
		{"internal/messages/logical/report.go"},
		{"internal/messages/logical/report_parts.go"},
		{"internal/messages/logical/compare.go"},
		{"internal/messages/whatif/report.go"},
		{"internal/messages/whatif/predict.go"},
		{"internal/messages/whatif/coverage.go"},
		{"internal/messages/whatif/slack.go"},
		{"internal/messages/whatif/settled.go"},
		{"internal/messages/whatif/clock.go"},
		{"internal/messages/whatif/graph.go", "Inferred"},
		{"internal/messages/whatif/undisturbed.go", "Efficiency"},
		{"internal/messages/timeline/timeline.go", "Metric"},
		{"internal/messages/timeline/rows.go"},
		{"internal/messages/timeline/picture.go", "Window", "Line"},
		{"internal/messages/timeline/operation.go"},
		{"internal/messages/timeline/find.go"},
		{"internal/app/server/messages/wire.go"},
	}},
	{"references", [][]string{
		{"internal/loops/spiral/colour.go", "Colour", "Structure"},
		{"internal/loops/spiral/reference.go", "Reference"},
		{"internal/app/server/references/wire.go"},
		{"internal/app/server/references/wire_loops.go"},
	}},
	{"locality", [][]string{
		{"internal/locality/answer/answer.go", "Machine", "MachineLevel", "MachineTLB"},
		{"internal/locality/replay/bands.go", "Bands"},
		{"internal/locality/answer/advise.go"},
		{"internal/locality/answer/proof.go"},
		{"internal/locality/answer/sharing.go"},
		{"internal/locality/sharing/sharing.go", "Misses"},
		{"internal/locality/views/count.go", "MissRow", "MissLevel", "MissCurve", "MissBand", "SizeNeed", "MissCounts"},
		{"internal/locality/views/evictions.go", "Evictions", "MissCause"},
		{"internal/locality/views/fields.go", "StructUse", "StructPart", "StructField", "StructLine"},
		{"internal/locality/views/sets.go", "SetUse"},
		{"internal/app/server/references/wire_locality.go", "MachineAsk", "LocalityAsk", "PairedAsk", "PlaceKey", "Paired", "LocalityAnswer", "LocalityThen", "LocalityMapAsk", "LocalityMap", "LocalityLane",
			"AdviseAsk", "SharingAsk", "MachinesAsk", "MachineMisses", "MachineLevels"},
	}},
	{"mesh", [][]string{
		{"internal/domain/mesh/project.go", "Counts", "Mode"},
		{"internal/domain/mesh/correlate.go", "Correlation", "CategoryStats", "Density"},
		{"internal/domain/mesh/accesses.go", "AccessCounts"},
		{"internal/domain/mesh/overtime.go", "TimeRow"},
		{"internal/domain/mesh/rank.go", "Explained", "RankedVariables"},
		{"internal/domain/mesh/separate.go", "Separation", "SubjectsShare"},
		{"internal/domain/mesh/placement.go", "Subject"},
		{"internal/domain/mesh/line.go", "LinePiece"},
		{"internal/app/server/mesh/wire.go"},
	}},
	{"executions", [][]string{
		{"internal/app/server/executions/wire.go"},
	}},
}

const wireHead = "// Made from the Go types of the messages by\n" +
	"// `go test ./internal/app/server -run WireTypes -update`. Do not edit.\n"

// TestWireTypes keeps web/src/api/wire equal to the Go types it mirrors. A type
// that it cannot write, or that no area declares, is an error.
func TestWireTypes(t *testing.T) {
	areas := make([]*typescript, len(wireAreas))
	home := map[string]string{} // of each type, the area that declares it
	index := wireHead
	for i, a := range wireAreas {
		ts := &typescript{name: a.name, uses: map[string]bool{}}
		for _, s := range a.sources {
			ts.file(t, s[0], s[1:]...)
		}
		for _, name := range ts.declares {
			if home[name] != "" {
				t.Errorf("%s is declared by %s and by %s: one name, one type", name, home[name], a.name)
			}
			home[name] = a.name
		}
		areas[i] = ts
		index += fmt.Sprintf("export type * from './%s';\n", a.name)
	}
	folder := filepath.Join(test.Root(), "web", "src", "api", "wire")
	for _, ts := range areas {
		head, err := ts.imports(home)
		if err != nil {
			t.Error(err)
		}
		compareFile(t, filepath.Join(folder, ts.name+".ts"), append([]byte(wireHead+head), ts.Bytes()...))
	}
	compareFile(t, filepath.Join(folder, "index.ts"), []byte(index))
}

func TestWireTypesRefusesUnknown(t *testing.T) {
	for _, c := range []struct{ typ, says string }{
		{"chan int", "chan"},
		{"map[string]int", "map"},
		{"any", "any"},
		{"time.Time", "Time"},
		{"[4]int", "array"},
	} {
		e, err := parser.ParseExpr(c.typ)
		if err != nil {
			t.Fatal(err)
		}
		ts := &typescript{name: "x", uses: map[string]bool{}}
		_, err = ts.typeName(e)
		if err == nil {
			_, err = ts.imports(map[string]string{})
		}
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got error %v, want one that says %q", c.typ, err, c.says)
		}
	}
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
type typescript struct {
	bytes.Buffer
	name     string
	declares []string
	uses     map[string]bool // names of types that are not TypeScript's own
}

// imports returns the lines that import what the file uses of other areas.
func (ts *typescript) imports(home map[string]string) (string, error) {
	from := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(ts.uses)) {
		switch home[name] {
		case ts.name:
		case "":
			return "", fmt.Errorf("%s.ts uses %s, which no area declares: add its file to wireAreas, or a ts tag", ts.name, name)
		default:
			from[home[name]] = append(from[home[name]], name)
		}
	}
	var lines strings.Builder
	for _, area := range slices.Sorted(maps.Keys(from)) {
		fmt.Fprintf(&lines, "import type { %s } from './%s';\n", strings.Join(from[area], ", "), area)
	}
	return lines.String(), nil
}

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
				ts.declare(t, s, g.Doc, f)
			}
		}
	}
}

func (ts *typescript) declare(t *testing.T, s *ast.TypeSpec, doc *ast.CommentGroup, f *ast.File) {
	t.Helper()
	ts.declares = append(ts.declares, s.Name.Name)
	ts.WriteString("\n")
	ts.comment("", doc)
	typeOf := func(e ast.Expr) string {
		name, err := ts.typeName(e)
		if err != nil {
			t.Errorf("%s: %v", s.Name.Name, err)
		}
		return name
	}
	st, ok := s.Type.(*ast.StructType)
	if !ok {
		alias := typeOf(s.Type)
		if alias == "string" {
			alias = strings.Join(constants(f, s.Name.Name), " | ")
		}
		fmt.Fprintf(ts, "export type %s = %s;\n", s.Name.Name, alias)
		return
	}
	extends := ""
	for _, field := range st.Fields.List {
		if len(field.Names) == 0 {
			extends = " extends " + typeOf(field.Type)
		}
	}
	fmt.Fprintf(ts, "export interface %s%s {\n", s.Name.Name, extends)
	for _, field := range st.Fields.List {
		if len(field.Names) > 0 {
			ts.field(field, typeOf)
		}
	}
	ts.WriteString("}\n")
}

func (ts *typescript) field(field *ast.Field, typeOf func(ast.Expr) string) {
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
		typ = typeOf(field.Type)
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

// isLayers reports whether the length of an array is query.Layers.
func isLayers(length ast.Expr) bool {
	s, ok := length.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Layers"
}

// typeName returns the TypeScript of a Go type, or an error if it has none.
func (ts *typescript) typeName(e ast.Expr) (string, error) {
	switch e := e.(type) {
	case *ast.Ident:
		switch e.Name {
		case "int", "int32", "int64", "uint32", "uint64", "float64":
			return "number", nil
		case "bool":
			return "boolean", nil
		case "string":
			return "string", nil
		}
		ts.uses[e.Name] = true
		return e.Name, nil
	case *ast.SelectorExpr:
		return ts.typeName(e.Sel)
	case *ast.StarExpr:
		name, err := ts.typeName(e.X)
		return name + " | null", err
	case *ast.ArrayType:
		element, err := ts.typeName(e.Elt)
		switch {
		case err != nil:
			return "", err
		case isLayers(e.Len):
			return "readonly [" + strings.Join(slices.Repeat([]string{element}, query.Layers), ", ") + "]", nil
		case e.Len != nil:
			return "", fmt.Errorf("an array of %s has no type here: give it a ts tag", element)
		case strings.HasSuffix(element, "[]"):
			return "(readonly " + element + ")[]", nil
		case strings.Contains(element, " | "):
			return "(" + element + ")[]", nil
		}
		return element + "[]", nil
	case *ast.MapType:
		return "", fmt.Errorf("a map has no type here: give it a ts tag")
	case *ast.ChanType:
		return "", fmt.Errorf("a chan cannot travel")
	}
	return "", fmt.Errorf("%T has no type here: give it a ts tag", e)
}
