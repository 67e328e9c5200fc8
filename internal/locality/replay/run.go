package replay

import (
	"context"
	"math"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/locality/platform"
)

// cancelEvery is how many references are replayed between looks at the context.
const cancelEvery = 1 << 16

// Run replays a trace on a machine. With a plan the changed objects lie as the
// placement says.
func Run(ctx context.Context, t *Trace, m *platform.Machine, plan *Plan, p Placement) (Counts, error) {
	n, _, err := RunWithin(ctx, t, m, plan, p, math.Inf(1))
	return n, err
}

// RunWithin is Run until the modelled cost is beyond most: what is counted only
// grows, so that a replay that will cost too much need not end. It reports
// whether it did.
func RunWithin(ctx context.Context, t *Trace, m *platform.Machine, plan *Plan, p Placement, most float64) (n Counts, within bool, err error) {
	c := NewCaches(m)
	if plan == nil {
		plan = &Plan{}
	}
	settle(plan.Changes, p)
	r := runner{Caches: c, plan: plan, changes: plan.index()}
	memory := r.watch(t)
	all := len(t.Accesses)
	for from := 0; from < all; from += cancelEvery {
		if err := ctx.Err(); err != nil {
			return Counts{}, false, err
		}
		if c.Cost(m) > most {
			return c.Counts, false, nil
		}
		to := min(from+cancelEvery, all)
		if plan.Order == nil {
			for i := from; i < to; i++ {
				r.access(&t.Accesses[i])
			}
		} else {
			for _, i := range plan.Order[from:to] {
				r.access(&t.Accesses[i])
			}
		}
	}
	if memory != nil {
		memory.count(&c.Counts)
	}
	return c.Counts, c.Cost(m) <= most, nil
}

// watch counts the misses that a prefetcher could hide and, where there are several
// nodes and threads, the lines from memory by node; else what it returns is nil.
func (r *runner) watch(t *Trace) (h *homes) {
	if r.machine.Nodes > 1 && len(t.Threads) > 1 {
		h = newHomes(r.machine, Policy{Kind: FirstTouch}, r.plan.Homes)
	}
	r.Hidden = make([]uint64, len(r.machine.Levels))
	r.missed = func(line uint64, level int) {
		if r.hidden {
			for i := range level {
				r.Hidden[i]++
			}
		}
		if h != nil && level == len(r.machine.Levels) {
			h.fetch(int(r.now.Thread), line<<r.shift, r.now.Object)
		}
	}
	return h
}

// runner replays accesses through a plan.
type runner struct {
	*Caches
	plan    *Plan
	changes []*Change // by object
	room    [16]Piece
	now     *Access // under way
	streams streams
	hidden  bool // it continues its stream
}

// index finds the change of an object by its number.
func (p *Plan) index() []*Change {
	var out []*Change
	for _, c := range p.Changes {
		for int(c.Object.Number) >= len(out) {
			out = append(out, nil)
		}
		out[c.Object.Number] = c
	}
	return out
}

func (r *runner) access(a *Access) {
	r.References++
	r.now = a
	p := r.thread(int(a.Thread))
	r.usePages(r.plan, a.Object)
	if int(a.Object) < len(r.changes) && r.changes[a.Object] != nil {
		for i, piece := range r.changes[a.Object].apply(a.Addr, uint32(a.Size), r.room[:0]) {
			if i == 0 {
				r.hidden = r.streams.follow(int(a.Thread), a.Code, piece.Addr)
			}
			r.piece(p, piece.Addr, piece.Size)
		}
	} else {
		r.hidden = r.streams.follow(int(a.Thread), a.Code, a.Addr)
		r.piece(p, a.Addr, uint32(a.Size))
	}
}

// Each visits the accesses of a trace in the order of a plan, with the pieces it
// makes of them: what a survey of the changed program is made of. The pieces are
// valid until the next.
func (t *Trace) Each(ctx context.Context, plan *Plan, p Placement, visit func(i int, pieces []Piece)) error {
	settle(plan.Changes, p)
	changes := plan.index()
	var room [16]Piece
	for k := range t.Accesses {
		if k%cancelEvery == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		i := k
		if plan.Order != nil {
			i = int(plan.Order[k])
		}
		a := &t.Accesses[i]
		if int(a.Object) >= len(changes) || changes[a.Object] == nil {
			room[0] = Piece{a.Addr, uint32(a.Size)}
			visit(i, room[:1])
			continue
		}
		visit(i, changes[a.Object].apply(a.Addr, uint32(a.Size), room[:0]))
	}
	return nil
}

// Charged is what the references of each object cost on a machine; 0 is no
// object.
type Charged struct {
	Counts  Counts
	Costs   []float64
	Places  []ChargedPlace // in order of their first miss
	Traffic []Traffic      // with memory; nil where one node or one thread is replayed
}

// ChargedPlace is what the references to an object from one place of the source
// cost.
type ChargedPlace struct {
	Object, Place uint32
	Cost          float64
}

// Charge replays a trace as it was recorded and charges the cost of every miss
// to the object of the reference.
func Charge(ctx context.Context, t *Trace, m *platform.Machine, objects int) (*Charged, error) {
	r := runner{Caches: NewCaches(m), plan: &Plan{}}
	out := &Charged{Costs: make([]float64, objects)}
	places := refs.NewMemo()
	steps := make([]float64, len(m.Levels)+1)
	for i, l := range m.Levels {
		steps[i+1] = steps[i] + float64(l.Step)
	}
	memory := newHomes(m, Policy{Kind: FirstTouch}, nil)
	r.Hidden = make([]uint64, len(m.Levels))
	r.missed = func(line uint64, level int) {
		for i := 0; r.hidden && i < level; i++ {
			r.Hidden[i]++
		}
		cost := steps[level]
		if level == len(m.Levels) && memory.fetch(int(r.now.Thread), line<<r.shift, r.now.Object) {
			cost += float64(m.Remote)
		}
		out.charge(places, t, r.now, cost)
	}
	for i := range t.Accesses {
		if i%cancelEvery == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		a := &t.Accesses[i]
		walks := r.Walks
		r.access(a)
		if r.Walks > walks {
			out.charge(places, t, a, float64(r.Walks-walks)*float64(m.Walk))
		}
	}
	if m.Nodes > 1 && len(t.Threads) > 1 {
		memory.count(&r.Counts)
		out.Traffic = memory.traffic(objects)
	}
	out.Counts = r.Counts
	return out, nil
}

// charge charges an access.
func (c *Charged) charge(places *refs.Memo, t *Trace, a *Access, cost float64) {
	c.Costs[a.Object] += cost
	place := t.Codes[a.Code].Place
	k := places.Number(refs.Key{uint64(a.Object), uint64(place)})
	if int(k) == len(c.Places) {
		c.Places = append(c.Places, ChargedPlace{Object: a.Object, Place: place})
	}
	c.Places[k].Cost += cost
}

// Weigh replays as Run does, and tells the bands that the misses lie in.
func Weigh(ctx context.Context, t *Trace, m *platform.Machine, plan *Plan, p Placement) (*Tally, error) {
	if plan == nil {
		plan = &Plan{}
	}
	c := NewCaches(m)
	tally := NewTally(len(m.Levels))
	away := newElsewhere(m, tally.missElsewhere)
	var all streams
	thread, hidden := 0, false
	c.missed = func(line uint64, level int) {
		tally.miss(level, hidden)
		away.fetch(thread, line, c.pageShift)
	}
	err := t.Each(ctx, plan, p, func(i int, pieces []Piece) {
		a := &t.Accesses[i]
		thread = int(a.Thread)
		path := c.thread(thread)
		c.usePages(plan, a.Object)
		for k, piece := range pieces {
			if k == 0 {
				hidden = all.follow(thread, a.Code, piece.Addr)
			}
			c.piece(path, piece.Addr, piece.Size)
		}
	})
	return &tally, err
}
