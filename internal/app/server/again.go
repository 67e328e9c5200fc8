package server

import (
	"context"
	"net/http"
	"strconv"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/code/datasrc"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/engine/query"
)

// The routes for reading a file again in another way: columns mapped by hand,
// another assumption about the latency of an L1 hit. And why a sample has its
// level.
func (s *Server) againRoutes(mux *http.ServeMux) {
	s.handleRun(mux, "GET runs/{id}/why", s.why)
	s.handle(mux, "GET runs/{id}/columns", s.private(s.withRun(func(w http.ResponseWriter, r *http.Request, run *Run) error {
		return s.columns(w, r, run.Path, run.Reading)
	})))
	s.handle(mux, "POST runs/{id}/again", s.private(s.withRun(func(w http.ResponseWriter, r *http.Request, run *Run) error {
		return s.again(w, r, run.Name, run.Path, run.ID)
	})))
	s.handle(mux, "GET jobs/{job}/columns", s.private(func(w http.ResponseWriter, r *http.Request) error {
		b, err := s.jobs.find(r.PathValue("job"))
		if err != nil {
			return err
		}
		return s.columns(w, r, b.path, b.how)
	}))
	s.handle(mux, "POST jobs/{job}/again", s.private(func(w http.ResponseWriter, r *http.Request) error {
		b, err := s.jobs.find(r.PathValue("job"))
		if err != nil {
			return err
		}
		return s.again(w, r, b.now().Name, b.path, "")
	}))
}

// columns shows what a file has and what samples want.
func (s *Server) columns(w http.ResponseWriter, r *http.Request, path string, how Reading) error {
	if path == "" {
		return badRequest("this run has no file to read again")
	}
	found, err := dataset.Columns(path)
	if err != nil {
		return badRequest("%v", err)
	}
	answer := Columns{Path: path, Columns: found, Wanted: []WantedColumn{}, Map: how.Map}
	if answer.Map == nil {
		answer.Map = map[string]string{}
	}
	for _, want := range samples.Wanted() {
		answer.Wanted = append(answer.Wanted, WantedColumn{Name: want.Name, Meaning: want.Means})
	}
	return s.answerJSON(w, r, http.StatusOK, answer)
}

// again reads a file once more; the run made of it takes the place of the old
// one, whose link would show what is no longer assumed.
func (s *Server) again(w http.ResponseWriter, r *http.Request, name, path, old string) error {
	var how Reading
	if err := readJSON(w, r, &how); err != nil {
		return err
	}
	if path == "" || s.opt.Reopen == nil {
		return badRequest("this run has no file to read again")
	}
	if l1 := how.L1Latency; l1 != nil && (*l1 < -1 || *l1 > maxL1) {
		return badRequest("an L1 hit of %d cycles: want 0 to %d, or -1 for no assumption", *l1, maxL1)
	}
	job := s.beginAs(name, path, how, func(end Job) {
		if end.State == "done" && old != "" && end.Run != old {
			s.forget(old)
		}
	})
	return s.answerJSON(w, r, http.StatusAccepted, job)
}

// maxL1 is more than any L1 hit takes.
const maxL1 = 1000

// why says how the level of a sample was decided.
func (s *Server) why(w http.ResponseWriter, r *http.Request, run *Run) error {
	q := r.URL.Query()
	if q.Has("where") {
		return s.whySome(w, r, run, q.Get("where"), q.Get("filter"))
	}
	if _, _, err := run.parse("", ""); err != nil {
		return err
	}
	row, err := rowOf(r, run.Data.Table.Rows())
	if err != nil {
		return err
	}
	return s.answerJSON(w, r, http.StatusOK, Why{Row: row, Why: datasrc.Why(run.Data.Table, row)})
}

// whySome says it of the first sample that a selection matches.
func (s *Server) whySome(w http.ResponseWriter, r *http.Request, run *Run, where, filter string) error {
	all, of, err := run.parse(filter, where)
	if err != nil {
		return err
	}
	rows, err := run.Engine.Select(r.Context(), query.Both(all, of))
	if err != nil {
		return err
	}
	for row := range rows.All() {
		return s.answerJSON(w, r, http.StatusOK, Why{Row: row, Why: datasrc.Why(run.Data.Table, row)})
	}
	return badRequest("no sample matches %s", where)
}

// rowOf reads the row a request is about.
func rowOf(r *http.Request, rows int) (int, error) {
	text := r.URL.Query().Get("row")
	row, err := strconv.Atoi(text)
	if err != nil || row < 0 || row >= rows {
		return 0, badRequest("row %q: want a number from 0 to %d", text, rows-1)
	}
	return row, nil
}

// Reopen opens a file in the given way.
func (l *Loader) Reopen(ctx context.Context, path string, how Reading, progress func(Progress)) (*Run, error) {
	changed := *l
	changed.Options.Map = how.Map
	if how.AllOps != nil {
		changed.Options.AllOps = *how.AllOps
	}
	if how.L1Latency != nil {
		changed.Options.L1Latency = *how.L1Latency
		changed.Options.AssumeL1 = how.L1Latency
	}
	r, err := changed.Open(ctx, path, progress)
	if err == nil {
		r.Reading = how
	}
	return r, err
}
