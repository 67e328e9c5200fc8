package pyframe

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// linesOf prints what an interpreter says of the lines of its own library.
const linesOf = `
import dis, json, sys, types
import argparse, textwrap
out = []
def walk(code):
    if hasattr(code, "co_positions"):
        lines = [p[0] or 0 for p in code.co_positions()]
    else:
        lines, starts, line = [], dict(dis.findlinestarts(code)), code.co_firstlineno
        if hasattr(code, "co_lines"):
            starts = {}
            for a, b, l in code.co_lines():
                for i in range(a, b, 2): starts[i] = l or 0
        for i in range(0, len(code.co_code), 2):
            line = starts.get(i, line)
            lines.append(line)
    table = code.co_linetable if hasattr(code, "co_linetable") else code.co_lnotab
    out.append({"table": table.hex(), "first": code.co_firstlineno, "lines": lines})
    for c in code.co_consts:
        if isinstance(c, types.CodeType): walk(c)
for m in (argparse, textwrap):
    walk(compile(open(m.__file__, encoding="utf-8").read(), m.__file__, "exec"))
json.dump({"minor": sys.version_info[1], "codes": out}, sys.stdout)
`

// Every instruction of some modules has the line that its interpreter says.
func TestLines(t *testing.T) {
	home, _ := os.UserHomeDir()
	found := 0
	for _, dir := range []string{"/usr/bin", "/usr/local/bin", filepath.Join(home, ".pyenv", "versions", "*", "bin")} {
		programs, _ := filepath.Glob(filepath.Join(dir, "python3.[0-9]*"))
		for _, python := range programs {
			said, err := exec.Command(python, "-c", linesOf).Output()
			var truth struct {
				Minor int
				Codes []struct {
					Table string
					First int
					Lines []int
				}
			}
			if err != nil || json.Unmarshal(said, &truth) != nil || layouts[truth.Minor] == nil {
				continue
			}
			found++
			wrong, all := 0, 0
			for _, c := range truth.Codes {
				table, err := hex.DecodeString(c.Table)
				if err != nil {
					t.Fatal(err)
				}
				for i, want := range c.Lines {
					all++
					if got := layouts[truth.Minor].lines(table, c.First, i*unit); got != want {
						if wrong++; wrong < 5 {
							t.Errorf("%s: instruction %d of %d in the code at line %d: line %d, want %d", python, i, len(c.Lines), c.First, got, want)
						}
					}
				}
			}
			t.Logf("%s: %d of %d lines are wrong", python, wrong, all)
		}
	}
	if found == 0 {
		t.Skip("there is no Python 3.9 to 3.11 here")
	}
}

func TestLinesBeforeTheFirst(t *testing.T) {
	for minor, l := range layouts {
		if got := l.lines([]byte{0x80, 2}, 7, -2); got != 7 {
			t.Errorf("3.%d: line %d before the first instruction, want that of the function", minor, got)
		}
		if got := l.lines(nil, 7, 4); minor > 9 && got != 0 {
			t.Errorf("3.%d: line %d beyond the table, want none", minor, got)
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte{0x80, 0, 0xf9, 0x7f, 0x7f, 0xff}, 3, 10)
	f.Add([]byte{2, 0x80, 255, 255, 0xf0, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f}, 1<<31-1, 1<<20)
	f.Fuzz(func(t *testing.T, table []byte, first, last int) {
		first = int(uint32(first) >> 1) // as code objects have it
		for minor, l := range layouts {
			if line := l.lines(table, first, last); line < 0 {
				t.Errorf("3.%d: line %d", minor, line)
			}
		}
	})
}
