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
	c.TurnAt, c.TurnLength = ret.turn(int(c.Marker), coef)
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
	spans := map[int64]*siteSpan{}
	for _, s := range a.counting(visits, c.TurnAt, c.TurnLength) {
		n := int64(a.siteCount[s])
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

// counting lists the sites that run once in a turn, and in all as often as a
// window is visited, up to what the ends of the loop explain. Only the turn's
// own function counts: those it calls may be called from elsewhere as well.
func (a *analysis) counting(visits int64, at, length int) []uint32 {
	where := a.Trace.Where
	if where == nil || length == 0 {
		return nil
	}
	if a.siteCount == nil {
		a.siteCount = make([]uint64, len(a.Trace.Sites))
		for from, part := range a.Trace.files.parts(where) {
			if from > 0 && where[from-1] == part[0] {
				a.siteCount[part[0]]-- // it goes on
			}
			eachExecution(part, func(s uint32) { a.siteCount[s]++ })
		}
	}
	home, _ := a.Trace.span(at, length)
	times := map[uint32]int{}
	eachExecution(where[at:at+length], func(s uint32) {
		if p := a.Trace.Sites[s].Place; p.Function == home.Function && p.File == home.File {
			times[s]++
		}
	})
	slack := int64(1 + (a.Points.Window-1)/length)
	var out []uint32
	for s, n := range times {
		if d := int64(a.siteCount[s]) - visits; n == 1 && -slack <= d && d <= slack {
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
