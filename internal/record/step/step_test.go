//go:build linux && amd64

package step

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/record/target"
)

// compile builds a program from source texts or files.
func compile(t testing.TB, flags []string, sources ...string) *target.Program {
	t.Helper()
	cc := test.Peer(t, "c++", "g++")
	dir := t.TempDir()
	exe := filepath.Join(dir, "program")
	args := append([]string{"-g", "-o", exe}, flags...)
	for _, s := range sources {
		if strings.Contains(s, "\n") {
			file := filepath.Join(dir, "source.cpp")
			if err := os.WriteFile(file, []byte(s), 0o666); err != nil {
				t.Fatal(err)
			}
			s = file
		}
		args = append(args, s)
	}
	if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		t.Fatalf("compile: %v\n%s", err, out)
	}
	p, err := target.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func record(t testing.TB, p *target.Program, region target.Region, change func(*Options), args ...string) ([]refs.Ref, *Result) {
	t.Helper()
	b, err := p.Resolve(region)
	if err != nil {
		t.Fatal(err)
	}
	var all []refs.Ref
	o := Options{Program: p, Args: args, Bounds: b, Thread: FirstThread, Emit: func(r refs.Ref) { all = append(all, r) }}
	if change != nil {
		change(&o)
	}
	res, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return all, res
}

func TestSharedPrograms(t *testing.T) {
	dir := test.Fixture(t, "refs/programs")
	p := compile(t, []string{"-O0"}, filepath.Join(dir, "bubble_vector.cpp"), filepath.Join(dir, "roi.cpp"))
	all, res := record(t, p, target.Region{Begin: "roi_begin", End: "roi_end"}, nil, "5", "4", "3", "2", "1")
	n := map[refs.Op]int{}
	for _, r := range all {
		n[r.Op]++
	}
	t.Logf("%d refs %v, %+v", len(all), n, res.Instructions)
	if len(all) != 1068 || n[refs.Load] != 653 || n[refs.Store] != 401 || n[refs.Modify] != 14 {
		t.Errorf("%d references %v, want 1068: 653 loads, 401 stores, 14 modifies", len(all), n)
	}
}

// BenchmarkStep counts instructions a second on the matrix product of twelve.
func BenchmarkStep(b *testing.B) {
	dir := test.Fixture(b, "refs/programs")
	p := compile(b, []string{"-O0"}, filepath.Join(dir, "matmul12.cpp"), filepath.Join(dir, "roi.cpp"))
	n := uint64(0)
	for b.Loop() {
		_, res := record(b, p, target.Region{Begin: "roi_begin", End: "roi_end"}, nil)
		n += res.Instructions
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "instructions/s")
}

// mini is a program whose accesses are known by construction. Each case is one
// function of assembly; what it touches is printed by the program itself.
const mini = `
#include <cstdio>
#include <cstring>
#include <cstdlib>
#include <csignal>
#include <unistd.h>
#include <sys/wait.h>
#include <pthread.h>
alignas(64) char a[4096], b[4096];
extern "C" {
__attribute__((noinline)) void moves() { asm volatile("lea a(%%rip), %%rsi; lea b(%%rip), %%rdi; mov $5, %%ecx; rep movsb; mov $2, %%ecx; rep stosq; xor %%ecx, %%ecx; rep movsq; lodsl" ::: "rsi","rdi","rcx","rax","memory"); }
__attribute__((noinline)) void stack() { asm volatile("push %%rbx; pushfq; popfq; push a(%%rip); pop b(%%rip); pop %%rbx; lock addl $1, b+8(%%rip); btsq %0, b(%%rip)" :: "r"(130L) : "memory","cc"); }
__attribute__((noinline)) void thread_part(long n) { for (volatile long i = 0; i < n; i++) a[64 + i]++; }
__attribute__((noinline)) void tail() { asm volatile("mov %%fs:0x28, %%rax; movups a(%%rip), %%xmm0; movups %%xmm0, b(%%rip); xchg %%eax, a+4(%%rip)" ::: "rax","xmm0","memory"); }
int depth(int n) { return n == 0 ? 0 : 1 + depth(n - 1); }
volatile int handled;
void on_signal(int) { handled = handled + 1; a[7]++; }
__attribute__((noinline)) void interrupted() { raise(SIGUSR1); b[3]++; }
__attribute__((noinline)) void forks() { pid_t p = fork(); if (p == 0) { depth(2); _exit(3); } int st; waitpid(p, &st, 0); if (!WIFEXITED(st) || WEXITSTATUS(st) != 3) abort(); }
}
static void *worker(void *n) { for (int i = 0; i < 50; i++) { thread_part((long)n); if (!handled) usleep(200); else break; } return nullptr; }
int main(int argc, char **argv) {
	const char *what = argv[1];
	printf("%p %p\n", (void *)a, (void *)b); fflush(stdout);
	if (!strcmp(what, "moves")) moves();
	if (!strcmp(what, "stack")) stack();
	if (!strcmp(what, "tail")) tail();
	if (!strcmp(what, "depth")) depth(3);
	if (!strcmp(what, "signal")) { signal(SIGUSR1, on_signal); interrupted(); return handled == 1 ? 0 : 9; }
	if (!strcmp(what, "fork")) { forks(); return 5; }
	if (!strcmp(what, "crash")) { moves(); abort(); }
	if (!strcmp(what, "threads")) {
		pthread_t t[3];
		for (long i = 0; i < 3; i++) pthread_create(&t[i], nullptr, worker, (void *)(i + 1));
		for (int i = 0; i < 3; i++) pthread_join(t[i], nullptr);
	}
	return 0;
}
`

// seen is a reference with its address relative to a, b or the stack.
type seen struct {
	op   refs.Op
	name string
	off  int64
	size uint32
}

func place(p *target.Program, bias uint64, r refs.Ref) seen {
	for _, name := range []string{"a", "b"} {
		at := objectAddr(p, name) + bias
		if r.Addr-at < 4096 {
			return seen{r.Op, name, int64(r.Addr - at), r.Size}
		}
	}
	return seen{r.Op, "stack", 0, r.Size}
}

func objectAddr(p *target.Program, name string) uint64 {
	f, err := elf.Open(p.Path)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	syms, _ := f.Symbols()
	for _, s := range syms {
		if s.Name == name {
			return s.Value
		}
	}
	panic("no object " + name)
}

func TestKnownAccesses(t *testing.T) {
	p := compile(t, []string{"-O1", "-fno-stack-protector", "-fcf-protection=full"}, mini)
	const L, S, M = refs.Load, refs.Store, refs.Modify
	tests := map[string][]seen{
		"moves": {{L, "a", 0, 1}, {S, "b", 0, 1}, {L, "a", 1, 1}, {S, "b", 1, 1}, {L, "a", 2, 1}, {S, "b", 2, 1}, {L, "a", 3, 1}, {S, "b", 3, 1},
			{L, "a", 4, 1}, {S, "b", 4, 1}, {S, "b", 5, 8}, {S, "b", 13, 8}, {L, "a", 5, 4}, {L, "stack", 0, 8}},
		"stack": {{S, "stack", 0, 8}, {S, "stack", 0, 8}, {L, "stack", 0, 8}, {L, "a", 0, 8}, {S, "stack", 0, 8}, {L, "stack", 0, 8}, {S, "b", 0, 8},
			{L, "stack", 0, 8}, {M, "b", 8, 4}, {M, "b", 16, 8}, {L, "stack", 0, 8}},
		"tail": {{L, "stack", 0, 8}, {L, "a", 0, 16}, {S, "b", 0, 16}, {M, "a", 4, 4}, {L, "stack", 0, 8}},
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			all, res := record(t, p, target.Region{Function: name}, nil, name)
			var got []seen
			for _, r := range all {
				got = append(got, place(p, res.Bias, r))
			}
			if d := cmp.Diff(want, got, cmp.AllowUnexported(seen{})); d != "" {
				t.Error(d)
			}
			if !res.Entered || !res.Left || res.Full || res.Exit != 0 || res.Unknown != 0 {
				t.Errorf("%+v", res)
			}
		})
	}
}

// A recursive function is one region from its first entry to its last return.
func TestRecursion(t *testing.T) {
	p := compile(t, []string{"-O0", "-fcf-protection=none"}, mini)
	all, res := record(t, p, target.Region{Function: "depth"}, nil, "depth")
	rets := 0
	top := uint64(0)
	for _, r := range all {
		top = max(top, r.Addr)
	}
	for i, r := range all {
		if r.Addr == top && r.Op == refs.Load && i == len(all)-1 {
			rets++
		}
	}
	if rets != 1 || !res.Left {
		t.Errorf("the last reference is not the return of the first call: %d, %+v", len(all), res)
	}
}

// A handler runs inside the region; the interrupted function still ends it.
func TestSignal(t *testing.T) {
	p := compile(t, []string{"-O0"}, mini)
	all, res := record(t, p, target.Region{Function: "interrupted"}, nil, "signal")
	var touched []seen
	for _, r := range all {
		if s := place(p, res.Bias, r); s.name != "stack" && s.op != refs.Load {
			touched = append(touched, s)
		}
	}
	want := []seen{{refs.Store, "a", 7, 1}, {refs.Store, "b", 3, 1}}
	if d := cmp.Diff(want, touched, cmp.AllowUnexported(seen{})); d != "" || res.Exit != 0 || !res.Left {
		t.Errorf("exit %d, left %v: %s", res.Exit, res.Left, d)
	}
}

// A child process has no breakpoints left in it and its parent's code is
// returned; a crash is told.
func TestChildrenAndCrash(t *testing.T) {
	p := compile(t, []string{"-O0"}, mini)
	if _, res := record(t, p, target.Region{Function: "depth"}, nil, "fork"); res.Exit != 5 || res.Entered {
		t.Errorf("fork: %+v", res)
	}
	if _, res := record(t, p, target.Region{Function: "forks"}, nil, "fork"); res.Exit != 5 || !res.Left {
		t.Errorf("fork inside the region: %+v", res)
	}
	if _, res := record(t, p, target.Region{Function: "moves"}, nil, "crash"); res.Exit != 134 || res.Signal != "aborted" || !res.Left {
		t.Errorf("crash: %+v", res)
	}
}

func TestLimit(t *testing.T) {
	p := compile(t, []string{"-O0"}, mini)
	all, res := record(t, p, target.Region{Function: "main"}, func(o *Options) { o.Limit = 5 }, "moves")
	if len(all) != 5 || !res.Full || res.Exit != 0 {
		t.Errorf("%d references, %+v", len(all), res)
	}
}

func TestThreads(t *testing.T) {
	p := compile(t, []string{"-O0", "-pthread"}, mini)
	count := func(all []refs.Ref, bias uint64) map[uint32]int {
		n := map[uint32]int{}
		for _, r := range all {
			if s := place(p, bias, r); s.name == "a" && s.op != refs.Load {
				n[r.Thread]++
			}
		}
		return n
	}
	t.Run("first", func(t *testing.T) {
		all, res := record(t, p, target.Region{Function: "thread_part"}, nil, "threads")
		if n := count(all, res.Bias); len(n) != 1 || res.Exit != 0 {
			t.Errorf("threads %v, %+v", n, res)
		}
	})
	t.Run("second", func(t *testing.T) {
		all, res := record(t, p, target.Region{Function: "thread_part"}, func(o *Options) { o.Thread = 2 }, "threads")
		n := count(all, res.Bias)
		for _, k := range n {
			if len(n) != 1 || k != 2 { // the second worker touches two bytes
				t.Errorf("threads %v, %+v", n, res)
			}
		}
		if len(n) != 1 {
			t.Errorf("threads %v, %+v", n, res)
		}
	})
	t.Run("all", func(t *testing.T) {
		all, res := record(t, p, target.Region{Function: "thread_part"}, func(o *Options) { o.Thread = AllThreads }, "threads")
		if n := count(all, res.Bias); len(n) != 3 || res.Exit != 0 {
			t.Errorf("threads %v, %+v", n, res)
		}
	})
}

const gathers = `
#include <immintrin.h>
#include <cstring>
alignas(64) double a[512]; alignas(64) double b[512];
extern "C" {
__attribute__((noinline, target("avx2"))) void gather() {
	asm volatile("vpcmpeqd %%xmm3,%%xmm3,%%xmm3; vpslldq $8,%%xmm3,%%xmm3; vinserti128 $1,%%xmm3,%%ymm3,%%ymm3;"
		"vmovdqu %0,%%xmm2; lea a(%%rip),%%rax; vgatherdpd %%ymm3,8(%%rax,%%xmm2,8),%%ymm1; vzeroupper" :: "m"(*(const int (*)[4])&a[500]) : "rax", "memory");
}
__attribute__((noinline)) void masked() {
	asm volatile("mov $0x65,%%eax; kmovd %%eax,%%k1; vmovupd a(%%rip),%%zmm17; vmovupd %%zmm17,b(%%rip)%{%%k1%}; vzeroupper" ::: "rax", "memory");
}
}
int main(int, char **argv) {
	int index[4] = {0, 3, 5, 9};
	memcpy(&a[500], index, sizeof index);
	if (!strcmp(argv[1], "gather")) gather(); else masked();
}
`

// Gathers and masked stores on the processor at hand: what is read from its
// vector registers decides which elements are touched.
func TestVectorRegisters(t *testing.T) {
	flags, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Skip("no /proc/cpuinfo")
	}
	p := compile(t, []string{"-O1", "-fcf-protection=none"}, gathers)
	const L, S = refs.Load, refs.Store
	for _, tt := range []struct {
		name, needs string
		want        []seen
	}{
		// The mask selects the second and fourth element: indices 3 and 9.
		{"gather", " avx2 ", []seen{{L, "a", 4000, 16}, {L, "a", 32, 8}, {L, "a", 80, 8}, {L, "stack", 0, 8}}},
		{"masked", " avx512bw ", []seen{{L, "a", 0, 64}, {S, "b", 0, 8}, {S, "b", 16, 8}, {S, "b", 40, 16}, {L, "stack", 0, 8}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if !strings.Contains(string(flags), tt.needs) {
				t.Skipf("this processor has no%s", tt.needs)
			}
			all, res := record(t, p, target.Region{Function: tt.name}, nil, tt.name)
			var got []seen
			for _, r := range all {
				got = append(got, place(p, res.Bias, r))
			}
			if d := cmp.Diff(tt.want, got, cmp.AllowUnexported(seen{})); d != "" || res.Unknown != 0 {
				t.Errorf("%d unknown: %s", res.Unknown, d)
			}
		})
	}
}
