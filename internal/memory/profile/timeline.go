package profile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/isobath/isobath/internal/base/tracks"
	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
)

// errNoTime is the error for samples that cannot be laid along time.
var errNoTime = errors.New("the samples have no times, which a timeline needs; folded stacks, pprof and callgrind do without")

// moments are the samples of a table in the order of their times.
type moments struct {
	table   *table.Table
	keys    *keys
	rows    []int // in order of time
	time    *table.Column
	parsed  map[string][]symbol.Frame
	process *table.Column // pid or rank; nil if neither
	thread  *table.Column // tid or cpu; nil if neither
	cpu     *table.Column
	start   int64
}

func newMoments(ctx context.Context, t *table.Table, rows table.Bits) (*moments, error) {
	k, err := newKeys(t)
	if err != nil {
		return nil, err
	}
	m := &moments{table: t, keys: k, time: t.Column(samples.Time), parsed: map[string][]symbol.Frame{}, cpu: t.Column(samples.CPU)}
	if summed, _ := samples.Summed(t); summed != nil || m.time == nil {
		return nil, errNoTime
	}
	for _, name := range []string{samples.Rank, samples.PID} {
		m.process = cmp.Or(m.process, t.Column(name))
	}
	for _, name := range []string{samples.TID, samples.CPU} {
		m.thread = cmp.Or(m.thread, t.Column(name))
	}
	for i := range table.Scan(ctx, rows, t.Rows()) {
		if m.time.Has(i) {
			m.rows = append(m.rows, i)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(m.rows) == 0 {
		return nil, errNoTime
	}
	slices.SortStableFunc(m.rows, func(a, b int) int { return cmp.Compare(m.time.Float(a), m.time.Float(b)) })
	m.start = int64(m.time.Float(m.rows[0]))
	return m, nil
}

// at is when a sample was taken, after the first.
func (m *moments) at(row int) int64 { return int64(m.time.Float(row)) - m.start }

// valueOr is the value of a row, or another where there is none.
func valueOr(c *table.Column, row int, otherwise int64) int64 {
	if c == nil || !c.Has(row) {
		return otherwise
	}
	return int64(c.Float(row))
}

func (m *moments) track(row int) tracks.Track {
	return tracks.Track{PID: valueOr(m.process, row, 0), TID: valueOr(m.thread, row, 0)}
}

// stack is the frames of a sample, outermost first.
func (m *moments) stack(row int) []symbol.Frame {
	text := m.keys.text(row)
	frames, ok := m.parsed[text]
	if !ok {
		frames = symbol.ParseStack(text)
		m.parsed[text] = frames
	}
	return frames
}

func (m *moments) processName(t tracks.Track) string {
	if m.process == nil {
		return "samples"
	}
	return fmt.Sprintf("%s %d", m.process.Name, t.PID)
}

func (m *moments) threadName(t tracks.Track) string {
	if m.thread == nil {
		return "all threads"
	}
	return fmt.Sprintf("%s %d", m.thread.Name, t.TID)
}

// WriteTimeline writes samples (nil rows: all) to a sink: each with its call
// stack on the track of its thread, and their latencies as a counter.
func WriteTimeline(ctx context.Context, to tracks.Sink, t *table.Table, rows table.Bits) error {
	m, err := newMoments(ctx, t, rows)
	if err != nil {
		return err
	}
	processes, threads := map[int64]bool{}, map[tracks.Track]bool{}
	for _, row := range m.rows {
		track := m.track(row)
		if !processes[track.PID] {
			processes[track.PID] = true
			to.Process(track.PID, m.processName(track))
		}
		if !threads[track] {
			threads[track] = true
			to.Thread(track, m.threadName(track))
		}
	}
	latency := samples.UsableLatency(t)
	name, unit := "latency", ""
	if latency != nil {
		unit = samples.UnitOf(latency)
		if about := samples.About(latency.Provenance); about != "" {
			name += ", " + latency.Provenance.String()
		}
	}
	frames := map[string][]tracks.Frame{}
	for n, row := range m.rows {
		if n%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		text := m.keys.text(row)
		stack, ok := frames[text]
		if !ok {
			for _, f := range m.stack(row) {
				stack = append(stack, tracks.Frame{Name: f.Function, File: f.File, Line: f.Line})
			}
			frames[text] = stack
		}
		track, at := m.track(row), m.at(row)
		to.Sample(track, at, valueOr(m.cpu, row, -1), stack)
		if latency != nil && latency.Has(row) {
			to.Counter(track, at, name, unit, latency.Float(row))
		}
	}
	return to.Close()
}
