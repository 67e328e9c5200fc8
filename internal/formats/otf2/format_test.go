package otf2

import (
	"path/filepath"
	"testing"

	"github.com/isobath/isobath/internal/formats/foreign"
)

// TestSniff: the anchor and its folder are recognised, other files of the
// archive are not taken for one.
func TestSniff(t *testing.T) {
	path := small(t, WriterOptions{}, func(*Writer, *EventWriter, *EventWriter) {})
	for name, want := range map[string]bool{path: true, filepath.Dir(path): true, path[:len(path)-5] + ".def": false} {
		in, err := foreign.Look(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := Format.Sniff(in); got != want {
			t.Errorf("%s: %v, want %v", filepath.Base(name), got, want)
		}
	}
}
