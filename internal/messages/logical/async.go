package logical

import "github.com/isobath/isobath/internal/messages/trace"

// asyncNodes ties the starts of non-blocking collectives to their completions
// through one node per instance, because start-completion pairs would grow
// with the square of the processes. A node stands for "all that this
// completion has to wait for".
type asyncNodes struct {
	t      *trace.Async
	begins map[int32][]int32 // operation to rows that start in it
	dones  map[int32][]int32 // operation to rows that complete in it
	into   []int32           // row to the node its start feeds, or None
	from   []int32           // row to the node its completion waits for, or None
	prev   []int32           // node to the node before it in a scan, or None
	next   []int32
	rows   [][]int32 // node to the rows that wait for it
	feeds  [][]int32 // node to the rows that feed it

	byLate, byGlobal []int32 // node to its latest start, by either metric
}

// newAsyncNodes returns nil for a trace without non-blocking collectives.
func newAsyncNodes(s *Structure) *asyncNodes {
	t := &s.Trace.Async
	if len(t.Comm) == 0 {
		return nil
	}
	a := &asyncNodes{t: t, begins: map[int32][]int32{}, dones: map[int32][]int32{},
		into: make([]int32, len(t.Begin)), from: make([]int32, len(t.Begin))}
	for row := range t.Begin {
		op := s.of[t.Begin[row]]
		a.begins[op] = append(a.begins[op], int32(row))
		if t.Done[row] >= 0 {
			op := s.of[t.Done[row]]
			a.dones[op] = append(a.dones[op], int32(row))
		}
		a.into[row], a.from[row] = trace.None, trace.None
	}
	for i := range t.Comm {
		a.addInstance(int32(i))
	}
	return a
}

func (a *asyncNodes) node(prev int32) int32 {
	v := int32(len(a.rows))
	a.rows, a.feeds = append(a.rows, nil), append(a.feeds, nil)
	a.prev, a.next = append(a.prev, prev), append(a.next, trace.None)
	if prev >= 0 {
		a.next[prev] = v
	}
	return v
}

func (a *asyncNodes) feed(row, v int32) {
	a.into[row] = v
	a.feeds[v] = append(a.feeds[v], row)
}

func (a *asyncNodes) wait(row, v int32) {
	a.from[row] = v
	a.rows[v] = append(a.rows[v], row)
}

func (a *asyncNodes) addInstance(i int32) {
	t := a.t
	from, to, root := t.Start[i], t.Start[i+1], t.Root[i]
	switch t.Code[i] {
	case trace.CodeScan, trace.CodeExscan:
		order := sortRows(from, to, t.Rank)
		v := trace.None
		for _, row := range order {
			v = a.node(v)
			a.feed(row, v)
			a.wait(row, v)
		}
	case trace.CodeBcast, trace.CodeScatter, trace.CodeScatterv:
		v := a.node(trace.None)
		for row := from; row < to; row++ {
			if t.Rank[row] == root {
				a.feed(row, v)
			} else {
				a.wait(row, v)
			}
		}
	case trace.CodeGather, trace.CodeGatherv, trace.CodeReduce:
		v := a.node(trace.None)
		for row := from; row < to; row++ {
			a.feed(row, v)
			if t.Rank[row] == root {
				a.wait(row, v)
			}
		}
	default:
		v := a.node(trace.None)
		for row := from; row < to; row++ {
			a.feed(row, v)
			a.wait(row, v)
		}
	}
}

// count returns the number of nodes; a may be nil, as in all methods below.
func (a *asyncNodes) count() int {
	if a == nil {
		return 0
	}
	return len(a.rows)
}

// fed visits the nodes that the starts in an operation feed.
func (a *asyncNodes) fed(op int32, visit func(v int32)) {
	if a == nil {
		return
	}
	for _, row := range a.begins[op] {
		if v := a.into[row]; v >= 0 {
			visit(v)
		}
	}
}

// awaited visits the nodes that the completions in an operation wait for; of
// a scan that is the own rank's node and all before it.
func (a *asyncNodes) awaited(op int32, visit func(v int32)) {
	if a == nil {
		return
	}
	for _, row := range a.dones[op] {
		for v := a.from[row]; v >= 0; v = a.prev[v] {
			visit(v)
		}
	}
}

// latest returns for each node the start with the largest value of col.
func (a *asyncNodes) latest(s *Structure, col []int64) []int32 {
	if a == nil {
		return nil
	}
	best := make([]int32, len(a.rows))
	for v := range best {
		best[v] = trace.None
	}
	for row, v := range a.into {
		if v < 0 {
			continue
		}
		op := s.of[a.t.Begin[row]]
		if best[v] < 0 || col[op] > col[best[v]] {
			best[v] = op
		}
	}
	return best
}

// senders visits the latest start of each node an operation waits for.
func (a *asyncNodes) senders(op int32, visit func(int32)) {
	a.awaited(op, func(v int32) {
		if u := a.byGlobal[v]; u >= 0 {
			visit(u)
		}
	})
}

func sortRows(from, to int32, key []int32) []int32 {
	rows := make([]int32, 0, to-from)
	for r := from; r < to; r++ {
		rows = append(rows, r)
	}
	sortBy(rows, func(r int32) int64 { return int64(key[r]) })
	return rows
}
