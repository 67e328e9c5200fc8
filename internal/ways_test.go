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
	"internal/base/parallel/":          "is what all others use",
	"internal/base/budget/share.go":    "a build outlives its request, for the next; Close waits, parallel.Safely recovers",
	"internal/record/sampler/":         "takes samples out of rings while the program runs: a stop is a lost sample; finish waits",
	"internal/record/step/tracer.go":   "ptrace needs a thread of its own, which ends with its goroutine",
	"internal/domain/link/server.go":   "when its context ends, a listener is closed and a deadline set: neither can panic",
	"cmd/isobath/main.go":              "the first signal gives the second its usual meaning",
	"internal/loops/cycle/analyse.go":  "memory that nobody has any more is given back to the budget",
	"internal/domain/mesh/open.go":     "memory that nobody has any more is given back to the budget",
	"internal/formats/otf2/archive.go": "removes the temporary folder of an archive that nobody has any more",
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
	"internal/record/heap/everybody.go":  "every user must read it, whatever root's umask says; moved whole",
	"internal/messages/mpiprog/fixture/": "makes fixtures",
}

// TestOneWay holds that goroutines and files are made in one way: with an owner,
// a context and a recover; whole and as private as the umask says.
func TestOneWay(t *testing.T) {
	goroutines, files := newExcuses(bareGoroutines), newExcuses(bareFiles)
	eachFile(t, []string{"internal", "cmd"}, func(name string, set *token.FileSet, file *ast.File) {
		for at, what := range bareWays(file) {
			list, cure := goroutines, "parallel.Each, Parts, Group or Start"
			if strings.HasPrefix(what, "os.") {
				list, cure = files, "wholefile.Write, Folder or Fill"
			}
			if !list.has(name) {
				t.Errorf("%s: %s; use %s, or say in ways_test.go why not", set.Position(at), what, cure)
			}
		}
	})
	goroutines.check(t)
	files.check(t)
}

// TestOneBudget holds that whoever makes an engine says which budget it draws on:
// one of its own would let it take as much again as the whole program may.
func TestOneBudget(t *testing.T) {
	seen := 0
	eachFile(t, []string{"internal", "cmd"}, func(name string, set *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			made, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			of, ok := made.Type.(*ast.SelectorExpr)
			if !ok || of.Sel.Name != "Options" {
				return true
			}
			if from, ok := of.X.(*ast.Ident); !ok || from.Name != "kernel" {
				return true
			}
			seen++
			for _, e := range made.Elts {
				if field, ok := e.(*ast.KeyValueExpr); ok && field.Key.(*ast.Ident).Name == "Budget" {
					return true
				}
			}
			t.Errorf("%s: an engine with a budget of its own; use budget.Of(ctx)", set.Position(made.Pos()))
			return true
		})
	})
	if seen < 5 {
		t.Errorf("only %d engines are made: the test looks for the wrong thing", seen)
	}
}

// bareReads are the files, and packages that end in /, that may open files other
// than by base/plainfile, and why.
var bareReads = map[string]string{
	"internal/formats/perfdata/attribute.go": "what the kernel says of itself",
	"internal/code/symbol/vdso.go":           "what the kernel says of this process",
	"internal/code/symbol/kallsyms.go":       "what the kernel says of itself, beside a list of symbols",
	"internal/record/code.go":                "the memory of a program that is recorded",
	"internal/record/environment.go":         "what the kernel says of the machine",
	"internal/record/heap/confined.go":       "what the kernel says of this process",
	"internal/record/mpitrace/":              "what a program of the user's writes while it is recorded",
	"internal/record/pyframe/":               "what the kernel says of a program that is recorded",
	"internal/record/python.go":              "what the kernel says of a program that is recorded",
	"internal/record/sampler/":               "what the kernel says of programs that are recorded",
	"internal/record/step/":                  "what the kernel says of a program that is recorded",
	"internal/record/target/":                "a program that the user starts",
}

// TestDataIsPlain holds that files of strangers are opened in one way, which no
// pipe or device holds up.
func TestDataIsPlain(t *testing.T) {
	excuses := newExcuses(bareReads)
	folders := strings.Fields("internal/data internal/formats internal/code internal/loops internal/locality internal/memory internal/messages internal/domain internal/record")
	eachFile(t, folders, func(name string, set *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			from, ok := call.X.(*ast.Ident)
			if ok && (from.Name == "os" || from.Name == "root") && (call.Sel.Name == "Open" || call.Sel.Name == "ReadFile") && !excuses.has(name) {
				t.Errorf("%s: %s.%s; use plainfile, or say in ways_test.go why not", set.Position(call.Pos()), from.Name, call.Sel.Name)
			}
			return true
		})
	})
	excuses.check(t)
}

// excuses are files, and packages that end in /, that a rule leaves out.
type excuses struct {
	list map[string]string
	used map[string]bool
}

func newExcuses(list map[string]string) *excuses { return &excuses{list, map[string]bool{}} }

// has reports whether a file is left out.
func (e *excuses) has(file string) bool {
	for name := range e.list {
		if file == name || strings.HasSuffix(name, "/") && strings.HasPrefix(file, name) {
			e.used[name] = true
			return true
		}
	}
	return false
}

// check holds that every excuse is needed.
func (e *excuses) check(t *testing.T) {
	t.Helper()
	for name := range e.list {
		if !e.used[name] {
			t.Errorf("%s no longer needs its exception in ways_test.go", name)
		}
	}
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
			case n.Sel.Name == "AfterFunc" || n.Sel.Name == "AddCleanup" || n.Sel.Name == "SetFinalizer": // the function has a goroutine of its own
				found[n.Pos()] = from.Name + "." + n.Sel.Name
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
