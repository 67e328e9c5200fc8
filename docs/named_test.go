package docs

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSecurityNamesTests holds that every test that the threat model rests on
// exists, and that no row is without one.
func TestSecurityNamesTests(t *testing.T) {
	text, err := os.ReadFile("security.md")
	if err != nil {
		t.Fatal(err)
	}
	defined := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	for _, top := range []string{"../internal", "../cmd"} {
		err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			code, err := os.ReadFile(path)
			for _, m := range function.FindAllSubmatch(code, -1) {
				defined[string(m[1])] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	name := regexp.MustCompile("`((?:Test|Fuzz)\\w+)`")
	rows := 0
	_, tables, _ := strings.Cut(string(text), "## Files")
	for line := range strings.Lines(tables) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| what could") {
			continue
		}
		rows++
		named := name.FindAllStringSubmatch(line, -1)
		if len(named) == 0 {
			t.Errorf("no test in %s", line)
		}
		for _, n := range named {
			if !defined[n[1]] {
				t.Errorf("there is no test %s", n[1])
			}
		}
	}
	if rows < 20 {
		t.Errorf("only %d rows found", rows)
	}
}

// TestDependenciesAreListed compares the list with what the program is built of.
func TestDependenciesAreListed(t *testing.T) {
	text, err := os.ReadFile("dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "../cmd/isobath").Output()
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for module := range strings.FieldsSeq(string(out)) {
		used[module] = true
		if !strings.Contains(string(text), "| "+module+" |") {
			t.Errorf("%s is linked in and not listed", module)
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^\| (\S+\.\S+/\S+) \|`).FindAllStringSubmatch(string(text), -1) {
		if !used[m[1]] {
			t.Errorf("%s is listed and not linked in", m[1])
		}
	}
}
