//go:build unix

package plainfile

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOpen: what is no plain file is refused at once, although nobody writes to the
// pipe.
func TestOpen(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(in("plain"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(in("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"link": "plain", "linked-pipe": "pipe", "loop": "loop"} {
		if err := os.Symlink(to, in(from)); err != nil {
			t.Fatal(err)
		}
	}
	socket, err := net.Listen("unix", in("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, want := range map[string]string{
		"plain": "", "link": "", "pipe": "is a pipe, which can be read only once", "linked-pipe": "is a pipe", "socket": "is a socket", ".": "is a folder",
		"loop": "too many", "missing": "no such file",
	} {
		for _, open := range []func() (*os.File, error){func() (*os.File, error) { return Open(in(name)) }, func() (*os.File, error) { return OpenIn(root, name) }} {
			f, err := open()
			switch {
			case want == "" && err != nil:
				t.Errorf("%s: %v", name, err)
			case want == "":
				f.Close()
			case err == nil || !strings.Contains(err.Error(), want) && name != "loop": // os.Root has its own words for it
				t.Errorf("%s: %v, want %q", name, err, want)
			case strings.HasPrefix(want, "is ") != errors.Is(err, ErrNotPlain):
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if _, err := Open(os.DevNull); err == nil || !strings.Contains(err.Error(), "is a device") {
		t.Errorf("%s: %v", os.DevNull, err)
	}
	if text, err := ReadFile(in("plain"), 4); err != nil || string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := ReadFileIn(root, "plain", 3); err == nil || !strings.Contains(err.Error(), "more than 3 bytes") {
		t.Errorf("4 bytes where 3 are allowed: %v", err)
	}
}
