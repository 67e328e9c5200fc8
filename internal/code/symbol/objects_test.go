package symbol

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/data/table"
)

// globalsOf lists the data symbols of a program by name, from nm.
func globalsOf(t *testing.T, program string) map[string]uint64 {
	t.Helper()
	out := map[string]uint64{}
	for line := range strings.Lines(tool(t, "", "nm", "-C", program)) {
		var addr uint64
		var kind, name string
		if n, _ := fmt.Sscanf(line, "%x %s %s", &addr, &kind, &name); n == 3 && strings.Contains("bBdDcC", kind) {
			out[name] = addr
		}
	}
	return out
}

func TestGlobals(t *testing.T) {
	type at struct {
		symbol string
		offset uint64
	}
	tests := []struct {
		name, file, source string
		flags              []string
		want               map[at]string
	}{
		{"C", "heat.c", heatC, []string{"-g"}, map[at]string{
			{"grid", 8 * (16*2 + 5)}: "grid double[8][16]  37 5,2,-1",
			{"cells", 24*3 + 12}:     "cells cell[10] v[] 3 3,-1,-1",
			{"cells", 24 * 9}:        "cells cell[10] u 9 9,-1,-1",
			{"whole", 8 + 8*31}:      "whole struct row[] 31 31,-1,-1",
			{"whole", 0}:             "whole struct n -1 -1,-1,-1",
			{"calls.0", 8}:           "calls int[4]  2 2,-1,-1",
			{"grid", 8*16*8 - 1}:     "grid double[8][16]  127 15,7,-1",
			{"grid", 8 * 16 * 8 / 2}: "grid double[8][16]  64 0,4,-1",
			{"cells", 24*4 + 16}:     "cells cell[10] tag 4 4,-1,-1",
			{"whole", 8}:             "whole struct row[] 0 0,-1,-1",
			{"cells", 24*5 + 20}:     "cells cell[10]  5 5,-1,-1", // padding
		}},
		{"C++", "shapes.cc", shapesCC, []string{"-gdwarf-4", "-O1"}, map[at]string{
			{"geometry::table", 8 * (2*3*2 + 1*2 + 1)}: "geometry::table double[4][3][2]  15 1,1,2",
		}},
		{"C++ type units", "shapes.cc", shapesCC, []string{"-gdwarf-5", "-fdebug-types-section"}, map[at]string{
			{"geometry::table", 8 * 15}: "geometry::table double[4][3][2]  15 1,1,2",
		}},
		{"Fortran", "wave.f90", waveF90, []string{"-g"}, map[at]string{
			{"__waves_MOD_field", 8 * (12*3 + 7)}: "waves::field real(kind=8)(12,5)  43 7,3,-1",
			{"block_", 4 * 6}:                     "right real(kind=4)(6)  2 2,-1,-1",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			program := compile(t, tt.file, tt.source, tt.flags...)
			b, err := Open(program)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			where := globalsOf(t, program)
			for at, want := range tt.want {
				start, ok := where[at.symbol]
				if !ok {
					t.Fatalf("nm lists no %s: %v", at.symbol, where)
				}
				g, ok := b.Global(start + at.offset)
				if !ok || g.Type == nil {
					t.Errorf("%v: found %v, type %v", at, ok, g.Type)
					continue
				}
				e := g.Type.Element(start + at.offset - g.Start)
				if got := fmt.Sprintf("%s %s %s %d %d,%d,%d", g.Name, g.Type.Name, e.Field, e.Index, e.X, e.Y, e.Z); got != want {
					t.Errorf("%v: got %q, want %q", at, got, want)
				}
			}
		})
	}
}

// row is what the columns say about one row, as text.
func rowText(columns []*table.Column, i int, names ...string) string {
	var words []string
	for _, name := range names {
		for _, c := range columns {
			if c.Name == name {
				words = append(words, name+"="+c.Text(i))
			}
		}
	}
	return strings.Join(words, " ")
}

// TestColumns follows one process through its life: a program that is moved, its
// zeroed data behind the file, the heap over time, marks, stacks, the kernel.
func TestColumns(t *testing.T) {
	program := compile(t, "heat.c", heatC, "-g", "-O2", "-pie", "-fPIE")
	b, err := Open(program)
	if err != nil {
		t.Fatal(err)
	}
	step, end, err := b.Function("step")
	if err != nil {
		t.Fatal(err)
	}
	entry, _, err := b.Function("main")
	if err != nil {
		t.Fatal(err)
	}
	const bias = 0x555555554000
	space, files := &Space{}, &Files{}
	defer files.Close()
	mapProgram(space, b, 10, bias)
	space.Map(10, 0, Mapping{Start: 0x7f0000000000, End: 0x7f0000100000, Path: "//anon"})
	space.Map(10, 0, Mapping{Start: 0x7ffc00000000, End: 0x7ffc00021000, Path: "[stack]"})
	space.Map(10, 0, Mapping{Start: 0x600000000000, End: 0x600000100000, Path: "[heap]"})
	names, err := ReadNamings(strings.NewReader("# the grid\nallocation at heat.c:25 is u double[8][64]\n"))
	if err != nil {
		t.Fatal(err)
	}
	objects := NewObjects(space, files, names)
	call := callIn(t, program, "main", "malloc") + bias
	objects.Allocate(10, 100, Allocation{Addr: 0x600000001000, Size: 4096, Sites: []uint64{call}})
	objects.Free(10, 200, 0x600000001000)
	marked, err := ParseType("float[4][25]")
	if err != nil {
		t.Fatal(err)
	}
	objects.Mark(10, 50, "pressure", 0x7f0000002000, marked)
	where := globalsOf(t, program)

	s := &Samples{
		Pid:  []int32{10, 10, 10, 10, 10, 10, 10, 10},
		Tid:  []int32{10, 10, 10, 11, 10, 10, 10, 10},
		Time: []uint64{150, 10, 250, 60, 60, 60, 60, 40},
		PC:   []uint64{step + bias, entry + bias, 0xffffffff81000010, end - 1 + bias, 1, step + bias, step + bias, step + bias},
		Addr: []uint64{0x600000001000 + 8*(64*3+5), where["grid"] + bias + 8, 0x600000001010, 0x7f0000050000, 0, 0x7f0000002000 + 4*(25+3), 0x7ffc00000100, 0x7f0000002000},
		SP:   []uint64{0, 0, 0, 0x7f000004ff00, 0, 0, 0, 0},
		Rows: 8, HasAddr: table.FullBits(8),
	}
	s.HasAddr.Clear(4)
	kernel, err := ReadKallsyms(strings.NewReader("ffffffff81000000 T do_work\n"))
	if err != nil {
		t.Fatal(err)
	}
	files.UseKernel(kernel)
	columns, err := NewResolver(space, files, objects).Columns(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range s.Rows {
		got = append(got, rowText(columns, i, "function", "module", "symbol", "object_source", "index", "x", "y"))
	}
	m := "module=" + filepath.Base(program)
	want := []string{
		"function=step " + m + " symbol=u object_source=allocation index=197 x=5 y=3",
		"function=main " + m + " symbol=grid object_source=global index=1 x=1 y=0",
		"function=do_work module=[kernel] symbol=[heap] object_source=mapping index= x= y=",
		"function=step " + m + " symbol=stack 11 object_source=stack index= x= y=",
		"function= module= symbol= object_source= index= x= y=",
		"function=step " + m + " symbol=pressure object_source=mark index=28 x=3 y=1",
		"function=step " + m + " symbol=stack 10 object_source=stack index= x= y=",
		"function=step " + m + " symbol=anonymous 1 MiB object_source=anonymous index= x= y=",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// mapProgram maps a program as the kernel does: its segments by whole pages, and
// what is beyond the file anonymously.
func mapProgram(space *Space, b *Binary, pid int, bias uint64) {
	const page = 4095
	for _, s := range b.image.segments {
		low, high := s.vaddr&^page, (s.vaddr+s.bytes+page)&^page
		space.Map(pid, 0, Mapping{Start: low + bias, End: high + bias, Offset: s.offset &^ page, Path: b.Path, BuildID: b.BuildID, Exec: s.exec})
		if end := (s.vaddr + s.memory + page) &^ page; end > high {
			space.Map(pid, 0, Mapping{Start: high + bias, End: end + bias, Path: "//anon"})
		}
	}
}

// callIn returns the address behind the call of a function, from objdump.
func callIn(t *testing.T, program, caller, callee string) uint64 {
	t.Helper()
	inside, called := false, false
	for line := range strings.Lines(tool(t, "", "objdump", "-d", "--no-show-raw-insn", program)) {
		var addr uint64
		if strings.HasSuffix(strings.TrimSpace(line), ">:") {
			inside = strings.Contains(line, "<"+caller+">")
			continue
		}
		if n, _ := fmt.Sscanf(line, "%x:", &addr); n == 1 && called {
			return addr
		}
		called = inside && strings.Contains(line, "call") && strings.Contains(line, callee)
	}
	t.Fatalf("%s does not call %s", caller, callee)
	return 0
}

func TestStacks(t *testing.T) {
	program := compile(t, "heat.c", heatC, "-g", "-O2", "-no-pie")
	b, err := Open(program)
	if err != nil {
		t.Fatal(err)
	}
	step, _, err := b.Function("step")
	if err != nil {
		t.Fatal(err)
	}
	back := callIn(t, program, "main", "<step>")
	space, files := &Space{}, &Files{}
	defer files.Close()
	mapProgram(space, b, 1, 0)
	s := &Samples{Rows: 3, Pid: []int32{1, 1, 1}, PC: []uint64{step, step, step}, Chain: []uint64{back, back}, ChainAt: []int{0, 1, 2, 2}}
	columns, err := NewResolver(space, files, nil).Columns(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Split(heatC, "\n")
	call := 0
	for i, text := range line {
		if strings.Contains(text, "heap[0] = step") {
			call = i + 1
		}
	}
	dir := filepath.Dir(program)
	caller := fmt.Sprintf("main (%s/heat.c:%d)", dir, call)
	for i, want := range []string{caller, caller, ""} {
		if got := strings.TrimPrefix(rowText(columns, i, "caller"), "caller="); got != want {
			t.Errorf("row %d: caller %q, want %q", i, got, want)
		}
	}
	stack := strings.TrimPrefix(rowText(columns, 0, "stack"), "stack=")
	frames := ParseStack(stack)
	if len(frames) != 2 || frames[0].Function != "main" || frames[0].Line != call || frames[1].Function != "step" {
		t.Errorf("stack %q is %+v", stack, frames)
	}
}

func TestNamings(t *testing.T) {
	for _, tt := range []struct{ in, want, wrong string }{
		{in: "allocation at heat.c:57 is double[1024][1024]", want: "allocation at heat.c:57 is double[1024][1024] 8388608 [1024 1024]"},
		{in: "heat.c:57 is u real(8)(10,20)", want: "allocation at heat.c:57 is u real(8)(10,20) 1600 [10 20]"},
		{in: `object "anonymous 1 MiB #2" is halo 24 bytes[7]`, want: `object "anonymous 1 MiB #2" is halo 24 bytes[7] 168 [7]`},
		{in: "a.c:1 is u", want: "allocation at a.c:1 is u 0 []"},
		{in: "a.c:1 is unsigned long long[3]", want: "allocation at a.c:1 is unsigned long long[3] 24 [3]"},
		{in: "heat.c is double[3]", wrong: "want FILE:LINE"},
		{in: "a.c:1 is u quux[3]", wrong: `type "quux[3]" is not known`},
		{in: "a.c:1 is double[0]", wrong: "not a positive number"},
		{in: "a.c:1 is double[99999999999][99999999999]", wrong: "too large"},
		{in: "nothing", wrong: "want \"allocation at"},
	} {
		n, err := ParseNaming(tt.in)
		if tt.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), tt.wrong) {
				t.Errorf("%q: error %v, want %q", tt.in, err, tt.wrong)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", tt.in, err)
			continue
		}
		size, dims := uint64(0), []uint64{}
		if n.Type() != nil {
			size, dims = n.Type().Size, n.Type().Dims
		}
		if got := fmt.Sprintf("%s %d %v", n.String(), size, dims); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.in, got, tt.want)
		}
	}
}

// A history answers in any order of time what replaying answers in one.
func TestHistory(t *testing.T) {
	s := &Space{}
	s.Map(7, 10, Mapping{Start: 0x1000, End: 0x3000, Path: "/a"})
	s.Map(7, 20, Mapping{Start: 0x2000, End: 0x4000, Path: "/b"})
	s.Fork(7, 8, 25)
	s.Map(7, 30, Mapping{Start: 0x1000, End: 0x1800, Path: "/c"})
	s.Exec(7, 40)
	s.Map(Kernel, 0, Mapping{Start: 1 << 63, End: 1<<63 + 0x1000, Path: "[kernel]"})
	h := s.History()
	path := func(m *Mapping) string {
		if m == nil {
			return ""
		}
		return m.Path
	}
	for _, at := range []uint64{45, 5, 25, 10, 39, 20, 30, 0, 40, 24} {
		for _, pid := range []int{7, 8, 9} {
			for _, addr := range []uint64{0, 0x1000, 0x1900, 0x2000, 0x3fff, 0x4000, 1<<63 + 8} {
				if got, want := path(h.At(pid, at).Find(addr)), path(s.Find(pid, at, addr)); got != want {
					t.Errorf("process %d at %d, %#x: %q, replayed %q", pid, at, addr, got, want)
				}
			}
		}
	}
}

func TestKallsyms(t *testing.T) {
	k, err := ReadKallsyms(strings.NewReader("ffffffff81000000 T _stext\nffffffff81000000 t startup\nffffffff81000100 T do_one\nffffffff82000000 D jiffies\nffffffffc0000000 t probe [nvme]\n"))
	if err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[uint64]string{0xffffffff81000050: "startup ", 0xffffffff81000100: "do_one ", 0xffffffffc0000001: "probe nvme", 0xffffffff80000000: "", 0xffffffffc0500000: ""} {
		name, module, ok := k.Function(addr)
		if got := name + " " + module; ok != (want != "") || ok && got != want {
			t.Errorf("%#x: %q %v, want %q", addr, got, ok, want)
		}
	}
	if _, err := ReadKallsyms(strings.NewReader("0000000000000000 T _stext\n")); err != ErrHidden {
		t.Errorf("hidden addresses: %v", err)
	}
	if _, err := ReadKallsyms(strings.NewReader("no such list\n")); err == nil || err == ErrHidden {
		t.Errorf("no list: %v", err)
	}
	if at, ok := k.Address("_stext"); !ok || at != 0xffffffff81000000 {
		t.Errorf("_stext at %#x", at)
	}
	moved := k.Moved(0x1000)
	if name, _, _ := moved.Function(0xffffffff81001100); name != "do_one" {
		t.Errorf("do_one moved: %q", name)
	}
	if name, _, ok := moved.Function(0xffffffffc0000001); ok {
		t.Errorf("modules move by themselves, but there is %q", name)
	}
}

// Equal objects that live at once have numbers, unless they are of processes that
// are told apart otherwise; in the order in which they were made, whichever is asked
// for first.
func TestObjectsApart(t *testing.T) {
	for _, tt := range []struct {
		apart bool
		want  []string
	}{
		{false, []string{"allocation 4 KiB", "allocation 4 KiB #2", "allocation 4 KiB #3"}},
		{true, []string{"allocation 4 KiB", "allocation 4 KiB #2", "allocation 4 KiB"}},
	} {
		o := NewObjects(&Space{}, &Files{}, nil)
		o.Apart = tt.apart
		o.Allocate(10, 1, Allocation{Addr: 0x1000, Size: 4096})
		o.Allocate(10, 2, Allocation{Addr: 0x8000, Size: 4096})
		o.Allocate(11, 3, Allocation{Addr: 0x1000, Size: 4096})
		for i, at := range slices.Backward([]struct {
			pid  int
			addr uint64
		}{{10, 0x1000}, {10, 0x8000}, {11, 0x1000}}) {
			if got := o.Find(at.pid, at.pid, 4, at.addr, 0); got == nil || got.Name != tt.want[i] {
				t.Errorf("apart %v: %v, want %q", tt.apart, got, tt.want[i])
			}
		}
	}
}

// TestFileCalledAsItsVariable: what is mapped of a program is not taken for the
// variable of its name, nor for what a variable of that name holds.
func TestFileCalledAsItsVariable(t *testing.T) {
	for _, tt := range []struct {
		name, file, source string
		want               string
	}{
		{"global", "a.c", "int program[40];\nint main(void) { return program[7]; }\n", "program (file)"},
		{"static", "a.cc", "static int program[40];\nint main() { program[8] = 3; return program[7]; }\n", "program (file)"},
		{"in a function", "a.c", "int main(void) { static volatile int program[40]; return program[7]; }\n", "program (file)"},
		{"another name", "a.c", "int programs[40];\nint main(void) { return programs[7]; }\n", "program"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b, err := Open(compile(t, tt.file, tt.source, "-g", "-O0"))
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			space, files := &Space{}, &Files{}
			defer files.Close()
			mapProgram(space, b, 7, 0x10000)
			o := NewObjects(space, files, nil)
			if got := o.Find(7, 7, 1, 0x10000+b.image.segments[0].vaddr, 0); got == nil || got.Name != tt.want || got.Source != FromMapping {
				t.Errorf("the file is %+v, want %q", got, tt.want)
			}
		})
	}
	o := NewObjects(&Space{}, &Files{}, nil)
	o.Holders = true
	o.Held("grid")
	o.space.Map(7, 0, Mapping{Start: 0x1000, End: 0x2000, Path: "/bin/grid"})
	if got := o.Find(7, 7, 1, 0x1010, 0); got == nil || got.Name != "grid (file)" {
		t.Errorf("%+v beside what grid holds, want %q", got, "grid (file)")
	}
}
