package otf2

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSniff: the anchor and its folder are recognised, other files of the
// archive are not taken for one.
func TestSniff(t *testing.T) {
	path := small(t, WriterOptions{}, func(*Writer, *EventWriter, *EventWriter) {})
	for name, want := range map[string]bool{path: true, path[:len(path)-5] + ".def": false} {
		head, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := Sniff(head, nil); got != want {
			t.Errorf("%s: %v, want %v", filepath.Base(name), got, want)
		}
	}
	if !Sniff(nil, []string{"traces", "traces.def", "traces.otf2"}) || Sniff(nil, []string{"traces.def"}) {
		t.Error("a folder is one if it holds an anchor")
	}
}
