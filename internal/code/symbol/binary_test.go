package symbol

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

// builds are the ways in which programs are built that attribution must
// survive.
var builds = []struct {
	name, file, source string
	flags              []string
	// loose compares the line and the outermost function only: addr2line 2.40
	// does not follow inlined functions into type units, and loses the file
	// names of programs optimised at link time.
	loose bool
}{
	{"debug", "heat.c", heatC, []string{"-g", "-O0", "-no-pie"}, false},
	{"optimised, dwarf 4", "heat.c", heatC, []string{"-O2", "-gdwarf-4"}, false},
	{"optimised, dwarf 5", "heat.c", heatC, []string{"-O2", "-gdwarf-5"}, false},
	{"dwarf 3", "heat.c", heatC, []string{"-O1", "-gdwarf-3", "-gstrict-dwarf"}, false},
	{"compressed", "heat.c", heatC, []string{"-O2", "-g", "-gz=zlib"}, false},
	{"static", "heat.c", heatC, []string{"-O2", "-g", "-static"}, false},
	{"library", "heat.c", heatC, []string{"-O2", "-g", "-shared", "-fPIC"}, false},
	{"sections", "heat.c", heatC, []string{"-O2", "-g", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"}, false},
	{"type units", "shapes.cc", shapesCC, []string{"-O2", "-gdwarf-5", "-fdebug-types-section"}, true},
	{"C++", "shapes.cc", shapesCC, []string{"-O2", "-g"}, false},
	{"C++, dwarf 4", "shapes.cc", shapesCC, []string{"-O1", "-gdwarf-4"}, false},
	{"Fortran", "wave.f90", waveF90, []string{"-O1", "-g"}, false},
	{"link time", "shapes.cc", shapesCC, []string{"-O2", "-g", "-flto"}, true},
}

// TestLocate compares every instruction of the program's own functions with
// addr2line.
func TestLocate(t *testing.T) {
	for _, tt := range builds {
		t.Run(tt.name, func(t *testing.T) {
			program := compile(t, tt.file, tt.source, tt.flags...)
			b, err := Open(program)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			compareWithAddr2line(t, b, program, tt.loose)
		})
	}
}

// TestOldCompression reads .zdebug sections: the answers must not change.
func TestOldCompression(t *testing.T) {
	program := compile(t, "heat.c", heatC, "-O2", "-g")
	old := program + ".z"
	tool(t, "", "objcopy", "--compress-debug-sections=zlib-gnu", program, old)
	if sections := tool(t, "", "objdump", "-h", old); !strings.Contains(sections, ".zdebug_info") {
		t.Skip("this objcopy no longer writes .zdebug sections")
	}
	b, err := Open(old)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	compareWithAddr2line(t, b, program, false)
}

// compareWithAddr2line looks up every third byte of .text.
func compareWithAddr2line(t *testing.T, b *Binary, program string, loose bool) {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text := f.Section(".text")
	var ask strings.Builder
	var addrs []uint64
	for a := text.Addr; a < text.Addr+min(text.Size, 16<<10); a += 3 {
		addrs = append(addrs, a)
		fmt.Fprintf(&ask, "%#x\n", a)
	}
	peer := parseAddr2line(t, tool(t, ask.String(), "addr2line", "-a", "-f", "-i", "-C", "-e", program))
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	known, inlined, differ := 0, 0, 0
	for i, a := range addrs {
		want := peer[i]
		// Without a line, and in the padding between functions, addr2line
		// guesses a name from what is near.
		if want[0].Line == 0 || !slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return a >= s.Value && a-s.Value < s.Size }) {
			continue
		}
		known++
		if len(want) > 1 {
			inlined++
		}
		got := b.Locate(a).Frames
		if loose && len(got) > 0 {
			got, want = []Frame{{got[len(got)-1].Function, "", got[0].Line}}, []Frame{{want[len(want)-1].Function, "", want[0].Line}}
		}
		if text, wanted := frameList(got), frameList(want); text != wanted {
			if differ++; differ < 8 {
				t.Errorf("%#x:\n got %s\nwant %s", a, text, wanted)
			}
		}
	}
	if known < 20 || differ > 0 {
		t.Errorf("%d of %d addresses differ", differ, known)
	}
	t.Logf("%d addresses, %d inside inlined functions", known, inlined)
}

func frameList(frames []Frame) string {
	var words []string
	for _, f := range frames {
		words = append(words, fmt.Sprintf("%s %s:%d", f.Function, path.Base(f.File), f.Line))
	}
	return strings.Join(words, " <- ")
}

// parseAddr2line reads the answers of addr2line -a -f -i: an address, then a
// function and a position for each frame.
func parseAddr2line(t *testing.T, out string) [][]Frame {
	t.Helper()
	var all [][]Frame
	lines := strings.Split(strings.TrimSpace(out), "\n")
	for i := 0; i < len(lines); {
		if strings.HasPrefix(lines[i], "0x") {
			all = append(all, nil)
			i++
			continue
		}
		at, _, _ := strings.Cut(lines[i+1], " (discriminator")
		file, number, _ := cutLast(at, ":")
		line, _ := strconv.Atoi(number)
		if file == "??" {
			file = ""
		}
		last := &all[len(all)-1]
		*last = append(*last, Frame{readable(lines[i]), file, line})
		i += 2
	}
	return all
}

// TestStripped finds the lines of a stripped program through its debug link and
// through its build id.
func TestStripped(t *testing.T) {
	program := compile(t, "heat.c", heatC, "-O2", "-g", "-Wl,--build-id")
	dir := filepath.Dir(program)
	whole, err := Open(program)
	if err != nil {
		t.Fatal(err)
	}
	low, high, err := whole.Function("step")
	if err != nil {
		t.Fatal(err)
	}
	want := frameList(whole.Locate((low + high) / 2).Frames)
	tool(t, "", "objcopy", "--only-keep-debug", program, filepath.Join(dir, "program.dbg"))
	tool(t, "", "strip", program)
	bare := filepath.Join(t.TempDir(), "bare")
	if err := os.Link(program, bare); err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(dir, "linked")
	tool(t, "", "objcopy", "--add-gnu-debuglink="+filepath.Join(dir, "program.dbg"), program, linked)
	id := whole.BuildID
	byID := filepath.Join(t.TempDir(), ".build-id", id[:2])
	if err := os.MkdirAll(byID, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(dir, "program.dbg"), filepath.Join(byID, id[2:]+".debug")); err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(cache, id), 0o777), os.Link(filepath.Join(dir, "program.dbg"), filepath.Join(cache, id, "debuginfo"))); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, path string
		files      *Files
		want       string
	}{
		{"link", linked, &Files{}, want},
		{"build id", bare, &Files{Debug: []string{filepath.Dir(filepath.Dir(byID))}}, want},
		{"nothing", bare, &Files{}, ""},
		{"of a server", bare, &Files{}, want},
		{"of a server that nobody set up", bare, &Files{}, ""},
		{"root", "/elsewhere/linked", &Files{Roots: []string{dir}}, want},
	} {
		t.Run(tt.name, func(t *testing.T) {
			defer tt.files.Close()
			t.Setenv("DEBUGINFOD_CACHE_PATH", cache)
			t.Setenv("DEBUGINFOD_URLS", map[string]string{"of a server": "http://127.0.0.1:1"}[tt.name])
			b, err := tt.files.Open(tt.path, id)
			if err != nil {
				t.Fatal(err)
			}
			if got := frameList(b.Locate((low + high) / 2).Frames); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if (tt.want == "") != (b.NoLines() != "") {
				t.Errorf("NoLines = %q", b.NoLines())
			}
		})
	}
	if _, err := new(Files).Open(program, "00112233445566778899aabbccddeeff00112233"); err == nil || !strings.Contains(err.Error(), "built again") {
		t.Errorf("a file of another build opens: %v", err)
	}
}

// TestSourcesByRelativePath: a source that the compiler was given by a path below
// its folder is named by where it is, whatever the version of the debug information.
func TestSourcesByRelativePath(t *testing.T) {
	gcc := test.Peer(t, "gcc", "gcc")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(dir, "src", "heat.c")
	if err := os.Mkdir(filepath.Dir(source), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(source, []byte("int main(void)\n{\n\treturn 3;\n}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"-gdwarf-5", "-gdwarf-4"} {
		command := exec.Command(gcc, version, "-no-pie", "src/heat.c", "-o", "heat")
		command.Dir = dir
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		b, err := Open(filepath.Join(dir, "heat"))
		if err != nil {
			t.Fatal(err)
		}
		low, high, err := b.Function("main")
		if err != nil {
			t.Fatal(err)
		}
		at := b.Locate(low)
		if got := at.Inner().File; got != source {
			t.Errorf("%s: main is in %q, want %q", version, got, source)
		}
		for _, at := range b.Begins(low, high) {
			if at.File != source {
				t.Errorf("%s: a line of main is in %q, want %q", version, at.File, source)
			}
		}
		b.Close()
	}
}
