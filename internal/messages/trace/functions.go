package trace

import (
	"context"

	"github.com/isobath/isobath/internal/formats/otf2"
)

// FunctionTimes reads the archive again and returns, for each call, how long the
// regions wanted were running in the computation before it, and for each process
// after its last call: by themselves, or with what they called.
func (t *Trace) FunctionTimes(ctx context.Context, wanted func(region int32) bool, callees bool) (before, after []int64, err error) {
	a, err := t.Archive()
	if err != nil {
		return nil, nil, err
	}
	n := newNames(a.Defs)
	before, after = make([]int64, len(t.Calls.Enter)), make([]int64, len(t.Procs))
	chosen := make([]bool, len(n.regions))
	for r := range chosen {
		chosen[r] = wanted(int32(r))
	}
	for p := range t.Procs {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		r, err := a.Events(t.Procs[p].Location)
		if err != nil {
			return nil, nil, err
		}
		f := functionClock{t: t, process: int32(p), chosen: chosen, callees: callees, call: t.Calls.Start[p], end: t.Calls.Start[p+1], before: before}
		f.run(r, n)
		after[p] = f.rest
		r.Close()
	}
	return before, after, nil
}

// functionClock follows one process.
type functionClock struct {
	t         *Trace
	process   int32
	chosen    []bool
	callees   bool
	open      []bool // per open region: chosen
	within    int    // how many of the open ones are
	call, end int32  // the next call, and the end of the process's
	before    []int64
	rest      int64
	last      int64
}

func (f *functionClock) run(r *otf2.EventReader, n *names) {
	var ev otf2.Event
	for r.Next(&ev) {
		now := max(f.last, f.t.timeOf(f.process, ev.Time))
		f.pass(now)
		switch ev.Kind {
		case otf2.Enter:
			f.enter(n.region(ev.F[0]))
		case otf2.CallingEnter:
			f.enter(n.context(ev.F[0]))
		case otf2.Leave, otf2.CallingLeave:
			if k := len(f.open) - 1; k >= 0 {
				if f.open[k] {
					f.within--
				}
				f.open = f.open[:k]
			}
		}
	}
}

func (f *functionClock) enter(region int32) {
	f.open = append(f.open, f.chosen[region])
	if f.chosen[region] {
		f.within++
	}
}

// pass gives the time since the last event to the computation it belongs to.
func (f *functionClock) pass(now int64) {
	running := f.within > 0
	if !f.callees {
		running = len(f.open) > 0 && f.open[len(f.open)-1]
	}
	from := f.last
	f.last = now
	c := &f.t.Calls
	for f.call < f.end && c.Exit[f.call] <= from && (c.Enter[f.call] < from || c.Exit[f.call] < from) {
		f.call++
	}
	if !running || now <= from {
		return
	}
	if f.call == f.end {
		f.rest += now - from
		return
	}
	if d := min(now, c.Enter[f.call]) - from; d > 0 {
		f.before[f.call] += d
	}
}
