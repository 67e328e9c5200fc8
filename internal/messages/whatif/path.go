package whatif

import "github.com/isobath/isobath/internal/messages/trace"

// EdgeKind is what a stretch of the longest path is.
type EdgeKind uint8

// The kinds of edges.
const (
	Compute EdgeKind = iota // the computation before call Index
	OwnTime                 // the own time of call Index
	Lag                     // dependency Index
	TailEnd                 // what follows the last call of line Index
	Start                   // the beginning of line Index
)

// Edge is a stretch of the longest path.
type Edge struct {
	Kind  EdgeKind
	Index int32
	Call  int32 // that the edge belongs to, None for the ends of a line
}

// LongestPath returns the path that sets the end of a replayed run, from its
// beginning on.
func (g *Graph) LongestPath(w *Weights, t *Times, path []Edge) []Edge {
	path = path[:0]
	last := int32(0)
	for p := range t.End {
		if t.End[p] > t.End[last] {
			last = int32(p)
		}
	}
	if len(t.End) == 0 {
		return path
	}
	path = append(path, Edge{TailEnd, last, trace.None})
	at := g.Start[last+1] - 1 // at the exit of this call
	for at >= g.Start[g.lineOf(at, last)] {
		edge, enter := g.setBy(at, w, t)
		path = append(path, edge)
		path = append(path, Edge{Compute, enter, enter})
		last = g.Line[enter]
		at = enter - 1
		if enter == g.Start[last] {
			break
		}
	}
	path = append(path, Edge{Start, last, trace.None})
	for i, j := 0, len(path)-1; i < j; i, j = i+1, j-1 {
		path[i], path[j] = path[j], path[i]
	}
	return path
}

// lineOf is the line of a call, or of the line itself if it has none.
func (g *Graph) lineOf(call, line int32) int32 {
	if call < g.Start[line] {
		return line
	}
	return g.Line[call]
}

// setBy returns what set the exit of a call, and the call whose enter it came
// from.
func (g *Graph) setBy(i int32, w *Weights, t *Times) (Edge, int32) {
	for d := g.First[i]; d < g.First[i+1]; d++ {
		c := g.Deps.Cause[d]
		if c >= 0 {
			if t.Enter[c]+w.Lag[d] == t.Exit[i] {
				return Edge{Lag, d, i}, c
			}
			continue
		}
		if t.node[^c]+w.Lag[d] == t.Exit[i] {
			return Edge{Lag, d, i}, g.lastOf(^c, t)
		}
	}
	return Edge{OwnTime, i, i}, i
}

// lastOf returns the member that set the time of a node.
func (g *Graph) lastOf(n int32, t *Times) int32 {
	for at := t.node[n]; ; n = g.Prev[n] {
		for _, m := range g.Member[g.NodeStart[n]:g.NodeStart[n+1]] {
			if t.Enter[m] == at {
				return m
			}
		}
	}
}
