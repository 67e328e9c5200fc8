package trace

import "slices"

// Retimed returns the trace with other times: those of calls as given, all
// others moved in proportion between the ends of calls around them. Processes
// begin as given, or by as much earlier or later as their first call if begin is
// nil. Nothing but times changes.
func (t *Trace) Retimed(begin, enter, exit []int64) *Trace {
	out := *t
	out.Calls.Enter, out.Calls.Exit = slices.Clone(enter), slices.Clone(exit)
	out.Procs = slices.Clone(t.Procs)
	ops, waits, frames := &out.Ops, &out.Waits, &out.Frames
	ops.Enter, ops.Exit = slices.Clone(ops.Enter), slices.Clone(ops.Exit)
	waits.Enter, waits.Exit = slices.Clone(waits.Enter), slices.Clone(waits.Exit)
	frames.Enter, frames.Exit = slices.Clone(frames.Enter), slices.Clone(frames.Exit)
	out.moved = make([]*clock, len(t.Procs))
	wait := 0
	frame := 0
	for p := range t.Procs {
		c := newClock(t, p, begin, enter, exit)
		out.moved[p] = c
		for i := t.Ops.Start[p]; i < t.Ops.Start[p+1]; i++ {
			ops.Enter[i], ops.Exit[i] = c.at(ops.Enter[i]), c.at(ops.Exit[i])
		}
		for ; wait < len(waits.Proc) && int(waits.Proc[wait]) == p; wait++ {
			waits.Enter[wait], waits.Exit[wait] = c.at(waits.Enter[wait]), c.at(waits.Exit[wait])
		}
		// Frames lie in the order of processes; those of p end with the last one
		// that an operation of p is in.
		for last := t.lastFrame(p); frame <= last; frame++ {
			frames.Enter[frame], frames.Exit[frame] = c.at(frames.Enter[frame]), c.at(frames.Exit[frame])
		}
		out.Procs[p].First, out.Procs[p].Last = c.at(t.Procs[p].First), c.at(t.Procs[p].Last)
		out.First, out.Last = min(out.First, out.Procs[p].First), max(out.Last, out.Procs[p].Last)
	}
	return &out
}

func (t *Trace) lastFrame(p int) int {
	last := -1
	for i := t.Ops.Start[p]; i < t.Ops.Start[p+1]; i++ {
		last = max(last, int(t.Ops.Frame[i]))
	}
	return last
}

// clock moves the times of one process.
type clock struct {
	from, to []int64 // ends of calls, and the beginning if it is known, before and after
	before   *clock  // what moved them to from, nil if they were recorded there
}

// timeOf is when an event of a process happened, after the origin, by the times
// of this trace; the archive has those of the recording.
func (t *Trace) timeOf(p int32, recorded uint64) int64 {
	at := int64(recorded - t.Origin)
	if t.moved == nil {
		return at
	}
	return t.moved[p].since(at)
}

func (c *clock) since(recorded int64) int64 {
	if c.before != nil {
		recorded = c.before.since(recorded)
	}
	return c.at(recorded)
}

func newClock(t *Trace, p int, begin, enter, exit []int64) *clock {
	c := &clock{}
	if t.moved != nil {
		c.before = t.moved[p]
	}
	if i := t.Calls.Start[p]; begin != nil && i < t.Calls.Start[p+1] && t.Procs[p].First < t.Calls.Enter[i] {
		c.from, c.to = append(c.from, t.Procs[p].First), append(c.to, begin[p])
	}
	for i := t.Calls.Start[p]; i < t.Calls.Start[p+1]; i++ {
		c.from = append(c.from, t.Calls.Enter[i], t.Calls.Exit[i])
		c.to = append(c.to, enter[i], exit[i])
	}
	return c
}

func (c *clock) at(time int64) int64 {
	if len(c.from) == 0 {
		return time
	}
	k, found := slices.BinarySearch(c.from, time)
	switch {
	case found:
		return c.to[k]
	case k == 0:
		return time + c.to[0] - c.from[0]
	case k == len(c.from):
		return time + c.to[k-1] - c.from[k-1]
	}
	part := float64(time-c.from[k-1]) / float64(c.from[k]-c.from[k-1])
	return c.to[k-1] + int64(part*float64(c.to[k]-c.to[k-1]))
}
