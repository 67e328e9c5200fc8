package tree_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/loops/tree"
)

// TestLoopsWithoutLines: a loop of code that nobody has lines of is told by where
// its code is, and is paired with that of the same code alone.
func TestLoopsWithoutLines(t *testing.T) {
	built := func(base int) *tree.Tree {
		text := &strings.Builder{}
		text.WriteString("== a\n")
		for i := range 20 {
			fmt.Fprintf(text, "I  %x,3\n L %x,8\nI  %x,3\n S %x,8\n", base, 0x1000+8*i, base+3, 0x2000)
		}
		path := filepath.Join(t.TempDir(), "trace")
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := tree.OpenFile(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if f.Format != "lackey" { // which says where its program was loaded
			t.Errorf("the format is %q", f.Format)
		}
		found, err := tree.Build(t.Context(), f.Input)
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Loops) != 1 {
			t.Fatalf("%d loops, want one", len(found.Loops))
		}
		return found
	}
	was, same, moved := built(0x401000), built(0x401000), built(0x402000)
	if got := was.Loops[0].Where(); got != "code at 0x401000" {
		t.Errorf("the loop is at %q", got)
	}
	if pairs := tree.Pair(was, same); len(pairs) != 1 || pairs[0].After == nil || pairs[0].Text != "code at 0x401000" {
		t.Errorf("the same code: %+v", pairs)
	}
	if pairs := tree.Pair(was, moved); len(pairs) != 2 || pairs[0].After != nil || pairs[1].Before != nil {
		t.Errorf("other code: %+v", pairs)
	}
}
