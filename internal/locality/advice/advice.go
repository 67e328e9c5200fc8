// Package advice finds changes of layout or order that would save misses: it
// makes candidates from how objects are used, replays each through the model of a
// machine, and keeps those that gain wherever their memory comes to lie. Silence
// is an answer.
package advice

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/locality/layout"
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/locality/replay"
	"github.com/isobath/isobath/internal/locality/sharing"
	"github.com/isobath/isobath/internal/loops/tree"
)

// Kind is what a change does.
type Kind string

// The kinds, simplest first: of equal gains the simpler change is advised.
const (
	Align       Kind = "align"       // the object starts where a line starts
	Pad         Kind = "pad"         // rows are longer, or threads have lines of their own
	Reorder     Kind = "reorder"     // fields used together lie side by side
	Split       Kind = "split"       // hot fields apart from cold ones
	SoA         Kind = "soa"         // one array a field
	Interchange Kind = "interchange" // loops in another order
	Block       Kind = "block"       // loops in tiles
	Huge        Kind = "huge"        // pages of 2 MiB
	Place       Kind = "place"       // pages on the node of most misses
	Order       Kind = "order"       // elements in the order of their first use
)

// Kinds are all of them, simplest first.
var Kinds = []Kind{Align, Pad, Reorder, Split, SoA, Interchange, Block, Huge, Place, Order}

// Options say what to look for.
type Options struct {
	Machine *platform.Machine
	Kinds   []Kind // empty: all
	Object  string // empty: all
	// Least is the part of the modelled cost that a change must save at least.
	Least       float64
	Reassociate bool
	// Loops finds the loops of the program, for their names; it is asked once if
	// orders are tried, and is or returns nil where they are not known.
	Loops func() *tree.Tree
	// Progress is told how many replays are done of how many that are known.
	Progress func(done, known int)
}

// DefaultLeast is the least part of the cost worth a change.
const DefaultLeast = 0.05

// leastCycles is the least saving a reference, in modelled cycles.
const leastCycles = 0.05

// Advice is one change and what the model says of it.
type Advice struct {
	Kind   Kind
	Object *layout.Object // nil for loops
	What   string         // the change in a few words
	Code   string         // the change as it would be written
	Map    string         // the change for --map
	Now    replay.Counts
	// Then is the counts for each placement; one where nothing is placed anew.
	Then       []Placed
	Gain       [2]float64 // least and most part of the cost saved
	Prefetched [2]float64 // the same where an ideal prefetcher hides what it can, before and after
	// NowBands and ThenBands are the misses with the bands they lie in, the change in
	// its kept place; nil of what is advised instead, and of threads.
	NowBands, ThenBands *replay.Tally
	Legal               string // why the change keeps the program's results
	Spanning            float64
	Assumes             []string
	Instead             []*Advice // other changes of the same object, best first
	Together            float64   // part of the cost saved with all advice before it
	References          uint64    // it is about
	Place               string    // file:line of the outermost loop; of its body where the text of the loop is not known
	At                  string    // the same with the word that fits: "at a.c:7", "within a.c:7", "around a.c:9"
	Lines               Lines     // of the references that the loops make
	Line                string    // file:line where an object costs most or a thread uses its line most; empty if it is not known
	// Shared is the line that threads fight for, of advice that parts them; it
	// has no gain in the misses of one thread's caches.
	Shared *sharing.Line

	// Why is what the change of an order brings nearer; Carried the reuses it
	// rests on.
	Why     string
	Carried []CarriedReuse

	plan *replay.Plan
}

// Lines are some of a source file.
type Lines struct {
	File     string
	From, To int // To is the last
}

// CarriedReuse is the reuses of an object that one loop carries.
type CarriedReuse struct {
	replay.Carried
	Object string // empty: none
	By     string
}

// Placed is the counts of a change in one placement.
type Placed struct {
	Placement  replay.Placement
	Counts     replay.Counts
	Gain       float64
	Prefetched float64 // Gain with an ideal prefetcher
}

// Result is all advice, best first.
type Result struct {
	Now     replay.Counts
	Cost    float64
	Tried   int
	Advice  []*Advice
	Silence string // why there is no advice; empty if there is
	Notes   []string
}

// Find looks for changes worth making.
func Find(ctx context.Context, t *replay.Trace, table *layout.Table, o Options) (*Result, error) {
	regular := infer(t, table)
	f := &finder{Options: o, ctx: ctx, trace: t, table: table, result: &Result{}}
	base, profiles, err := profiles(ctx, t, table, o.Machine)
	if err != nil {
		return nil, err
	}
	for i, p := range profiles {
		if p != nil {
			p.regular = regular[i]
		}
	}
	f.result.Now, f.result.Cost = base, base.Cost(o.Machine)
	var all []*Advice
	for _, c := range f.candidates(profiles) {
		a, err := f.try(c)
		if err != nil {
			return nil, err
		}
		if a != nil {
			all = append(all, a)
		}
	}
	orders, err := f.orders()
	if err != nil {
		return nil, err
	}
	f.choose(append(all, orders...))
	if err := f.combine(); err != nil {
		return nil, err
	}
	if err := f.weigh(); err != nil {
		return nil, err
	}
	if err := f.separate(); err != nil {
		return nil, err
	}
	f.explainSilence()
	return f.result, nil
}

type finder struct {
	Options
	ctx    context.Context
	trace  *replay.Trace
	table  *layout.Table
	result *Result
	sought bool
	found  *tree.Tree // loops of the program; nil if not known
}

// wants reports whether a kind was asked for.
func (f *finder) wants(k Kind) bool { return len(f.Kinds) == 0 || slices.Contains(f.Kinds, k) }

const (
	maxObjects = 16
	// leastShare is the part of the cost that an object must have to be looked
	// at.
	leastShare = 0.01
)

// candidates makes the changes of layout worth a replay, for the costliest
// objects first.
func (f *finder) candidates(profiles []*profile) (out []*Advice) {
	var worth []*profile
	for _, p := range profiles {
		if p == nil || p.object.Stack || p.cost < leastShare*f.result.Cost || f.Object != "" && p.object.Name != f.Object {
			continue
		}
		worth = append(worth, p)
	}
	slices.SortStableFunc(worth, func(a, b *profile) int { return cmp.Compare(b.cost, a.cost) })
	for _, p := range worth[:min(len(worth), maxObjects)] {
		p.study(f.trace)
		out = append(out, f.layouts(p)...)
	}
	if len(profiles) <= 1 {
		f.note("no objects are known: changes of layout need them; record with --allocations, or give --binary or --objects")
	}
	return out
}

// maxSpanning withholds a change that parts more of the references to its object:
// the program then reads several fields at once, and would not after the change.
const maxSpanning = 0.10

// try replays a candidate with every placement; nil if it gains too little.
func (f *finder) try(a *Advice) (*Advice, error) {
	for _, c := range a.plan.Changes {
		if a.Spanning = max(a.Spanning, c.Spanning(f.trace)); a.Spanning > maxSpanning {
			return nil, nil
		}
	}
	placements := replay.Placements
	if len(a.plan.Changes) == 0 || a.plan.Changes[0].Start != nil {
		placements = placements[:1]
	}
	a.Now = f.result.Now
	f.tried()
	for _, p := range placements {
		// One placement with too little of a gain is enough to drop a change.
		n, within, err := replay.RunWithin(f.ctx, f.trace, f.Machine, a.plan, p, f.most(0))
		if err != nil || !within {
			return nil, err
		}
		a.Then = append(a.Then, Placed{p, n, f.gain(n), f.prefetched(n)})
	}
	a.bound()
	if !f.worth(a) {
		return nil, nil
	}
	return a, nil
}

// most is the cost beyond which a change cannot be worth it that is to save Least
// beyond a part saved by others; a little more, so that rounding decides nothing.
func (f *finder) most(others float64) float64 {
	least := max(f.Least*f.result.Cost, leastCycles*float64(f.result.Now.References))
	if others > 0 {
		least = (others + f.Least) * f.result.Cost
	}
	return (f.result.Cost - least) + 1e-9*f.result.Cost
}

func (f *finder) tried() {
	f.result.Tried++
	if f.Progress != nil {
		f.Progress(f.result.Tried, f.result.Tried)
	}
}

// gain is the part of the base's cost that counts save.
func (f *finder) gain(n replay.Counts) float64 {
	if f.result.Cost == 0 {
		return 0
	}
	return 1 - n.Cost(f.Machine)/f.result.Cost
}

// prefetched is the part of the base's cost that counts save where an ideal
// prefetcher hides what it can of both.
func (f *finder) prefetched(n replay.Counts) float64 {
	base, then := f.result.Now.Prefetched(), n.Prefetched()
	cost := base.Cost(f.Machine)
	if cost == 0 {
		return 0
	}
	return 1 - then.Cost(f.Machine)/cost
}

func (a *Advice) bound() {
	a.Gain = [2]float64{a.Then[0].Gain, a.Then[0].Gain}
	a.Prefetched = [2]float64{a.Then[0].Prefetched, a.Then[0].Prefetched}
	for _, p := range a.Then {
		a.Gain[0], a.Gain[1] = min(a.Gain[0], p.Gain), max(a.Gain[1], p.Gain)
		a.Prefetched[0], a.Prefetched[1] = min(a.Prefetched[0], p.Prefetched), max(a.Prefetched[1], p.Prefetched)
	}
}

// worth reports whether a change gains enough in the worst placement.
func (f *finder) worth(a *Advice) bool {
	saved := a.Gain[0] * f.result.Cost / float64(max(f.result.Now.References, 1))
	return a.Gain[0] >= f.Least && saved >= leastCycles
}

// even is how far two gains may lie apart and be called equal.
const even = 0.005

// better orders advice: by the least gain, and of equal gains the simpler.
func better(a, b *Advice) int {
	if d := b.Gain[0] - a.Gain[0]; d > even || d < -even {
		return cmp.Compare(b.Gain[0], a.Gain[0])
	}
	return cmp.Or(cmp.Compare(slices.Index(Kinds, a.Kind), slices.Index(Kinds, b.Kind)), cmp.Compare(b.Gain[0], a.Gain[0]))
}

// choose makes one entry of all changes of an object, and orders the entries.
func (f *finder) choose(all []*Advice) {
	var groups [][]*Advice
	index := map[string]int{}
	for _, a := range all {
		key := "loops"
		if a.Object != nil {
			key = fmt.Sprint(a.Object.Number)
		}
		if a.Kind == Huge || a.Kind == Place {
			key += "/" + string(a.Kind) // goes with any layout
		}
		i, ok := index[key]
		if !ok {
			i = len(groups)
			index[key] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], a)
	}
	for _, g := range groups {
		best := g[0]
		for _, a := range g[1:] {
			if better(a, best) < 0 {
				best = a
			}
		}
		for _, a := range g {
			if a != best {
				best.Instead = append(best.Instead, a)
			}
		}
		slices.SortFunc(best.Instead, func(a, b *Advice) int { return cmp.Compare(b.Gain[0], a.Gain[0]) })
		f.result.Advice = append(f.result.Advice, best)
	}
	slices.SortStableFunc(f.result.Advice, better)
}

// combine tries each entry on top of those before it, and keeps it only if it
// still gains.
func (f *finder) combine() error {
	var kept []*Advice
	var whole *replay.Plan
	so := 0.0
	for _, a := range f.result.Advice {
		if len(kept) == 0 {
			kept, whole, so = append(kept, a), a.plan, a.Gain[0]
			a.Together = so
			continue
		}
		plan, ok := join(whole, a.plan)
		if !ok {
			continue
		}
		gain, within := 1.0, true
		for _, p := range replay.Placements {
			var n replay.Counts
			var err error
			if n, within, err = replay.RunWithin(f.ctx, f.trace, f.Machine, plan, p, f.most(so)); err != nil {
				return err
			}
			if !within {
				break
			}
			gain = min(gain, f.gain(n))
		}
		f.tried()
		if within && gain-so >= f.Least {
			a.Together = gain
			kept, whole, so = append(kept, a), plan, gain
		}
	}
	f.result.Advice = kept
	return nil
}

// weigh finds the bands of what is advised: of the base once, then of each change
// in its kept place.
func (f *finder) weigh() error {
	if len(f.result.Advice) == 0 {
		return nil
	}
	now, err := replay.Weigh(f.ctx, f.trace, f.Machine, nil, replay.Kept)
	if err != nil {
		return err
	}
	for _, a := range f.result.Advice {
		a.NowBands = now
		if a.ThenBands, err = replay.Weigh(f.ctx, f.trace, f.Machine, a.plan, replay.Kept); err != nil {
			return err
		}
	}
	return nil
}

// join puts two plans into one; false if both reorder the trace.
func join(a, b *replay.Plan) (*replay.Plan, bool) {
	p := &replay.Plan{Changes: append(slices.Clone(a.Changes), b.Changes...), Order: a.Order, Huge: map[uint32]bool{}, Homes: map[uint32]replay.Policy{}}
	maps.Copy(p.Homes, a.Homes)
	maps.Copy(p.Homes, b.Homes)
	maps.Copy(p.Huge, a.Huge)
	maps.Copy(p.Huge, b.Huge)
	if b.Order != nil {
		if a.Order != nil {
			return nil, false
		}
		p.Order = b.Order
	}
	return p, true
}

func (f *finder) explainSilence() {
	r := f.result
	if len(r.Advice) > 0 {
		return
	}
	r.Silence = fmt.Sprintf("of %s replayed on %s none saves %.0f %% of the modelled cost of the misses in every placement", term.Counted(r.Tried, "change"), f.Machine.Name, 100*f.Least)
	if r.Tried == 0 {
		r.Silence = "no change of layout or order applies to the references"
	}
}

func (f *finder) note(format string, args ...any) {
	f.result.Notes = append(f.result.Notes, fmt.Sprintf(format, args...))
}
