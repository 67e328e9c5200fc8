//go:build linux && amd64

package reftrace

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/record/target"
)

// hooked builds a program with 'isobath cc'.
func hooked(t testing.TB, compiler, pkg string, args ...string) string {
	t.Helper()
	test.Peer(t, compiler, pkg)
	exe := filepath.Join(t.TempDir(), "program")
	var out bytes.Buffer
	if err := Compile(t.Context(), append([]string{compiler, "-o", exe}, args...), &out, &out); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	return exe
}

func count(rec *Recording) map[refs.Op]int {
	n := map[refs.Op]int{}
	for _, r := range rec.Refs {
		n[r.Op]++
	}
	return n
}

// The counts are those another runtime for the same hooks gave.
func TestHooksOnSharedPrograms(t *testing.T) {
	dir := test.Fixture(t, "refs/programs")
	exe := hooked(t, "g++", "g++", "-O0", dir+"/bubble_vector.cpp", dir+"/roi.cpp")
	rec := record(t, Options{Command: []string{exe, "5", "4", "3", "2", "1"}, Region: target.Region{Begin: "roi_begin", End: "roi_end"}, Backend: Auto, Thread: FirstThread})
	if rec.Backend != Instrument || len(rec.Refs) != 158 {
		t.Errorf("%s: %d references %v, want 158", rec.Backend, len(rec.Refs), count(rec))
	}
	exe = hooked(t, "g++", "g++", "-O0", dir+"/matmul.cpp", dir+"/roi.cpp")
	rec = record(t, Options{Command: []string{exe}, Region: target.Region{Function: "matmul"}, Backend: Instrument, Thread: FirstThread})
	if n := count(rec); len(rec.Refs) != 256 || n[refs.Load] != 192 || n[refs.Store] != 64 {
		t.Errorf("%d references %v, want 192 loads and 64 stores", len(rec.Refs), n)
	}
	lines := map[int]bool{}
	for _, r := range rec.Refs {
		lines[rec.Places[r.Place].Line] = true
	}
	if len(lines) != 1 {
		t.Errorf("the product of line 9 is on lines %v", lines)
	}
}

const threaded = `
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
int table[64]; atomic_int sum;
void work(long n) { for (long i = 0; i < n; i++) { table[i] = i; atomic_fetch_add(&sum, 1); } }
static void *start(void *n) { work((long)n); return 0; }
int main(void) {
	pthread_t t[2];
	work(5);
	for (long i = 0; i < 2; i++) { pthread_create(&t[i], 0, start, (void *)(i * 10 + 10)); pthread_join(t[i], 0); }
	return atomic_load(&sum) == 35 ? 7 : 1;
}
`

func TestHooksWithThreads(t *testing.T) {
	file := filepath.Join(t.TempDir(), "threaded.c")
	if err := os.WriteFile(file, []byte(threaded), 0o666); err != nil {
		t.Fatal(err)
	}
	exe := hooked(t, "gcc", "gcc", "-O1", "-pthread", file)
	for _, tt := range []struct{ thread, records, threads int }{{FirstThread, 10, 1}, {2, 40, 1}, {AllThreads, 70, 3}} {
		rec := record(t, Options{Command: []string{exe}, Region: target.Region{Function: "work"}, Backend: Instrument, Thread: tt.thread})
		ids := map[uint32]bool{}
		for _, r := range rec.Refs {
			ids[r.Thread] = true
		}
		if len(rec.Refs) != tt.records || len(ids) != tt.threads || rec.Exit != 7 || count(rec)[refs.Modify] != tt.records/2 {
			t.Errorf("thread %d: %d references %v of %d threads, exit %d; want %d of %d", tt.thread, len(rec.Refs), count(rec), len(ids), rec.Exit, tt.records, tt.threads)
		}
	}
	// Without recording it is an ordinary program.
	err := exec.Command(exe).Run()
	if e, ok := err.(*exec.ExitError); !ok || e.ExitCode() != 7 {
		t.Errorf("ran with %v", err)
	}
}

func TestHooksInFortran(t *testing.T) {
	test.Peer(t, "gfortran", "gfortran")
	file := filepath.Join(t.TempDir(), "axpy.f90")
	text := "subroutine axpy(n, x, y)\n  integer :: n, i\n  real(8) :: x(n), y(n)\n  do i = 1, n\n    y(i) = y(i) + 2d0 * x(i)\n  end do\nend subroutine\n" +
		"program main\n  real(8) :: x(10), y(10)\n  x = 1d0\n  y = 2d0\n  call axpy(10, x, y)\n  if (y(3) /= 4d0) stop 3\nend program\n"
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	exe := hooked(t, "gfortran", "gfortran", "-O1", file)
	rec := record(t, Options{Command: []string{exe}, Region: target.Region{Function: "axpy"}, Backend: Instrument, Thread: FirstThread})
	if n := count(rec); n[refs.Store] != 10 || n[refs.Load] < 20 || rec.Exit != 0 {
		t.Errorf("%v, exit %d", n, rec.Exit)
	}
}

func TestSplit(t *testing.T) {
	link, compile := split(strings.Fields("-O2 -I inc -DX a.c lib.o -lm -L/x -o out -x c -Wall"))
	if want := strings.Fields("-O2 -DX a.c lib.o -lm -L/x -o out -Wall"); !slices.Equal(link, want) {
		t.Errorf("link %q, want %q", link, want)
	}
	if want := strings.Fields("-O2 -I inc -DX -x c -Wall"); !slices.Equal(compile, want) {
		t.Errorf("compile %q, want %q", compile, want)
	}
	if !links([]string{"a.c"}) || links([]string{"-c", "a.c"}) || links([]string{"-print-search-dirs"}) {
		t.Error("links")
	}
}

func TestChoice(t *testing.T) {
	test.Peer(t, "qemu-x86_64", "qemu-user")
	own := filepath.Join(test.Root(), "examples", "loops")
	exe := build(t, []string{"-O0", "-x", "c"}, own+"/matmul.c", own+"/region.c")
	for _, tt := range []struct {
		o    Options
		want Backend
		say  string
	}{
		{Options{Region: target.Region{Function: "region_begin"}}, Step, "neither loops nor calls"},
		{Options{Region: target.Region{Begin: "region_begin", End: "region_end"}}, QEMU, "may be long"},
		{Options{Limit: 100}, Step, "at most 100"},
		{Options{Limit: 10_000_000}, QEMU, "at most"},
	} {
		said := ""
		tt.o.Command, tt.o.Backend, tt.o.Thread, tt.o.Say = []string{exe}, Auto, FirstThread, func(s string) { said = s }
		if rec := record(t, tt.o); rec.Backend != tt.want || !strings.Contains(said, tt.say) {
			t.Errorf("%+v: %s, %q", tt.o.Region, rec.Backend, said)
		}
	}
}
