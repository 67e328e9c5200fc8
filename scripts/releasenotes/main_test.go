package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

func TestNotes(t *testing.T) {
	const log = "# Changelog\n\n## Unreleased\n\n### Added\n\n- c\n\n## v0.2.0 – 2027-01-01\n\n### Fixed\n\n- b\n\n## v0.1.0 – 2026-11-16\n\n- a\n"
	for version, want := range map[string]string{
		"v0.1.0":             "# Isobath v0.1.0 – 2026-11-16\n\n- a\n",
		"v0.2.0":             "# Isobath v0.2.0 – 2027-01-01\n\n### Fixed\n\n- b\n",
		"v0.2.0-5-gdeadbeef": "# Isobath Unreleased\n\n### Added\n\n- c\n",
	} {
		if got, err := notes(log, version); err != nil || got != want {
			t.Errorf("notes of %s: %q, %v; want %q", version, got, err, want)
		}
	}
	if _, err := notes("# Changelog\n", "v0.1.0"); err == nil {
		t.Error("a changelog without versions has notes")
	}
}

// TestChangelog holds the form of the changelog: versions, kinds of change, one
// line a change.
func TestChangelog(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(test.Root(), "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`^## (Unreleased|v\d+\.\d+\.\d+ – \d{4}-\d{2}-\d{2})$`)
	for i, line := range strings.Split(string(text), "\n") {
		switch {
		case line == "", line == "# Changelog", version.MatchString(line):
		case line == "### Added", line == "### Changed", line == "### Fixed":
		case strings.HasPrefix(line, "- ") && strings.HasSuffix(line, "."):
		case i < 8 && !strings.HasPrefix(line, "#"): // what the file is
		default:
			t.Errorf("CHANGELOG.md:%d is neither a version, Added, Changed, Fixed nor a sentence of one line: %.60q", i+1, line)
		}
	}
}
