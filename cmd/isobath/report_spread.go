package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/memory/spread"
)

// noCallers says why nobody is known to call anything.
func noCallers(t *table.Table) error {
	if t.Column("stack") != nil {
		return errors.New("every call stack of the recording has one function only; compile the program with -fno-omit-frame-pointer")
	}
	return errors.New("the recording has no call stacks; record them, with perf for example: perf record -g")
}

// selected returns the rows of a selection, nil for all.
func selected(ctx context.Context, s *dataset.Set, where string) (table.Bits, query.Expr, error) {
	e, err := selection(s, where)
	if err != nil || e == nil {
		return nil, nil, err
	}
	rows, err := s.Engine.Select(ctx, e)
	return rows, e, err
}

// addSpread adds the distribution of each group.
func (r *report) addSpread(ctx context.Context, s *dataset.Set) error {
	where, err := query.Parse(r.Where, s.Table)
	if err != nil {
		return err
	}
	var columns []*table.Column
	for _, name := range r.By {
		columns = append(columns, s.Table.Column(name))
	}
	byKey := map[string]spread.Spread{}
	groups, err := spread.Of(ctx, s.Table, s.Engine, where, columns, 0)
	if err != nil {
		return err
	}
	for _, g := range groups {
		byKey[strings.Join(g.Key, "\x00")] = g
	}
	for i := range r.Groups {
		g := &r.Groups[i]
		d := byKey[strings.Join(g.label, "\x00")]
		g.Levels, g.Distribution = d.Levels, d.Latency
	}
	return nil
}

// writeSpread prints the distributions, if there are any.
func (r *report) writeSpread(w io.Writer) error {
	t := term.Table{Columns: []term.Column{{Head: strings.Join(r.By, ":"), Give: true}, {Head: "p50", Align: term.Right}, {Head: "p90", Align: term.Right}, {Head: "p99", Align: term.Right}, {Head: "max", Align: term.Right}, {Head: "levels"}}}
	any := false
	for _, g := range r.Groups {
		if len(g.Levels) == 0 && g.Distribution == nil {
			continue
		}
		any = true
		cells := []string{label(g.label), "–", "–", "–", "–"}
		if d := g.Distribution; d != nil {
			for i, v := range []float64{d.P50, d.P90, d.P99, d.Max} {
				cells[1+i] = strconv.FormatFloat(v, 'f', -1, 64)
			}
		}
		t.Row(append(cells, levelMix(g.Levels, g.Samples))...)
	}
	if !any {
		return nil
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return t.Write(w, term.Width)
}

// levelMix writes the shares of the three levels with the most samples.
func levelMix(levels []spread.LevelCount, samples int) string {
	var words []string
	for _, l := range levels[:min(len(levels), 3)] {
		name := l.Name
		if name == "" {
			name = "?"
		}
		words = append(words, fmt.Sprintf("%s %s", name, term.Percent(float64(l.Samples)/float64(max(samples, 1)))))
	}
	return strings.Join(words, ", ")
}
