package damagetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/formats/foreign"
	"github.com/isobath/isobath/internal/messages/trace"
)

// The bounds that every attempt keeps.
const (
	memoryTimes = 4
	memoryFree  = 64 << 20
	mostTime    = 10 * time.Second // of the processor
	mostWait    = 3 * time.Minute  // in all: the machine may be busy with something else
)

// truncations is at how many evenly spaced places a file is cut: every tenth of
// the first thousand attempts does that, the others are damaged by chance.
const truncations = 100

// cut is the place at which an attempt truncates, in hundredths; places far from
// each other come first.
func cut(attempt int) (place int, ok bool) {
	n := attempt / 10
	return n * 37 % truncations, attempt%10 == 0 && n < truncations
}

// lay writes the specimen, damaged as the attempt says, below a folder, and
// returns what to open and the size of the damaged input.
func (s *specimen) lay(folder string, number, attempt int) (path string, size int, err error) {
	src := newSource(number, attempt)
	hurt := ""
	if attempt >= 0 {
		hurt = slices.Sorted(slices.Values(s.hurt))[src.IntN(len(s.hurt))]
	}
	for name, text := range s.files {
		if name == hurt {
			text = slices.Clone(text)
			if place, ok := cut(attempt); ok {
				text = text[:len(text)*place/truncations]
			} else {
				text = s.damage(src, text)
			}
		}
		size += len(text)
		file := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return "", 0, err
		}
		if err := os.WriteFile(file, text, 0o666); err != nil {
			return "", 0, err
		}
	}
	return filepath.Join(folder, s.open), size, nil
}

// read opens what lies at a path and looks at all of it, as the program would.
func read(ctx context.Context, path string) error {
	if run.IsRun(path) {
		return readSamples(ctx, path)
	}
	found, err := formats.Identify(path)
	if err != nil {
		return err
	}
	switch found.Format.Kind {
	case kind.Samples:
		return readSamples(ctx, path)
	case kind.Trace:
		_, err := trace.Open(ctx, path)
		return err
	case kind.Refs:
		r, err := found.Refs()
		if err != nil {
			return err
		}
		return errors.Join(refs.Each(r, func([]refs.Ref) error { return nil }), r.Close())
	case kind.Topology:
		_, err := found.Topology()
		return err
	case kind.Mesh:
		dumps, err := found.Mesh()
		for i := range min(len(dumps), 3) {
			if _, wrong := dumps[i].Load(context.Background()); wrong != nil {
				err = wrong
			}
		}
		return err
	}
	return fmt.Errorf("nobody reads %s", found.Format.Kind)
}

func readSamples(ctx context.Context, path string) error {
	// The symbols of this machine's kernel take a second to read.
	opt := dataset.Options{Options: foreign.Options{Kallsyms: filepath.Join(test.Root(), filepath.FromSlash(mine+"kallsyms"))}}
	set, err := dataset.Open(ctx, path, opt)
	if err != nil {
		return err
	}
	defer set.Close()
	ask := &query.Request{Axes: []query.Axis{}}
	for i, c := range set.Table.Columns() {
		table.Summarize(c)
		if i < 4 {
			ask.Axes = append(ask.Axes, query.Axis{Column: c.Name})
		}
	}
	_, err = set.Engine.Answer(ctx, ask)
	return err
}

// stopwatch tells how long something takes. What ends late only because others
// have the processor is not at fault: that of this process counts.
type stopwatch struct {
	began time.Time
	spent time.Duration
}

func startWatch() *stopwatch { return &stopwatch{time.Now(), spent()} }

func (w *stopwatch) wall() time.Duration { return time.Since(w.began) }

func (w *stopwatch) cpu() time.Duration { return spent() - w.spent }

// over says that it takes too long, by more than a grace.
func (w *stopwatch) over(grace time.Duration) bool {
	return w.cpu() > mostTime+grace || w.wall() > mostWait+grace
}

// spent is the processor time of this process.
func spent() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// allocated is how many bytes were ever allocated: more than were in use at once.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// try makes one attempt. Who allocates more than may be in use at once tries
// again and is measured.
func (s *specimen) try(folder string, number, attempt int) (finding string, err error) {
	path, size, err := s.lay(folder, number, attempt)
	if err != nil {
		return "", err
	}
	open := func() error {
		return parallel.Safely(func() error { return read(context.Background(), path) })
	}
	before, watch := allocated(), startWatch()
	failed := open()
	var p *parallel.Panic
	switch {
	case errors.As(failed, &p):
		return fmt.Sprintf("panic: %v\n%s", p.Value, p.Stack), nil
	case watch.over(0):
		return fmt.Sprintf("took %v of the processor, %v in all", watch.cpu(), watch.wall()), nil
	case failed != nil && strings.TrimSpace(failed.Error()) == "":
		return "an error without a sentence", nil
	}
	limit := int64(memoryTimes*size + memoryFree)
	if int64(allocated()-before) <= limit {
		return "", nil
	}
	if peak := peakOf(open); peak > limit {
		return fmt.Sprintf("used %d MB for an input of %d bytes", peak>>20, size), nil
	}
	return "", nil
}

// peakOf is how much resident memory f adds.
func peakOf(f func() error) int64 {
	debug.FreeOSMemory()
	// 5 resets the peak; see proc_pid_clear_refs(5).
	if os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) != nil {
		return 0
	}
	before := status("VmRSS:")
	f()
	peak := status("VmHWM:") - before
	runtime.GC()
	return peak
}

// status reads a size from /proc/self/status.
func status(field string) int64 {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
			return n << 10
		}
	}
	return 0
}
