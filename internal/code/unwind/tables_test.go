package unwind

import (
	"bufio"
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/code/symbol"
)

// registerNumber reads the name of a register as readelf prints it; -1 if no
// rule of a frame depends on it.
func registerNumber(m elf.Machine, name string) int {
	if m == elf.EM_AARCH64 {
		switch {
		case name == "sp":
			return 31
		case name == "ra":
			return 30
		case strings.HasPrefix(name, "x"):
			n, err := strconv.Atoi(name[1:])
			if err == nil && n < 31 {
				return n
			}
		}
		return -1
	}
	return slices.Index(x86Names, name)
}

var x86Names = []string{"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "ra"}

// spell writes a rule as readelf does.
func spell(r *row, register int) string {
	for _, n := range r.rules {
		if n.register != register {
			continue
		}
		switch n.kind {
		case saved:
			return fmt.Sprintf("c%+d", n.n)
		case offset:
			return fmt.Sprintf("v%+d", n.n)
		case savedBy:
			return "exp"
		case computed:
			return "vexp"
		case undefined:
			return "u"
		case moved:
			return fmt.Sprintf("r%d", n.reg)
		}
	}
	return "u" // readelf does not tell unknown from unchanged
}

func spellCFA(m elf.Machine, r *row) string {
	if r.cfa.kind == computed {
		return "exp"
	}
	names := x86Names
	if m == elf.EM_AARCH64 {
		names = []string{31: "sp"}
		for i := range 31 {
			names[i] = fmt.Sprintf("x%d", i)
		}
	}
	return fmt.Sprintf("%s%+d", names[r.cfa.reg], r.cfa.n)
}

const plainC = `
__attribute__((noinline)) int g(int *p) { volatile char a[100]; a[*p] = 1; return a[0]; }
__attribute__((noinline)) int f(int *p) { int a = g(p); return a + g(p) + *p; }
int main(int n, char **v) { return f(&n); }
`

// checkRows compares the rules of a file with what readelf prints and returns
// how many rows there were.
func checkRows(t *testing.T, readelf, path string) int {
	t.Helper()
	b, err := symbol.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	tables, err := NewTables(b)
	if err != nil {
		t.Fatal(err)
	}
	// It fails where a debug file is not installed, after printing all.
	out, err := exec.Command(readelf, "-wFN", path).Output()
	if len(out) == 0 {
		t.Fatal(err)
	}
	var header []string
	rows, wrong := 0, 0
	var high uint64 // of the function that rows are about
	for scan := bufio.NewScanner(bytes.NewReader(out)); scan.Scan(); {
		words := strings.Fields(scan.Text())
		switch {
		case len(words) < 2, words[1] == "ZERO": // the end of a table
		case strings.Contains(scan.Text(), " CIE "):
			high = 0
		case strings.Contains(scan.Text(), " FDE "):
			_, end, _ := strings.Cut(scan.Text(), "..")
			if high, err = strconv.ParseUint(end, 16, 64); err != nil {
				t.Fatal(err)
			}
		case words[0] == "LOC":
			header = words
		case len(words) == len(header):
			pc, err := strconv.ParseUint(words[0], 16, 64)
			if err != nil || pc >= high {
				continue // a row of no instruction
			}
			rows++
			r := tables.row(pc)
			if r == nil {
				wrong++
				t.Errorf("no rules at %#x", pc)
				break
			}
			if got := spellCFA(b.Machine(), r); got != words[1] {
				wrong++
				t.Errorf("%#x: frame at %s, readelf says %s", pc, got, words[1])
			}
			for i, name := range header[2:] {
				n := registerNumber(b.Machine(), name)
				if want := words[2+i]; n >= 0 && spell(r, n) != want && (want != "s" || spell(r, n) != "u") {
					wrong++
					t.Errorf("%#x: %s is %s, readelf says %s", pc, name, spell(r, n), want)
				}
			}
		}
		if wrong > 10 {
			t.Fatal("and more")
		}
	}
	return rows
}

// The rules of every function of real programs equal those of readelf.
func TestRowsEqualReadelf(t *testing.T) {
	readelf := test.Peer(t, "readelf", "binutils")
	dir := t.TempDir()
	source := filepath.Join(dir, "signed.c")
	if err := os.WriteFile(source, []byte(chainC), 0o666); err != nil {
		t.Fatal(err)
	}
	arm := test.Peer(t, "aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu")
	signed := filepath.Join(dir, "signed")
	compile(t, arm, signed, source, "-mbranch-protection=pac-ret")
	// The same functions without .eh_frame: the tables for debuggers alone.
	debug := filepath.Join(dir, "debug")
	gcc := test.Peer(t, "gcc", "gcc")
	if err := os.WriteFile(filepath.Join(dir, "plain.c"), []byte(plainC), 0o666); err != nil {
		t.Fatal(err)
	}
	compile(t, gcc, debug, filepath.Join(dir, "plain.c"), "-fno-asynchronous-unwind-tables", "-fno-unwind-tables")
	libc, err := filepath.Glob("/lib/x86_64-linux-gnu/libc.so.6")
	if err != nil || len(libc) == 0 {
		t.Skip("no C library of x86-64 here")
	}
	for path, least := range map[string]int{libc[0]: 10000, "/usr/aarch64-linux-gnu/lib/libc.so.6": 5000, signed: 10, debug: 3} {
		t.Run(filepath.Base(filepath.Dir(path))+" "+filepath.Base(path), func(t *testing.T) {
			rows := checkRows(t, readelf, path)
			if rows < least {
				t.Errorf("%d rows, want at least %d", rows, least)
			}
		})
	}
}

// Files without an index, and without section headers, give the same rules.
func TestRowsWithoutIndexOrSections(t *testing.T) {
	gcc, objcopy := test.Peer(t, "gcc", "gcc"), test.Peer(t, "objcopy", "binutils")
	dir := t.TempDir()
	source, program := filepath.Join(dir, "a.c"), filepath.Join(dir, "program")
	if err := os.WriteFile(source, []byte(plainC), 0o666); err != nil {
		t.Fatal(err)
	}
	compile(t, gcc, program, source)
	bare := filepath.Join(dir, "bare")
	if out, err := exec.Command(objcopy, "--strip-all", "--strip-section-headers", program, bare).CombinedOutput(); err != nil {
		// Binutils before 2.41 cannot: blank the header's reference to them.
		whole, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err, out)
		}
		copy(whole[40:48], make([]byte, 8)) // e_shoff
		copy(whole[60:64], make([]byte, 4)) // e_shnum, e_shstrndx
		if err := os.WriteFile(bare, whole, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	want, entry := tablesOf(t, program)
	got, _ := tablesOf(t, bare)
	scanned, _ := tablesOf(t, program)
	if want.frames[0].index == nil || got.frames[0].index == nil {
		t.Fatal("the index was not used")
	}
	scanned.frames[0].index = nil
	scanned.frames[0].scan()
	found := 0
	for pc := entry; pc < entry+0x400; pc++ {
		a, b, c := want.row(pc), got.row(pc), scanned.row(pc)
		if (a == nil) != (b == nil) || (a == nil) != (c == nil) {
			t.Fatalf("%#x: rules %v, without sections %v, without index %v", pc, a, b, c)
		}
		if a != nil {
			found++
			if fmt.Sprint(*a) != fmt.Sprint(*b) || fmt.Sprint(*a) != fmt.Sprint(*c) {
				t.Fatalf("%#x: rules %v, without sections %v, without index %v", pc, a, b, c)
			}
		}
	}
	if found < 20 {
		t.Errorf("rules at %d addresses", found)
	}
}

func tablesOf(t *testing.T, path string) (*Tables, uint64) {
	t.Helper()
	b, err := symbol.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	tables, err := NewTables(b)
	if err != nil {
		t.Fatal(err)
	}
	return tables, b.Entry()
}

func compile(t *testing.T, cc, out, source string, args ...string) {
	t.Helper()
	args = append([]string{"-O2", "-g", "-fomit-frame-pointer", source, "-o", out}, args...)
	if text, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cc, err, text)
	}
}
