package whatif

import (
	"context"
	"fmt"
	"math"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/messages/trace"
)

// Clocks says how well the clocks of the processes agree.
type Clocks struct {
	Checked    int   `json:"checked"`    // messages and collectives between processes
	Violations int   `json:"violations"` // that end before what they wait for
	Largest    int64 `json:"largest_ns"` // by how much at most
	// Within is by how much no clock can differ from those it exchanges messages
	// with unseen: one that differs by more ends a message before its beginning.
	// Unchecked processes have no messages in one of the two directions.
	Within    int64 `json:"within_ns"`
	Unchecked int   `json:"unchecked"`
	Repaired  bool  `json:"repaired"`
	Moved     int64 `json:"moved_ns"` // the largest change of a time by the repair
}

// text says it in words.
func (c Clocks) text() string {
	switch {
	case c.Checked == 0:
		return "nothing tells whether the clocks agree"
	case c.Violations == 0 && c.Within == 0:
		return "no message arrives before it is sent, but no process has partners both ways that tell how well the clocks agree"
	case c.Violations == 0:
		text := fmt.Sprintf("no message arrives before it is sent: a clock that differs by more than %s would show", microseconds(c.Within))
		if c.Unchecked > 0 {
			text += fmt.Sprintf(" (not %s that only send or only receive)", term.Counted(c.Unchecked, "process"))
		}
		return text
	}
	text := fmt.Sprintf("%d of %d messages and collectives end before what they wait for, by up to %s: the clocks differ", c.Violations, c.Checked, term.Duration(c.Largest))
	if c.Repaired {
		return text + fmt.Sprintf("; times were moved by up to %s to fit (controlled logical clock)", term.Duration(c.Moved))
	}
	return text + ", and lateness below that is not to be trusted"
}

// microseconds writes a difference of clocks, which is compared with the latency
// of messages.
func microseconds(ns int64) string { return fmt.Sprintf("%.1f µs", float64(ns)/1e3) }

// unbounded is the margin of a direction without messages.
const unbounded = math.MaxInt64

// Clocks counts the dependencies that contradict their times, and finds how much
// a clock could be wrong without contradicting one: if it is slow, a call of its
// process ends before what it waits for; if it is fast, its process begins later
// what another has waited for.
func (g *Graph) Clocks() Clocks {
	var c Clocks
	m := g.newMargins()
	for i := range int32(g.Len()) {
		for d := g.First[i]; d < g.First[i+1]; d++ {
			if !g.certain(g.Deps.Kind[d]) {
				continue
			}
			c.Checked++
			cause := g.Deps.Cause[d]
			if early := m.at(cause) - g.Exit[i]; early > 0 {
				c.Violations++
				c.Largest = max(c.Largest, g.Trace.NS(early))
			}
			m.add(i, cause)
		}
	}
	if c.Violations == 0 {
		c.Within, c.Unchecked = m.widest()
	}
	return c
}

// margins are by how much the clock of each line could be slow or fast.
type margins struct {
	*Graph
	slow, fast []int64
	last       []twoLatest // of the enters of each node
	first      []twoLatest // of the exits that wait for each node, negative
}

// twoLatest are the latest time, and the latest of another line.
type twoLatest struct {
	at   [2]int64
	line [2]int32
}

var noneLatest = twoLatest{[2]int64{math.MinInt64, math.MinInt64}, [2]int32{trace.None, trace.None}}

func (t *twoLatest) add(at int64, line int32) {
	switch {
	case line == t.line[0]:
		t.at[0] = max(t.at[0], at)
	case at > t.at[0]:
		t.at[1], t.line[1] = t.at[0], t.line[0]
		t.at[0], t.line[0] = at, line
	case at > t.at[1]:
		t.at[1], t.line[1] = at, line
	}
}

// without is the latest time of other lines; false if there is none.
func (t *twoLatest) without(line int32) (int64, bool) {
	k := 0
	if line == t.line[0] {
		k = 1
	}
	return t.at[k], t.line[k] >= 0
}

func (g *Graph) newMargins() *margins {
	m := &margins{Graph: g, slow: make([]int64, g.Lines()), fast: make([]int64, g.Lines()), last: make([]twoLatest, len(g.Prev)), first: make([]twoLatest, len(g.Prev))}
	for p := range m.slow {
		m.slow[p], m.fast[p] = unbounded, unbounded
	}
	for n, prev := range g.Prev { // a node comes after the one before it
		m.last[n], m.first[n] = noneLatest, noneLatest
		if prev >= 0 {
			m.last[n] = m.last[prev]
		}
		for _, k := range g.Member[g.NodeStart[n]:g.NodeStart[n+1]] {
			m.last[n].add(g.Enter[k], g.Line[k])
		}
	}
	return m
}

// at is when a cause was there.
func (m *margins) at(cause int32) int64 {
	if cause >= 0 {
		return m.Enter[cause]
	}
	return m.last[^cause].at[0]
}

// add notes that a call has waited for a cause.
func (m *margins) add(call, cause int32) {
	line := m.Line[call]
	if cause < 0 {
		if at, ok := m.last[^cause].without(line); ok {
			m.slow[line] = min(m.slow[line], m.Exit[call]-at)
		}
		m.first[^cause].add(-m.Exit[call], line)
		return
	}
	if from := m.Line[cause]; from != line {
		margin := m.Exit[call] - m.Enter[cause]
		m.slow[line], m.fast[from] = min(m.slow[line], margin), min(m.fast[from], margin)
	}
}

// widest is the most that any clock could be wrong, and of how many lines only
// one direction is known.
func (m *margins) widest() (ns int64, oneWay int) {
	for n := len(m.Prev) - 1; n >= 0; n-- {
		for _, k := range m.Member[m.NodeStart[n]:m.NodeStart[n+1]] {
			if at, ok := m.first[n].without(m.Line[k]); ok {
				m.fast[m.Line[k]] = min(m.fast[m.Line[k]], -at-m.Enter[k])
			}
		}
		if prev := m.Prev[n]; prev >= 0 { // who waits for this one waits for that too
			for k, line := range m.first[n].line {
				if line >= 0 {
					m.first[prev].add(m.first[n].at[k], line)
				}
			}
		}
	}
	for p := range m.slow {
		switch most := max(m.slow[p], m.fast[p]); {
		case most < unbounded:
			ns = max(ns, m.Trace.NS(most))
		case min(m.slow[p], m.fast[p]) < unbounded:
			oneWay++
		}
	}
	return ns, oneWay
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

// RepairedTrace returns a trace whose clocks are repaired if messages contradict
// them, for those who need no graph: finding out takes a part of what that takes.
func RepairedTrace(ctx context.Context, t *trace.Trace) (*trace.Trace, error) {
	contradicted := newBuilder(t).contradicted()
	t.Release()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !contradicted {
		return t, nil
	}
	g, _, err := Repaired(ctx, t)
	if err != nil {
		return nil, err
	}
	return g.Trace, nil
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
	g, err = Build(ctx, t.Retimed(nil, enter, exit))
	return g, c, err
}
