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
	"github.com/isobath/isobath/internal/record/target"
)

// counting has a function that makes two references, the counter and its return
// address, however it is compiled: work. descend calls itself.
const counting = `static long counter;
__attribute__((noinline, visibility("default"))) void work(void) { asm volatile("addq $1, %0" : "+m"(counter)); }
__attribute__((noinline, visibility("default"))) void descend(int n)
{
	asm volatile("addq $1, %0" : "+m"(counter));
	if (n > 0) { descend(n - 1); asm volatile(""); }
}
`

const callsTen = `void work(void); void descend(int);
int main(void)
{
	for (int i = 0; i < 10; i++)
		work();
	for (int i = 0; i < 10; i++)
		descend(i);
	return 0;
}
`

const loadsTwice = `#include <dlfcn.h>
int main(int argc, char **argv)
{
	for (int round = 0; round < 2; round++) {
		void *lib = dlopen(argv[1], RTLD_NOW);
		void (*work)(void) = lib ? (void (*)(void))dlsym(lib, "work") : 0;
		if (!work) return 1;
		for (int i = 0; i < 5; i++)
			work();
		dlclose(lib);
	}
	return 0;
}
`

// regionPrograms builds the programs of a test, by name, in one folder.
func regionPrograms(t *testing.T) string {
	t.Helper()
	cc := test.Peer(t, "cc", "gcc")
	strip := test.Peer(t, "strip", "binutils")
	dir := t.TempDir()
	for name, text := range map[string]string{"counting.c": counting, "ten.c": callsTen, "loads.c": loadsTwice} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	plain := []string{"-g", "-O1", "-fcf-protection=none", "-fno-stack-protector", "-fno-optimize-sibling-calls"}
	for _, args := range [][]string{
		append(plain, "-fPIC", "-shared", "-o", "libcounting.so", "counting.c"),
		append(plain, "-o", "linked", "ten.c", "-L.", "-lcounting", "-Wl,-rpath,$ORIGIN"),
		append(plain, "-o", "loads", "loads.c", "-ldl"),
		append(plain, "-rdynamic", "-o", "whole", "ten.c", "counting.c"),
	} {
		cmd := exec.Command(cc, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", cmd, err, out)
		}
	}
	if out, err := exec.Command(strip, "-o", filepath.Join(dir, "stripped"), filepath.Join(dir, "whole")).CombinedOutput(); err != nil {
		t.Fatalf("strip: %v\n%s", err, out)
	}
	return dir
}

// rangeOf is a function as a range of addresses.
func rangeOf(t *testing.T, file, function string) string {
	t.Helper()
	p, err := target.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	at, err := p.Function(function)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("0x%x-0x%x", at.Low, at.High)
}

// Functions of libraries, ranges of addresses and source lines are regions, as
// often as is asked.
func TestRegions(t *testing.T) {
	test.Peer(t, "qemu-x86_64", "qemu-user")
	test.Peer(t, "valgrind", "valgrind")
	dir := regionPrograms(t)
	lib := filepath.Join(dir, "libcounting.so")
	inLibrary, inProgram := rangeOf(t, lib, "work"), rangeOf(t, filepath.Join(dir, "whole"), "work")
	const perCall = 2
	tests := []struct {
		name, program string
		region        target.Region
		modifies      int // of the counter
		refs          int // 0: not known
		in            string
	}{
		{"linked library", "linked", target.Region{Function: "work"}, 1, perCall, "work"},
		{"linked library, by its name", "linked", target.Region{Function: "libcounting.so:work", Calls: target.EveryCall}, 10, 10 * perCall, "work"},
		{"linked library, a range", "linked", target.Region{Function: "libcounting.so+" + inLibrary, Skip: 2, Calls: 3}, 3, 3 * perCall, "work"},
		{"linked library, a line", "linked", target.Region{Function: "libcounting.so:counting.c:2", Skip: 9, Calls: 3}, 1, perCall, "work"},
		{"dlopened library", "loads", target.Region{Function: lib + ":work"}, 1, perCall, "work"},
		{"dlopened library, twice", "loads", target.Region{Function: lib + ":work", Skip: 3, Calls: 4}, 4, 4 * perCall, "work"},
		{"dlopened library, a range", "loads", target.Region{Function: lib + "+" + inLibrary, Calls: 7}, 7, 7 * perCall, "work"},
		{"some calls", "whole", target.Region{Function: "work", Skip: 2, Calls: 3}, 3, 3 * perCall, "work"},
		{"stripped, by dynamic symbol", "stripped", target.Region{Function: "work", Skip: 2, Calls: 3}, 3, 3 * perCall, "work"},
		{"stripped, a range", "stripped", target.Region{Function: inProgram, Skip: 2, Calls: 3}, 3, 3 * perCall, "work"},
		{"recursion is one call", "whole", target.Region{Function: "descend", Skip: 2, Calls: 3}, 3 + 4 + 5, 0, "descend"},
		{"a line that calls", "whole", target.Region{Function: "ten.c:5", Skip: 1, Calls: 2}, 2, 0, "work"},
		{"between functions", "whole", target.Region{Begin: "work", End: "work", Skip: 1, Calls: 2}, 0, 2, "work"}, // the stores of two calls
	}
	for _, tt := range tests {
		for _, backend := range []Backend{Step, QEMU, Valgrind} {
			if backend == Valgrind && !strings.HasSuffix(tt.program, "stripped") && !strings.HasSuffix(tt.program, "whole") ||
				backend == Valgrind && strings.ContainsAny(tt.region.Function, "-:") {
				continue // refused, see below
			}
			t.Run(tt.name+" "+string(backend), func(t *testing.T) {
				command := []string{filepath.Join(dir, tt.program), lib}
				rec := record(t, Options{Command: command, Region: tt.region, Backend: backend, Thread: FirstThread, Allocations: Unlogged})
				modifies := 0
				for _, r := range rec.Refs {
					if r.Op == refs.Modify && rec.Places[r.Place].Function == tt.in {
						modifies++
					}
				}
				if modifies != tt.modifies || tt.refs > 0 && len(rec.Refs) != tt.refs || rec.Exit != 0 {
					t.Errorf("%d modifies and %d references, want %d and %d; exit code %d, %q", modifies, len(rec.Refs), tt.modifies, tt.refs, rec.Exit, rec.Notes)
				}
			})
		}
	}
}

const threeThreads = `#include <pthread.h>
volatile long counters[64];
__attribute__((noinline)) void work(long i) { counters[8 * i] = 1; }
void *run(void *i) { for (int k = 0; k < 10; k++) work((long)i); return 0; }
int main(void)
{
	pthread_t all[3];
	for (long i = 0; i < 3; i++) pthread_create(&all[i], 0, run, (void *)i);
	for (int i = 0; i < 3; i++) pthread_join(all[i], 0);
	run((void *)3);
	return 0;
}
`

// Calls are counted for each thread by itself, by compiler hooks too.
func TestRegionsOfThreads(t *testing.T) {
	test.Peer(t, "qemu-x86_64", "qemu-user")
	dir := t.TempDir()
	source, exe, hooked := filepath.Join(dir, "threads.c"), filepath.Join(dir, "threads"), filepath.Join(dir, "hooked")
	if err := os.WriteFile(source, []byte(threeThreads), 0o666); err != nil {
		t.Fatal(err)
	}
	cc := test.Peer(t, "gcc", "gcc")
	if out, err := exec.Command(cc, "-g", "-O1", "-pthread", "-o", exe, source).CombinedOutput(); err != nil {
		t.Fatalf("compile: %v\n%s", err, out)
	}
	if err := Compile(t.Context(), []string{cc, "-O1", "-o", hooked, source}, os.Stderr, os.Stderr); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		backend Backend
		thread  int
		region  target.Region
		threads int // that are recorded
		each    int // calls
	}{
		{Step, AllThreads, target.Region{Function: "work", Skip: 2, Calls: 3}, 4, 3},
		{QEMU, AllThreads, target.Region{Function: "work", Skip: 2, Calls: 3}, 4, 3},
		{Instrument, AllThreads, target.Region{Function: "work", Skip: 2, Calls: 3}, 4, 3},
		{Step, AllThreads, target.Region{Function: "work"}, 4, 10},
		{QEMU, AllThreads, target.Region{Function: "work"}, 4, 10},
		{Instrument, AllThreads, target.Region{Function: "work"}, 4, 10},
		{Step, FirstThread, target.Region{Function: "work", Skip: 8, Calls: 9}, 1, 2},
		{QEMU, FirstThread, target.Region{Function: "work", Skip: 8, Calls: 9}, 1, 2},
		{Instrument, FirstThread, target.Region{Function: "work", Skip: 8, Calls: 9}, 1, 2},
		{Step, 0, target.Region{Function: "work", Skip: 1, Calls: 2}, 1, 2},
		{QEMU, 0, target.Region{Function: "work", Skip: 1, Calls: 2}, 1, 2},
		{Instrument, 0, target.Region{Function: "work", Skip: 1, Calls: 2}, 1, 2},
	} {
		t.Run(fmt.Sprintf("%s, thread %d, skip %d", tt.backend, tt.thread, tt.region.Skip), func(t *testing.T) {
			program := exe
			if tt.backend == Instrument {
				program = hooked
			}
			rec := record(t, Options{Command: []string{program}, Region: tt.region, Backend: tt.backend, Thread: tt.thread, Allocations: Unlogged})
			stores := map[uint32]int{}
			for _, r := range rec.Refs {
				if r.Op == refs.Store && rec.Places[r.Place].Function == "work" {
					stores[r.Thread]++
				}
			}
			for thread, n := range stores {
				if n != tt.each {
					t.Errorf("thread %d: %d stores, want %d", thread, n, tt.each)
				}
			}
			if len(stores) != tt.threads || rec.Exit != 0 {
				t.Errorf("%d threads %v, want %d; exit code %d, %q", len(stores), stores, tt.threads, rec.Exit, rec.Notes)
			}
		})
	}
}

// What cannot be recorded is refused with the reason.
func TestRegionsRefused(t *testing.T) {
	dir := regionPrograms(t)
	whole := filepath.Join(dir, "whole")
	for _, tt := range []struct {
		region  string
		backend Backend
		want    string
	}{
		{"ten.c:2", Step, "no code of that line; the next with code is 3"},
		{"other.c:2", Step, "no code of that file"},
		{"0x10-0x5", Step, "not the address"},
		{"libother.so:work", Step, "is not linked with libother.so"},
		{"memcpy", Step, "stands for one of several functions"},
		{"wrok", Step, `has no function "wrok"`},
		{"ten.c:5", Valgrind, "use --backend step or qemu"},
		{"libc.so.6:exit", Valgrind, "use --backend step or qemu"},
	} {
		_, err := Record(t.Context(), Options{Command: []string{whole}, Region: target.Region{Function: tt.region}, Backend: tt.backend, Thread: FirstThread})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s with %s: %v, want %q", tt.region, tt.backend, err, tt.want)
		}
	}
}
