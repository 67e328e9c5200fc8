package messages

import (
	"net/http"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/messages/trace"
)

// find looks for operations by what a text says about them.
func (s routes) find(w http.ResponseWriter, r *http.Request, run *Trace) error {
	var ask FindAsk
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	a, err := run.find(r.Context(), ask.Options)
	if err != nil {
		return err
	}
	f, err := a.Finder(ask.Text)
	if err != nil { // what people type is no mistake of the page
		return s.Answer(w, r, FindAnswer{Refused: err.Error()})
	}
	return s.Answer(w, r, FindAnswer{Found: a.Find(f, ask.From, ask.Back)})
}

// maxWindowFunctions is how many calls and functions of a window are listed.
const maxWindowFunctions = 50

// window counts what happened in a stretch of time.
func (s routes) window(w http.ResponseWriter, r *http.Request, run *Trace) error {
	var ask TraceWindowAsk
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	if !(ask.TimeTo > ask.TimeFrom) {
		return frame.BadRequest("a window needs timeFrom below timeTo")
	}
	g, err := run.settle(r.Context())
	if err != nil {
		return err
	}
	a, err := run.find(r.Context(), ask.Options)
	if err != nil {
		return err
	}
	t := g.Trace
	at := func(ns float64) int64 { return t.First + t.Ticks(int64(max(0, ns))) }
	from, to := at(ask.TimeFrom), at(ask.TimeTo)
	stats := t.Window(from, to)
	functions, err := a.Functions(r.Context(), from, to)
	if err != nil {
		return err
	}
	listed := func(of []trace.RegionTotal) []WindowCall {
		out := []WindowCall{}
		for _, c := range of[:min(len(of), maxWindowFunctions)] {
			out = append(out, WindowCall{t.Regions[c.Region].Name, c.Calls, t.NS(c.Excl)})
		}
		return out
	}
	out := TraceWindow{MPI: t.NS(stats.MPI), Computing: t.NS(stats.Computing), Calls: listed(stats.Calls), Sizes: []WindowSize{}}
	if functions != nil {
		out.Functions = listed(functions)
	}
	for _, b := range stats.Sizes {
		out.Sizes = append(out.Sizes, WindowSize{b.From, b.To, b.Messages, b.Bytes})
	}
	for p, name := range map[trace.WaitPattern]*WindowWait{trace.LateSender: &out.LateSender, trace.LateReceiver: &out.LateReceiver, trace.InCollective: &out.Collective} {
		*name = WindowWait{stats.WaitOps[p], t.NS(stats.Wait[p])}
	}
	return s.Answer(w, r, out)
}
