package heap

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A program that goes on as another user begins others without a word of the dynamic
// linker's about the library, which lies where only root may look.
func TestAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		t.Skip(err)
	}
	old := shared
	defer func() { shared = old }()
	base, err := os.MkdirTemp("/tmp", "everybody") // folders of a test are root's alone
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(base)
	if err := os.Chmod(base, 0o755); err != nil {
		t.Fatal(err)
	}
	shared = filepath.Join(base, "cache")
	hidden := filepath.Join(t.TempDir(), "hidden")
	t.Setenv("XDG_CACHE_HOME", hidden)
	lib := library(t)
	if again, err := Library(t.Context()); err != nil || again != lib {
		t.Errorf("the second time %s, not %s: %v", again, lib, err)
	}
	cmd := exec.Command(setpriv, "--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c", "echo fine")
	cmd.Env = Environ(os.Environ(), lib, t.TempDir(), DefaultThreshold)
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "fine\n" {
		t.Errorf("%q, %v", out, err)
	}
	if err := os.Chmod(lib, 0o775); err != nil {
		t.Fatal(err)
	}
	if legible(lib) {
		t.Error("a library that others may change is used")
	}
	if err := os.Chmod(lib, 0o755); err != nil {
		t.Fatal(err)
	}
	if !legible(lib) {
		t.Error("the library is not used")
	}
	if err := os.Chown(shared, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if legible(lib) {
		t.Error("a library in a folder of another user's is used")
	}
}
