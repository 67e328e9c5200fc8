package reftrace

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/isobath/isobath/internal/base/scratch"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/record/heap"
)

// memory is what is known of the memory that a program touches: its mappings,
// and what it allocated when.
type memory struct {
	pid     int
	maps    []byte
	library string // of the allocation log; empty without one
	dir     string
	logs    []*heap.Log
	times   []uint64 // of each reference; nil without a log
}

// logAllocations prepares the allocation log and returns the environment of
// the program; nil is our own.
func (j *job) logAllocations(ctx context.Context) ([]string, error) {
	if !j.Allocations {
		return nil, nil
	}
	if err := heap.Suits(j.Command[0]); err != nil {
		return nil, fmt.Errorf("--allocations: %w", err)
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
	return heap.Environ(os.Environ(), library, dir, 1), nil
}

func (m *memory) remove() {
	if m.dir != "" {
		_ = os.RemoveAll(m.dir)
	}
}

// stamp notes when a reference was made. The program stands still meanwhile, so
// the order of references and entries of the log is exact.
func (m *memory) stamp() {
	if m.library != "" {
		m.times = append(m.times, monotonic())
	}
}

// monotonic is the clock of the allocation log: CLOCK_MONOTONIC, which Go's own
// readings are relative to.
var monotonic = func() func() uint64 {
	base, start := clock(), time.Now()
	return func() uint64 { return base + uint64(time.Since(start)) }
}()

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
func (j *job) nameObjects() {
	if len(j.memory.maps) == 0 {
		return // the backend does not say what is mapped where
	}
	files := &symbol.Files{}
	defer files.Close()
	space := &symbol.Space{}
	own := mapAll(space, j.memory.pid, j.memory.maps, j.memory.library)
	objects := symbol.NewObjects(space, files, nil)
	callers := heap.NewCallers(space.History(), files)
	for _, l := range j.memory.logs {
		if l.PID == j.memory.pid {
			l.Replay(objects, callers)
		}
	}
	numbers := map[*symbol.Object]uint16{}
	j.rec.Objects = []refs.Object{{}}
	kept := j.rec.Refs[:0]
	for i := range j.rec.Refs {
		r := j.rec.Refs[i]
		if own.Contains(r.PC) {
			continue
		}
		at := uint64(0)
		if j.memory.times != nil {
			at = j.memory.times[i]
		}
		if o := objects.Find(j.memory.pid, int(r.Thread), at, r.Addr, 0); o != nil {
			r.Object = j.number(numbers, o)
		}
		kept = append(kept, r)
	}
	j.rec.Refs = kept
	j.rec.Has |= refs.HasObject
}

func (j *job) number(numbers map[*symbol.Object]uint16, o *symbol.Object) uint16 {
	id, ok := numbers[o]
	if !ok && len(j.rec.Objects) < refs.MaxObjects {
		id = uint16(len(j.rec.Objects))
		numbers[o] = id
		name := o.Name
		if o.Source == symbol.FromStack && j.Thread != AllThreads {
			name = "stack" // there is one
		}
		j.rec.Objects = append(j.rec.Objects, refs.Object{Name: name, Start: o.Start})
	}
	return id
}

// mapAll adds the mappings of a process and returns where the library's code
// is.
func mapAll(space *symbol.Space, pid int, maps []byte, library string) (own refs.Range) {
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
		space.Map(pid, 0, m)
		if library != "" && m.Path == library && m.Exec {
			own = refs.Range{Low: start, High: end}
		}
	}
	return own
}
