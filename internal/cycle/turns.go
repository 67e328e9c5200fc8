package cycle

import (
	"maps"
	"math"
	"slices"
)

// count fills in windings and turns, and turns the class so that they are
// positive.
func (a *analysis) count(c *Class, coef []int64, ret *returns) {
	anchor := ret.anchor()
	c.Anchor, c.Marker = uint32(anchor), uint32(anchor)
	c.Winding = along(coef, ret.closed[anchor])
	at, ok := ret.once(coef, c.Lift)
	if ok {
		c.Exact, c.Marker, c.Turns = true, uint32(at), int64(ret.visits[at])
	}
	if c.Lift < 0 && (ok || c.Winding <= 0) || c.Winding < 0 {
		c.flip()
		for i := range coef {
			coef[i] = -coef[i]
		}
	}
	for _, k := range ret.kinds[c.Marker] {
		if along(coef, k.winding) != 0 {
			c.TurnAt, c.TurnLength = int(k.at), int(k.length)
			break
		}
	}
	if !ok {
		c.Turns = max(c.Winding, int64(math.Round(c.Lift)))
		return
	}
	c.Turns = a.executions(c)
}

// executions corrects the visits of the marker by what the window length does
// at the ends of a loop. A window that spans the way back is seen once less
// than the body runs, and one that fits into the loop's test once more. The
// instructions that run once in a turn know better. Their counts differ by the
// same ends: the test of a loop runs once more than its body. It stands above
// the body, so when the highest count is found above the next lower one, that
// is the number of turns. Counts that differ by more than the ends can
// explain mean another thing and are left alone: a class may count the ways
// back of an inner loop, which are one per entry less than its turns.
func (a *analysis) executions(c *Class) int64 {
	visits := c.Turns
	if a.Trace.Where == nil || c.TurnLength == 0 {
		return visits
	}
	slack := int64(1 + (a.Points.Window-1)/c.TurnLength)
	spans := map[int64]*siteSpan{}
	for _, s := range a.oncePerTurn(c) {
		n := int64(a.siteCount[s])
		if n < visits-slack || n > visits+slack {
			continue
		}
		if spans[n] == nil {
			spans[n] = &siteSpan{first: math.MaxInt}
		}
		spans[n].add(a.Trace.Sites[s].Place.Line)
	}
	counts := slices.Sorted(maps.Keys(spans))
	slices.Reverse(counts)
	switch {
	case len(counts) == 0:
		return visits
	case len(counts) == 1:
		return counts[0]
	}
	head, body := spans[counts[0]], spans[counts[1]]
	switch {
	case head.first == body.first && head.last == body.last:
		// One line, or none known: a loop has more body than test.
		if body.sites >= head.sites {
			return counts[1]
		}
	case head.first <= body.first && head.last < body.last && (head.first == head.last || head.sites <= body.sites):
		return counts[1]
	}
	return counts[0]
}

// siteSpan is the source lines that some sites lie on, and how many they are.
type siteSpan struct{ first, last, sites int }

func (s *siteSpan) add(line int) {
	s.first, s.last, s.sites = min(s.first, line), max(s.last, line), s.sites+1
}

// oncePerTurn lists the sites of the turn's own function that the turn passes
// once. Functions that it calls may be called from elsewhere as well.
func (a *analysis) oncePerTurn(c *Class) []uint32 {
	where := a.Trace.Where
	if a.siteCount == nil {
		a.siteCount = make([]uint64, len(a.Trace.Sites))
		eachExecution(where, func(s uint32) { a.siteCount[s]++ })
	}
	home, _ := a.Trace.span(c.TurnAt, c.TurnLength)
	times := map[uint32]int{}
	eachExecution(where[c.TurnAt:c.TurnAt+c.TurnLength], func(s uint32) {
		if p := a.Trace.Sites[s].Place; p.Function == home.Function && p.File == home.File {
			times[s]++
		}
	})
	var out []uint32
	for s, n := range times {
		if n == 1 {
			out = append(out, s)
		}
	}
	return out
}

// eachExecution calls visit once for each run of equal sites: the load and the
// store of one instruction are one execution.
func eachExecution(where []uint32, visit func(site uint32)) {
	for i, s := range where {
		if i == 0 || s != where[i-1] {
			visit(s)
		}
	}
}
