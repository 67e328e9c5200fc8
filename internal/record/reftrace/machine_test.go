package reftrace

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/record/target"
)

func record(t testing.TB, o Options) *Recording {
	t.Helper()
	rec, err := Record(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

const summing = `package main

import "os"

//go:noinline
func sum(a []int64) (s int64) {
	for _, v := range a {
		s += v
	}
	return s
}

func main() {
	a := make([]int64, 100)
	a[3] = int64(len(os.Args))
	if sum(a) != 1 {
		os.Exit(3)
	}
}
`

// A program for another machine is recorded by that machine's qemu. The Go
// compiler makes one without a cross compiler.
func TestOtherMachine(t *testing.T) {
	test.Peer(t, "qemu-aarch64", "qemu-user")
	test.Peer(t, "cc", "gcc")
	dir := t.TempDir()
	exe := filepath.Join(dir, "sum")
	if err := os.WriteFile(filepath.Join(dir, "sum.go"), []byte(summing), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-o", exe, "sum.go")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// Go interrupts long loops by signals, whose handlers would be recorded.
	t.Setenv("GODEBUG", "asyncpreemptoff=1")
	t.Setenv("GOMAXPROCS", "1")
	rec := record(t, Options{Command: []string{exe}, Region: target.Region{Function: "main.sum"}, Backend: QEMU, Thread: FirstThread})
	loads := map[uint64]int{}
	for _, r := range rec.Refs {
		if r.Op == refs.Load && r.Size == 8 && rec.Places[r.Place].Function == "main.sum" {
			loads[r.PC]++
		}
	}
	best := 0
	for _, n := range loads {
		best = max(best, n)
	}
	if best != 100 || rec.Exit != 0 {
		t.Errorf("one instruction loads %d of 100 elements, exit %d, %d references", best, rec.Exit, len(rec.Refs))
	}
}
