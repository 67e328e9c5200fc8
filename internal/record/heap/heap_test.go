package heap

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/record/ccache"
)

// entry is a record as shim/heap.c writes it.
func entry(time, addr, size, site uint64, kind uint32, stack uint64) []byte {
	var b []byte
	for _, v := range []uint64{time, addr, size, site} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	b = binary.LittleEndian.AppendUint32(b, 77)
	b = binary.LittleEndian.AppendUint32(b, kind)
	return binary.LittleEndian.AppendUint64(b, stack)
}

func file(count, capacity, missed uint64, entries ...[]byte) []byte {
	b := []byte(magic)
	for _, v := range []uint64{42, 4096, capacity, count, missed} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	b = append(b, make([]byte, headSize-len(b))...)
	for _, e := range entries {
		b = append(b, e...)
	}
	return b
}

func TestParse(t *testing.T) {
	words := make([]byte, stackBytes-recordSize)
	words[0] = 7
	words[8*stackWords] = 21 // calls that are not logged
	b := file(uint64(4+stackBytes/recordSize), 100, 9, entry(5, 0x1000, 8192, 0x400, 1, 0), entry(0, 0x2000, 1, 1, 1, 0), entry(6, 0x7000, 0x7f00, 0x401, stackKind, 0), words,
		entry(6, 0x3000, 4096, 0x401, 3, 3), entry(7, 0x1000, 8200, 0, 0, 0))
	l, err := Parse(b)
	if err != nil || l.PID != 42 || l.Missed != 9 || len(l.Events) != 3 {
		t.Fatalf("%+v, %v", l, err)
	}
	if e := l.Events[1]; e.Addr != 0x3000 || e.Size != 4096 || e.TID != 77 || e.Site != 0x401 || e.Stack == nil || e.Stack.SP != 0x7000 || e.Stack.Frame != 0x7f00 || e.Stack.Words[0] != 7 || len(e.Stack.Words) != 8*stackWords || e.Stack.Unlogged.Calls != 21 || l.Unlogged().Calls != 21 {
		t.Errorf("%+v", e)
	}
	if e := l.Events[2]; e.Kind != Free || e.Site != 0 {
		t.Errorf("%+v", e)
	}
	// Counts beyond the file, and no log at all.
	if l, err := Parse(file(1<<60, 1<<60, 0, entry(5, 1, 1, 1, 1, 0))); err != nil || len(l.Events) != 1 {
		t.Errorf("%+v, %v", l, err)
	}
	if _, err := Parse([]byte("text")); err == nil {
		t.Error("any file is a log")
	}
}

// What a log says about processes: a child has its parent's memory, and may free
// it by itself; a new program has none.
func TestReplay(t *testing.T) {
	space := &symbol.Space{}
	space.Map(1, 0, symbol.Mapping{Start: 0x1000, End: 0x9000, Path: "//anon"})
	objects := symbol.NewObjects(space, &symbol.Files{}, nil)
	parent := &Log{PID: 1, Events: []Event{
		{Time: 10, Kind: Start}, {Time: 20, Kind: Allocate, Addr: 0x1000, Size: 0x1000}, {Time: 30, Kind: Fork, Addr: 2}, {Time: 40, Kind: Free, Addr: 0x1000},
		{Time: 41, Kind: Free, Addr: 0x5000}}}
	child := &Log{PID: 2, Events: []Event{{Time: 50, Kind: Free, Addr: 0x1000}, {Time: 60, Kind: Allocate, Addr: 0x1000, Size: 0x800}, {Time: 70, Kind: Start}}}
	n, copies := parent.Replay(objects, nil)
	if n != 1 || len(copies) != 1 || copies[0] != (Copy{Parent: 1, Child: 2, Time: 30}) {
		t.Fatalf("%d allocations, copies %+v", n, copies)
	}
	space.Fork(1, 2, 30)
	objects.Fork(1, 2, 30)
	child.Replay(objects, nil)
	for _, tt := range []struct {
		pid  int
		at   uint64
		want string
	}{{1, 25, "allocation 4 KiB"}, {2, 35, "allocation 4 KiB"}, {1, 45, "anonymous 32 KiB"}, {2, 45, "allocation 4 KiB"}, {2, 55, "anonymous 32 KiB"}, {2, 65, "allocation 2 KiB"}, {2, 75, "anonymous 32 KiB"}} {
		if got := objects.Find(tt.pid, tt.pid, tt.at, 0x1010, 0); got == nil || got.Name != tt.want {
			t.Errorf("process %d at %d: %+v, want %s", tt.pid, tt.at, got, tt.want)
		}
	}
}

// One log that cannot be read does not cost the others, and what a file has room
// for is not read.
func TestReadFolder(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, b []byte, size int64) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
	}
	write("heap.1", []byte("no log"), 6)
	write("heap.2", file(1, 1<<20, 0, entry(5, 0x1000, 8192, 0x400, 1, 0), entry(6, 0x2000, 8192, 0x400, 1, 0)), 48<<20)
	write("heap.3", file(9, 100, 0, entry(5, 0x1000, 8192, 0x400, 1, 0)), headSize+recordSize+7)
	logs, err := Read(dir)
	if err == nil || !strings.Contains(err.Error(), "heap.1") {
		t.Errorf("the broken log: %v", err)
	}
	if len(logs) != 2 || len(logs[0].Events) != 1 || len(logs[1].Events) != 1 {
		t.Errorf("%+v", logs)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(file(2, 2, 0, entry(5, 1, 1, 1, 1, 0)))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := Parse(b)
		if err == nil && len(l.Events)*recordSize > len(b) {
			t.Errorf("%d events in %d bytes", len(l.Events), len(b))
		}
	})
}

const program = `
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
	char *small = malloc(100);
	char *a = malloc(5000);           /* logged */
	char *b = calloc(100, 100);       /* logged */
	a = realloc(a, 20000);            /* end of one, start of another */
	void *c; posix_memalign(&c, 64, 8192);
	void *d = aligned_alloc(64, 4096);
	strcpy(small, "text");
	small = realloc(small, 200);
	free(b); free(small);
	if (fork() == 0) { char *mine = malloc(123456); mine[0] = 1; _exit(0); }
	wait(0);
	printf("%p %p %p\n", (void *)a, c, d);
	return 0;
}
`

func build(t *testing.T, compiler, name, source string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	file, out := filepath.Join(dir, name), filepath.Join(dir, "program")
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.Command(compiler, append([]string{"-w", "-O0", "-g", "-o", out, file}, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

func logged(t *testing.T, program string) []*Log {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("preloading is for Linux")
	}
	dir, lib := t.TempDir(), library(t)
	if again, err := Library(t.Context()); err != nil || again != lib {
		t.Errorf("the second time %s, %v", again, err)
	}
	cmd := exec.Command(program)
	cmd.Env = Environ(os.Environ(), lib, dir, DefaultThreshold)
	return readAfter(t, cmd, dir)
}

func readAfter(t *testing.T, cmd *exec.Cmd, dir string) []*Log {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	logs, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return logs
}

func TestLogOfProgram(t *testing.T) {
	checkLogs(t, logged(t, build(t, test.Peer(t, "gcc", "gcc"), "p.c", program)))
}

// The library as releases carry it for the other architecture.
func TestLogUnderARM64(t *testing.T) {
	const system = "/usr/aarch64-linux-gnu" // of Debian's cross compiler
	gcc, qemu := test.Peer(t, "aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"), test.Peer(t, "qemu-aarch64", "qemu-user")
	exe, dir := build(t, gcc, "p.c", program), t.TempDir()
	library := filepath.Join(dir, "arm64.so")
	if out, err := exec.Command(gcc, "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-builtin", "-fno-omit-frame-pointer", "-o", library, "shim/heap.c", "-ldl").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	args := []string{"-L", system}
	for _, e := range Environ(nil, library, dir, DefaultThreshold) {
		args = append(args, "-E", e)
	}
	checkLogs(t, readAfter(t, exec.Command(qemu, append(args, exe)...), dir))
}

func checkLogs(t *testing.T, logs []*Log) {
	t.Helper()
	if len(logs) != 2 {
		t.Fatalf("%d logs, want one for each process", len(logs))
	}
	parent, child := logs[0], logs[1]
	if len(parent.Events) < len(child.Events) {
		parent, child = child, parent
	}
	var sizes []uint64
	live := map[uint64]uint64{}
	if e := parent.Events[0]; e.Kind != Start {
		t.Errorf("the log begins with %+v", e)
	}
	copies := 0
	for _, e := range parent.Events {
		switch e.Kind {
		case Start:
			continue
		case Fork:
			copies++
			if e.Addr != uint64(child.PID) {
				t.Errorf("%+v, and the child is %d", e, child.PID)
			}
			continue
		}
		if e.Kind == Free {
			if _, ok := live[e.Addr]; !ok {
				t.Errorf("the end of %#x, which was not logged", e.Addr)
			}
			delete(live, e.Addr)
			continue
		}
		if e.Site == 0 || e.Stack == nil || e.TID != uint32(parent.PID) {
			t.Errorf("%+v has no call site or another thread", e)
		}
		live[e.Addr] = e.Size
		if e.Size != 1024 { // stdout's buffer, by the library
			sizes = append(sizes, e.Size)
		}
	}
	if copies != 1 {
		t.Errorf("%d forks", copies)
	}
	want := []uint64{5000, 10000, 20000, 8192, 4096}
	for i, w := range want {
		if i >= len(sizes) || sizes[i] != w {
			t.Fatalf("sizes %v, want %v", sizes, want)
		}
	}
	for _, size := range live {
		if size == 5000 || size == 10000 {
			t.Errorf("block of %d is not freed", size)
		}
	}
	if len(child.Events) != 1 || child.Events[0].Size != 123456 || child.PID == parent.PID {
		t.Errorf("child %+v", child)
	}
}

// An allocation by new or by a container is named by the user's line, also after
// a new that failed, and where the library is loaded late.
func TestCallersOfNew(t *testing.T) {
	const source = `#include <cstdio>
#include <new>
#include <vector>
struct S { char c[9000]; };
int main() {
	try { volatile size_t huge = ~(size_t)0 >> 2; char *p = new char[huge]; std::printf("%p", p); } catch (std::bad_alloc &) {}
	double *a = new double[10000];
	std::vector<int> &v = *new std::vector<int>(30000, 1);
	S *s = new S;
	std::printf("%p %p %p\n", (void *)a, (void *)v.data(), (void *)s);
	std::FILE *f = std::fopen("/proc/self/maps", "r");
	for (int c; (c = std::fgetc(f)) != EOF;) std::fputc(c, stderr);
	return 0;
}
`
	gcc := test.Peer(t, "g++", "g++")
	for _, level := range []string{"-O0", "-O2"} {
		t.Run(level, func(t *testing.T) {
			r := stress(t, nil, build(t, gcc, "p.cpp", source, level))
			if len(r.logs) != 1 {
				t.Fatalf("%d logs", len(r.logs))
			}
			space, files := &symbol.Space{}, &symbol.Files{}
			defer files.Close()
			mapText(space, r.logs[0].PID, r.stderr)
			objects := symbol.NewObjects(space, files, nil)
			r.logs[0].Replay(objects, NewCallers(space.History(), files))
			want := []string{"p.cpp:7 78.1 KiB", "p.cpp:8 117.2 KiB", "p.cpp:9 8.79 KiB"}
			for i, text := range strings.Fields(r.stdout) {
				addr, err := strconv.ParseUint(strings.TrimPrefix(text, "0x"), 16, 64)
				if err != nil {
					t.Fatal(err)
				}
				if got := objects.Find(r.logs[0].PID, 0, 1<<62, addr+8, 0); got == nil || got.Name != want[i] {
					t.Errorf("%s: %+v, want %s", text, got, want[i])
				}
			}
		})
	}
}

// mapText adds the mappings of a /proc/PID/maps.
func mapText(space *symbol.Space, pid int, text string) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		var m symbol.Mapping
		if len(f) < 5 {
			continue
		}
		if n, _ := fmt.Sscanf(f[0]+" "+f[2], "%x-%x %x", &m.Start, &m.End, &m.Offset); n != 3 {
			continue
		}
		m.Path, m.Exec = strings.Join(f[5:], " "), strings.Contains(f[1], "x")
		space.Map(pid, 0, m)
	}
}

func TestSuits(t *testing.T) {
	gcc := test.Peer(t, "gcc", "gcc")
	static := build(t, gcc, "p.c", "int main(void) { return 0; }", "-static")
	if err := Suits(static); err == nil || !strings.Contains(err.Error(), "statically") {
		t.Errorf("static: %v", err)
	}
	if err := Suits(build(t, gcc, "p.c", "int main(void) { return 0; }")); err != nil {
		t.Errorf("dynamic: %v", err)
	}
	musl := build(t, gcc, "p.c", "int main(void) { return 0; }", "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1")
	if err := Suits(musl); err == nil || !strings.Contains(err.Error(), "musl") {
		t.Errorf("another C library: %v", err)
	}
	if err := Suits(foreign(t)); err == nil || !strings.Contains(err.Error(), "another kind of processor") {
		t.Errorf("another processor: %v", err)
	}
	if err := Suits(os.Args[0] + ".none"); err != nil {
		t.Errorf("missing: %v", err)
	}
}

// foreign is a program for neither of the processors that the library is for: a header
// is all that is looked at.
func foreign(t *testing.T) string {
	t.Helper()
	head := elf.Header32{Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_386), Version: 1, Ehsize: 52, Phentsize: 32, Shentsize: 40}
	copy(head.Ident[:], elf.ELFMAG)
	head.Ident[elf.EI_CLASS], head.Ident[elf.EI_DATA], head.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS32), byte(elf.ELFDATA2LSB), 1
	var b bytes.Buffer
	if err := binary.Write(&b, binary.LittleEndian, head); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "foreign")
	if err := os.WriteFile(path, b.Bytes(), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestNoCompiler(t *testing.T) {
	if _, err := prebuilt.ReadFile("prebuilt/" + runtime.GOARCH + ".so"); err == nil {
		t.Skip("the library is built in")
	}
	t.Setenv("CC", "no-such-compiler")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	if _, err := Library(t.Context()); !errors.Is(err, ccache.ErrNoCompiler) {
		t.Errorf("%v", err)
	}
}

func TestEnviron(t *testing.T) {
	got := strings.Join(Environ([]string{"A=1", "LD_PRELOAD=x.so"}, "/lib.so", "/d", 100), " ")
	if got != "A=1 LD_PRELOAD=/lib.so:x.so ISOBATH_HEAP_DIR=/d ISOBATH_HEAP_THRESHOLD=100" {
		t.Error(got)
	}
}
