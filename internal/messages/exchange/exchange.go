// Package exchange writes message traces for other tools: as tracks of timeline
// viewers, for Paraver, and in the Common Trace Format.
package exchange

import (
	"context"
	"fmt"
	"slices"

	"github.com/isobath/isobath/internal/base/tracks"
	"github.com/isobath/isobath/internal/messages/trace"
)

// row is one line of the picture: a process, or a thread that takes no part in
// messages.
type row struct {
	number  int32 // of trace.Stacks
	process int32
	track   tracks.Track
	name    string
}

// rowsOf lists the rows of a trace: processes first, each with the number of its
// rank, which it shares with its threads.
func rowsOf(t *trace.Trace) []row {
	var out []row
	inside := map[int64]int64{}
	add := func(number, process int32, name string) {
		home := t.Procs[process].Home
		pid := int64(t.Procs[home].Rank)
		if pid < 0 {
			pid = int64(len(t.Procs)) + int64(home) // no rank: behind all that have one
		}
		out = append(out, row{number, process, tracks.Track{PID: pid, TID: pid*1000 + inside[pid]}, name})
		inside[pid]++
	}
	for p := range t.Procs {
		add(int32(p), int32(p), t.Procs[p].Thread)
	}
	for k, th := range t.Threads {
		if th.Process >= 0 && int(th.Process) < len(t.Procs) {
			add(int32(len(t.Procs)+k), th.Process, th.Name)
		}
	}
	return out
}

// ended are the operations of a call: the messages that leave and arrive in it,
// and how much leaves.
type ended struct {
	leaving, arriving []uint64
	sent              int64
}

// flowsOf gives the messages of a process to the regions that hold them: by the
// place of the region in its stack. A flow has the number of its send, from 1.
func flowsOf(t *trace.Trace, p int32, s *trace.Stack) map[int]ended {
	out := map[int]ended{}
	eachOp(t, p, s, func(i int, op int32) {
		e := out[i]
		e.add(t, op)
		out[i] = e
	})
	return out
}

// eachOp visits the operations of a process with the regions they happen in, by
// their places in the stack. One outside any region is not visited.
func eachOp(t *trace.Trace, p int32, s *trace.Stack, visit func(i int, op int32)) {
	op, last := t.Ops.Start[p], t.Ops.Start[p+1]
	for i := range s.Region {
		if !t.Regions[s.Region[i]].MPI {
			continue
		}
		for op < last && t.Ops.Enter[op] < s.Enter[i] {
			op++
		}
		for ; op < last && t.Ops.Region[op] == s.Region[i] && t.Ops.Exit[op] <= s.Exit[i] && t.Ops.Enter[op] <= s.Exit[i]; op++ {
			visit(i, op)
		}
	}
}

func (e *ended) add(t *trace.Trace, op int32) {
	from, to := t.Ops.Ref[op], t.Ops.Ref[op]+t.Ops.N[op]
	switch t.Ops.Kind[op] {
	case trace.Send:
		for s := from; s < to; s++ {
			if t.Sends.Match[s] >= 0 {
				e.leaving = append(e.leaving, uint64(s)+1)
				e.sent += t.Sends.Bytes[s]
			}
		}
	case trace.Recv:
		for r := from; r < to; r++ {
			if s := t.Recvs.Match[r]; s >= 0 {
				e.arriving = append(e.arriving, uint64(s)+1)
			}
		}
	}
}

// Tracks writes a trace to a sink: a track for each location with its regions,
// a flow for each message, and a counter for each metric.
func Tracks(ctx context.Context, to tracks.Sink, t *trace.Trace) error {
	named := map[int64]bool{}
	for _, r := range rowsOf(t) {
		if !named[r.track.PID] {
			named[r.track.PID] = true
			to.Process(r.track.PID, t.Procs[t.Procs[r.process].Home].Name)
		}
		to.Thread(r.track, r.name)
		stacks, err := t.Stacks(ctx, []int32{r.number})
		if err != nil {
			return err
		}
		w := regionWriter{to: to, trace: t, row: r}
		w.write(stacks[0])
	}
	for _, m := range t.Measures {
		if err := counters(ctx, to, t, m); err != nil {
			return err
		}
	}
	return to.Close()
}

// at is a time of the trace as nanoseconds after its first event.
func at(t *trace.Trace, time int64) int64 { return max(t.NS(time-t.First), 0) }

// regionWriter writes the regions of one row.
type regionWriter struct {
	to    tracks.Sink
	trace *trace.Trace
	row   row
	open  []int // regions that are open
	flows map[int]ended
}

func (w *regionWriter) write(s *trace.Stack) {
	if int(w.row.number) < len(w.trace.Procs) {
		w.flows = flowsOf(w.trace, w.row.number, s)
	}
	for i := range s.Region {
		w.close(s, int(s.Depth[i]))
		r := &w.trace.Regions[s.Region[i]]
		category := "function"
		if r.MPI {
			category = "MPI"
		}
		var details []tracks.Value
		if r.File != "" {
			details = append(details, tracks.Value{Name: "file", Value: fmt.Sprintf("%s:%d", r.File, r.Line)})
		}
		if len(w.flows[i].leaving) > 0 {
			details = append(details, tracks.Value{Name: "bytes", Value: w.flows[i].sent})
		}
		w.to.Begin(w.row.track, at(w.trace, s.Enter[i]), r.Name, category, details, w.flows[i].leaving)
		w.open = append(w.open, i)
	}
	w.close(s, 0)
}

// close ends the regions at a depth and below.
func (w *regionWriter) close(s *trace.Stack, depth int) {
	for n := len(w.open); n > depth; n-- {
		i := w.open[n-1]
		w.to.End(w.row.track, at(w.trace, s.Exit[i]), w.flows[i].arriving)
		w.open = w.open[:n-1]
	}
}

// counters writes the values of a metric.
func counters(ctx context.Context, to tracks.Sink, t *trace.Trace, m trace.Measure) error {
	series, err := t.Series(ctx, m)
	if err != nil {
		return err
	}
	rows := rowsOf(t)
	for p := range series.Time {
		i := slices.IndexFunc(rows, func(r row) bool { return r.number == int32(p) })
		for k, time := range series.Time[p] {
			to.Counter(rows[i].track, at(t, time), m.Name, m.Unit, series.Value[p][k])
		}
	}
	return nil
}
