//go:build linux && amd64

package reftrace

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/record/target"
)

// build compiles a program.
func build(t testing.TB, flags []string, files ...string) string {
	t.Helper()
	cc := test.Peer(t, "c++", "g++")
	exe := filepath.Join(t.TempDir(), "program")
	args := append([]string{"-g", "-o", exe}, flags...)
	args = append(args, files...)
	if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		t.Fatalf("compile: %v\n%s", err, out)
	}
	return exe
}

// seen is a reference that can be compared between recorders: addresses are
// numbered by first appearance, as stacks and loaders differ.
type seen struct {
	op       refs.Op
	pc       uint64
	size     uint32
	addr     int
	function string
	line     int
}

func comparable(rec *Recording) []seen {
	ids := map[uint64]int{}
	var out []seen
	for _, r := range rec.Refs {
		if r.PC >= 4<<20 { // these programs are small and linked at 0
			continue // libraries choose their code by the processor they find
		}
		id, ok := ids[r.Addr]
		if !ok {
			id = len(ids)
			ids[r.Addr] = id
		}
		p := rec.Places[r.Place]
		out = append(out, seen{r.Op, r.PC, r.Size, id, p.Function, p.Line})
	}
	return out
}

// difference returns the first difference of two sequences.
func difference(a, b []seen) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("reference %d of %d and %d: %+v and %+v", i, len(a), len(b), a[i], b[i])
		}
	}
	if len(a) != len(b) {
		return fmt.Sprintf("%d and %d references", len(a), len(b))
	}
	return ""
}

type example struct {
	name   string
	files  []string
	flags  []string
	region target.Region
	args   []string
}

func examples(t testing.TB) []example {
	own := filepath.Join(test.Root(), "examples", "loops")
	mark := target.Region{Begin: "region_begin", End: "region_end"}
	all := []example{
		{"own array", []string{own + "/bubble_array.c", own + "/region.c"}, []string{"-O0", "-x", "c"}, mark, []string{"3", "5", "1", "4", "2"}},
		{"own vector", []string{own + "/bubble_vector.cpp", own + "/region.c"}, []string{"-O0"}, mark, []string{"5", "4", "3", "2", "1"}},
		{"own matmul", []string{own + "/matmul.c", own + "/region.c"}, []string{"-O0", "-x", "c"}, mark, nil},
		{"own matmul, vectors", []string{own + "/matmul.c", own + "/region.c"}, []string{"-O3", "-x", "c"}, mark, nil},
		{"own blocked", []string{own + "/matmul_blocked.c", own + "/region.c"}, []string{"-O1", "-x", "c"}, mark, nil},
		{"mix, plain", []string{"testdata/mix.cpp"}, []string{"-O0"}, target.Region{Function: "region"}, nil},
		{"mix, optimised", []string{"testdata/mix.cpp"}, []string{"-O2"}, target.Region{Function: "region"}, nil},
		{"mix, AVX2", []string{"testdata/mix.cpp"}, []string{"-O3", "-mavx2", "-mfma"}, target.Region{Function: "region"}, nil},
		{"own particles", []string{own + "/particles.c", own + "/region.c", "-lm"}, []string{"-O2", "-x", "c"}, mark, []string{"5"}},
	}
	return all
}

func shared(t testing.TB) []example {
	dir := test.Fixture(t, "refs/programs")
	mark := target.Region{Begin: "roi_begin", End: "roi_end"}
	files := func(name string) []string { return []string{dir + "/" + name + ".cpp", dir + "/roi.cpp"} }
	o0 := []string{"-O0"}
	return []example{
		{"array sorted", files("bubble_array"), o0, mark, []string{"1", "2", "3", "4", "5"}},
		{"array reverse", files("bubble_array"), o0, mark, []string{"5", "4", "3", "2", "1"}},
		{"array shuffled", files("bubble_array"), o0, mark, []string{"3", "5", "1", "4", "2"}},
		{"vector sorted", files("bubble_vector"), o0, mark, []string{"1", "2", "3", "4", "5"}},
		{"vector reverse", files("bubble_vector"), o0, mark, []string{"5", "4", "3", "2", "1"}},
		{"matmul", files("matmul"), o0, mark, nil},
		{"matmul function", files("matmul"), o0, target.Region{Function: "matmul"}, nil},
		{"matmul blocked", files("matmul_blocked"), o0, mark, nil},
		{"matmul12", files("matmul12"), o0, mark, nil},
		{"vector function, optimised", files("bubble_vector"), []string{"-O1"}, target.Region{Function: "bubble_sort"}, []string{"3", "5", "1", "4", "2"}},
	}
}

// The three recorders that need no change of the program see the same accesses.
func TestBackendsAgree(t *testing.T) {
	test.Peer(t, "qemu-x86_64", "qemu-user")
	test.Peer(t, "valgrind", "valgrind")
	for _, set := range []func(testing.TB) []example{examples, shared} {
		for _, e := range set(t) {
			t.Run(e.name, func(t *testing.T) {
				exe := build(t, e.flags, e.files...)
				var step []seen
				for _, b := range []Backend{Step, QEMU, Valgrind} {
					rec := record(t, Options{Command: append([]string{exe}, e.args...), Region: e.region, Backend: b, Thread: FirstThread})
					got := comparable(rec)
					if b == Step {
						if step = got; len(step) == 0 || len(rec.Notes) > 0 {
							t.Fatalf("%d references, %q", len(step), rec.Notes)
						}
						continue
					}
					if d := difference(step, got); d != "" {
						t.Errorf("step and %s: %s", b, d)
					}
				}
			})
		}
	}
}

// Recordings equal the shared traces, which another recorder made.
func TestSharedTraces(t *testing.T) {
	dir := test.Fixture(t, "refs/traces")
	names := map[string]string{"array sorted": "bubble_array_sorted", "array reverse": "bubble_array_reverse", "array shuffled": "bubble_array_shuffled",
		"vector sorted": "bubble_vector_sorted", "vector reverse": "bubble_vector_reverse", "matmul": "matmul_standard"}
	for _, e := range shared(t) {
		if names[e.name] == "" {
			continue
		}
		t.Run(e.name, func(t *testing.T) {
			exe := build(t, e.flags, e.files...)
			rec := record(t, Options{Command: append([]string{exe}, e.args...), Region: e.region, Backend: Step, Thread: FirstThread})
			src, _, err := formats.OpenRefs(filepath.Join(dir, names[e.name]+".csv"), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			all, err := refs.All(src)
			if err != nil {
				t.Fatal(err)
			}
			want := comparable(&Recording{Refs: all, Places: src.About().Places})
			got := comparable(rec)
			// The compiler that made the shared traces may place code elsewhere
			// and the tool that named functions wrote parameters.
			for _, list := range [][]seen{want, got} {
				ids := map[uint64]uint64{}
				for i := range list {
					a := &list[i]
					if _, ok := ids[a.pc]; !ok {
						ids[a.pc] = uint64(len(ids))
					}
					a.pc = ids[a.pc]
					a.function, _, _ = strings.Cut(a.function, "(")
				}
			}
			if d := difference(got, want); d != "" {
				t.Error(d)
			}
		})
	}
}

// unused loads words that nobody looks at: 10,000 by an instruction whose result is
// overwritten at once, as a program does that warms a cache.
const unused = `
volatile int table[100], sink;
__attribute__((noinline)) void region() {
	for (int k = 0; k < 100; k++)
		for (int i = 0; i < 100; i++) asm volatile("movl %0, %%eax; movl %1, %%eax" :: "m"(table[i]), "m"(sink) : "eax");
}
int main() { region(); return 0; }
`

// Loads whose value nobody uses are references too, whatever records them.
func TestUnusedLoads(t *testing.T) {
	if testing.Short() {
		t.Skip("records a program three times")
	}
	test.Peer(t, "qemu-x86_64", "qemu-user")
	test.Peer(t, "valgrind", "valgrind")
	file := filepath.Join(t.TempDir(), "unused.cpp")
	if err := os.WriteFile(file, []byte(unused), 0o666); err != nil {
		t.Fatal(err)
	}
	exe := build(t, []string{"-O1", "-fcf-protection=none"}, file)
	for _, b := range []Backend{Step, QEMU, Valgrind} {
		rec := record(t, Options{Command: []string{exe}, Region: target.Region{Function: "region"}, Backend: b, Thread: FirstThread})
		if n := count(rec); n[refs.Load] != 20_001 || len(rec.Refs) != 20_001 { // and the return
			t.Errorf("%s: %v, want 20,001 loads", b, n)
		}
	}
}
