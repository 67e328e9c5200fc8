package source

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFind(t *testing.T) {
	root := t.TempDir()
	for _, f := range []string{"a.c", "x/lib/b.c", "y/lib/b.c", "x/solve/c.c", "only/d.c", "p/e.c", "q/e.c", ".git/f.c"} {
		file := filepath.Join(root, filepath.FromSlash(f))
		os.MkdirAll(filepath.Dir(file), 0o755)
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name, file string
		how        How
	}{
		{"a.c", "a.c", ByPath},
		{"x/lib/b.c", "x/lib/b.c", ByPath},
		{"/build/y/lib/b.c", "y/lib/b.c", BySuffix},
		{"../src/solve/c.c", "x/solve/c.c", BySuffix},
		{"/build/d.c", "only/d.c", ByName},
		{"/build/e.c", "", ""},  // two files of that name
		{"lib/b.c", "", ""},     // two equally good ends
		{"/etc/../f.c", "", ""}, // hidden folders are not searched
		{"missing.c", "", ""},   //
		{"../../a.c", "a.c", ByPath},
	}
	var names []string
	for _, tt := range tests {
		names = append(names, tt.name)
	}
	found := Find(names, []string{root})
	for _, tt := range tests {
		m, ok := found[tt.name]
		if ok != (tt.file != "") || ok && (m.File != filepath.Join(root, tt.file) || m.How != tt.how) {
			t.Errorf("Find(%q) = %v by %q, want %q by %q", tt.name, m.File, m.How, tt.file, tt.how)
		}
	}
}

func TestAbsoluteNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"solver.F90", "id_rsa", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	found := Find([]string{filepath.Join(dir, "solver.F90"), filepath.Join(dir, "id_rsa"), filepath.Join(dir, "notes.txt")}, nil)
	if len(found) != 1 || found[filepath.Join(dir, "solver.F90")].How != ByPath {
		t.Errorf("found %v; a data file may name source files outside the roots, nothing else", found)
	}
}
