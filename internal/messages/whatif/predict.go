package whatif

import (
	"fmt"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/messages/logical"
)

// ReportWhatIf compares the recorded run, without the time that processes waited
// for a processor, with a changed one.
type ReportWhatIf struct {
	Changes         []string        `json:"changes"`
	Span            int64           `json:"span_ns"`
	Recorded        int64           `json:"recorded_ns"`
	GainNS          int64           `json:"gain_ns"`
	Gain            float64         `json:"gain"`
	Low             int64           `json:"low_ns"`
	High            int64           `json:"high_ns"`
	Undisturbed     int64           `json:"undisturbed_ns"`
	Waiting         int64           `json:"waiting_ns"`
	RecordedWaiting int64           `json:"recorded_waiting_ns"`
	Processes       []ReportProcess `json:"processes"`
	OrderChanges    int             `json:"order_changes"`
	Assumptions     []string        `json:"assumptions"`
	Provenance      string          `json:"provenance"`
	Gains           []ReportGain    `json:"gains"`
	Text            string          `json:"text"`
}

// ReportProcess is a process in the changed run. End is after the trace's
// origin.
type ReportProcess struct {
	Process         int32 `json:"process"`
	End             int64 `json:"end_ns"`
	RecordedEnd     int64 `json:"recorded_end_ns"`
	Waiting         int64 `json:"waiting_ns"`
	RecordedWaiting int64 `json:"recorded_waiting_ns"`
}

// Predict replays the scenario and compares it with the recording.
func (s *Scenario) Predict() (*ReportWhatIf, *Times) {
	ns := s.Trace.NS
	t := s.play(s.W)
	quiet := s.W.Clone()
	s.Undisturbed(quiet)
	undisturbed := s.play(quiet).Span
	low, high := undisturbed, 2*t.Span-undisturbed
	if s.Other != nil {
		other := s.play(s.Other).Span
		low, high = min(low, other), max(high, other)
	}
	if least, most := s.W.Clone(), s.W.Clone(); s.unseen(least, false) && s.unseen(most, true) {
		low, high = min(low, s.play(least).Span), max(high, s.play(most).Span)
	}
	r := &ReportWhatIf{Changes: s.Changes, Span: ns(t.Span), Recorded: ns(s.Times.Span), GainNS: ns(s.Times.Span - t.Span),
		Gain: 1 - float64(t.Span)/float64(max(s.Times.Span, 1)), Low: ns(low), High: ns(high), Undisturbed: ns(undisturbed),
		Waiting: ns(t.Waiting), RecordedWaiting: ns(s.Times.Waiting), OrderChanges: s.orderChanges(t), Provenance: "modelled",
		Assumptions: append([]string{}, s.Assumptions...), Gains: []ReportGain{}}
	for p := range int32(s.Lines()) {
		r.Processes = append(r.Processes, ReportProcess{p, ns(t.End[p]), ns(s.Times.End[p]), ns(t.Wait[p]), ns(s.Times.Wait[p])})
	}
	for k := range s.hubs {
		r.Assumptions = append(r.Assumptions, fmt.Sprintf("%s hands out tasks as answers come: tasks may change hands", s.S.Who(s.hubs[k].line)))
		r.OrderChanges = 0
	}
	if r.OrderChanges > 0 {
		r.Assumptions = append(r.Assumptions, fmt.Sprintf("the order of %s would change; the prediction keeps the recorded one", term.Counted(r.OrderChanges, "receive")))
	}
	if n := s.Inferred.Progress + s.Inferred.Tree + s.Inferred.Epochs; n > 0 {
		r.Assumptions = append(r.Assumptions, fmt.Sprintf("%s inferred, because no record names what held the call up", term.Counted(n, "dependency")))
	}
	if ready := s.ready(); ready != nil {
		r.Assumptions = append(r.Assumptions, "that every process finds a processor, in both runs: "+ready.Text)
	}
	if 2*undisturbed < t.Span {
		r.Assumptions = append(r.Assumptions, fmt.Sprintf("that a re-run is as disturbed as the recording: %.0f %% of the %s are above what is usual, as where there are more ranks than cores",
			100*(1-float64(undisturbed)/float64(t.Span)), term.Duration(r.Span)))
	}
	r.Text = s.text(r)
	return r, t
}

// Columns are when operations begin and end in a replayed run, as columns of
// their list.
func (t *Times) Columns(s *logical.Structure) []logical.OpColumn {
	ops := &s.Trace.Retimed(t.Begin, t.Enter, t.Exit).Ops
	return []logical.OpColumn{
		{Name: "predicted_enter", Of: func(op int32) (int64, bool) { return s.Trace.NS(ops.Enter[s.First[op]]), true }},
		{Name: "predicted_exit", Of: func(op int32) (int64, bool) { return s.Trace.NS(ops.Exit[s.First[op+1]-1]), true }},
	}
}

// play replays weights. With a hub tasks may change hands; what that changes is
// taken from two such replays, so that no change is none.
func (s *Scenario) play(w *Weights) *Times {
	if s.arrival == nil {
		return s.Replay(w, nil)
	}
	t := s.ReplayByArrival(w, nil)
	t.Span += s.Times.Span - s.arrival.Span
	return t
}

func (s *Scenario) text(r *ReportWhatIf) string {
	text := fmt.Sprintf("%s: ≈ %s instead of %s", strings.Join(r.Changes, "; "), term.Duration(r.Span), term.Duration(r.Recorded))
	switch {
	case r.GainNS > 0:
		text += fmt.Sprintf(" (−%.1f %%)", 100*r.Gain)
	case r.GainNS < 0:
		text += fmt.Sprintf(" (+%.1f %%)", -100*r.Gain)
	default:
		text += " (no change)"
	}
	if r.RecordedWaiting > 0 {
		text += fmt.Sprintf(", waiting %s instead of %s", term.Duration(r.Waiting), term.Duration(r.RecordedWaiting))
	}
	return text + fmt.Sprintf("; between %s if nothing disturbs it and %s", term.Duration(r.Low), term.Duration(r.High))
}

// Streams whose receives may take what comes first: from enoughReceives on, from
// enoughSources, within lookAhead of each other.
const (
	enoughReceives = 9
	enoughSources  = 3
	lookAhead      = 16
)

// orderChanges counts receives of one stream (line, call, communicator, tag) for
// which another message than the recorded one would come first now, though in
// the recording it did not.
func (s *Scenario) orderChanges(t *Times) int {
	type key struct {
		line, region, comm int32
		tag                uint32
	}
	tr := s.Trace
	streams := map[key][]int32{} // receive rows, in order
	for row, op := range tr.Recvs.Op {
		if m := tr.Recvs.Match[row]; m >= 0 && !tr.Signal(tr.Recvs.Comm[row]) {
			call := tr.Ops.Call[op]
			k := key{s.Line[call], tr.Calls.Region[call], tr.Recvs.Comm[row], tr.Recvs.Tag[row]}
			streams[k] = append(streams[k], int32(row))
		}
	}
	n := 0
	for _, rows := range streams {
		sources := map[int32]bool{}
		for _, row := range rows {
			sources[tr.Recvs.Peer[row]] = true
		}
		if len(rows) < enoughReceives || len(sources) < enoughSources {
			continue
		}
		sent := func(k int) int32 { return tr.Ops.Call[tr.Sends.Op[tr.Recvs.Match[rows[k]]]] }
		for k := range rows {
			for j := k + 1; j < min(len(rows), k+lookAhead); j++ {
				a, b := sent(k), sent(j)
				if t.Enter[b] < t.Enter[a] && s.Enter[b] >= s.Enter[a] {
					n++
					break
				}
			}
		}
	}
	return n
}
