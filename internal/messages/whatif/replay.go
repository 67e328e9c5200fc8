package whatif

import "slices"

// Weights are the durations of a scenario: the computation before each call, its
// own time, the lag of each dependency, and for each line when it begins and what
// follows its last call.
type Weights struct {
	Comp, Own, Lag, Begin, Tail []int64
}

// Recorded returns the weights of the recording, to be changed.
func (g *Graph) Recorded() *Weights {
	w := &Weights{Comp: make([]int64, g.Len()), Own: slices.Clone(g.Own), Lag: slices.Clone(g.Deps.Lag), Begin: slices.Clone(g.Begin), Tail: slices.Clone(g.Tail)}
	for i := range w.Comp {
		w.Comp[i] = g.Computation(int32(i))
	}
	return w
}

// Clone copies the weights.
func (w *Weights) Clone() *Weights {
	return &Weights{slices.Clone(w.Comp), slices.Clone(w.Own), slices.Clone(w.Lag), slices.Clone(w.Begin), slices.Clone(w.Tail)}
}

// Times are the results of a replay.
type Times struct {
	Begin       []int64 // of each line
	Enter, Exit []int64
	node        []int64
	End         []int64 // of each line
	Span        int64
	Waiting     int64   // of all lines in calls
	Wait        []int64 // of each line
	Idle        int64   // of all lines after their end
}

// Replay returns when calls would begin and end. The result of an earlier replay
// may be given to be used again.
func (g *Graph) Replay(w *Weights, t *Times) *Times {
	n := g.Len()
	if t == nil || len(t.Enter) != n {
		t = &Times{Enter: make([]int64, n), Exit: make([]int64, n), node: make([]int64, len(g.Prev)), End: make([]int64, g.Lines()), Wait: make([]int64, g.Lines())}
	}
	t.Begin = append(t.Begin[:0], w.Begin...)
	for p := range g.Begin {
		t.End[p] = w.Begin[p] + w.Tail[p]
		if i := g.Start[p]; i < g.Start[p+1] {
			t.Enter[i] = w.Begin[p] + w.Comp[i]
		}
	}
	clear(t.Wait)
	enter, exit, node := t.Enter, t.Exit, t.node
	for _, v := range g.order {
		if int(v) >= n {
			node[int(v)-n] = g.replayNode(v-int32(n), t)
			continue
		}
		x := enter[v] + w.Own[v]
		alone := x
		for d := g.First[v]; d < g.First[v+1]; d++ {
			var at int64
			if c := g.Deps.Cause[d]; c >= 0 {
				at = enter[c]
			} else {
				at = node[^c]
			}
			if at += w.Lag[d]; at > x {
				x = at
			}
		}
		exit[v] = x
		line := g.Line[v]
		t.Wait[line] += x - alone
		if next := v + 1; next < g.Start[line+1] {
			enter[next] = x + w.Comp[next]
		} else {
			t.End[line] = x + w.Tail[line]
		}
	}
	t.finish(g.First0)
	return t
}

func (g *Graph) replayNode(v int32, t *Times) int64 {
	last := int64(-1 << 62)
	if p := g.Prev[v]; p >= 0 {
		last = t.node[p]
	}
	for _, m := range g.Member[g.NodeStart[v]:g.NodeStart[v+1]] {
		last = max(last, t.Enter[m])
	}
	return last
}

func (t *Times) finish(begin int64) {
	last := begin
	for _, e := range t.End {
		last = max(last, e)
	}
	t.Span, t.Idle, t.Waiting = last-begin, 0, 0
	for p, e := range t.End {
		t.Idle += last - e
		t.Waiting += t.Wait[p]
	}
}
