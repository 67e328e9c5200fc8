package mpitrace

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"isobath/internal/test"
)

// The library compiles without a warning.
func TestCompiles(t *testing.T) {
	cc := test.Peer(t, "mpicc", "libopenmpi-dev")
	dir := t.TempDir()
	file := filepath.Join(dir, "shim.c")
	if err := os.WriteFile(file, source(), 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(cc, file, "-o", filepath.Join(dir, "shim.so"), "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-ldl").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
