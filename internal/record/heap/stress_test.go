package heap

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/code/symbol"
)

// result is how a program behaved.
type result struct {
	stdout, stderr string
	status         syscall.WaitStatus
	logs           []*Log
}

// TestMain keeps the library in a folder of its own, so that it is compiled once
// for all tests.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "isobath-heap-test-")
	if err != nil {
		panic(err)
	}
	os.Setenv("XDG_CACHE_HOME", dir)
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

func library(t *testing.T) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("preloading is for Linux")
	}
	lib, err := Library(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return lib
}

// stress runs a command with the library and reads what it logged.
func stress(t *testing.T, env []string, command ...string) result {
	t.Helper()
	dir := t.TempDir()
	r := execute(t, Environ(append(os.Environ(), env...), library(t), dir, DefaultThreshold), command...)
	var err error
	if r.logs, err = Read(dir); err != nil {
		t.Fatal(err)
	}
	return r
}

func execute(t *testing.T, env []string, command ...string) result {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Env, cmd.Dir = &out, &errs, env, t.TempDir()
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return result{stdout: out.String(), stderr: errs.String(), status: cmd.ProcessState.Sys().(syscall.WaitStatus)}
}

// harmless runs a command without the library and with it, and compares output
// and end.
func harmless(t *testing.T, env []string, command ...string) result {
	t.Helper()
	want := execute(t, append(os.Environ(), env...), command...)
	got := stress(t, env, command...)
	if got.status != want.status || got.stdout != want.stdout || got.stderr != want.stderr {
		t.Errorf("%v with the library: status %#x, output %q, errors %q\nwithout: %#x, %q, %q", command, got.status, got.stdout, got.stderr, want.status, want.stdout, want.stderr)
	}
	return got
}

// compile builds a program of testdata/stress.
func compile(t *testing.T, name string, flags ...string) string {
	t.Helper()
	compiler := test.Peer(t, "gcc", "gcc")
	if strings.HasSuffix(name, ".cpp") {
		compiler = test.Peer(t, "g++", "g++")
	}
	out := filepath.Join(t.TempDir(), strings.TrimSuffix(name, filepath.Ext(name)))
	args := append([]string{"-O1", "-g", "-o", out, filepath.Join("testdata", "stress", name)}, flags...)
	if text, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

func plugin(t *testing.T, flags ...string) string {
	return compile(t, "plugin.cpp", append([]string{"-shared", "-fPIC"}, flags...)...)
}

// C++ that comes late: operator new is none that the program had at its start.
func TestStressPlugins(t *testing.T) {
	host := compile(t, "host.c", "-ldl", "-lpthread")
	for _, tt := range []struct {
		name  string
		flags []string
	}{{"shared", nil}, {"static", []string{"-static-libstdc++", "-static-libgcc"}}, {"with an allocator of its own", []string{"-DOWN_NEW"}}} {
		t.Run(tt.name, func(t *testing.T) {
			lib := plugin(t, tt.flags...)
			for _, way := range []string{"local", "global", "loop", "threads"} {
				if r := harmless(t, nil, host, lib, way); r.status != 0 || len(r.logs) != 1 {
					t.Errorf("%s: status %#x, %d logs: %s", way, r.status, len(r.logs), r.stderr)
				}
			}
		})
	}
	t.Run("Python", func(t *testing.T) {
		python := test.Peer(t, "python3", "python3")
		harmless(t, nil, python, "-c", "import ctypes, sys; print(ctypes.CDLL(sys.argv[1]).work(1000))", plugin(t))
	})
	t.Run("Python with extensions in C++", func(t *testing.T) {
		python := test.PythonPeer(t, "pandas", "python3-pandas")
		if r := harmless(t, nil, python, "-c", "import pandas; print(pandas.Series(range(5000)).rolling(7).mean().sum())"); r.status != 0 {
			t.Errorf("status %#x: %s", r.status, r.stderr)
		}
	})
	t.Run("Java", func(t *testing.T) {
		java := test.Peer(t, "java", "openjdk-17-jdk-headless")
		if r := harmless(t, nil, java, "-Xshare:auto", "-version"); r.status != 0 {
			t.Errorf("status %#x: %s", r.status, r.stderr)
		}
		source := filepath.Join(t.TempDir(), "Work.java")
		if err := os.WriteFile(source, []byte(workJava), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := harmless(t, nil, java, source); r.status != 3<<8 || r.stdout != "1600\n" {
			t.Errorf("status %#x, output %q: %s", r.status, r.stdout, r.stderr)
		}
	})
}

// workJava allocates in four threads until much is collected, and ends with 3.
const workJava = `public class Work {
	static volatile byte[] kept;
	public static void main(String[] args) throws Exception {
		java.util.concurrent.atomic.AtomicLong sum = new java.util.concurrent.atomic.AtomicLong();
		Thread[] all = new Thread[4];
		for (int t = 0; t < all.length; t++) {
			all[t] = new Thread(() -> {
				for (int i = 0; i < 400; i++) {
					kept = new byte[1 << 20];
					java.nio.ByteBuffer.allocateDirect(1 << 16).put(0, (byte) 1);
					sum.incrementAndGet();
				}
			});
			all[t].start();
		}
		for (Thread t : all) t.join();
		System.out.println(sum.get());
		System.exit(3);
	}
}
`

// Threads that allocate while others fork and start programs.
func TestStressProcesses(t *testing.T) {
	r := harmless(t, nil, compile(t, "processes.c", "-lpthread"))
	if len(r.logs) < 5 {
		t.Errorf("%d logs of more processes", len(r.logs))
	}
}

// Allocators that are not the C library's.
func TestStressAllocators(t *testing.T) {
	program := compile(t, "blocks.c", "-lpthread")
	for _, tt := range []struct{ name, pattern string }{{"jemalloc", "libjemalloc.so.2"}, {"tcmalloc", "libtcmalloc_minimal.so.4"}} {
		t.Run(tt.name, func(t *testing.T) {
			found, _ := filepath.Glob("/usr/lib/*-linux-gnu/" + tt.pattern)
			found = slices.DeleteFunc(found, func(p string) bool { return strings.Contains(p, "aarch64") != (runtime.GOARCH == "arm64") })
			if len(found) == 0 {
				test.Peer(t, tt.pattern, "libjemalloc2 and libtcmalloc-minimal4")
				return
			}
			r := harmless(t, []string{"LD_PRELOAD=" + found[0]}, program)
			checkBlocks(t, r)
		})
	}
	t.Run("one that tells no sizes", func(t *testing.T) {
		own := compile(t, "own.c", "-shared", "-fPIC")
		checkBlocks(t, harmless(t, []string{"LD_PRELOAD=" + own}, program))
	})
	t.Run("the C library's", func(t *testing.T) { checkBlocks(t, harmless(t, nil, program)) })
}

// checkBlocks looks for the 300 blocks that blocks.c makes and the 200 that it
// frees.
func checkBlocks(t *testing.T, r result) {
	t.Helper()
	if r.status != 0 || len(r.logs) != 1 {
		t.Fatalf("status %#x, %d logs", r.status, len(r.logs))
	}
	made, ended := 0, 0
	live := map[uint64]bool{}
	for _, e := range r.logs[0].Events {
		switch {
		case e.Kind == Allocate && e.Size >= 10000 && e.Size < 10300:
			made++
			live[e.Addr] = true
		case e.Kind == Free && live[e.Addr]:
			ended++
			delete(live, e.Addr)
		}
	}
	if made != 300 || ended != 200 {
		t.Errorf("%d blocks made and %d freed, want 300 and 200", made, ended)
	}
}

// Limits of the process and of the folder.
func TestStressLimits(t *testing.T) {
	blocks := compile(t, "blocks.c", "-lpthread")
	for _, limit := range []string{"-v 60000", "-v 25000", "-n 4", "-s 64", "-f 0", "-f 20", "-d 30000"} {
		t.Run("ulimit "+limit, func(t *testing.T) {
			harmless(t, nil, "sh", "-c", "ulimit "+limit+" && exec "+blocks)
		})
	}
	want := execute(t, os.Environ(), blocks)
	folder := func(t *testing.T, dir string) []*Log {
		got := execute(t, Environ(os.Environ(), library(t), dir, DefaultThreshold), blocks)
		if got.status != want.status || got.stdout != want.stdout || got.stderr != want.stderr {
			t.Errorf("status %#x, output %q, errors %q; want %#x, %q", got.status, got.stdout, got.stderr, want.status, want.stdout)
		}
		logs, _ := Read(dir)
		return logs
	}
	t.Run("no such folder", func(t *testing.T) { folder(t, filepath.Join(t.TempDir(), "none")) })
	t.Run("small folder", func(t *testing.T) {
		for _, size := range []string{"4k", "8k", "64k"} {
			dir := t.TempDir()
			if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
				t.Skipf("a small file system cannot be made here: %v", err)
			}
			defer syscall.Unmount(dir, 0)
			logs := folder(t, dir)
			if len(logs) != 1 || logs[0].Why != NoRoom {
				t.Errorf("%s: %d logs, and none says that there was no room", size, len(logs))
			}
		}
	})
}

// Programs that end badly end as they would.
func TestStressCrashes(t *testing.T) {
	program := compile(t, "crash.c")
	for _, how := range []string{"double free", "abort", "corrupted", "stack overflow", "coroutine"} {
		t.Run(how, func(t *testing.T) { harmless(t, nil, program, how) })
	}
}

// Programs that give up system calls, or the time, are not ended by one of ours, and their log
// says why it has no more.
func TestStressConfined(t *testing.T) {
	program := compile(t, "confined.c")
	for _, how := range []string{"filter", "prctl", "strict", "time"} {
		for _, before := range []string{"0", "3", "3000"} {
			t.Run(how+" after "+before, func(t *testing.T) {
				r := harmless(t, nil, program, how, before)
				if r.status.Signaled() || r.status.ExitStatus() != 5 {
					t.Skipf("it cannot be confined here: status %#x", r.status)
				}
				if len(r.logs) != 1 || r.logs[0].Why != Confined {
					t.Errorf("%d logs, and none says that the program was confined", len(r.logs))
				}
			})
		}
	}
}

// A handler of signals that allocates while the log gets room does not wait for what
// it interrupted.
func TestStressHandler(t *testing.T) {
	program := compile(t, "handler.c")
	for _, args := range [][]string{nil, {"opened"}} {
		r := harmless(t, nil, append([]string{program}, args...)...)
		if r.status.ExitStatus() == 3 {
			t.Skip("system calls cannot be caught here")
		}
		if r.status.ExitStatus() != 5 {
			t.Errorf("%v: status %#x", args, r.status)
		}
		for _, l := range r.logs {
			if len(args) > 0 && l.Why != Held && l.Why != NoRoom {
				t.Errorf("the log ended %v", l.Why)
			}
		}
	}
}

// A program that starts another one after it gave up system calls does not take that
// one down with a call of ours; one that keeps them goes on being logged.
func TestStressConfinedBefore(t *testing.T) {
	program := compile(t, "starts.c")
	for how, want := range map[string]struct {
		why    End
		blocks int
	}{"filter": {Confined, 0}, "privileges": {GoesOn, 300}} {
		t.Run(how, func(t *testing.T) {
			r := harmless(t, nil, program, how)
			if r.status.Signaled() || r.status.ExitStatus() != 5 {
				t.Fatalf("it cannot be confined here: status %#x", r.status)
			}
			blocks := 0
			for _, l := range r.logs {
				for _, e := range l.Events {
					if e.Kind == Allocate && e.Size == 9000 && !l.after(&e) {
						blocks++
					}
				}
			}
			if len(r.logs) != 1 || r.logs[0].Why != want.why || blocks != want.blocks {
				t.Errorf("%d logs, %v, with %d blocks; want %+v", len(r.logs), r.logs, blocks, want)
			}
		})
	}
}

// A log that is full ends, and what is allocated from then on has no name: not even
// that of what was in its place before.
func TestFullLog(t *testing.T) {
	if testing.Short() {
		t.Skip("fills a log of a million entries")
	}
	r := stress(t, nil, compile(t, "full.c"))
	if len(r.logs) != 1 || r.status.ExitStatus() != 6 {
		t.Fatalf("%d logs, status %#x", len(r.logs), r.status)
	}
	l := r.logs[0]
	if l.Why != Full || l.Ended == 0 || l.Missed == 0 {
		t.Errorf("ended %v at %d, %d missed; want a full log", l.Why, l.Ended, l.Missed)
	}
	var same int
	var addr uint64
	if n, err := fmt.Sscanf(r.stdout, "%d 0x%x", &same, &addr); n != 2 || err != nil || same != 1 {
		t.Fatalf("%q: the memory was not used again", r.stdout)
	}
	space := &symbol.Space{}
	space.Map(l.PID, 0, symbol.Mapping{Start: addr &^ 4095, End: addr&^4095 + 1<<20, Path: "[heap]"})
	objects := symbol.NewObjects(space, &symbol.Files{}, nil)
	l.Replay(objects, nil)
	for _, tt := range []struct {
		at    uint64
		named bool
	}{{l.Ended - 1, true}, {l.Ended + 1, false}, {1 << 62, false}} {
		if got := objects.Find(l.PID, l.PID, tt.at, addr+64, 0); got == nil || (got.Source == symbol.FromAllocation) != tt.named {
			t.Errorf("at %d, %d after the end: %+v, want a name: %v", tt.at, tt.at-l.Ended, got, tt.named)
		}
	}
}

// A site that allocates all the time does not fill the log, and its memory gets
// no name of something older.
func TestBusySite(t *testing.T) {
	r := stress(t, nil, compile(t, "busy.c"))
	if len(r.logs) != 1 {
		t.Fatalf("%d logs", len(r.logs))
	}
	l := r.logs[0]
	sum, logged := l.Unlogged(), uint64(0)
	for _, e := range l.Events {
		if e.Kind == Allocate {
			logged++
		}
	}
	if len(l.Events) > 50000 || sum.Calls+logged != 3_000_001 || l.Why != GoesOn || sum.Bytes != sum.Calls*5000 {
		t.Errorf("%d events, %d summed with %d bytes, ended %v", len(l.Events), sum.Calls, sum.Bytes, l.Why)
	}
	if last := l.Events[len(l.Events)-1]; last.Kind != Allocate || last.Size != 77777 {
		t.Errorf("the last event is %+v, want the allocation after the loop", last)
	}
}
