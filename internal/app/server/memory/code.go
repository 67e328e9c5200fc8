package memory

import (
	"context"
	"net/http"
	"slices"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/data/gaps"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/memory/allocated"
	"github.com/isobath/isobath/internal/memory/assembly"
	"github.com/isobath/isobath/internal/memory/cacheline"
	"github.com/isobath/isobath/internal/memory/firsttouch"
	"github.com/isobath/isobath/internal/memory/profile"
	"github.com/isobath/isobath/internal/memory/spread"
)

// Spread is how a group is distributed.
type Spread = spread.Spread

// gaps answers when samples are missing.
func (s routes) gaps(w http.ResponseWriter, r *http.Request, run *Samples) error {
	found, err := gaps.Find(r.Context(), run.Data.Table, run.Gaps)
	if err != nil {
		return err
	}
	if found == nil {
		found = []gaps.Gap{}
	}
	return s.Answer(w, r, Gaps{found})
}

// touches answers who touched the pages of each object first.
func (s routes) touches(w http.ResponseWriter, r *http.Request, run *Samples) error {
	if run.Touches == nil {
		return frame.BadRequest("this run has no first touches; 'isobath record' keeps them")
	}
	objects, err := firsttouch.Objects(r.Context(), run.Data.Table, run.Touches)
	if err != nil {
		return err
	}
	out := Touches{Objects: objects}
	for _, o := range out.Objects {
		out.Pages += o.Pages
	}
	return s.Answer(w, r, out)
}

// allocations answers what each place of the program allocates.
func (s routes) allocations(w http.ResponseWriter, r *http.Request, run *Samples) error {
	if run.Allocations == nil {
		return frame.BadRequest("this run has no log of allocations; 'isobath record' keeps one")
	}
	out, err := allocated.Sites(r.Context(), run.Allocations, run.Data.Table.Rows(), mostLines)
	if err != nil {
		return err
	}
	return s.Answer(w, r, out)
}

// Select returns the rows of a filter and a selection.
func (r *Samples) Select(ctx context.Context, filter, where string) (table.Bits, error) {
	e, err := r.within(filter, where)
	if err != nil {
		return nil, err
	}
	return r.Engine.Select(ctx, e)
}

// Within is Select with nil for all rows, which is faster to look through.
func (r *Samples) Within(ctx context.Context, filter, where string) (table.Bits, error) {
	e, err := r.within(filter, where)
	if err != nil || e == nil {
		return nil, err
	}
	return r.Engine.Select(ctx, e)
}

// mostLines bounds the lines and groups of an answer: a person reads them.
const mostLines = 1000

func (s routes) cachelines(w http.ResponseWriter, r *http.Request, run *Samples) error {
	var a AskLines
	if err := frame.ReadJSON(w, r, &a); err != nil {
		return err
	}
	rows, err := run.Within(r.Context(), a.Filter, a.Where)
	if err != nil {
		return err
	}
	if a.Top <= 0 || a.Top > mostLines {
		a.Top = 50
	}
	var own table.Bits
	if a.Side != "" {
		if own, err = run.allOf(r.Context(), a.Side); err != nil {
			return err
		}
		if rows == nil {
			rows = own
		} else {
			rows = slices.Clone(rows) // the engine keeps its own
			rows.And(own)
		}
	}
	found, err := cacheline.Find(r.Context(), run.Data.Table, rows, a.Top)
	if err != nil {
		return err
	}
	if found == nil {
		return frame.BadRequest("these samples have no addresses")
	}
	if own != nil {
		found.PlaceInObjects(r.Context(), run.Data.Table, own)
	}
	return s.Answer(w, r, found)
}

func (s routes) spread(w http.ResponseWriter, r *http.Request, run *Samples) error {
	var a AskSpread
	if err := frame.ReadJSON(w, r, &a); err != nil {
		return err
	}
	where, err := run.within(a.Filter, a.Where)
	if err != nil {
		return err
	}
	var columns []*table.Column
	for _, name := range a.By {
		c := run.Data.Table.Column(name)
		if c == nil {
			return frame.BadRequest("no column %q", name)
		}
		columns = append(columns, c)
	}
	if len(columns) == 0 || len(columns) > spread.MostColumns {
		return frame.BadRequest("between one and %d columns are wanted, not %d", spread.MostColumns, len(columns))
	}
	if a.Top <= 0 || a.Top > mostLines {
		a.Top = 50
	}
	groups, err := spread.Of(r.Context(), run.Data.Table, run.Engine, where, columns, a.Top)
	if err != nil {
		return err
	}
	out := Spreads{By: a.By, Provenance: table.Absent.String(), Groups: groups}
	if c := run.Data.Table.Column(samples.Latency); c != nil {
		out.Unit, out.Provenance = c.Unit, c.Provenance.String()
	}
	return s.Answer(w, r, out)
}

func (s routes) calls(w http.ResponseWriter, r *http.Request, run *Samples) error {
	var a AskCalls
	if err := frame.ReadJSON(w, r, &a); err != nil {
		return err
	}
	rows, err := run.Within(r.Context(), a.Filter, a.Where)
	if err != nil {
		return err
	}
	if err := noStacks(run); err != nil {
		return err
	}
	stacks, err := profile.Stacks(r.Context(), run.Data.Table, rows)
	if err != nil {
		return frame.WrongAsk(err)
	}
	return s.Answer(w, r, profile.CallsOf(stacks, a.Function))
}

func (s routes) names(w http.ResponseWriter, r *http.Request, run *Samples) error {
	return s.Answer(w, r, ObjectNames{run.Names, run.SaveNames != nil})
}

func (s routes) assembly(w http.ResponseWriter, r *http.Request, run *Samples) error {
	var a AskAssembly
	if err := frame.ReadJSON(w, r, &a); err != nil {
		return err
	}
	rows, err := run.Within(r.Context(), a.Filter, a.Where)
	if err != nil {
		return err
	}
	out, err := assembly.List(r.Context(), run.Data.Table, rows, run.Code, assembly.Ask{File: a.File, Line: a.Line, Function: a.Function})
	if err != nil {
		return err
	}
	return s.Answer(w, r, out)
}
