package cycle

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/isobath/isobath/internal/base/term"
)

// LineShare is the part of a turn that a source line makes: how far around the
// circle the windows that start in it go.
type LineShare struct {
	File  string
	Line  int
	Share float64
}

// FunctionShare is the part of a turn that a function makes.
type FunctionShare struct {
	Function string
	Share    float64
}

// Role is the place of a class among the others.
type Role string

// The roles. A class without turns has none.
const (
	Lone   Role = "loop"
	Inner  Role = "inner loop"
	Middle Role = "middle loop"
	Outer  Role = "outer loop"
)

// Meaning is what a class says about the program.
type Meaning struct {
	Role     Role
	Parent   int   // index into Result.Classes of the loop around it; -1 if none
	Passes   int64 // turns of the parent
	Dual     int   // index of the class that with this one adds up to Whole; -1 if none
	Whole    int
	From, To Position
	Sentence string
	Header   *Header // the loop of the code it goes around; nil if unknown
}

// Position is one end of the code a turn runs through.
type Position struct {
	Function string
	File     string
	Line     int
	PC       uint64
}

// explain fills in lines, roles and sentences of all classes.
func (a *analysis) explain(ctx context.Context) error {
	for _, c := range a.Classes {
		a.lines(c)
		c.Meaning = Meaning{Parent: -1, Dual: -1, Whole: -1}
		c.From, c.To = a.Trace.span(c.TurnAt, c.TurnLength)
	}
	if err := a.nest(ctx); err != nil {
		return err
	}
	a.duals()
	a.stabilise()
	a.attach()
	for _, c := range a.Classes {
		c.Sentence = a.sentence(c)
	}
	return nil
}

// lines shares out one turn, or the whole trace for a class without a turn,
// among source lines and functions.
func (a *analysis) lines(c *Class) {
	tr := a.Trace
	if tr.Where == nil {
		return
	}
	index := a.Points.Index
	at, n := c.TurnAt, c.TurnLength
	if n == 0 {
		at, n = 0, len(index)-1
	}
	weight := make([]float64, len(tr.Sites))
	total := 0.0
	for from, part := range a.Points.files.parts(index[at:min(at+n, len(index)-1)]) {
		for i := range part {
			t, w := at+from+i, 0.0
			if index[t] != index[t+1] {
				w = math.Abs(c.steps[a.Walk.Step(index[t], index[t+1])])
			}
			weight[tr.Where[t]] += w
			total += w
		}
	}
	if total == 0 {
		return
	}
	lines, functions := map[LineShare]float64{}, map[string]float64{}
	for s, w := range weight {
		if w == 0 {
			continue
		}
		p := tr.Sites[s].Place
		if p.Line > 0 {
			lines[LineShare{File: p.File, Line: p.Line}] += w / total
		}
		if p.Function != "" {
			functions[p.Function] += w / total
		}
	}
	for l, share := range lines {
		c.Lines = append(c.Lines, LineShare{l.File, l.Line, share})
	}
	slices.SortFunc(c.Lines, func(x, y LineShare) int {
		return cmp.Or(cmp.Compare(y.Share, x.Share), cmp.Compare(x.File, y.File), x.Line-y.Line)
	})
	for f, share := range functions {
		c.Functions = append(c.Functions, FunctionShare{f, share})
	}
	slices.SortFunc(c.Functions, func(x, y FunctionShare) int {
		return cmp.Or(cmp.Compare(y.Share, x.Share), cmp.Compare(x.Function, y.Function))
	})
}

// span finds the lines of the function that the turn belongs to.
func (tr *Trace) span(at, length int) (from, to Position) {
	if tr.Where == nil || length == 0 {
		return from, to
	}
	turn := tr.Where[at : at+length]
	home := tr.home(turn)
	for _, s := range turn {
		if tr.function(s) == home {
			from, to = widen(from, to, home, tr.Sites[s])
		}
	}
	return from, to
}

// function is the position of a site without its line.
func (tr *Trace) function(site uint32) Position {
	p := tr.Sites[site].Place
	return Position{Function: p.Function, File: p.File}
}

// home is the outermost function of a turn: the one whose lowest slot on the
// stack, the end of its frame, lies highest. Where no slots are known it is the
// one that the turn enters most often, because a function that calls others is
// returned to after each call.
func (tr *Trace) home(turn []uint32) Position {
	type tally struct {
		slot    uint64
		entered int
		lines   map[int]bool
	}
	seen := map[Position]*tally{}
	for i, s := range turn {
		k := tr.function(s)
		if seen[k] == nil {
			seen[k] = &tally{lines: map[int]bool{}}
		}
		t := seen[k]
		if before := turn[(i+len(turn)-1)%len(turn)]; tr.function(before) != k {
			t.entered++
		}
		if slot := tr.Sites[s].Slot; slot != 0 && (t.slot == 0 || slot < t.slot) {
			t.slot = slot
		}
		t.lines[tr.Sites[s].Place.Line] = true
	}
	var home Position
	var best *tally
	for k, t := range seen {
		if best == nil || cmp.Or(cmp.Compare(t.slot, best.slot), t.entered-best.entered,
			len(t.lines)-len(best.lines), cmp.Compare(home.Function, k.Function)) > 0 {
			home, best = k, t
		}
	}
	return home
}

func widen(from, to, home Position, s Site) (Position, Position) {
	p := Position{home.Function, home.File, s.Place.Line, s.PC}
	if from == (Position{}) || from.after(p) {
		from = p
	}
	if to == (Position{}) || p.after(to) {
		to = p
	}
	return from, to
}

// nest finds for every counted class the loop around it: of the classes that
// enclose it, the one with the most turns.
func (a *analysis) nest(ctx context.Context) error {
	within, err := a.between(ctx)
	if err != nil {
		return err
	}
	for i, c := range a.Classes {
		for j, d := range a.Classes {
			if i == j || within[j][i] == 0 || !a.encloses(d, c) {
				continue
			}
			if c.Parent < 0 || d.Turns > a.Classes[c.Parent].Turns {
				c.Parent, c.Passes = j, d.Turns
			}
		}
	}
	a.roles()
	return nil
}

// encloses reports whether the loop d lies around the loop c. Fewer turns are
// not enough: one way through a branch also has fewer than the loop it is in.
// What tells them apart is the code: that of an outer loop lies around that of
// the inner one, or in a function that the inner one does not return to.
func (a *analysis) encloses(d, c *Class) bool {
	if !c.Exact || !d.Exact || d.Turns >= c.Turns || a.passes(c, d.Marker) {
		return false
	}
	if c.From == (Position{}) || d.From == (Position{}) {
		return true // no code known: the turns have to do
	}
	if c.From.Function != d.From.Function || c.From.File != d.From.File {
		return !a.enters(c, d.From)
	}
	return !d.From.after(c.From) && !c.To.after(d.To) && (c.From.after(d.From) || d.To.after(c.To))
}

// enters reports whether the turn of c runs through a position's function.
func (a *analysis) enters(c *Class, p Position) bool {
	return slices.ContainsFunc(a.Trace.Where[c.TurnAt:c.TurnAt+c.TurnLength], func(s uint32) bool {
		q := a.Trace.Sites[s].Place
		return q.Function == p.Function && q.File == p.File
	})
}

// after orders positions of one function: by line, by instruction where lines
// are equal or unknown.
func (p Position) after(q Position) bool {
	if p.Line != q.Line {
		return p.Line > q.Line
	}
	return p.Line == 0 && p.PC > q.PC
}

// roles names each class by what is around and inside it.
func (a *analysis) roles() {
	inside := make([]bool, len(a.Classes))
	for _, c := range a.Classes {
		if c.Parent >= 0 {
			inside[c.Parent] = true
		}
	}
	for i, c := range a.Classes {
		if c.Turns == 0 {
			continue
		}
		switch {
		case c.Parent < 0 && inside[i]:
			c.Role = Outer
		case c.Parent >= 0 && inside[i]:
			c.Role = Middle
		case c.Parent >= 0:
			c.Role = Inner
		default:
			c.Role = Lone
		}
	}
}

// passes reports whether the shortest turn of c visits a point.
func (a *analysis) passes(c *Class, point uint32) bool {
	return slices.Contains(a.Points.Index[c.TurnAt:c.TurnAt+c.TurnLength], point)
}

// between counts in how many returns to the marker of class j the marker of
// class i is visited: within[j][i].
func (a *analysis) between(ctx context.Context) ([][]int64, error) {
	n := len(a.Classes)
	at := map[uint32][]int{}
	for i, c := range a.Classes {
		if c.Exact {
			at[c.Marker] = append(at[c.Marker], i)
		}
	}
	within := make([][]int64, n)
	seen := make([][]bool, n) // since the last visit of j
	begun := make([]bool, n)
	for j := range within {
		within[j], seen[j] = make([]int64, n), make([]bool, n)
	}
	isMarker := make([]bool, a.Points.Len())
	for u := range at {
		isMarker[u] = true
	}
	visit := func(u uint32) {
		for _, i := range at[u] {
			for j := range n {
				seen[j][i] = begun[j]
			}
		}
		for _, j := range at[u] {
			for i := range n {
				if seen[j][i] && i != j {
					within[j][i]++
				}
				seen[j][i] = false
			}
			begun[j] = true
		}
	}
	for _, part := range a.Points.files.parts(a.Points.Index) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for _, u := range part {
			if isMarker[u] {
				visit(u)
			}
		}
	}
	return within, nil
}

// duals marks pairs of classes that add up to a third: the two ways through a
// branch, or the ways back and the entries of an inner loop.
func (a *analysis) duals() {
	n := len(a.Bars)
	vec := make([][]int64, len(a.Classes))
	for i, c := range a.Classes {
		vec[i] = make([]int64, n)
		for _, p := range c.Parts {
			vec[i][p.Bar] = p.Times
		}
	}
	for w, whole := range a.Classes {
		for x, cx := range a.Classes {
			for y := range x {
				cy := a.Classes[y]
				if w == x || w == y || cx.Dual >= 0 || cy.Dual >= 0 || whole.Winding == 0 || cx.Winding == 0 || cy.Winding == 0 {
					continue
				}
				if sumsTo(vec[x], vec[y], vec[w]) {
					cx.Dual, cx.Whole, cy.Dual, cy.Whole = y, w, x, w
				}
			}
		}
	}
}

func sumsTo(x, y, whole []int64) bool {
	for i := range whole {
		if x[i]+y[i] != whole[i] {
			return false
		}
	}
	return true
}

// sentence says in words what the class is.
func (a *analysis) sentence(c *Class) string {
	if c.Turns == 0 {
		return "no turns: a hole that the trace passes equally often in both directions"
	}
	s := string(c.Role)
	if h := c.Header; h != nil && h.Text != "" {
		s += " " + h.Text
	}
	if where := Place(c.From, c.To); where != "" {
		s += " " + where
	}
	about := ""
	if !c.Exact {
		about = "about "
	}
	s += fmt.Sprintf(", %s%s turn", about, term.Thousands(c.Turns))
	if c.Turns != 1 {
		s += "s"
	}
	if c.Parent >= 0 && c.Passes > 1 {
		s += fmt.Sprintf(" in %s passes", term.Thousands(c.Passes))
		if p := a.Classes[c.Parent]; p.From.Line != c.From.Line || p.To.Line != c.To.Line {
			if where := Place(p.From, p.To); where != "" {
				s += " of " + where
			}
		}
	}
	if part := c.Of(); part != "" {
		s += ", " + part
	}
	if !c.Stable && !c.Exact && c.Header == nil {
		s += "; another window counts otherwise"
	}
	if c.Dual >= 0 {
		d, w := a.Classes[c.Dual], a.Classes[c.Whole]
		if c.Turns+d.Turns == w.Turns { // open ends may cost a turn
			s += fmt.Sprintf("; with its dual %s + %s = %s", term.Thousands(c.Turns), term.Thousands(d.Turns), term.Thousands(w.Turns))
		} else {
			s += fmt.Sprintf("; dual of the %s turns of %s", term.Thousands(d.Turns), Place(d.From, d.To))
		}
	}
	return s
}

// Place is where the code from one position to another is, as text.
func Place(f, t Position) string {
	switch {
	case f.Line > 0 && f.Line == t.Line:
		return f.File + ":" + strconv.Itoa(f.Line)
	case f.Line > 0:
		return fmt.Sprintf("%s:%d–%d", f.File, f.Line, t.Line)
	case f.Function != "":
		return "in " + f.Function
	case f.PC != 0:
		return fmt.Sprintf("at %#x–%#x", f.PC, t.PC)
	}
	return ""
}
