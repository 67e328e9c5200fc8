package whatif

import (
	"fmt"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/messages/logical"
)

// noWay is the length of a way that does not exist.
const noWay = -1 << 61

// tails are the longest ways to the end of the run: from the enter of each call,
// and from each node.
func (g *Graph) tails(w *Weights) (enter, node []int64) {
	n := g.Len()
	enter, node = make([]int64, n), make([]int64, len(g.Prev))
	for i := range enter {
		enter[i] = noWay
	}
	for i := range node {
		node[i] = noWay
	}
	for k := len(g.order) - 1; k >= 0; k-- {
		v := g.order[k]
		if int(v) >= n {
			at := v - int32(n)
			for _, m := range g.Member[g.NodeStart[at]:g.NodeStart[at+1]] {
				enter[m] = max(enter[m], node[at])
			}
			if p := g.Prev[at]; p >= 0 {
				node[p] = max(node[p], node[at])
			}
			continue
		}
		tail := g.exitTail(v, w, enter)
		enter[v] = max(enter[v], tail+w.Own[v])
		for d := g.First[v]; d < g.First[v+1]; d++ {
			if c := g.Deps.Cause[d]; c >= 0 {
				enter[c] = max(enter[c], tail+w.Lag[d])
			} else {
				node[^c] = max(node[^c], tail+w.Lag[d])
			}
		}
	}
	return enter, node
}

// exitTail is the longest way from the exit of a call to the end.
func (g *Graph) exitTail(v int32, w *Weights, enter []int64) int64 {
	if next := v + 1; next < g.Start[g.Line[v]+1] {
		return w.Comp[next] + enter[next]
	}
	return w.Tail[g.Line[v]]
}

// Slack returns for each call how much later the computation before it could end
// before the recorded run takes longer. It is nil where tasks may change hands:
// there a longer one is not the only thing that changes.
func (g *Graph) Slack() []int64 { return g.slack(g.Recorded()) }

func (g *Graph) slack(recorded *Weights) []int64 {
	if len(g.hubs) > 0 {
		return nil
	}
	slack, _ := g.tails(recorded)
	end := g.First0
	for p := range int32(g.Lines()) {
		end = max(end, g.lineEnd(p))
	}
	for i, tail := range slack {
		slack[i] = end - g.Enter[i] - tail
	}
	return slack
}

// ReportSlack is how tight a run is: how much later computations could end
// without delaying it, each alone.
type ReportSlack struct {
	Computations int     `json:"computations"`
	None         int     `json:"none"` // on the critical path: any delay of them delays the run
	Median       int64   `json:"median_ns"`
	Near         float64 `json:"near"`    // share of the time in computation with less slack than
	NearNS       int64   `json:"near_ns"` // a hundredth of the run
	Text         string  `json:"text"`
}

// slackReport sums up the slack of the computations of a run; nil if it is
// unknown or there are none.
func (c *Causes) slackReport() *ReportSlack {
	if c.slack == nil {
		return nil
	}
	const near = 100
	r := &ReportSlack{NearNS: c.Trace.NS(c.Times.Span / near)}
	known := make([]int64, 0, len(c.slack))
	sum, tight := int64(0), int64(0)
	for i, slack := range c.slack {
		took := c.Base.Comp[i]
		if took <= 0 {
			continue
		}
		known = append(known, slack)
		sum += took
		if slack <= 0 {
			r.None++
		}
		if slack < c.Times.Span/near {
			tight += took
		}
	}
	if len(known) == 0 {
		return nil
	}
	r.Computations, r.Near = len(known), float64(tight)/float64(sum)
	r.Median = c.Trace.NS(quantile(known, 0.5))
	r.Text = fmt.Sprintf("half of the computations could each end ≈ %s later or more without delaying the run; %d of %d could not end any later; %.0f %% of the time in computation has less than ≈ %s of slack",
		term.Duration(r.Median), r.None, r.Computations, 100*r.Near, term.Duration(r.NearNS))
	return r
}

// SlackColumn is the slack of operations as a column of their list.
func (g *Graph) SlackColumn(s *logical.Structure) logical.OpColumn {
	slack := g.Slack()
	return logical.OpColumn{Name: "slack", Of: func(op int32) (int64, bool) {
		if slack == nil {
			return 0, false
		}
		return g.Trace.NS(slack[s.CallOf(op)]), true
	}}
}
