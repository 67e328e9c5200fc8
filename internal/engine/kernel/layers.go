package kernel

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/engine/query"
)

// layered is the results of one counter in each layer. Layers may share a
// result; none is to be changed.
type layered [query.Layers]result

type baseKey struct {
	filter  setKey
	counter any
}

// lastKey names the last results for the same questions and filter, from which
// a selection that differs little is answered.
type lastKey struct {
	filter   setKey
	counters string
}

type last struct {
	sets    [query.Layers]rowSet
	keys    []any // of the counters
	results []layered
	recent  []counted // newest first
}

// counted is a set of rows and what each counter found in it.
type counted struct {
	set     rowSet
	results []result
}

// maxRecent is how many sets of rows are remembered with their results. What is
// clicked was hovered, and what is undone was selected a moment ago.
const maxRecent = 4

// find returns the results of a set of rows, nil if it was not counted lately.
func (b *last) find(set rowSet) []result {
	for _, c := range b.recent {
		if c.set.equal(set) {
			return c.results
		}
	}
	return nil
}

// selects reports whether the selected rows were counted lately, or are all.
func (b *last) selects(ls *layers) bool {
	selected := ls.sets[query.Selected]
	return selected.count == ls.sets[query.All].count || b.find(selected) != nil
}

// maxLasts is how many such results are kept: those of the tabs that somebody goes
// through and comes back from, each asked about twice, or one for each of a few
// clients.
const maxLasts = 6

// countLayers counts the rows of every layer by every counter.
//
// The layers nest, so the rows are in one of three classes: not selected,
// selected only, hovered. The counts of everything are known for a filter, so
// two classes are counted, the smaller ones, and the third is what remains. If
// few rows changed their class since the last answer, only those are counted.
func (e *Engine) countLayers(ctx context.Context, l *budget.Lease, counters []*counter, ls *layers) ([]layered, error) {
	if len(counters) == 0 {
		return nil, nil
	}
	exact, loose := exactOnes(counters)
	if len(exact) > 0 && len(loose) > 0 {
		return e.countApart(ctx, l, counters, exact, loose, ls)
	}
	out, err := e.countAll(ctx, l, counters, ls)
	if err != nil {
		return nil, err
	}
	all, selected, hovered := ls.sets[query.All], ls.sets[query.Selected], ls.sets[query.Hovered]
	if hovered.count == 0 && (selected.count == 0 || selected.count == all.count) {
		for i, c := range counters {
			zero := c.newResult()
			out[i][query.Hovered] = zero
			out[i][query.Selected] = zero
			if selected.count == all.count {
				out[i][query.Selected] = out[i][query.All]
			}
		}
		return out, nil
	}
	if len(loose) > 0 {
		return out, e.countClasses(ctx, counters, ls, false, out)
	}
	key := lastKey{ls.filter, fingerprint(counters)}
	before, _ := l.Look(key).(*last)
	var done bool
	if before == nil || !before.selects(ls) {
		done, err = e.countMissing(ctx, l, counters, ls, out)
	}
	if !done && err == nil && before != nil {
		done, err = e.countFrom(ctx, counters, ls, before, out)
	}
	if err != nil {
		return nil, err
	}
	if !done {
		if err := e.countClasses(ctx, counters, ls, true, out); err != nil {
			return nil, err
		}
	}
	e.rememberLast(l, key, counters, ls, before, out)
	return out, nil
}

// countFrom answers from results before: of the same sets of rows, or of sets
// that differ little. It returns false if counting classes costs less.
func (e *Engine) countFrom(ctx context.Context, counters []*counter, ls *layers, before *last, out []layered) (bool, error) {
	all, selected, hovered := ls.sets[query.All], ls.sets[query.Selected], ls.sets[query.Hovered]
	of := func(layer query.Layer) []result {
		list := make([]result, len(out))
		for i := range out {
			list[i] = out[i][layer]
		}
		return list
	}
	known := before.find(selected)
	if selected.count == all.count {
		known = of(query.All)
	}
	if known == nil {
		return e.countChanges(ctx, counters, ls, before, ls.cheapest(), out)
	}
	over := before.find(hovered)
	switch {
	case hovered.count == selected.count:
		over = known
	case hovered.count == 0:
		over = make([]result, len(counters))
		for i, c := range counters {
			over[i] = c.newResult()
		}
	case over == nil:
		rest := rowSet{bits: selected.bits, minus: hovered.bits, count: selected.count - hovered.count}
		less := min(hovered.count, rest.count)
		if done, err := e.countChanges(ctx, counters, ls, before, less, out); done || err != nil {
			return done, err
		}
		set := hovered
		if less < hovered.count {
			set = rest
		}
		results, err := e.count(ctx, counters, []rowSet{set})
		if err != nil {
			return false, err
		}
		if over = results[0]; less < hovered.count {
			for i := range over {
				part := known[i].clone()
				part.sub(over[i])
				over[i] = part
			}
		}
	}
	for i := range out {
		out[i][query.Selected], out[i][query.Hovered] = known[i], over[i]
	}
	return true, nil
}

// countMissing takes what other questions about the same rows have counted, as
// when one view is opened in place of another, and counts the rest. It returns
// false if there were no such questions.
func (e *Engine) countMissing(ctx context.Context, l *budget.Lease, counters []*counter, ls *layers, out []layered) (bool, error) {
	before := e.sameRows(l, ls)
	if len(before) == 0 {
		return false, nil
	}
	var missing []int
	var rest []layered
	for i, c := range counters {
		known, ok := find(before, c)
		if !ok {
			missing = append(missing, i)
			rest = append(rest, out[i])
			continue
		}
		out[i][query.Selected], out[i][query.Hovered] = known[query.Selected], known[query.Hovered]
	}
	if len(missing) == 0 {
		return true, nil
	}
	if err := e.countClasses(ctx, pickCounters(counters, missing), ls, true, rest); err != nil {
		return false, err
	}
	for k, i := range missing {
		out[i] = rest[k]
	}
	return true, nil
}

// sameRows returns the last results about the same layers, by any questions.
func (e *Engine) sameRows(l *budget.Lease, ls *layers) []*last {
	e.mu.Lock()
	keys := slices.Clone(e.lasts)
	e.mu.Unlock()
	var same []*last
	for _, key := range keys {
		b, ok := l.Look(key).(*last)
		if ok && key.filter == ls.filter && b.sets[query.Selected].equal(ls.sets[query.Selected]) && b.sets[query.Hovered].equal(ls.sets[query.Hovered]) {
			same = append(same, b)
		}
	}
	return same
}

func find(among []*last, c *counter) (layered, bool) {
	for _, b := range among {
		if r, ok := b.of(c); ok {
			return r, true
		}
	}
	return layered{}, false
}

// of returns what a counter found; that of an axis may be the margin of a pair.
func (b *last) of(c *counter) (layered, bool) {
	for i, key := range b.keys {
		if key == c.key {
			return b.results[i], true
		}
	}
	one, ok := c.key.(oneKey)
	if !ok {
		return layered{}, false
	}
	for i, key := range b.keys {
		pair, ok := key.(pairKey)
		if !ok || pair.left != one.axis && pair.right != one.axis {
			continue
		}
		var out layered
		for layer, r := range b.results[i] {
			out[layer] = r.margin(c.cells, pair.left == one.axis)
		}
		return out, true
	}
	return layered{}, false
}

// countApart counts by the counters whose results must not be subtracted on
// their own, so that the others need not do without.
func (e *Engine) countApart(ctx context.Context, l *budget.Lease, counters []*counter, exact, loose []int, ls *layers) ([]layered, error) {
	out := make([]layered, len(counters))
	for _, which := range [][]int{exact, loose} {
		results, err := e.countLayers(ctx, l, pickCounters(counters, which), ls)
		if err != nil {
			return nil, err
		}
		for k, i := range which {
			out[i] = results[k]
		}
	}
	return out, nil
}

// exactOnes divides counters by whether their results may be subtracted.
func exactOnes(counters []*counter) (exact, loose []int) {
	for i, c := range counters {
		if c.exact() {
			exact = append(exact, i)
		} else {
			loose = append(loose, i)
		}
	}
	return exact, loose
}

func fingerprint(counters []*counter) string {
	var s strings.Builder
	for _, c := range counters {
		fmt.Fprintf(&s, "%v;", c.key)
	}
	return s.String()
}

// countAll fills in layer All, which is kept for each filter.
func (e *Engine) countAll(ctx context.Context, l *budget.Lease, counters []*counter, ls *layers) ([]layered, error) {
	out := make([]layered, len(counters))
	var missing []int
	for i, c := range counters {
		if r, ok := l.Look(baseKey{ls.filter, c.key}).(result); ok {
			out[i][query.All] = r
		} else {
			missing = append(missing, i)
		}
	}
	if len(missing) == 0 {
		return out, nil
	}
	set := ls.sets[query.All]
	if set.count == e.data.Table.Rows() {
		set.bits = nil
	}
	results, err := e.count(ctx, pickCounters(counters, missing), []rowSet{set})
	if err != nil {
		return nil, err
	}
	for k, i := range missing {
		out[i][query.All] = results[0][k]
		l.Keep(baseKey{ls.filter, counters[i].key}, counters[i].bytes(), results[0][k])
		keepMargins(l, ls.filter, counters[i], results[0][k])
	}
	return out, nil
}

// keepMargins keeps the counts of the two axes of a pair: they may be asked for
// without it.
func keepMargins(l *budget.Lease, filter setKey, c *counter, r result) {
	pair, ok := c.key.(pairKey)
	if !ok {
		return
	}
	for axis, side := range map[query.Axis]*codes{pair.left: c.left, pair.right: c.right} {
		if key := (baseKey{filter, oneKey{axis}}); l.Look(key) == nil {
			l.Keep(key, 4*int64(side.cells), r.margin(side.cells, axis == pair.left))
		}
	}
}

// countClasses counts two of the three classes.
func (e *Engine) countClasses(ctx context.Context, counters []*counter, ls *layers, exact bool, out []layered) error {
	const unselected, selected, hovered = 0, 1, 2
	class := ls.classes()
	derived := unselected // whose counts are only ever subtracted
	if exact {
		for k := range class {
			if class[k].count > class[derived].count {
				derived = k
			}
		}
	}
	var sets []rowSet
	var which []int
	for k, s := range class {
		if k != derived && s.count > 0 {
			sets = append(sets, s)
			which = append(which, k)
		}
	}
	results, err := e.count(ctx, counters, sets)
	if err != nil {
		return err
	}
	for i, c := range counters {
		var part [query.Layers]result
		for k, w := range which {
			part[w] = results[k][i]
		}
		for k := range part {
			if part[k].n == nil && part[k].totals == nil && k != derived {
				part[k] = c.newResult()
			}
		}
		if derived != unselected {
			rest := out[i][query.All].clone()
			for k := range part {
				if k != derived {
					rest.sub(part[k])
				}
			}
			part[derived] = rest
		}
		out[i][query.Hovered] = part[hovered]
		// The parts are fresh, so one of them can become the sum.
		out[i][query.Selected] = part[selected]
		if ls.sets[query.Hovered].count > 0 {
			part[selected].add(part[hovered])
		}
	}
	return nil
}

// classes are the rows not selected, selected only, and hovered.
func (ls *layers) classes() [query.Layers]rowSet {
	all, selected, hovered := ls.sets[query.All], ls.sets[query.Selected], ls.sets[query.Hovered]
	without := func(a, b rowSet) rowSet {
		if b.count == 0 {
			return a
		}
		return rowSet{bits: a.bits, minus: b.bits, count: a.count - b.count}
	}
	return [query.Layers]rowSet{without(all, selected), without(selected, hovered), hovered}
}

// countChanges answers from the results before by counting the rows that came
// and went, if those are within a limit.
func (e *Engine) countChanges(ctx context.Context, counters []*counter, ls *layers, before *last, limit int, out []layered) (bool, error) {
	var sets []rowSet
	for _, layer := range []query.Layer{query.Selected, query.Hovered} {
		now, then := ls.sets[layer].bits, before.sets[layer].bits
		sets = append(sets, rowSet{bits: now, minus: then}, rowSet{bits: then, minus: now})
	}
	if few, err := e.countRows(ctx, sets, limit); !few || err != nil {
		return false, err
	}
	results, err := e.count(ctx, counters, sets)
	if err != nil {
		return false, err
	}
	for i := range counters {
		for k, layer := range []query.Layer{query.Selected, query.Hovered} {
			came, went := sets[2*k], sets[2*k+1]
			r := before.results[i][layer]
			if came.count+went.count > 0 {
				r = r.clone()
				r.add(results[2*k][i])
				r.sub(results[2*k+1][i])
			}
			out[i][layer] = r
		}
	}
	return true, nil
}

// countRows fills in how many rows sets have, or returns false as soon as those
// are more than the limit.
func (e *Engine) countRows(ctx context.Context, sets []rowSet, limit int) (few bool, err error) {
	rows := e.data.Table.Rows()
	counts := make([]atomic.Int64, len(sets))
	var sum atomic.Int64
	err = eachBlock(ctx, blocks(rows), func(_, block int) {
		if sum.Load() > int64(limit) {
			return
		}
		lo, hi := bounds(block, rows)
		var scratch [blockRows / 64]uint64
		for k := range sets {
			n := int64(sets[k].words(lo, hi, scratch[:]).Count())
			counts[k].Add(n)
			sum.Add(n)
		}
	})
	for k := range sets {
		sets[k].count = int(counts[k].Load())
	}
	return sum.Load() <= int64(limit), err
}

// cheapest is the rows that counting classes would touch.
func (ls *layers) cheapest() int {
	all, selected, hovered := ls.sets[query.All].count, ls.sets[query.Selected].count, ls.sets[query.Hovered].count
	return all - max(all-selected, selected-hovered, hovered)
}

func (e *Engine) rememberLast(l *budget.Lease, key lastKey, counters []*counter, ls *layers, before *last, results []layered) {
	now := &last{sets: ls.sets, results: results}
	for _, c := range counters {
		now.keys = append(now.keys, c.key)
	}
	for _, layer := range []query.Layer{query.Hovered, query.Selected} {
		c := counted{set: ls.sets[layer]}
		if c.set.count == 0 || c.set.count == ls.sets[query.All].count || now.find(c.set) != nil {
			continue
		}
		for i := range results {
			c.results = append(c.results, results[i][layer])
		}
		now.recent = append(now.recent, c)
	}
	if before != nil {
		for _, c := range before.recent {
			if len(now.recent) < maxRecent && now.find(c.set) == nil {
				now.recent = append(now.recent, c)
			}
		}
	}
	size := int64(len(e.everything)) * 8
	for _, c := range counters {
		size += c.bytes()
	}
	l.Keep(key, int64(max(2, len(now.recent)))*size, now)
	e.mu.Lock()
	if i := slices.Index(e.lasts, key); i >= 0 {
		e.lasts = slices.Delete(e.lasts, i, i+1)
	}
	e.lasts = append(e.lasts, key)
	var old lastKey
	full := len(e.lasts) > maxLasts
	if full {
		old = e.lasts[0]
		e.lasts = slices.Delete(e.lasts, 0, 1)
	}
	e.mu.Unlock()
	if full {
		l.Forget(old)
	}
}
