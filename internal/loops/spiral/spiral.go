// Package spiral prepares the walk of a reference trace around a circle for
// drawing: how far it has turned at each window, what its references are
// coloured by, where turns and passes begin, and, for traces longer than a screen can show,
// the most frequent colour of each pixel of the spiral.
package spiral

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/isobath/isobath/internal/loops/cycle"
)

// View draws one result. It is safe for concurrent use.
type View struct {
	R *cycle.Result
	// Lines are every source line, and every function whose lines are not the
	// user's own, in order of first use.
	Lines []Colour
	// Levels are the names of what answers references, nearest first, where that
	// is known of the trace.
	Levels []string

	own        func(file string) bool
	mu         sync.Mutex
	lifts      map[[2]int][]float32
	colourings map[string]*Colouring
}

// New prepares a result. own says whether a source file is the user's; lines of
// others are folded into their functions.
func New(r *cycle.Result, own func(file string) bool) *View {
	v := &View{R: r, own: own, lifts: map[[2]int][]float32{}, colourings: map[string]*Colouring{}}
	v.Lines = v.Colouring(ByLine, nil).Groups
	return v
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
	l := v.lifts[key]
	v.mu.Unlock()
	if l != nil {
		return l, nil
	}
	// Computed without the lock: several are wanted at once, and the same one
	// twice is only wasted.
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
	v.mu.Lock()
	defer v.mu.Unlock()
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
		at := v.visits(p.Marker)
		// The window may be met once more where the last pass ends.
		if p.Turns > 0 {
			at = at[:min(len(at), int(p.Turns))]
		}
		return at, nil
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
	last := int(v.R.Classes[c.Parent].Turns)
	switch {
	case counts[0] == 0 && last > 0 && len(counts) == last+2 && counts[last+1] == 0:
		return counts[1 : last+1]
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
