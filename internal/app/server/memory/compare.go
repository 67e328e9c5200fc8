package memory

import (
	"context"
	"errors"
	"net/http"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/memory/compare"
)

// maxCompareColumns bounds the columns of a group.
const maxCompareColumns = 8

// compare puts another run beside this one.
func (s routes) compare(w http.ResponseWriter, r *http.Request, run *Samples) error {
	var a AskCompare
	if err := frame.ReadJSON(w, r, &a); err != nil {
		return err
	}
	if len(a.By) == 0 || len(a.By) > maxCompareColumns {
		return frame.BadRequest("by: want 1 to %d columns", maxCompareColumns)
	}
	sideA, sideB, opt, release, err := s.both(r.Context(), run, &a)
	if err != nil {
		return err
	}
	defer release()
	metric := compare.Metric(a.Metric)
	if metric == "" {
		metric = compare.Cost
	}
	opt.Questions = []compare.Question{{By: a.By, Metric: metric}}
	c, err := compare.Runs(s.Turns.Behind(r.Context()), sideA, sideB, opt)
	if err != nil {
		return refusedComparison(r.Context(), err)
	}
	return s.Answer(w, r, comparedOf(c, a.Top))
}

// refusedComparison says whose mistake it is that runs were not compared.
func refusedComparison(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.As(err, new(*query.AskError)) {
		return frame.WrongAsk(err)
	}
	return frame.BadRequest("%v", err)
}

// both are the two sides that a question is about: those of a pair, or the run
// and another one that is open.
func (s routes) both(ctx context.Context, run *Samples, a *AskCompare) (sideA, sideB []compare.Run, opt compare.Options, release func(), err error) {
	if run.pair != nil && a.With == "" {
		sideA, sideB, release, err = s.sides(ctx, run, a.Where)
		return sideA, sideB, compare.Options{Common: true}, release, err
	}
	if run.pair != nil {
		return sideA, sideB, opt, nil, frame.BadRequest("with: the runs of a pair are compared with each other; ask one of them about another run")
	}
	if a.With == run.Run.ID {
		return sideA, sideB, opt, nil, frame.BadRequest("with: that is this run itself")
	}
	other, release := s.Hold(a.With)
	if other == nil {
		return sideA, sideB, opt, nil, frame.NotFound("open its file again", "no run %s is open to compare with", a.With)
	}
	with := Of(other)
	if with == nil {
		release()
		return sideA, sideB, opt, nil, noSamples(other)
	}
	if sideA, err = run.comparable(ctx, a.Where); err == nil {
		sideB, err = with.comparable(ctx, a.Where)
	}
	if err != nil {
		release()
		return sideA, sideB, opt, nil, err
	}
	return sideA, sideB, opt, release, nil
}

// comparable is the samples as the runs of a side.
func (r *Samples) comparable(ctx context.Context, where string) ([]compare.Run, error) {
	e, err := parseField("where", where, r.Data.Table)
	if err != nil {
		return nil, err
	}
	return compare.Chosen(ctx, r.runs(e))
}

func comparedOf(c *compare.Comparison, top int) Compared {
	out := Compared{Sentence: c.Sentence(), Limits: c.Limits(), Metric: string(c.Metric), Unit: c.Unit, Modelled: c.About() != "", Design: string(c.Design), Tested: c.Tested,
		Whole: comparedRow(&c.Whole), Groups: []ComparedRow{}, Count: c.GroupCount, Warnings: c.Warnings}
	for _, side := range []struct {
		of *compare.Side
		to *[]RunCost
	}{{&c.A, &out.RunsA}, {&c.B, &out.RunsB}} {
		for i, cost := range side.of.Costs {
			if len(side.of.Costs) > 1 {
				*side.to = append(*side.to, RunCost{side.of.Runs[i], cost})
			}
		}
	}
	if c.Small != nil {
		small := comparedRow(c.Small)
		out.Small = &small
	}
	for i := range c.Groups {
		if top > 0 && i == top {
			break
		}
		out.Groups = append(out.Groups, comparedRow(&c.Groups[i]))
	}
	return out
}

func comparedRow(r *compare.Row) ComparedRow {
	cell := func(c *compare.Cell) ComparedCell { return ComparedCell{c.Samples, c.Cost, c.Share, c.Mean} }
	a, b := r.Keys()
	return ComparedRow{Label: r.Label, KeyA: a, KeyB: b, Matched: string(r.Matched), A: cell(&r.A), B: cell(&r.B), Ratio: r.Ratio, Low: r.Low, High: r.High,
		Verdict: string(r.Verdict), Mark: r.Mark, Detectable: r.Detectable, Groups: r.Joined}
}
