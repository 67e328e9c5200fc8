package frame

import (
	"strings"
	"testing"
)

func TestSlug(t *testing.T) {
	for name, want := range map[string]string{
		"lulesh.mitos": "lulesh", "My Run (2).csv": "my-run--2", "...": "run", strings.Repeat("x", 99): strings.Repeat("x", 24),
	} {
		if got := slug(name); got != want {
			t.Errorf("slug of %q is %q, want %q", name, got, want)
		}
	}
}
