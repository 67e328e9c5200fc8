package tree_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/loops/tree"
	"github.com/isobath/isobath/internal/record/reftrace"
	"github.com/isobath/isobath/internal/record/target"
)

// truth is what a program counted of one of its loops.
type truth struct {
	line           int
	entries, turns uint64
}

// compile builds a program of testdata with and without counters and returns
// the plain one and what the other counted.
func compile(t *testing.T, source, level string) (program string, want []truth) {
	t.Helper()
	cc := test.Peer(t, "gcc", "gcc")
	source, err := filepath.Abs(source)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program = filepath.Join(dir, "program")
	counting := program + "-counting"
	for out, flags := range map[string][]string{program: nil, counting: {"-DCOUNT"}} {
		args := append([]string{"-g", "-w", level, source, "-o", out}, flags...)
		if text, err := exec.CommandContext(t.Context(), cc, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	text, err := exec.CommandContext(t.Context(), counting).Output()
	if err != nil {
		t.Fatalf("%s: %v", counting, err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		var w truth
		if _, err := fmt.Sscanf(lines.Text(), "loop %d %d %d", &w.line, &w.entries, &w.turns); err == nil {
			want = append(want, w)
		}
	}
	return program, want
}

// recordTree records the kernel of a program and builds its tree.
func recordTree(t *testing.T, program string, backend reftrace.Backend) *tree.Tree {
	t.Helper()
	rec, err := reftrace.Record(t.Context(), reftrace.Options{Command: []string{program}, Region: target.Region{Function: "run"}, Thread: reftrace.FirstThread, Backend: backend, Flow: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := rec.Run()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.isobath")
	if err := r.Write(t.Context(), path, false); err != nil {
		t.Fatal(err)
	}
	f, err := tree.OpenFile(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := tree.Build(t.Context(), f.Input)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// uncertain lists the loops that this compiler makes vectors or straight code of,
// or copies that cannot be told apart, so that their turns are told with ≈; all
// others are exact.
var uncertain = map[string]bool{
	"dynamic -O2 13": true, "dynamic -O3 18": true, "heap -O3 7": true, "lu -O3 10": true, "lu -O3 14": true, "matmul -O3 7": true, "matmul -O3 10": true, "matmul -O3 14": true,
	"stencil -O2 13": true, "stencil -O2 19": true, "stencil -O2 22": true, "stencil -O3 10": true, "stencil -O3 13": true, "stencil -O3 19": true, "stencil -O3 22": true,
	"vector -O2 25": true, "vector -O3 8": true, "vector -O3 14": true, "vector -O3 25": true,
}

// TestPrograms records programs as the compiler makes them and compares every
// loop with what the same program counts itself. A count that is shown as exact
// is never wrong.
func TestPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles and steps programs")
	}
	sources, err := filepath.Glob("testdata/programs/*.c")
	if err != nil || len(sources) == 0 {
		t.Fatal("no programs", err)
	}
	for _, source := range sources {
		for _, level := range []string{"-O0", "-O1", "-O2", "-O3"} {
			name := strings.TrimSuffix(filepath.Base(source), ".c") + " " + level
			t.Run(name, func(t *testing.T) {
				program, want := compile(t, source, level)
				checkLoops(t, name, recordTree(t, program, reftrace.Step), want)
			})
		}
	}
}

func checkLoops(t *testing.T, name string, got *tree.Tree, want []truth) {
	t.Helper()
	if len(want) == 0 {
		t.Fatal("the program counted nothing")
	}
	if got.Lost > 0 {
		t.Errorf("%d references have no place", got.Lost)
	}
	for _, w := range want {
		var l *tree.Loop
		for i := range got.Loops {
			if got.Loops[i].Line == w.line && got.Loops[i].Kind == tree.Plain {
				l = &got.Loops[i]
			}
		}
		key := fmt.Sprintf("%s %d", name, w.line)
		switch {
		case l == nil:
			t.Errorf("line %d: no loop", w.line)
		case l.Exact && (l.Entries != w.entries || l.Trips.Trips != w.turns):
			t.Errorf("line %d: %d entries, %d trips shown as exact, want %d and %d", w.line, l.Entries, l.Trips.Trips, w.entries, w.turns)
		case !l.Exact && !uncertain[key]:
			t.Errorf("line %d: %d entries, %d trips (want %d, %d) are not exact: %s", w.line, l.Entries, l.Trips.Trips, w.entries, w.turns, l.Why)
		}
	}
}

// TestEmulated holds that the emulator's blocks tell the same as single steps.
func TestEmulated(t *testing.T) {
	if testing.Short() {
		t.Skip("records programs")
	}
	test.Peer(t, "qemu-x86_64", "qemu-user")
	for _, name := range []string{"lu", "quicksort", "interpreter", "search", "list"} {
		t.Run(name, func(t *testing.T) {
			program, want := compile(t, filepath.Join("testdata/programs", name+".c"), "-O2")
			checkLoops(t, name+" -O2", recordTree(t, program, reftrace.QEMU), want)
		})
	}
}

// TestRebuilt counts without control flow: what is found is never shown as
// exact.
func TestRebuilt(t *testing.T) {
	if testing.Short() {
		t.Skip("records a program")
	}
	program, _ := compile(t, "testdata/programs/matmul.c", "-O0")
	rec, err := reftrace.Record(t.Context(), reftrace.Options{Command: []string{program}, Region: target.Region{Function: "run"}, Thread: reftrace.FirstThread, Backend: reftrace.Step})
	if err != nil {
		t.Fatal(err)
	}
	r, err := rec.Run()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.isobath")
	if err := r.Write(t.Context(), path, false); err != nil {
		t.Fatal(err)
	}
	f, err := tree.OpenFile(path, os.Stdin)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := tree.Build(t.Context(), f.Input)
	if err != nil {
		t.Fatal(err)
	}
	if got.Recorded || len(got.Loops) != 3 {
		t.Errorf("recorded %v, %d loops", got.Recorded, len(got.Loops))
	}
	trips := map[uint64]bool{}
	for _, l := range got.Loops {
		trips[l.Trips.Trips] = true
		if l.Exact {
			t.Errorf("line %d is shown as exact", l.Line)
		}
	}
	for _, n := range []uint64{13, 169, 2197} {
		if !trips[n] {
			t.Errorf("no loop of %d trips: %v", n, trips)
		}
	}
}
