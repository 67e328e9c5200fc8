package messages

import (
	"context"
	"net/http"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/messages/whatif"
)

// ranking is the ranked causes of an analysis, found once. Replays share
// scratch space, so that one question is answered at a time.
type ranking struct {
	causes *whatif.Causes
	clocks whatif.Clocks
}

// rank finds the causes when they are first asked for; the caller holds
// a.ranking.
func (a *analysis) rank(ctx context.Context) error {
	if a.ranked != nil {
		return nil
	}
	g, err := whatif.Build(ctx, a.S.Trace)
	if err != nil {
		return err
	}
	c, err := whatif.Rank(ctx, g, a.S, topCauses)
	if err != nil {
		return err
	}
	a.ranked = &ranking{c, g.Clocks()}
	return nil
}

// maxChanges bounds the changes of one question.
const maxChanges = 32

func (s routes) gains(w http.ResponseWriter, r *http.Request, run *Trace) error {
	var ask GainsAsk
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	if len(ask.Changes) > maxChanges {
		return frame.BadRequest("%d changes: want at most %d", len(ask.Changes), maxChanges)
	}
	a, err := run.find(r.Context(), ask.Options)
	if err != nil {
		return err
	}
	a.ranking.Lock()
	defer a.ranking.Unlock()
	if err := a.rank(r.Context()); err != nil {
		return err
	}
	top := topCauses
	if ask.Top > 0 {
		top = min(ask.Top, topCauses)
	}
	c := a.ranked.causes
	out := GainsAnswer{Ranking: *c.Report(top, a.ranked.clocks)}
	times := c.Times
	if len(ask.Changes) > 0 {
		scenario := c.NewScenario()
		for _, change := range ask.Changes {
			if err := scenario.Apply(r.Context(), change); err != nil {
				return frame.BadRequest("%v", err)
			}
		}
		out.Ranking.WhatIf, times = scenario.Predict()
	}
	if ask.Ghost != nil {
		out.Ghost = ghost(c, times, ask.Ghost)
	}
	return s.Answer(w, r, out)
}

// maxGhost bounds the calls of the changed run that are sent.
const maxGhost = 20_000

// ghost lists the calls of a replayed run in a window.
func ghost(c *whatif.Causes, t *whatif.Times, ask *GhostAsk) *Ghost {
	out := &Ghost{Process: []int32{}, Enter: []int64{}, Exit: []int64{}, Name: []int32{}}
	from, to := c.Trace.Ticks(ask.From), c.Trace.Ticks(ask.To)
	for p := max(0, ask.FromProcess); p < min(ask.ToProcess, int32(c.Lines())); p++ {
		for i := c.Start[p]; i < c.Start[p+1]; i++ {
			if t.Exit[i] < from || t.Enter[i] >= to {
				continue
			}
			if len(out.Process) == maxGhost {
				out.Cut = true
				return out
			}
			out.Process = append(out.Process, p)
			out.Enter, out.Exit = append(out.Enter, c.Trace.NS(t.Enter[i])), append(out.Exit, c.Trace.NS(t.Exit[i]))
			out.Name = append(out.Name, c.Trace.Calls.Region[i])
		}
	}
	return out
}
