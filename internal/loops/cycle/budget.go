package cycle

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sort"
	"time"

	"github.com/isobath/isobath/internal/base/term"
)

// The default limits: what a laptop gives without being asked.
const (
	DefaultMemory = 2 << 30
	DefaultTime   = 2 * time.Minute
	DefaultCap    = 7
	// fewPoints is where looking at every level costs less than a second.
	fewPoints = 500
)

// matrixBytes is what distances and neighbour sets of n points take.
func matrixBytes(n, limit int) int64 {
	return int64(n)*int64(n) + int64(limit+1)*int64(n)*int64((n+63)/64)*8
}

// fits claims memory beyond what is claimed, if it is allowed and there is any.
func (a *analysis) fits(bytes int64) bool {
	return bytes <= a.opts.Memory && a.claim.Resize(bytes) == nil
}

// chooseCap is the largest eps to look at when the user names none, and the
// note to give if memory lowers it. The memory of the distances is claimed.
func (a *analysis) chooseCap(n int) (int, string, error) {
	want := a.wantedCap(n)
	for c := want; c >= 2; c-- {
		if !a.fits(matrixBytes(n, c)) {
			continue
		}
		if c < want {
			return c, fmt.Sprintf("the cap on epsilon was lowered from %d to %d: %d points need %s for the distances at %d; raise --memory to keep it",
				want, c, n, term.Bytes(matrixBytes(n, want)), want), nil
		}
		return c, "", nil
	}
	if want < 2 {
		return want, "", nil
	}
	return 0, "", a.tooMany(n, false)
}

// wantedCap is the largest eps to look at of n points.
func (a *analysis) wantedCap(n int) int {
	want := a.opts.Cap
	if want == 0 {
		want = DefaultCap
		if n <= fewPoints {
			want = a.opts.Window
		}
	}
	return min(want, a.opts.Window)
}

// mostPoints is how many points the memory allows: of a trace with more, none but
// those need be numbered, and there may be as many as there are references.
func (a *analysis) mostPoints() int {
	if a.opts.Landmarks > 0 || a.wantedCap(math.MaxInt) < 2 { // then distances are not of all of them
		return math.MaxInt
	}
	allowed := min(a.opts.Memory, a.claim.Left())
	return sort.Search(maxPoints+1, func(n int) bool { return matrixBytes(n+1, 2) > allowed })
}

func (a *analysis) tooMany(points int, more bool) error {
	return &TooManyError{Points: points, More: more, Bytes: matrixBytes(points, 2), Memory: min(a.opts.Memory, a.claim.Left())}
}

// TooManyError says that the points do not fit into memory at any cap.
type TooManyError struct {
	Points        int
	More          bool // there are more than those, and nobody counted
	Bytes, Memory int64
}

func (e *TooManyError) Error() string {
	if e.More {
		return fmt.Sprintf("there are more than %d distinct windows, and the distances of those alone need all of the %s that are allowed; use --symbol pc, --every, --range, --landmarks or --memory",
			e.Points, term.Bytes(e.Memory))
	}
	return fmt.Sprintf("%d distinct windows need %s for their distances, %s are allowed; use --symbol pc, --every, --range, --landmarks or --memory",
		e.Points, term.Bytes(e.Bytes), term.Bytes(e.Memory))
}

// persistWithin computes the barcode, lowering the cap whenever time or memory
// run out. The first attempt may use half of the time, the next half of the
// rest: a smaller cap is several times cheaper.
func (a *analysis) persistWithin(ctx context.Context, prime int) (*barcode, error) {
	for {
		now := a.opts.now()
		end := now.Add(a.deadline.Sub(now) / 2)
		if a.rips.Cap <= 2 {
			end = now.Add(a.opts.Time) // the last resort gets the whole time again
		}
		distances := matrixBytes(a.rips.N, a.rips.Cap)
		lim := limits{
			fits:     func(bytes int64) bool { return a.fits(distances + bytes) },
			over:     func() bool { return a.opts.now().After(end) },
			progress: func(done, total, d int) { a.report("reducing", done, total) },
		}
		code, err := persist(ctx, a.rips, prime, lim)
		if !errors.Is(err, errBudget) {
			return code, err
		}
		if a.rips.Cap <= 2 {
			return nil, fmt.Errorf("%d points take more than the allowed time or memory even at epsilon 2; use --symbol pc, --every, --range, --time or --memory", a.rips.N)
		}
		a.note("the cap on epsilon was lowered from %d to %d: %d points took more than half of the allowed time (%v) or the allowed memory (%s)",
			a.rips.Cap, a.rips.Cap-1, a.rips.N, a.opts.Time, term.Bytes(a.opts.Memory))
		a.rips.lower()
	}
}

// lower drops the highest level of the complex.
func (r *rips) lower() {
	m := *r.Matrix
	m.Cap--
	r.Matrix = &m
	r.near = r.near[:m.Cap+1]
}
