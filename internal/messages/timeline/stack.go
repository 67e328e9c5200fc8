package timeline

import (
	"cmp"
	"context"
	"slices"

	"github.com/isobath/isobath/internal/messages/trace"
)

// Stack is call stacks, one rectangle a region: Depth 0 is the outermost. Where
// regions are narrower than a pixel, neighbours at the same depth are joined
// and have the region of the longest.
type Stack struct {
	Line, Depth []uint32
	Region      []uint16
	Enter, Exit []float64
	Levels      int // depths in the window
}

// Limits of stacks: more lines than these have no room for nested regions, and
// more regions than maxStacked are not kept between pictures.
const (
	MaxStackLines = 256
	maxStacked    = 8 << 20
)

// stackOf returns the regions of the lines in a window of time; nil if there are
// more lines than can show them.
func (t *Timeline) stackOf(ctx context.Context, lines []Line, w Window) (*Stack, error) {
	if len(lines) > MaxStackLines {
		return nil, nil
	}
	stacks, err := t.stacksOf(ctx, lines)
	if err != nil {
		return nil, err
	}
	from, to := t.tick(w.From), t.tick(w.To)
	pixel := max(1, (to-from)/int64(w.Columns))
	for {
		out := &Stack{}
		for y, s := range stacks {
			t.nest(out, uint32(y), s, from, to, pixel)
		}
		if len(out.Line) <= MaxOps {
			return out, ctx.Err()
		}
		pixel *= 2
	}
}

// nest adds the regions of a process, from the outermost on.
func (t *Timeline) nest(out *Stack, line uint32, s *trace.Stack, from, to, pixel int64) {
	type open struct {
		region      int32
		longest     int64
		enter, exit int64
		any         bool
	}
	joined := make([]open, s.Deepest+1)
	put := func(depth int32, o *open) {
		if !o.any {
			return
		}
		out.Line, out.Depth = append(out.Line, line), append(out.Depth, uint32(depth))
		out.Region = append(out.Region, uint16(min(o.region, 1<<16-1)))
		out.Enter, out.Exit = append(out.Enter, t.ns(o.enter)), append(out.Exit, t.ns(o.exit))
		out.Levels = max(out.Levels, int(depth)+1)
		o.any = false
	}
	for i := range s.Region {
		a, b, d := s.Enter[i], s.Exit[i], s.Depth[i]
		if b < from || a >= to {
			continue
		}
		o := &joined[d]
		// A wide region stands alone; narrow ones join what ended within a pixel.
		if o.any && (b-a >= pixel || o.exit-o.enter >= pixel && o.longest == o.exit-o.enter || a-o.exit >= pixel) {
			put(d, o)
		}
		if !o.any {
			*o = open{s.Region[i], b - a, a, b, true}
			continue
		}
		o.exit = b
		if b-a > o.longest {
			o.region, o.longest = s.Region[i], b-a
		}
	}
	for d := range joined {
		put(int32(d), &joined[d])
	}
}

// stacksOf returns the stacks of lines, read once.
func (t *Timeline) stacksOf(ctx context.Context, lines []Line) ([]*trace.Stack, error) {
	t.stacking.Lock()
	defer t.stacking.Unlock()
	var missing []int32
	key := func(l Line) int32 {
		if l.Thread > 0 {
			return int32(len(t.S.Trace.Procs) + l.Thread - 1)
		}
		return l.Process
	}
	for _, l := range lines {
		if t.stacks[key(l)] == nil {
			missing = append(missing, key(l))
		}
	}
	got, err := t.S.Trace.Stacks(ctx, missing)
	if err != nil {
		return nil, err
	}
	out := make([]*trace.Stack, len(lines))
	for i, p := range missing {
		t.stacks[p] = got[i]
	}
	kept := 0
	for i, l := range lines {
		out[i] = t.stacks[key(l)]
	}
	for _, s := range t.stacks {
		kept += len(s.Region)
	}
	if kept > maxStacked {
		clear(t.stacks)
	}
	return out, nil
}

// Functions returns how long each function of the program ran by itself between
// two times, on all processes, the most time first: calls of MPI are none of them.
// It returns nil where there are more processes than stacks are kept of.
func (t *Timeline) Functions(ctx context.Context, from, to int64) ([]trace.RegionTotal, error) {
	tr := t.S.Trace
	if len(tr.Procs) > MaxStackLines {
		return nil, nil
	}
	lines := make([]Line, len(tr.Procs))
	for p := range lines {
		lines[p].Row = t.row(int32(p))
	}
	stacks, err := t.stacksOf(ctx, lines)
	if err != nil {
		return nil, err
	}
	totals := make([]trace.RegionTotal, len(tr.Regions))
	for _, s := range stacks {
		addOwn(totals, s, from, to)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	for i := range totals {
		totals[i].Region = int32(i)
	}
	totals = slices.DeleteFunc(totals, func(r trace.RegionTotal) bool { return r.Calls == 0 || tr.Regions[r.Region].MPI })
	slices.SortStableFunc(totals, func(a, b trace.RegionTotal) int { return cmp.Compare(b.Excl, a.Excl) })
	return totals, nil
}

// addOwn adds the time that regions of a stack ran in a window, without the
// regions they entered.
func addOwn(totals []trace.RegionTotal, s *trace.Stack, from, to int64) {
	around := make([]int32, s.Deepest+1) // region by depth
	for i, region := range s.Region {
		around[s.Depth[i]] = region
		a, b := s.Enter[i], s.Exit[i]
		if b < from || a >= to {
			continue
		}
		d := max(0, min(b, to)-max(a, from))
		totals[region].Calls++
		totals[region].Excl += d
		if s.Depth[i] > 0 {
			totals[around[s.Depth[i]-1]].Excl -= d
		}
	}
}
