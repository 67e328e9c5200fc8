package tree

import "testing"

// TestPair: loops of two programs are paired by text and function, in order, wherever
// their lines went; what only one has stands alone, and what makes no references is
// left out.
func TestPair(t *testing.T) {
	loop := func(function, text string, line int, references uint64) Loop {
		return Loop{Function: function, Text: text, Line: line, References: references}
	}
	before := &Tree{Loops: []Loop{loop("f", "for i", 3, 1), loop("f", "for j", 4, 1), loop("f", "for j", 9, 1), loop("g", "while", 20, 1), loop("g", "for k", 22, 0)}}
	after := &Tree{Loops: []Loop{loop("f", "for j", 14, 1), loop("f", "for i", 13, 1), loop("h", "while", 20, 1), loop("f", "for j", 19, 1), loop("g", "for k", 22, 1)}}
	want := [][2]int{{3, 13}, {4, 14}, {9, 19}, {20, 0}, {0, 20}, {0, 22}}
	var got [][2]int
	for _, p := range Pair(before, after) {
		var at [2]int
		if p.Before != nil {
			at[0] = p.Before.Line
		}
		if p.After != nil {
			at[1] = p.After.Line
		}
		got = append(got, at)
	}
	if len(got) != len(want) {
		t.Fatalf("%v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("pair %d: lines %v, want %v", i, got[i], want[i])
		}
	}
}
