package references

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/isobath/isobath/internal/app/refset"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/locality/advice"
	"github.com/isobath/isobath/internal/locality/answer"
	"github.com/isobath/isobath/internal/locality/replay"
	"github.com/isobath/isobath/internal/locality/views"
)

func (s routes) localityRoutes() []frame.Route {
	return []frame.Route{
		{Method: "POST", Path: "runs/{id}/locality/reuse", Access: frame.Viewer, Does: "how far apart uses of the same data lie", Command: "isobath reuse",
			Takes: ReuseAsk{}, Answers: answer.Reuse{}, Watchable: true, OfRun: of(s.reuse)},
		{Method: "POST", Path: "runs/{id}/locality/whatif", Access: frame.Viewer, Does: "the same references on another machine, or with another layout", Command: "isobath whatif",
			Takes: WhatIfAsk{}, Answers: answer.WhatIf{}, Watchable: true, OfRun: of(s.whatIf)},
		{Method: "POST", Path: "runs/{id}/locality/advise", Access: frame.Viewer, Does: "what to change, replayed before the edit", Command: "isobath advise",
			Takes: AdviseAsk{}, Answers: answer.Advise{}, Watchable: true, OfRun: of(s.advise)},
		{Method: "POST", Path: "runs/{id}/locality/sharing", Access: frame.Viewer, Does: "which lines threads fight for", Command: "isobath sharing",
			Takes: SharingAsk{}, Answers: answer.SharedLines{}, Watchable: true, OfRun: of(s.sharing)},
		{Method: "POST", Path: "runs/{id}/locality", Access: frame.Viewer, Does: "the miss curve, tables, evictions and layout of some references, beside a what if", Command: "isobath reuse",
			Takes: LocalityAsk{}, Answers: LocalityAnswer{}, Watchable: true, OfRun: of(s.localityViews)},
		{Method: "POST", Path: "runs/{id}/locality/map", Access: frame.Viewer, Does: "misses over time and addresses",
			Takes: LocalityMapAsk{}, Answers: LocalityMap{}, Type: frame.TypeColumns, OfRun: of(s.localityMap)},
		{Method: "POST", Path: "runs/{id}/locality/machines", Access: frame.Viewer, Does: "misses on several machines, with and without a change", Command: "isobath whatif",
			Takes: MachinesAsk{}, Answers: []MachineMisses{}, OfRun: of(s.machines)},
		{Method: "POST", Path: "runs/{id}/locality/paired", Access: frame.Viewer, Does: "which row each row of an earlier run is here: lines by their text, functions and objects by name and content",
			Takes: PairedAsk{}, Answers: Paired{}, OfRun: of(s.paired)},
	}
}

// unheard is progress that nobody waits for.
func unheard(string, int, int) {}

// heard is progress that may be told even if nobody waits for it.
func heard(progress frame.Told) frame.Told {
	if progress == nil {
		return unheard
	}
	return progress
}

// verb answers a question that a command answers too.
func verb[Ask, Answer any](s routes, w http.ResponseWriter, r *http.Request, run *Refs, where func(*Ask) string,
	find func(context.Context, *refset.Set, *Ask, refset.Progress) (Answer, error)) error {
	var ask Ask
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	return s.Watched(w, r, func(ctx context.Context, progress frame.Told) (any, error) {
		progress = heard(progress)
		set, err := run.Set(ctx, where(&ask))
		if err != nil {
			return nil, frame.WrongAsk(err)
		}
		defer set.Close()
		found, err := find(ctx, set, &ask, func(stage string, done uint64) {
			if stage == "changes" {
				progress("replaying changes", int(done), 0)
			} else {
				progress("reading the trace", int(done), int(run.records))
			}
		})
		return found, wrongAsk(err)
	})
}

func (s routes) reuse(w http.ResponseWriter, r *http.Request, run *Refs) error {
	return verb(s, w, r, run, func(a *ReuseAsk) string { return a.Where },
		func(ctx context.Context, set *refset.Set, a *ReuseAsk, p refset.Progress) (*answer.Reuse, error) {
			found, _, err := set.Reuse(ctx, refset.ReuseAsk{By: a.By, Machine: a.Machine, Set: a.Set, Line: a.Line, Page: a.Page, Shared: a.Shared, Top: a.Top, Progress: p})
			return found, err
		})
}

func (s routes) whatIf(w http.ResponseWriter, r *http.Request, run *Refs) error {
	return verb(s, w, r, run, func(a *WhatIfAsk) string { return a.Where },
		func(ctx context.Context, set *refset.Set, a *WhatIfAsk, p refset.Progress) (*answer.WhatIf, error) {
			ask := refset.WhatIfAsk{Topology: a.Topology, Base: a.Base, Set: a.Set, NUMA: a.NUMA, By: a.By, Warm: a.Warm, Top: a.Top, Progress: p}
			if a.Map != "" {
				ask.Map = strings.NewReader(a.Map)
			}
			return set.WhatIf(ctx, ask)
		})
}

func (s routes) advise(w http.ResponseWriter, r *http.Request, run *Refs) error {
	return verb(s, w, r, run, func(*AdviseAsk) string { return "" },
		func(ctx context.Context, set *refset.Set, a *AdviseAsk, p refset.Progress) (*answer.Advise, error) {
			found, err := run.locality.advice.find(fmt.Sprintf("%+v", *a), func() (*answer.Advise, error) {
				ask := refset.AdviseAsk{Machine: a.Machine, Set: a.Set, Object: a.Object, Kinds: a.Kinds, Least: a.Least, Reassociate: a.Reassociate, Progress: p}
				if a.Least == 0 {
					ask.Least = advice.DefaultLeast
				}
				found, err := set.Advise(ctx, ask)
				if err != nil {
					return nil, err
				}
				return found.Answer, nil
			})
			if err != nil {
				return nil, err
			}
			return set.Proven(found), nil // proofs may come while the page is open
		})
}

func (s routes) sharing(w http.ResponseWriter, r *http.Request, run *Refs) error {
	return verb(s, w, r, run, func(a *SharingAsk) string { return a.Where },
		func(ctx context.Context, set *refset.Set, a *SharingAsk, p refset.Progress) (*answer.SharedLines, error) {
			return set.Sharing(ctx, a.Latency, a.Top, p)
		})
}

func (s routes) localityViews(w http.ResponseWriter, r *http.Request, run *Refs) error {
	var ask LocalityAsk
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	return s.Watched(w, r, func(ctx context.Context, progress frame.Told) (any, error) {
		progress = heard(progress)
		l := run.locality
		give, err := l.take(ctx)
		if err != nil {
			return nil, err
		}
		defer give()
		start := time.Now()
		k, err := l.look(ctx, run, &ask, progress)
		if err != nil {
			return nil, err
		}
		a, err := k.answer(ctx, &ask)
		if err != nil {
			return nil, err
		}
		l.rename(a.Now.Places)
		l.rename(a.Now.Functions)
		l.rename(a.Loops)
		a.Took = frame.Since(start)
		return a, nil
	})
}

// Bounds of a map.
const (
	maxMapColumns = 4096
	maxMapRows    = 2048 // of all lanes together
)

func (s routes) localityMap(w http.ResponseWriter, r *http.Request, run *Refs) error {
	var ask LocalityMapAsk
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	shape := views.Shape{Columns: ask.Columns, Level: ask.Level, Window: ask.Window, Rows: map[string]int{}}
	total := 0
	for i, name := range ask.Objects {
		if i < len(ask.Rows) && ask.Rows[i] > 0 {
			shape.Rows[name] = ask.Rows[i]
			total += ask.Rows[i]
		}
	}
	if shape.Window == 0 {
		shape.Window = views.DefaultWindow
	}
	if ask.Columns < 1 || ask.Columns > maxMapColumns || total > maxMapRows || shape.Window < 1 {
		return frame.BadRequest("a map needs 1 to %d columns, at most %d rows and a window from 1", maxMapColumns, maxMapRows)
	}
	l := run.locality
	give, err := l.take(r.Context())
	if err != nil {
		return err
	}
	defer give()
	start := time.Now()
	k, err := l.look(r.Context(), run, &ask.LocalityAsk, unheard)
	if err != nil {
		return err
	}
	m, err := k.now.study.Map(r.Context(), &k.choice, shape)
	if err != nil {
		return err
	}
	body := &frame.Body{}
	head := LocalityMap{Width: m.Columns, Window: m.Window, Lanes: []LocalityLane{}, Names: frame.List(m.Names)}
	for _, lane := range m.Lanes {
		head.Lanes = append(head.Lanes, LocalityLane{lane.Object, lane.Bytes, lane.Rows, frame.Add(body, lane.All), frame.Add(body, lane.Selected)})
	}
	head.Set, head.Chosen, head.Functions = frame.Add(body, m.Set), frame.Add(body, m.Chosen), frame.Add(body, m.Functions)
	head.Columns, head.Took = frame.List(body.Refs), frame.Since(start)
	return s.AnswerColumns(w, r, head, body)
}

// maxMachines bounds the machines of one question.
const maxMachines = 12

func (s routes) machines(w http.ResponseWriter, r *http.Request, run *Refs) error {
	var ask MachinesAsk
	if err := frame.ReadJSON(w, r, &ask); err != nil {
		return err
	}
	if len(ask.Machines) > maxMachines {
		return frame.BadRequest("%d machines: want at most %d", len(ask.Machines), maxMachines)
	}
	l := run.locality
	give, err := l.take(r.Context())
	if err != nil {
		return err
	}
	defer give()
	if err := l.load(r.Context(), run, unheard); err != nil {
		return wrongAsk(err)
	}
	plan, err := l.plan(ask.Map)
	if err != nil {
		return err
	}
	out := []MachineMisses{}
	for _, name := range ask.Machines {
		m, err := l.misses(r.Context(), name, ask.Map, plan)
		if err != nil {
			return err
		}
		out = append(out, *m)
	}
	return s.Answer(w, r, out)
}

// misses replays on a machine, with and without a change. The caller has the
// turn.
func (l *locality) misses(ctx context.Context, name, change string, plan *replay.Plan) (*MachineMisses, error) {
	m, err := l.set.Machine(name, "")
	if err != nil {
		return nil, frame.BadRequest("%v", err)
	}
	counts := func(change string, plan *replay.Plan) (*replay.Tally, error) {
		key := countsKey{name, change}
		if n, ok := l.answers.Recall(key); ok {
			return n.(*replay.Tally), nil
		}
		n, err := replay.Weigh(ctx, l.trace, m, plan, replay.Kept)
		if err == nil {
			l.answers.Keep(key, 0, n)
		}
		return n, err
	}
	now, err := counts("", &replay.Plan{})
	if err != nil {
		return nil, err
	}
	then, err := counts(change, plan)
	if err != nil {
		return nil, err
	}
	out := &MachineMisses{Name: name, Model: answer.ModelText}
	a, b := now.Bands(m), then.Bands(m)
	for i, c := range m.Levels {
		out.Levels = append(out.Levels, MachineLevels{c.Name, c.Size, c.Line, now.Misses[i], then.Misses[i], a.Frames[i], a.Prefetch[i], b.Frames[i], b.Prefetch[i]})
	}
	return out, nil
}
