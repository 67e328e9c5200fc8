// Command releasenotes prints what CHANGELOG.md says of a version, or of the
// newest one if it has no part for that version.
//
//	go run ./scripts/releasenotes v0.1.0
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/isobath/isobath/internal/base/test"
)

func main() {
	text, err := os.ReadFile(filepath.Join(test.Root(), "CHANGELOG.md"))
	if err == nil && len(os.Args) != 2 {
		err = errors.New("want a version, such as v0.1.0")
	}
	var out string
	if err == nil {
		out, err = notes(string(text), os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "releasenotes:", err)
		os.Exit(1)
	}
	fmt.Print(out)
}

// notes is the part of a version, or else, for a build between two versions,
// the first part.
func notes(changelog, version string) (string, error) {
	_, rest, found := strings.Cut("\n"+changelog, "\n## ")
	if !found {
		return "", errors.New("the changelog has no versions")
	}
	parts := strings.Split(rest, "\n## ")
	chosen := parts[0]
	for _, part := range parts {
		name, _, _ := strings.Cut(part, "\n")
		if strings.Fields(name)[0] == version {
			chosen = part
		}
	}
	return "# Isobath " + strings.TrimSpace(chosen) + "\n", nil
}
