package reftrace

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/base/scratch"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/record/heap"
)

// Allocations says whether the program's allocations are logged, so that heap
// objects have names.
type Allocations uint8

// The choices.
const (
	Unlogged   Allocations = iota
	IfPossible             // a note says where it is not
	Logged
)

// memory is what is known of the memory that a program touches: its mappings,
// and what it allocated when. Time is the number of references made before.
type memory struct {
	pid     int
	maps    []byte
	library string // of the allocation log; empty without one
	dir     string
	logs    []*heap.Log
	// times are those of each reference where they are not its number: raw counts
	// what the emulator saw, of which one reference may be several.
	times table.Growing[uint32]
	raw   uint32
	bells []uint64 // when each entry was heard of
}

// logAllocations prepares the allocation log and returns the settings of the
// program's environment; none without a log.
func (j *job) logAllocations(ctx context.Context) ([]string, error) {
	if j.Allocations == Unlogged {
		return nil, nil
	}
	settings, err := j.allocationLog(ctx)
	if err == nil || j.Allocations == Logged {
		return settings, err
	}
	j.note("heap objects have no names of their own: %v", err)
	return nil, nil
}

func (j *job) allocationLog(ctx context.Context) ([]string, error) {
	if err := heap.Suits(j.Command[0]); err != nil {
		return nil, fmt.Errorf("--allocations: %w", err)
	}
	if !native(j.program.Machine) {
		return nil, fmt.Errorf("--allocations: the log is made for %s, the program for %v", runtime.GOARCH, j.program.Machine)
	}
	library, err := heap.Library(ctx)
	if err != nil {
		return nil, fmt.Errorf("--allocations: %w", err)
	}
	dir, err := scratch.Folder("", "objects")
	if err != nil {
		return nil, err
	}
	j.memory.library, j.memory.dir = library, dir
	return heap.Environ([]string{"LD_PRELOAD=" + os.Getenv("LD_PRELOAD")}, library, dir, 1), nil
}

// environment is our own with settings in place of what it has; nil without any.
func environment(settings []string) []string {
	if settings == nil {
		return nil
	}
	own := slices.DeleteFunc(os.Environ(), func(e string) bool { return strings.HasPrefix(e, "LD_PRELOAD=") })
	return append(own, settings...)
}

func (m *memory) remove() {
	if m.dir != "" {
		_ = os.RemoveAll(m.dir)
	}
}

// madeAt is when a reference was made, given the times that are kept: entries of the
// log that came before it have a time that is not larger.
func madeAt(times []uint32, i int) uint64 {
	if times != nil {
		return uint64(times[i])
	}
	return uint64(i) + 1
}

// read takes what the program left behind. A damaged log costs names only.
func (m *memory) read(pid int, maps []byte) {
	m.pid, m.maps = pid, maps
	if m.library != "" {
		m.logs, _ = heap.Read(m.dir)
	}
}

// nameObjects finds the object of every reference: a variable, an allocation,
// a stack, or at least the mapping. References of the allocation log itself are
// left out.
func (j *job) nameObjects() error {
	times, spill, err := j.memory.times.Values()
	if err != nil {
		return err
	}
	defer spill.Close()
	if len(j.memory.maps) == 0 {
		return nil // the backend does not say what is mapped where
	}
	files := &symbol.Files{}
	defer files.Close()
	space := &symbol.Space{}
	own := mapAll(space, j.memory.pid, j.memory.maps, j.memory.library, j.stacks(files))
	objects := symbol.NewObjects(space, files, nil)
	objects.Holders = true
	callers := heap.NewCallers(space.History(), files)
	for _, l := range j.memory.logs {
		if l.PID == j.memory.pid {
			l.Replay(objects, callers)
		}
	}
	names := &objectNames{numbers: map[refs.Object]uint32{}, plain: map[string]allocatedBy{}, last: map[*symbol.Object]uint32{}}
	j.rec.Objects = []refs.Object{{}}
	kept := j.rec.Refs[:0]
	for from, block := range j.rec.blocks() {
		for i, r := range block {
			if own.Contains(r.PC) {
				continue
			}
			if o := objects.Find(j.memory.pid, int(r.Thread), madeAt(times, from+i), r.Addr, 0); o != nil {
				r.Object = j.number(names, o)
			}
			kept = append(kept, r)
		}
		spill.Release()
	}
	j.rec.Refs = kept
	j.rec.Has |= refs.HasObject
	return nil
}

// objectNames numbers objects by name and start.
type objectNames struct {
	numbers map[refs.Object]uint32
	last    map[*symbol.Object]uint32
	// plain says whose a name is: others of that name say where they are from.
	plain map[string]allocatedBy
}

// allocatedBy is what the blocks of one object have in common.
type allocatedBy struct {
	site string
	size uint64
}

// numberedName divides the name of one of several like allocations.
var numberedName = regexp.MustCompile(`^(.*?)( #(?:\d+|…))?$`)

// number returns the number of an object. Allocations of one place and size, one
// after another, are one object where they are at one address.
func (j *job) number(names *objectNames, o *symbol.Object) uint32 {
	if id, ok := names.last[o]; ok {
		return id
	}
	named := refs.Object{Name: o.Name, Start: o.Start}
	switch {
	case o.Source == symbol.FromStack && j.Thread != AllThreads:
		named.Name = "stack" // there is one
	case o.Source == symbol.FromAllocation:
		named.Name = names.allocation(o)
	}
	id, ok := names.numbers[named]
	if !ok && len(j.rec.Objects) < refs.MaxObjects {
		id = uint32(len(j.rec.Objects))
		names.numbers[named] = id
		j.rec.Objects = append(j.rec.Objects, named)
	}
	names.last[o] = id
	return id
}

// allocation returns the name of an allocation: two variables of one name are two
// objects, and so are blocks of two sizes.
func (n *objectNames) allocation(o *symbol.Object) string {
	m := numberedName.FindStringSubmatch(o.Name)
	by := allocatedBy{o.Site, o.Size}
	if first, ok := n.plain[m[1]]; !ok {
		n.plain[m[1]] = by
	} else if first != by {
		return fmt.Sprintf("%s (%s, %s)%s", m[1], cmp.Or(o.Site, "allocated"), term.Bytes(o.Size), m[2])
	}
	return o.Name
}

// mapAll adds the mappings of a process and returns where the library's code
// is. Stacks are named by their threads.
func mapAll(space *symbol.Space, pid int, maps []byte, library string, stacks map[uint32]uint64) (own refs.Range) {
	for line := range strings.Lines(string(maps)) {
		f := strings.Fields(line)
		if len(f) < 5 {
			continue
		}
		low, high, _ := strings.Cut(f[0], "-")
		start, err1 := strconv.ParseUint(low, 16, 64)
		end, err2 := strconv.ParseUint(high, 16, 64)
		offset, err3 := strconv.ParseUint(f[2], 16, 64)
		if err1 != nil || err2 != nil || err3 != nil {
			continue
		}
		m := symbol.Mapping{Start: start, End: end, Offset: offset, Path: strings.Join(f[5:], " "), Exec: strings.Contains(f[1], "x")}
		for thread, at := range stacks {
			switch {
			case m.Path != "" || at < start || at >= end:
			case thread == 0 || int(thread) == pid:
				m.Path = "[stack]"
			default:
				m.Path = fmt.Sprintf("[stack:%d]", thread)
			}
		}
		space.Map(pid, 0, m)
		// An emulator does not map code as such, so all of the library counts.
		if library != "" && m.Path == library {
			if own.High == 0 {
				own.Low = start
			}
			own.High = end
		}
	}
	return own
}
