package server

import (
	"context"
	"errors"
	"net/http"

	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/memory/guide"
)

// The routes of guided analysis; the messages are in internal/memory/guide/wire.go.
func (s *Server) guideRoutes(mux *http.ServeMux) {
	s.handleRun(mux, "GET runs/{id}/guide", func(w http.ResponseWriter, r *http.Request, run *Run) error {
		if _, _, err := run.parse("", ""); err != nil {
			return err
		}
		return s.answerJSON(w, r, http.StatusOK, run.guideTo().Info())
	})
	s.handleRun(mux, "POST runs/{id}/metrics", s.strip)
	s.handleRun(mux, "POST runs/{id}/clusters", s.clusters)
	s.handleRun(mux, "POST runs/{id}/insights", s.insights)
}

// guideTo returns the run's guide, which remembers trees for as long as the run
// is open.
func (r *Run) guideTo() *guide.Guide {
	r.guided.Do(func() { r.guide = guide.New(r.Data, r.Places, r.Engine) })
	return r.guide
}

// within reads a filter and a selection: guided analysis is about the samples
// of both.
func (r *Run) within(filter, where string) (query.Expr, error) {
	f, e, err := r.parse(filter, where)
	return query.Both(f, e), err
}

// wrongAsk makes a question that the guide cannot answer the client's mistake,
// unless the client has gone.
func wrongAsk(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return badRequest("%v", err)
}

func (s *Server) strip(w http.ResponseWriter, r *http.Request, run *Run) error {
	var a guide.AskStrip
	if err := readJSON(w, r, &a); err != nil {
		return err
	}
	where, err := run.within(a.Filter, a.Where)
	if err != nil {
		return err
	}
	strip, err := run.guideTo().Strip(r.Context(), a.Options(where))
	if err != nil {
		return wrongAsk(err)
	}
	return s.answerJSON(w, r, http.StatusOK, strip.Answer())
}

func (s *Server) clusters(w http.ResponseWriter, r *http.Request, run *Run) error {
	var a guide.AskTree
	if err := readJSON(w, r, &a); err != nil {
		return err
	}
	where, err := run.within(a.Filter, a.Where)
	if err != nil {
		return err
	}
	return s.watched(w, r, func(ctx context.Context, progress guide.Progress) (any, error) {
		o := a.Options(where)
		o.Progress = progress
		tree, err := run.guideTo().Cluster(ctx, o)
		if err != nil {
			return nil, err
		}
		return tree.Answer(&a), nil
	})
}

func (s *Server) insights(w http.ResponseWriter, r *http.Request, run *Run) error {
	var a guide.AskInsights
	if err := readJSON(w, r, &a); err != nil {
		return err
	}
	where, err := run.within(a.Filter, a.Where)
	if err != nil {
		return err
	}
	return s.watched(w, r, func(ctx context.Context, progress guide.Progress) (any, error) {
		found, err := run.guideTo().Insights(ctx, where, progress)
		if err != nil {
			return nil, err
		}
		return guide.AnswerInsights(found), nil
	})
}
