// Package spread says how the samples of a group, such as a source line or a
// data object, are distributed: over the levels that served them and over
// latencies. A sum or a mean hides both.
package spread

import (
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
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
	g.rank()
	if top > 0 && len(g.order) > top {
		g.order = g.order[:top]
	}
	level := category(t, "level")
	out := make([]Spread, 0, len(g.order))
	for _, n := range g.order {
		one := Spread{Samples: g.samples[n], Levels: []LevelCount{}}
		for _, c := range columns {
			one.Key = append(one.Key, c.Text(g.first[n]))
		}
		if level != nil {
			one.Levels = counts(level, g.levels[n])
		}
		one.Latency = distribution(g.values[n])
		out = append(out, one)
	}
	return out, nil
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
	order   []int
}

func gather(ctx context.Context, t *table.Table, rows table.Bits, columns []*table.Column) (*groups, error) {
	level, latency := category(t, samples.Level), samples.UsableLatency(t)
	g := &groups{}
	number := map[key]int{}
	for i := range table.Scan(ctx, rows, t.Rows()) {
		k := keyOf(columns, i)
		n, ok := number[k]
		if !ok {
			n = len(g.samples)
			number[k] = n
			g.samples, g.first, g.values = append(g.samples, 0), append(g.first, i), append(g.values, nil)
			if level != nil {
				g.levels = append(g.levels, make([]int, len(level.Dict)+1))
			}
		}
		g.samples[n]++
		if level != nil {
			at := len(level.Dict)
			if level.Has(i) {
				at = int(level.Data.([]uint32)[i])
			}
			g.levels[n][at]++
		}
		if latency != nil && latency.Has(i) {
			g.values[n] = append(g.values[n], latency.Float(i))
		}
	}
	return g, ctx.Err()
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
	sums := make([]float64, len(g.samples))
	for n, values := range g.values {
		for _, v := range values {
			sums[n] += v
		}
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

func distribution(values []float64) *Latencies {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	// The smallest value that at least that share of the samples do not exceed.
	at := func(share float64) float64 { return values[max(int(math.Ceil(share*float64(len(values))))-1, 0)] }
	l := &Latencies{Samples: len(values), Min: values[0], P50: at(0.5), P90: at(0.9), P99: at(0.99), Max: values[len(values)-1]}
	l.Bins = make([]int, bin(l.Max)+1)
	for _, v := range values {
		l.Sum += v
		l.Bins[bin(v)]++
	}
	return l
}

func bin(v float64) int {
	if v < 1 {
		return 0
	}
	return bits.Len64(uint64(min(v, 1<<62)))
}
