package memory

import (
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/memory/align"
)

// TestGone: lines of A that B has nowhere stand before the line of B that they stood
// before; those that are in another file of B are not gone, and a line that came from
// another file is none of this one's.
func TestGone(t *testing.T) {
	text := []string{"one", "two", "three", "four", "five"}
	of := &align.LinesOf{FileA: "a.c", Lines: []int{1, 2, 5}, How: []align.How{"equal", "moved", "equal"}, From: map[int]string{2: "b.c"}, Left: map[int]align.Place{3: {File: "other.c", Line: 1}}}
	want := []GoneLine{{Line: 2, Before: 3, Text: "two"}, {Line: 4, Before: 3, Text: "four"}}
	if got := gone(text, of); !slices.Equal(got, want) {
		t.Errorf("gone are %+v, want %+v", got, want)
	}
}
