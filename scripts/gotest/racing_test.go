package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestStartsGoroutines(t *testing.T) {
	for name, tt := range map[string]struct {
		file, code, imports string
		want                bool
	}{
		"computes":          {"a.go", "func sum(v []int) (n int) { for _, x := range v { n += x }; return n }", "", false},
		"go statement":      {"a.go", "func run(f func()) { defer f(); go f() }", "", true},
		"test beside tests": {"a_test.go", "func TestA(t *testing.T) { t.Parallel() }", "testing", true},
		"test alone":        {"a_test.go", "func TestA(t *testing.T) { t.Log() }", "testing", false},
		"locks":             {"a.go", "var lock sync.Mutex", "sync", true},
	} {
		p := goPackage{Dir: t.TempDir(), Imports: []string{tt.imports}}
		if strings.HasSuffix(tt.file, "_test.go") {
			p.TestGoFiles = []string{tt.file}
		} else {
			p.GoFiles = []string{tt.file}
		}
		if err := os.WriteFile(filepath.Join(p.Dir, tt.file), []byte("package a\n"+tt.code+"\n"), 0o666); err != nil {
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
	if plain := "./internal/base/stat"; slices.Contains(got, plain) {
		t.Errorf("%s starts no goroutine and is watched", plain)
	}
}
