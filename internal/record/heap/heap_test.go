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
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/record/ccache"
)

// record is a record as shim/heap.c writes it; of version 3 it had other places.
func record(magic string, time, addr, size, site uint64, kind uint32, stack uint64) []byte {
	u64s := func(values ...uint64) []byte {
		var b []byte
		for _, v := range values {
			b = binary.LittleEndian.AppendUint64(b, v)
		}
		return b
	}
	const thread = 77
	switch what := addr | uint64(kind)<<56; {
	case magic == "ISOHEAP3":
		return u64s(time, addr, size, site, thread|uint64(kind)<<32, stack)
	case kind == freeKind:
		return u64s(time, what)
	case kind == stackKind:
		return u64s(time, what, size, site)
	case stack == 0 && site != 0:
		return u64s(time, what|withSite<<56, size, site)
	default:
		return u64s(time, what, size, thread|stack<<32)
	}
}

func file(magic string, count, capacity, missed uint64, records ...[]byte) []byte {
	b := []byte(magic)
	for _, v := range []uint64{42, 4096, capacity, count, missed} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	b = append(b, make([]byte, headSize-len(b))...)
	for _, r := range records {
		b = append(b, r...)
	}
	return b
}

// A log is read as it is written, and as it was before: a recording that was killed may
// be opened by a later version.
func TestParse(t *testing.T) {
	words := make([]byte, 8*stackWords+sumsBytes)
	words[0] = 7
	words[8*stackWords] = 21 // calls that are not logged
	for _, magic := range []string{"ISOHEAP3", "ISOHEAP4"} {
		entry := func(time, addr, size, site uint64, kind uint32, stack uint64) []byte {
			return record(magic, time, addr, size, site, kind, stack)
		}
		// The second was not completed, and of what comes before the fifth a thread had
		// only made room.
		before := [][]byte{entry(5, 0x1000, 8192, 0x400, 1, 0), entry(0, 0x2000, 1, 1, 1, 0)}
		unit := map[string]uint64{"ISOHEAP3": 48, "ISOHEAP4": 16}[magic]
		stack := uint64(len(before[0])+len(before[1]))/unit + 1
		records := append(before, entry(6, 0x7000, 0x7f00, 0x401, stackKind, 0), words, make([]byte, unit), entry(6, 0x3000, 4096, 0x401, 3, stack), entry(7, 0x1000, 0, 0, 0, 0))
		size := uint64(len(bytes.Join(records, nil)))
		l, err := Parse(file(magic, size/unit, 100, 9, records...))
		if err != nil || l.PID != 42 || l.Missed != 9 || len(l.Events) != 3 {
			t.Fatalf("%s: %+v, %v", magic, l, err)
		}
		if e := l.Events[0]; e.Addr != 0x1000 || e.Size != 8192 || e.Site != 0x400 || e.Stack != nil {
			t.Errorf("%s: %+v", magic, e)
		}
		if e := l.Events[1]; e.Addr != 0x3000 || e.Size != 4096 || e.TID != 77 || e.Site != 0x401 || e.Stack == nil || e.Stack.SP != 0x7000 || e.Stack.Frame != 0x7f00 || e.Stack.Words[0] != 7 || len(e.Stack.Words) != 8*stackWords || e.Stack.Unlogged.Calls != 21 || l.Unlogged().Calls != 21 {
			t.Errorf("%s: %+v", magic, e)
		}
		if e := l.Events[2]; e.Kind != Free || e.Site != 0 || e.Addr != 0x1000 {
			t.Errorf("%s: %+v", magic, e)
		}
		// Counts beyond the file.
		if l, err := Parse(file(magic, 1<<60, 1<<60, 0, entry(5, 1, 1, 1, 1, 0))); err != nil || len(l.Events) != 1 {
			t.Errorf("%s: %+v, %v", magic, l, err)
		}
	}
	if _, err := Parse([]byte("text")); err == nil {
		t.Error("any file is a log")
	}
}

// counted is a log whose times are of the processor's counter.
func counted(records ...[]byte) []byte {
	size := 0
	for _, r := range records {
		size += len(r)
	}
	b := file("ISOHEAP4", uint64(size)/16, 1<<20, 0, records...)
	b[144] = 1
	return b
}

// Counts become times by the moments at which both were looked at; outside of these at
// the pace of what lies near.
func TestTimesOfCounter(t *testing.T) {
	tick := func(ticks, time uint64) []byte { return record("ISOHEAP4", ticks, 0, time, 0, clockKind, 0) }
	at := func(ticks uint64) []byte { return record("ISOHEAP4", ticks, ticks, 0, 0, freeKind, 0) }
	const ghz = 1_000_000_000
	// 2 GHz for half a second of counts, then 4 GHz, as where the clock is set right.
	b := counted(tick(10*ghz, 5*ghz), at(9*ghz), tick(11*ghz, 55*ghz/10), at(105*ghz/10), at(11*ghz), at(13*ghz), tick(12*ghz, 575*ghz/100), at(115*ghz/10))
	l, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	var got []uint64
	for _, e := range l.Events {
		got = append(got, e.Time)
	}
	want := []uint64{45 * ghz / 10, 525 * ghz / 100, 55 * ghz / 10, 6 * ghz, 5625 * ghz / 1000}
	if !slices.Equal(got, want) {
		t.Errorf("times %v, want %v", got, want)
	}
	// Two looks that are close say little of the pace; of what is far after them
	// those that are further apart say more.
	l, err = Parse(counted(tick(1*ghz, 1*ghz), tick(3*ghz, 3*ghz), tick(3*ghz+100, 3*ghz+150), at(4*ghz+100)))
	if err != nil || len(l.Events) != 1 || l.Events[0].Time != 4*ghz+150+25 {
		t.Errorf("%+v, %v", l.Events, err)
	}
	if _, err := Parse(counted(tick(1, 1), at(2))); err == nil {
		t.Error("one moment says nothing of the pace, and the log has times")
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
	one := record("ISOHEAP4", 5, 0x1000, 8192, 0x400, 1, 0)
	write("heap.1", bytes.Repeat([]byte("no log "), headSize), headSize)
	write("heap.2", file("ISOHEAP4", 2, 1<<20, 0, one, one), 48<<20)
	write("heap.3", file("ISOHEAP4", 9, 100, 0, one), headSize+32+7)
	logs, err := Read(dir)
	if err == nil || !strings.Contains(err.Error(), "heap.1") {
		t.Errorf("the broken log: %v", err)
	}
	if len(logs) != 2 || len(logs[0].Events) != 1 || len(logs[1].Events) != 1 {
		t.Errorf("%+v", logs)
	}
}

func FuzzParse(f *testing.F) {
	for _, magic := range []string{"ISOHEAP3", "ISOHEAP4"} {
		f.Add(file(magic, 2, 2, 0, record(magic, 5, 1, 1, 1, 1, 0)))
	}
	f.Add(counted(record("ISOHEAP4", 5, 0, 6, 0, clockKind, 0), record("ISOHEAP4", 7, 0, 8, 0, clockKind, 0), record("ISOHEAP4", 6, 1, 0, 0, freeKind, 0)))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := Parse(b)
		if err == nil && len(l.Events)*16 > len(b) {
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

// Entries have the time of the clock, whatever the library looks at: of a program that
// lives shorter than it takes to know a counter's pace, that sleeps, that begins
// another, and of one that ends without a word.
func TestTimesOfProgram(t *testing.T) {
	const source = `#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <sys/wait.h>
static long now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000 + t.tv_nsec; }
int main(int argc, char **argv) {
	if (argc > 1 && fork()) { wait(0); execl(argv[0], argv[0], (char *)0); }
	for (int i = 0; i < 8; i++) {
		long from = now();
		void *p = malloc(5000 + i), *q = (usleep(i * i * 1000), malloc(70000 + i));
		printf("%d %ld %ld\n", getpid(), from, now());
		fflush(stdout);
		free(p);
		free(q);
	}
	_exit(0);
}
`
	program := build(t, test.Peer(t, "gcc", "gcc"), "p.c", source)
	for _, args := range [][]string{nil, {"again"}} {
		r := stress(t, nil, append([]string{program}, args...)...)
		times := map[int][][2]uint64{}
		for line := range strings.Lines(r.stdout) {
			var pid int
			var span [2]uint64
			if n, err := fmt.Sscan(line, &pid, &span[0], &span[1]); n != 3 {
				t.Fatalf("%q: %v", line, err)
			}
			times[pid] = append(times[pid], span)
		}
		if len(r.logs) != 1+len(args) || len(times) != len(r.logs) {
			t.Fatalf("%d logs of %d processes", len(r.logs), len(times))
		}
		for _, l := range r.logs {
			var seen [8]int
			for _, e := range l.Events {
				i := int(e.Size - 5000)
				if e.Size >= 70000 {
					i = int(e.Size - 70000)
				}
				if e.Kind != Allocate || i < 0 || i >= len(seen) {
					continue
				}
				seen[i]++
				const off = 20_000 // ns, that the counter and the clock may be apart at most
				if span := times[l.PID][i]; e.Time+off < span[0] || e.Time > span[1]+off {
					t.Errorf("%v: %+v, want between %d and %d", args, e, span[0], span[1])
				}
			}
			if seen != [8]int{2, 2, 2, 2, 2, 2, 2, 2} {
				t.Errorf("%v: entries %v", args, seen)
			}
		}
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
