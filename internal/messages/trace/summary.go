package trace

import "context"

// Summary is what `isobath info` says about a trace.
type Summary struct {
	Kind        string `json:"kind"`
	Format      string `json:"format"`
	Version     string `json:"version"`
	Creator     string `json:"creator,omitempty"`
	Rows        int    `json:"rows"` // operations
	Processes   int    `json:"processes"`
	Locations   int    `json:"locations"`
	Events      int    `json:"events"`
	Operations  int    `json:"operations"`
	Messages    int    `json:"messages"`
	Signals     int    `json:"signals,omitempty"` // of epochs, locks and neighbours; not among the messages
	Bytes       int64  `json:"bytes"`
	Unmatched   int    `json:"unmatched"`
	UnSends     int    `json:"unmatched_sends"`
	UnRecvs     int    `json:"unmatched_receives"`
	Collectives int    `json:"collectives"`
	Async       int    `json:"nonblocking_collectives"`
	Metrics     int    `json:"metric_events"`
	// Moved is what windows and files moved; nil if the trace has none of them.
	Moved      *Moved   `json:"moved,omitempty"`
	SpanNS     int64    `json:"span_ns"`
	Resolution uint64   `json:"ticks_per_second"`
	Regions    int      `json:"regions"`
	Comms      int      `json:"communicators"`
	Incomplete int      `json:"incomplete_locations"`
	Warnings   []string `json:"warnings"`
}

// Summarize opens the trace at path and counts what is in it.
func Summarize(ctx context.Context, path string) (*Summary, error) {
	t, err := Open(ctx, path)
	if err != nil {
		return nil, err
	}
	return t.Summary(), nil
}

// Summary counts what is in the trace.
func (t *Trace) Summary() *Summary {
	sends, recvs := t.Unmatched()
	s := &Summary{
		Kind: "trace", Format: t.Format, Version: t.Version, Creator: t.Creator,
		Rows: len(t.Ops.Enter), Processes: len(t.Procs), Locations: t.Locations, Events: t.Events,
		Operations: len(t.Ops.Enter), Messages: t.Messages(),
		Unmatched: sends + recvs, UnSends: sends, UnRecvs: recvs,
		Collectives: len(t.Colls.Comm) + len(t.Async.Comm), Async: len(t.Async.Comm), Metrics: t.Metrics,
		SpanNS: t.SpanNS(), Resolution: t.Resolution,
		Regions: t.Defined, Comms: len(t.Comms) - 1, Signals: t.Signals(), // the first stands for undefined ones
		Incomplete: t.Partial, Warnings: append([]string{}, t.Warnings...),
	}
	for i, m := range t.Sends.Match {
		if m >= 0 {
			s.Bytes += t.Sends.Bytes[i]
		}
	}
	if t.signals > 0 {
		s.Comms--
	}
	if t.Moved != (Moved{}) {
		s.Moved = &t.Moved
	}
	if s.Operations == 0 {
		s.Warnings = append(s.Warnings, "no communication in this trace: there are regions and times, but no logical structure")
	}
	return s
}
