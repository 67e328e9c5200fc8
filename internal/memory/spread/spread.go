// Package spread says how the samples of a group, such as a source line or a
// data object, are distributed: over the levels that served them and over
// latencies. A sum or a mean hides both.
package spread

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// Spread is the distribution of one group.
type Spread struct {
	Key     []string     `json:"label"` // one text a column; empty where a row has no value
	Samples int          `json:"samples"`
	Levels  []LevelCount `json:"levels"`       // most samples first; none if none was recorded
	Latency *Latencies   `json:"distribution"` // null where no sample has one
}

// LevelCount is the samples with one name. Without a name none was recorded.
type LevelCount struct {
	Name    string `json:"name"`
	Samples int    `json:"samples"`
}

// Latencies is a distribution. Quantiles are values of samples, never between
// two.
type Latencies struct {
	Samples int     `json:"samples"`
	Sum     float64 `json:"sum"`
	Min     float64 `json:"min"`
	P50     float64 `json:"p50"`
	P90     float64 `json:"p90"`
	P99     float64 `json:"p99"`
	Max     float64 `json:"max"`
	// Bins[k] counts latencies from 2^(k-1) up to but not including 2^k; the
	// first counts those below 1.
	Bins []int `json:"bins"`
}

// MostColumns is the number of columns of a key.
const MostColumns = 4

type key [MostColumns]uint64

// absent is the key of a row without a value; no code or number has its bits.
const absent = math.MaxUint64

// Of is By for the selected rows of a table, wherever they are: an engine knows.
func Of(ctx context.Context, t *table.Table, e query.Engine, where query.Expr, columns []*table.Column, top int) ([]Spread, error) {
	if d, ok := e.(query.Distant); ok && t.Elsewhere() {
		return elsewhere(ctx, d, t, where, columns, top)
	}
	var rows table.Bits
	if where != nil {
		var err error
		if rows, err = e.Select(ctx, where); err != nil {
			return nil, err
		}
	}
	return By(ctx, t, rows, columns, top)
}

// By groups the rows (nil: all) by columns and returns the groups with the most
// latency, or where there is none with the most samples; 0 is all of them.
func By(ctx context.Context, t *table.Table, rows table.Bits, columns []*table.Column, top int) ([]Spread, error) {
	if len(columns) > MostColumns {
		columns = columns[:MostColumns]
	}
	g, err := gather(ctx, t, rows, columns)
	if err != nil {
		return nil, err
	}
	return g.spreads(columns, category(t, samples.Level), top), nil
}

// elsewhere is By for the selected rows of a table that are not here: rows with the same
// key, level and latency come as one.
func elsewhere(ctx context.Context, d query.Distant, t *table.Table, where query.Expr, columns []*table.Column, top int) ([]Spread, error) {
	if len(columns) > MostColumns {
		columns = columns[:MostColumns]
	}
	q := query.Condensing{Where: where}
	name := func(c *table.Column) {
		if c != nil && !slices.Contains(q.Columns, c.Name) {
			q.Columns = append(q.Columns, c.Name)
		}
	}
	for _, c := range columns {
		name(c)
	}
	name(category(t, samples.Level))
	name(samples.UsableLatency(t))
	rows, err := d.Condense(ctx, q)
	if err != nil {
		return nil, err
	}
	here := make([]*table.Column, len(columns))
	for i, c := range columns {
		here[i] = rows.Table.Column(c.Name)
	}
	g := newGatherer(rows.Table, here)
	for row, n := range rows.Count {
		g.add(row, n)
	}
	return g.spreads(here, g.level, top), nil
}

// spreads are the groups that were gathered, of which columns are the keys.
func (g *groups) spreads(columns []*table.Column, level *table.Column, top int) []Spread {
	g.rank()
	if top > 0 && len(g.order) > top {
		g.order = g.order[:top]
	}
	out := make([]Spread, 0, len(g.order))
	for _, n := range g.order {
		one := Spread{Samples: g.samples[n], Levels: []LevelCount{}}
		for _, c := range columns {
			one.Key = append(one.Key, c.Text(g.first[n]))
		}
		if level != nil {
			one.Levels = counts(level, g.levels[n])
		}
		one.Latency = distribution(g.values[n], g.times[n])
		out = append(out, one)
	}
	return out
}

func category(t *table.Table, name string) *table.Column {
	if c := t.Column(name); c != nil && c.Kind == table.Category && c.Provenance != table.Absent {
		return c
	}
	return nil
}

// groups is what was gathered, by the number of a group.
type groups struct {
	samples []int
	first   []int // a row of each
	levels  [][]int
	values  [][]float64
	times   [][]int // how often each value was, nil: once
	sums    []float64
	order   []int
}

// gatherer puts rows into groups.
type gatherer struct {
	groups
	columns        []*table.Column
	level, latency *table.Column
	number         map[key]int
}

func newGatherer(t *table.Table, columns []*table.Column) *gatherer {
	return &gatherer{columns: columns, level: category(t, samples.Level), latency: samples.UsableLatency(t), number: map[key]int{}}
}

// add counts a row that stands for n samples.
func (g *gatherer) add(row, n int) {
	k := keyOf(g.columns, row)
	at, ok := g.number[k]
	if !ok {
		at = len(g.samples)
		g.number[k] = at
		g.samples, g.first, g.sums = append(g.samples, 0), append(g.first, row), append(g.sums, 0)
		g.values, g.times = append(g.values, nil), append(g.times, nil)
		if g.level != nil {
			g.levels = append(g.levels, make([]int, len(g.level.Dict)+1))
		}
	}
	g.samples[at] += n
	if g.level != nil {
		name := len(g.level.Dict)
		if g.level.Has(row) {
			name = int(g.level.Data.([]uint32)[row])
		}
		g.levels[at][name] += n
	}
	if g.latency == nil || !g.latency.Has(row) {
		return
	}
	v := g.latency.Float(row)
	g.sums[at] += v * float64(n)
	if n > 1 && g.times[at] == nil {
		g.times[at] = slices.Repeat([]int{1}, len(g.values[at]))
	}
	g.values[at] = append(g.values[at], v)
	if g.times[at] != nil {
		g.times[at] = append(g.times[at], n)
	}
}

func gather(ctx context.Context, t *table.Table, rows table.Bits, columns []*table.Column) (*groups, error) {
	g := newGatherer(t, columns)
	for i := range table.Scan(ctx, rows, t.Rows()) {
		g.add(i, 1)
	}
	return &g.groups, ctx.Err()
}

func keyOf(columns []*table.Column, row int) (k key) {
	for i, c := range columns {
		k[i] = absent
		if !c.Has(row) {
			continue
		}
		if d, ok := c.Data.([]uint64); ok {
			k[i] = d[row]
		} else {
			k[i] = math.Float64bits(c.Float(row))
		}
	}
	return k
}

func (g *groups) rank() {
	sums := g.sums
	for n := range g.samples {
		g.order = append(g.order, n)
	}
	slices.SortStableFunc(g.order, func(a, b int) int {
		switch {
		case sums[a] > sums[b]:
			return -1
		case sums[a] < sums[b]:
			return 1
		}
		return g.samples[b] - g.samples[a]
	})
}

func counts(level *table.Column, n []int) []LevelCount {
	out := []LevelCount{}
	for i, samples := range n {
		if samples == 0 {
			continue
		}
		name := ""
		if i < len(level.Dict) {
			name = level.Dict[i]
		}
		out = append(out, LevelCount{name, samples})
	}
	slices.SortStableFunc(out, func(a, b LevelCount) int { return b.Samples - a.Samples })
	return out
}

// distribution is that of values, of which each was there as often as times say; nil: once.
func distribution(values []float64, times []int) *Latencies {
	if len(values) == 0 {
		return nil
	}
	order := make([]int, len(values))
	total := len(values)
	for i := range order {
		order[i] = i
	}
	often := func(int) int { return 1 }
	if times != nil {
		often, total = func(i int) int { return times[i] }, 0
		for _, n := range times {
			total += n
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	l := &Latencies{Samples: total, Min: values[order[0]], Max: values[order[len(order)-1]]}
	l.Bins = make([]int, bin(l.Max)+1)
	// The smallest value that at least that share of the samples do not exceed.
	quantiles := []struct {
		at   int
		into *float64
	}{{rank(0.5, total), &l.P50}, {rank(0.9, total), &l.P90}, {rank(0.99, total), &l.P99}}
	seen := 0
	for _, i := range order {
		v, n := values[i], often(i)
		seen += n
		l.Sum += v * float64(n)
		l.Bins[bin(v)] += n
		for len(quantiles) > 0 && quantiles[0].at < seen {
			*quantiles[0].into = v
			quantiles = quantiles[1:]
		}
	}
	return l
}

// rank is the position of a quantile among n sorted values.
func rank(share float64, n int) int { return max(int(math.Ceil(share*float64(n)))-1, 0) }

func bin(v float64) int {
	if v < 1 {
		return 0
	}
	return bits.Len64(uint64(min(v, 1<<62)))
}
