// Package test finds what tests need: the fixtures of the repository, data of
// others that may lie beside it, and the peer programs whose answers ours are
// compared with.
package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What Fixture, Shared and Peer log begins with these words. The test run counts
// them and says at its end what was and was not run.
const (
	FixtureUsed = "fixture: "
	SharedUsed  = "shared data: "
	PeerUsed    = "peer: "
)

// Shared returns the path of a file or folder of data that may be other
// people's and lie beside the checkout; where the repository has a fixture of
// that name, it is the fixture. Without that data the test is skipped with a
// line that says so; every package also has tests that need nothing but the
// repository.
func Shared(t testing.TB, name string) string {
	t.Helper()
	if path, err := FindFixture(name); err == nil {
		t.Logf("%s%s", FixtureUsed, name)
		return path
	}
	return beside(t, "data", name)
}

// SharedProgram returns the folder with the sources of other people's program that
// lies beside the checkout, or skips the test with a line that says so.
func SharedProgram(t testing.TB, name string) string {
	t.Helper()
	return beside(t, "apps", name)
}

func beside(t testing.TB, kind, name string) string {
	t.Helper()
	path := filepath.Join(Root(), "..", "shared", kind, filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no shared data: %s is not beside the checkout", filepath.Join("shared", kind, name))
	}
	t.Logf("%s%s", SharedUsed, name)
	return path
}

// Peer returns the path of a program that tests compare us with. Under
// ISOBATH_PEERS=require, which `make test` sets, a missing program fails the
// test: a comparison that did not run is not a comparison that passed. The quick
// tier (-short, which `make check` sets) needs Go alone and leaves peers out.
func Peer(t testing.TB, program, debianPackage string) string {
	t.Helper()
	if testing.Short() {
		t.Skipf("-short: not compared with %s", program)
	}
	path, err := exec.LookPath(program)
	if err == nil {
		t.Logf("%s%s", PeerUsed, program)
		return path
	}
	if os.Getenv("ISOBATH_PEERS") == "require" {
		t.Fatalf("%s is not installed; install the Debian package %s", program, debianPackage)
	}
	t.Skipf("%s is not installed (Debian package %s)", program, debianPackage)
	return ""
}

// PythonPeer returns Debian's Python if it has the modules, separated by commas,
// of a library that tests compare us with. What holds for Peer holds for it.
func PythonPeer(t testing.TB, modules, debianPackage string) string {
	t.Helper()
	const python = "/usr/bin/python3"
	Peer(t, python, "python3")
	if out, err := exec.Command(python, "-c", "import "+modules).CombinedOutput(); err != nil {
		if os.Getenv("ISOBATH_PEERS") == "require" {
			t.Fatalf("no %s for Python; install the Debian package %s: %s", modules, debianPackage, out)
		}
		t.Skipf("no %s for Python (Debian package %s)", modules, debianPackage)
	}
	t.Logf("%s%s", PeerUsed, debianPackage)
	return python
}

// Root returns the top folder of the checkout: the nearest one above the test's
// working directory, which is its package's folder, that holds .ci. The path of
// this file would not do, for binaries built with -trimpath do not know it.
func Root() string {
	dir, err := os.Getwd()
	if err != nil {
		panic("no working directory: " + err.Error())
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, ".ci")); err == nil {
			return dir
		}
		above := filepath.Dir(dir)
		if above == dir {
			panic("the test does not run inside a checkout of the project")
		}
		dir = above
	}
}

// FilesInMemory makes temporary files of a test lie in memory, or skips it.
func FilesInMemory(t *testing.T) {
	t.Helper()
	const folder = "/dev/shm"
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil || !strings.Contains(string(mounts), " "+folder+" tmpfs ") {
		t.Skip(folder + " is not in memory here")
	}
	t.Setenv("TMPDIR", folder)
}
