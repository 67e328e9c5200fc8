package record

import (
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/record/pmu"
)

// A kernel of testdata/trust/kernels.c, and where its time is spent: the share of
// each object, as the kernel is made. Objects that are not named have none.
type kernel struct {
	name string
	kind string
	at   map[string]float64
	// late are objects that each step waits for behind the others, and for how many ns:
	// hits whose place in memory comes from what was missed, so that nothing hides their
	// latency. The kernel makes lateSteps steps.
	late map[string]float64
	// mixed says that the objects share the time in a way that is not known.
	mixed bool
	// computes says that it waits little: without optimisation, variables on the
	// stack are most of it, as of a sweep.
	computes bool
	// native needs vector instructions.
	native bool
	// steps, if not 0, says that it is a kernel of another language, and how long it runs.
	steps   int
	fortran bool
}

// tolerance is how much more than its share an object may have. Steps of equal
// number in two objects do not take exactly the same time.
func (k *kernel) tolerance() float64 {
	if len(k.at) > 1 {
		return 0.1
	}
	return 0.05
}

// lateSteps is half of the rounds of kernels with late objects, and hit about what a hit
// takes: 5 cycles.
const (
	lateSteps = 3e6
	hit       = 2.0
)

func only(object string) map[string]float64 { return map[string]float64{object: 1} }

func among(objects ...string) map[string]float64 {
	out := map[string]float64{}
	for _, o := range objects {
		out[o] = 1
	}
	return out
}

var trustKernels = []kernel{
	{name: "chase_plain", kind: "chase", at: only("pool")},
	{name: "chase_counter", kind: "chase", at: only("pool")},
	{name: "chase_counters", kind: "chase", at: only("pool")},
	{name: "chase_sum", kind: "chase", at: only("pool")},
	{name: "chase_store", kind: "chase", at: only("pool")},
	{name: "chase_branch", kind: "chase", at: only("pool")},
	{name: "chase_call", kind: "chase", at: only("pool")},
	{name: "chase_indirect", kind: "chase", at: only("pool")},
	{name: "chase_index", kind: "chase", at: only("follow")},
	{name: "chase_index_counter", kind: "chase", at: only("follow"), late: map[string]float64{"counters": 1.5 * hit}}, // and an addition
	{name: "chase_index_late", kind: "chase", at: only("follow"), late: map[string]float64{"counters": 8 * hit}},
	{name: "chase_two", kind: "chase", at: map[string]float64{"pool": 0.5, "other": 0.5}},
	{name: "chase_three_one", kind: "chase", at: map[string]float64{"pool": 0.75, "other": 0.25}},
	{name: "generated", kind: "generated code", at: only("pool")},
	{name: "generated_index", kind: "generated code", at: only("follow")},
	{name: "generated_sweep", kind: "generated code", at: only("table")},
	{name: "chase_xor", kind: "chase", at: only("follow")},
	{name: "tree_wide", kind: "tree", at: only("table"), computes: true},
	{name: "tree_heap", kind: "tree", at: only("follow"), computes: true},
	{name: "hash_two", kind: "hash", at: among("table", "follow"), mixed: true},
	{name: "bitmap", kind: "hash", at: only("table")},
	{name: "tree_find", kind: "tree", at: only("trees")},
	{name: "hash_open", kind: "hash", at: only("table")},
	{name: "hash_chained", kind: "hash", at: among("pool", "heads"), mixed: true},
	{name: "union_find", kind: "hash", at: only("follow")},
	{name: "search_binary", kind: "search", at: only("table")},
	{name: "gather_serial", kind: "random", at: among("table", "order"), mixed: true},
	{name: "scatter", kind: "random", at: only("table")},
	{name: "modify", kind: "random", at: only("table")},
	{name: "sparse", kind: "random", at: among("big", "order"), mixed: true},
	{name: "histogram", kind: "random", at: among("table", "text"), mixed: true},
	{name: "short_loops", kind: "random", at: map[string]float64{"big": 1, "a": 0.1}},
	{name: "sum_row", kind: "sweep", at: only("big")},
	{name: "sum_column", kind: "sweep", at: only("big")},
	{name: "fill_loop", kind: "sweep", at: only("big")},
	{name: "triad", kind: "sweep", at: among("a", "b", "c"), mixed: true},
	{name: "copy_loop", kind: "sweep", at: among("a", "b"), mixed: true},
	{name: "stencil", kind: "sweep", at: among("a", "b"), mixed: true},
	{name: "rep_movsb", kind: "string instruction", at: among("copy", "text"), mixed: true},
	{name: "rep_stosq", kind: "string instruction", at: only("big")},
	{name: "rep_short", kind: "string instruction", at: map[string]float64{"copy": 1, "counter": 0.1}},
	{name: "rep_gather", kind: "string instruction", at: only("big")},
	{name: "rep_scasb", kind: "string instruction", at: only("text")},
	{name: "rep_cmpsb", kind: "string instruction", at: only("text")},
	{name: "lods", kind: "string instruction", at: only("big")},
	{name: "lib_memcpy", kind: "library", at: among("copy", "text"), mixed: true},
	{name: "lib_memset", kind: "library", at: only("copy")},
	{name: "lib_memchr", kind: "library", at: only("text")},
	{name: "avx2_sum", kind: "vector", at: only("big"), native: true},
	{name: "avx2_gather", kind: "vector", at: among("big", "order"), mixed: true, native: true},
	{name: "avx512_copy", kind: "vector", at: among("a", "b"), mixed: true, native: true},
	{name: "avx512_sum", kind: "vector", at: map[string]float64{"big": 1, "counters": 0.2}, native: true},
	{name: "avx512_masked", kind: "vector", at: among("a", "b"), mixed: true, native: true},
	{name: "avx512_gather", kind: "vector", at: among("big", "order"), mixed: true, native: true},
}

// otherKernels are those of testdata/trust/others.cpp and others.f90: containers,
// virtual calls, recursion, threads, libraries that are loaded late. Without
// optimisation the descriptor of an array of Fortran is read with every element.
var otherKernels = []kernel{
	{name: "vector_chase", kind: "C++", at: only("links"), steps: 3000000},
	{name: "unique_chase", kind: "C++", at: only("chain"), steps: 3000000},
	{name: "vector_sweep", kind: "C++", at: only("field"), steps: 40, computes: true},
	{name: "virtual_chase", kind: "C++", at: among("rounds", "vtable for Round", "vtable for Square"), mixed: true, steps: 3000000},
	{name: "tree_recursion", kind: "C++", at: only("trees"), steps: 1, computes: true},
	{name: "two_threads", kind: "threads", at: map[string]float64{"first": 0.5, "second": 0.5}, steps: 2000000},
	{name: "lambda_gather", kind: "C++", at: only("links"), steps: 3000000, computes: true},
	{name: "loaded_chase", kind: "library", at: only("remote"), steps: 3000000},
	{name: "fortran_chase", kind: "Fortran", at: among("link", "arrays::link"), mixed: true, steps: 3000000, fortran: true},
	{name: "fortran_fixed", kind: "Fortran", at: only("arrays::fixed"), steps: 3000000, fortran: true},
	{name: "fortran_rows", kind: "Fortran", at: among("grid", "arrays::grid"), mixed: true, steps: 4, fortran: true, computes: true},
}

// trustBuilds are how the kernels are compiled, each with those it is good for.
var trustBuilds = []struct {
	name   string
	flags  []string
	native bool
}{{"-O0", []string{"-O0"}, false}, {"-O1", []string{"-O1"}, false}, {"-O2", []string{"-O2"}, false}, {"-O3 -march=native", []string{"-O3", "-march=native"}, true}}

// everyTrust is what make test runs: some of each kind. ISOBATH_TRUST=all runs
// every kernel at every level.
var everyTrust = []string{"chase_counter -O0", "chase_index_late -O2", "chase_call -O2", "rep_short -O2", "rep_gather -O1", "short_loops -O2", "modify -O0",
	"virtual_chase -O2", "two_threads -O2", "loaded_chase -O2", "fortran_chase -O2"}

// trusted is what a recording says, compared with the truth.
type trusted struct {
	samples              int
	address, wrong, lost float64 // shares of samples: with an address, at a wrong object, without an address
	by                   map[string]int
	found                map[string]int
}

// TestTrust compares where samples are with where the time is known to be spent.
func TestTrust(t *testing.T) {
	all := os.Getenv("ISOBATH_TRUST") == "all"
	gcc := test.Peer(t, "gcc", "gcc")
	var lines []string
	for _, build := range trustBuilds {
		if !all && !slices.ContainsFunc(everyTrust, func(name string) bool { return strings.HasSuffix(name, " "+build.name) }) {
			continue
		}
		program := filepath.Join(t.TempDir(), "kernels")
		args := append([]string{"-g", "-w", "-o", program, "testdata/trust/kernels.c"}, build.flags...)
		if out, err := exec.Command(gcc, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		others := trustOthers(t, build.flags)
		for _, k := range slices.Concat(trustKernels, otherKernels) {
			name := k.name + " " + build.name
			if k.native && !build.native || !all && !slices.Contains(everyTrust, name) {
				continue
			}
			t.Run(name, func(t *testing.T) {
				command := []string{program, k.name, "2"}
				if k.steps > 0 {
					command = others(&k)
				}
				r := judge(t, command, &k)
				lines = append(lines, fmt.Sprintf("| %s | %s | %s | %d | %.1f %% | %.1f %% | %.1f %% |", k.kind, k.name, build.name, r.samples, 100*r.address, 100*r.wrong, 100*r.lost))
				t.Logf("%d samples: %v by %v", r.samples, r.by, r.found)
				// Three standard errors more, so that chance fails no program that is at the limit.
				if r.wrong > 0.02+3*math.Sqrt(0.02*0.98/float64(max(1, r.samples))) {
					t.Errorf("%.1f %% of %d samples are at a wrong object: %v by %v", 100*r.wrong, r.samples, r.by, r.found)
				}
			})
		}
	}
	slices.Sort(lines)
	t.Logf("\n| kind | program | built with | samples | with an address | at a wrong object | no address |\n|---|---|---|---|---|---|---|\n%s", strings.Join(lines, "\n"))
}

// setup are functions that prepare the data; rnd makes random numbers, which
// takes time of its own.
var setup = []string{"main", "chain", "shuffle", "insert", "rnd"}

// trustOthers compiles the kernels of other languages, and returns the command of
// one.
func trustOthers(t *testing.T, flags []string) func(k *kernel) []string {
	t.Helper()
	dir := t.TempDir()
	program, library, fortran := filepath.Join(dir, "others"), filepath.Join(dir, "others.so"), filepath.Join(dir, "fortran")
	cpp, f90 := test.Peer(t, "g++", "g++"), test.Peer(t, "gfortran", "gfortran")
	for _, args := range [][]string{
		{cpp, "-g", "-w", "-pthread", "-o", program, "testdata/trust/others.cpp"},
		{cpp, "-g", "-w", "-pthread", "-shared", "-fPIC", "-DLIBRARY", "-o", library, "testdata/trust/others.cpp"},
		{f90, "-g", "-w", "-J", dir, "-o", fortran, "testdata/trust/others.f90"},
	} {
		if out, err := exec.Command(args[0], append(args[1:], flags...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return func(k *kernel) []string {
		if k.fortran {
			return []string{fortran, k.name, strconv.Itoa(k.steps)}
		}
		return []string{program, k.name, strconv.Itoa(k.steps), library}
	}
}

// works reports whether a sample is of a kernel and not of what prepares it. Other
// languages have functions of their libraries in it.
func (k *kernel) works(function, stack string) bool {
	if k.steps == 0 {
		return !slices.Contains(setup, function)
	}
	return (strings.Contains(stack, k.name) || k.name == "two_threads" && strings.Contains(stack, "thread_")) && !strings.Contains(stack, "permute") && !strings.Contains(stack, "rnd")
}

// judge records a kernel and compares.
func judge(t *testing.T, command []string, k *kernel) trusted {
	t.Helper()
	got, err := Record(t.Context(), &Options{Command: command, Mode: Timer, Heap: k.steps > 0, Sampling: pmu.Options{Rate: 4000, Stacks: true}, Say: func(string) {}})
	if err != nil {
		t.Skipf("this machine does not let us sample: %v", err)
	}
	if got.Outcome.Status != 0 {
		t.Skipf("status %d: this processor cannot do it", got.Outcome.Status)
	}
	samples := got.Run.Table("samples")
	r := trusted{by: map[string]int{}, found: map[string]int{}}
	function, symbol, found, stack := samples.Column("function"), samples.Column("symbol"), samples.Column("found"), samples.Column("stack")
	for i := range samples.Rows() {
		if !k.works(textOf(function, i), textOf(stack, i)) {
			continue
		}
		r.samples++
		r.found[found.Text(i)]++
		r.by[objectOf(textOf(symbol, i))]++
	}
	if r.samples < 100 {
		t.Fatalf("%d samples", r.samples)
	}
	lost := r.by[""]
	for name, ns := range k.late {
		// Half of it is asked for: the hit that comes first has some of its samples
		// before it, and cycles are shorter on some processors.
		share, waits := float64(r.by[name])/float64(r.samples), ns*lateSteps/(float64(r.samples)*0.25e6)
		if k.late[name] >= 8*hit && share < waits/2 {
			t.Errorf("%.1f %% of %d samples are at %s, which each step waits %.0f ns for: %.1f %%", 100*share, r.samples, name, ns, 100*waits)
		}
		r.wrong += max(0, share-waits*(1+k.tolerance()))
	}
	for _, name := range slices.Sorted(maps.Keys(r.by)) {
		share := float64(r.by[name]) / float64(r.samples)
		switch true := k.at[name]; {
		case k.late[name] > 0: // above
		case name == "", name == "kernels", name == "others", name == "others.so": // constants beside the code
		case k.mixed && true > 0:
		case (name == "stack" || name == "state") && (k.kind == "sweep" || k.computes):
		case name == "stack" || name == "state":
			// What the compiler keeps there is read and written too; how much
			// time that takes is not known, but it is not much.
			r.wrong += max(0, share-0.25)
		default:
			r.wrong += max(0, share-true-k.tolerance()*true)
		}
	}
	r.lost = float64(lost) / float64(r.samples)
	r.address = 1 - r.lost
	return r
}

func textOf(c *table.Column, i int) string {
	if c == nil || !c.Has(i) {
		return ""
	}
	return c.Text(i)
}

// objectOf is the name without the thread of a stack, and of a file as if no variable
// had its name.
func objectOf(symbol string) string {
	if strings.HasPrefix(symbol, "stack") {
		return "stack"
	}
	return strings.TrimSuffix(symbol, " (file)")
}
