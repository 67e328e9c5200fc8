package layout

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/refs"
)

// TestProgramCalledAsItsVariable: a recording that calls what is mapped of a
// program as the program is called does not hide the variable of that name.
func TestProgramCalledAsItsVariable(t *testing.T) {
	source := filepath.Join(t.TempDir(), "cells.c")
	if err := os.WriteFile(source, []byte("struct cell { double u; int tag; } cells[100];\nint main(void) { return cells[3].tag; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(t.TempDir(), "cells")
	if out, err := exec.Command(test.Peer(t, "gcc", "gcc"), "-g", "-no-pie", "-o", exe, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	program, err := symbol.OpenProgram(exe, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	g, ok := program.Binary.Variable("cells")
	if !ok {
		t.Fatal("no variable")
	}
	for _, order := range [][2]uint32{{1, 2}, {2, 1}} {
		about := &refs.About{Objects: []refs.Object{{}, {Name: "cells", Start: g.Start &^ 4095}, {Name: "cells", Start: g.Start}}}
		tab := NewTable(about, nil, program)
		number := map[uint32]uint32{}
		for _, object := range order {
			number[object] = tab.Number(&refs.Ref{Addr: about.Objects[object].Start, Size: 8, Object: object})
		}
		tab.Finish()
		if number[1] == number[2] {
			t.Fatal("the program and its variable are one object")
		}
		if o := tab.Objects[number[2]]; o.Size != 1600 || o.Elem != 16 || len(o.Fields) != 2 || o.Blocks != nil {
			t.Errorf("%+v", o)
		}
	}
}
