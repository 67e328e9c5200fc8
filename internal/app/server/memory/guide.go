package memory

import (
	"context"
	"net/http"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/memory/guide"
)

func (s routes) guideInfo(w http.ResponseWriter, r *http.Request, run *Samples) error {
	return s.Answer(w, r, run.guideTo(r.Context()).Info())
}

// guideTo returns the run's guide, which remembers trees for as long as the run
// is open, of the budget of whoever asks first.
func (r *Samples) guideTo(ctx context.Context) *guide.Guide {
	r.guided.Do(func() {
		places := r.Places
		if r.pair != nil && r.pair.apart != "" {
			places = nil // two machines are no cluster in which one could be idle
		}
		r.guide = guide.NewWithin(budget.Of(ctx), r.Data, places, r.Engine)
	})
	return r.guide
}

// within reads a filter and a selection: guided analysis is about the samples
// of both.
func (r *Samples) within(filter, where string) (query.Expr, error) {
	f, e, err := r.parse(filter, where)
	return query.Both(f, e), err
}

func (s routes) strip(w http.ResponseWriter, r *http.Request, run *Samples) error {
	var a guide.AskStrip
	if err := frame.ReadJSON(w, r, &a); err != nil {
		return err
	}
	where, err := run.within(a.Filter, a.Where)
	if err != nil {
		return err
	}
	strip, err := run.guideTo(r.Context()).Strip(s.Turns.Behind(r.Context()), a.Options(where))
	if err != nil {
		return frame.WrongAsk(err)
	}
	return s.Answer(w, r, strip.Answer())
}

func (s routes) clusters(w http.ResponseWriter, r *http.Request, run *Samples) error {
	var a guide.AskTree
	if err := frame.ReadJSON(w, r, &a); err != nil {
		return err
	}
	where, err := run.within(a.Filter, a.Where)
	if err != nil {
		return err
	}
	return s.Watched(w, r, func(ctx context.Context, progress frame.Told) (any, error) {
		o := a.Options(where)
		o.Progress = progress
		tree, err := run.guideTo(ctx).Cluster(ctx, o)
		if err != nil {
			return nil, err
		}
		return tree.Answer(&a), nil
	})
}

func (s routes) insights(w http.ResponseWriter, r *http.Request, run *Samples) error {
	var a guide.AskInsights
	if err := frame.ReadJSON(w, r, &a); err != nil {
		return err
	}
	where, err := run.within(a.Filter, a.Where)
	if err != nil {
		return err
	}
	return s.Watched(w, r, func(ctx context.Context, progress frame.Told) (any, error) {
		found, err := run.guideTo(ctx).Insights(ctx, where, progress)
		if err != nil {
			return nil, err
		}
		return guide.AnswerInsights(found), nil
	})
}
