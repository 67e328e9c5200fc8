package symbol

import (
	"debug/elf"
	"os"
	"slices"
	"strings"
	"testing"
)

// noted is a file that remembers which bytes were read.
type noted struct {
	*os.File
	read [][2]uint64
}

func (n *noted) ReadAt(b []byte, at int64) (int, error) {
	n.read = append(n.read, [2]uint64{uint64(at), uint64(at) + uint64(len(b))})
	return n.File.ReadAt(b, at)
}

// Debug information may be a hundred times as large as the code. Who follows a
// living process needs functions, unwind tables and code, and none of it: it is
// read when lines or variables are asked for.
func TestDebugInformationIsReadWhenAskedFor(t *testing.T) {
	f, err := os.Open(compile(t, "heat.c", heatC, "-g"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	file := &noted{File: f}
	im, err := newImage(file, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	debug := slices.DeleteFunc(slices.Clone(im.elf.Sections), func(s *elf.Section) bool { return !strings.HasPrefix(s.Name, ".debug_") })
	if len(debug) < 4 {
		t.Fatalf("%d debug sections", len(debug))
	}
	read := func() (names []string) {
		for _, s := range debug {
			if slices.ContainsFunc(file.read, func(r [2]uint64) bool { return r[0] < s.Offset+s.FileSize && s.Offset < r[1] }) {
				names = append(names, s.Name)
			}
		}
		return names
	}
	b := newBinary("heat", im, nil, &Files{})
	low, _, err := b.Function("step")
	if err != nil {
		t.Fatal(err)
	}
	if _, high, ok := b.FunctionAt(low); !ok || high <= low {
		t.Error("no bounds of a function")
	}
	if tables, _, err := b.Section(".eh_frame"); err != nil || len(tables) == 0 {
		t.Errorf("no unwind tables: %v", err)
	}
	if _, ok := b.Bias(&Mapping{Start: 0x10000, End: 0x20000, Exec: true}); !ok {
		t.Error("no bias")
	}
	if code, err := b.Code(low, 4); err != nil || len(code) != 4 {
		t.Errorf("no code: %v", err)
	}
	if got := read(); len(got) > 0 {
		t.Errorf("%v were read before a line was asked for", got)
	}
	if l := b.Locate(low); len(l.Frames) == 0 || l.Frames[0].Line == 0 {
		t.Errorf("no line: %+v", l)
	}
	if got := read(); !slices.Contains(got, ".debug_info") || !slices.Contains(got, ".debug_line") {
		t.Errorf("a line was found, and only %v were read", got)
	}
}
