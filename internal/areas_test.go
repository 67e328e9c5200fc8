package internal

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

const module = "github.com/isobath/isobath/"

// mayImport lists the areas and, for each, the areas it may import beside
// itself. What is not listed is forbidden.
var mayImport = map[string]string{
	"base":     "",
	"data":     "base",
	"machine":  "base data",
	"code":     "base data machine",
	"formats":  "base data machine code",
	"record":   "base data machine code formats",
	"engine":   "base data machine",
	"memory":   "base data machine code engine",
	"messages": "base data formats",
	"loops":    "base data code formats",
	"locality": "base data machine code loops",
	"domain":   "base data formats engine",
	"app":      "base data machine code formats record engine memory messages loops locality domain",
}

// TestAreas reads the imports of every package below internal that is built
// into the program: tests may look anywhere.
func TestAreas(t *testing.T) {
	found := map[string]bool{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || !strings.Contains(file, "/") {
			return err
		}
		file = filepath.ToSlash(file)
		area, _, _ := strings.Cut(file, "/")
		found[area] = true
		if _, ok := mayImport[area]; !ok {
			t.Errorf("%s is in no area that internal/doc.go knows", file)
			return nil
		}
		if strings.HasSuffix(file, "_test.go") {
			return nil
		}
		for _, to := range internalImports(t, file) {
			checkImport(t, file, area, to)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for area := range found {
		checkDoc(t, area)
	}
}

// TestNoTemplates holds that nothing in the program executes a template: where one
// can ask for a method by its name, the linker keeps every exported method of
// every type. The program was 4.8 MB larger when one page was written so and
// --version had a template of its own.
func TestNoTemplates(t *testing.T) {
	for _, root := range []string{".", "../cmd", "../docs", "../web", "../examples"} {
		err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
			if d != nil && d.Name() == "node_modules" {
				return filepath.SkipDir
			}
			if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			text, err := os.ReadFile(file)
			for _, word := range []string{`"text/template"`, `"html/template"`, ".SetVersionTemplate(", ".SetUsageTemplate(", ".SetHelpTemplate("} {
				if strings.Contains(string(text), word) {
					t.Errorf("%s has %s", file, word)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// internalImports returns the imports of a file from this module, without the
// module's name.
func internalImports(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, i := range parsed.Imports {
		name, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if to, ok := strings.CutPrefix(name, module); ok {
			out = append(out, to)
		}
	}
	return out
}

func checkImport(t *testing.T, file, area, to string) {
	t.Helper()
	if strings.HasPrefix(to, "cmd/") {
		t.Errorf("%s imports %s: commands import us", file, to)
	}
	to, ok := strings.CutPrefix(to, "internal/")
	if !ok {
		return
	}
	if forTests(to) && !forTests(path.Dir(file)) {
		t.Errorf("%s imports %s, which is for tests", file, to)
	}
	target, _, _ := strings.Cut(to, "/")
	if target != area && !slices.Contains(strings.Fields(mayImport[area]), target) {
		t.Errorf("%s imports %s, but %s may import only: %s", file, to, area, mayImport[area])
	}
}

// forTests reports packages that serve the tests of several others: their name
// ends in test.
func forTests(dir string) bool {
	for part := range strings.SplitSeq(dir, "/") {
		if strings.HasSuffix(part, "test") {
			return true
		}
	}
	return false
}

// checkDoc holds that an area explains itself.
func checkDoc(t *testing.T, area string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(area, "doc.go"))
	if err != nil {
		t.Errorf("area %s has no doc.go: %v", area, err)
		return
	}
	for _, word := range []string{"In:", "Out:", "Imported by:"} {
		if !strings.Contains(string(text), word) {
			t.Errorf("%s/doc.go does not say %q", area, word)
		}
	}
	files, err := filepath.Glob(area + "/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	words := strings.FieldsFunc(string(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, file := range files {
		room := path.Base(path.Dir(filepath.ToSlash(file)))
		if !slices.Contains(words, room) && area != "formats" { // whose list is known.go
			t.Errorf("%s/doc.go does not say what %s is", area, room)
		}
	}
}

// TestAreasAreOneWay holds that the table itself has no circle.
func TestAreasAreOneWay(t *testing.T) {
	state := map[string]int{}
	var visit func(string)
	visit = func(area string) {
		switch state[area] {
		case 1:
			t.Fatalf("area %s reaches itself", area)
		case 0:
			state[area] = 1
			for to := range strings.FieldsSeq(mayImport[area]) {
				visit(to)
			}
			state[area] = 2
		}
	}
	for area := range mayImport {
		visit(area)
	}
}
