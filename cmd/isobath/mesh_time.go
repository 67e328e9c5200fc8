package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/domain/mesh"
	"github.com/isobath/isobath/internal/messages/logical"
	"github.com/isobath/isobath/internal/messages/trace"
)

// meshInTime is what the verb says about a field in space and time.
type meshInTime struct {
	OverTime *mesh.OverTime   `json:"over_time,omitempty"`
	Front    *mesh.Front      `json:"front,omitempty"`
	Line     []linePiece      `json:"line,omitempty"`
	Ranked   []mesh.Explained `json:"ranked,omitempty"` // variables by what they explain of the first field
	// Separated is how that divides into physics, placement and communication.
	Separated *mesh.Separation `json:"separated,omitempty"`
	Since     *int64           `json:"change_from,omitempty"` // iteration of the dump that values are changes since
}

// linePiece is a cell on a line with the values of the field, and of the variables that
// are correlated.
type linePiece struct {
	mesh.LinePiece
	Value     *float64            `json:"value"`
	Samples   uint32              `json:"samples"`
	Variables map[string]*float64 `json:"variables,omitempty"`
}

// changed is a field less the same of another dump, each with the samples since the
// dump before it.
func (f *meshFlags) changed(ctx context.Context, view *mesh.View, rows table.Bits, now *mesh.Field, r *meshResult) (*mesh.Field, error) {
	if r.window.Mode != mesh.Only {
		return nil, usagef("--change-from compares the samples of two dumps; it needs --mode only")
	}
	step, exact := view.Series.At(f.change)
	if !exact {
		return nil, usagef("--change-from %d: there is no dump of that iteration", f.change)
	}
	same, err := view.Series.SameCells(ctx, step, r.placed.Step)
	if err != nil {
		return nil, err
	}
	if !same {
		return nil, fmt.Errorf("the dumps of iterations %d and %d have other cells; values of cells cannot be compared", f.change, r.step.Iteration)
	}
	before, err := view.At(ctx, step)
	if err != nil {
		return nil, err
	}
	window, err := mesh.NewWindow(view.Series, mesh.Only, f.change, f.exact, nil)
	if err != nil {
		return nil, err
	}
	then, err := before.Field(ctx, view.Table, rows, window, now.Spec)
	if err != nil {
		return nil, err
	}
	r.inTime.Since = &f.change
	return mesh.Change(now, then)
}

// inTime answers --over-time, --front, --rank and --line.
func (f *meshFlags) inTime(ctx context.Context, view *mesh.View, rows table.Bits, r *meshResult) (err error) {
	spec := r.fields[0].Spec
	if f.overTime && len(f.cells) > 0 {
		cells := make([]uint32, len(f.cells))
		for i, c := range f.cells {
			if c < 0 || c >= r.placed.Cells {
				return usagef("--cells %d: the mesh has %s", c, term.Counted(r.placed.Cells, "cell"))
			}
			cells[i] = uint32(c)
		}
		r.inTime.OverTime, err = view.CellsOverTime(ctx, rows, spec, cells)
	} else if f.overTime {
		r.inTime.OverTime, err = view.OverTime(ctx, rows, spec, f.category)
	}
	if err == nil && f.front != "" {
		r.inTime.Front, err = view.Front(ctx, rows, spec, f.front)
	}
	if err == nil && f.rank {
		var ranking *mesh.RankedVariables
		if ranking, err = view.Rank(ctx, r.placed, r.fields[0], max(1, f.least)); err == nil {
			r.inTime.Ranked, r.inTime.Separated = ranking.Ranked, ranking.Separated
		}
	}
	if err == nil && f.line != "" {
		r.inTime.Line, err = f.along(ctx, view, r)
	}
	return err
}

// along lists the cells on a line with their values.
func (f *meshFlags) along(ctx context.Context, view *mesh.View, r *meshResult) ([]linePiece, error) {
	from, to, ok := strings.Cut(f.line, ":")
	a, okA := parsePoint(from)
	b, okB := parsePoint(to)
	if !ok || !okA || !okB {
		return nil, usagef("--line %q: want two points, as 0,0,0:1,1,1", f.line)
	}
	pieces, err := mesh.Line(ctx, r.placed.Mesh, r.placed.Space, a, b)
	if err != nil {
		return nil, err
	}
	physics := map[string][]float64{}
	for _, name := range f.correlate {
		if physics[name], err = view.Variable(ctx, r.placed, name); err != nil {
			return nil, err
		}
	}
	out := make([]linePiece, len(pieces))
	for i, p := range pieces {
		out[i] = linePiece{LinePiece: p, Samples: r.fields[0].Samples[p.Cell], Value: orNothing(r.fields[0].Values[p.Cell])}
		for name, values := range physics {
			if out[i].Variables == nil {
				out[i].Variables = map[string]*float64{}
			}
			out[i].Variables[name] = orNothing(values[p.Cell])
		}
	}
	return out, nil
}

func orNothing(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func parsePoint(text string) (at [3]float64, ok bool) {
	parts := strings.Split(text, ",")
	if len(parts) != 3 {
		return at, false
	}
	for k, p := range parts {
		v, err := strconv.ParseFloat(strings.TrimSpace(p), 64)
		if err != nil || orNothing(v) == nil {
			return at, false
		}
		at[k] = v
	}
	return at, true
}

func (t *meshInTime) print(w io.Writer) {
	if t.Since != nil {
		fmt.Fprintf(w, "\nvalues are changes since the dump of iteration %d, in cells with samples before both dumps\n", *t.Since)
	}
	if t.OverTime != nil {
		printOverTime(w, t.OverTime)
	}
	if t.Front != nil {
		printFront(w, t.Front)
	}
	if len(t.Ranked) > 0 {
		fmt.Fprintf(w, "\n%-20s %-13s %9s %9s %9s %9s\n", "variable", "about", "explains", "cells", "ρ", "p")
		for _, e := range t.Ranked {
			fmt.Fprintf(w, "%-20s %-13s %8.1f%% %9d %9s %9s\n", e.Variable, e.Subject, 100*max(0, e.Share), e.Cells, shortOr(e.Spearman), shortOr(e.SpatialP))
		}
	}
	if t.Separated != nil {
		printSeparated(w, t.Separated)
	}
	if len(t.Line) > 0 {
		fmt.Fprintf(w, "\n%8s %8s %8s %12s %8s\n", "from", "to", "cell", "value", "samples")
		for _, p := range t.Line {
			fmt.Fprintf(w, "%8.4f %8.4f %8d %12s %8d\n", p.From, p.To, p.Cell, shortOr(p.Value), p.Samples)
		}
	}
}

// printSeparated says how the differences divide into subjects.
func printSeparated(w io.Writer, s *mesh.Separation) {
	fmt.Fprintf(w, "\nof the differences between %s\n", term.Counted(s.Cells, "cell"))
	for _, p := range s.Subjects {
		fmt.Fprintf(w, "  %5.1f%% go with %s alone (%s; %.1f%% with nothing else known)\n", 100*p.Own, p.Subject, p.Variable, 100*p.Alone)
	}
	fmt.Fprintf(w, "  %5.1f%% go with several of these, which lie alike\n  %5.1f%% with none\n", 100*s.Common, 100*(1-s.Together))
}

// byRank reads what a message trace of the same run says of each rank.
func (f *meshFlags) byRank(ctx context.Context) ([]mesh.RankValues, error) {
	if f.trace == "" {
		return nil, nil
	}
	t, err := trace.Open(ctx, f.trace)
	if err != nil {
		return nil, err
	}
	s, err := logical.Analyze(ctx, t, logical.Default())
	if err != nil {
		return nil, err
	}
	return []mesh.RankValues{{Name: mesh.Lateness, Values: s.MeanLateness()}}, nil
}

func shortOr(v *float64) string {
	if v == nil {
		return "-"
	}
	return strconv.FormatFloat(*v, 'g', 5, 64)
}

// mostColumns of dumps are printed; JSON has all.
const mostColumns = 12

func printOverTime(w io.Writer, t *mesh.OverTime) {
	head := "region"
	if t.By != "" {
		head = t.By
	}
	fmt.Fprintf(w, "\n%s at each dump, of the samples since the one before\n%-22s", t.Field, head)
	shown := min(len(t.Iterations), mostColumns)
	for _, it := range t.Iterations[:shown] {
		fmt.Fprintf(w, " %9d", it)
	}
	fmt.Fprintln(w)
	for _, row := range t.Rows {
		fmt.Fprintf(w, "%-22s", row.Label)
		for _, v := range row.Values[:shown] {
			fmt.Fprintf(w, " %9s", shortOr(v))
		}
		fmt.Fprintln(w)
	}
	if shown < len(t.Iterations) {
		fmt.Fprintf(w, "%s; --json has them\n", term.Counted(len(t.Iterations)-shown, "more dump"))
	}
	if t.After > 0 {
		fmt.Fprintf(w, "%s after the last dump\n", term.Counted(t.After, "sample"))
	}
}

func printFront(w io.Writer, f *mesh.Front) {
	fmt.Fprintf(w, "\n%s while %s jumps: in %d of %s it does\n", f.Column, f.Variable, f.Passed, term.Counted(f.Cells, "cell"))
	fmt.Fprintf(w, "%-22s %9s %12s %12s\n", "dumps after the front", "samples", "mean", "without it")
	for _, o := range f.Offsets {
		fmt.Fprintf(w, "%+22d %9d %12s %12s\n", o.Dumps, o.Samples, shortOr(o.Mean), shortOr(o.Usual))
	}
	fmt.Fprintf(w, "of %s with samples enough on both sides %d cost more or less from the front on", term.Counted(f.Tested, "cell"), len(f.Changed))
	fmt.Fprintln(w, " (at most one in twenty of them by chance)")
	const most = 10
	for _, c := range f.Changed[:min(len(f.Changed), most)] {
		fmt.Fprintf(w, "  cell %d, front at %d: %+.4g before, %+.4g after, against cells without it (%d and %s, p %.2g)\n",
			c.Cell, c.Iteration, c.Before, c.After, c.SamplesBefore, term.Counted(c.SamplesAfter, "sample"), c.P)
	}
	if f.LeftOut > 0 {
		fmt.Fprintf(w, "left out: %s of dumps in which hardly any are on cells without the front\n", term.Counted(f.LeftOut, "sample"))
	}
}
