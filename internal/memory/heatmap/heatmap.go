// Package heatmap counts samples over time, or another number, and over one other column: which CPU,
// thread, object or function was slow when. In are a table and the selected
// rows, out is a grid with the samples of each cell, the sum of their latencies
// and the levels that served them.
package heatmap

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// Options say what the grid is of.
type Options struct {
	By      string  // the column whose values are rows
	Along   string  // the column that windows are of; empty is time
	Windows int     // of it
	Lo, Hi  float64 // part of that axis; both 0 is all of it
	Rows    int     // at most; more values are joined
	// Among are the samples that decide which rows the grid has (nil: those that
	// are counted), so that the grids of two runs have the same.
	Among table.Bits
}

// The most windows and rows of a grid, and the most values a column may have.
const (
	MostWindows = 2000
	MostRows    = 4096
	mostCells   = 1 << 19
	mostValues  = 1 << 20
	mostLevels  = 32
)

// HeatRow is a line of the grid: one value of the column, several neighbouring
// numbers, or the names that are not among the commonest.
type HeatRow struct {
	Name    string `json:"name"`   // as the column has it; of several numbers the first
	Last    string `json:"last"`   // of several numbers the last; otherwise empty
	Values  int    `json:"values"` // that the row stands for
	Rest    bool   `json:"rest"`   // the names that have no row of their own
	Samples int    `json:"samples"`
}

// Grid is the answer. Cell (row r, window w) is at r*windows+w.
type Grid struct {
	Edges   []float64 // of windows, one more than there are
	Rows    []HeatRow
	Samples []uint32
	Sums    []float64  // of latency; nil where none was recorded
	Valued  []uint32   // samples with a latency
	Levels  []string   // the names of Mix; an empty one is "not recorded"
	Mix     [][]uint32 // samples of each level, cell by cell
	Missing int        // selected samples without a time or without a value
}

// Count counts the rows (nil: all) of a table.
func Count(ctx context.Context, t *table.Table, rows table.Bits, o Options) (*Grid, error) {
	by, windows, err := o.check(t)
	if err != nil {
		return nil, err
	}
	among := o.Among
	if among == nil {
		among = rows
	}
	n, err := numberValues(ctx, by, among, t.Rows())
	if err != nil {
		return nil, err
	}
	g := &Grid{Edges: windows.Binning.Edges}
	line := n.lines(by, o.Rows, &g.Rows)
	g.count(ctx, t, rows, windows, func(row int) int {
		if k := n.of(row); k >= 0 {
			return line[k]
		}
		return -1
	})
	return g, ctx.Err()
}

func (o Options) check(t *table.Table) (*table.Column, *query.Binner, error) {
	along := cmp.Or(o.Along, samples.Time)
	by, when := t.Column(o.By), t.Column(along)
	switch {
	case by == nil:
		return nil, nil, query.UnknownColumn(t, o.By)
	case when == nil && along == samples.Time:
		return nil, nil, query.Refuse("the samples have no time to go along")
	case when == nil:
		return nil, nil, query.UnknownColumn(t, along)
	case when.Kind == table.Category:
		return nil, nil, query.Refuse("%s has names, which have no order to go along", along)
	case o.By == along:
		return nil, nil, query.Refuse("%s is the other axis; choose cpu, tid, symbol, function or another column", along)
	case o.Windows < 1 || o.Windows > MostWindows || o.Rows < 1 || o.Rows > MostRows:
		return nil, nil, query.Refuse("%d windows and %d rows; want up to %d and %d", o.Windows, o.Rows, MostWindows, MostRows)
	}
	if o.Windows*o.Rows > mostCells {
		return nil, nil, query.Refuse("%d windows by %d rows are %d cells; want up to %d", o.Windows, o.Rows, o.Windows*o.Rows, mostCells)
	}
	windows, err := query.Bin(when, query.Axis{Column: along, Scale: query.Linear, Bins: o.Windows, Lo: o.Lo, Hi: o.Hi})
	return by, windows, err
}

// values numbers the values of a column as they appear among the selected rows.
type values struct {
	of      func(row int) int // number of a row's value; -1 without one
	first   []int             // a row of each
	samples []int
}

func numberValues(ctx context.Context, c *table.Column, rows table.Bits, n int) (*values, error) {
	v := &values{}
	known := map[uint64]int{}
	v.of = func(row int) int {
		if !c.Has(row) {
			return -1
		}
		if k, ok := known[c.Identity(row)]; ok {
			return k
		}
		return -1
	}
	for row := range table.Scan(ctx, rows, n) {
		if !c.Has(row) {
			continue
		}
		b := c.Identity(row)
		k, ok := known[b]
		if !ok {
			if k = len(v.first); k == mostValues {
				return nil, query.Refuse("%s has more than %d values; choose a column of names or numbers of few", c.Name, mostValues)
			}
			known[b] = k
			v.first, v.samples = append(v.first, row), append(v.samples, 0)
		}
		v.samples[k]++
	}
	return v, ctx.Err()
}

// lines gives every value its row of the grid: numbers in their order, several
// neighbours to a row if need be; names by their samples, the last row for all
// that are left.
func (v *values) lines(c *table.Column, most int, out *[]HeatRow) []int {
	order := make([]int, len(v.first))
	for k := range order {
		order[k] = k
	}
	names := c.Kind == table.Category
	slices.SortStableFunc(order, func(a, b int) int {
		if names {
			return cmp.Or(v.samples[b]-v.samples[a], cmp.Compare(c.Text(v.first[a]), c.Text(v.first[b])))
		}
		return cmp.Compare(c.Float(v.first[a]), c.Float(v.first[b]))
	})
	line := make([]int, len(order))
	each := (len(order) + most - 1) / max(most, 1)
	for i, k := range order {
		at := i / max(each, 1)
		if names {
			at = min(i, most-1)
		}
		if at == len(*out) {
			*out = append(*out, HeatRow{Name: c.Text(v.first[k])})
		}
		r := &(*out)[at]
		if r.Values++; r.Values > 1 && names {
			r.Name, r.Rest = strconv.Itoa(r.Values)+" more", true
		} else if r.Values > 1 {
			r.Last = c.Text(v.first[k])
		}
		r.Samples += v.samples[k]
		line[k] = at
	}
	return line
}

// count fills the cells.
func (g *Grid) count(ctx context.Context, t *table.Table, rows table.Bits, windows *query.Binner, line func(row int) int) {
	wide := windows.Binning.Bins
	cells := len(g.Rows) * wide
	g.Samples = make([]uint32, cells)
	latency, level := samples.UsableLatency(t), t.Column(samples.Level)
	if latency != nil {
		g.Sums, g.Valued = make([]float64, cells), make([]uint32, cells)
	}
	levelOf := g.levels(level, cells)
	for row := range table.Scan(ctx, rows, t.Rows()) {
		r, w := line(row), windows.Of(row)
		if r < 0 || w >= wide {
			g.Missing++
			continue
		}
		at := r*wide + w
		g.Samples[at]++
		if latency != nil && latency.Has(row) {
			g.Sums[at] += latency.Float(row)
			g.Valued[at]++
		}
		if levelOf != nil {
			g.Mix[levelOf(row)][at]++
		}
	}
}

// levels makes room for the mix and says which part of it a row counts in.
func (g *Grid) levels(c *table.Column, cells int) func(row int) int {
	if c == nil || c.Kind != table.Category || c.Provenance == table.Absent || len(c.Dict) > mostLevels {
		return nil
	}
	g.Levels = append(slices.Clone(c.Dict), "")
	for range g.Levels {
		g.Mix = append(g.Mix, make([]uint32, cells))
	}
	codes := c.Data.([]uint32)
	return func(row int) int {
		if !c.Has(row) {
			return len(g.Levels) - 1
		}
		return int(codes[row])
	}
}

// shallow are the levels that a core reaches without leaving its own caches.
var shallow = map[string]bool{"L1": true, "LFB": true, "L2": true}

// Value returns what a cell is worth: "samples", "latency" (their sum), "mean" or
// "deep", the share of samples beyond L2; false where a cell has none.
func (g *Grid) Value(name string) (func(cell int) (float64, bool), error) {
	switch {
	case name == "samples":
		return func(i int) (float64, bool) { return float64(g.Samples[i]), g.Samples[i] > 0 }, nil
	case name == "deep" && g.Mix == nil:
		return nil, query.Refuse("no levels were recorded")
	case name == "deep":
		return g.deep, nil
	case g.Sums == nil:
		return nil, query.Refuse("no latencies were recorded")
	case name == "latency":
		return func(i int) (float64, bool) { return g.Sums[i], g.Valued[i] > 0 }, nil
	}
	return func(i int) (float64, bool) { return g.Sums[i] / float64(max(g.Valued[i], 1)), g.Valued[i] > 0 }, nil
}

func (g *Grid) deep(cell int) (float64, bool) {
	var known, beyond uint32
	for l, name := range g.Levels {
		if name == "" {
			continue
		}
		known += g.Mix[l][cell]
		if !shallow[name] {
			beyond += g.Mix[l][cell]
		}
	}
	return float64(beyond) / float64(max(known, 1)), known > 0
}
