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
		if ok != (tt.file != "") || ok && (m.Path() != filepath.Join(root, tt.file) || m.How != tt.how) {
			t.Errorf("Find(%q) = %v by %q, want %q by %q", tt.name, m.File, m.How, tt.file, tt.how)
		}
	}
}

// A data file may name any file by its absolute path: it is found below a root
// only, unless the program was run here, and never what is no source.
func TestAbsoluteNames(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for _, name := range []string{"solver.F90", "id_rsa", "notes.txt", ".ssh/key.c", "sub/x.c"} {
		file := filepath.Join(dir, name)
		names = append(names, file)
		os.MkdirAll(filepath.Dir(file), 0o755)
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]bool{names[0]: true, names[4]: true}
	for _, tt := range []struct {
		name  string
		found map[string]Match
		want  map[string]bool
	}{
		{"no root", Find(names, nil), nil},
		{"another root", Find(names, []string{t.TempDir()}), nil},
		{"its root", Find(names, []string{dir}), want},
		{"run here", FindOwn(names[:1], nil), map[string]bool{names[0]: true}},
		{"run here, no source", FindOwn(names[1:3], nil), nil},
		{"hidden, by a relative name", Find([]string{".ssh/key.c", "id_rsa"}, []string{dir}), nil},
	} {
		if len(tt.found) != len(tt.want) {
			t.Errorf("%s: found %v, want %v", tt.name, tt.found, tt.want)
		}
		for name := range tt.found {
			if !tt.want[name] {
				t.Errorf("%s: %s was found", tt.name, name)
			}
		}
	}
}

// A link inside a root that leads out of it is not followed, as a file or as a
// folder; one that stays inside is.
func TestLinks(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	for _, file := range []string{filepath.Join(outside, "a.c"), filepath.Join(root, "real.c")} {
		if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"a.c": filepath.Join(outside, "a.c"), "folder": outside, "b.c": "real.c"} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	found := Find([]string{"a.c", "folder/a.c", "b.c", "../" + filepath.Base(outside) + "/a.c"}, []string{root})
	if len(found) != 1 || found["b.c"].Name != "b.c" {
		t.Errorf("found %v", found)
	}
}
