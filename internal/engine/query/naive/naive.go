// Package naive answers questions the plain way, one row and one question at a
// time. It says what the right answer is: tests compare the engines that people
// use with it.
package naive

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// Engine is the plain evaluator.
type Engine struct {
	data query.Data
}

var _ query.Engine = (*Engine)(nil)

// New returns an engine for the data.
func New(d query.Data) *Engine { return &Engine{data: d} }

// Select returns the rows an expression selects.
func (e *Engine) Select(ctx context.Context, x query.Expr) (table.Bits, error) {
	return query.SelectRows(ctx, e.data, x)
}

// layers is the rows of each layer.
type layers [query.Layers]table.Bits

// Answer answers every question of the request.
func (e *Engine) Answer(ctx context.Context, r *query.Request) (*query.Answer, error) {
	var a query.Answer
	ls, err := e.layers(ctx, r, &a)
	if err != nil {
		return nil, err
	}
	binners := make([]*query.Binner, len(r.Axes))
	for i, axis := range r.Axes {
		c, err := e.column(axis.Column)
		if err != nil {
			return nil, err
		}
		if binners[i], err = query.Bin(c, axis); err != nil {
			return nil, err
		}
		a.Axes = append(a.Axes, histogram(binners[i], ls))
	}
	for _, p := range r.Pairs {
		if !p.Fits(len(r.Axes)) {
			return nil, fmt.Errorf("pair of axes %d and %d: there are %d axes", p.Left, p.Right, len(r.Axes))
		}
		a.Pairs = append(a.Pairs, density(binners[p.Left], binners[p.Right], ls))
	}
	for _, g := range r.Groups {
		groups, err := e.groups(ctx, g, ls)
		if err != nil {
			return nil, err
		}
		a.Groups = append(a.Groups, groups)
	}
	for _, s := range r.Stats {
		c, err := e.number(s.Column)
		if err != nil {
			return nil, err
		}
		a.Stats = append(a.Stats, stats(c, s, ls))
	}
	if r.Places {
		if a.Places, err = e.places(ls); err != nil {
			return nil, err
		}
	}
	if r.Rows != nil {
		if a.Rows, err = e.page(r.Rows, ls[query.Selected]); err != nil {
			return nil, err
		}
	}
	return &a, ctx.Err()
}

func (e *Engine) layers(ctx context.Context, r *query.Request, a *query.Answer) (ls layers, err error) {
	for l, x := range []query.Expr{r.Filter, query.Both(r.Filter, r.Where), query.Both(r.Filter, r.Hover)} {
		if ls[l], err = e.Select(ctx, x); err != nil {
			return ls, err
		}
	}
	if r.Hover == nil {
		ls[query.Hovered] = table.NewBits(e.data.Table.Rows())
	}
	a.HoverAll = ls[query.Hovered].Count()
	ls[query.Hovered].And(ls[query.Selected])
	for l := range ls {
		a.Counts[l] = ls[l].Count()
	}
	return ls, nil
}

func (e *Engine) column(name string) (*table.Column, error) {
	c := e.data.Table.Column(name)
	if c == nil {
		return nil, query.UnknownColumn(e.data.Table, name)
	}
	return c, nil
}

// number returns a column whose values can be summed.
func (e *Engine) number(name string) (*table.Column, error) {
	c, err := e.column(name)
	if err == nil && c.Kind == table.Category {
		err = query.NotNumbers(name)
	}
	return c, err
}

func histogram(b *query.Binner, ls layers) query.Histogram {
	h := query.Histogram{Binning: b.Binning}
	for l, rows := range ls {
		h.Counts[l] = make([]uint32, b.Binning.Cells())
		for i := range rows.All() {
			h.Counts[l][b.Of(i)]++
		}
	}
	return h
}

func density(left, right *query.Binner, ls layers) query.Density {
	type cell [2]int
	var count [query.Layers]map[cell]uint32
	for l, rows := range ls {
		count[l] = map[cell]uint32{}
		for i := range rows.All() {
			count[l][cell{left.Of(i), right.Of(i)}]++
		}
	}
	var cells []cell
	for c := range count[query.All] {
		cells = append(cells, c)
	}
	slices.SortFunc(cells, func(a, b cell) int { return slices.Compare(a[:], b[:]) })
	var d query.Density
	for _, c := range cells {
		d.Left = append(d.Left, uint16(c[0]))
		d.Right = append(d.Right, uint16(c[1]))
		for l := range ls {
			d.Counts[l] = append(d.Counts[l], count[l][c])
		}
	}
	return d
}

func stats(c *table.Column, s query.Stat, ls layers) query.Stats {
	var out query.Stats
	for l, rows := range ls {
		var values []float64
		for i := range rows.All() {
			if v, ok := query.Number(c, i); ok {
				values = append(values, v)
				out.Sums[l] += v
				out.Squares[l] += v * v
			}
		}
		slices.Sort(values)
		n := len(values)
		out.Counts[l] = n
		out.Min[l], out.Max[l] = math.NaN(), math.NaN()
		if n > 0 {
			out.Min[l], out.Max[l] = values[0], values[n-1]
		}
		for _, q := range s.Quantiles {
			v := math.NaN()
			if n > 0 {
				v = values[query.NearestRank(q, n)]
			}
			out.Quantiles[l] = append(out.Quantiles[l], v)
		}
	}
	return out
}

func (e *Engine) places(ls layers) (*query.Places, error) {
	if e.data.Placing == nil {
		return nil, query.ErrNotPlaced
	}
	latency := samples.UsableLatency(e.data.Table)
	p := &query.Places{}
	for l, rows := range ls {
		p.Counts[l] = make([]uint64, e.data.Placing.Count)
		if latency != nil {
			p.Sums[l] = make([]float64, e.data.Placing.Count)
			p.Squares[l] = make([]float64, e.data.Placing.Count)
			p.Valued[l] = make([]uint64, e.data.Placing.Count)
		}
		for i := range rows.All() {
			place := e.data.Placing.Row[i]
			p.Counts[l][place]++
			if latency == nil {
				continue
			}
			if v, ok := query.Number(latency, i); ok {
				p.Sums[l][place] += v
				p.Squares[l][place] += v * v
				p.Valued[l][place]++
			}
		}
	}
	return p, nil
}

func (e *Engine) page(p *query.Page, rows table.Bits) (*query.Rows, error) {
	index := slices.Collect(rows.All())
	if p.Sort != "" {
		c, err := e.column(p.Sort)
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(index, func(i, j int) int {
			return query.CompareRows(c, i, j, p.Down)
		})
	}
	from := min(max(p.Offset, 0), len(index))
	index = index[from:min(from+max(p.Count, 0), len(index))]
	return query.RowTexts(e.data.Table, p.Columns, index)
}
