// Package docs holds the documents; its test holds what every one of them owes
// its readers.
package docs

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// link is [text](target), of a picture too.
var link = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)

// TestLinks follows every link to a file.
func TestLinks(t *testing.T) {
	files := append(documents(t, "."), "../README.md", "../CONTRIBUTING.md", "../clients/README.md", "../fixtures/README.md")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", file, m[1])
			}
		}
	}
}

// TestLinesWrap holds that the texts on architecture and on contributing can be
// read in a terminal and compared line by line. Rows of tables and code are as
// long as they are.
func TestLinesWrap(t *testing.T) {
	const most = 120
	for _, file := range append(documents(t, "architecture"), "architecture.md", "../CONTRIBUTING.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		code := false
		for i, line := range strings.Split(string(text), "\n") {
			if strings.HasPrefix(line, "```") {
				code = !code
			}
			if n := utf8.RuneCountInString(line); n > most && !code && !strings.HasPrefix(line, "|") {
				t.Errorf("%s:%d has %d characters, at most %d", file, i+1, n, most)
			}
		}
	}
}

// TestAreasAreExplained holds that architecture.md leads to every text beside it.
func TestAreasAreExplained(t *testing.T) {
	text, err := os.ReadFile("architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range documents(t, "architecture") {
		if !strings.Contains(string(text), "("+filepath.ToSlash(file)+")") {
			t.Errorf("architecture.md does not lead to %s", file)
		}
	}
}

func documents(t *testing.T, folder string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sourceFile is a file of ours in code marks, with its folder: `server/guard.go`.
var sourceFile = regexp.MustCompile("`((?:[\\w.-]+/)+[\\w.-]+\\.(?:go|ts|svelte|c|h|py|sh))`")

// TestNamedFilesExist holds that the texts on architecture and contributing
// name files that are there: their names stand without the folders above.
func TestNamedFilesExist(t *testing.T) {
	var files []string
	for _, top := range []string{"internal", "cmd", "web/src", "bench", "clients", "e2e", "scripts", "examples", "fixtures", "docs"} {
		err := filepath.WalkDir(filepath.Join("..", top), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.Name() == "node_modules" {
				return cmp.Or(err, fs.SkipDir)
			}
			files = append(files, filepath.ToSlash(path))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	texts := append(documents(t, "architecture"), documents(t, "contributing")...)
	for _, text := range append(texts, "architecture.md", "../CONTRIBUTING.md") {
		content, err := os.ReadFile(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range sourceFile.FindAllStringSubmatch(string(content), -1) {
			pattern := strings.Contains(m[1], "NAME") // of a file that is to be written
			if !pattern && !slices.ContainsFunc(files, func(f string) bool { return strings.HasSuffix(f, "/"+m[1]) }) {
				t.Errorf("%s names %s, which is not there", text, m[1])
			}
		}
	}
}
