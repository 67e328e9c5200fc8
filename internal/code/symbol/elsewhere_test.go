package symbol

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/base/test"
)

// Debug information that is not in the ordinary sections of the program says
// the same as where it is: the reference is the same program built whole.
func TestDebugInformationElsewhere(t *testing.T) {
	tests := []struct {
		name, file, source string
		whole, flags       []string
		// change is what happens to the program after it was built.
		change func(t *testing.T, program string)
	}{
		{"split", "heat.c", heatC, []string{"-O2", "-g"}, []string{"-gsplit-dwarf"}, nil},
		{"split, not optimised", "heat.c", heatC, []string{"-O0", "-g", "-no-pie"}, []string{"-gsplit-dwarf"}, nil},
		{"split, dwarf 4", "heat.c", heatC, []string{"-O2", "-gdwarf-4"}, []string{"-gsplit-dwarf"}, nil},
		{"split, sections", "heat.c", heatC, []string{"-O2", "-g", "-ffunction-sections"}, []string{"-gsplit-dwarf"}, nil},
		{"split, C++", "shapes.cc", shapesCC, []string{"-O2", "-g"}, []string{"-gsplit-dwarf"}, nil},
		{"split, C++, dwarf 4", "shapes.cc", shapesCC, []string{"-O2", "-gdwarf-4"}, []string{"-gsplit-dwarf"}, nil},
		{"split, type units", "shapes.cc", shapesCC, []string{"-O2", "-gdwarf-5"}, []string{"-gsplit-dwarf", "-fdebug-types-section"}, nil},
		{"split, Fortran", "wave.f90", waveF90, []string{"-O1", "-g"}, []string{"-gsplit-dwarf"}, nil},
		{"packed, dwarf 4", "heat.c", heatC, []string{"-O2", "-gdwarf-4"}, []string{"-gsplit-dwarf"}, packOld},
		{"packed, dwarf 5", "shapes.cc", shapesCC, []string{"-O2", "-gdwarf-5"}, []string{"-gsplit-dwarf"}, packNew},
		{"type units, dwarf 4", "shapes.cc", shapesCC, []string{"-O2", "-gdwarf-4"}, []string{"-fdebug-types-section"}, nil},
		{"type units, dwarf 4, C", "heat.c", heatC, []string{"-O2", "-gdwarf-4"}, []string{"-fdebug-types-section"}, nil},
		{"shared by dwz", "heat.c", heatC, []string{"-O2", "-g"}, nil, shareByDWZ},
		{"shared by dwz, C++", "shapes.cc", shapesCC, []string{"-O2", "-gdwarf-4"}, nil, shareByDWZ},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			whole, program := compile(t, tt.file, tt.source, tt.whole...), compile(t, tt.file, tt.source, append(tt.whole[:len(tt.whole):len(tt.whole)], tt.flags...)...)
			if tt.change != nil {
				tt.change(t, program)
			}
			want, got := everythingOf(t, whole), everythingOf(t, program)
			if len(want) < 200 {
				t.Fatalf("only %d lines about the program", len(want))
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("(-whole +elsewhere):\n%.4000s", diff)
			}
		})
	}
}

// packOld packs .dwo files with the program of binutils, which knows DWARF 4.
func packOld(t *testing.T, program string) {
	t.Helper()
	command := exec.Command(test.Peer(t, "dwp", "binutils"), "-e", program, "-o", program+".dwp")
	command.Dir = filepath.Dir(program)
	if text, err := command.CombinedOutput(); err != nil {
		t.Fatalf("dwp: %v\n%s", err, text)
	}
	removeSplit(t, program)
}

// packNew makes a package of one .dwo file as DWARF 5 describes it: its sections
// as they are, and an index of one row in a hash table of two slots.
func packNew(t *testing.T, program string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(filepath.Dir(program), "*.dwo"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v: %v", files, err)
	}
	parts, err := readSplit(files[0])
	if err != nil {
		t.Fatal(err)
	}
	headers, err := scanUnits(parts["info"], binary.LittleEndian)
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	index := le.AppendUint32(nil, 5) // version, then padding
	for _, n := range []uint32{5, 1, 2} {
		index = le.AppendUint32(index, n)
	}
	ids, rows := [2]uint64{}, [2]uint32{}
	slot := headers[0].id & 1
	ids[slot], rows[slot] = headers[0].id, 1
	index = le.AppendUint64(le.AppendUint64(index, ids[0]), ids[1])
	index = le.AppendUint32(le.AppendUint32(index, rows[0]), rows[1])
	numbers := []uint32{1, 3, 4, 6, 8}
	for _, n := range numbers {
		index = le.AppendUint32(index, n)
	}
	for range numbers {
		index = le.AppendUint32(index, 0) // each part begins its section
	}
	for _, n := range numbers {
		index = le.AppendUint32(index, uint32(len(parts[indexNames5[uint64(n)]])))
	}
	file := filepath.Join(t.TempDir(), "index")
	if err := os.WriteFile(file, index, 0o644); err != nil {
		t.Fatal(err)
	}
	tool(t, "", "objcopy", "--add-section", ".debug_cu_index="+file, files[0], program+".dwp")
	removeSplit(t, program)
}

func removeSplit(t *testing.T, program string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(filepath.Dir(program), "*.dwo"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no .dwo files beside %s: %v", program, err)
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
}

// shareByDWZ moves what a program has in common with copies of itself to a file
// that all name.
func shareByDWZ(t *testing.T, program string) {
	t.Helper()
	dwz := test.Peer(t, "dwz", "dwz")
	body, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	other := program + ".other"
	if err := os.WriteFile(other, body, 0o755); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command(dwz, "-m", program+".shared", program, other).CombinedOutput(); err != nil {
		t.Fatalf("dwz: %v\n%s", err, text)
	}
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Section(".gnu_debugaltlink") == nil {
		t.Fatal("dwz moved nothing")
	}
}

// everythingOf lists the frames of every instruction and every variable with
// its type.
func everythingOf(t *testing.T, program string) []string {
	t.Helper()
	b, err := Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if b.NoLines() != "" {
		t.Fatalf("%s: %s", program, b.NoLines())
	}
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text := f.Section(".text")
	var out []string
	for a := text.Addr; a < text.Addr+text.Size; a++ {
		out = append(out, frameList(b.Locate(a).Frames))
	}
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) != elf.STT_OBJECT {
			continue
		}
		line := s.Name
		if g, ok := b.Global(s.Value); ok {
			line += " is " + g.Name
			if g.Type != nil {
				line += ", " + g.Type.Name + ", field " + g.Type.Element(min(20, g.Type.Size-1)).Field
			}
		}
		out = append(out, line)
	}
	for _, gap := range b.Gaps() {
		t.Error(gap)
	}
	// The folder of each build is its own.
	for i, line := range out {
		out[i] = strings.ReplaceAll(line, filepath.Dir(program), "")
	}
	return out
}

// Without its .dwo files a program keeps lines and functions, and says what is
// missing.
func TestLostSplitFiles(t *testing.T) {
	program := compile(t, "heat.c", heatC, "-O2", "-g", "-gsplit-dwarf")
	removeSplit(t, program)
	b, err := Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	low, high, err := b.Function("step")
	if err != nil {
		t.Fatal(err)
	}
	lines := map[int]bool{}
	for a := low; a < high; a++ {
		l := b.Locate(a)
		if l.Outer().Function != "step" {
			t.Fatalf("%#x is in %q", a, l.Outer().Function)
		}
		lines[l.Inner().Line] = true
	}
	if !lines[8] || !lines[18] {
		t.Errorf("lines %v; want those of square and step", lines)
	}
	if gaps := b.Gaps(); len(gaps) != 1 || !strings.Contains(gaps[0], "1 of its files with split debug information cannot be used") {
		t.Errorf("gaps: %q", gaps)
	}
}
