package source

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestWithIncluded(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.c": "#include <stdio.h>\n#include \"b.h\"\n# include \"gone.h\"\n", "b.h": "#include \"a.c\"\n#include \"sub/c.h\"\n", "sub/c.h": ""} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := WithIncluded([]string{filepath.Join(dir, "a.c"), "relative.c"})
	want := []string{filepath.Join(dir, "a.c"), "relative.c", filepath.Join(dir, "b.h"), filepath.Join(dir, "sub/c.h")}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
