// Package heap logs the large allocations of a program, so that addresses can
// be given the name of the place that allocated them. The log is written by a
// small library that is compiled once with the user's compiler and preloaded.
package heap

import (
	"context"
	"debug/elf"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/record/ccache"
)

//go:embed shim/heap.c
var source []byte

// prebuilt holds ARCH.so in releases, made by `make dist`, so that no compiler
// is needed.
//
//go:embed prebuilt
var prebuilt embed.FS

// DefaultThreshold is the size of the smallest allocation that is logged.
const DefaultThreshold = 4096

// Library returns the compiled library.
func Library(ctx context.Context) (string, error) {
	file, err := ccache.Build(ctx, ccache.Source{Name: "isobath-heap.so", Text: source, Compiler: compiler(), Package: "gcc",
		Flags: []string{"-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-builtin", "-ldl"}})
	if err == nil {
		return file, nil
	}
	// What is built in may need a newer C library than the machine has, so the
	// machine's own compiler comes first.
	ready, none := prebuilt.ReadFile("prebuilt/" + runtime.GOARCH + ".so")
	if none != nil {
		return "", err
	}
	return ccache.Keep("isobath-heap.so", ready)
}

func compiler() string {
	if cc := os.Getenv("CC"); cc != "" {
		return cc
	}
	return "cc"
}

// Suits reports whether the library can be preloaded into a program, and if
// not, why.
func Suits(program string) error {
	path, err := exec.LookPath(program)
	if err != nil {
		return nil // starting it will say so better
	}
	e, err := elf.Open(path)
	if err != nil {
		return nil // a script: its interpreter decides
	}
	defer e.Close()
	dynamic := false
	for _, p := range e.Progs {
		dynamic = dynamic || p.Type == elf.PT_INTERP
	}
	if !dynamic {
		return fmt.Errorf("%s is linked statically", filepath.Base(program))
	}
	libraries, _ := e.ImportedLibraries()
	for _, l := range libraries {
		if strings.HasPrefix(l, "libasan") || strings.HasPrefix(l, "libtsan") || strings.HasPrefix(l, "libmsan") || strings.HasPrefix(l, "liblsan") {
			return fmt.Errorf("%s is built with a sanitizer, which must be loaded first", filepath.Base(program))
		}
	}
	return nil
}

// Environ adds what the library needs to an environment.
func Environ(env []string, library, dir string, threshold int64) []string {
	out := make([]string, 0, len(env)+3)
	preload := library
	for _, e := range env {
		if old, ok := strings.CutPrefix(e, "LD_PRELOAD="); ok {
			if old != "" {
				preload += ":" + old
			}
			continue
		}
		out = append(out, e)
	}
	return append(out, "LD_PRELOAD="+preload, "ISOBATH_HEAP_DIR="+dir, "ISOBATH_HEAP_THRESHOLD="+strconv.FormatInt(threshold, 10))
}

// Kind is what an entry of a log tells.
type Kind uint8

// The kinds.
const (
	Free     Kind = iota
	Allocate      // of any function
	Start         // a program begins; what was there before in this process is gone
	Fork          // another process begins as a copy of this one
)

// Event is one entry of a log.
type Event struct {
	Time uint64 // CLOCK_MONOTONIC, ns
	Kind Kind
	Addr uint64 // of a fork, the new process
	Size uint64
	TID  uint32
	// Sites are the return addresses of the call, innermost first.
	Sites []uint64
}

// Log is what one process allocated.
type Log struct {
	PID    int
	Events []Event
	Missed uint64
}

// Copy is a process that began as a copy of another.
type Copy struct {
	Parent, Child int
	Time          uint64
}

// Replay gives the entries of the log to objects, and counts the allocations.
// The copies of the process are returned: the recording may know of them too.
func (l *Log) Replay(objects *symbol.Objects) (allocations int, copies []Copy) {
	for _, e := range l.Events {
		switch e.Kind {
		case Free:
			objects.Free(l.PID, e.Time, e.Addr)
		case Start:
			objects.FreeAll(l.PID, e.Time)
		case Fork:
			copies = append(copies, Copy{Parent: l.PID, Child: int(int32(e.Addr)), Time: e.Time})
		default:
			objects.Allocate(l.PID, e.Time, symbol.Allocation{Addr: e.Addr, Size: e.Size, Sites: e.Sites})
			allocations++
		}
	}
	return allocations, copies
}

// Layout of the file; see shim/heap.c.
const (
	magic      = "ISOHEAP1"
	headSize   = 4096
	recordSize = 48
)

// kinds are the numbers of the file's kinds.
var kinds = [...]Kind{Free, Allocate, Allocate, Allocate, Allocate, Start, Fork}

// Parse reads a log. A process that was killed leaves entries that are not
// complete; those have no time and are left out.
func Parse(b []byte) (*Log, error) {
	if len(b) < headSize || string(b[:len(magic)]) != magic {
		return nil, errors.New("not an allocation log")
	}
	u64 := func(at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
	l := &Log{PID: int(int32(u64(8))), Missed: u64(40)}
	n := min(entries(b), uint64(len(b)-headSize)/recordSize)
	l.Events = make([]Event, 0, n)
	for i := range int(n) {
		at := headSize + i*recordSize
		e := Event{Time: u64(at), Addr: u64(at + 8), Size: u64(at + 16), TID: binary.LittleEndian.Uint32(b[at+32:])}
		kind := binary.LittleEndian.Uint32(b[at+36:])
		if e.Time == 0 || int64(kind) >= int64(len(kinds)) {
			continue
		}
		e.Kind = kinds[kind]
		for _, site := range []uint64{u64(at + 24), u64(at + 40)} {
			if site != 0 && e.Kind == Allocate {
				e.Sites = append(e.Sites, site)
			}
		}
		l.Events = append(l.Events, e)
	}
	return l, nil
}

// entries is how many the head of a log announces: what did not fit is counted
// too, and left out.
func entries(head []byte) uint64 {
	return min(binary.LittleEndian.Uint64(head[32:]), binary.LittleEndian.Uint64(head[24:]))
}

// Read reads all logs of a folder. One that cannot be read does not cost the
// others.
func Read(dir string) ([]*Log, error) {
	names, err := filepath.Glob(filepath.Join(dir, "heap.*"))
	if err != nil {
		return nil, err
	}
	var out []*Log
	var failed []error
	for _, name := range names {
		l, err := readLog(name)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		out = append(out, l)
	}
	return out, errors.Join(failed...)
}

// readLog reads one log, and of it only what was written: the file has room for
// a million entries.
func readLog(name string) (*Log, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b := make([]byte, headSize)
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	size := min(entries(b), uint64(max(info.Size()-headSize, 0))/recordSize) * recordSize
	b = append(b, make([]byte, size)...)
	if _, err := io.ReadFull(f, b[headSize:]); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	l, err := Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	return l, nil
}
