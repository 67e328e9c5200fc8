package whatif

import (
	"cmp"
	"context"
	"slices"

	"github.com/isobath/isobath/internal/messages/trace"
)

// rank replays entries in the order of what they can gain at most, until the
// top ones are known exactly; then some of those off the path, for the waiting
// they cause.
func (c *Causes) rank(ctx context.Context, top int) error {
	if len(c.Entries) == 0 {
		return nil
	}
	bound := make([]int64, len(c.Entries))
	c.after = make([]int64, len(c.Entries))
	c.bounds(c.Base, c.Times, bound)
	order := make([]int32, len(c.Entries))
	for k := range order {
		order[k] = int32(k)
		c.Entries[k].OnPath = bound[k]
		c.Share[c.Entries[k].Kind.Class()] += bound[k]
	}
	if len(c.hubs) > 0 { // tasks may change hands, so what is off the path counts too
		c.arrival = c.ReplayByArrival(c.Base, nil)
		for k := range c.Entries {
			if c.Entries[k].Kind == ByComputation {
				bound[k] = max(bound[k], c.Entries[k].Sum)
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(bound[b], bound[a]), cmp.Compare(c.Entries[b].Sum, c.Entries[a].Sum))
	})
	var found []int64 // gains, largest first
	limit := c.budget()
	for _, k := range order {
		if bound[k] == 0 || c.Replays >= limit || len(found) >= top && found[top-1] >= bound[k] {
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		c.try(k)
		at, _ := slices.BinarySearchFunc(found, c.Entries[k].Gain, func(a, b int64) int { return cmp.Compare(b, a) })
		found = slices.Insert(found, at, c.Entries[k].Gain)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(c.Entries[b].Sum, c.Entries[a].Sum) })
	for n, k := range order {
		if n >= min(offPath, limit/2) || c.Replays >= limit+offPath/2 {
			break
		}
		if !c.Entries[k].Exact && c.Entries[k].OnPath == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			c.try(k)
		}
	}
	c.sort()
	return nil
}

// longTrace is the number of calls from which on replays that only refine the
// answer are left out.
const longTrace = 1 << 20

// offPath is how many entries that gain nothing are replayed for their waiting.
const offPath = 16

// budget bounds the replays of a long trace: ranking is to cost less than half
// of reading it.
func (c *Causes) budget() int {
	const callsInAll = 8_000_000
	return min(64, max(3, callsInAll/max(c.Len(), 1)))
}

// try replays without an entry.
func (c *Causes) try(k int32) {
	e := &c.Entries[k]
	c.remove(k, c.Base, 1)
	c.scratch = c.Replay(c.Base, c.scratch)
	c.Replays++
	e.Exact = true
	e.Gain = c.Times.Span - c.scratch.Span
	e.Waiting = c.scratch.Waiting + c.scratch.Idle - c.Times.Waiting - c.Times.Idle
	e.Helped = c.helped(e)
	if e.Gain > 0 {
		c.bounds(c.Base, c.scratch, c.after)
		e.Next = best(c.after, k)
	}
	if c.arrival != nil {
		c.scratch = c.ReplayByArrival(c.Base, c.scratch)
		e.Gain = max(0, c.arrival.Span-c.scratch.Span)
		e.Waiting, e.Helped = 0, 0 // of tasks that change hands the waiting is not followed
	}
	c.remove(k, c.Base, -1)
}

func best(bound []int64, but int32) int32 {
	next := trace.None
	for j := range bound {
		if int32(j) != but && bound[j] > 0 && (next < 0 || bound[j] > bound[next]) {
			next = int32(j)
		}
	}
	return next
}

// sort orders by gain, then by waiting removed, then by amount, what is not worth
// a line last, and renumbers.
func (c *Causes) sort() {
	order := make([]int32, len(c.Entries))
	for k := range order {
		order[k] = int32(k)
	}
	slices.SortStableFunc(order, func(x, y int32) int {
		a, b := &c.Entries[x], &c.Entries[y]
		return cmp.Or(compareBool(c.worthListing(b), c.worthListing(a)), cmp.Compare(b.Gain, a.Gain), cmp.Compare(a.Waiting, b.Waiting), cmp.Compare(b.Sum, a.Sum), cmp.Compare(a.Call, b.Call))
	})
	to := make([]int32, len(order))
	sorted := make([]Entry, len(order))
	for k, old := range order {
		sorted[k] = c.Entries[old]
		to[old] = int32(k)
	}
	c.Entries = sorted
	for k := range c.entry {
		if c.entry[k] >= 0 {
			c.entry[k] = to[c.entry[k]]
		}
	}
	for k := range c.Entries {
		if n := c.Entries[k].Next; n >= 0 {
			c.Entries[k].Next = to[n]
		}
		renumber(c.Entries[k].After, to)
	}
	for k := range c.Then {
		renumber(c.Then[k].Remove, to)
		if n := c.Then[k].Next; n >= 0 {
			c.Then[k].Next = to[n]
		}
	}
}

func renumber(entries, to []int32) {
	for k, old := range entries {
		entries[k] = to[old]
	}
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// rounds removes the best entry, then the best of what is left, and so on.
func (c *Causes) rounds(ctx context.Context) error {
	const most = 4
	if len(c.Entries) == 0 || c.Entries[0].Gain <= 0 || c.Len() > longTrace {
		return nil
	}
	w := c.Base
	bound := make([]int64, len(c.Entries))
	var removed []int32
	defer func() {
		for _, k := range removed {
			c.remove(k, w, -1)
		}
	}()
	next := int32(0)
	t := (*Times)(nil)
	for range most {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.remove(next, w, 1)
		before := c.Times.Span
		if t != nil {
			before = t.Span
		}
		t = c.Replay(w, t)
		if e := &c.Entries[next]; !c.worthListing(e) && before-t.Span > 2*e.Gain {
			e.After = slices.Clone(removed)
		}
		removed = append(removed, next)
		c.Replays++
		round := Round{Remove: slices.Clone(removed), Span: t.Span, Waiting: t.Waiting + t.Idle, Next: trace.None}
		c.bounds(w, t, bound)
		for _, k := range removed {
			bound[k] = 0
		}
		round.Next = c.bestLeft(w, t.Span, bound)
		c.Then = append(c.Then, round)
		if round.Next < 0 {
			break
		}
		next = round.Next
	}
	return nil
}

// bestLeft returns the entry that gains most in a changed run, None if nothing
// gains half a percent of the recorded one. Entries are tried in the order of
// their bounds until no other can be better.
func (c *Causes) bestLeft(w *Weights, span int64, bound []int64) int32 {
	next, gain := trace.None, c.Times.Span/worth
	for range min(6, c.budget()/2) {
		k := best(bound, trace.None)
		if k < 0 || bound[k] <= gain {
			break
		}
		c.remove(k, w, 1)
		c.scratch = c.Replay(w, c.scratch)
		c.remove(k, w, -1)
		c.Replays++
		if g := span - c.scratch.Span; g > gain {
			next, gain = k, g
		}
		bound[k] = 0
	}
	return next
}

// worth is the share of the run time, as a divisor, from which on a gain is
// worth a line.
const worth = 200

// helped counts the lines without a part in an entry that wait noticeably less
// in the replay without it: by a hundredth of its largest amount.
func (c *Causes) helped(e *Entry) int {
	least := max(1, c.elements[e.elements[0]].amount/100)
	n := 0
	for p := range c.scratch.Wait {
		if c.Times.Wait[p]-c.scratch.Wait[p] >= least {
			if _, own := slices.BinarySearch(e.Lines, int32(p)); !own || len(e.Lines) > 1 {
				n++
			}
		}
	}
	return n
}
