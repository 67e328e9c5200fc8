package cycle

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats/lackey"
)

type lackeyFile struct {
	*lackey.Reader
	io.Closer
}

// record compiles one of the example programs, records it under Valgrind and
// returns its region as a trace. Modifies are split, as in the recordings that
// the shared numbers come from.
func record(t *testing.T, source string, by Symbol, defines []string, args ...string) *Trace {
	t.Helper()
	valgrind := test.Peer(t, "valgrind", "valgrind")
	test.Peer(t, "cc", "gcc")
	test.Peer(t, "c++", "g++")
	dir := t.TempDir()
	loops := filepath.Join(test.Root(), "examples", "loops")
	object, exe, log := filepath.Join(dir, "region.o"), filepath.Join(dir, "program"), filepath.Join(dir, "log")
	runCommand(t, "cc", "-g", "-O0", "-c", filepath.Join(loops, "region.c"), "-o", object)
	compiler := "cc"
	if filepath.Ext(source) == ".cpp" {
		compiler = "c++"
	}
	runCommand(t, compiler, slices.Concat([]string{"-g", "-O0"}, defines, []string{filepath.Join(loops, source), object, "-o", exe})...)
	runCommand(t, valgrind, slices.Concat([]string{"--tool=lackey", "--trace-mem=yes", "--log-file=" + log, exe}, args)...)
	prog, err := symbol.OpenProgram(exe, symbol.ValgrindBias)
	if err != nil {
		t.Fatal(err)
	}
	begin, err := prog.Function("region_begin")
	if err != nil {
		t.Fatal(err)
	}
	end, err := prog.Function("region_end")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	src := refs.Region(refs.Split(lackeyFile{lackey.NewReader(f), f}), begin, end)
	traces, err := Load(t.Context(), src, Input{Symbol: by, Resolver: prog, Objects: prog})
	if err != nil {
		t.Fatal(err)
	}
	if len(traces) != 1 {
		t.Fatalf("%d threads, want 1", len(traces))
	}
	return traces[0]
}

func runCommand(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// bubble sorts like the example and counts what it does.
func bubble(value []int) (comparisons, swaps, passes int64) {
	value = slices.Clone(value)
	for pass := 0; pass < len(value)-1; pass++ {
		before := swaps
		passes++
		for i := 0; i < len(value)-1-pass; i++ {
			comparisons++
			if value[i] > value[i+1] {
				value[i], value[i+1] = value[i+1], value[i]
				swaps++
			}
		}
		if swaps == before {
			break
		}
	}
	return comparisons, swaps, passes
}

func wantTurns(t *testing.T, r *Result, want ...int64) {
	t.Helper()
	for _, n := range want {
		if slices.ContainsFunc(r.Classes, func(c *Class) bool { return c.Turns == n && c.Exact }) {
			continue
		}
		t.Errorf("no class with exactly %d turns", n)
		for _, c := range r.Classes {
			t.Logf("  %+v turns %d, exact %v, lift %.2f: %s", c.Bar, c.Turns, c.Exact, c.Lift, c.Sentence)
		}
	}
}

// The counts of scale_golden.json: 44,822 comparisons, 20,929 of them without
// a swap, 292 passes, from three million windows.
func TestThreeMillionWindows(t *testing.T) {
	if testing.Short() {
		t.Skip("records three million references")
	}
	text, err := os.ReadFile("testdata/bubble300.txt")
	if err != nil {
		t.Fatal(err)
	}
	numbers := strings.Fields(string(text))
	var value []int
	for _, s := range numbers {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		value = append(value, n)
	}
	comparisons, swaps, passes := bubble(value)
	if comparisons != 44822 || comparisons-swaps != 20929 || passes != 292 {
		t.Fatalf("the numbers need %d comparisons, %d swaps, %d passes: not the ones of the shared data", comparisons, swaps, passes)
	}
	tr := record(t, "bubble_vector.cpp", PC, nil, numbers...)
	r, err := Analyse(t.Context(), tr, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.Points.Index); n < 3_000_000 {
		t.Errorf("%d windows, want three million", n)
	}
	wantTurns(t, r, comparisons, swaps, comparisons-swaps, passes)
	i := slices.IndexFunc(r.Classes, func(c *Class) bool { return c.Turns == comparisons })
	if i < 0 || !strings.HasPrefix(r.Classes[i].Sentence, "inner loop bubble_vector.cpp:13–16, 44 822 turns in 292 passes") {
		t.Errorf("sentence %q", r.Classes[max(i, 0)].Sentence)
	}
}

// Programs whose loop counts are known by construction.
func TestKnownPrograms(t *testing.T) {
	tests := []struct {
		name, source string
		symbol       Symbol
		defines      []string
		args         []string
		turns        []int64
	}{
		{"product of 6", "matmul.c", PC, []string{"-DSIZE=6"}, nil, []int64{216, 36, 6}},
		{"product of 9 by line", "matmul.c", Line, []string{"-DSIZE=9"}, nil, []int64{81, 9}},
		{"blocks of 3 in 9", "matmul_blocked.c", PC, []string{"-DSIZE=9", "-DBLOCK=3"}, nil, []int64{729, 243, 81, 9, 3}},
		{"particles", "particles.c", PC, nil, []string{"7"}, []int64{28, 14, 7}},
		{"array reverse", "bubble_array.c", PC, nil, []string{"6", "5", "4", "3", "2", "1"}, []int64{15, 5}},
		{"vector reverse by line", "bubble_vector.cpp", Line, nil, []string{"6", "5", "4", "3", "2", "1"}, []int64{15, 5}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Analyse(t.Context(), record(t, tt.source, tt.symbol, tt.defines, tt.args...), Options{})
			if err != nil {
				t.Fatal(err)
			}
			wantTurns(t, r, tt.turns...)
		})
	}
}

// The three matrices are three objects; walks over them are the same walk only
// within one of them.
func TestObjectSymbols(t *testing.T) {
	tr := record(t, "matmul.c", Object, nil)
	if tr.Symbols < 3*16 {
		t.Errorf("%d symbols, want one per element of three matrices at least", tr.Symbols)
	}
}
