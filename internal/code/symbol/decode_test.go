package symbol

import (
	"debug/elf"
	"fmt"
	"strings"
	"testing"
)

const kernelC = `
void axpy(double *restrict y, const double *restrict x, double a, int n)
{
	for (int i = 0; i < n; i++)
		y[i] += a * x[i];
}
int main(int argc, char **argv)
{
	static double x[100], y[100];
	axpy(y, x, argc, 100);
	return (int)y[argc];
}
`

// TestDisassemble compares lengths and mnemonics with objdump.
func TestDisassemble(t *testing.T) {
	for _, flags := range [][]string{{"-O0"}, {"-O2"}, {"-O3", "-mavx2", "-mfma"}, {"-O3", "-mavx512f"}} {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			program := compile(t, "kernel.c", kernelC, append(flags, "-g", "-no-pie")...)
			b, err := Open(program)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			low, high, err := b.Function("axpy")
			if err != nil {
				t.Fatal(err)
			}
			ours, err := b.Disassemble(low, high, 10_000)
			if err != nil {
				t.Fatal(err)
			}
			theirs := tool(t, "", "objdump", "-d", "--no-show-raw-insn", "-M", "suffix",
				fmt.Sprintf("--start-address=%#x", low), fmt.Sprintf("--stop-address=%#x", high), program)
			i := 0
			for line := range strings.Lines(theirs) {
				var addr uint64
				at, text, ok := strings.Cut(strings.TrimSpace(line), ":\t")
				if n, _ := fmt.Sscanf(at, "%x", &addr); !ok || n != 1 {
					continue
				}
				if i == len(ours) {
					t.Fatalf("%d instructions, objdump has more", len(ours))
				}
				if ours[i].Addr != addr {
					t.Fatalf("instruction %d is at %#x, want %#x (%s)", i, ours[i].Addr, addr, text)
				}
				want, operands, _ := strings.Cut(strings.TrimSpace(text), " ")
				if got, _, _ := strings.Cut(ours[i].Text, " "); !sameMnemonic(got, want) {
					t.Errorf("%#x: %q, want %q", addr, ours[i].Text, text)
				}
				if memory := strings.Contains(operands, "(") && !strings.HasPrefix(want, "lea") && !strings.HasPrefix(want, "nop"); memory && !ours[i].Load && !ours[i].Store {
					t.Errorf("%#x: %q accesses no memory", addr, text)
				}
				i++
			}
			if i != len(ours) || i < 5 {
				t.Errorf("%d instructions, objdump has %d", len(ours), i)
			}
		})
	}
}

// sameMnemonic allows for suffixes and other names of the same conditions.
func sameMnemonic(got, want string) bool {
	other := map[string]string{"jnz": "jne", "jz": "je", "jnl": "jge", "jnle": "jg", "jnb": "jae", "jnbe": "ja", "cdqe": "cltq", "movsxd": "movslq", "data16": "nop", "cs": "nop"}
	if o := other[got]; o != "" {
		got = o
	}
	if o := other[want]; o != "" {
		want = o
	}
	trim := func(s string) string { return strings.TrimRight(s, "bwlqxyz") }
	return got == want || trim(got) == trim(want)
}

func TestAccess(t *testing.T) {
	for _, tt := range []struct {
		machine     string
		code        string
		load, store bool
		width       int
		op          string
	}{
		{"x86", "\xf2\x0f\x10\x04\xc7", true, false, 8, "movsd_xmm"},
		{"x86", "\xf2\x0f\x11\x04\xc7", false, true, 8, "movsd_xmm"},
		{"x86", "\x48\x8b\x04\xcf", true, false, 8, "mov"},
		{"x86", "\x88\x07", false, true, 1, "mov"},
		{"x86", "\x48\x83\x07\x01", true, true, 8, "add"},
		{"x86", "\x48\x39\x07", true, false, 8, "cmp"},
		{"x86", "\x48\x8d\x04\xcf", false, false, 0, "lea"},
		{"x86", "\x48\x01\xc8", false, false, 0, "add"},
		{"x86", "\xc5\xfd\x28\x04\x08", true, false, 32, "vmovapd"},
		{"x86", "\xc5\xfb\x11\x04\xc7", false, true, 8, "vmovsd"},
		{"x86", "\x55", false, true, 8, "push"},
		{"x86", "\xf3\x0f\x1e\xfa", false, false, 0, "endbr64"},
		{"x86", "\xc5\xf8\x77\x90\x90", false, false, 0, "vzeroupper"},
		{"arm", "\x20\x00\x40\xf9", true, false, 8, "ldr"},  // ldr x0, [x1]
		{"arm", "\x20\x00\x00\xb9", false, true, 4, "str"},  // str w0, [x1]
		{"arm", "\x20\x00\x40\x39", true, false, 1, "ldrb"}, // ldrb w0, [x1]
		{"arm", "\xfd\x7b\xbf\xa9", false, true, 16, "stp"}, // stp x29, x30, [sp, #-16]!
		{"arm", "\x20\x00\xc0\x3d", true, false, 16, "ldr"}, // ldr q0, [x1]
		{"arm", "\x20\x00\x02\x8b", false, false, 0, "add"},
	} {
		in := decode(machines[tt.machine], []byte(tt.code), 0x1000)
		if in.Load != tt.load || in.Store != tt.store || in.Width != tt.width || in.Op != tt.op {
			t.Errorf("%s %x: %+v, want load %v store %v width %d %s", tt.machine, tt.code, in, tt.load, tt.store, tt.width, tt.op)
		}
	}
}

var machines = map[string]elf.Machine{"x86": elf.EM_X86_64, "arm": elf.EM_AARCH64}
