package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/loops/cycle"
)

// cyclesJSON is one result in the shape of DESIGN: additions only.
func cyclesJSON(r *cycle.Result, folds []cycle.Fold) map[string]any {
	alive := 0
	bars := make([][2]any, len(r.Bars))
	for i, b := range r.Bars {
		bars[i] = [2]any{b.Birth, death(b)}
		if b.Alive {
			alive++
		}
	}
	classes := make([]map[string]any, len(r.Classes))
	for i, c := range r.Classes {
		classes[i] = classJSON(c)
		classes[i]["lead_in"], classes[i]["lead_out"] = r.Ambles(c, cycle.AmbleTolerance)
	}
	groups := []map[string]any{}
	for _, g := range r.Groups {
		if len(g.Bars) > 1 {
			groups = append(groups, map[string]any{"bars": g.Bars, "epsilon": g.Epsilon,
				"reduced": g.Reduced, "energy": g.Energy, "winding": g.Winding})
		}
	}
	refused := []map[string]any{}
	for _, f := range r.Refused {
		refused = append(refused, map[string]any{"birth": f.Bar.Birth, "death": death(f.Bar), "reason": f.Reason})
	}
	loops := []map[string]any{}
	for _, f := range folds {
		loops = append(loops, map[string]any{"period": f.Period, "entries": f.Entries, "turns": f.Turns,
			"least": f.Least, "most": f.Most, "records": f.Records, "place": cycle.Place(f.From, f.To)})
	}
	return map[string]any{
		"thread": r.Trace.Thread, "records": len(r.Trace.Syms), "references": r.Trace.Records, "every": r.Trace.Every,
		"symbol": r.Trace.Symbol.String(), "symbols": r.Trace.Symbols,
		"window": r.Points.Window, "windows": len(r.Points.Index), "unique": r.Points.Len(),
		"prime": r.Prime, "epsilon_cap": r.Matrix.Cap, "bars": bars, "alive_at_cap": alive,
		"preamble": r.Preamble, "postamble": r.Postamble, "cover_radius": r.CoverRadius,
		"classes": classes, "toroidal": groups, "refused": refused, "folded": loops, "notes": append([]string{}, r.Notes...),
	}
}

// death is null for a bar that has not ended up to the cap.
func death(b cycle.Bar) any {
	if b.Alive {
		return nil
	}
	return b.Death
}

func classJSON(c *cycle.Class) map[string]any {
	lines := []map[string]any{}
	for _, l := range c.Lines {
		lines = append(lines, map[string]any{"file": l.File, "line": l.Line, "share": l.Share})
	}
	functions := []map[string]any{}
	for _, f := range c.Functions {
		functions = append(functions, map[string]any{"function": f.Function, "share": f.Share})
	}
	parts := []map[string]any{}
	for _, p := range c.Parts {
		parts = append(parts, map[string]any{"bar": p.Bar, "times": p.Times})
	}
	var header any
	if h := c.Header; h != nil {
		// A class goes around it, so that it was entered and turned: 0 is not known.
		header = map[string]any{"loop": h.Index, "text": h.Text, "file": h.File, "line": h.Line,
			"entries": known(h.Entries, h.Entries > 0), "trips": known(h.Trips, h.Trips > 0), "exact": h.Exact}
	}
	return map[string]any{
		"header": header, "birth": c.Birth, "death": death(c.Bar), "alive_at_cap": c.Alive, "persistence": c.Persistence(),
		"epsilon": c.Epsilon, "winding": c.Winding, "turns": c.Turns, "exact": c.Exact, "stable": c.Stable, "windows_same": lengths(c.Same), "lift": c.Lift,
		"energy": c.Energy, "residual": c.Residual, "support": c.Support, "edges": c.Edges,
		"combination": c.Combination, "parts": parts, "lines": lines, "functions": functions,
		"role": c.Role, "parent": index(c.Parent), "passes": c.Passes, "dual": index(c.Dual), "whole": index(c.Whole),
		"turn": map[string]any{"window": c.TurnAt, "length": c.TurnLength}, "sentence": c.Sentence,
	}
}

// lengths is null where no length of windows counts as many.
func lengths(l cycle.Lengths) any {
	if l == (cycle.Lengths{}) {
		return nil
	}
	return [2]int{l.Least, l.Most}
}

// index is null for "none".
func index(i int) any {
	if i < 0 {
		return nil
	}
	return i
}

func (r *cyclesReport) writeText(out io.Writer, top int) error {
	w := &strings.Builder{}
	for _, n := range r.notes {
		wrap(w, "note: ", n)
	}
	if len(r.results) == 0 {
		fmt.Fprintln(w, "no references")
	}
	for i, res := range r.results {
		if len(r.results) > 1 {
			fmt.Fprintf(w, "thread %d\n", res.Trace.Thread)
		}
		writeCycles(w, res, r.folds[i], top)
	}
	_, err := io.WriteString(out, w.String())
	return err
}

func writeCycles(w *strings.Builder, r *cycle.Result, folds []cycle.Fold, top int) {
	fmt.Fprintf(w, "%s, %s of %d, %s distinct by %s\n",
		term.Counted(len(r.Trace.Syms), "reference"), term.Counted(len(r.Points.Index), "window"), r.Points.Window,
		term.Thousands(r.Points.Len()), r.Trace.Symbol)
	fmt.Fprintf(w, "%s up to epsilon %d; %s of lead-in, %d of lead-out\n",
		term.Counted(len(r.Bars), "bar"), r.Matrix.Cap, term.Counted(r.Preamble, "window"), r.Postamble)
	for _, n := range r.Notes {
		wrap(w, "note: ", n)
	}
	for _, f := range r.Refused {
		wrap(w, "refused: ", fmt.Sprintf("bar %s: %s", barText(f.Bar), f.Reason))
	}
	if len(r.Classes) > 0 {
		fmt.Fprintf(w, "\n%7s %11s %11s %7s  %s\n", "bar", "turns", "winding", "windows", "what")
	}
	if len(r.Classes) == 0 {
		wrap(w, "no circle: ", fmt.Sprintf("no bar lasts long enough at windows of %s; loops shorter than that are in 'isobath loops' and below, and another --window (%d to %d) may show more",
			term.Counted(r.Points.Window, "reference"), cycle.MinWindow, cycle.MaxWindow))
	}
	still, printed := 0, map[string]bool{}
	for i, c := range r.Classes {
		if c.Turns == 0 {
			still++
			continue
		}
		// Several circles often run through the same code in step.
		what := cycle.Place(c.From, c.To) + "/" + term.Thousands(c.Turns)
		if printed[what] && c.Exact {
			continue
		}
		if len(printed) >= top {
			fmt.Fprintf(w, "… and %d more; see --top or --json\n", len(r.Classes)-i)
			break
		}
		printed[what] = true
		turns := term.Roughly(!c.Exact) + term.Thousands(c.Turns)
		fmt.Fprintf(w, "%7s %11s %11s %7s  ", barText(c.Bar), turns, term.Thousands(c.Winding), lengthsText(c.Same))
		writeWrapped(w, c.Sentence, 41, 80)
	}
	if still > 0 {
		fmt.Fprintf(w, "%s without turns\n", term.Counted(still, "more class"))
	}
	writeFolds(w, folds)
}

func writeFolds(w *strings.Builder, folds []cycle.Fold) {
	if len(folds) == 0 {
		return
	}
	fmt.Fprintf(w, "\nexact repetition, innermost first:\n%8s %12s %12s  %s\n", "period", "turns", "entries", "where")
	for _, f := range folds {
		each := fmt.Sprintf("%d", f.Most)
		if f.Least != f.Most {
			each = fmt.Sprintf("%d–%d", f.Least, f.Most)
		}
		fmt.Fprintf(w, "%8d %12s %12s  ", f.Period, term.Thousands(f.Turns), term.Thousands(f.Entries))
		writeWrapped(w, fmt.Sprintf("%s, %s per entry", cycle.Place(f.From, f.To), each), 36, 80)
	}
}

func barText(b cycle.Bar) string {
	if b.Alive {
		return fmt.Sprintf("%d–≥%d", b.Birth, b.Death)
	}
	return fmt.Sprintf("%d–%d", b.Birth, b.Death)
}

// lengthsText is the lengths of windows that count as many turns.
func lengthsText(l cycle.Lengths) string {
	switch {
	case l == (cycle.Lengths{}):
		return "–"
	case l.Least == l.Most:
		return fmt.Sprintf("%d", l.Most)
	}
	return fmt.Sprintf("%d–%d", l.Least, l.Most)
}

// wrap prints a paragraph with a label.
func wrap(w *strings.Builder, label, text string) {
	w.WriteString(label)
	writeWrapped(w, text, len(label), 80)
}

// writeWrapped prints words from column at on, broken before the width.
func writeWrapped(w *strings.Builder, text string, at, width int) {
	col := at
	for i, word := range strings.Fields(text) {
		n := len([]rune(word))
		if i > 0 && col+1+n > width {
			w.WriteString("\n" + strings.Repeat(" ", at))
			col = at
		} else if i > 0 {
			w.WriteByte(' ')
			col++
		}
		w.WriteString(word)
		col += n
	}
	w.WriteByte('\n')
}
