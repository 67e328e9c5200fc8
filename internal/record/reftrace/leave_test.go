//go:build linux && amd64

package reftrace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/record/target"
)

// Programs that leave functions in other ways than by their end. The region makes
// a known number of stores to table, and the code around it others to outside.
var leaving = map[string]struct {
	file, source string
	stores       int
}{
	"a jump over the callers in the region": {"over.c", `
#include <setjmp.h>
volatile int table[64], outside[64]; jmp_buf back;
__attribute__((noinline)) void deep(int n) { if (n == 0) longjmp(back, 1); deep(n - 1); table[0] = 1; }
__attribute__((noinline)) void work(void) {
	for (volatile int i = 0; i < 3; i++) if (!setjmp(back)) deep(5);
	for (int i = 0; i < 10; i++) table[i] = i;
}
int main(void) { work(); for (int i = 0; i < 50; i++) outside[i] = i; return 0; }
`, 10},
	"a jump out of the region": {"out.c", `
#include <setjmp.h>
volatile int table[64], outside[64]; jmp_buf back;
__attribute__((noinline)) void work(int n) { for (int i = 0; i < n; i++) table[i] = i; longjmp(back, 1); }
int main(void) {
	if (!setjmp(back)) work(10);
	for (int i = 0; i < 50; i++) outside[i] = i;
	return 0;
}
`, 10},
	"a jump out of the recursive region": {"recursive.c", `
#include <setjmp.h>
volatile int table[64], outside[64]; jmp_buf back;
__attribute__((noinline)) void work(int n) {
	if (n == 1) longjmp(back, 1);
	if (n == 3 && setjmp(back)) return;
	table[n] = n;
	if (n > 0) work(n - 1);
	table[n] = n;
}
int main(void) {
	work(6); /* 6 5 4 3 2, and 4 5 6 on the way back */
	for (int i = 0; i < 50; i++) outside[i] = i;
	return 0;
}
`, 8},
	"contexts that were begun before the region": {"contexts.c", `
#include <ucontext.h>
volatile int table[64], outside[64]; ucontext_t here, there; char stack[1 << 16];
__attribute__((noinline)) void step(void) { swapcontext(&there, &here); }
void generator(void) { step(); for (int i = 0; i < 5; i++) { table[i] = i; step(); } }
__attribute__((noinline)) void work(void) {
	for (int i = 0; i < 6; i++) swapcontext(&here, &there);
	for (int i = 0; i < 10; i++) table[i] = i;
}
int main(void) {
	getcontext(&there);
	there.uc_stack.ss_sp = stack; there.uc_stack.ss_size = sizeof stack; there.uc_link = &here;
	makecontext(&there, generator, 0);
	swapcontext(&here, &there);
	work();
	for (int i = 0; i < 50; i++) outside[i] = i;
	return 0;
}
`, 15},
	"an exception through the region": {"thrown.cpp", `
volatile int table[64], outside[64];
__attribute__((noinline)) void deep(int n) { if (n == 0) throw 1; deep(n - 1); table[0] = 1; }
__attribute__((noinline)) void work(int n) {
	try { deep(4); } catch (int) { for (int i = 0; i < n; i++) table[i] = i; }
	deep(3);
}
int main() {
	try { work(10); } catch (int) {}
	for (int i = 0; i < 50; i++) outside[i] = i;
	return 0;
}
`, 10},
}

// TestLeaving holds that a region ends where its function does, however functions
// in it are left.
func TestLeaving(t *testing.T) {
	for name, tt := range leaving {
		for _, level := range []string{"-O0", "-O2"} {
			t.Run(name+" "+level, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), tt.file)
				if err := os.WriteFile(file, []byte(tt.source), 0o666); err != nil {
					t.Fatal(err)
				}
				compiler := "gcc"
				if filepath.Ext(tt.file) == ".cpp" {
					compiler = "g++"
				}
				exe := hooked(t, compiler, compiler, level, "-g", file)
				rec := record(t, Options{Command: []string{exe}, Region: target.Region{Function: "work"}, Backend: Instrument, Thread: FirstThread})
				stores := map[string]int{}
				for _, r := range rec.Refs {
					if r.Op == refs.Store {
						stores[rec.Objects[r.Object].Name]++
					}
				}
				if stores["table"] != tt.stores || stores["outside"] != 0 {
					t.Errorf("%v, want %d of table and none outside", stores, tt.stores)
				}
			})
		}
	}
}
