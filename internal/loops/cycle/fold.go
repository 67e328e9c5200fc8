package cycle

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
)

// Fold is one round of folding a trace: the loop that was folded, and how much
// of the trace it was.
type Fold struct {
	Period   int   // references per turn
	Entries  int   // how often the loop is entered and runs more than one turn
	Turns    int64 // in all entries together
	Least    int   // turns of the shortest and of the longest entry
	Most     int
	Records  int // of the trace after folding
	From, To Position
}

// FoldLoops folds the innermost loop of a trace to a single turn, then the
// innermost loop of what remains, and so on, at most levels times. The loop is
// taken from the most visited window: its most frequent gap is the period.
// Where a block of that length repeats, one copy is kept. It returns the folded
// trace and the loops, innermost first. What folding finds is exact repetition,
// so it needs no topology; it also finds loops too short to make a circle.
func FoldLoops(ctx context.Context, tr *Trace, window, levels int) (*Trace, []Fold, error) {
	var folds []Fold
	for range levels {
		if len(tr.Syms) < 2*window {
			break
		}
		period, err := tr.period(ctx, window)
		if err != nil {
			return nil, nil, err
		}
		if period == 0 {
			break
		}
		next, found, err := tr.fold(ctx, period)
		if err != nil {
			return nil, nil, err
		}
		if len(found) == 0 {
			break
		}
		folds = append(folds, found...)
		tr = next
	}
	return tr, folds, nil
}

// period is how long the innermost loop is; 0 if nothing repeats.
func (tr *Trace) period(ctx context.Context, window int) (period int, err error) {
	files := tr.files.own()
	defer func() { err = errors.Join(err, files.Close()) }()
	p, err := windows(ctx, files, tr.Syms, window, math.MaxInt)
	if err != nil {
		return 0, err
	}
	return commonGap(p), nil
}

// commonGap is the most frequent distance between visits of the most visited
// window, the shortest of several; 0 if no window is visited twice.
func commonGap(p *Points) int {
	best := 0
	for u, v := range p.Visits {
		if v > p.Visits[best] {
			best = u
		}
	}
	gaps := map[int]int{}
	last := -1
	for from, part := range p.files.parts(p.Index) {
		for i, u := range part {
			if int(u) != best {
				continue
			}
			if last >= 0 {
				gaps[from+i-last]++
			}
			last = from + i
		}
	}
	gap, most := 0, 0
	for g, n := range gaps {
		if n > most || n == most && g < gap {
			gap, most = g, n
		}
	}
	return gap
}

// fold keeps one copy of every block of the given length that repeats. Loops of
// equal length are told apart by what they repeat, wherever in a turn the first
// copy begins.
func (tr *Trace) fold(ctx context.Context, period int) (*Trace, []Fold, error) {
	out := *tr
	out.Syms, out.Where, out.Ops, out.Object, out.Strides, out.Levels = nil, nil, nil, nil, nil, nil
	var folds []Fold
	known := map[string]int{}
	syms := tr.Syms
	kept := &strand{files: tr.files}
	where := &strand{files: tr.files}
	keep := func(from, to int) {
		kept.add(syms[from:to]...)
		if tr.Where != nil && tr.Symbol != PC {
			where.add(tr.Where[from:to]...)
		}
		if tr.Ops != nil {
			out.Ops = append(out.Ops, tr.Ops[from:to]...)
			out.Object = append(out.Object, tr.Object[from:to]...)
			out.Strides = append(out.Strides, tr.Strides[from:to]...)
		}
		if tr.Levels != nil {
			out.Levels = append(out.Levels, tr.Levels[from:to]...)
		}
	}
	read := 0 // up to where the memory of the string was given back
	for i := 0; i < len(syms); {
		n := 1
		for i+(n+1)*period <= len(syms) && equalBlocks(syms, i, i+n*period, period) {
			if n++; i+n*period-read >= partLength {
				if ctx.Err() != nil {
					return nil, nil, ctx.Err()
				}
				tr.files.release()
				read = i + n*period
			}
		}
		if i-read >= partLength {
			tr.files.release()
			read = i
		}
		if n == 1 {
			keep(i, i+1)
			i++
			continue
		}
		key := rotated(syms[i : i+period])
		k, ok := known[key]
		if !ok {
			k = len(folds)
			known[key] = k
			f := Fold{Period: period}
			f.From, f.To = tr.span(i, period)
			folds = append(folds, f)
		}
		folds[k].add(n)
		keep(i, i+period)
		i += n * period
	}
	var err error
	if out.Syms, err = kept.all(); err != nil {
		return nil, nil, err
	}
	if out.Where, err = where.all(); err != nil {
		return nil, nil, err
	}
	if tr.Symbol == PC && tr.Where != nil {
		out.Where = out.Syms
	}
	for k := range folds {
		folds[k].Records = len(out.Syms)
	}
	return &out, folds, nil
}

// rotated is a key that a block shares with its rotations: the least of them.
func rotated(block []uint32) string {
	best := 0
	for at := 1; at < len(block); at++ {
		for i := range block {
			a, b := block[(at+i)%len(block)], block[(best+i)%len(block)]
			if a < b {
				best = at
			}
			if a != b {
				break
			}
		}
	}
	key := make([]byte, 0, 4*len(block))
	for i := range block {
		key = binary.LittleEndian.AppendUint32(key, block[(best+i)%len(block)])
	}
	return string(key)
}

func (f *Fold) add(times int) {
	if f.Entries == 0 || times < f.Least {
		f.Least = times
	}
	f.Most = max(f.Most, times)
	f.Entries++
	f.Turns += int64(times)
}

func equalBlocks(s []uint32, a, b, n int) bool {
	for i := range n {
		if s[a+i] != s[b+i] {
			return false
		}
	}
	return true
}
