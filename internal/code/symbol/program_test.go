package symbol

import (
	"strings"
	"testing"
)

const pickC = `static int table[64];
int other[16];
__attribute__((noinline)) int pick(int i)
{
	return table[i];
}
int main(void)
{
	return pick(3) + other[1];
}
`

func TestProgram(t *testing.T) {
	for _, tt := range []struct {
		name  string
		flags []string
		bias  uint64
	}{
		{"fixed", []string{"-g", "-no-pie"}, 0},
		{"moved", []string{"-g", "-pie", "-fPIE"}, ValgrindBias},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := OpenProgram(compile(t, "pick.c", pickC, tt.flags...), ValgrindBias)
			if err != nil {
				t.Fatal(err)
			}
			at, err := p.Function("pick")
			if err != nil {
				t.Fatal(err)
			}
			file, line, function := p.Line(at.High - 2)
			if file != "pick.c" || line < 3 || line > 6 || function != "pick" {
				t.Errorf("Line = %s:%d in %s", file, line, function)
			}
			if file, line, function := p.Line(at.Low - tt.bias + 0x70000000); file != "" || line != 0 || function != "" {
				t.Errorf("an address outside is %s:%d in %q", file, line, function)
			}
			kinds := map[uint32]bool{}
			for _, o := range p.symbols.entries {
				if o.text() == "table" || o.text() == "other" {
					kind, base, ok := p.Object(o.addr + tt.bias + 4)
					if !ok || base != o.addr+tt.bias {
						t.Errorf("%s: base %#x, found %v", o.text(), base, ok)
					}
					kinds[kind] = true
				}
			}
			if len(kinds) != 2 {
				t.Errorf("%d kinds of objects, want 2", len(kinds))
			}
		})
	}
}

func TestProgramErrors(t *testing.T) {
	if _, err := OpenProgram("program.go"); err == nil || !strings.Contains(err.Error(), "program.go") {
		t.Errorf("error = %v", err)
	}
	p, err := OpenProgram(compile(t, "pick.c", pickC, "-g"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Function("absent"); err == nil {
		t.Error("an absent function is found")
	}
	stripped, err := OpenProgram(compile(t, "pick.c", pickC, "-s"))
	if err != nil {
		t.Fatal(err)
	}
	if stripped.NoLines() == "" {
		t.Error("a stripped program does not say that it has no lines")
	}
}
