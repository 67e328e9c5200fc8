package compare

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/memory/align"
)

// What a compiler puts into its caller has no samples under its own name any more:
// one function seems to be gone, and the other to cost more. Both together are one
// thing on both sides.

// leastTaken is the part of a function's cost that its caller must have more of on
// the other side before it counts as put into it.
const leastTaken = 1. / 3

// callerColumn says what called a function, or what it was inlined into.
const callerColumn = "caller"

// mostOuter bounds how far out of functions that are all gone is looked.
const mostOuter = 8

// inlining is a function that one side has, and the one that has its work on the
// other, as the side with the inner one calls both.
type inlining struct{ inner, outer string }

// foldInlined compares functions that only one side has under those that called
// them, where these have that much more on the other. By line nothing can be put
// together, but it is said.
func (f *fitting) foldInlined(ctx context.Context, t *groups, a, b []Run, opt *Options) error {
	by := []string{samples.Function}
	whole := slices.Equal(t.question.By, by)
	if t.question.Metric.ofRun() || !whole && !slices.Contains(t.question.By, samples.Line) {
		return nil
	}
	sides := [2][]Run{a, b}
	if slices.ContainsFunc(slices.Concat(a, b), func(r Run) bool { return samples.UsableAs(r.Table, samples.Function, table.Category) == nil }) {
		return nil
	}
	observed := [2][]observedRun{t.a, t.b}
	if !whole {
		q := &Question{By: by, Metric: t.question.Metric}
		for s := range sides {
			observed[s] = nil
			for i := range sides[s] {
				r, err := f.observeRun(ctx, &sides[s][i], &a[0], q, opt)
				if err != nil {
					return err
				}
				observed[s] = append(observed[s], *r)
			}
		}
	}
	partners := [2]*align.Alignment{f.alignment, f.alignment.Inverse()}
	for s := range sides {
		found, err := f.inlinings(ctx, &sides[s][0], observed[s], observed[1-s], partners[s], opt.MinShare)
		if err != nil {
			return err
		}
		for _, x := range found {
			does := "--by function compares both together"
			if whole {
				does = "they are compared together"
				t.fold(x, s)
			}
			f.say("%s has samples in %s only, and %s, which calls it there, costs that much more in %s, as if it was inlined: %s", x.inner, []string{"A", "B"}[s], x.outer, []string{"B", "A"}[s], does)
		}
	}
	return nil
}

// inlinings finds functions that only these runs have, and whose caller the others
// have more of.
func (f *fitting) inlinings(ctx context.Context, first *Run, own, others []observedRun, partner *align.Alignment, minShare float64) ([]inlining, error) {
	mean := func(runs []observedRun, name string) float64 {
		return sumOf(runs, []string{name}).Sum / float64(len(runs))
	}
	there := func(name string) (string, bool) {
		key, _, ok := partner.Key([]string{samples.Function}, []string{name})
		return strings.Join(key, ""), ok && rawSum(others, key).Samples > 0
	}
	whole := total(own).Sum / float64(len(own))
	var alone []string
	for _, name := range keysOf(own) {
		if _, ok := there(name); name != "" && !ok && mean(own, name) >= minShare*whole {
			alone = append(alone, name)
		}
	}
	if len(alone) == 0 {
		return nil, nil
	}
	callers, err := callersOf(ctx, first)
	if err != nil {
		return nil, err
	}
	var out []inlining
	for _, inner := range alone {
		outer := callers[inner]
		for range mostOuter {
			if _, ok := there(outer); ok || outer == "" {
				break
			}
			outer = callers[outer]
		}
		other, ok := there(outer)
		if ok && outer != "" && mean(others, other)-mean(own, outer) >= leastTaken*mean(own, inner) {
			out = append(out, inlining{inner, outer})
		}
	}
	return out, nil
}

// callersOf is the function that each function has most of its samples under; none
// where no one of them has nearly all.
func callersOf(ctx context.Context, r *Run) (map[string]string, error) {
	out := map[string]string{}
	if samples.UsableAs(r.Table, callerColumn, table.Category) == nil {
		return out, nil
	}
	answer, err := r.Engine.Answer(ctx, &query.Request{Where: r.Where, Filter: r.Filter, Groups: []query.Group{{By: []string{samples.Function, callerColumn}, Order: query.ByKey}}})
	if err != nil {
		return nil, err
	}
	counts, sums := map[[2]string]int{}, map[string]int{}
	for _, row := range answer.Groups[0].Rows {
		n := row.Counts[query.Selected]
		name := row.Keys[1]
		if i := strings.LastIndex(name, " ("); i >= 0 {
			name = name[:i] // without the place of the call
		}
		counts[[2]string{row.Keys[0], name}] += n
		sums[row.Keys[0]] += n
	}
	for pair, n := range counts {
		if float64(n) >= carries*float64(sums[pair[0]]) && pair[0] != pair[1] {
			out[pair[0]] = pair[1]
		}
	}
	return out, nil
}

// fold adds the inner function of a side to the outer one.
func (t *groups) fold(x inlining, side int) {
	add := func(runs []observedRun) {
		for i := range runs {
			g := runs[i].groups
			g[x.outer] = g[x.outer].plus(g[x.inner])
			delete(g, x.inner)
		}
	}
	if side == 0 {
		add(t.a)
		add(t.noise)
	} else {
		add(t.b)
	}
	if t.with[side] == nil {
		t.with[side] = map[string][]string{}
	}
	t.with[side][x.outer] = append(t.with[side][x.outer], x.inner)
}

// With names what of one side was compared together with a function.
func (r *Row) With() string {
	text := ""
	for side, names := range [][]string{r.WithA, r.WithB} {
		if len(names) > 0 {
			text += fmt.Sprintf(" with %s of %s", listed(names), []string{"A", "B"}[side])
		}
	}
	return text
}
