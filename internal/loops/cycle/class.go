package cycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Class is one circle of the point cloud and the walk of the trace around it.
type Class struct {
	Bar
	// Parts gives the class in terms of Result.Bars: the multiples it adds up.
	Parts   []Part
	Epsilon int // where it was smoothed
	// Combination marks a class beyond the basis: a sum of basis classes that
	// some window counts exactly.
	Combination bool

	Winding int64 // exact: between the first and last visit of Anchor
	Anchor  uint32
	// Turns is the number of turns. Exact says that a window exists that is
	// passed once per turn, always in one direction, so that turns can be
	// counted. Otherwise Turns is the open winding, rounded.
	Turns int64
	Exact bool
	// Same is the lengths of windows, around the one used, that count as many turns;
	// zero if turns are not counted. Stable says that shorter and longer windows do,
	// as far as a turn can hold them.
	Same   Lengths
	Stable bool
	Marker uint32 // that window, or the anchor

	Lift       float64 // turns from the first to the last window, open ends included
	Energy     float64
	Residual   float64
	Iterations int
	Support    int // edges on which the cocycle is not zero
	Edges      int // of the complex at Epsilon

	// TurnAt and TurnLength are the windows of the shortest turn.
	TurnAt, TurnLength int

	Lines     []LineShare
	Functions []FunctionShare
	Meaning

	f       []float64 // potential per point
	cocycle *form     // on all edges shorter than Death
	alpha   *form     // on those up to Epsilon
	steps   []float64 // per step of the walk: how far it turns
}

// Part is a multiple of a bar's class.
type Part struct {
	Bar   int // index into Result.Bars
	Times int64
}

// Theta is the circular coordinate of a point in turns, relative to the first
// window of the trace.
func (c *Class) Theta(point int) float64 {
	t := math.Mod(c.f[0]-c.f[point], 1)
	if t < 0 {
		t++
	}
	return t
}

// AmbleTolerance is how far from the ends of the trace a window may lie, in
// turns, to count as led in or out by the paper's rule.
const AmbleTolerance = 0.02

// Ambles separates what leads in and out of a class by the paper's rule: the
// windows from the first on that stay within the tolerance of its coordinate,
// and from the last one back. The two do not overlap.
func (r *Result) Ambles(c *Class, tolerance float64) (pre, post int) {
	index := r.Points.Index
	if len(index) == 0 {
		return 0, 0
	}
	near := func(a, b uint32) bool {
		d := math.Abs(c.Theta(int(a)) - c.Theta(int(b)))
		return min(d, 1-d) < tolerance
	}
	n := len(index)
	for pre < n && near(index[pre], index[0]) {
		pre++
	}
	for post < n-pre && near(index[n-1-post], index[n-1]) {
		post++
	}
	return pre, post
}

// Coordinates fills out, of the length of the windows, with the lift.
func (r *Result) Coordinates(ctx context.Context, c *Class, out []float32) error {
	lift, index := 0.0, r.Points.Index
	out = out[:len(index)]
	for t, u := range index {
		if t&0xffff == 0xffff && ctx.Err() != nil {
			return ctx.Err()
		}
		if t > 0 && index[t-1] != u {
			lift += c.steps[r.Walk.Step(index[t-1], u)]
		}
		out[t] = float32(lift)
	}
	return nil
}

// Distance is the distance of two points, Matrix.Cap+1 for anything larger.
func (r *Result) Distance(a, b int) int { return r.Matrix.At(a, b) }

// basis is a set of lifted cocycles with their windings along each step.
type basis struct {
	bars  []int // indices into Result.Bars
	forms []*form
	turns [][]int32
}

// makeClasses lifts the bars worth it, finds the best basis of those that
// exist together, and smooths the classes.
func (a *analysis) makeClasses(ctx context.Context, last bool) error {
	need := max(a.Walk.longest(a.Matrix), 1)
	var b basis
	for _, i := range a.wanted() {
		bar := a.Bars[i]
		eps := max(bar.Birth, need)
		if eps >= bar.Death {
			continue // dies before consecutive windows are joined: no walk around it
		}
		f, err := a.rips.lift(a.code.cocycles[a.barOrder[i]], a.Prime, bar.Death-1)
		if bad := new(liftError); errors.As(err, &bad) {
			if !last {
				return err
			}
			a.Refused = append(a.Refused, Refusal{bar, bad.Error()})
			continue
		}
		if err != nil {
			return err
		}
		b.bars = append(b.bars, i)
		b.forms = append(b.forms, f)
		b.turns = append(b.turns, a.stepWindings(f))
	}
	return a.finish(ctx, &b, need)
}

// wanted chooses the bars that become classes: the long ones, and those of
// persistence 2 when they are few. A loop of four to six references gives such
// a bar, so they are not all noise.
func (a *analysis) wanted() []int {
	var long, short []int
	for i, b := range a.Bars {
		switch p := b.Persistence(); {
		case p >= a.opts.Persistence:
			long = append(long, i)
		case p == 2:
			short = append(short, i)
		}
	}
	if len(long) > a.opts.MaxClasses {
		a.note("%d bars are long enough for a class; the %d longest are shown", len(long), a.opts.MaxClasses)
		return long[:a.opts.MaxClasses]
	}
	if len(short) <= 16 {
		long = append(long, short...)
	}
	return long
}

// stepWindings is the cocycle along each distinct step of the walk.
func (a *analysis) stepWindings(f *form) []int32 {
	out := make([]int32, a.Walk.Steps())
	a.Walk.each(func(k, u, v int) { out[k] = f.on(u, v) })
	return out
}

// restrict keeps the edges up to eps.
func (r *rips) restrict(f *form, eps int) *form {
	out := &form{eps: eps}
	for k, e := range f.edges {
		if hi, lo := e.ends(); r.At(hi, lo) <= eps {
			out.put(e, f.value[k])
		}
	}
	return out
}

func (r *Result) graphAt(eps int) *graph {
	r.mu.Lock()
	defer r.mu.Unlock()
	g := r.graphs[eps]
	if g == nil {
		g = r.rips.graph(eps)
		r.graphs[eps] = g
	}
	return g
}

// Smoothed returns the class smoothed at another eps. Turns and windings are
// the same; coordinates, lift and energy are those of the larger complex.
func (r *Result) Smoothed(ctx context.Context, c *Class, eps int) (*Class, error) {
	if eps < c.Birth || eps >= c.Death {
		return nil, fmt.Errorf("epsilon %d: the class exists from %d to %d", eps, c.Birth, c.Death-1)
	}
	if need := r.Walk.longest(r.Matrix); eps < need {
		return nil, fmt.Errorf("epsilon %d: consecutive windows are up to %d apart, so the trace makes no walk", eps, need)
	}
	out := *c
	out.Epsilon = eps
	return &out, r.smooth(ctx, &out)
}

// smooth fills in the coordinates of a class from its cocycle.
func (r *Result) smooth(ctx context.Context, c *Class) error {
	g := r.graphAt(c.Epsilon)
	f := r.rips.restrict(c.cocycle, c.Epsilon)
	p, err := smooth(ctx, g, f)
	if err != nil {
		return err
	}
	c.alpha, c.f = f, p.f
	c.Residual, c.Iterations, c.Edges = p.residual, p.iterations, g.edges()
	c.Energy = inner(f, p, f)
	c.Support = 0
	for _, v := range f.value {
		if v != 0 {
			c.Support++
		}
	}
	c.steps = make([]float64, r.Walk.Steps())
	r.Walk.each(func(k, u, v int) {
		if u != v {
			c.steps[k] = p.step(f, u, v)
		}
	})
	c.Lift = 0
	for k, n := range r.Walk.Count {
		c.Lift += float64(n) * c.steps[k]
	}
	if p.residual > 1e-6 {
		return fmt.Errorf("smoothing stopped at residual %g after %d iterations", p.residual, p.iterations)
	}
	return nil
}

// flip turns the class around, so that turns count upwards.
func (c *Class) flip() {
	c.Winding, c.Lift = -c.Winding, -c.Lift
	for i := range c.f {
		c.f[i] = -c.f[i]
	}
	for i := range c.steps {
		c.steps[i] = -c.steps[i]
	}
	for i := range c.alpha.value {
		c.alpha.value[i] = -c.alpha.value[i]
	}
	for i := range c.cocycle.value {
		c.cocycle.value[i] = -c.cocycle.value[i]
	}
	for i := range c.Parts {
		c.Parts[i].Times = -c.Parts[i].Times
	}
}

// rank orders classes: those that turn first, then by persistence, then by
// turns per energy.
func rank(classes []*Class) {
	slices.SortStableFunc(classes, func(x, y *Class) int {
		if t := turning(y) - turning(x); t != 0 {
			return t
		}
		if x.Combination != y.Combination {
			if x.Combination {
				return 1
			}
			return -1
		}
		if d := y.Persistence() - x.Persistence(); d != 0 {
			return d
		}
		return cmp.Compare(weight(y), weight(x))
	})
}

func turning(c *Class) int {
	if c.Winding == 0 {
		return 0
	}
	return 1
}

func weight(c *Class) float64 { return math.Abs(float64(c.Winding)) / math.Max(c.Energy, 1e-9) }
