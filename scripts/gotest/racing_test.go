package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

func TestStartsGoroutines(t *testing.T) {
	for name, tt := range map[string]struct {
		code, imports string
		want          bool
	}{
		"computes":     {"func sum(v []int) (n int) { for _, x := range v { n += x }; return n }", "", false},
		"go statement": {"func run(f func()) { defer f(); go f() }", "", true},
		"locks":        {"var lock sync.Mutex", "sync", true},
	} {
		p := goPackage{Dir: t.TempDir(), Imports: []string{tt.imports}, GoFiles: []string{"a.go"}}
		if err := os.WriteFile(filepath.Join(p.Dir, "a.go"), []byte("package a\n"+tt.code+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if got, err := p.racing(); err != nil || got != tt.want {
			t.Errorf("%s: %v, %v; want %v", name, got, err, tt.want)
		}
	}
}

// TestRacingPackages: what serves, scans and records in goroutines is watched.
func TestRacingPackages(t *testing.T) {
	var out strings.Builder
	if err := printRacing(&out, "github.com/isobath/isobath/..."); err != nil {
		t.Fatal(err)
	}
	got := strings.Fields(out.String())
	for _, want := range []string{"cmd/isobath", "internal/app/server", "internal/base/parallel", "internal/domain/mesh", "internal/engine/kernel", "internal/record/sampler"} {
		if !slices.Contains(got, "./"+want) {
			t.Errorf("%s is not watched", want)
		}
	}
	for plain, why := range map[string]string{"base/stat": "starts no goroutine", "loops/cycle": "computes one answer"} {
		if slices.Contains(got, "./internal/"+plain) {
			t.Errorf("%s %s and is watched", plain, why)
		}
	}
	for _, area := range analyses {
		if _, err := os.Stat(filepath.Join(test.Root(), "internal", area, "doc.go")); err != nil {
			t.Error(err)
		}
	}
}

// TestLeftOutOfRaces: what test.NoRaces leaves out starts no goroutine itself.
func TestLeftOutOfRaces(t *testing.T) {
	leftOut := 0
	for _, folder := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(filepath.Join(test.Root(), folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, d := range file.Decls {
				if !names(d, "NoRaces") {
					continue
				}
				leftOut++
				if startsGoroutines(d) || names(d, "parallel") {
					t.Errorf("%s: a test that starts goroutines is left out of the race tier", set.Position(d.Pos()))
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if leftOut == 0 {
		t.Error("no test is left out: nothing was looked at")
	}
}

// names reports whether a name occurs in the code of a declaration.
func names(d ast.Node, name string) bool {
	found := false
	ast.Inspect(d, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == name {
			found = true
		}
		return !found
	})
	return found
}
