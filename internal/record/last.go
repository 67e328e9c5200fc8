package record

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/record/sampler"
)

// tail makes a journal keep its end only. Its files grow as always, so that rows
// stay where they are; the place of what is too old is given back to the disk.
type tail struct {
	span   uint64 // nanoseconds
	newest uint64 // row or touch
	marks  []tailMark
}

// tailMark says that all before two places in the files is not newer than a time.
type tailMark struct {
	time          uint64
	rows, touches int64
}

// tailParts is how many marks a span has. One part more than the span is kept: who
// reads the files while they are written has that long until what it reads is gone.
const tailParts = 8

// keepLast lets go of what is older than a span, if the file system can.
func (j *journal) keepLast(span time.Duration) error {
	if err := giveBack(j.rows.f, 1); err != nil {
		return fmt.Errorf("--last: the file system of %s cannot give back the beginning of a file: %w; write the run to another with -o", j.dir, err)
	}
	j.tail = &tail{span: uint64(span)}
	return nil
}

// seen notes the time of what was written.
func (t *tail) seen(time uint64) {
	if t != nil {
		t.newest = max(t.newest, time)
	}
}

// forget gives back the place of what is too old. All lanes are flushed.
func (j *journal) forget() {
	t := j.tail
	if t == nil || t.newest == 0 {
		return
	}
	part := t.span / tailParts
	if len(t.marks) == 0 || t.newest-t.marks[len(t.marks)-1].time >= part {
		t.marks = append(t.marks, tailMark{t.newest, j.rows.written, j.touches.written})
	}
	old := 0
	for old < len(t.marks) && t.marks[old].time < t.newest-min(t.newest, t.span+part) {
		old++
	}
	if old == 0 {
		return
	}
	at := t.marks[old-1]
	j.fail(giveBack(j.rows.f, at.rows))
	j.fail(giveBack(j.touches.f, at.touches))
	t.marks = slices.Delete(t.marks, 0, old)
}

// since is what of a time or later some rows have; those that were given back have
// no time.
func since[T row | touch](all []T, from uint64, time func(*T) uint64) []T {
	var out []T
	for i := range all {
		if at := time(&all[i]); at > 0 && at >= from {
			out = append(out, all[i])
		}
	}
	return out
}

func (r *row) at() uint64   { return r.time }
func (t *touch) at() uint64 { return t.time }

// loadLast takes rows and touches of the last span from the files of a journal,
// and leaves out the losses before it.
func (c *collector) loadLast(span uint64, rowsFile, touchesFile *os.File) error {
	rows, unmapRows, err := mappedFrom[row](rowsFile, firstKept(rowsFile))
	if err != nil {
		return err
	}
	defer unmapRows()
	touches, unmapTouches, err := mappedFrom[touch](touchesFile, firstKept(touchesFile))
	if err != nil {
		return err
	}
	defer unmapTouches()
	newest := uint64(0)
	for i := range rows {
		newest = max(newest, rows[i].time)
	}
	for i := range touches {
		newest = max(newest, touches[i].time)
	}
	c.last = &lastSpan{asked: span, from: newest - min(newest, span), to: newest}
	c.rows, c.touches = since(rows, c.last.from, (*row).at), since(touches, c.last.from, (*touch).at)
	c.dropLosses(c.last.from)
	return nil
}

// dropLosses forgets the losses before a time.
func (c *collector) dropLosses(before uint64) {
	c.losses = slices.DeleteFunc(c.losses, func(l sampler.Loss) bool { return l.Time < before })
}

// countLosses counts the losses that are known with their time.
func (c *collector) countLosses(l *sampler.Losses) {
	l.Lost, l.Throttled, l.Truncated = 0, 0, 0
	for i := range c.losses {
		l.Lost += c.losses[i].Records
		switch c.losses[i].Why {
		case sampler.Paused:
			l.Throttled++
		case sampler.AreaFull:
			l.Truncated++
		}
	}
}

// lastSpan is what is kept of a recording, on the clock of samples.
type lastSpan struct{ asked, from, to uint64 }

// describe says the span in seconds since the recording began.
func (s *lastSpan) describe(out *sampler.Outcome) *run.Last {
	began := out.Started.UnixNano() - out.ClockOffset
	seconds := func(at uint64) float64 { return max(0, float64(int64(at)-began)/1e9) }
	return &run.Last{Asked: float64(s.asked) / 1e9, From: seconds(s.from), To: seconds(s.to)}
}

// inBetween is how a recording ended whose end is not yet there.
const inBetween sampler.End = "still running"

// writer writes runs of what is kept while the recording goes on.
type writer struct {
	asked chan struct{}
	task  *parallel.Task
}

// newWriter returns a writer that ends with finish: a run that was asked for is
// written even if the user is impatient now.
func newWriter(ctx context.Context, dir string, opt *Options) *writer {
	w := &writer{asked: make(chan struct{}, 1)}
	w.task = parallel.Start(context.WithoutCancel(ctx), func(ctx context.Context) error {
		files := &symbol.Files{}
		defer files.Close()
		for range w.asked {
			r, err := recovered(ctx, files, dir, inBetween, 0)
			if err == nil {
				err = opt.Snapshot(r)
			}
			if err != nil {
				opt.Say(fmt.Sprintf("the last %v could not be written: %v", opt.Last, err))
			}
		}
		return nil
	})
	return w
}

// ask has a run written; one that is asked for while two are under way is the
// second of them.
func (w *writer) ask() {
	select {
	case w.asked <- struct{}{}:
	default:
	}
}

func (w *writer) finish() error {
	close(w.asked)
	return w.task.Wait()
}
