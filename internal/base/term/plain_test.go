package term

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// hostile are texts and what may reach a terminal of them.
var hostile = map[string]string{
	"a\tb\n":                      "a\tb\n",
	"\x1b]0;owned\x07x":           "\uFFFD]0;owned\uFFFDx",
	"\u009b31mred":                "\uFFFD31mred",
	"über \r gone":                "über \uFFFD gone",
	"\x1b[2Jfile.c: no such file": "\uFFFD[2Jfile.c: no such file",
	"raw \x9b2J":                  "raw \uFFFD2J",
	"a\u202egpj.c":                `a\u202egpj.c`,
	"\u2067x\u2069\u2028forged":   `\u2067x\u2069\u2028forged`,
	"שלום and \u200fمرحبا":        "שלום and \u200fمرحبا",
}

func TestPlain(t *testing.T) {
	for in, want := range hostile {
		if got := Plain(in); got != want {
			t.Errorf("Plain(%q) = %q, want %q", in, got, want)
		}
	}
}

// A screen gives what Plain gives, however the text is cut, and its own marks
// pass.
func TestScreen(t *testing.T) {
	all := map[string]string{"dos\r\nlines\r\n": "dos\nlines\n", "\x00\x00x\r": "\uFFFD\uFFFDx\uFFFD", "cut \xc3": "cut \uFFFD"}
	maps.Copy(all, hostile)
	src := rand.New(rand.NewPCG(1, 2))
	for in, want := range all {
		for range 50 {
			var b strings.Builder
			s := NewScreen(&b)
			style := Style{on: true, begin: s.begin}
			text := style.Bold("head") + in + style.Warn("end")
			for len(text) > 0 {
				n := 1 + src.IntN(len(text))
				if m, err := s.Write([]byte(text[:n])); m != n || err != nil {
					t.Fatal(m, err)
				}
				text = text[n:]
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if want := "\x1b[1mhead\x1b[0m" + want + "\x1b[33mend\x1b[0m"; b.String() != want {
				t.Fatalf("%q gives %q, want %q", in, b.String(), want)
			}
		}
	}
}

// Nobody can write a mark without the screen.
func TestMarksCannotBeForged(t *testing.T) {
	var b strings.Builder
	s := NewScreen(&b)
	s.Write([]byte(NewScreen(nil).begin + "1m"))
	s.Close()
	if strings.Contains(b.String(), "\x1b") {
		t.Errorf("another screen's mark passes: %q", b.String())
	}
}

// Values for programs stay as they are where nobody looks at them.
func TestData(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if got := Data(NewScreen(file)); got != file {
		t.Errorf("a file is written through %T", got)
	}
}

// TestVisibleInJSON: what is made visible is the same name for whoever reads JSON.
func TestVisibleInJSON(t *testing.T) {
	const name = "a\u202egpj.c\u2066"
	text, err := json.Marshal(name)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	s := NewScreen(&b)
	s.Write(text)
	s.Close()
	var got string
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil || got != name || strings.ContainsFunc(b.String(), misleads) {
		t.Errorf("%s reads %q, %v; want %q", b.String(), got, err, name)
	}
}

// A cell stays in its line.
func TestTableOfHostileNames(t *testing.T) {
	var b strings.Builder
	table := Table{Columns: []Column{{Head: "na\x1bme"}, {Head: "n", Align: Right}}}
	table.Row("a\n99 % forged\x1b[1A", "1")
	if err := table.Write(&b, Width); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(b.String(), "\n"); got != 2 || strings.Contains(b.String(), "\x1b") {
		t.Errorf("%q", b.String())
	}
}
