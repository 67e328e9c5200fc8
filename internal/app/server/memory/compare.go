package memory

import (
	"bytes"
	"errors"
	"net/http"
	"strings"

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
	if a.With == run.Run.ID {
		return frame.BadRequest("with: that is this run itself")
	}
	other, release := s.Hold(a.With)
	if other == nil {
		return frame.NotFound("open its file again", "no run %s is open to compare with", a.With)
	}
	defer release()
	with := Of(other)
	if with == nil {
		return noSamples(other)
	}
	sideA, err := run.comparable(a.Where)
	if err != nil {
		return err
	}
	sideB, err := with.comparable(a.Where)
	if err != nil {
		return err
	}
	metric := compare.Metric(a.Metric)
	if metric == "" {
		metric = compare.Cost
	}
	c, err := compare.Runs(r.Context(), []compare.Run{sideA}, []compare.Run{sideB}, compare.Options{Questions: []compare.Question{{By: a.By, Metric: metric}}})
	if err != nil {
		if r.Context().Err() != nil || errors.As(err, new(*query.AskError)) {
			return frame.WrongAsk(err)
		}
		return frame.BadRequest("%v", err)
	}
	return s.Answer(w, r, comparedOf(c, a.Top))
}

// comparable is the samples as one run of a side.
func (r *Samples) comparable(where string) (compare.Run, error) {
	e, err := parseField("where", where, r.Data.Table)
	if err != nil {
		return compare.Run{}, err
	}
	texts := map[string][]string{}
	return compare.Run{Name: r.Run.Name, Manifest: r.Manifest, Table: r.Data.Table, Engine: r.Engine, Where: e, Topology: r.Topology, Text: func(file string) []string {
		lines, read := texts[file]
		if !read {
			if text, err := r.Run.SourceBytes(file); err == nil && bytes.IndexByte(text, 0) < 0 {
				lines = strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
			}
			texts[file] = lines
		}
		return lines
	}}, nil
}

func comparedOf(c *compare.Comparison, top int) Compared {
	out := Compared{Sentence: c.Sentence(), Limits: c.Limits(), Metric: string(c.Metric), Unit: c.Unit, Modelled: c.About() != "", Design: string(c.Design), Tested: c.Tested,
		Whole: comparedRow(&c.Whole), Groups: []ComparedRow{}, Count: c.GroupCount, Warnings: c.Warnings}
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
