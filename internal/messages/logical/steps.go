package logical

import (
	"cmp"
	"context"
	"slices"

	"github.com/isobath/isobath/internal/messages/trace"
)

// sortBy sorts rows by a key, keeping the order of equal ones.
func sortBy(rows []int32, key func(int32) int64) {
	slices.SortStableFunc(rows, func(a, b int32) int { return cmp.Compare(key(a), key(b)) })
}

// assignSteps gives every operation its step: first inside its partition,
// then shifted behind all partitions that precede it.
func (s *Structure) assignSteps(ctx context.Context) error {
	n := s.Len()
	s.order = make([]int32, n)
	for i := range s.order {
		s.order[i] = int32(i)
	}
	s.place = s.order
	s.async = newAsyncNodes(s)
	s.Step = make([]int32, n)
	if err := s.localSteps(ctx); err != nil {
		return err
	}
	if s.Options.Reorder {
		s.reorder()
		if err := s.localSteps(ctx); err != nil {
			return err
		}
	}
	s.globalSteps()
	return nil
}

// localSteps computes the steps inside each partition.
func (s *Structure) localSteps(ctx context.Context) error {
	w := &stepper{Structure: s, stride: s.strides(), raised: make([]int32, s.async.count())}
	for v := range w.raised {
		w.raised[v] = -1
	}
	n := len(s.Parts.Start) - 1
	s.Parts.Len = make([]int32, n)
	for q := range int32(n) {
		if q&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		s.Parts.Len[q] = w.partition(q)
	}
	return nil
}

// node returns what stands for an operation in the stride graph: a collective
// is one node, its first member.
func (s *Structure) node(op int32) int32 {
	if m := s.Collective(op); m != nil {
		return s.of[m[0]]
	}
	return op
}

// strides returns for each send and collective its longest distance from the
// start of the partition, counting sends and collectives only: receives have
// no say in it, since their order is often an accident.
func (s *Structure) strides() []int32 {
	n, nodes := s.Len(), s.async.count()
	next := s.nextSends()
	g := &strideGraph{Structure: s, next: next}
	open := make([]int32, n+nodes) // edges into a node that are not yet done
	stride := make([]int32, n+nodes)
	var queue []int32
	each := func(visit func(u int32)) {
		for u := range int32(n) {
			if s.Kind[u] != trace.Recv && s.node(u) == u {
				visit(u)
			}
		}
		for v := range int32(nodes) {
			visit(int32(n) + v)
		}
	}
	each(func(u int32) { g.edges(u, func(v, _ int32) { open[v]++ }) })
	each(func(u int32) {
		if open[u] == 0 {
			queue = append(queue, u)
		}
	})
	done := 0
	for len(queue) > 0 {
		u := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		done++
		g.edges(u, func(v, weight int32) {
			stride[v] = max(stride[v], stride[u]+weight)
			open[v]--
			if open[v] == 0 {
				queue = append(queue, v)
			}
		})
	}
	left := -done
	each(func(int32) { left++ })
	if left > 0 {
		s.Cyclic = left
	}
	return stride[:n]
}

// nextSends returns for each operation the first send or collective after it
// on its process inside its partition, or None.
func (s *Structure) nextSends() []int32 {
	next := make([]int32, s.Len())
	for p := range s.Trace.Procs {
		after, part := trace.None, trace.None
		for i := s.Start[p+1] - 1; i >= s.Start[p]; i-- {
			op := s.order[i]
			if s.Part[op] != part {
				after, part = trace.None, s.Part[op]
			}
			next[op] = after
			if s.Kind[op] != trace.Recv {
				after = op
			}
		}
	}
	return next
}

type strideGraph struct {
	*Structure
	next []int32
}

// edges visits the nodes that follow node u, with the strides they are apart.
func (g *strideGraph) edges(u int32, visit func(v, weight int32)) {
	n := int32(g.Len())
	follow := func(op int32) {
		if v := g.next[op]; v >= 0 {
			visit(g.node(v), 1)
		}
	}
	if u >= n { // a node of a non-blocking collective
		for _, row := range g.async.rows[u-n] {
			if done := g.async.t.Done[row]; done >= 0 {
				follow(g.of[done])
			}
		}
		if v := g.async.next[u-n]; v >= 0 {
			visit(n+v, 0)
		}
		return
	}
	if m := g.Collective(u); m != nil {
		for _, op := range m {
			follow(g.of[op])
		}
		return
	}
	follow(u)
	from, to := g.sends(u)
	for i := from; i < to; i++ {
		if r := g.receiver(i); r >= 0 {
			follow(r)
		}
	}
	g.async.fed(u, func(v int32) { visit(n+v, 0) })
}

// stepper assigns steps partition by partition.
type stepper struct {
	*Structure
	stride []int32
	raised []int32 // node of a non-blocking collective: latest step of its starts
	count  []int32 // scratch: operations per stride
	byTurn []int32 // scratch: sends and collectives by stride
}

// partition assigns the steps of partition q, from 0, and returns how many it
// has. Sends and collectives of a stride share a step; receives stand as early
// as their senders and their process allow.
func (w *stepper) partition(q int32) int32 {
	w.sortByStride(q)
	cur := int32(-1)
	for k := 0; k+1 < len(w.count); k++ {
		turn := w.byTurn[w.count[k]:w.count[k+1]]
		for _, op := range turn {
			cur = max(cur, w.receivesBefore(op))
		}
		cur++
		for _, op := range turn {
			w.Step[op] = cur
			w.async.fed(op, func(v int32) { w.raised[v] = max(w.raised[v], cur) })
		}
	}
	last := cur
	for _, r := range w.Parts.Runs(q) {
		i := r.To
		for i > r.From && w.Kind[w.order[i-1]] == trace.Recv {
			i--
		}
		for ; i < r.To; i++ {
			last = max(last, w.receive(i, r.From))
		}
	}
	return last + 1
}

// sortByStride fills byTurn with the sends and collectives of q, and count
// with the bounds of the strides in it.
func (w *stepper) sortByStride(q int32) {
	top := int32(-1)
	for _, r := range w.Parts.Runs(q) {
		for i := r.From; i < r.To; i++ {
			if op := w.order[i]; w.Kind[op] != trace.Recv {
				top = max(top, w.stride[w.node(op)])
			}
		}
	}
	w.count = append(w.count[:0], make([]int32, top+2)...)
	total := int32(0)
	for _, r := range w.Parts.Runs(q) {
		for i := r.From; i < r.To; i++ {
			if op := w.order[i]; w.Kind[op] != trace.Recv {
				w.count[w.stride[w.node(op)]+1]++
				total++
			}
		}
	}
	for k := range top + 1 {
		w.count[k+1] += w.count[k]
	}
	if int(total) > len(w.byTurn) {
		w.byTurn = make([]int32, total)
	}
	next := slices.Clone(w.count)
	for _, r := range w.Parts.Runs(q) {
		for i := r.From; i < r.To; i++ {
			if op := w.order[i]; w.Kind[op] != trace.Recv {
				k := w.stride[w.node(op)]
				w.byTurn[next[k]] = op
				next[k]++
			}
		}
	}
}

// receivesBefore assigns the block of receives directly before op and returns
// the last of their steps, or -1.
func (w *stepper) receivesBefore(op int32) int32 {
	at := w.place[op]
	first := w.Start[w.Proc[op]]
	from := at
	for from > first && w.Part[w.order[from-1]] == w.Part[op] && w.Kind[w.order[from-1]] == trace.Recv {
		from--
	}
	last := int32(-1)
	for i := from; i < at; i++ {
		last = max(last, w.receive(i, first))
	}
	return last
}

// receive assigns the step of the receive at position i: right after its
// process's operation before it in the partition and after all its senders.
func (w *stepper) receive(i, first int32) int32 {
	op := w.order[i]
	step := int32(0)
	if i > first && w.Part[w.order[i-1]] == w.Part[op] {
		step = w.Step[w.order[i-1]] + 1
	}
	from, to := w.recvs(op)
	for r := from; r < to; r++ {
		if u := w.sender(r); u >= 0 {
			step = max(step, w.Step[u]+1)
		}
	}
	w.async.awaited(op, func(v int32) { step = max(step, w.raised[v]+1) })
	w.Step[op] = step
	return step
}

// globalSteps shifts each partition behind those that precede it, and numbers
// partitions by their first step.
func (s *Structure) globalSteps() {
	g := s.graph()
	first := make([]int32, g.n)
	for q := range int32(g.n) { // edges go upwards
		for _, r := range g.out(q) {
			first[r] = max(first[r], first[q]+s.Parts.Len[q])
		}
	}
	for i, q := range s.Part {
		s.Step[i] += first[q]
	}
	s.Parts.First = first
	s.renumber()
	s.spanParts()
}

// renumber sorts partitions by first step and then by their first process.
func (s *Structure) renumber() {
	p := &s.Parts
	n := len(p.First)
	ids := make([]int32, n)
	for q := range ids {
		ids[q] = int32(q)
	}
	slices.SortFunc(ids, func(a, b int32) int {
		return cmp.Or(cmp.Compare(p.First[a], p.First[b]), cmp.Compare(p.Run[p.Start[a]].From, p.Run[p.Start[b]].From))
	})
	to := make([]int32, n)
	for k, q := range ids {
		to[q] = int32(k)
	}
	for i, q := range s.Part {
		s.Part[i] = to[q]
	}
	s.collectRuns(n)
}

// spanParts sets first step and length of each partition from its operations,
// and the number of steps.
func (s *Structure) spanParts() {
	p := &s.Parts
	n := len(p.Start) - 1
	p.First, p.Len = make([]int32, n), make([]int32, n)
	s.Steps = 0
	for q := range int32(n) {
		lo, hi := int32(1<<30), int32(-1)
		for _, r := range p.Runs(q) {
			for i := r.From; i < r.To; i++ {
				lo, hi = min(lo, s.Step[i]), max(hi, s.Step[i])
			}
		}
		p.First[q], p.Len[q] = lo, hi-lo+1
		s.Steps = max(s.Steps, int(hi)+1)
	}
}
