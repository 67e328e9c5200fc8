//go:build linux && amd64

package reftrace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	rec := record(t, Options{Command: []string{exe}, Region: target.Region{Function: "work"}, Backend: Step, Thread: FirstThread, Allocations: true})
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
	// Two allocations of the same memory are two objects, by their lines.
	want := []string{"global", "touched.cpp:8 ", "touched.cpp:11 ", "touched.cpp:16 "}
	if len(got) != len(want) {
		t.Fatalf("stores by object %v, want those of %q", got, want)
	}
	for _, name := range want {
		n := 0
		for have, stores := range got {
			if strings.HasPrefix(have, name) {
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
