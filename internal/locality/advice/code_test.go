//go:build linux && amd64

package advice

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/locality/layout"
	"github.com/isobath/isobath/internal/locality/replay"
)

// manyKinds has a field of every kind that C lays out in its own way.
const manyKinds = `#include <stdbool.h>
#include <stdint.h>
#include <complex.h>
struct vec { double x, y, z; };
enum color { red, green };
union both { double d; char text[12]; };
typedef struct { short a, b; } pair;
struct kinds {
	char c;
	double d;
	bool yes;
	struct vec at;
	char name[13];
	enum color color;
	void *next;
	long double wide;
	float f[3];
	union both u;
	pair two;
	double complex z;
	short m[3][20];
	int (*call)(int);
	struct { char p; int q; } inner;
	uint16_t last;
};
`

// TestPrintedStructures compiles structures as advice prints them, and asks the
// compiler where their members lie.
func TestPrintedStructures(t *testing.T) {
	gcc := test.Peer(t, "gcc", "gcc")
	dir := t.TempDir()
	source, exe := filepath.Join(dir, "kinds.c"), filepath.Join(dir, "kinds")
	compile := func(text string, flags ...string) {
		t.Helper()
		if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(gcc, append(flags, "-g", source)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s\n%s", err, out, text)
		}
	}
	compile(manyKinds+"struct kinds table[1000];\nint main(void) { return table[7].c; }\n", "-no-pie", "-o", exe)
	program, err := symbol.OpenProgram(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	given, err := layout.ReadGiven(strings.NewReader("object \"table\" is struct kinds\n"))
	if err != nil {
		t.Fatal(err)
	}
	table := layout.NewTable(&refs.About{Objects: []refs.Object{{}, {Name: "table", Start: 0x500000}}}, given, program)
	o := table.Objects[table.Number(&refs.Ref{Addr: 0x500000, Object: 1})]
	if len(o.Fields) < 18 {
		t.Fatalf("%+v", o)
	}
	for _, order := range orders(len(o.Fields)) {
		at, size := structOf(o, order)
		text := structCode(o, "new", order, at, size)
		asserts := strings.Builder{}
		fmt.Fprintf(&asserts, "#include <stddef.h>\n_Static_assert(sizeof(struct kinds_new) == %d, \"size\");\n", size)
		n := 0
		for _, m := range regexp.MustCompile(`(\w+)(?:\[\d+\])*; // (\d+)\n`).FindAllStringSubmatch(text, -1) {
			fmt.Fprintf(&asserts, "_Static_assert(offsetof(struct kinds_new, %s) == %s, \"%s\");\n", m[1], m[2], m[1])
			n++
		}
		if n < 16 {
			t.Fatalf("%d members in\n%s", n, text)
		}
		compile(manyKinds+text+asserts.String(), "-fsyntax-only")
	}
}

// orders are the fields as they are, backwards, and shuffled.
func orders(n int) (out [][]int) {
	forward, backward, odd := []int{}, []int{}, []int{}
	for i := range n {
		forward, backward = append(forward, i), append(backward, n-1-i)
		odd = append(odd, i*7%n)
	}
	if n%7 == 0 {
		return [][]int{forward, backward}
	}
	return [][]int{forward, backward, odd}
}

// TestArraysStayArrays holds that a small array whose elements are fields of
// their own is declared as one where all of it stays together.
func TestArraysStayArrays(t *testing.T) {
	o := &layout.Object{Name: "p", Elem: 32, Known: layout.ByType, Type: "body", Fields: []layout.Field{
		{Name: "v[0]", Offset: 0, Size: 8, Type: "double", Align: 8}, {Name: "v[1]", Offset: 8, Size: 8, Type: "double", Align: 8},
		{Name: "id", Offset: 16, Size: 8, Type: "long", Align: 8}, {Name: "w[0]", Offset: 24, Size: 4, Type: "float", Align: 4}, {Name: "w[1]", Offset: 28, Size: 4, Type: "float", Align: 4}}}
	for _, tt := range []struct {
		order []int
		want  string
	}{
		{[]int{2, 0, 1, 3, 4}, "struct body { // 32 bytes, 2 a line\n\tlong id; // 0\n\tdouble v[2]; // 8\n\tfloat w[2]; // 24\n};\n"},
		{[]int{0, 3, 4, 1, 2}, "struct body { // 32 bytes, 2 a line\n\tdouble v_0; // 0\n\tfloat w[2]; // 8\n\tdouble v_1; // 16\n\tlong id; // 24\n};\n"},
	} {
		at, size := structOf(o, tt.order)
		if got := structCode(o, "", tt.order, at, size); got != tt.want {
			t.Errorf("got\n%swant\n%s", got, tt.want)
		}
	}
}

// fortranBodies holds its elements in an allocatable array.
const fortranBodies = `module m
  type body
    real(8) :: x, v(3)
    character(len=13) :: name
    integer :: kind
  end type
  type(body), allocatable :: b(:)
end module
program p
  use m
  allocate(b(10))
  b(3)%kind = 1
  print *, b(3)%kind
end program
`

// TestFortranStructures: the elements of an allocatable array have their type, and
// what advice prints of them is Fortran.
func TestFortranStructures(t *testing.T) {
	gfortran := test.Peer(t, "gfortran", "gfortran")
	dir := t.TempDir()
	source, exe := filepath.Join(dir, "bodies.f90"), filepath.Join(dir, "bodies")
	compile := func(text string, flags ...string) {
		t.Helper()
		if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(gfortran, append(flags, "-g", "-J", dir, source)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s\n%s", err, out, text)
		}
	}
	compile(fortranBodies, "-o", exe)
	program, err := symbol.OpenProgram(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	typed := layout.Typed([]refs.Object{{}, {Name: "b", Start: 0x500000}}, program)
	if len(typed) != 1 || typed[0].Elem != 56 || len(typed[0].Fields) != 6 {
		t.Fatalf("%+v", typed)
	}
	o := &typed[0]
	o.Size = 560
	p := &profile{object: o, fortran: true}
	var code strings.Builder
	hot, cold := []int{0, 5}, []int{1, 2, 3, 4}
	for part, fields := range map[string][]int{"hot": hot, "cold": cold} {
		at, size := structOf(o, fields)
		code.WriteString(p.structCode(part, fields, at, size))
	}
	code.WriteString(p.partsCode())
	for _, f := range o.Fields {
		code.WriteString(p.arrayCode(f))
	}
	compile("program q\n"+code.String()+"allocate(hot(10), cold(10))\nhot(3)%x = 1\nend program\n", "-fsyntax-only", "-std=f2008")
	if c := inC("a\nb\n"); c != "! in C: a\n! in C: b\n" {
		t.Errorf("%q", c)
	}
}

// TestCodeOfVariables: what the program declares is not allocated in the code that
// advice prints, which can be compiled.
func TestCodeOfVariables(t *testing.T) {
	gcc := test.Peer(t, "gcc", "gcc")
	m := twoNodes(t)
	p := newProfile(&layout.Object{Name: "cells", Start: 0x1010, Size: 3200, Elem: 32, Sized: true, Known: layout.ByType})
	p.traffic = &replay.Traffic{Lines: []uint64{1, 2}}
	aligned, err := alignOf(p)
	if err != nil {
		t.Fatal(err)
	}
	var statements strings.Builder
	for _, kind := range []replay.PolicyKind{replay.Bind, replay.Interleave} {
		statements.WriteString(placeOf(p, m, replay.Policy{Kind: kind, Node: 1}, 3).Code)
	}
	if strings.Contains(aligned.Code+statements.String(), "alloc") {
		t.Errorf("a variable is allocated:\n%s%s", aligned.Code, statements.String())
	}
	declared := strings.Replace(strings.Replace(aligned.Code, "…", "static struct cell { double u[4]; }", 1), "…", "[100]", 1)
	source := "void *numa_all_nodes_ptr; void numa_tonode_memory(void *, unsigned long, int); void numa_interleave_memory(void *, unsigned long, void *);\n" + declared + "void place(void)\n{\n" + statements.String() + "}\n"
	file := filepath.Join(t.TempDir(), "a.c")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(gcc, "-Wall", "-Werror", "-fsyntax-only", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\n%s", err, out, source)
	}
}

// TestLoopsAreCode compiles orders of loops as advice prints them, in both
// languages, and counts their turns.
func TestLoopsAreCode(t *testing.T) {
	nest := &replay.Nest{Trips: []int{6, 20}}
	tiled := []replay.Loop{{Of: 1, Tile: 8}, {Of: 0, Tile: 3}, {Of: 0, Tile: 3, In: true}, {Of: 1, Tile: 8, In: true}}
	for _, tt := range []struct {
		compiler, file, head, body, end, tail string
		fortran                               bool
	}{
		{"gcc", "a.c", "#include <stdio.h>\n#define min(a, b) ((a) < (b) ? (a) : (b))\nint main(void) { int i, j, ii, jj, n = 0;\n", "n++;\n", "", "printf(\"%d\\n\", n); }\n", false},
		{"gfortran", "a.f90", "program main\ninteger :: i, j, ii, jj, n = 0\n", "n = n + 1\n", "end do\n", "print '(i0)', n\nend program\n", true},
	} {
		compiler := test.Peer(t, tt.compiler, tt.compiler)
		code := loopNaming{names: loopLetters, fortran: tt.fortran}.code(nest, tiled)
		for i, part := range regexp.MustCompile(`(?m)^(?://|!) (?:now|then)\n`).Split(code, -1)[1:] {
			text := tt.head + part + tt.body + strings.Repeat(tt.end, strings.Count(part, "\n")) + tt.tail
			source, exe := filepath.Join(t.TempDir(), tt.file), filepath.Join(t.TempDir(), "a")
			if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(compiler, "-o", exe, source).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s\n%s", err, out, text)
			}
			if out, err := exec.Command(exe).Output(); err != nil || strings.TrimSpace(string(out)) != "120" {
				t.Errorf("%s, part %d: %s turns, %v, want 120\n%s", tt.compiler, i, out, err, text)
			}
		}
	}
}
