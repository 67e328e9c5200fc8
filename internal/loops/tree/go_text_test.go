package tree

import (
	"fmt"
	"slices"
	"testing"
)

// TestGoText: a comment may follow the brace that opens a loop, and the list that it
// goes through may have lines of its own.
func TestGoText(t *testing.T) {
	text := "func f() {\n" +
		"\tfor i := range 3 { // a comment\n" +
		"\t\tfor c != '{' {\n" +
		"\t\t}\n" +
		"\t}\n" +
		"\tfor _, name := range []string{\n" +
		"\t\t\"a // b\",\n" +
		"\t} {\n" +
		"\t\tprintln(name)\n" +
		"\t}\n" +
		"\tfor { /* endless */\n" +
		"\t}\n" +
		"}\n"
	var got []string
	for _, st := range goLoops("a.go", []byte(text)) {
		got = append(got, fmt.Sprintf("%d-%d %v", st.at>>columnBits, (st.body.to-1)>>columnBits, st.endless))
	}
	if want := []string{"2-5 false", "3-4 false", "6-10 false", "11-12 true"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
