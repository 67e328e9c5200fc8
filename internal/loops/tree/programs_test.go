package tree_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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
func compile(t *testing.T, source, level string, more ...string) (program string, want []truth) {
	t.Helper()
	cc := test.Peer(t, "gcc", "gcc")
	if filepath.Ext(source) == ".cpp" {
		cc = test.Peer(t, "g++", "g++")
	}
	source, err := filepath.Abs(source)
	if err != nil {
		t.Fatal(err)
	}
	more = slices.Concat(more, languageFlags(t, source))
	dir := t.TempDir()
	program = filepath.Join(dir, "program")
	counting := program + "-counting"
	for out, flags := range map[string][]string{program: nil, counting: {"-DCOUNT"}} {
		args := slices.Concat([]string{"-g", "-w", level, source, "-o", out}, flags, more)
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

// languageFlags are those of programs that have parallel loops, coroutines or mathematics.
func languageFlags(t *testing.T, source string) []string {
	t.Helper()
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte("#pragma omp")) {
		return []string{"-fopenmp"}
	}
	if bytes.Contains(text, []byte("<math.h>")) {
		return []string{"-lm"}
	}
	if bytes.Contains(text, []byte("co_yield")) {
		return []string{"-std=c++20"}
	}
	return nil
}

// recordTree records the kernel of a program and builds its tree.
func recordTree(t *testing.T, program string, backend reftrace.Backend) *tree.Tree {
	t.Helper()
	return recordTreeOf(t, program, "run", backend)
}

// recordTreeOf records a function of a program and builds its tree.
func recordTreeOf(t *testing.T, program, function string, backend reftrace.Backend) *tree.Tree {
	t.Helper()
	return recordTreeWith(t, program, reftrace.Options{Region: target.Region{Function: function}, Backend: backend})
}

// recordTreeWith records what options say of the first thread of a program, with its way
// through the code, and builds the tree.
func recordTreeWith(t *testing.T, program string, opt reftrace.Options) *tree.Tree {
	t.Helper()
	opt.Command, opt.Thread, opt.Flow = []string{program}, reftrace.FirstThread, true
	rec, err := reftrace.Record(t.Context(), opt)
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
	f, err := tree.OpenFile(path)
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

// uncertainFile lists the loops that this compiler makes vectors or straight code
// of, or copies that cannot be told apart, so that their counts are told with ≈;
// all others are exact.
const uncertainFile = "testdata/uncertain.txt"

var update = flag.Bool("update", false, "renew "+uncertainFile+" (with ISOBATH_ALL_LEVELS=1)")

// uncertain reads the list: program, level and line.
func uncertain(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(uncertainFile)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		known[strings.TrimSpace(line)] = true
	}
	return known
}

// TestPrograms records programs as the compiler makes them and compares every
// loop with what the same program counts itself. A count that is shown as exact
// is never wrong. Those named drawn are loops, branches and calls put together at
// random, kept because a count of theirs was wrong once. Every third program is
// compiled at one level; all are at all of them with ISOBATH_ALL_LEVELS=1, as 'make
// loops' does.
func TestPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles and steps programs")
	}
	sources, err := filepath.Glob("testdata/programs/*.c*")
	if err != nil || len(sources) < 40 {
		t.Fatal(len(sources), "programs", err)
	}
	all := os.Getenv("ISOBATH_ALL_LEVELS") != ""
	known := uncertain(t)
	var mu sync.Mutex
	var doubted []string
	t.Run("at", func(t *testing.T) {
		for i, source := range sources {
			for k, level := range []string{"-O2", "-O3", "-O0", "-O1"} {
				if !all && (k != i%4 || i%3 != 0) {
					continue
				}
				name := strings.TrimSuffix(filepath.Base(source), filepath.Ext(source)) + " " + level
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					program, want := compile(t, source, level)
					list := checkLoops(t, name, recordTree(t, program, reftrace.Step), want, known)
					mu.Lock()
					defer mu.Unlock()
					doubted = append(doubted, list...)
				})
			}
		}
	})
	if *update && all {
		slices.Sort(doubted)
		if err := os.WriteFile(uncertainFile, []byte(strings.Join(doubted, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// checkAgree holds that what is told of a loop does not contradict itself.
func checkAgree(t *testing.T, of *tree.Tree) {
	t.Helper()
	for i := range of.Loops {
		l := &of.Loops[i]
		if l.Exact == (l.Why != "") {
			t.Errorf("line %d: exact is %v, and why not is %q", l.Line, l.Exact, l.Why)
		}
		if l.Exact && l.Unknown != (tree.Unknown{}) {
			t.Errorf("line %d: exact, and not known: %+v", l.Line, l.Unknown)
		}
		if l.Kind == tree.Plain {
			checkTrips(t, l.Line, l.Exact, l.Trips, l.References)
		}
	}
	for _, n := range of.Nodes {
		checkTrips(t, of.Loops[n.Loop].Line, of.Loops[n.Loop].Exact, n.Trips, n.References)
	}
}

func checkTrips(t *testing.T, line int, exact bool, n tree.Trips, references uint64) {
	t.Helper()
	spread := n.Min <= n.Median && n.Median <= n.Max && n.Min*n.Entries <= n.Trips && n.Trips <= n.Max*n.Entries && n.Skipped <= n.Entries && (n.Skipped == 0 || n.Min == 0)
	switch {
	case n.Entries == 0 && n.Trips > 0 && !n.Unknown.Entries, n.Entries > 0 && n.Unknown.Entries, n.Trips > 0 && n.Unknown.Trips:
		t.Errorf("line %d: %+v", line, n)
	case !spread && !n.Unknown.Spread:
		t.Errorf("line %d: %+v: entries of so many turns do not make all", line, n)
	case !exact && references > 0 && n.Trips == 0 && !n.Unknown.Trips:
		t.Errorf("line %d: %+v, and %d references", line, n, references)
	}
}

// checkLoops returns the loops whose counts are not exact.
func checkLoops(t *testing.T, name string, got *tree.Tree, want []truth, known map[string]bool) (doubted []string) {
	t.Helper()
	if len(want) == 0 {
		t.Fatal("the program counted nothing")
	}
	checkAgree(t, got)
	if got.Lost > 0 {
		t.Errorf("%d references have no place", got.Lost)
	}
	for _, w := range want {
		l := loopAt(got, w.line)
		key := fmt.Sprintf("%s %d", name, w.line)
		if l == nil || !l.Exact {
			doubted = append(doubted, key)
		}
		switch {
		case l == nil && !known[key] && !*update:
			t.Errorf("line %d: no loop", w.line)
		case l == nil:
		case l.Exact && (l.Entries != w.entries || l.Trips.Trips != w.turns):
			t.Errorf("line %d: %d entries, %d trips shown as exact, want %d and %d", w.line, l.Entries, l.Trips.Trips, w.entries, w.turns)
		case !l.Exact && !known[key] && !*update:
			t.Errorf("line %d: %d entries, %d trips (want %d, %d) are not exact: %s", w.line, l.Entries, l.Trips.Trips, w.entries, w.turns, l.Why)
		}
	}
	return doubted
}

// TestOtherRecorders holds that the emulator's blocks, and the instructions that
// Valgrind lists, tell the same as single steps.
func TestOtherRecorders(t *testing.T) {
	if testing.Short() {
		t.Skip("records programs")
	}
	test.Peer(t, "qemu-x86_64", "qemu-user")
	test.Peer(t, "valgrind", "valgrind")
	for backend, names := range map[reftrace.Backend][]string{
		reftrace.QEMU:     {"lu", "quicksort", "interpreter", "search", "list"},
		reftrace.Valgrind: {"lu", "quicksort"},
	} {
		for _, name := range names {
			t.Run(string(backend)+" "+name, func(t *testing.T) {
				program, want := compile(t, filepath.Join("testdata/programs", name+".c"), "-O2")
				got := recordTree(t, program, backend)
				if !got.Recorded {
					t.Error("the way through the code was not kept")
				}
				checkLoops(t, name+" -O2", got, want, uncertain(t))
			})
		}
	}
}

// TestHooked holds that compiler hooks tell the same as counters inside the
// programs. Every sixth program is built with them; all are with
// ISOBATH_ALL_LEVELS=1.
func TestHooked(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles and records programs")
	}
	sources, err := filepath.Glob("testdata/programs/*.c*")
	if err != nil {
		t.Fatal(err)
	}
	all := os.Getenv("ISOBATH_ALL_LEVELS") != ""
	known := uncertain(t)
	for i, source := range sources {
		for k, level := range []string{"-O2", "-O0", "-O1", "-O3"} {
			if !all && (i%6 != 0 || k != i/6%4) {
				continue
			}
			name := strings.TrimSuffix(filepath.Base(source), filepath.Ext(source)) + " " + level
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				plain, want := compile(t, source, level)
				whole, err := filepath.Abs(source)
				if err != nil {
					t.Fatal(err)
				}
				hooked := plain + "-hooked"
				var text bytes.Buffer
				cc := "gcc"
				if filepath.Ext(source) == ".cpp" {
					cc = "g++"
				}
				if err := reftrace.Compile(t.Context(), slices.Concat([]string{cc, "-w", level, whole, "-o", hooked}, languageFlags(t, whole)), &text, &text); err != nil {
					t.Fatalf("%v\n%s", err, &text)
				}
				checkHooked(t, name, recordTree(t, hooked, reftrace.Instrument), want, known)
			})
		}
	}
}

// checkHooked holds that no count is shown as exact and wrong, and that without
// optimisation all are right that are exact without hooks.
func checkHooked(t *testing.T, name string, got *tree.Tree, want []truth, known map[string]bool) {
	t.Helper()
	checkAgree(t, got)
	if got.Lost > 0 {
		t.Errorf("%d references have no place", got.Lost)
	}
	exact := 0
	for _, w := range want {
		l := loopAt(got, w.line)
		switch {
		case l != nil && l.Exact && (l.Entries != w.entries || l.Trips.Trips != w.turns):
			t.Errorf("line %d: %d entries, %d trips shown as exact, want %d and %d", w.line, l.Entries, l.Trips.Trips, w.entries, w.turns)
		case l != nil && l.Exact:
			exact++
		case l != nil && strings.Contains(l.Why, "compiler hooks") && l.Entries == w.entries && l.Trips.Trips == w.turns:
		case strings.HasSuffix(name, "-O0") && !known[fmt.Sprintf("%s %d", name, w.line)]:
			t.Errorf("line %d: %+v is not exact, want %d and %d", w.line, l, w.entries, w.turns)
		}
	}
	t.Logf("%s: %d of %d loops exact", name, exact, len(want))
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
	f, err := tree.OpenFile(path)
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
