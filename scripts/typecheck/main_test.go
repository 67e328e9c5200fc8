package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// module writes a module whose package uses a name that has one declaration for Linux
// and, unless whole, none for darwin.
func module(t *testing.T, whole bool) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"go.mod":            "module example.test/m\n\ngo 1.22\n",
		"main.go":           "package main\n\nimport (\n\t\"os\"\n\n\t\"example.test/m/pages\"\n)\n\nfunc main() { os.Exit(pages.Size()) }\n",
		"pages/linux.go":    "//go:build linux\n\npackage pages\n\nfunc Size() int { return 4096 }\n",
		"pages/shared.go":   "package pages\n\nimport \"net/http\"\n\nvar _ = http.StatusOK\n",
		"pages/darwin.go":   "package pages\n\nfunc Size() int { return 16384 }\n",
		"other/unneeded.go": "package other\n\nvar broken = undefined\n",
	}
	if !whole {
		delete(files, "pages/darwin.go")
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if name == "pages/darwin.go" {
			path = filepath.Join(dir, "pages/size_darwin.go")
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestCheck(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: type-checks the standard library three times")
	}
	for _, c := range []struct {
		os    string
		whole bool
		want  string
	}{
		{"linux", false, ""},
		{"darwin", true, ""},
		{"darwin", false, "undefined: pages.Size"},
	} {
		found, err := check(module(t, c.whole), c.os+"/arm64", []string{"."})
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, e := range found {
			said = append(said, e.Error())
		}
		if got := strings.Join(said, "\n"); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s, whole %v: %q, want %q", c.os, c.whole, got, c.want)
		}
	}
}

// A pattern that names nothing is an error, not a program without errors.
func TestCheckNothing(t *testing.T) {
	if _, err := check(t.TempDir(), "linux/amd64", []string{"./nowhere"}); err == nil {
		t.Error("no error for a folder that does not exist")
	}
	if _, err := check(module(t, true), "darwin", []string{"."}); err == nil {
		t.Error("no error for half a platform")
	}
}
