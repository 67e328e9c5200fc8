package logical

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/isobath/isobath/internal/base/term"
)

// mergeLeaps merges partitions until every leap, the partitions at the same
// distance from the start, holds all processes (the paper's algorithm 1).
//
// All decisions of a pass rest on the same leaps, so the order of partitions
// does not matter. A pass merges neighbours exactly one leap apart, which
// cannot close a cycle; only the leaps k-1 to k+1 change, so nothing else is
// computed anew and the cost does not grow with the square of the trace.
func (s *Structure) mergeLeaps(ctx context.Context) error {
	if !s.Options.Leaps || s.Len() == 0 {
		return nil
	}
	before := len(s.Parts.Start) - 1
	l := newLeaps(s)
	for k := 0; k < len(l.levels); {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if len(l.levels) == k+1 {
			l.extend(k)
		}
		have, complete := l.processes(k)
		if complete {
			k++
			continue
		}
		changed := l.pass(k, have)
		if !changed && s.Options.Force {
			changed = l.force(k)
		}
		if !changed {
			k++
			continue
		}
		k = max(0, k-1)
		l.rebuild(k)
	}
	s.recontract(l.set)
	if merged := before - (len(s.Parts.Start) - 1); merged > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("merged %s by leaps, because a phase of a bulk-synchronous program should hold every process", term.Counted(merged, "partition")))
	}
	return nil
}

// leaps is the state of the leap merge. Roots of set stand for partitions.
type leaps struct {
	*Structure
	set    *union
	runs   [][]Run // by root
	leap   []int32 // by root; -1 is not known yet
	levels [][]int32
	active int // processes with operations
	stamp  int32
	marked []int32 // by root
	held   []int32 // by process: stamp of the leap that holds it
}

func newLeaps(s *Structure) *leaps {
	n := len(s.Parts.Start) - 1
	l := &leaps{Structure: s, set: newUnion(n), runs: make([][]Run, n), leap: make([]int32, n), marked: make([]int32, n),
		held: make([]int32, len(s.Trace.Procs))}
	for p := range s.Trace.Procs {
		if s.Start[p+1] > s.Start[p] {
			l.active++
		}
	}
	var first []int32
	for q := range int32(n) {
		l.runs[q] = s.Parts.Runs(q)
		l.leap[q] = -1
	}
	for q := range int32(n) {
		if l.ready(q) {
			first = append(first, q)
		}
	}
	for _, q := range first {
		l.leap[q] = 0
	}
	l.levels = [][]int32{first}
	return l
}

func (l *leaps) root(op int32) int32 { return l.set.find(l.Part[op]) }

// ready tells whether the leaps of all parents of q are known.
func (l *leaps) ready(q int32) bool {
	for _, r := range l.runs[q] {
		if r.From > l.Start[r.Proc] && l.leap[l.root(r.From-1)] < 0 {
			return false
		}
	}
	return true
}

// children visits the partitions that follow q, and the time between them.
func (l *leaps) children(q int32, visit func(c int32, gap int64)) {
	for _, r := range l.runs[q] {
		if r.To < l.Start[r.Proc+1] {
			visit(l.root(r.To), l.Enter[r.To]-l.Exit[r.To-1])
		}
	}
}

func (l *leaps) parents(q int32, visit func(p int32, gap int64)) {
	for _, r := range l.runs[q] {
		if r.From > l.Start[r.Proc] {
			visit(l.root(r.From-1), l.Enter[r.From]-l.Exit[r.From-1])
		}
	}
}

// extend computes leap k+1, if there is one.
func (l *leaps) extend(k int) {
	l.stamp++
	var next []int32
	for _, p := range l.levels[k] {
		l.children(p, func(c int32, _ int64) {
			if l.leap[c] >= 0 || l.marked[c] == l.stamp {
				return
			}
			l.marked[c] = l.stamp
			next = append(next, c)
		})
	}
	// Readiness is judged before any of them gets its leap: a child of a
	// partition in leap k+1 is not in leap k+1.
	next = slices.DeleteFunc(next, func(c int32) bool { return !l.ready(c) })
	for _, c := range next {
		l.leap[c] = int32(k + 1)
	}
	if len(next) > 0 {
		l.levels = append(l.levels, next)
	}
}

// processes marks the processes of leap k and tells whether it holds all.
func (l *leaps) processes(k int) (have int32, complete bool) {
	l.stamp++
	n := 0
	for _, q := range l.levels[k] {
		for _, r := range l.runs[q] {
			if l.held[r.Proc] != l.stamp {
				l.held[r.Proc] = l.stamp
				n++
			}
		}
	}
	return l.stamp, n == l.active
}

// pass merges partitions of leap k backwards where the previous leap is much
// nearer than the next, else with children that bring a new process.
func (l *leaps) pass(k int, have int32) (changed bool) {
	type pair struct{ a, b int32 }
	var merges []pair
	for _, q := range l.levels[k] {
		in, out := int64(math.MaxInt64), int64(math.MaxInt64)
		l.parents(q, func(p int32, gap int64) {
			if l.leap[p] == int32(k-1) {
				in = min(in, gap)
			}
		})
		l.children(q, func(c int32, gap int64) {
			if l.leap[c] == int32(k+1) {
				out = min(out, gap)
			}
		})
		if in < math.MaxInt64 && float64(out) > l.Options.Ratio*float64(in) {
			l.parents(q, func(p int32, _ int64) {
				if l.leap[p] == int32(k-1) {
					merges = append(merges, pair{q, p})
				}
			})
			continue
		}
		l.children(q, func(c int32, _ int64) {
			if l.leap[c] == int32(k+1) && l.expands(c, have) {
				merges = append(merges, pair{q, c})
			}
		})
	}
	for _, m := range merges {
		changed = l.merge(m.a, m.b) || changed
	}
	return changed
}

// expands tells whether c holds a process the leap does not.
func (l *leaps) expands(c, have int32) bool {
	return slices.ContainsFunc(l.runs[c], func(r Run) bool { return l.held[r.Proc] != have })
}

// force merges leap k whole with its children.
func (l *leaps) force(k int) (changed bool) {
	var merges [][2]int32
	for _, q := range l.levels[k] {
		l.children(q, func(c int32, _ int64) {
			if l.leap[c] == int32(k+1) {
				merges = append(merges, [2]int32{q, c})
			}
		})
	}
	for _, m := range merges {
		changed = l.merge(m[0], m[1]) || changed
	}
	return changed
}

// merge joins two partitions and their runs; runs that touch become one.
func (l *leaps) merge(a, b int32) bool {
	a, b = l.set.find(a), l.set.find(b)
	if !l.set.join(a, b) {
		return false
	}
	all := slices.Concat(l.runs[a], l.runs[b])
	l.runs[a], l.runs[b] = nil, nil
	slices.SortFunc(all, func(x, y Run) int { return int(x.From) - int(y.From) })
	out := all[:0]
	for _, r := range all {
		if n := len(out); n > 0 && out[n-1].Proc == r.Proc && out[n-1].To == r.From {
			out[n-1].To = r.To
		} else {
			out = append(out, r)
		}
	}
	l.runs[l.set.find(a)] = out
	return true
}

// rebuild recomputes the leaps from k on after a pass. Only partitions of the
// leaps that are dropped can be in leap k now.
func (l *leaps) rebuild(k int) {
	l.stamp++
	var touched []int32
	for _, level := range l.levels[k:] {
		for _, q := range level {
			l.leap[q] = -1
			if r := l.set.find(q); l.marked[r] != l.stamp {
				l.marked[r] = l.stamp
				touched = append(touched, r)
			}
		}
	}
	for _, r := range touched {
		l.leap[r] = -1
	}
	var level []int32
	for _, r := range touched {
		if l.ready(r) {
			level = append(level, r)
		}
	}
	for _, r := range level {
		l.leap[r] = int32(k)
	}
	l.levels = append(l.levels[:k], level)
}
