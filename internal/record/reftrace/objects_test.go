//go:build linux && amd64

package reftrace

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/record/target"
)

// Touched allocates inside the region and before it, frees, and allocates the
// same memory again: names must follow time.
const touched = `
#include <cstdlib>
static long global[4];
static void fill(volatile long *p) { for (int i = 0; i < 4; i++) p[i] = i; }
__attribute__((noinline)) void work(long *before) {
	fill(global);
	fill(before);
	long *a = (long *)malloc(6000);
	fill(a);
	free(a);
	long *b = (long *)malloc(6000);
	fill(b);
	free(b);
}
int main() {
	long *before = (long *)malloc(4096);
	work(before);
	free(before);
}
`

func TestObjects(t *testing.T) {
	file := filepath.Join(t.TempDir(), "touched.cpp")
	if err := os.WriteFile(file, []byte(touched), 0o666); err != nil {
		t.Fatal(err)
	}
	exe := build(t, []string{"-O0"}, file)
	rec := record(t, Options{Command: []string{exe}, Region: target.Region{Function: "work"}, Backend: Step, Thread: FirstThread, Allocations: Logged})
	got := map[string]int{}
	for _, r := range rec.Refs {
		p := rec.Places[r.Place]
		o := rec.Objects[r.Object]
		if p.Function == "fill" && r.Op == refs.Store && o.Name != "stack" {
			got[o.Name]++
			if r.Addr < o.Start || r.Addr >= o.Start+32 {
				t.Errorf("%#x is said to be in %s at %#x", r.Addr, o.Name, o.Start)
			}
		}
	}
	// Two allocations of the same memory are two objects, by what holds them.
	want := []string{"global", "a", "b", "before"}
	if len(got) != len(want) {
		t.Fatalf("stores by object %v, want those of %q", got, want)
	}
	for _, name := range want {
		n := 0
		for have, stores := range got {
			if have == name {
				n += stores
			}
		}
		if n != 4 {
			t.Errorf("stores by object %v, want 4 to %s", got, name)
		}
	}
	// Without the log the heap is one object, and the program's own references
	// are the same.
	plain := record(t, Options{Command: []string{exe}, Region: target.Region{Function: "work"}, Backend: Step, Thread: FirstThread})
	if a, b := ownStores(rec), ownStores(plain); a != b {
		t.Errorf("%d stores by the program with the log, %d without", a, b)
	}
}

func ownStores(rec *Recording) (n int) {
	for _, r := range rec.Refs {
		if f := rec.Places[r.Place].Function; r.Op == refs.Store && (f == "fill" || f == "work") {
			n++
		}
	}
	return n
}

// Blocks uses heap memory of every kind, each a number of times that the program
// fixes: by its own code, twice for a node (key and next), once for a word.
const blocks = `
#include <stdlib.h>
#include <pthread.h>
struct node { long key; struct node *next; };
static struct { struct node *list; volatile double *grid; volatile long *grown; } all;
static long *volatile held;
static void build(int n) {
	for (int i = 0; i < n; i++) {
		struct node *item = malloc(sizeof *item);
		item->key = i;
		item->next = all.list;
		all.list = item;
	}
	held = malloc(400);
	all.grid = calloc(500, 8);
	all.grown = malloc(800);
}
static void *helper(void *unused) {
	volatile long *mine = malloc(2400);
	for (int i = 0; i < 300; i++) mine[i] = i;
	free((void *)mine);
	return unused;
}
__attribute__((noinline)) long work(void) {
	long sum = 0;
	for (struct node *n = all.list; n; n = n->next) sum += n->key;
	for (int i = 0; i < 500; i++) all.grid[i] = i;
	all.grown = realloc((void *)all.grown, 1600);
	for (int i = 0; i < 200; i++) all.grown[i] = i;
	for (int i = 0; i < 50; i++) held[i] = i;
	for (int k = 0; k < 20; k++) {
		volatile long *brief = malloc(80);
		for (int i = 0; i < 10; i++) brief[i] = i;
		free((void *)brief);
	}
	for (int k = 0; k < 3; k++) {
		pthread_t t;
		pthread_create(&t, 0, helper, 0);
		pthread_join(t, 0);
	}
	return sum;
}
int main(int argc, char **argv) {
	build(argc > 1 ? atoi(argv[1]) : 400);
	return work() < 0;
}
`

// heapUse counts the references that the program's own code makes to memory that
// is neither a stack nor a variable of it, by object.
func heapUse(rec *Recording) (byObject map[string]int, threads map[uint32]bool) {
	byObject, threads = map[string]int{}, map[uint32]bool{}
	for _, r := range rec.Refs {
		threads[r.Thread] = true
		f := rec.Places[r.Place].Function
		o := rec.Objects[r.Object]
		m := numberedName.FindStringSubmatch(o.Name)
		if f != "work" && f != "helper" || strings.HasPrefix(o.Name, "stack") || o.Name == "all" || o.Name == "held"+symbol.OfVariable {
			continue
		}
		byObject[m[1]]++
	}
	return byObject, threads
}

// TestHeapObjects holds that every reference of the program to the heap has the
// object it belongs to, whatever records it, and that threads which never run at
// the same time are not taken for one.
func TestHeapObjects(t *testing.T) {
	test.Peer(t, "qemu-x86_64", "qemu-user")
	test.Peer(t, "valgrind", "valgrind")
	source := filepath.Join(t.TempDir(), "blocks.c")
	if err := os.WriteFile(source, []byte(blocks), 0o666); err != nil {
		t.Fatal(err)
	}
	plain := buildC(t, source)
	hooked := filepath.Join(t.TempDir(), "hooked")
	if err := Compile(t.Context(), []string{"gcc", "-O1", "-g", "-no-pie", "-o", hooked, source, "-lpthread"}, os.Stderr, os.Stderr); err != nil {
		t.Fatal(err)
	}
	const nodes = 200
	for _, tt := range []struct {
		backend Backend
		exe     string
		thread  int
	}{{Step, plain, AllThreads}, {QEMU, plain, AllThreads}, {Instrument, hooked, AllThreads}, {Valgrind, plain, FirstThread}} {
		t.Run(string(tt.backend), func(t *testing.T) {
			rec := record(t, Options{Command: []string{tt.exe, strconv.Itoa(nodes)}, Region: target.Region{Function: "work"}, Backend: tt.backend, Thread: tt.thread, Allocations: Logged})
			got, threads := heapUse(rec)
			want := map[string]int{"item": 2 * nodes, "all.grid": 500, "all.grown": 200, "brief": 200, "mine": 900, "held": 50}
			for name, n := range want {
				if got[name] != n {
					t.Errorf("%d references to %s, want %d; all: %v", got[name], name, n, got)
				}
				delete(got, name)
			}
			if rec.Has&refs.HasThread == 0 {
				delete(got, "") // stacks of threads that nobody tells apart
			}
			if len(got) > 0 {
				t.Errorf("other objects: %v", got)
			}
			if tt.thread == AllThreads && len(threads) != 4 {
				t.Errorf("threads %v, want the first and three one after another", threads)
			}
		})
	}
}

func buildC(t testing.TB, source string) string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "plain")
	if out, err := exec.Command(test.Peer(t, "gcc", "gcc"), "-O1", "-g", "-no-pie", "-o", exe, source, "-lpthread").CombinedOutput(); err != nil {
		t.Fatalf("compile: %v\n%s", err, out)
	}
	return exe
}

// stepping ends each turn of its loop with a call, before a test that the loop
// begins with.
const stepping = `
static volatile long after[100];
static void step(int *i) { ++*i; }
long work(void) {
	long sum = 0;
	for (int i = 0; i < 5000; step(&i)) sum += i;
	return sum;
}
void later(void) { for (int i = 0; i < 100; i++) after[i] = i; }
int main(void) { long s = work(); later(); return s < 0; }
`

// TestRegionEndsBehindManyCalls holds that a function ends where it returns,
// however many calls it made from a place whose return was translated before.
func TestRegionEndsBehindManyCalls(t *testing.T) {
	test.Peer(t, "qemu-x86_64", "qemu-user")
	source := filepath.Join(t.TempDir(), "stepping.c")
	if err := os.WriteFile(source, []byte(stepping), 0o666); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(t.TempDir(), "stepping")
	if out, err := exec.Command(test.Peer(t, "gcc", "gcc"), "-O0", "-g", "-o", exe, source).CombinedOutput(); err != nil {
		t.Fatalf("compile: %v\n%s", err, out)
	}
	rec := record(t, Options{Command: []string{exe}, Region: target.Region{Function: "work"}, Backend: QEMU, Thread: FirstThread})
	for _, r := range rec.Refs {
		if f := rec.Places[r.Place].Function; f != "work" && f != "step" {
			t.Fatalf("a reference of %s is in the region; notes %q", f, rec.Notes)
		}
	}
}
