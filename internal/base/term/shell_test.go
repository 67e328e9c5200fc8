package term

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestShell has a shell take the words apart again.
func TestShell(t *testing.T) {
	for _, words := range [][]string{{"./a"}, {"./a", "-n", "100", "--x=1"}, {"sh", "-c", "echo 'a b' > $HOME; #"}, {"", "*", "~", "a\nb", `\"`, "é", "a'b''"}} {
		out, err := exec.Command("sh", "-c", `show() { for w in "$@"; do printf '%s\0' "$w"; done; }; show `+Shell(words)).Output()
		if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); err != nil || !slices.Equal(got, words) {
			t.Errorf("%s is taken for %q, want %q (%v)", Shell(words), got, words, err)
		}
	}
}
