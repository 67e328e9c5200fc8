package symbol

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

func TestHolder(t *testing.T) {
	for _, tt := range []struct {
		line, function, want string
		caller               bool
	}{
		{"      m_x.resize(numNode);  // coordinates", "Domain::AllocateNodePersistent(int)", "Domain.m_x", false},
		{"	this->cells.reserve(n);", "Mesh::Mesh(int)", "Mesh.cells", false},
		{"   Real_t *e_old = Allocate<Real_t>(numElemReg) ;", "EvalEOSForElems(Domain&, double*, int)", "e_old", false},
		{"	std::vector<int> v(30000, 1);", "main", "v", false},
		{"	std::vector<std::pair<int, double>> table{n};", "main", "table", false},
		{"	double *a = malloc(n * sizeof *a);", "main", "a", false},
		{"	double *a = new double[n];", "main", "a", false},
		{"	s->grid = calloc(n, 8);", "setup", "s.grid", false},
		{"	u[i] = malloc(n);", "setup", "u[i]", false},
		{"	double *a = malloc(n), *b = malloc(n);", "main", "", false},
		{"	a = malloc(n); b = malloc(n);", "main", "", false},
		{"	if (posix_memalign((void **)&buffer, 64, n)) abort();", "main", "buffer", false},
		{"   allocate(field%rho(nx, ny), stat=ierr)", "setup_", "field.rho", false},
		{"   return static_cast<T *>(malloc(sizeof(T)*size)) ;", "Allocate<double>", "", true},
		{"	fill(malloc(n));", "main", "", false},
		{"	if (x == malloc(n)) y();", "main", "", false},
		{"", "main", "", false},
	} {
		if got, caller := holder(tt.line, tt.function); got != tt.want || caller != tt.caller {
			t.Errorf("%q: %q, %v; want %q, %v", tt.line, got, caller, tt.want, tt.caller)
		}
	}
}

// A function that checks what malloc returns and hands it on does not hold it.
func TestHandsOn(t *testing.T) {
	for _, tt := range []struct {
		body string
		want bool
	}{
		{"if (!p) abort();\n\treturn p;\n}", true},
		{"if (!p) { puts(\"full\"); exit(1); }\n\tmemset(p, 0, n);\n\treturn (double *)p;\n}", true},
		{"for (int i = 0; i < n; i++)\n\t\tp[i] = i;\n}\nint *other(int *p)\n{\n\treturn p;\n}", false},
		{"return p[0];\n}", false},
		{"return (p);\n}", true},
		{"return static_cast<T *>(p);\n}", true},
		{"return sum(p, n);\n}", false},
		{"return sum(p);\n}", false},
		{"return *p;\n}", false},
		{"return up;\n}", false},
		{"return p ? 1 : 0;\n}", false},
		{"return n + *p;\n}", false},
		{"return p == q;\n}", false},
		{"s->grid = p;\n\treturn s;\n}", false},
		{"return 0;\n}", false},
	} {
		lines := strings.Split("\tint *p = malloc(n);\n\t"+tt.body, "\n")
		if got := handsOn(lines, 1, "p"); got != tt.want {
			t.Errorf("%q: %v", tt.body, got)
		}
	}
	if handsOn([]string{"s->p = malloc(n);", "return s->p;"}, 1, "s.p") {
		t.Error("a member is a variable")
	}
}

// The name is that of who keeps what such a function makes, and its own where its
// callers say none.
func TestHolderOfWrapped(t *testing.T) {
	program := compile(t, "wrapped.c", `#include <stdio.h>
static char block[8];
char *heavy, *other;
__attribute__((noinline)) char *get(void) { printf("%p %p\n", __builtin_return_address(0), __builtin_return_address(1)); return block; }
__attribute__((noinline)) char *must(void)
{
	char *p = get();
	if (!p)
		return 0;
	return p;
}
int main(void)
{
	heavy = must();
	heavy = 0, other = must();
	return 0;
}
`, "-g", "-O0", "-fno-omit-frame-pointer", "-no-pie")
	b, err := Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	out, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	space, files := &Space{}, &Files{}
	defer files.Close()
	mapProgram(space, b, 7, 0)
	o := NewObjects(space, files, nil)
	o.Holders = true
	for i, want := range []string{"heavy", "p"} {
		var sites [2]uint64
		line := strings.Split(string(out), "\n")[i]
		if _, err := fmt.Sscanf(line, "0x%x 0x%x", &sites[0], &sites[1]); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		addr := uint64(0x7f0000000000 + i<<20)
		o.Allocate(7, 1, Allocation{Addr: addr, Size: 4096, Sites: sites[:]})
		if got := o.Find(7, 7, 2, addr+8, 0); got == nil || got.Name != want {
			t.Errorf("allocated from %q: %+v, want %q", line, got, want)
		}
	}
}
