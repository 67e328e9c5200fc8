package record

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
	"unsafe"

	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/record/pmu"
)

// Watch is who looks at a recording while it goes on. Its functions are called
// from one goroutine, and never after Record has returned.
type Watch struct {
	// Rows bounds the samples of a run that is shown. Of more, some are taken
	// evenly: an hour is then shown as often as a second, and in as much memory.
	Rows int
	// Show is given the run as it is so far.
	Show func(ctx context.Context, r *run.Run) error
	// Tell is told how far the recording is, whether or not it is shown.
	Tell func(Sofar)
	// Held reports that what is shown shall stay as it is.
	Held func() bool
}

// Sofar is how far a recording is.
type Sofar struct {
	Samples int
	Elapsed time.Duration
}

// watchEvery is how often a recording is shown: a little more than once a second. A
// moment that takes longer to show than a part of that is followed by a pause of as many
// times as long, for the program that is recorded needs the processor too, and the
// next one has fewer samples, but watchFewest if there are so many.
const (
	watchFirst  = 300 * time.Millisecond
	watchEvery  = 900 * time.Millisecond
	watchShare  = 3
	watchFewest = 10_000
)

// pace is how many samples the next moment has, and how long after the last one it
// is made.
type pace struct {
	rows  int // 0 for all
	pause time.Duration
	usual time.Duration // what the last moment took; 0 before the first one
	calm  int           // moments since one that took far longer than the one before it
}

// A moment that takes so many times as long as the one before it has probably read
// programs, as others do not: the next one comes as soon as ever. Not again before so
// many others, or it is no exception.
const (
	watchLonger = 4
	watchCalm   = 8
)

// next is what follows a moment that had so many samples and took so long; most is
// what a moment may have. The first one with samples also reads the programs.
func (p pace) next(samples int, took time.Duration, most int) pace {
	if samples == 0 {
		p.pause = watchFirst
		return p
	}
	first := p.usual == 0
	longer := took > watchLonger*p.usual && p.calm >= watchCalm
	p.usual, p.calm = took, p.calm+1
	if first || longer {
		p.pause, p.calm = max(watchEvery-took, watchFirst), 0
		return p
	}
	p.pause = max(watchEvery-took, watchShare*took)
	switch fair := watchEvery / (watchShare + 1); {
	case most <= 0:
	case took > fair:
		p.rows = min(p.rows, max(watchFewest, int(float64(min(samples, p.rows))*float64(fair)/float64(took))))
	case took < fair/2:
		p.rows = min(most, 2*p.rows)
	}
	return p
}

// watching is a watch under way.
type watching struct {
	end  context.CancelFunc
	task *parallel.Task
}

// begin follows the journal in a folder until finish is called.
func (w *Watch) begin(ctx context.Context, dir string, say func(string)) *watching {
	ctx, end := context.WithCancel(context.WithoutCancel(ctx))
	return &watching{end, parallel.Start(ctx, func(ctx context.Context) error { return w.follow(ctx, dir, say) })}
}

// finish gives up what is being made ready to be shown. Nobody may be watching.
func (w *watching) finish() error {
	if w == nil {
		return nil
	}
	w.end()
	return w.task.Wait()
}

func (w *Watch) follow(ctx context.Context, dir string, say func(string)) error {
	files := &symbol.Files{} // read once: programs do not change while they run
	defer files.Close()
	begun, shown, failed := time.Now(), -1, false
	for pace := (pace{rows: w.Rows, pause: watchFirst}); ; {
		timer := time.NewTimer(pace.pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
		at := time.Now()
		n, err := samplesIn(dir)
		w.Tell(Sofar{n, at.Sub(begun)})
		if err == nil && n != shown && !w.Held() {
			err = w.show(ctx, files, dir, pace.rows)
			shown = n
			pace = pace.next(n, time.Since(at), w.Rows)
		} else {
			pace.pause = watchEvery
		}
		if err != nil && ctx.Err() == nil && !failed {
			failed = true // the next moment may be shown; saying it again helps nobody
			say(fmt.Sprintf("the recording cannot be shown while it goes on: %v", err))
		}
	}
}

func (w *Watch) show(ctx context.Context, files *symbol.Files, dir string, rows int) error {
	r, err := recovered(ctx, files, dir, inBetween, rows)
	if err != nil {
		return err
	}
	return w.Show(ctx, r)
}

// samplesIn counts the samples that a journal holds.
func samplesIn(dir string) (int, error) {
	info, err := os.Stat(filepath.Join(dir, rowsFile))
	if err != nil {
		return 0, err
	}
	return int(info.Size() / int64(unsafe.Sizeof(row{}))), nil
}

// touchesPerRow bounds the first touches beside thinned samples: whether a page was
// touched is not known by halves, so there are all or none.
const touchesPerRow = 8

// thin leaves at most so many rows, evenly taken, and says so; 0 leaves all. Run
// time that a sample stands for is that of those left out too.
func (c *collector) thin(most int, plan *pmu.Plan) []string {
	if most <= 0 {
		return nil
	}
	var said []string
	if every := (len(c.rows) + most - 1) / most; every > 1 {
		all := c.rows
		c.rows = make([]row, 0, len(all)/every+1)
		for i := 0; i < len(all); i += every {
			r := all[i]
			if !plan.Hardware() {
				r.weight *= uint64(every)
			}
			c.rows = append(c.rows, r)
		}
		said = append(said, fmt.Sprintf("one of %d samples is shown while the recording goes on: %d of %d; the run that is written has all", every, len(c.rows), len(all)))
	}
	if len(c.touches) > touchesPerRow*most {
		said = append(said, fmt.Sprintf("who touched pages first is not shown while the recording goes on: there are %d first touches; the run that is written has them", len(c.touches)))
		c.touches = nil
	}
	return said
}
