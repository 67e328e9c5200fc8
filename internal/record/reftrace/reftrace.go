// Package reftrace records every memory reference of a region of a program, by
// whichever way is there and fits, into the same table.
package reftrace

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/flow"
	"github.com/isobath/isobath/internal/data/refs/reftable"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/source"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/record/heap"
	"github.com/isobath/isobath/internal/record/step"
	"github.com/isobath/isobath/internal/record/target"
)

// Backend is a way to record.
type Backend string

// The backends.
const (
	Auto       Backend = "auto"
	Step       Backend = "step"            // ptrace, one instruction at a time
	QEMU       Backend = "qemu"            // qemu-user with our plugin
	Valgrind   Backend = "valgrind"        // lackey's text
	Instrument Backend = flow.HookedFormat // the program was built with 'isobath cc'
)

// Backends are the names a user may give.
var Backends = []Backend{Auto, Step, QEMU, Valgrind, Instrument}

// Threads that are no number; see step.Options.
const (
	FirstThread = step.FirstThread
	AllThreads  = step.AllThreads
)

// Options say what to record.
type Options struct {
	Command []string
	Region  target.Region
	Limit   uint64 // references; 0 is none
	Thread  int
	Backend Backend
	// Allocations logs what the program allocates, so that heap objects have
	// names. A program that allocates inside the region then makes some
	// references more, in its C library, for the log.
	Allocations Allocations
	// Flow keeps the way through the code too, from which loops are counted.
	Flow bool
	// Say is told in one line which backend is used, and why.
	Say func(string)
}

// Recording is a finished trace. A long one is in temporary files until it is
// closed.
type Recording struct {
	Backend Backend
	Program string // its file
	Refs    []refs.Ref
	Places  []refs.Place
	Objects []refs.Object
	Has     refs.Fields
	// Flow is the way through the code; nil where it was not recorded.
	Flow   *flow.Trace
	Exit   int
	Signal string
	Notes  []string
	// Instructions is how many were stepped; 0 where the backend does not count.
	Instructions uint64

	origin kind.Origin
	spill  *table.Spill // keeps the references; nil where they are in memory
}

// Close frees what the recording takes, which must not be used afterwards.
func (r *Recording) Close() error {
	err := r.spill.Close()
	r.Refs = nil
	if r.Flow != nil {
		err = errors.Join(err, r.Flow.Close())
	}
	return err
}

// blockRefs is how many references are in memory at a time: ten megabytes.
const blockRefs = 1 << 18

// blocks visits the references from one on, which may be changed. Memory of those
// that were visited is given back.
func (r *Recording) blocks() iter.Seq2[int, []refs.Ref] {
	return func(yield func(int, []refs.Ref) bool) {
		for from := 0; from < len(r.Refs); from += blockRefs {
			if !yield(from, r.Refs[from:min(from+blockRefs, len(r.Refs))]) {
				return
			}
			r.spill.Release()
		}
	}
}

// A reference takes 40 bytes in a temporary file until the run is written.
const (
	// defaultLimit ends a recording without a limit: 2 GB.
	defaultLimit = 50_000_000
	// maxRefs bounds what a user may ask for: 10 GB.
	maxRefs = 1 << 28
)

// job is a recording under way.
type job struct {
	Options
	limited bool // by the user
	program *target.Program
	bounds  target.Bounds
	rec     Recording
	kept    table.Growing[refs.Ref] // becomes rec.Refs
	// bias is what the program's addresses have been moved by; modules are all
	// files of code, by running addresses.
	bias    uint64
	modules []target.Module
	entered bool
	left    bool
	full    bool
	// unfollowed says that goroutines could not be told apart.
	unfollowed bool
	// skipped and calls are how many regions were passed over, and recorded to
	// their end.
	skipped, calls uint64
	// overreads says that the emulator loads 16 bytes for scalar multiply-add
	// instructions, as release 7.2 of qemu does.
	overreads bool
	memory    memory
	flow      rawFlow
	sites     siteLog // of compiler hooks
}

// Record runs the command and records the region. The command's own exit code
// is in the recording; an error means that nothing was recorded.
func Record(ctx context.Context, o Options) (*Recording, error) {
	if len(o.Command) == 0 {
		return nil, fmt.Errorf("no program given")
	}
	p, err := target.Find(o.Command[0])
	if err != nil {
		return nil, err
	}
	if o.Region.Function == "" && o.Region.Begin == "" {
		o.Region.Function = "main"
	}
	j := &job{program: p, limited: o.Limit > 0}
	if !j.limited {
		o.Limit = defaultLimit
	}
	o.Limit = min(o.Limit, maxRefs)
	j.Options = o
	j.rec.Has = refs.HasPC | refs.HasSize | refs.HasThread | refs.HasPlace
	j.rec.origin, j.rec.Program = origin(o.Command), p.Path
	if j.bounds, err = p.Resolve(o.Region); err != nil {
		return nil, err
	}
	if j.Flow && j.bounds.Calls > 1 {
		// The way from one call to the next is not recorded, and would be taken for
		// a loop.
		j.Flow = false
		j.note("the way through the code is kept of one call only: 'isobath loops' needs a recording without --calls")
	}
	choice, why := j.choose()
	if o.Say != nil {
		o.Say(fmt.Sprintf("recording %s with %s: %s", o.Region, choice, why))
	}
	j.rec.Backend = choice
	record, ok := map[Backend]func(context.Context) error{Step: j.step, QEMU: j.qemu, Valgrind: j.valgrind, Instrument: j.instrument}[choice]
	if !ok {
		return nil, fmt.Errorf("backend %q: want %s", o.Backend, names())
	}
	defer j.memory.remove()
	if err := record(ctx); err != nil {
		j.kept.Drop()
		return nil, err
	}
	if j.rec.Refs, j.rec.spill, err = j.kept.Editable(); err != nil {
		return nil, err
	}
	j.explain()
	if err := errors.Join(j.nameObjects(), j.name()); err != nil {
		return nil, errors.Join(err, j.rec.Close())
	}
	return &j.rec, nil
}

func names() string {
	var all []string
	for _, b := range Backends {
		all = append(all, string(b))
	}
	return strings.Join(all, ", ")
}

func origin(command []string) kind.Origin {
	host, _ := os.Hostname() // unknown stays empty
	return kind.Origin{Host: host, Command: command, Time: time.Now().UTC().Format(time.RFC3339), Tool: "isobath record --refs"}
}

// emit keeps one reference; false once the limit is reached.
func (j *job) emit(r refs.Ref) bool {
	if uint64(j.kept.Len()) >= j.Limit {
		j.full = true
		return false
	}
	j.kept.Append(r)
	if j.memory.raw > 0 {
		j.memory.times.Append(j.memory.raw)
	}
	return true
}

func (j *job) step(ctx context.Context) error {
	settings, err := j.logAllocations(ctx)
	if err != nil {
		return err
	}
	count := func() {}
	if settings != nil {
		c, err := newCounter(j.memory.dir)
		if err != nil {
			return err
		}
		defer c.close()
		settings, count = heap.Clocked(settings, c.file), func() { c.set(uint64(j.kept.Len())) }
	}
	var way *flow.Encoder
	if j.Flow {
		way = flow.NewEncoder()
	}
	res, err := step.Run(ctx, step.Options{
		Flow:    way,
		Program: j.program, Args: j.Command[1:], Env: environment(settings), Bounds: j.bounds, Limit: j.Limit, Thread: j.Thread,
		Emit: func(r refs.Ref) { j.emit(r); count() },
	})
	if err != nil {
		return err
	}
	if way != nil {
		if j.flow.blocks, j.flow.threads, err = way.Flow(); err != nil {
			return err
		}
	}
	j.rec.Exit, j.rec.Signal, j.rec.Instructions = res.Exit, res.Signal, res.Instructions
	j.bias, j.modules = res.Bias, res.Modules
	j.memory.read(res.PID, res.Maps)
	j.entered, j.left, j.full = res.Entered, res.Left, res.Full
	j.skipped, j.calls = res.Skipped, res.Calls
	if res.Stuck {
		j.note("the program loops around load and store exclusive, which cannot be stepped; the trace ends there: use --backend qemu")
	}
	j.unfollowed = res.Unfollowed
	if res.Unknown > 0 {
		j.note("%s went over instructions that could not be decoded; their accesses, if any, are missing", term.Counted(res.Unknown, "step"))
	}
	return nil
}

func (j *job) note(format string, args ...any) {
	j.rec.Notes = append(j.rec.Notes, fmt.Sprintf(format, args...))
}

// explain says what a reader of the trace must know.
func (j *job) explain() {
	region := j.Region.String()
	switch {
	case j.rec.Signal != "":
		j.note("the program ended by a signal: %s", j.rec.Signal)
	case j.rec.Exit != 0:
		j.note("the program ended with exit code %d", j.rec.Exit)
	}
	if j.program.Go && (j.unfollowed || j.rec.Backend != Step) {
		j.note("this is what a thread did, not a goroutine: what it did after it went on in another thread is missing, and what others did in its thread may be there%s",
			map[bool]string{true: "; --backend step follows goroutines"}[!j.unfollowed && native(j.program.Machine)])
	}
	wanted := j.bounds.Calls
	switch {
	case !j.entered && j.skipped > 0:
		j.note("the region (%s) was entered %d times, and --skip passes over %d of each thread: there are no references", region, j.skipped, j.bounds.Skip)
	case !j.entered:
		j.note("the region (%s) was never entered: there are no references", region)
	case j.full:
		j.note("the trace was cut at %d references%s", j.Limit, map[bool]string{false: "; --limit allows more"}[j.limited])
	case wanted > 1 && wanted != target.EveryCall && j.calls < wanted:
		j.note("the program ended after %d of the %d times that were to be recorded", j.calls, wanted)
	case !j.left:
		j.note("the program ended inside the region (%s)", region)
	}
}

// Run makes the run of a recording.
func (r *Recording) Run() (*run.Run, error) {
	blocks := func(yield func([]refs.Ref) bool) {
		for _, block := range r.blocks() {
			if !yield(block) {
				return
			}
		}
	}
	t, err := reftable.FromBlocks(blocks, len(r.Refs), r.Places, r.Objects, r.Has)
	if err != nil {
		return nil, err
	}
	contents := []*table.Table{t}
	if r.Flow != nil {
		more, err := r.Flow.Tables()
		if err != nil {
			return nil, err
		}
		contents = append(contents, more...)
	}
	out := &run.Run{Contents: contents, Manifest: run.Manifest{
		Version: run.Version, Kind: kind.Refs, Format: string(r.Backend), Origin: r.origin,
		Imported: time.Now().UTC().Truncate(time.Second), From: []string{filepath.Base(r.origin.Command[0])}, Warnings: r.Notes,
	}}
	out.SourceFiles = map[string]source.File{}
	if file := t.Column("file"); file != nil {
		for name, m := range source.FindOwn(source.WithIncluded(file.Dict), nil) {
			out.SourceFiles[name] = m.File
			out.Sources = append(out.Sources, run.SourceEntry{Name: name, Found: string(m.How)})
		}
		slices.SortFunc(out.Sources, func(a, b run.SourceEntry) int { return strings.Compare(a.Name, b.Name) })
	}
	return out, nil
}
