package cycle

import (
	"math"
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
// instructions of a turn know better: most of them run once per turn, so the
// count that most of them share is the number of turns. Counts that differ by
// more than the ends can explain mean another thing and are left alone: a class
// may count the ways back of an inner loop, one per entry less than its turns.
func (a *analysis) executions(c *Class) int64 {
	visits := c.Turns
	where := a.Trace.Where
	if where == nil || c.TurnLength == 0 {
		return visits
	}
	if a.siteCount == nil {
		a.siteCount = make([]uint64, len(a.Trace.Sites))
		for _, s := range where {
			a.siteCount[s]++
		}
	}
	turn := where[c.TurnAt : c.TurnAt+c.TurnLength]
	perTurn := map[uint32]int{}
	for _, s := range turn {
		perTurn[s]++
	}
	slack := int64(1 + (a.Points.Window-1)/c.TurnLength)
	votes := map[int64]int{}
	for s, n := range perTurn {
		count := int64(a.siteCount[s])
		if n == 1 && count >= visits-slack && count <= visits+slack {
			votes[count]++
		}
	}
	best, most := visits, 0
	for count, n := range votes {
		if n > most || n == most && (distance(count, visits) < distance(best, visits) ||
			distance(count, visits) == distance(best, visits) && count < best) {
			best, most = count, n
		}
	}
	return best
}

func distance(a, b int64) int64 { return max(a-b, b-a) }
