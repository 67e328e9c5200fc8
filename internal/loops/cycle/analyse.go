package cycle

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/isobath/isobath/internal/base/budget"
)

// Options say how to look for cycles. The zero value means the defaults.
type Options struct {
	Window int // records per window; 0 fits it to the shortest period
	// Cap is the largest eps looked at. 0 looks at everything when the points
	// are few, and else up to DefaultCap.
	Cap int
	// Epsilon is where classes are smoothed; 0 takes each at its birth.
	Epsilon     int
	Persistence int // shortest bar to become a class; 0 is DefaultPersistence
	MaxClasses  int // 0 is DefaultClasses
	Memory      int64
	Time        time.Duration
	Landmarks   int   // analyse at most so many points that cover the rest; 0 is off
	Primes      []int // tried in order until every class lifts; nil is DefaultPrimes
	Progress    func(Progress)
	// Loops are those of the code, where they are known: a class is named after
	// the one it goes around, and its turns are exact only if that one has as
	// many.
	Loops Loops

	now func() time.Time // the clock; tests bring their own
}

// Progress says how far an analysis is.
type Progress struct {
	Stage       string
	Done, Total int
}

// Defaults of Options.
const (
	DefaultPersistence = 3
	DefaultClasses     = 64
)

// DefaultPrimes are the fields tried. 47 lifted every class of every trace
// tried so far; smaller ones fail now and then.
var DefaultPrimes = []int{47, 53, 59, 61}

func (o Options) withDefaults() (Options, error) {
	if o.Cap < 0 || o.Window > 0 && o.Cap > o.Window {
		return o, fmt.Errorf("epsilon cap %d: want 1 to the window %d", o.Cap, o.Window)
	}
	if o.Persistence == 0 {
		o.Persistence = DefaultPersistence
	}
	if o.MaxClasses == 0 {
		o.MaxClasses = DefaultClasses
	}
	if o.Memory == 0 {
		o.Memory = DefaultMemory
	}
	if o.Time == 0 {
		o.Time = DefaultTime
	}
	if o.now == nil {
		o.now = time.Now
	}
	if o.Primes == nil {
		o.Primes = DefaultPrimes
	}
	for _, p := range o.Primes {
		if p < 2 || p > 127 {
			return o, fmt.Errorf("prime %d: want 2 to 127", p)
		}
	}
	return o, nil
}

// Result is what was found in one thread of a trace.
type Result struct {
	Trace  *Trace
	Points *Points
	Walk   *Walk
	Matrix *Matrix
	Prime  int
	Bars   []Bar // longest first
	// Classes are the bars of at least the wanted persistence, and the short
	// ones if they are few; then the combinations worth a name. Ranked.
	Classes  []*Class
	Groups   []Group // classes that exist together, with a reduced basis
	Refused  []Refusal
	Preamble int // windows before the first one that is visited again
	// Postamble counts the windows after the last such one.
	Postamble int
	// CoverRadius is how far a window may be from its point; 0 without
	// landmarks.
	CoverRadius int
	Notes       []string

	rips     *rips
	code     *barcode
	barOrder []int // Bars[i] is code.bars[barOrder[i]]
	mu       sync.Mutex
	graphs   map[int]*graph // by eps; guarded by mu
}

// Refusal is a bar for which no class can be shown, and why.
type Refusal struct {
	Bar    Bar
	Reason string
}

type analysis struct {
	*Result
	opts      Options
	deadline  time.Time
	claim     *budget.Claim
	siteCount []uint64 // how often each site of the trace runs
}

func (a *analysis) note(format string, args ...any) {
	a.Notes = append(a.Notes, fmt.Sprintf(format, args...))
}

func (a *analysis) report(stage string, done, total int) {
	if a.opts.Progress != nil {
		a.opts.Progress(Progress{stage, done, total})
	}
}

// Analyse finds the cycles of a trace. What it takes is claimed from the budget of
// the context until nobody uses the result any more. Lowering the cap may take as
// long as the allowed time again, and then it is given up.
func Analyse(ctx context.Context, tr *Trace, o Options) (*Result, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	claim, err := budget.Take(ctx, "cycles need", 0)
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, 2*o.Time)
	defer cancel()
	r, err := analyseWithin(limited, tr, o, claim)
	if err != nil {
		claim.Release()
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = fmt.Errorf("the analysis took more than twice the allowed time (%v); use --symbol pc, --every, --range, --landmarks or --time", o.Time)
		}
		return nil, err
	}
	_ = claim.Resize(matrixBytes(r.Matrix.N, r.Matrix.Cap)) // which is less
	runtime.AddCleanup(r, (*budget.Claim).Release, claim)
	return r, nil
}

func analyseWithin(ctx context.Context, tr *Trace, o Options, claim *budget.Claim) (*Result, error) {
	a := &analysis{
		Result:   &Result{Trace: tr, graphs: map[int]*graph{}},
		opts:     o,
		deadline: o.now().Add(o.Time),
		claim:    claim,
	}
	a.report("windows", 0, 1)
	if err := a.fitWindow(ctx); err != nil {
		return nil, err
	}
	var err error
	most := a.mostPoints()
	a.Points, err = windows(ctx, tr.files, tr.Syms, a.opts.Window, most)
	if short := new(shortError); errors.As(err, &short) {
		a.Points = &Points{Window: a.opts.Window, Syms: tr.Syms}
		a.Walk = newWalk(a.Points)
		a.Matrix = &Matrix{}
		a.note("%v", short)
		return a.Result, nil
	}
	if errors.Is(err, errManyPoints) {
		return nil, a.tooMany(most, true)
	}
	if err != nil {
		return nil, err
	}
	a.Preamble, a.Postamble = a.Points.ambles()
	if err := a.measure(ctx); err != nil {
		return nil, err
	}
	a.Walk = newWalk(a.Points)
	for i, prime := range o.Primes {
		last := i == len(o.Primes)-1
		err := a.classify(ctx, prime, last)
		if err == nil {
			a.remark()
			return a.Result, nil
		}
		if bad := new(liftError); !errors.As(err, &bad) {
			return nil, err
		}
		a.note("a class over Z/%d did not lift to the integers; computed again over Z/%d", prime, o.Primes[i+1])
	}
	return a.Result, nil
}

// remark adds the notes that make an empty answer understandable.
func (a *analysis) remark() {
	switch {
	case a.Points.Len() == len(a.Points.Index) && len(a.Points.Index) > 1:
		a.note("no window occurs twice: with symbol %s nothing recurs exactly, so turns cannot be counted", a.Trace.Symbol)
	case len(a.Bars) == 0 && a.Points.Len() < 4:
		a.note("%d distinct windows make no circle: a loop of fewer than 4 references is too short to be seen as one; see the folded loops", a.Points.Len())
	}
}

// measure computes the distances, with landmarks if asked for.
func (a *analysis) measure(ctx context.Context) error {
	if a.opts.Landmarks > 0 && a.Points.Len() > a.opts.Landmarks {
		if err := a.useLandmarks(ctx); err != nil {
			return err
		}
	}
	n := a.Points.Len()
	limit, note, err := a.chooseCap(n)
	if err != nil {
		return err
	}
	if note != "" {
		a.note("%s", note)
	}
	a.report("distances", 0, n)
	if a.Matrix, err = Distances(ctx, a.Points, limit); err != nil {
		return err
	}
	a.rips, err = newRips(ctx, a.Matrix)
	return err
}

// classify computes the bars over one prime, and classes from them. On the
// last prime, classes that do not lift are refused one by one.
func (a *analysis) classify(ctx context.Context, prime int, last bool) error {
	code, err := a.persistWithin(ctx, prime)
	if err != nil {
		return err
	}
	a.code, a.Prime, a.Matrix = code, prime, a.rips.Matrix
	a.Bars, a.Classes, a.Groups, a.Refused = nil, nil, nil, nil
	a.barOrder = make([]int, len(code.bars))
	for i := range a.barOrder {
		a.barOrder[i] = i
	}
	slices.SortStableFunc(a.barOrder, func(x, y int) int {
		p, q := code.bars[x], code.bars[y]
		if d := q.Persistence() - p.Persistence(); d != 0 {
			return d
		}
		return p.Birth - q.Birth
	})
	for _, i := range a.barOrder {
		a.Bars = append(a.Bars, code.bars[i])
	}
	a.report("coordinates", 0, 1)
	return a.makeClasses(ctx, last)
}

// ambles counts the windows before the first and after the last window that is
// visited more than once: what the trace does outside every loop.
func (p *Points) ambles() (pre, post int) {
	n := len(p.Index)
	for pre < n && p.Visits[p.Index[pre]] == 1 {
		pre++
	}
	if pre == n {
		return n, 0
	}
	for p.Visits[p.Index[n-1-post]] == 1 {
		post++
	}
	return pre, post
}
