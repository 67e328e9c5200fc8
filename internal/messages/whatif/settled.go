package whatif

import (
	"context"
	"fmt"
	"slices"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/messages/trace"
)

// ReportReady is how long processes waited for a processor while others had them:
// other programs, or more ranks than there are processors. Measured by the kernel.
type ReportReady struct {
	Sum       int64 `json:"sum_ns"`
	Times     int   `json:"times"` // in so many computations and calls
	Max       int64 `json:"max_ns"`
	Processes int   `json:"processes"`
	Most      int32 `json:"most"` // the process that waited longest in all
	MostNS    int64 `json:"most_ns"`
	// Recorded is how long the run took; without the waiting it would have taken
	// the span that gains are compared with.
	Recorded int64  `json:"recorded_ns"`
	Text     string `json:"text"`
}

// Settled is the run as if every process had found a free processor: what the
// kernel counted as waiting for one is taken away, from computations as it is, from
// calls as far as they took longer than usual. Causes are looked for in this run:
// what another program did to the recording is no cause in the traced one, and
// would hide those that are. It is g itself where nothing is known of that.
func (g *Graph) Settled(ctx context.Context) (*Graph, error) {
	if g.alwaysReady() {
		return g, nil
	}
	w := g.Recorded()
	for p := range w.Begin {
		w.Begin[p] -= g.lateStart(p)
	}
	for _, r := range g.Trace.Calls.Ready {
		w.Comp[r.Call] = max(0, w.Comp[r.Call]-r.Before)
		w.Own[r.Call] = lowered(w.Own[r.Call], r.Inside, g.UsualOwn[r.Call])
		for d := g.First[r.Call]; d < g.First[r.Call+1]; d++ {
			if g.Deps.Kind[d] != dropped {
				w.Lag[d] = lowered(w.Lag[d], r.Inside, g.Deps.Usual[d])
			}
		}
	}
	times := g.Replay(w, nil)
	t := g.Trace.Retimed(times.Begin, times.Enter, times.Exit)
	t.Calls.Ready = nil
	for p := range t.Procs {
		t.Procs[p].Ready = 0
	}
	return Build(ctx, t)
}

// alwaysReady tells that nothing is known of a process without a processor.
func (g *Graph) alwaysReady() bool {
	return len(g.Trace.Calls.Ready) == 0 && !slices.ContainsFunc(g.Trace.Procs, func(p trace.Process) bool { return p.Ready > 0 })
}

// lateStart is how much earlier a process would have begun with a processor: not
// before the first of them, because they wait for each other until then.
func (g *Graph) lateStart(p int) int64 {
	return min(g.Trace.Procs[p].Ready, g.Begin[p]-g.First0)
}

// lowered takes some time away, but leaves what is usual.
func lowered(time, by, usual int64) int64 { return min(time, max(time-by, usual)) }

// span is how long the recorded run took.
func (g *Graph) span() int64 {
	last := g.First0
	for p := range int32(g.Lines()) {
		last = max(last, g.lineEnd(p))
	}
	return last - g.First0
}

// ready describes what was taken away; nil if nothing was.
func (c *Causes) ready() *ReportReady {
	if c.recorded.alwaysReady() {
		return nil
	}
	ns := c.Trace.NS
	r := &ReportReady{Recorded: ns(c.recorded.span())}
	of := make([]int64, c.Lines())
	add := func(line int32, part int64) {
		if part > 0 {
			r.Times++
			r.Max = max(r.Max, ns(part))
			of[line] += part
		}
	}
	for p := range of {
		add(int32(p), c.recorded.lateStart(p))
	}
	for _, one := range c.recorded.Trace.Calls.Ready {
		add(c.Line[one.Call], one.Before)
		add(c.Line[one.Call], one.Inside)
	}
	for p, sum := range of {
		r.Sum += ns(sum)
		if sum > 0 {
			r.Processes++
		}
		if sum > of[r.Most] {
			r.Most = int32(p)
		}
	}
	r.MostNS = ns(slices.Max(of))
	r.Text = fmt.Sprintf("%s waited %s for a processor (%s, up to %s; %s most: %s), which other programs or more ranks than processors explain: recorded %s, without it ≈ %s, and causes are looked for without it",
		term.Counted(r.Processes, "process"), term.Duration(r.Sum), term.Counted(r.Times, "time"), term.Duration(r.Max), c.S.Who(r.Most), term.Duration(r.MostNS),
		term.Duration(r.Recorded), term.Duration(ns(c.Times.Span)))
	return r
}

// unready is how long the computation of an element waited for a processor, which
// the settled run is without.
func (c *Causes) unready(e *element) int64 {
	if e.kind != ByComputation {
		return 0
	}
	return c.recorded.Computation(e.call) - c.Computation(e.call)
}
