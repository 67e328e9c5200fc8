package formats

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

// TestChecksExist holds that the tests which docs/formats.md says compare with
// other programs exist.
func TestChecksExist(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(test.Root(), "docs", "formats.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "\n## What formats of other programs are checked with\n")
	if !ok {
		t.Fatal("the list of checks is gone")
	}
	table, _, _ = strings.Cut(table, "\n## ")
	rows := regexp.MustCompile("(?m)^\\|.*\\| `([^`]+)`(?: (Test\\w+))? \\|$").FindAllStringSubmatch(table, -1)
	if len(rows) < 15 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		at := filepath.Join(test.Root(), filepath.FromSlash(row[1]))
		if row[2] == "" {
			if _, err := os.Stat(at); err != nil {
				t.Error(err)
			}
			continue
		}
		files, err := filepath.Glob(filepath.Join(at, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(source), "\nfunc "+row[2]+"(t *testing.T)")
		}
		if !found {
			t.Errorf("%s has no %s", row[1], row[2])
		}
	}
}
