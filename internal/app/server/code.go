package server

import (
	"context"
	"net/http"
	"strings"

	"github.com/isobath/isobath/internal/code/symbol"
	"github.com/isobath/isobath/internal/data/gaps"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/memory/cacheline"
	"github.com/isobath/isobath/internal/memory/firsttouch"
	"github.com/isobath/isobath/internal/memory/profile"
	"github.com/isobath/isobath/internal/memory/spread"
)

// Spread is how a group is distributed.
type Spread = spread.Spread

// The routes about what addresses mean: cache lines, distributions, calls and
// machine code; the messages are in wire_code.go.
func (s *Server) codeRoutes(mux *http.ServeMux) {
	s.handleRun(mux, "POST runs/{id}/cachelines", s.cachelines)
	s.handleRun(mux, "POST runs/{id}/spread", s.spread)
	s.handleRun(mux, "POST runs/{id}/calls", s.calls)
	s.handleRun(mux, "POST runs/{id}/assembly", s.assembly)
	s.handleRun(mux, "GET runs/{id}/gaps", s.gaps)
	s.handleRun(mux, "GET runs/{id}/touches", s.touches)
	s.handleRun(mux, "GET runs/{id}/names", func(w http.ResponseWriter, r *http.Request, run *Run) error {
		return s.answerJSON(w, r, http.StatusOK, ObjectNames{run.Names, run.SaveNames != nil})
	})
	s.handle(mux, "PUT runs/{id}/names", s.private(s.putNames))
}

// gaps answers when samples are missing.
func (s *Server) gaps(w http.ResponseWriter, r *http.Request, run *Run) error {
	if _, _, err := run.parse("", ""); err != nil {
		return err
	}
	found := gaps.Find(run.Data.Table, run.Gaps)
	if found == nil {
		found = []gaps.Gap{}
	}
	return s.answerJSON(w, r, http.StatusOK, Gaps{found})
}

// touches answers who touched the pages of each object first.
func (s *Server) touches(w http.ResponseWriter, r *http.Request, run *Run) error {
	if run.Touches == nil {
		return badRequest("this run has no first touches; 'isobath record' keeps them")
	}
	out := Touches{Objects: firsttouch.Objects(run.Data.Table, run.Touches)}
	for _, o := range out.Objects {
		out.Pages += o.Pages
	}
	return s.answerJSON(w, r, http.StatusOK, out)
}

// rowsOf returns the rows of a filter and a selection, nil for all.
func (r *Run) rowsOf(ctx context.Context, filter, where string) (table.Bits, error) {
	e, err := r.within(filter, where)
	if err != nil || e == nil {
		return nil, err
	}
	return r.Engine.Select(ctx, e)
}

// mostLines bounds the lines and groups of an answer: a person reads them.
const mostLines = 1000

func (s *Server) cachelines(w http.ResponseWriter, r *http.Request, run *Run) error {
	var a AskLines
	if err := readJSON(w, r, &a); err != nil {
		return err
	}
	rows, err := run.rowsOf(r.Context(), a.Filter, a.Where)
	if err != nil {
		return err
	}
	if a.Top <= 0 || a.Top > mostLines {
		a.Top = 50
	}
	found := cacheline.Find(run.Data.Table, rows, a.Top)
	if found == nil {
		return badRequest("these samples have no addresses")
	}
	return s.answerJSON(w, r, http.StatusOK, found)
}

func (s *Server) spread(w http.ResponseWriter, r *http.Request, run *Run) error {
	var a AskSpread
	if err := readJSON(w, r, &a); err != nil {
		return err
	}
	rows, err := run.rowsOf(r.Context(), a.Filter, a.Where)
	if err != nil {
		return err
	}
	var columns []*table.Column
	for _, name := range a.By {
		c := run.Data.Table.Column(name)
		if c == nil {
			return badRequest("no column %q", name)
		}
		columns = append(columns, c)
	}
	if len(columns) == 0 || len(columns) > spread.MostColumns {
		return badRequest("between one and %d columns are wanted, not %d", spread.MostColumns, len(columns))
	}
	if a.Top <= 0 || a.Top > mostLines {
		a.Top = 50
	}
	out := Spreads{By: a.By, Provenance: table.Absent.String(), Groups: spread.By(run.Data.Table, rows, columns, a.Top)}
	if c := run.Data.Table.Column(samples.Latency); c != nil {
		out.Unit, out.Provenance = c.Unit, c.Provenance.String()
	}
	return s.answerJSON(w, r, http.StatusOK, out)
}

func (s *Server) calls(w http.ResponseWriter, r *http.Request, run *Run) error {
	var a AskCalls
	if err := readJSON(w, r, &a); err != nil {
		return err
	}
	rows, err := run.rowsOf(r.Context(), a.Filter, a.Where)
	if err != nil {
		return err
	}
	if run.Data.Table.Column("stack") == nil {
		return badRequest("no call stacks were recorded; with perf: perf record -g")
	}
	stacks, err := profile.Stacks(run.Data.Table, rows)
	if err != nil {
		return badRequest("%v", err)
	}
	return s.answerJSON(w, r, http.StatusOK, profile.CallsOf(stacks, a.Function))
}

// putNames keeps the names and opens the run again with them. The run that
// shows the old ones is closed when no request uses it any more, so this must
// not be one that does.
func (s *Server) putNames(w http.ResponseWriter, r *http.Request) error {
	var a ObjectNames
	if err := readJSON(w, r, &a); err != nil {
		return err
	}
	if _, err := symbol.ReadNamings(strings.NewReader(a.Text)); err != nil {
		return badRequest("%v", err)
	}
	path := ""
	err := s.withRun(func(_ http.ResponseWriter, _ *http.Request, run *Run) error {
		if run.SaveNames == nil || s.opt.Open == nil {
			return badRequest("this data is no run of its own; import it with 'isobath import' to keep names")
		}
		path = run.Path
		return run.SaveNames(a.Text)
	})(w, r)
	if err != nil {
		return err
	}
	again, err := s.opt.Open(r.Context(), path, func(Progress) {})
	if err != nil {
		return err
	}
	s.Add(again)
	return s.answerJSON(w, r, http.StatusOK, ObjectNames{again.Names, again.SaveNames != nil})
}
