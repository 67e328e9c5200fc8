// Package test finds what tests need outside the repository: the shared data
// folder and the peer programs whose answers ours are compared with.
package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// Shared returns the path of a file or folder of the shared data, which lies
// beside the checkout. Without that data the test is skipped with a line that
// says so; every package also has tests that need nothing but the repository.
func Shared(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(Root(), "..", "shared", "data", filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no shared data: %s is not beside the checkout", filepath.Join("shared", "data", name))
	}
	return path
}

// Peer returns the path of a program that tests compare us with. Under
// ISOBATH_PEERS=require, which `make test` sets, a missing program fails the
// test: a comparison that did not run is not a comparison that passed.
func Peer(t testing.TB, program, debianPackage string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err == nil {
		return path
	}
	if os.Getenv("ISOBATH_PEERS") == "require" {
		t.Fatalf("%s is not installed; install the Debian package %s", program, debianPackage)
	}
	t.Skipf("%s is not installed (Debian package %s)", program, debianPackage)
	return ""
}

// Root returns the top folder of the checkout.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}
