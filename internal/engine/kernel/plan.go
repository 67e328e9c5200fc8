package kernel

import (
	"context"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
)

// plan is a request turned into counters, and where each answer is to be found
// among their results.
type plan struct {
	engine   *Engine
	request  *query.Request
	axes     []*axisCodes
	counters []*counter
	byKey    map[any]int // counter of a key

	pairs  []int
	ones   []int // counter of an axis, -1 if it is a margin of a pair
	groups []groupPlan
	// moments are the counters of the sums of a column, for its statistics.
	moments []int
	places  int
	lists   map[any]*cellList // of counters whose cells are known before
}

// groupPlan is how a group question is answered.
type groupPlan struct {
	by       []*table.Column
	codes    *codes
	counter  int
	distinct *distinctPlan
}

type distinctPlan struct {
	column  *table.Column
	codes   *codes // of group and value together
	counter int
}

type (
	pairKey   struct{ left, right query.Axis }
	sparseKey struct{ left, right query.Axis }
	oneKey    struct{ axis query.Axis }
	groupKey  struct{ by, sum string }
	codesKey  struct{ by string }
	placesKey struct{}
)

// densePair is the most cells of a pair that are counted in a plain table.
const densePair = 1 << 20

func (e *Engine) plan(ctx context.Context, l *budget.Lease, r *query.Request) (*plan, error) {
	p := &plan{engine: e, request: r, byKey: map[any]int{}, places: -1}
	for _, a := range r.Axes {
		x, err := e.axis(ctx, l, a)
		if err != nil {
			return nil, err
		}
		p.axes = append(p.axes, x)
	}
	if err := p.planPairs(ctx, l); err != nil {
		return nil, err
	}
	for _, g := range r.Groups {
		if err := p.planGroup(ctx, l, g); err != nil {
			return nil, err
		}
	}
	for _, s := range r.Stats {
		c, err := e.number(s.Column)
		if err != nil {
			return nil, err
		}
		v, err := e.values(ctx, l, c)
		if err != nil {
			return nil, err
		}
		p.moments = append(p.moments, p.add(sumCounter(statKey{s.Column}, constant(), v)))
	}
	if r.Places {
		if e.data.Placing == nil {
			return nil, query.ErrNotPlaced
		}
		if err := p.planPlaces(ctx, l); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *plan) add(c *counter) int {
	if i, ok := p.byKey[c.key]; ok {
		return i
	}
	p.byKey[c.key] = len(p.counters)
	p.counters = append(p.counters, c)
	return len(p.counters) - 1
}

func (p *plan) planPairs(ctx context.Context, l *budget.Lease) error {
	r := p.request
	margin := make([]bool, len(r.Axes))
	for _, pair := range r.Pairs {
		if !pair.Fits(len(r.Axes)) {
			return query.Refuse("pair of axes %d and %d: there are %d axes", pair.Left, pair.Right, len(r.Axes))
		}
		left, right := p.axes[pair.Left], p.axes[pair.Right]
		a, b := r.Axes[pair.Left], r.Axes[pair.Right]
		if left.cells*right.cells <= densePair {
			p.pairs = append(p.pairs, p.add(pairCounter(pairKey{a, b}, left.codes, right.codes)))
			margin[pair.Left], margin[pair.Right] = true, true
			continue
		}
		key := sparseKey{a, b}
		rows := p.engine.data.Table.Rows()
		c, err := p.engine.codes(ctx, l, key, 4*int64(rows), func() *codes {
			return cross(left.kept(rows), right.kept(rows), rows)
		})
		if err != nil {
			return err
		}
		p.pairs = append(p.pairs, p.add(oneCounter(key, c)))
	}
	for i, a := range r.Axes {
		one := -1
		if !margin[i] {
			one = p.add(oneCounter(oneKey{a}, p.axes[i].codes))
		}
		p.ones = append(p.ones, one)
	}
	return nil
}

// kept returns the codes of an axis in memory.
func (a *axisCodes) kept(rows int) *codes {
	if a.codes.kept() {
		return a.codes
	}
	return a.codes.keep(rows)
}

// axis returns an axis with its codes, in memory if the budget allows.
func (e *Engine) axis(ctx context.Context, l *budget.Lease, a query.Axis) (*axisCodes, error) {
	c, err := e.column(a.Column)
	if err != nil {
		return nil, err
	}
	b, err := e.binner(ctx, l, c, a)
	if err != nil {
		return nil, err
	}
	rows := c.Len()
	size := int64(rows * width(b.Binning.Cells()))
	v, ok, err := l.Get(ctx, oneKey{a}, size, func() (any, error) { return bins(c, b).keep(rows), nil })
	if err != nil {
		return nil, err
	}
	if !ok {
		e.tight()
		return &axisCodes{b, bins(c, b)}, nil
	}
	if k := v.(*codes); k.u8 != nil {
		e.mu.Lock()
		e.coded[a.Column] = a
		e.mu.Unlock()
	}
	return &axisCodes{b, v.(*codes)}, nil
}

type measureKey struct{ column string }

// binner divides a column. What does not depend on the axis is found once.
func (e *Engine) binner(ctx context.Context, l *budget.Lease, c *table.Column, a query.Axis) (*query.Binner, error) {
	const extentSize, binnerSize = 256, 64 << 10 // edges, labels and the like, roughly
	v, ok, err := l.Get(ctx, measureKey{c.Name}, extentSize, func() (any, error) { return query.Measure(c), nil })
	if err != nil {
		return nil, err
	}
	if !ok {
		return query.Bin(c, a)
	}
	extent := v.(*query.Extent)
	v, ok, err = l.Get(ctx, a, binnerSize, func() (any, error) { return extent.Bin(a) })
	if err != nil || ok {
		b, _ := v.(*query.Binner)
		return b, err
	}
	return extent.Bin(a)
}

// codes returns codes that must be in memory: from the budget if it has room,
// for this request only otherwise.
func (e *Engine) codes(ctx context.Context, l *budget.Lease, key any, size int64, build func() *codes) (*codes, error) {
	v, ok, err := l.Get(ctx, key, size, func() (any, error) { return build(), nil })
	if err != nil {
		return nil, err
	}
	if ok {
		return v.(*codes), nil
	}
	e.tight()
	return build(), ctx.Err()
}

func (p *plan) planGroup(ctx context.Context, l *budget.Lease, g query.Group) error {
	e := p.engine
	gp := groupPlan{}
	for _, name := range g.By {
		c, err := e.column(name)
		if err != nil {
			return err
		}
		gp.by = append(gp.by, c)
	}
	var err error
	if gp.codes, err = e.groupCodes(ctx, l, gp.by); err != nil {
		return err
	}
	by := joinNames(g.By)
	if g.Sum == "" {
		gp.counter = p.add(oneCounter(groupKey{by, ""}, gp.codes))
	} else {
		c, err := e.number(g.Sum)
		if err != nil {
			return err
		}
		v, err := e.values(ctx, l, c)
		if err != nil {
			return err
		}
		gp.counter = p.add(sumCounter(groupKey{by, g.Sum}, gp.codes, v))
	}
	if g.Distinct != "" {
		c, err := e.column(g.Distinct)
		if err != nil {
			return err
		}
		d := &distinctPlan{column: c}
		names := append(slices.Clone(g.By), g.Distinct)
		if d.codes, err = e.groupCodes(ctx, l, append(slices.Clone(gp.by), c)); err != nil {
			return err
		}
		d.counter = p.add(oneCounter(groupKey{joinNames(names), ""}, d.codes))
		gp.distinct = d
	}
	p.groups = append(p.groups, gp)
	return nil
}

func joinNames(names []string) string { return strings.Join(names, "\x00") }

type valuesKey struct{ column string }

// values returns a column to sum, one object a column so that its values are
// fetched once a block.
func (e *Engine) values(ctx context.Context, l *budget.Lease, c *table.Column) (*values, error) {
	size := int64(4 * blocks(c.Len()))
	v, ok, err := l.Get(ctx, valuesKey{c.Name}, size, func() (any, error) { return newValues(c), nil })
	if err != nil {
		return nil, err
	}
	if !ok {
		return newValues(c), nil
	}
	return v.(*values), nil
}

// groupCodes numbers the distinct combinations of values of columns.
func (e *Engine) groupCodes(ctx context.Context, l *budget.Lease, by []*table.Column) (*codes, error) {
	rows := e.data.Table.Rows()
	if len(by) == 0 {
		return constant(), nil
	}
	names := make([]string, len(by))
	for i, c := range by {
		names[i] = c.Name
	}
	size := int64(rows)
	if c := by[0]; len(by) > 1 || c.Kind != table.Category && c.Kind != table.Flag {
		size *= 4
	} else {
		size *= int64(width(len(c.Dict) + 1))
	}
	if len(by) == 1 {
		return e.codes(ctx, l, codesKey{names[0]}, size, func() *codes { return groupsOf(by[0]) })
	}
	left, err := e.groupCodes(ctx, l, by[:len(by)-1])
	if err != nil {
		return nil, err
	}
	right, err := e.groupCodes(ctx, l, by[len(by)-1:])
	if err != nil {
		return nil, err
	}
	return e.codes(ctx, l, codesKey{joinNames(names)}, size, func() *codes { return cross(left, right, rows) })
}

func (p *plan) planPlaces(ctx context.Context, l *budget.Lease) error {
	placing := p.engine.data.Placing
	c := &codes{cells: placing.Count, view: view{u32: placing.Row}}
	latency := samples.UsableLatency(p.engine.data.Table)
	if latency == nil {
		p.places = p.add(oneCounter(placesKey{}, c))
		return nil
	}
	v, err := p.engine.values(ctx, l, latency)
	if err != nil {
		return err
	}
	p.places = p.add(sumCounter(placesKey{}, c, v))
	return nil
}
