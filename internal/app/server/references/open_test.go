package references

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/app/server/frame"
)

// TestOpenOnlyReads: a trace of another program is open once it was read; what its
// cycles are, which may take minutes, is found when somebody asks.
func TestOpenOnlyReads(t *testing.T) {
	folder := t.TempDir()
	open := func(name, text string) (*frame.Run, []int64, error) {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var told []int64
		r, err := Open(t.Context(), path, "lackey", "", nil, func(records int64) { told = append(told, records) })
		return r, told, err
	}
	const text = "==1== Lackey, an example Valgrind tool\nI  0401000,3\n L 1000,8\nI  0401003,3\n S 2000,8\n"
	r, told, err := open("a.trace", text)
	if err != nil {
		t.Fatal(err)
	}
	trace := Of(r)
	if trace.Rows() != 2 || !trace.HasPC || len(trace.analyses) > 0 {
		t.Errorf("%d references, code %v, %d analyses made; want 2, true, 0", trace.Rows(), trace.HasPC, len(trace.analyses))
	}
	if len(told) == 0 || told[len(told)-1] != 2 {
		t.Errorf("told %v references, want 2 at last", told)
	}
	same, _, err := open("a.trace", text)
	if err != nil || same.ID != r.ID {
		t.Errorf("read again it is %v (%v), was %s", same, err, r.ID)
	}
	if other, _, err := open("a.trace", strings.Replace(text, "2000", "2008", 1)); err != nil || other.ID == r.ID {
		t.Errorf("another address: %v, still %s", err, r.ID)
	}
	if _, _, err := open("b.csv", "op,addr\n"); err == nil || !strings.Contains(err.Error(), "no references") {
		t.Errorf("a trace of nothing: %v", err)
	}
}
