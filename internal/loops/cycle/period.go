package cycle

import "context"

const (
	// leastPeriod is the shortest loop that makes a circle: three points that
	// follow each other are a triangle.
	leastPeriod = 4
	// leastShare is the part of a trace that has to repeat at once, one in so many
	// references, before a period decides about the window.
	leastShare = 50
)

// fitWindow chooses how long windows are, unless that was said: one reference less
// than the shortest period, up to the paper's ten. Only a window that is no longer
// than a turn is passed as often as the loop turns, since a longer one spans the way
// into the loop or out of it; the reference that is left over is for the next longer
// window, which has to count as many.
func (a *analysis) fitWindow(ctx context.Context) error {
	if a.opts.Window != 0 {
		return nil
	}
	a.opts.Window = DefaultWindow
	period, err := shortestPeriod(ctx, a.Trace.files, a.Trace.Syms)
	if err != nil || period == 0 {
		return err
	}
	a.opts.Window = max(leastPeriod, period-1)
	a.opts.Cap = min(a.opts.Cap, a.opts.Window)
	a.note("windows of %d references in place of %d, because the shortest turns have %d: --window sets another length", a.opts.Window, DefaultWindow, period)
	return nil
}

// shortestPeriod is the shortest length, from leastPeriod up to the usual window, of turns
// that follow each other unchanged in a good part of the trace; 0 if there is none.
func shortestPeriod(ctx context.Context, files *Files, syms []uint32) (int, error) {
	var alike [DefaultWindow]int  // by period: references in a row that are as one period before
	var within [DefaultWindow]int // by period: references of such turns
	for from, part := range files.parts(syms) {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		for i, s := range part {
			t := from + i
			for p := 1; p < min(t+1, DefaultWindow); p++ {
				if syms[t-p] == s {
					alike[p]++
				} else {
					alike[p] = 0
				}
				switch {
				case alike[p] < p || repeatsWithin(alike[:], p):
				case alike[p] == p: // the second turn is complete, and so was the first
					within[p] += 2 * p
				default:
					within[p]++
				}
			}
		}
	}
	for p := leastPeriod; p < DefaultWindow; p++ {
		if within[p] > 0 && within[p] >= len(syms)/leastShare {
			return p, nil
		}
	}
	return 0, nil
}

// repeatsWithin reports whether the last turn of a period is itself made of shorter
// ones: what repeats after two references repeats after four too.
func repeatsWithin(alike []int, period int) bool {
	for d := 1; d <= period/2; d++ {
		if period%d == 0 && alike[d] >= period {
			return true
		}
	}
	return false
}
