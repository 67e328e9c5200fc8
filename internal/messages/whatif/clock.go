package whatif

import (
	"context"
	"fmt"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/messages/trace"
)

// Clocks says how well the clocks of the processes agree.
type Clocks struct {
	Checked    int   `json:"checked"`    // messages and collectives between processes
	Violations int   `json:"violations"` // that end before what they wait for
	Largest    int64 `json:"largest_ns"` // by how much at most
	Repaired   bool  `json:"repaired"`
	Moved      int64 `json:"moved_ns"` // the largest change of a time by the repair
}

// text says it in words.
func (c Clocks) text() string {
	switch {
	case c.Checked == 0:
		return "nothing tells whether the clocks agree"
	case c.Violations == 0:
		return "no message arrives before it is sent: the clocks agree as far as can be told"
	}
	text := fmt.Sprintf("%d of %d messages and collectives end before what they wait for, by up to %s: the clocks differ", c.Violations, c.Checked, term.Duration(c.Largest))
	if c.Repaired {
		return text + fmt.Sprintf("; times were moved by up to %s to fit (controlled logical clock)", term.Duration(c.Moved))
	}
	return text + ", and lateness below that is not to be trusted"
}

// Clocks counts the dependencies that contradict their times.
func (g *Graph) Clocks() Clocks {
	var c Clocks
	for i := range int32(g.Len()) {
		for d := g.First[i]; d < g.First[i+1]; d++ {
			if !g.certain(g.Deps.Kind[d]) {
				continue
			}
			c.Checked++
			if early := g.causeTime(g.Deps.Cause[d]) - g.Exit[i]; early > 0 {
				c.Violations++
				c.Largest = max(c.Largest, g.Trace.NS(early))
			}
		}
	}
	return c
}

// certain tells whether MPI itself demands a dependency.
func (g *Graph) certain(k Kind) bool {
	return k == Message || k == Full || k == Rooted || k == NonBlocking || k == Signal
}

// keptRate is how fast a clock runs at least while a correction fades: 99 in 100.
const keptRate = 100

// RepairClocks gives times that no message contradicts: the forward part of the
// controlled logical clock of Rabenseifner. An exit that lies before its cause is
// moved to it; what follows on the process moves along, and the correction fades
// while the clock runs a little slower. The call that is moved takes longer, so
// that nothing before it changes.
func (g *Graph) RepairClocks() (enter, exit []int64) {
	n := g.Len()
	enter, exit = make([]int64, n), make([]int64, n)
	node := make([]int64, len(g.Prev))
	fade := func(moved, passed int64) int64 { return max(0, moved-passed/keptRate) }
	for p := range g.Begin {
		if i := g.Start[p]; i < g.Start[p+1] {
			enter[i] = g.Enter[i]
		}
	}
	times := &Times{Enter: enter, node: node}
	for _, v := range g.order {
		if int(v) >= n {
			node[int(v)-n] = g.replayNode(v-int32(n), times)
			continue
		}
		x := g.Exit[v] + fade(enter[v]-g.Enter[v], g.Exit[v]-g.Enter[v])
		for d := g.First[v]; d < g.First[v+1]; d++ {
			if !g.certain(g.Deps.Kind[d]) {
				continue
			}
			if c := g.Deps.Cause[d]; c >= 0 {
				x = max(x, enter[c])
			} else {
				x = max(x, node[^c])
			}
		}
		exit[v] = x
		if next := v + 1; next < g.Start[g.Line[v]+1] {
			enter[next] = g.Enter[next] + fade(x-g.Exit[v], g.Enter[next]-g.Exit[v])
		}
	}
	return enter, exit
}

// Repaired builds the graph of a trace whose clocks are repaired if messages
// contradict them, and returns the trace that it is of.
func Repaired(ctx context.Context, t *trace.Trace) (*Graph, Clocks, error) {
	g, err := Build(ctx, t)
	if err != nil {
		return nil, Clocks{}, err
	}
	c := g.Clocks()
	if c.Violations == 0 {
		return g, c, nil
	}
	enter, exit := g.RepairClocks()
	for i := range enter {
		c.Moved = max(c.Moved, t.NS(enter[i]-g.Enter[i]), t.NS(exit[i]-g.Exit[i]))
	}
	c.Repaired = true
	g, err = Build(ctx, t.Retimed(enter, exit))
	return g, c, err
}
