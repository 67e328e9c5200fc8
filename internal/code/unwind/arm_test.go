package unwind

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/code/symbol"
)

// chainC prints, from the bottom of some calls, its registers, a copy of its
// stack, and the return addresses that the compiler's own unwinder finds. It
// runs on arm64, emulated, where no perf can record.
const chainC = `#include <stdio.h>
#include <string.h>
#include <unwind.h>
#define NOINLINE __attribute__((noinline))
static _Unwind_Reason_Code frame(struct _Unwind_Context *c, void *unused)
{
	(void)unused;
	printf("frame %lx\n", (unsigned long)_Unwind_GetIP(c));
	return _URC_NO_REASON;
}
static unsigned long regs[33];
static unsigned char copy[4096];
NOINLINE int bottom(int n)
{
	__asm__ volatile("mov x9, %0\n\t"
		"stp x0, x1, [x9, 0]\n\tstp x2, x3, [x9, 16]\n\tstp x4, x5, [x9, 32]\n\tstp x6, x7, [x9, 48]\n\t"
		"stp x19, x20, [x9, 152]\n\tstp x21, x22, [x9, 168]\n\tstp x23, x24, [x9, 184]\n\tstp x25, x26, [x9, 200]\n\t"
		"stp x27, x28, [x9, 216]\n\tstp x29, x30, [x9, 232]\n\tmov x10, sp\n\tadr x11, .\n\tstp x10, x11, [x9, 248]"
		: : "r"(regs) : "x9", "x10", "x11", "memory");
	memcpy(copy, (void *)regs[31], sizeof copy);
	_Unwind_Backtrace(frame, 0);
	for (int i = 0; i < 33; i++)
		printf("reg %d %lx\n", i, regs[i]);
	printf("stack ");
	for (unsigned i = 0; i < sizeof copy; i++)
		printf("%02x", copy[i]);
	printf("\n");
	return n;
}
NOINLINE int recurse(int n)
{
	volatile long pad[20];
	pad[n] = n;
	return (n ? recurse(n - 1) : bottom(n)) + (int)pad[n];
}
NOINLINE int variable(int n)
{
	volatile char *p = __builtin_alloca(n * 48 + 16);
	p[0] = n;
	return recurse(4) + p[0];
}
int main(int argc, char **argv)
{
	(void)argv;
	return variable(argc + 3) & 1;
}
`

// Chains of an arm64 program, with and without signed return addresses, equal
// those of the compiler's own unwinder.
func TestArmChains(t *testing.T) {
	gcc, qemu := test.Peer(t, "aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"), test.Peer(t, "qemu-aarch64", "qemu-user")
	for name, protection := range map[string]string{"plain": "none", "signed": "pac-ret", "signed leaves": "pac-ret+leaf"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			source, program := filepath.Join(dir, "chain.c"), filepath.Join(dir, "chain")
			if err := os.WriteFile(source, []byte(chainC), 0o666); err != nil {
				t.Fatal(err)
			}
			compile(t, gcc, program, source, "-static", "-mbranch-protection="+protection)
			out, err := exec.Command(qemu, "-cpu", "max", program).Output()
			if _, exited := err.(*exec.ExitError); err != nil && !exited {
				t.Fatal(err)
			}
			d := readDump(t, out)
			got, stop := d.unwind(t, program)
			// The reference begins in the function that asked, behind its call.
			want := d.frames[1:]
			if len(want) < 8 {
				t.Fatalf("only %d frames from the reference", len(want))
			}
			if stop != Complete || len(got) != len(want)+1 && len(got) != len(want) {
				t.Fatalf("%d callers ending in %d, reference %d: %+v, %x", len(got)-1, stop, len(want), got, want)
			}
			for i, pc := range want[:len(got)-1] {
				if got[i+1].PC != pc {
					t.Errorf("caller %d is at %#x, want %#x", i, got[i+1].PC, pc)
				}
			}
			if signed := d.signed(); signed != (protection != "none") {
				t.Errorf("signed return addresses on the stack: %v", signed)
			}
		})
	}
}

// dump is what chainC prints.
type dump struct {
	regs   [33]uint64
	stack  []byte
	frames []uint64
}

func readDump(t *testing.T, out []byte) *dump {
	d := &dump{}
	scan := bufio.NewScanner(bytes.NewReader(out))
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		words := strings.Fields(scan.Text())
		switch words[0] {
		case "frame":
			d.frames = append(d.frames, hexNumber(t, words[1]))
		case "reg":
			n, err := strconv.Atoi(words[1])
			if err != nil {
				t.Fatal(err)
			}
			d.regs[n] = hexNumber(t, words[2])
		case "stack":
			var err error
			if d.stack, err = hex.DecodeString(words[1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	return d
}

func hexNumber(t *testing.T, s string) uint64 {
	n, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// unwind unwinds the dump over the mappings of a program at its own addresses.
func (d *dump) unwind(t *testing.T, program string) ([]Caller, Stop) {
	space := &symbol.Space{}
	b, err := symbol.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	low, high, err := b.Function("main")
	if err != nil {
		t.Fatal(err)
	}
	// The first segment holds all code of a static program and begins the file.
	base := low &^ 0xffff
	for !b.Contains(base) || base > 0x400000 {
		base -= 0x10000
		if base == 0 {
			t.Fatalf("main at %#x–%#x is in no segment", low, high)
		}
	}
	space.Map(1, 0, symbol.Mapping{Start: base, End: base + 1<<24, Path: program, Exec: true})
	view := space.History().At(1, 0)
	u := New(&symbol.Files{}, "aarch64")
	s := &Sample{Stack: d.stack, Order: binary.LittleEndian, Register: func(bit int) (uint64, bool) {
		if bit > 32 {
			return 0, false
		}
		return d.regs[bit], true
	}}
	frames, stop := u.Unwind(s, view.Find, 100)
	return append([]Caller(nil), frames...), stop
}

// signed reports whether the stack holds one of the return addresses with
// something in its upper bits.
func (d *dump) signed() bool {
	for at := 0; at+8 <= len(d.stack); at += 8 {
		v := binary.LittleEndian.Uint64(d.stack[at:])
		for _, pc := range d.frames {
			if v != pc && v&userAddress == pc {
				return true
			}
		}
	}
	return false
}
