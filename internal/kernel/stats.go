package kernel

import (
	"cmp"
	"context"
	"math"
	"slices"

	"isobath/internal/query"
	"isobath/internal/table"
)

type statKey struct{ column string }

// stats answers for the distribution of a column in every layer.
func (e *Engine) stats(ctx context.Context, l *lease, s query.Stat, ls *layers) (query.Stats, error) {
	var out query.Stats
	c, err := e.number(s.Column)
	if err != nil {
		return out, err
	}
	moment := sumCounter(statKey{s.Column}, constant(), e.values(c))
	moments, err := e.countLayers(ctx, l, []*counter{moment}, ls)
	if err != nil {
		return out, err
	}
	valued, err := e.rowsOf(ctx, l, query.Missing{Column: s.Column, Not: true})
	if err != nil {
		return out, err
	}
	k := keysOf(c, false)
	for layer, set := range ls.sets {
		t := &moments[0][layer].totals[0]
		n := int(t.valued)
		out.Counts[layer] = n
		out.Sums[layer], out.Squares[layer] = t.sums()
		present := slices.Clone(set.bits)
		present.And(valued)
		values, err := k.quantiles(ctx, present, n, s.Quantiles)
		if err != nil {
			return out, err
		}
		out.Min[layer], out.Max[layer] = values[0], values[1]
		out.Quantiles[layer] = values[2:]
	}
	return out, nil
}

// quantiles returns the least and the greatest value of a set of n rows, then
// the quantiles; all are NaN if it is empty.
func (k *keys) quantiles(ctx context.Context, set table.Bits, n int, quantiles []float64) ([]float64, error) {
	out := make([]float64, len(quantiles)+2)
	if n == 0 {
		for i := range out {
			out[i] = math.NaN()
		}
		return out, nil
	}
	ranks := []int{0, n - 1}
	for _, q := range quantiles {
		ranks = append(ranks, query.NearestRank(q, n))
	}
	sorted := slices.Clone(ranks)
	slices.Sort(sorted)
	found, err := k.at(ctx, set, sorted)
	if err != nil {
		return nil, err
	}
	for i, r := range ranks {
		j, _ := slices.BinarySearch(sorted, r)
		out[i] = k.value(found[j].key)
	}
	return out, nil
}

// page returns some of the selected rows in the order asked for.
func (e *Engine) page(ctx context.Context, l *lease, p *query.Page, ls *layers) (*query.Rows, error) {
	selected := ls.sets[query.Selected]
	from := min(max(p.Offset, 0), selected.count)
	to := min(from+max(p.Count, 0), selected.count)
	var index []int
	if p.Sort == "" {
		index = pageOf(selected.bits, from, to)
	} else {
		c, err := e.column(p.Sort)
		if err != nil {
			return nil, err
		}
		valued, err := e.rowsOf(ctx, l, query.Missing{Column: p.Sort, Not: true})
		if err != nil {
			return nil, err
		}
		present := slices.Clone(selected.bits)
		present.And(valued)
		n := present.Count()
		if index, err = keysOf(c, p.Down).page(ctx, present, min(from, n), min(to, n)); err != nil {
			return nil, err
		}
		// Rows without a value come last in either direction.
		lacking := slices.Clone(selected.bits)
		lacking.AndNot(valued)
		index = append(index, pageOf(lacking, max(from-n, 0), max(to-n, 0))...)
	}
	return query.RowTexts(e.data.Table, p.Columns, index)
}

// pageOf returns the members of a set numbered from to to.
func pageOf(set table.Bits, from, to int) []int {
	var index []int
	n := 0
	for w, word := range set {
		if n >= to {
			break
		}
		count := table.Bits{word}.Count()
		if n+count > from {
			for i := range (table.Bits{word}).All() {
				if n >= from && n < to {
					index = append(index, w*64+i)
				}
				n++
			}
			continue
		}
		n += count
	}
	return index
}

// page returns the rows ranked from to to by key, equal ones in row order.
func (k *keys) page(ctx context.Context, set table.Bits, from, to int) ([]int, error) {
	if from >= to {
		return nil, nil
	}
	ends, err := k.at(ctx, set, []int{from, to - 1})
	if err != nil {
		return nil, err
	}
	first, last := ends[0], ends[1]
	// Of the rows with the first key, those before the page are skipped; of
	// those with the last key, those after it.
	skip, take := from-first.below, to-last.below
	type member struct {
		key uint64
		row int
	}
	members := make([]member, 0, to-from)
	rows := k.column.Len()
	var scratch []uint64
	seenFirst, seenLast := 0, 0
	for b := range blocks(rows) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		lo, hi := bounds(b, rows)
		keys := k.block(lo, hi, grow(&scratch, hi-lo))
		for i := range (set[lo/64 : (hi+63)/64]).All() {
			key := keys[i]
			if key < first.key || key > last.key {
				continue
			}
			wanted := true
			if key == first.key {
				wanted = seenFirst >= skip
				seenFirst++
			}
			if key == last.key {
				wanted = wanted && seenLast < take
				seenLast++
			}
			if wanted {
				members = append(members, member{key, lo + i})
			}
		}
	}
	slices.SortStableFunc(members, func(a, b member) int { return cmp.Compare(a.key, b.key) })
	index := make([]int, len(members))
	for i, m := range members {
		index[i] = m.row
	}
	return index, nil
}
