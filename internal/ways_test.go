package internal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// bareGoroutines are the files, and packages that end in /, that may start a
// goroutine other than by base/parallel, and why.
var bareGoroutines = map[string]string{
	"internal/base/parallel/":        "is what all others use",
	"internal/base/budget/share.go":  "a build outlives its request, for the next; Close waits, parallel.Safely recovers",
	"internal/record/sampler/":       "takes samples out of rings while the program runs: a stop is a lost sample; finish waits",
	"internal/record/step/tracer.go": "ptrace needs a thread of its own, which ends with its goroutine",
}

// bareFiles may write files other than by base/wholefile, and why.
var bareFiles = map[string]string{
	"internal/base/scratch/":             "temporary files, which nobody else sees",
	"internal/base/test/":                "for tests",
	"internal/base/wholefile/":           "is what all others use",
	"internal/app/server/listen.go":      "moves a socket, not a file",
	"internal/app/server/upload.go":      "into its own private folder, removed at the end",
	"internal/app/dataset/dataset.go":    "spools standard input into its own private folder",
	"internal/app/damagetest/":           "for tests",
	"internal/app/demo/":                 "sources on their way into a run; and the command that makes the built-in run",
	"internal/data/grid/gridtest/":       "for tests",
	"internal/formats/foreign/found.go":  "unpacks into its own private folder, removed when it was read",
	"internal/formats/otf2/writer.go":    "event files grow while a program runs; they count from the anchor on, which is written last",
	"internal/record/journal.go":         "grows while the program runs, and is read up to its last whole line and row",
	"internal/record/ccache/ccache.go":   "what a compiler wrote in a private folder is moved whole",
	"internal/record/step/tracer.go":     "/proc/PID/mem",
	"internal/messages/mpiprog/fixture/": "makes fixtures",
}

// TestOneWay holds that goroutines and files are made in one way: with an owner,
// a context and a recover; whole and as private as the umask says.
func TestOneWay(t *testing.T) {
	used := map[string]bool{}
	allowed := func(list map[string]string, file string) bool {
		for name := range list {
			if file == name || strings.HasSuffix(name, "/") && strings.HasPrefix(file, name) {
				used[name] = true
				return true
			}
		}
		return false
	}
	eachFile(t, []string{"internal", "cmd"}, func(name string, set *token.FileSet, file *ast.File) {
		for at, what := range bareWays(file) {
			list, cure := bareGoroutines, "parallel.Each, Parts, Group or Start"
			if strings.HasPrefix(what, "os.") {
				list, cure = bareFiles, "wholefile.Write, Folder or Fill"
			}
			if !allowed(list, name) {
				t.Errorf("%s: %s; use %s, or say in ways_test.go why not", set.Position(at), what, cure)
			}
		}
	})
	for _, list := range []map[string]string{bareGoroutines, bareFiles} {
		for name := range list {
			if !used[name] {
				t.Errorf("%s no longer needs its exception in ways_test.go", name)
			}
		}
	}
}

// bareReads may open files other than by base/plainfile, and why.
var bareReads = map[string]string{
	"internal/formats/perfdata/attribute.go": "what the kernel says of itself",
}

// TestDataIsPlain holds that files of strangers are opened in one way, which no
// pipe or device holds up.
func TestDataIsPlain(t *testing.T) {
	eachFile(t, []string{"internal/data", "internal/formats"}, func(name string, set *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.SelectorExpr)
			if !ok || bareReads[name] != "" {
				return true
			}
			from, ok := call.X.(*ast.Ident)
			if ok && (from.Name == "os" || from.Name == "root") && (call.Sel.Name == "Open" || call.Sel.Name == "ReadFile") {
				t.Errorf("%s: %s.%s; use plainfile, or say in ways_test.go why not", set.Position(call.Pos()), from.Name, call.Sel.Name)
			}
			return true
		})
	})
}

// bareWays finds what TestOneWay looks for, by position.
func bareWays(file *ast.File) map[token.Pos]string {
	found := map[token.Pos]string{}
	for _, i := range file.Imports {
		if strings.Contains(i.Path.Value, "x/sync/errgroup") {
			found[i.Pos()] = "errgroup"
		}
	}
	files := map[string]bool{"Create": true, "CreateTemp": true, "Rename": true, "WriteFile": true, "O_CREATE": true, "Link": true}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found[n.Pos()] = "go statement"
		case *ast.SelectorExpr:
			from, ok := n.X.(*ast.Ident)
			switch {
			case !ok:
			case from.Name == "sync" && n.Sel.Name == "WaitGroup":
				found[n.Pos()] = "sync.WaitGroup"
			case from.Name == "os" && files[n.Sel.Name]:
				found[n.Pos()] = "os." + n.Sel.Name
			}
		}
		return true
	})
	return found
}

// eachFile parses the files of the program, without tests, by their paths from
// the top of the repository.
func eachFile(t *testing.T, folders []string, visit func(name string, set *token.FileSet, file *ast.File)) {
	t.Helper()
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join("..", folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, 0)
			if err != nil {
				return err
			}
			name, err := filepath.Rel("..", path)
			visit(filepath.ToSlash(name), set, file)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestNamesCanBeSearchedFor holds that no function of a package is named by a word
// that half of the comments have too.
func TestNamesCanBeSearchedFor(t *testing.T) {
	vague := map[string]bool{"look": true, "made": true, "told": true, "kept": true, "number": true}
	eachFile(t, []string{"internal", "cmd"}, func(name string, set *token.FileSet, file *ast.File) {
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && vague[f.Name.Name] {
				t.Errorf("%s: func %s; say of what", set.Position(f.Pos()), f.Name.Name)
			}
		}
	})
}

// TestRoughlyIsSaidInOnePlace holds that whether a number gets the sign of what is
// not exact is decided by term.Roughly. A text that is always modelled has the
// sign among its words.
func TestRoughlyIsSaidInOnePlace(t *testing.T) {
	var places []string
	eachFile(t, []string{"internal", "cmd"}, func(name string, set *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && strings.Trim(l.Value, "\"` ") == "≈" {
				places = append(places, set.Position(l.Pos()).String())
			}
			return true
		})
	})
	if len(places) != 1 || !strings.Contains(places[0], "internal/base/term/") {
		t.Errorf("≈ is chosen at %q; use term.Roughly", places)
	}
}
