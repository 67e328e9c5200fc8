package record

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unsafe"

	"github.com/isobath/isobath/internal/base/plainfile"
	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/record/operand"
	"github.com/isobath/isobath/internal/record/pmu"
	"github.com/isobath/isobath/internal/record/sampler"
)

// UnfinishedAt returns the folder of an unfinished recording: the one that is
// named, or that of a run which was never finished.
func UnfinishedAt(path string) (string, bool) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		path = filepath.Clean(path) + Unfinished
	}
	if !strings.HasSuffix(filepath.Clean(path), Unfinished) {
		return "", false
	}
	_, err := os.Stat(filepath.Join(path, eventsFile))
	return path, err == nil
}

// Recover makes a run of what an unfinished recording has: its recorder was
// killed, could not write the run, or is still at work.
func Recover(ctx context.Context, dir string) (*run.Run, error) {
	files := &symbol.Files{}
	defer files.Close()
	r, err := recovered(ctx, files, dir, unfinished, 0)
	if err == nil {
		r.Warnings = append([]string{fmt.Sprintf("the recording was never finished: these are the %.1f s up to its last sample", r.Recording.Seconds)}, r.Warnings...)
	}
	return r, err
}

// recovered makes a run of what is on disk, with a word for how it ends. It has at
// most so many samples, evenly taken; 0 is all of them.
func recovered(ctx context.Context, files *symbol.Files, dir string, end sampler.End, most int) (*run.Run, error) {
	c := newCollector(files)
	defer c.code.close()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	h, err := c.readEvents(root)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	release, err := c.readRows(root, h.Last)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	defer release()
	out := h.outcome(c, end)
	said := c.thin(most, &out.Plan)
	opt := &Options{Command: h.Command, PID: h.PID, Group: h.Group, All: h.All, Sampling: pmu.Options{Latency: h.Latency}, Say: func(string) {}}
	work := &workspace{dir: h.Heap.Folder, library: h.Heap.Library, threshold: h.Heap.Threshold, absent: h.Heap.Absent}
	if work.dir != "" && !ours(work.dir) { // a stranger's recording may name any folder
		work.dir, work.absent = "", "its folder is gone, or another's"
	}
	c.about = h
	r, err := c.run(ctx, opt, out, work, h.Why)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	r.Warnings = append(said, r.Warnings...)
	return r, nil
}

// unfinished is how a recording without an end ended.
const unfinished sampler.End = "unfinished"

// outcome is what is known without the end.
func (h *head) outcome(c *collector, end sampler.End) *sampler.Outcome {
	out := &sampler.Outcome{PID: h.PID, Started: h.Started, ClockOffset: h.Clock, End: end}
	out.Plan = pmu.Plan{Name: h.Mode, What: h.What, Events: []pmu.Event{{Name: h.Event, Attr: perfevent.Attr{Period: h.Period}}}}
	last := uint64(0)
	for i := range c.rows {
		last = max(last, c.rows[i].time)
	}
	if begin := h.Started.UnixNano() - h.Clock; last > 0 && int64(last) > begin {
		out.Elapsed = time.Duration(int64(last) - begin)
	}
	c.countLosses(&out.Losses)
	return out
}

// longestLine bounds a line of events: a chain has at most maxCallers addresses,
// a path is at most a few thousand bytes.
const longestLine = 1 << 20

// readEvents gives the collector what happened. A last line that is not whole is
// left out.
func (c *collector) readEvents(root *os.Root) (*head, error) {
	f, err := plainfile.OpenIn(root, eventsFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 64<<10), longestLine)
	lines.Split(wholeLines)
	if !lines.Scan() {
		return nil, errors.New("the recording ended before it began")
	}
	h := &head{}
	switch err := json.Unmarshal(lines.Bytes(), h); {
	case err != nil:
		return nil, fmt.Errorf("its head cannot be read: %w", err)
	case h.Version != journalVersion || h.Layout != layout():
		return nil, errors.New("another version of isobath recorded this; that one can open it")
	}
	for lines.Scan() {
		var e entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("an event cannot be read: %w", err)
		}
		c.replay(&e)
	}
	return h, lines.Err()
}

// wholeLines splits lines, and drops what follows the last one.
func wholeLines(data []byte, atEOF bool) (int, []byte, error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF {
		return len(data), nil, nil
	}
	return 0, nil, nil
}

func (c *collector) replay(e *entry) {
	switch {
	case e.Mapping != nil:
		c.Mapping(e.Time, e.Mapping)
	case e.Task != nil:
		c.Fork(e.Task)
	case e.Comm != nil:
		c.Comm(e.Time, e.Comm)
	case e.Loss != nil:
		c.Loss(e.Loss)
	case e.Chain != nil:
		c.callers.chains = append(c.callers.chains, e.Chain)
		c.callers.samples++
	case e.Told != nil:
		c.retell(e.Told)
	case e.Script != nil:
		c.addScript(*e.Script)
	case e.Place != "":
		c.kernelWords.number(e.Place)
	}
	c.kernel, c.other = c.kernel+e.Kernel, c.other+e.Other
}

// readRows maps rows and touches. They are checked: the files may be damaged.
// Of a recording that keeps its end, that is what is taken.
func (c *collector) readRows(root *os.Root, last time.Duration) (release func(), err error) {
	rows, err := plainfile.OpenIn(root, rowsFile)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	touches, err := plainfile.OpenIn(root, touchesFile)
	if err != nil {
		return nil, err
	}
	defer touches.Close()
	if last > 0 {
		release, err = func() {}, c.loadLast(uint64(last), rows, touches)
	} else {
		release, err = c.mapRows(rows, touches, true)
	}
	if err != nil {
		return nil, err
	}
	for i := range c.rows {
		if r := &c.rows[i]; !r.sound(c) {
			*r = row{time: r.time, pid: r.pid, tid: r.tid, cpu: r.cpu, found: operand.NoRegisters}
		}
	}
	c.late = true // as for units with an area of their own
	return release, nil
}

// sound reports whether what a row says about itself has a meaning.
func (r *row) sound(c *collector) bool {
	places := &c.kernelWords
	for _, flag := range []*bool{&r.unverified, &r.spins, &r.again, &r.hasAddr, &r.access.Ambiguous} {
		if *(*byte)(unsafe.Pointer(flag)) > 1 {
			return false
		}
	}
	return r.found.Known() && int(r.op) < len(opNames) && r.access.Known() && r.stack >= 0 && int(r.stack) < len(c.callers.chains) && places.has(r.way) && places.has(r.leaf) && int(r.told) <= len(c.told)
}
