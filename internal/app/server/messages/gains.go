package messages

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/messages/timeline"
	"github.com/isobath/isobath/internal/messages/whatif"
)

// rank finds the causes when they are first asked for; the caller holds
// a.ranking, because replays share scratch space.
func (a *analysis) rank(ctx context.Context, run *Trace) error {
	if a.ranked != nil {
		return nil
	}
	g, err := run.settle(ctx)
	if err != nil {
		return err
	}
	a.ranked, err = whatif.Rank(ctx, g, a.S, topCauses)
	return err
}

// maxChanges bounds the changes of one question.
const maxChanges = 32

// prediction is the run with changes.
type prediction struct {
	changes []string
	report  *whatif.ReportWhatIf
	*timeline.Timeline
}

// refusal is why a change cannot be made.
type refusal struct{ error }

// predict replays the trace with changes; the newest answer is kept.
func (a *analysis) predict(ctx context.Context, run *Trace, changes []string) (*prediction, error) {
	if len(changes) > maxChanges {
		return nil, frame.BadRequest("%d changes: want at most %d", len(changes), maxChanges)
	}
	a.ranking.Lock()
	defer a.ranking.Unlock()
	if p := a.predicted; p != nil && slices.Equal(p.changes, changes) {
		return p, nil
	}
	if err := a.rank(ctx, run); err != nil {
		return nil, err
	}
	scenario := a.ranked.NewScenario()
	for _, change := range changes {
		if err := scenario.Apply(ctx, change); err != nil {
			return nil, refusal{err}
		}
	}
	report, times := scenario.Predict()
	moved := a.S.Retimed(a.S.Trace.Retimed(times.Begin, times.Enter, times.Exit))
	a.predicted = &prediction{changes, report, a.Timeline.Retimed(moved)}
	return a.predicted, nil
}

// draw draws the changed run in the windows of the recorded one, which are
// settled by now.
func (p *prediction) draw(ctx context.Context, q timeline.Ask, ask *PictureAsk, col *frame.Body) (*GhostAnswer, error) {
	out := &GhostAnswer{Recorded: float64(p.report.Recorded), Span: float64(p.report.Span)}
	q.Origin, q.Versus, q.Stacks = -1, nil, false
	for _, one := range []struct {
		window *timeline.Window
		draw   func(context.Context, timeline.Ask) (*timeline.Picture, error)
		to     **TimelineAnswer
	}{{ask.Logical, p.Steps, &out.Logical}, {ask.Physical, p.Times, &out.Physical}} {
		if one.window == nil {
			continue
		}
		q.Window = *one.window
		picture, err := one.draw(ctx, q)
		if err != nil {
			return nil, frame.WrongAsk(err)
		}
		*one.to = timelineAnswer(col, *one.window, picture, p.Bands(picture))
	}
	return out, nil
}

func (s routes) gains(w http.ResponseWriter, r *http.Request, run *Trace) error {
	var ask GainsAsk
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	a, err := run.find(r.Context(), ask.Options)
	if err != nil {
		return err
	}
	ranking, err := a.gains(r.Context(), run, ask.Top)
	if err != nil {
		return err
	}
	out := GainsAnswer{Ranking: *ranking}
	if len(ask.Changes) > 0 {
		p, err := a.predict(r.Context(), run, ask.Changes)
		var cannot refusal
		switch {
		case errors.As(err, &cannot):
			out.Refused = cannot.Error()
		case err != nil:
			return err
		default:
			out.Ranking.WhatIf = p.report
		}
	}
	return s.Answer(w, r, out)
}

// gains is the ranked causes, with at most top entries; 0 for as many as the page
// lists.
func (a *analysis) gains(ctx context.Context, run *Trace, top int) (*whatif.Ranking, error) {
	a.ranking.Lock()
	defer a.ranking.Unlock()
	if err := a.rank(ctx, run); err != nil {
		return nil, err
	}
	if a.report == nil {
		a.report = a.ranked.Report(topCauses, run.clocks)
	}
	out := *a.report
	if top > 0 {
		out.Gains = out.Gains[:min(top, len(out.Gains))]
	}
	return &out, nil
}
