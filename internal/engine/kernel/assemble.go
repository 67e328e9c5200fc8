package kernel

import (
	"cmp"
	"context"
	"slices"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/engine/query"
)

// assemble turns the results of the counters into answers.
func (p *plan) assemble(ctx context.Context, a *query.Answer, results []layered) error {
	for i := range p.axes {
		a.Axes = append(a.Axes, p.histogram(i, results))
	}
	if n := len(p.request.Pairs); n > 0 {
		a.Pairs = make([]query.Density, n)
		if err := eachBlock(ctx, n, func(_, i int) { a.Pairs[i] = p.density(i, results) }); err != nil {
			return err
		}
	}
	for i, g := range p.request.Groups {
		groups, err := p.rankGroups(ctx, g, &p.groups[i], results)
		if err != nil {
			return err
		}
		a.Groups = append(a.Groups, groups)
	}
	if p.places >= 0 {
		a.Places = p.placesAnswer(results[p.places], p.counters[p.places].values)
	}
	return nil
}

func (p *plan) histogram(axis int, results []layered) query.Histogram {
	x := p.axes[axis]
	h := query.Histogram{Binning: x.Binning}
	if k := p.ones[axis]; k >= 0 {
		for l := range h.Counts {
			h.Counts[l] = slices.Clone(results[k][l].n)
		}
		return h
	}
	for i, pair := range p.request.Pairs {
		c := p.counters[p.pairs[i]]
		if c.right == nil || pair.Left != axis && pair.Right != axis {
			continue
		}
		for l := range h.Counts {
			h.Counts[l] = results[p.pairs[i]][l].margin(x.cells, pair.Left == axis).n
		}
		break
	}
	return h
}

func (p *plan) density(i int, results []layered) query.Density {
	c := p.counters[p.pairs[i]]
	r := results[p.pairs[i]]
	if c.right == nil {
		return p.sparseDensity(i, c, r)
	}
	list := p.lists[c.key]
	d := query.Density{Left: list.left, Right: list.right}
	d.Counts = [query.Layers][]uint32{list.all, list.pick(r[query.Selected].n), list.none}
	if list.none == nil {
		d.Counts[query.Hovered] = list.pick(r[query.Hovered].n)
	}
	return d
}

// cellList is the cells of a pair that have rows.
type cellList struct {
	left, right []uint16
	cells       []uint32
	all         []uint32
	none        []uint32 // zeros, where it is known that nothing is hovered
}

type listKey struct {
	filter  setKey
	counter any
}

// listPairs finds the lists of the pairs that are asked for; they change with
// the filter only, and are kept.
func (p *plan) listPairs(l *budget.Lease, filter setKey, results []layered) {
	p.lists = map[any]*cellList{}
	for i, c := range p.counters {
		if c.right == nil {
			continue
		}
		key := listKey{filter, c.key}
		list, ok := l.Look(key).(*cellList)
		if !ok {
			list = listCells(results[i][query.All].n, c.right.cells)
			l.Keep(key, 12*int64(len(list.cells)), list)
		}
		p.lists[c.key] = list
	}
}

func listCells(all []uint32, nb int) *cellList {
	filled := 0
	for _, n := range all {
		if n != 0 {
			filled++
		}
	}
	l := &cellList{
		left: make([]uint16, 0, filled), right: make([]uint16, 0, filled),
		cells: make([]uint32, 0, filled), all: make([]uint32, 0, filled),
	}
	for a := 0; a*nb < len(all); a++ {
		for b, n := range all[a*nb : (a+1)*nb] {
			if n != 0 {
				l.left = append(l.left, uint16(a))
				l.right = append(l.right, uint16(b))
				l.cells = append(l.cells, uint32(a*nb+b))
				l.all = append(l.all, n)
			}
		}
	}
	return l
}

func (l *cellList) pick(n []uint32) []uint32 {
	out := make([]uint32, len(l.cells))
	for i, k := range l.cells {
		out[i] = n[k]
	}
	return out
}

// sparseDensity is density for a pair counted by the combinations that occur.
func (p *plan) sparseDensity(i int, c *counter, r layered) query.Density {
	pair := p.request.Pairs[i]
	type cell struct{ left, right, k int }
	var cells []cell
	for k, n := range r[query.All].n {
		if n != 0 {
			row := int(c.left.first[k])
			cells = append(cells, cell{p.axes[pair.Left].Of(row), p.axes[pair.Right].Of(row), k})
		}
	}
	slices.SortFunc(cells, func(x, y cell) int { return cmp.Or(cmp.Compare(x.left, y.left), cmp.Compare(x.right, y.right)) })
	var d query.Density
	for _, x := range cells {
		d.Left = append(d.Left, uint16(x.left))
		d.Right = append(d.Right, uint16(x.right))
		for l := range d.Counts {
			d.Counts[l] = append(d.Counts[l], r[l].n[x.k])
		}
	}
	return d
}

func (p *plan) rankGroups(ctx context.Context, g query.Group, gp *groupPlan, results []layered) (query.Groups, error) {
	r, v := results[gp.counter], p.counters[gp.counter].values
	var distinct [][query.Layers]int
	if d := gp.distinct; d != nil {
		distinct = countDistinct(gp, d, results[d.counter])
	}
	ranking := query.NewRanking(g, gp.by)
	for k, first := range gp.codes.first {
		if k%blockRows == 0 && ctx.Err() != nil {
			return query.Groups{}, ctx.Err()
		}
		row := groupRow(r, k, v)
		if row.Counts[query.All] == 0 {
			continue
		}
		if distinct != nil {
			row.Distinct = distinct[k]
		}
		ranking.Add(query.RankedGroup{Row: row, First: int(first)})
	}
	return ranking.Groups(), nil
}

func groupRow(r layered, k int, v *values) (row query.GroupRow) {
	for l := range r {
		if r[l].totals == nil {
			row.Counts[l] = int(r[l].n[k])
			continue
		}
		t := &r[l].totals[k]
		row.Counts[l], row.Valued[l] = int(t.n), int(t.valued)
		row.Sums[l], row.Squares[l] = t.sums(v)
	}
	return row
}

// countDistinct counts, for each group, the combinations with a value that have
// rows.
func countDistinct(gp *groupPlan, d *distinctPlan, r layered) [][query.Layers]int {
	out := make([][query.Layers]int, gp.codes.cells)
	for k, first := range d.codes.first {
		if first == noRow || r[query.All].n[k] == 0 {
			continue
		}
		if _, ok := query.Number(d.column, int(first)); !ok {
			continue
		}
		group := uint32(0)
		if gp.codes.kept() {
			group = gp.codes.at(int(first))
		}
		for l := range r {
			if r[l].n[k] > 0 {
				out[group][l]++
			}
		}
	}
	return out
}

func (p *plan) placesAnswer(r layered, v *values) *query.Places {
	out := &query.Places{}
	for l := range r {
		if r[l].totals == nil {
			out.Counts[l] = make([]uint64, len(r[l].n))
			for k, n := range r[l].n {
				out.Counts[l][k] = uint64(n)
			}
			continue
		}
		n := len(r[l].totals)
		out.Counts[l], out.Valued[l] = make([]uint64, n), make([]uint64, n)
		out.Sums[l], out.Squares[l] = make([]float64, n), make([]float64, n)
		for k := range r[l].totals {
			t := &r[l].totals[k]
			out.Counts[l][k], out.Valued[l][k] = t.n, t.valued
			out.Sums[l][k], out.Squares[l][k] = t.sums(v)
		}
	}
	return out
}
