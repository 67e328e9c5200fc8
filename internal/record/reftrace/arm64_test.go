//go:build linux

package reftrace

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/record/target"
)

// A bubble sort whose array is volatile: every access in the source is one in
// the program.
const sortProgram = `
volatile int a[6] = {5, 2, 6, 1, 4, 3};
__attribute__((noinline)) void sort(void)
{
	for (int end = 6; end > 1; end--)
		for (int i = 0; i + 1 < end; i++) {
			int left = a[i], right = a[i + 1];
			if (left > right) {
				a[i] = right;
				a[i + 1] = left;
			}
		}
}
int main(void) { sort(); return a[0] != 1; }
`

// A program for another architecture under its emulator: the accesses to the
// array are those that the source says, in that order.
func TestARM64UnderQEMU(t *testing.T) {
	gcc := test.Peer(t, "aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu")
	test.Peer(t, "qemu-aarch64", "qemu-user")
	dir := t.TempDir()
	source, exe := filepath.Join(dir, "sort.c"), filepath.Join(dir, "sort")
	if err := os.WriteFile(source, []byte(sortProgram), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"-O0", "-O2"} {
		if out, err := exec.Command(gcc, flag, "-g", "-static", "-o", exe, source).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		rec := record(t, Options{Command: []string{exe}, Region: target.Region{Function: "sort"}, Backend: QEMU, Thread: FirstThread})
		type access struct {
			op refs.Op
			at int
		}
		var want []access
		values := []int{5, 2, 6, 1, 4, 3}
		for end := 6; end > 1; end-- {
			for i := 0; i+1 < end; i++ {
				want = append(want, access{refs.Load, i}, access{refs.Load, i + 1})
				if values[i] > values[i+1] {
					want = append(want, access{refs.Store, i}, access{refs.Store, i + 1})
					values[i], values[i+1] = values[i+1], values[i]
				}
			}
		}
		base := arrayOf(t, exe)
		var got []access
		for _, r := range rec.Refs {
			if r.Addr >= base && r.Addr < base+24 {
				got = append(got, access{r.Op, int(r.Addr-base) / 4})
				if p := rec.Places[r.Place]; r.Size != 4 || p.Function != "sort" || p.Line == 0 {
					t.Errorf("%s: %+v in %+v", flag, r, p)
				}
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%s: %d accesses to the array, want %d", flag, len(got), len(want))
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%s: access %d is %v, want %v", flag, i, got[i], want[i])
			}
		}
	}
}

// arrayOf is where the program's array lies.
func arrayOf(t *testing.T, exe string) uint64 {
	t.Helper()
	e, err := elf.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	symbols, err := e.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if s.Name == "a" {
			return s.Value
		}
	}
	t.Fatal("the program has no array")
	return 0
}
