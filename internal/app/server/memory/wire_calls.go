package memory

import (
	"fmt"
	"net/http"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/memory/profile"
)

// AskCallTree asks for samples by their call stacks: POST runs/{id}/calltree,
// answered by CallTree. Where are the samples of the picture, Select and Hover
// (nothing: none) those among them that are drawn as such.
type AskCallTree struct {
	Filter   string   `json:"filter,omitempty"`
	Where    string   `json:"where,omitempty"`
	Select   string   `json:"select,omitempty"`
	Hover    string   `json:"hover,omitempty"`
	Function string   `json:"function,omitempty"` // whose callers and callees; none: all calls
	Path     []string `json:"path,omitempty"`     // only what is called through these
	Value    string   `json:"value"`              // samples or latency: the order, and what is too light
	Most     int      `json:"most"`               // nodes in each direction
}

func noStacks(run *Samples) error {
	if run.Data.Table.Column("stack") == nil {
		return frame.BadRequest("no call stacks were recorded; with perf: perf record -g")
	}
	return nil
}

func (s routes) callTree(w http.ResponseWriter, r *http.Request, run *Samples) error {
	var a AskCallTree
	if err := frame.ReadJSON(w, r, &a); err != nil {
		return err
	}
	value := profile.Value(a.Value)
	if value != profile.Samples && value != profile.Latency {
		return frame.BadRequest("value %q: want samples or latency", a.Value)
	}
	if a.Most < 1 || a.Most > profile.MostNodes {
		return frame.BadRequest("%d nodes; want up to %d", a.Most, profile.MostNodes)
	}
	if err := noStacks(run); err != nil {
		return err
	}
	layers := profile.Layers{Hovers: a.Hover != ""}
	for _, l := range []struct {
		rows  *table.Bits
		where string
	}{{&layers.All, a.Where}, {&layers.Selected, a.Select}, {&layers.Hovered, a.Hover}} {
		var err error
		if *l.rows, err = run.Within(r.Context(), a.Filter, l.where); err != nil {
			return err
		}
	}
	tree, err := profile.Tree(r.Context(), run.Data.Table, layers, profile.TreeOptions{Function: a.Function, Path: a.Path, Value: value, Most: a.Most})
	if err != nil {
		return frame.WrongAsk(err)
	}
	return s.Answer(w, r, tree)
}

func (s routes) speedscope(w http.ResponseWriter, r *http.Request, run *Samples) error {
	if err := noStacks(run); err != nil {
		return err
	}
	given := r.URL.Query()
	rows, err := run.Within(r.Context(), given.Get("filter"), given.Get("where"))
	if err != nil {
		return err
	}
	stacks, err := profile.Stacks(r.Context(), run.Data.Table, rows)
	if err != nil {
		return frame.WrongAsk(err)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", run.Run.ID+".speedscope.json"))
	h.Set("Cache-Control", "no-store")
	// The header is sent by now; an error can only end the stream short.
	if err := profile.WriteSpeedscope(w, stacks, run.Run.Name, profile.LatencyUnit(run.Data.Table)); err != nil {
		panic(http.ErrAbortHandler)
	}
	return nil
}
