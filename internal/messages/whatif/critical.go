package whatif

import (
	"cmp"
	"slices"

	"github.com/isobath/isobath/internal/messages/logical"
	"github.com/isobath/isobath/internal/messages/trace"
)

// Segment is a stretch of the critical path on one process: a call, or the
// computation before it.
type Segment struct {
	Line        int32
	Call        int32 // None after the last call
	Computation bool
	From, To    int64
}

// Critical is the chain of computations and calls, from the first event to the
// last, that sets the run time.
type Critical struct {
	Segments       []Segment
	StartUp        int64 // before the first process of the path began
	Compute, Calls int64
}

// CriticalPath is the longest path of the recorded run.
func (g *Graph) CriticalPath() *Critical {
	w := g.Recorded()
	t := g.Replay(w, nil)
	c := &Critical{}
	for _, e := range g.LongestPath(w, t, nil) {
		switch e.Kind {
		case Start:
			c.StartUp = g.Begin[e.Index] - g.First0
		case Compute:
			c.add(Segment{g.Line[e.Index], e.Index, true, g.Enter[e.Index] - g.Computation(e.Index), g.Enter[e.Index]})
		case OwnTime:
			c.add(Segment{g.Line[e.Index], e.Index, false, g.Enter[e.Index], g.Exit[e.Index]})
		case Lag:
			c.add(Segment{g.Line[e.Call], e.Call, false, g.causeTime(g.Deps.Cause[e.Index]), g.Exit[e.Call]})
		default:
			end := g.lineEnd(e.Index)
			c.add(Segment{e.Index, trace.None, true, end - g.Tail[e.Index], end})
		}
	}
	return c
}

func (c *Critical) add(s Segment) {
	d := s.To - s.From
	if d <= 0 {
		return
	}
	if s.Computation {
		c.Compute += d
	} else {
		c.Calls += d
	}
	c.Segments = append(c.Segments, s)
}

// share is a part of the path: a process, or a region with what it did.
type share struct {
	line, region int32
	computation  bool
}

// AddCritical adds the critical path to a report.
func (g *Graph) AddCritical(r *logical.Report, top int) {
	c := g.CriticalPath()
	procs, regions := map[share]int64{}, map[share]int64{}
	for _, s := range c.Segments {
		procs[share{line: s.Line}] += s.To - s.From
		regions[share{region: g.regionOf(&s), computation: s.Computation}] += s.To - s.From
	}
	ns := g.Trace.NS
	total := c.StartUp + c.Compute + c.Calls
	out := &logical.ReportCritical{Length: ns(total), StartUp: ns(c.StartUp), Compute: ns(c.Compute), Calls: ns(c.Calls),
		Processes: []logical.ReportShare{}, Regions: []logical.ReportShare{}}
	part := func(ticks int64) float64 { return float64(ticks) / float64(max(total, 1)) }
	for _, k := range largest(procs, top) {
		out.Processes = append(out.Processes, logical.ReportShare{Process: &k.line, Time: ns(procs[k]), Share: part(procs[k])})
	}
	for _, k := range largest(regions, top) {
		e := logical.ReportShare{Region: "(no region)", Kind: "call", Time: ns(regions[k]), Share: part(regions[k])}
		if k.region >= 0 {
			e.Region = g.Trace.Regions[k.region].Name
		}
		if k.computation {
			e.Kind = "compute"
		}
		out.Regions = append(out.Regions, e)
	}
	r.Critical = out
}

// regionOf is the call, or the function around it; after the last call, the
// function around that one.
func (g *Graph) regionOf(s *Segment) int32 {
	call := s.Call
	if call < 0 {
		if call = g.Start[s.Line+1] - 1; call < g.Start[s.Line] {
			return trace.None
		}
	}
	if s.Computation {
		return g.Trace.Calls.Caller[call]
	}
	return g.Trace.Calls.Region[call]
}

func largest(shares map[share]int64, top int) []share {
	keys := make([]share, 0, len(shares))
	for k := range shares {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b share) int {
		return cmp.Or(cmp.Compare(shares[b], shares[a]), cmp.Compare(a.line, b.line), cmp.Compare(a.region, b.region), compareBool(a.computation, b.computation))
	})
	return keys[:min(top, len(keys))]
}
