package ccache

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

func TestBuild(t *testing.T) {
	test.Peer(t, "cc", "gcc")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	s := Source{Name: "seven", Text: []byte("int main(void) { return 7; }\n"), Compiler: "cc", Package: "gcc"}
	first, err := Build(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	err = exec.Command(first).Run()
	if e, ok := err.(*exec.ExitError); !ok || e.ExitCode() != 7 {
		t.Errorf("ran with %v", err)
	}
	made, _ := os.Stat(first)
	second, err := Build(t.Context(), s)
	if err != nil || second != first {
		t.Errorf("again: %s, %v", second, err)
	}
	if again, _ := os.Stat(second); !again.ModTime().Equal(made.ModTime()) {
		t.Error("compiled again")
	}
	s.Flags = []string{"-O1"}
	if third, err := Build(t.Context(), s); err != nil || third == first {
		t.Errorf("other flags: %s, %v", third, err)
	}
	s.Text = []byte("int main(void) { return }\n")
	if _, err := Build(t.Context(), s); err == nil || !strings.Contains(err.Error(), "expected expression") {
		t.Errorf("broken source: %v", err)
	}
	s.Compiler, s.Package = "no-such-cc", "gcc"
	if _, err := Build(t.Context(), s); !errors.Is(err, ErrNoCompiler) || !strings.Contains(err.Error(), "apt-get install gcc") {
		t.Errorf("missing compiler: %v", err)
	}
}

func TestKeep(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	first, err := Keep("a.so", []byte("one"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(first); err != nil || string(got) != "one" {
		t.Errorf("kept %q, %v", got, err)
	}
	if again, err := Keep("a.so", []byte("one")); err != nil || again != first {
		t.Errorf("again: %s, %v", again, err)
	}
	if other, err := Keep("a.so", []byte("two")); err != nil || other == first {
		t.Errorf("another version: %s, %v", other, err)
	}
}
