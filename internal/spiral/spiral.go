// Package spiral prepares the walk of a reference trace around a circle for
// drawing: how far it has turned at each window, the colours of source lines,
// where turns and passes begin, and, for traces longer than a screen can show,
// the most frequent colour of each pixel of the spiral.
package spiral

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"isobath/internal/cycle"
	"isobath/internal/refs"
)

// Colour stands for a source line, or for a function whose lines are not the
// user's own.
type Colour struct {
	Label    string `json:"label"`
	File     string `json:"file"`
	Line     int    `json:"line"`
	Function string `json:"function"` // set where lines are folded into it
	Count    int    `json:"count"`    // references
}

// MaxColours is how many lines are told apart; the rest share the last colour.
const MaxColours = 7

// least is the share of the references that a line needs for its own colour.
const least = 0.02

// Other is the colour of windows that have none of their own.
const Other = MaxColours

// View draws one result. It is safe for concurrent use.
type View struct {
	R       *cycle.Result
	Colours []Colour // of at most MaxColours, in order of first use
	Lines   []Colour // every line or function, most references first

	of []uint8 // site to colour
	in []int32 // site to entry of Lines

	mu    sync.Mutex
	lifts map[[2]int][]float32
}

// New chooses the colours of a result. own says whether a source file is the
// user's; lines of others are folded into their functions.
func New(r *cycle.Result, own func(file string) bool) *View {
	v := &View{R: r, lifts: map[[2]int][]float32{}}
	v.group(own)
	v.choose()
	return v
}

// group counts references by line, or by function where the line is foreign.
func (v *View) group(own func(string) bool) {
	tr := v.R.Trace
	if tr.Where == nil {
		return
	}
	v.in = make([]int32, len(tr.Sites))
	index := map[Colour]int32{}
	for s := range tr.Sites {
		key := colourOf(&tr.Sites[s], own)
		i, ok := index[key]
		if !ok {
			i = int32(len(v.Lines))
			index[key] = i
			v.Lines = append(v.Lines, key)
		}
		v.in[s] = i
	}
	for _, s := range tr.Where {
		v.Lines[v.in[s]].Count++
	}
}

func colourOf(s *cycle.Site, own func(string) bool) Colour {
	p := s.Place
	switch {
	case p.Line > 0 && (own(p.File) || p.Function == ""):
		return Colour{Label: fmt.Sprintf("%s:%d", base(p.File), p.Line), File: p.File, Line: p.Line}
	case p.Function != "":
		return Colour{Label: shortName(p.Function), File: p.File, Function: p.Function}
	}
	return Colour{Label: fmt.Sprintf("%#x", s.PC)}
}

// shortName is a demangled function without its result, template arguments and
// parameters: std::swap for what takes three lines in full.
func shortName(f string) string {
	depth := 0
	var out []byte
	for i := 0; i < len(f); i++ {
		switch c := f[i]; {
		case c == '<' && !strings.HasSuffix(string(out), "operator"):
			depth++
		case c == '>' && depth > 0:
			depth--
		case depth > 0:
		case c == '(' && len(out) > 0:
			return string(out)
		case c == ' ' && !strings.HasSuffix(string(out), "operator"):
			out = out[:0] // what came before was the result
		default:
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return f
	}
	return string(out)
}

func base(path string) string {
	for i := len(path) - 1; i >= 0; i-- {
		if path[i] == '/' {
			return path[i+1:]
		}
	}
	return path
}

// choose gives the lines with the most references a colour of their own, in
// the order of their first use, so that neighbours in the program differ.
func (v *View) choose() {
	order := make([]int32, len(v.Lines))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return v.Lines[b].Count - v.Lines[a].Count })
	var chosen []int32
	for _, i := range order {
		if len(chosen) < MaxColours && float64(v.Lines[i].Count) >= least*float64(len(v.R.Trace.Where)) {
			chosen = append(chosen, i)
		}
	}
	slices.Sort(chosen) // entries are in order of first use
	v.of = make([]uint8, len(v.in))
	colour := map[int32]uint8{}
	for c, i := range chosen {
		colour[i] = uint8(c)
		v.Colours = append(v.Colours, v.Lines[i])
	}
	for s, i := range v.in {
		v.of[s] = Other
		if c, ok := colour[i]; ok {
			v.of[s] = c
		}
	}
}

// Colour returns the colour of a window: that of its first reference.
func (v *View) Colour(window int) uint8 {
	if v.of == nil {
		return Other
	}
	return v.of[v.R.Trace.Where[window]]
}

// Windows is how many there are.
func (v *View) Windows() int { return len(v.R.Points.Index) }

// Lift returns how far the trace has turned around a class at each window,
// signed so that it ends positive. eps is where the class is smoothed; 0 is
// where it was found.
func (v *View) Lift(ctx context.Context, class, eps int) ([]float32, error) {
	if class < 0 || class >= len(v.R.Classes) {
		return nil, fmt.Errorf("no class %d: there are %d", class, len(v.R.Classes))
	}
	c := v.R.Classes[class]
	key := [2]int{class, eps}
	v.mu.Lock()
	defer v.mu.Unlock()
	if l := v.lifts[key]; l != nil {
		return l, nil
	}
	if eps > 0 && eps != c.Epsilon {
		var err error
		if c, err = v.R.Smoothed(ctx, c, eps); err != nil {
			return nil, err
		}
	}
	lift := make([]float32, v.Windows())
	if err := v.R.Coordinates(ctx, c, lift); err != nil {
		return nil, err
	}
	if n := len(lift); n > 0 && lift[n-1] < lift[0] {
		for i := range lift {
			lift[i] = -lift[i]
		}
	}
	if len(v.lifts) >= maxLifts {
		clear(v.lifts)
	}
	v.lifts[key] = lift
	return lift, nil
}

// maxLifts bounds the remembered lifts; of 3 million windows each is 12 MB.
const maxLifts = 8

// Mix interpolates between two lifts: the morph from one class to another. No
// point jumps, because lifts have no seam.
func Mix(a, b []float32, s float64) []float32 {
	if s <= 0 || b == nil {
		return a
	}
	out := make([]float32, len(a))
	for i := range out {
		out[i] = float32((1-s)*float64(a[i]) + s*float64(b[i]))
	}
	return out
}

// maxTurns bounds the list of turns; above it, every so many are listed.
const maxTurns = 2000

// Turns returns the windows at which turns 1, 1+every, … begin: where the lift
// first passes a whole number.
func Turns(lift []float32) (at []uint32, every int) {
	for every = 1; ; every *= 10 {
		at = at[:0]
		next := 0.0
		for t, l := range lift {
			for float64(l) >= next-1e-4 {
				at = append(at, uint32(t))
				next += float64(every)
				if len(at) > maxTurns {
					break
				}
			}
			if len(at) > maxTurns {
				break
			}
		}
		if len(at) <= maxTurns {
			return at, every
		}
	}
}

// Teeth reports whether the lift falls back by more than a twentieth of a turn
// anywhere: inner turns that come back the same way.
func Teeth(lift []float32) bool {
	most := float32(math.Inf(-1))
	for _, l := range lift {
		if most-l > 0.05 {
			return true
		}
		most = max(most, l)
	}
	return false
}

// Passes returns the windows at which the passes of the loop around a class
// begin; of a class with none around it but some inside, its own turns.
func (v *View) Passes(ctx context.Context, class int) ([]uint32, error) {
	c := v.R.Classes[class]
	around := c.Parent
	if around < 0 {
		if !slices.ContainsFunc(v.R.Classes, func(o *cycle.Class) bool { return o.Parent == class }) {
			return nil, nil
		}
		around = class
	}
	p := v.R.Classes[around]
	if p.Exact {
		return v.visits(p.Marker), nil
	}
	lift, err := v.Lift(ctx, around, 0)
	if err != nil {
		return nil, err
	}
	at, every := Turns(lift)
	if every > 1 {
		return nil, nil
	}
	return at, nil
}

// ByPass counts the turns of a class in each pass of the loop around it: 4, 3, 2
// and 1 for a bubble sort of five numbers. It is nil where turns or passes
// cannot be counted.
func (v *View) ByPass(class int) []int {
	c := v.R.Classes[class]
	if c.Parent < 0 || !c.Exact || !v.R.Classes[c.Parent].Exact {
		return nil
	}
	turns, passes := v.visits(c.Marker), v.visits(v.R.Classes[c.Parent].Marker)
	if len(turns) >= maxTurns || len(passes) >= maxTurns {
		return nil
	}
	counts := make([]int, len(passes)+1) // before the first, and after each
	for _, t := range turns {
		i, _ := slices.BinarySearch(passes, t)
		counts[i]++
	}
	// A pass is marked where it begins or where it ends.
	switch {
	case counts[0] == 0:
		return counts[1:]
	case counts[len(passes)] == 0:
		return counts[:len(passes)]
	}
	return nil
}

// visits returns the windows of a point, at most maxTurns of them.
func (v *View) visits(point uint32) []uint32 {
	var at []uint32
	for t, p := range v.R.Points.Index {
		if p == point && len(at) < maxTurns {
			at = append(at, uint32(t))
		}
	}
	return at
}

// Polar is the spiral as pixels of radius and angle: at each the most frequent
// colour, Empty where no window lies.
type Polar struct {
	Radii, Angles int
	Colour        []uint16 // radius by radius
}

// Empty is the colour of a pixel without windows.
const Empty = math.MaxUint16

// Polar draws the windows from a to b-1.
func (v *View) Polar(ctx context.Context, lift []float32, a, b, radii, angles int) (*Polar, error) {
	p := &Polar{radii, angles, make([]uint16, radii*angles)}
	counts := make([][MaxColours + 1]uint32, angles)
	for r := range radii {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		clear(counts)
		for t := a + (b-a)*r/radii; t < a+(b-a)*(r+1)/radii; t++ {
			l := float64(lift[t])
			counts[min(angles-1, int((l-math.Floor(l))*float64(angles)))][v.Colour(t)]++
		}
		for i := range counts {
			p.Colour[r*angles+i] = most(&counts[i])
		}
	}
	return p, nil
}

func most(counts *[MaxColours + 1]uint32) uint16 {
	best, at := uint32(0), uint16(Empty)
	for c, n := range counts {
		if n > best {
			best, at = n, uint16(c)
		}
	}
	return at
}

// Strip is the lift over the trace, column by column: smallest and largest, and
// the most frequent colour.
type Strip struct {
	Low, High []float32
	Colour    []uint16
}

// Strip folds a lift into at most columns.
func (v *View) Strip(lift []float32, columns int) *Strip {
	n := min(columns, len(lift))
	s := &Strip{make([]float32, n), make([]float32, n), make([]uint16, n)}
	for x := range n {
		var counts [MaxColours + 1]uint32
		lo, hi := float32(math.Inf(1)), float32(math.Inf(-1))
		for t := len(lift) * x / n; t < len(lift)*(x+1)/n; t++ {
			lo, hi = min(lo, lift[t]), max(hi, lift[t])
			counts[v.Colour(t)]++
		}
		s.Low[x], s.High[x], s.Colour[x] = lo, hi, most(&counts)
	}
	return s
}

// Reference is one record of the trace.
type Reference struct {
	Record   uint64 `json:"record"`
	Op       string `json:"op"`
	Address  string `json:"address"`
	Size     uint32 `json:"size"`
	PC       string `json:"pc"`
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
}

// References reads records from a to b-1 of a thread. Records are counted as
// cycle.Load counts them.
func References(ctx context.Context, src refs.Source, thread uint32, a, b uint64, resolve cycle.Resolver) ([]Reference, error) {
	out := make([]Reference, 0, b-a)
	n := uint64(0)
	done := fmt.Errorf("enough")
	err := refs.Each(src, func(batch []refs.Ref) error {
		for i := range batch {
			if batch[i].Thread != thread {
				continue
			}
			if n >= a && n < b {
				out = append(out, reference(n, &batch[i], src.About(), resolve))
			}
			if n++; n >= b {
				return done
			}
		}
		return ctx.Err()
	})
	if err == done {
		err = nil
	}
	return out, err
}

func reference(n uint64, r *refs.Ref, about *refs.About, resolve cycle.Resolver) Reference {
	out := Reference{Record: n, Op: r.Op.String(), Address: fmt.Sprintf("%#x", r.Addr), Size: r.Size}
	if r.PC != 0 {
		out.PC = fmt.Sprintf("%#x", r.PC)
	}
	if int(r.Place) < len(about.Places) {
		p := about.Places[r.Place]
		out.Function, out.File, out.Line = p.Function, p.File, p.Line
	}
	if out.Line == 0 && resolve != nil && r.PC != 0 {
		out.File, out.Line, out.Function = resolve.Line(r.PC)
	}
	return out
}
