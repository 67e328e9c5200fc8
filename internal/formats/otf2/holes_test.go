package otf2

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFileOfHoles: a file that claims more than memory has, and takes none on the
// disk, is refused before room is made for it.
func TestFileOfHoles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "0.evt")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<42); err != nil {
		t.Skip("no file of that length here")
	}
	if _, err := readFile(path, 0, nil); err == nil || !strings.Contains(err.Error(), "are read whole") {
		t.Errorf("4 TiB: %v", err)
	}
}
