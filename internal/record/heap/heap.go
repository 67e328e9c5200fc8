// Package heap logs the large allocations of a program, so that addresses can
// be given the name of the place that allocated them. The log is written by a
// small library that is compiled once with the user's compiler and preloaded.
package heap

import (
	"bytes"
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

	"github.com/isobath/isobath/internal/base/plainfile"
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

// flags compile the library. Frame pointers say where its callers' stacks begin.
var flags = []string{"-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-builtin", "-fno-omit-frame-pointer", "-ldl"}

// DefaultThreshold is the size of the smallest allocation that is logged.
const DefaultThreshold = 4096

// Library returns the compiled library.
func Library(ctx context.Context) (string, error) {
	file, err := ccache.Build(ctx, ccache.Source{Name: "isobath-heap.so", Text: source, Compiler: compiler(), Package: "gcc", Flags: flags})
	if err == nil {
		return forEverybody(file), nil
	}
	// What is built in may need a newer C library than the machine has, so the
	// machine's own compiler comes first.
	ready, none := prebuilt.ReadFile("prebuilt/" + runtime.GOARCH + ".so")
	if none != nil {
		return "", err
	}
	file, err = ccache.Keep("isobath-heap.so", ready)
	if err != nil {
		return "", err
	}
	return forEverybody(file), nil
}

func compiler() string {
	if cc := os.Getenv("CC"); cc != "" {
		return cc
	}
	return "cc"
}

// InGo is the error for a program in Go, which has its memory from its own runtime.
type InGo struct {
	Program string
	// Told says that its debug information tells where its runtime keeps what.
	Told bool
}

func (e *InGo) Error() string { return e.Program + " is a Go program, which has its own heap" }

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
	dynamic, linker := false, ""
	for _, p := range e.Progs {
		if p.Type == elf.PT_INTERP {
			dynamic = true
			path, _ := io.ReadAll(io.LimitReader(p.Open(), 4096)) // PATH_MAX
			linker = string(bytes.TrimRight(path, "\x00"))
		}
	}
	switch {
	case e.Class != elf.ELFCLASS64 || machines[runtime.GOARCH] != e.Machine:
		return fmt.Errorf("%s is a program for another kind of processor (%v, %v)", filepath.Base(program), e.Machine, e.Class)
	case strings.Contains(filepath.Base(linker), "musl"):
		return fmt.Errorf("%s is linked with musl, and the log is for the GNU C library", filepath.Base(program))
	case !dynamic && e.Section(".go.buildinfo") != nil:
		return &InGo{Program: filepath.Base(program), Told: e.Section(".symtab") != nil && (e.Section(".debug_info") != nil || e.Section(".zdebug_info") != nil)}
	case !dynamic:
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

// machines are the processors that the library is compiled for.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

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
	if n := filters(); n != "" {
		out = append(out, "ISOBATH_HEAP_FILTERS="+n)
	}
	return append(out, "LD_PRELOAD="+preload, "ISOBATH_HEAP_DIR="+dir, "ISOBATH_HEAP_THRESHOLD="+strconv.FormatInt(threshold, 10))
}

// Clocked adds the file with the number of references made so far, which then is
// the time of entries; see shim/heap.c.
func Clocked(env []string, counter string) []string {
	return append(env, "ISOBATH_HEAP_CLOCK="+counter)
}

// Rung adds the address at which every entry stores something, for a recorder
// that sees all stores.
func Rung(env []string, bell uint64) []string {
	return append(env, "ISOBATH_HEAP_BELL="+strconv.FormatUint(bell, 16))
}

// Maps returns the mappings that the one process with a bell had at its start.
func Maps(dir string) ([]byte, error) {
	names, err := filepath.Glob(filepath.Join(dir, "maps.*"))
	if err != nil || len(names) == 0 {
		return nil, errors.Join(err, errors.New("the program did not load the allocation log"))
	}
	return plainfile.ReadFile(names[0], 0)
}

// Retime gives the entries of the last program of a process the times at which
// its bell was heard; those of programs before it, which started it, are left out.
// It fails where the numbers differ: nobody knows then which was which.
func (l *Log) Retime(times []uint64) error {
	for i := len(l.Events) - 1; i > 0; i-- {
		if l.Events[i].Kind == Start {
			l.Events = l.Events[i:]
			break
		}
	}
	if len(times) != len(l.Events) {
		return fmt.Errorf("the allocation log has %d entries, %d were seen", len(l.Events), len(times))
	}
	for i := range l.Events {
		l.Events[i].Time = times[i]
	}
	return nil
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
	// Site is where the allocator returns to, Stack what was above; nil if it
	// was not kept.
	Site  uint64
	Stack *Stack
}

// Stack is what was on the stack of a thread when it allocated.
type Stack struct {
	Time uint64
	// Site is where the allocator returns to; SP and Frame are the stack and
	// frame pointers there.
	Site, SP, Frame uint64
	Words           []byte // from SP on
	// Unlogged is what was allocated here and has no entries.
	Unlogged Sums
}

// Sums are allocations that are not in a log one by one.
type Sums struct {
	// Calls and Bytes are of a place that does little else, or from after the end
	// of the log.
	Calls, Bytes uint64
	// Hits are small allocations that were looked at, at distances of 16 KiB
	// on average; all small ones are SmallCalls and SmallBytes by estimate.
	Hits                   uint64
	SmallCalls, SmallBytes float64
}

func (s *Sums) add(o *Sums) {
	s.Calls, s.Bytes, s.Hits = s.Calls+o.Calls, s.Bytes+o.Bytes, s.Hits+o.Hits
	s.SmallCalls, s.SmallBytes = s.SmallCalls+o.SmallCalls, s.SmallBytes+o.SmallBytes
}

// End says why a log ended before its program.
type End uint64

// The ends.
const (
	GoesOn    End = iota
	Full          // it has as many entries as it can
	NoRoom        // the disk is full, or the file could not be written any more
	FileLimit     // a limit of the process forbids a larger file or more memory
	Confined      // the program gave up system calls, and the next one may end it
	NoTime        // a program in the place of another had another clock
	Held          // room was wanted where the thread was getting some
)

func (e End) String() string {
	return []string{"", "the log is full", "there was no room left for the log", "a limit of the process (ulimit) forbids a larger log", "the program confined itself (seccomp, no_new_privs), and a system call for the log might have ended it", "the kernel has another clock since the process began, and what is older has no time", "a handler of signals allocated while the log was getting room"}[min(e, Held)]
}

// Log is what one process allocated.
type Log struct {
	PID    int
	Events []Event
	Missed uint64
	// Ended is when the log ended before its program, which it does rather than
	// disturb it; 0 if it did not. Nothing is known of memory from then on.
	Ended uint64
	Why   End
	// Stacks are the distinct ones, in the order in which they were met. Unplaced
	// is what was allocated on others, which found no room.
	Stacks   []*Stack
	Unplaced Sums
	// code are the bounds of the program and of its libraries.
	code [4]uint64
}

// Copy is a process that began as a copy of another.
type Copy struct {
	Parent, Child int
	Time          uint64
}

// Replay gives the entries of the log to objects, and counts the allocations.
// The copies of the process are returned: the recording may know of them too.
// callers finds who made an allocation; nil names nobody but the direct caller.
func (l *Log) Replay(objects *symbol.Objects, callers *Callers) (allocations int, copies []Copy) {
	freed := map[uint64]uint64{}
	for i := range l.Events {
		e := &l.Events[i]
		if e.Kind != Fork && l.after(e) {
			continue
		}
		switch e.Kind {
		case Free:
			freed[e.Addr] = e.Time
			objects.Free(l.PID, e.Time, e.Addr)
		case Start:
			objects.FreeAll(l.PID, e.Time)
		case Fork:
			copies = append(copies, Copy{Parent: l.PID, Child: int(int32(e.Addr)), Time: e.Time})
		default:
			// An allocation may be dated to when it was asked for; what was freed
			// meanwhile by another thread was freed before.
			at := max(e.Time, freed[e.Addr])
			delete(freed, e.Addr)
			place, sites := callers.of(l, e)
			objects.Allocate(l.PID, at, symbol.Allocation{Addr: e.Addr, Size: e.Size, Sites: sites, Place: place})
			allocations++
		}
	}
	if l.Ended > 0 {
		objects.FreeAll(l.PID, l.Ended)
	}
	for _, s := range l.Stacks {
		if callers != nil && s.Unlogged != (Sums{}) {
			callers.at(l, s) // it may have no entries
		}
	}
	return allocations, copies
}

// after reports whether an entry was made when the log had ended: of an allocation
// then the end may be missing.
func (l *Log) after(e *Event) bool { return l.Ended > 0 && e.Time >= l.Ended }

// headSize is the length of a log's head, and of what a stack holds; see shim/heap.c.
const (
	headSize   = 4096
	stackWords = 66
	sumsBytes  = 48
)

// Kinds of records.
const (
	freeKind  = 0
	stackKind = 7
	clockKind = 8
	withSite  = 0x80 // the stack is not kept, who called is
)

// kinds are the numbers of the file's kinds.
var kinds = [...]Kind{Free, Allocate, Allocate, Allocate, Allocate, Start, Fork}

// layout is how a version of logs lays out its records. A log is counted in units.
type layout struct {
	magic string
	unit  int
	// record reads a record that begins at b, and says how many units it takes; its
	// time is 0 if it was not completed.
	record func(b []byte) (entry, int)
}

// entry is a record of any layout.
type entry struct {
	time, addr, size, site uint64
	kind, tid              uint32
	stack                  uint64 // number of the unit with its stack, plus one
}

// layouts are those of logs that may be found, the newest first: a recording that was
// killed is opened by whatever version comes later.
var layouts = []layout{{"ISOHEAP4", 16, halves}, {"ISOHEAP3", 48, wide}}

func layoutOf(head []byte) *layout {
	for i := range layouts {
		if len(head) >= headSize && string(head[:8]) == layouts[i].magic {
			return &layouts[i]
		}
	}
	return nil
}

// halves reads a record of 32 bytes, of which an end has only the first half.
func halves(b []byte) (entry, int) {
	u64 := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	const addressBits = 56
	e := entry{time: u64(0), addr: u64(1) & (1<<addressBits - 1), kind: uint32(u64(1) >> addressBits)}
	switch {
	case u64(1) == 0 || e.kind == freeKind:
		return e, 1
	case len(b) < 32:
		return entry{}, 2
	}
	e.size = u64(2)
	switch {
	case e.kind == stackKind:
		e.site = u64(3)
		return e, (32 + 8*stackWords + sumsBytes) / 16
	case e.kind&withSite != 0:
		e.kind, e.site = e.kind&^withSite, u64(3)
	default:
		e.tid, e.stack = uint32(u64(3)), u64(3)>>32
	}
	return e, 2
}

// wide reads a record of version 3.
func wide(b []byte) (entry, int) {
	u64 := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	e := entry{time: u64(0), addr: u64(1), size: u64(2), site: u64(3), tid: uint32(u64(4)), kind: uint32(u64(4) >> 32), stack: u64(5)}
	if e.kind == stackKind && e.time > 0 {
		return e, 1 + (8*stackWords+sumsBytes)/48
	}
	return e, 1
}

// Parse reads a log. A process that was killed leaves entries that are not
// complete; those have no time and are left out. The log refers to b.
func Parse(b []byte) (*Log, error) {
	how := layoutOf(b)
	if how == nil {
		return nil, errors.New("not an allocation log")
	}
	u64 := func(at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
	l := &Log{PID: int(int32(u64(8))), Missed: u64(40), Ended: u64(48), Why: End(u64(56)), Unplaced: sumsAt(b[96:])}
	for i := range l.code {
		l.code[i] = u64(64 + 8*i)
	}
	n := int(min(entries(b), uint64(len(b)-headSize)/uint64(how.unit)))
	stacks := map[uint64]*Stack{}
	var ticks clock
	how.each(b, n, func(i int, e *entry, rest []byte) {
		switch {
		case e.kind == stackKind && len(rest) >= 8*stackWords+sumsBytes:
			s := &Stack{Time: e.time, SP: e.addr, Frame: e.size, Site: e.site, Words: rest[:8*stackWords], Unlogged: sumsAt(rest[8*stackWords:])}
			stacks[uint64(i)+1] = s
			l.Stacks = append(l.Stacks, s)
		case e.kind == clockKind && how.unit == 16:
			ticks = append(ticks, both{e.time, e.size})
		}
	})
	how.each(b, n, func(_ int, e *entry, _ []byte) {
		if int64(e.kind) >= int64(len(kinds)) {
			return
		}
		v := Event{Time: e.time, Kind: kinds[e.kind], Addr: e.addr, Size: e.size, TID: e.tid}
		if v.Kind == Allocate {
			v.Site, v.Stack = e.site, stacks[e.stack]
			if v.Stack != nil {
				v.Site = v.Stack.Site
			}
		}
		l.Events = append(l.Events, v)
	})
	if how.unit == 16 && u64(144) != 0 && n > 0 {
		return l, l.tellTime(ticks)
	}
	return l, nil
}

// sumsAt reads sums; calls of small allocations have 8 bits behind their point.
func sumsAt(b []byte) Sums {
	u64 := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	return Sums{Calls: u64(0), Bytes: u64(1), Hits: u64(2), SmallCalls: float64(u64(3)) / 256, SmallBytes: float64(u64(4))}
}

// Unlogged sums up what is not in the log one by one.
func (l *Log) Unlogged() Sums {
	sum := l.Unplaced
	for _, s := range l.Stacks {
		sum.add(&s.Unlogged)
	}
	return sum
}

// each calls f for every complete record, with its unit and what follows its fields.
func (how *layout) each(b []byte, n int, f func(i int, e *entry, rest []byte)) {
	b = b[headSize:]
	for i := 0; i < n; {
		at := i * how.unit
		e, units := how.record(b[at:])
		if e.time != 0 {
			f(i, &e, b[min(at+max(how.unit, 32), len(b)):])
		}
		i += units
	}
}

// entries is how many units the head of a log announces: what did not fit is counted
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
// millions of entries.
func readLog(name string) (*Log, error) {
	f, err := plainfile.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() == 0 { // made, and then there was no room for it
		pid, _ := strconv.Atoi(strings.TrimPrefix(filepath.Base(name), "heap."))
		return &Log{PID: pid, Ended: 1, Why: NoRoom}, nil
	}
	b := make([]byte, headSize)
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	how := layoutOf(b)
	if how == nil {
		return nil, fmt.Errorf("%s: not an allocation log", filepath.Base(name))
	}
	unit := uint64(how.unit)
	size := min(entries(b), uint64(max(info.Size()-headSize, 0))/unit) * unit
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
