package heap

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/record/ccache"
)

// entry is a record as shim/heap.c writes it.
func entry(time, addr, size, site uint64, kind uint32, site2 uint64) []byte {
	var b []byte
	for _, v := range []uint64{time, addr, size, site} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	b = binary.LittleEndian.AppendUint32(b, 77)
	b = binary.LittleEndian.AppendUint32(b, kind)
	return binary.LittleEndian.AppendUint64(b, site2)
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
	b := file(4, 100, 9, entry(5, 0x1000, 8192, 0x400, 1, 0), entry(0, 0x2000, 1, 1, 1, 0), entry(6, 0x3000, 4096, 0x401, 3, 0x500), entry(7, 0x1000, 8200, 0, 0, 0))
	l, err := Parse(b)
	if err != nil || l.PID != 42 || l.Missed != 9 || len(l.Events) != 3 {
		t.Fatalf("%+v, %v", l, err)
	}
	if e := l.Events[1]; e.Addr != 0x3000 || e.Size != 4096 || e.TID != 77 || len(e.Sites) != 2 || e.Sites[1] != 0x500 {
		t.Errorf("%+v", e)
	}
	if e := l.Events[2]; e.Kind != Free || len(e.Sites) != 0 {
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
	n, copies := parent.Replay(objects)
	if n != 1 || len(copies) != 1 || copies[0] != (Copy{Parent: 1, Child: 2, Time: 30}) {
		t.Fatalf("%d allocations, copies %+v", n, copies)
	}
	space.Fork(1, 2, 30)
	objects.Fork(1, 2, 30)
	child.Replay(objects)
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
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	library, err := Library(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Library(t.Context()); err != nil || again != library {
		t.Errorf("the second time %s, %v", again, err)
	}
	cmd := exec.Command(program)
	cmd.Env = Environ(os.Environ(), library, dir, DefaultThreshold)
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
	if out, err := exec.Command(gcc, "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-builtin", "-o", library, "shim/heap.c", "-ldl").CombinedOutput(); err != nil {
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
		if len(e.Sites) == 0 || e.TID != uint32(parent.PID) {
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

// An allocation by new is named by who said new.
func TestOperatorNew(t *testing.T) {
	gcc := test.Peer(t, "g++", "g++")
	logs := logged(t, build(t, gcc, "p.cpp", "int main() { double *a = new double[10000]; a[1] = 2; struct S { char c[9000]; }; S *s = new S; delete s; int r = a[1] != 2; delete[] a; return r; }"))
	if len(logs) != 1 {
		t.Fatalf("%d logs", len(logs))
	}
	found := 0
	for _, e := range logs[0].Events {
		if e.Kind == Allocate && (e.Size == 80000 || e.Size == 9000) {
			found++
			if len(e.Sites) != 2 {
				t.Errorf("%+v: want the caller of new as second site", e)
			}
		}
	}
	if found != 2 {
		t.Errorf("%+v", logs[0].Events)
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
	if err := Suits(os.Args[0] + ".none"); err != nil {
		t.Errorf("missing: %v", err)
	}
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
