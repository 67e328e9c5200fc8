package term

import "testing"

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"a\tb\n":                      "a\tb\n",
		"\x1b]0;owned\x07x":           "\uFFFD]0;owned\uFFFDx",
		"\u009b31mred":                "\uFFFD31mred",
		"über \r gone":                "über \uFFFD gone",
		"\x1b[2Jfile.c: no such file": "\uFFFD[2Jfile.c: no such file",
	} {
		if got := Plain(in); got != want {
			t.Errorf("Plain(%q) = %q, want %q", in, got, want)
		}
	}
}
