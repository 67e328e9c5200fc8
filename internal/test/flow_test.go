package test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// right lists, for the rooms of the house from left to right, what stands to
// the right of each: a package must not import it. Data flows one way.
var right = []struct{ room, not string }{
	{"internal/table", "internal/*"},
	{"internal/hw", "internal/formats internal/run internal/dataset internal/query internal/kernel internal/guide internal/record internal/server"},
	{"internal/symbol", "internal/formats internal/run internal/dataset internal/query internal/kernel internal/guide internal/server"},
	{"internal/formats", "internal/run internal/dataset internal/query internal/kernel internal/guide internal/command internal/record internal/server"},
	{"internal/refs", "internal/query internal/cycle internal/server"},
	{"internal/run", "internal/dataset internal/query internal/kernel internal/guide internal/record internal/server"},
	{"internal/record", "internal/dataset internal/query internal/kernel internal/guide internal/command internal/server"},
	{"internal/query", "internal/dataset internal/kernel internal/guide internal/command internal/record internal/server"},
	{"internal/kernel", "internal/dataset internal/guide internal/command internal/record internal/server"},
	{"internal/guide", "internal/dataset internal/command internal/record internal/server"},
	{"internal/trace", "internal/logical internal/timeline internal/server"},
	{"internal/logical", "internal/timeline internal/server"},
	{"internal/cycle", "internal/spiral internal/server"},
	{"internal", "internal/server cmd"},
}

// TestFlow reads the imports of every package.
func TestFlow(t *testing.T) {
	root := Root()
	for _, top := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			rel, err := filepath.Rel(root, file)
			if err != nil {
				return err
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			for _, i := range parsed.Imports {
				name, err := strconv.Unquote(i.Path.Value)
				if err != nil {
					return err
				}
				if to, ok := strings.CutPrefix(name, "isobath/"); ok {
					checkImport(t, filepath.ToSlash(rel), to)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func checkImport(t *testing.T, file, to string) {
	t.Helper()
	if within(to, "internal/test") && !within(file, "internal/test") && !testOnly(path.Dir(file)) {
		t.Errorf("%s imports %s, which is for tests", file, to)
	}
	for _, r := range right {
		if !within(file, r.room) || within(to, r.room) && r.room != "internal" {
			continue
		}
		for not := range strings.FieldsSeq(r.not) {
			if within(to, strings.TrimSuffix(not, "/*")) && !(within(file, not) && within(to, not)) {
				t.Errorf("%s imports %s, which stands to its right", file, to)
			}
		}
	}
}

// testOnly reports packages that serve the tests of several others.
func testOnly(dir string) bool { return strings.HasSuffix(dir, "test") }

func within(name, folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") }
