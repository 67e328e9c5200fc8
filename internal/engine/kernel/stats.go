package kernel

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

type (
	statKey   struct{ column string }
	extentKey struct{ column string }
	// digitKey names the counts of the first digits of all rows of a filter.
	digitKey struct {
		filter setKey
		column string
	}
	// orderKey names the order statistics of the rows of a filter.
	orderKey struct {
		filter            setKey
		column, quantiles string
	}
	// recentKey names those of a few sets of rows asked for lately.
	recentKey orderKey
)

// ordered is a set of rows and its order statistics.
type ordered struct {
	set    rowSet
	values []float64
}

// distribution is what the order statistics of a column are worked out from.
type distribution struct {
	keys   *keys
	valued table.Bits // nil: every row has a value
	extent extent
	key    digitKey
}

// distribution returns a column ready to be asked for ranks.
func (e *Engine) distribution(ctx context.Context, l *budget.Lease, c *table.Column, down bool, filter setKey) (*distribution, error) {
	d := &distribution{keys: keysOf(c, down), key: digitKey{filter, c.Name}}
	if _, isFloat := c.Data.([]float64); isFloat || c.Valid != nil {
		var err error
		if d.valued, err = e.rowsOf(ctx, l, query.Missing{Column: c.Name, Not: true}); err != nil {
			return nil, err
		}
	}
	x, ok := l.Look(extentKey{c.Name}).(extent)
	if !ok {
		up := keys{column: c, rank: d.keys.rank}
		var err error
		if x, err = up.extent(ctx, subset{rowSet{bits: e.everything}, d.valued}); err != nil {
			return nil, err
		}
		l.Keep(extentKey{c.Name}, 16, x)
	}
	d.extent = x.flipped(d.keys.flip)
	return d, nil
}

// stats answers for the distribution of a column in every layer.
func (e *Engine) stats(ctx context.Context, l *budget.Lease, s query.Stat, v *values, moments layered, ls *layers) (query.Stats, error) {
	var out query.Stats
	c, err := e.number(s.Column)
	if err != nil {
		return out, err
	}
	d, err := e.distribution(ctx, l, c, false, ls.filter)
	if err != nil {
		return out, err
	}
	for layer, set := range ls.sets {
		t := &moments[layer].totals[0]
		out.Counts[layer] = int(t.valued)
		out.Sums[layer], out.Squares[layer] = t.sums(v)
		if layer == int(query.Selected) && set.count == ls.sets[query.All].count {
			out.Min[layer], out.Max[layer], out.Quantiles[layer] = out.Min[query.All], out.Max[query.All], out.Quantiles[query.All]
			continue
		}
		values, err := d.ofLayer(ctx, l, query.Layer(layer), ls, int(t.valued), s.Quantiles)
		if err != nil {
			return out, err
		}
		out.Min[layer], out.Max[layer] = values[0], values[1]
		out.Quantiles[layer] = values[2:]
	}
	return out, nil
}

// ofLayer returns the least and the greatest value of the n rows of a layer that
// have one, then the quantiles; all are NaN if it is empty. Those of layer All
// are kept, and those of the last few sets.
func (d *distribution) ofLayer(ctx context.Context, l *budget.Lease, layer query.Layer, ls *layers, n int, quantiles []float64) ([]float64, error) {
	if n == 0 {
		return slices.Repeat([]float64{math.NaN()}, len(quantiles)+2), nil
	}
	key := orderKey{d.key.filter, d.key.column, fmt.Sprint(quantiles)}
	if layer == query.All {
		if values, ok := l.Look(key).([]float64); ok {
			return values, nil
		}
	}
	set := ls.sets[layer]
	recent, _ := l.Look(recentKey(key)).([]ordered)
	for _, r := range recent {
		if r.set.equal(set) {
			return r.values, nil
		}
	}
	first, err := d.firstDigits(ctx, l, layer, ls)
	if err != nil {
		return nil, err
	}
	values, err := d.quantiles(ctx, subset{set, d.valued}, first, n, quantiles)
	if err != nil {
		return nil, err
	}
	if layer == query.All {
		l.Keep(key, int64(8*len(values)), values)
		return values, nil
	}
	now := append([]ordered{{set, values}}, recent[:min(len(recent), maxRecent-1)]...)
	l.Keep(recentKey(key), int64(len(now)*(8*len(values)+8*len(set.bits))), now)
	return values, nil
}

// firstDigits counts the first digits of the rows of a layer: of what it leaves
// out if that is less, because those of layer All are kept.
func (d *distribution) firstDigits(ctx context.Context, l *budget.Lease, layer query.Layer, ls *layers) ([]uint32, error) {
	total := d.extent.bits()
	width := min(digitBits, total)
	count := func(set rowSet) ([]uint32, error) {
		counts, err := d.keys.digits(ctx, subset{set, d.valued}, d.extent, prefixesOf(make([]ranked, 1), d.extent, total), total-width, width)
		if err != nil {
			return nil, err
		}
		return counts[0], nil
	}
	set, all := ls.sets[layer], ls.sets[query.All]
	known, ok := l.Look(d.key).([]uint32)
	if layer == query.All && ok {
		return known, nil
	}
	if layer != query.All && ok && set.count > all.count/2 {
		rest, err := count(rowSet{bits: all.bits, minus: set.bits})
		for i := range rest {
			rest[i] = known[i] - rest[i]
		}
		return rest, err
	}
	counts, err := count(set)
	if err == nil && layer == query.All {
		l.Keep(d.key, int64(4*len(counts)), counts)
	}
	return counts, err
}

func (d *distribution) quantiles(ctx context.Context, s subset, first []uint32, n int, quantiles []float64) ([]float64, error) {
	ranks := []int{0, n - 1}
	for _, q := range quantiles {
		ranks = append(ranks, query.NearestRank(q, n))
	}
	sorted := slices.Clone(ranks)
	slices.Sort(sorted)
	found, err := d.keys.at(ctx, s, d.extent, first, sorted)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(ranks))
	for i, r := range ranks {
		j, _ := slices.BinarySearch(sorted, r)
		out[i] = d.keys.value(found[j].key)
	}
	return out, nil
}

// page returns some of the selected rows in the order asked for.
func (e *Engine) page(ctx context.Context, l *budget.Lease, p *query.Page, ls *layers) (*query.Rows, error) {
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
		d, err := e.distribution(ctx, l, c, p.Down, ls.filter)
		if err != nil {
			return nil, err
		}
		n := selected.count
		if d.valued != nil {
			present := slices.Clone(selected.bits)
			present.And(d.valued)
			n = present.Count()
		}
		if index, err = d.page(ctx, subset{selected, d.valued}, min(from, n), min(to, n)); err != nil {
			return nil, err
		}
		// Rows without a value come last in either direction.
		if n < selected.count {
			lacking := slices.Clone(selected.bits)
			lacking.AndNot(d.valued)
			index = append(index, pageOf(lacking, max(from-n, 0), max(to-n, 0))...)
		}
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
func (d *distribution) page(ctx context.Context, s subset, from, to int) ([]int, error) {
	if from >= to {
		return nil, nil
	}
	ends, err := d.keys.at(ctx, s, d.extent, nil, []int{from, to - 1})
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
	rows := d.keys.column.Len()
	var scratch []uint64
	var room [blockRows / 64]uint64
	seenFirst, seenLast := 0, 0
	for b := range blocks(rows) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		lo, hi := bounds(b, rows)
		words := s.members(lo, hi, room[:])
		if words.Count() == 0 {
			continue
		}
		keys := d.keys.block(lo, hi, grow(&scratch, hi-lo))
		for i := range words.All() {
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
