package logical

import (
	"fmt"
	"slices"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/messages/trace"
)

// union is a union-find over operations or partitions.
type union struct {
	parent []int32
	size   []int32
	sets   int
}

func newUnion(n int) *union {
	u := &union{parent: make([]int32, n), size: make([]int32, n), sets: n}
	for i := range u.parent {
		u.parent[i], u.size[i] = int32(i), 1
	}
	return u
}

func (u *union) find(i int32) int32 {
	for u.parent[i] != i {
		u.parent[i] = u.parent[u.parent[i]]
		i = u.parent[i]
	}
	return i
}

// join merges two sets and reports whether they were apart.
func (u *union) join(a, b int32) bool {
	a, b = u.find(a), u.find(b)
	if a == b {
		return false
	}
	if u.size[a] < u.size[b] {
		a, b = b, a
	}
	u.parent[b] = a
	u.size[a] += u.size[b]
	u.sets--
	return true
}

// mergeMessages joins the two ends of every message and the members of every
// collective: a partition may not tear them apart.
func (s *Structure) mergeMessages(set *union) {
	t := s.Trace
	for i, m := range t.Sends.Match {
		if m >= 0 {
			set.join(s.of[t.Sends.Op[i]], s.of[t.Recvs.Op[m]])
		}
	}
	for i := range t.Colls.Comm {
		members := t.Colls.Member[t.Colls.Start[i]:t.Colls.Start[i+1]]
		for _, m := range members[1:] {
			set.join(s.of[members[0]], s.of[m])
		}
	}
	a := &t.Async
	for i := range a.Comm {
		first := s.of[a.Begin[a.Start[i]]]
		for k := a.Start[i]; k < a.Start[i+1]; k++ {
			set.join(first, s.of[a.Begin[k]])
			if a.Done[k] >= 0 {
				set.join(first, s.of[a.Done[k]])
			}
		}
	}
}

// mergeWaits joins the sends that complete in one call with each other and
// with what the call itself receives. The call matters for open chains: a rank
// that receives from its left and sends to its right in one Waitall would
// otherwise be ordered backwards.
func (s *Structure) mergeWaits(set *union) {
	t := s.Trace
	if !s.Options.Waitall || len(t.Waits.Op) == 0 {
		return
	}
	first := make([]int32, len(t.Waits.Op))
	for w, op := range t.Waits.Op {
		first[w] = trace.None
		if op >= 0 {
			first[w] = s.of[op]
		}
	}
	for i, w := range t.Sends.Wait {
		if w < 0 {
			continue
		}
		op := s.of[t.Sends.Op[i]]
		if first[w] < 0 {
			first[w] = op
		} else {
			set.join(first[w], op)
		}
	}
}

// mergeCalls joins consecutive operations of a process that have the same
// nearest calling function, among functions that communicate more than once.
// The outermost frame and any that holds more than half of a process's
// operations are left out: they would swallow the whole program.
func (s *Structure) mergeCalls(set *union) {
	if !s.Options.Calls {
		return
	}
	near := s.callers()
	merged := 0
	for i := 1; i < s.Len(); i++ {
		if s.Proc[i] != s.Proc[i-1] {
			continue
		}
		a, b := s.caller(near, int32(i-1)), s.caller(near, int32(i))
		if a >= 0 && a == b && set.join(int32(i-1), int32(i)) {
			merged++
		}
	}
	s.Notes = append(s.Notes, fmt.Sprintf("merged %d times along the call tree", merged))
}

func (s *Structure) caller(near []int32, op int32) int32 {
	f := s.Trace.Ops.Frame[s.First[op]]
	if f < 0 {
		return trace.None
	}
	return near[f]
}

// callers returns for each frame the nearest frame at or above it whose
// function holds several communication calls in some instance.
func (s *Structure) callers() []int32 {
	t := s.Trace
	f := &t.Frames
	calls := make([]int32, len(f.Region)) // a collective counts twice: it has two sides
	ops := make([]int32, len(f.Region))
	total := make([]int32, len(f.Region))
	for i, frame := range t.Ops.Frame {
		if frame < 0 {
			continue
		}
		ops[frame]++
		calls[frame]++
		if t.Ops.Kind[i] == trace.Collective {
			calls[frame]++
		}
	}
	for i := len(f.Region) - 1; i >= 0; i-- { // children before parents
		if p := f.Parent[i]; p >= 0 {
			calls[p] += calls[i]
			ops[p] += ops[i]
		}
	}
	most := make([]int32, len(t.Regions))
	for i, r := range f.Region {
		most[r] = max(most[r], calls[i])
		total[i] = ops[i]
		if p := f.Parent[i]; p >= 0 {
			total[i] = total[p] // operations of the outermost frame
		}
	}
	near := make([]int32, len(f.Region))
	for i, r := range f.Region {
		p := f.Parent[i]
		switch {
		case p < 0:
			near[i] = trace.None
		case most[r] > 1 && 2*ops[i] <= total[i]:
			near[i] = int32(i)
		default:
			near[i] = near[p]
		}
	}
	return near
}

// mergePhases replaces the partitions by the phases the user gave. A phase
// number is the count of beginnings a process has passed; numbers are raised
// along the partition graph so that they never fall along a process.
func (s *Structure) mergePhases() {
	g := s.graph()
	phase := make([]int32, g.n)
	for p := range s.Trace.Procs {
		marks := []int64(nil)
		if p < len(s.Options.Phases) {
			marks = s.Options.Phases[p]
		}
		k := int32(0)
		for i := s.Start[p]; i < s.Start[p+1]; i++ {
			for int(k) < len(marks) && marks[k] <= s.Enter[i] {
				k++
			}
			phase[s.Part[i]] = max(phase[s.Part[i]], k)
		}
	}
	// contract numbers partitions so that edges go upwards.
	for q := range int32(g.n) {
		for _, r := range g.out(q) {
			phase[r] = max(phase[r], phase[q])
		}
	}
	set := newUnion(g.n)
	byPhase := map[int32]int32{}
	for q, k := range phase {
		if first, ok := byPhase[k]; ok {
			set.join(first, int32(q))
		} else {
			byPhase[k] = int32(q)
		}
	}
	s.recontract(set)
}

// mergeAcross merges partitions whose steps overlap. Steps do not change;
// lateness in a partition then compares everything at a step.
func (s *Structure) mergeAcross() {
	p := &s.Parts
	n := p.Count()
	group := make([]int32, n)
	count, last := int32(0), int32(-1)
	// Partitions are numbered by first step, so one sweep is enough.
	for q := range n {
		if q > 0 && p.First[q] > last {
			count++
		}
		group[q] = count
		last = max(last, p.First[q]+p.Len[q]-1)
	}
	for i, q := range s.Part {
		s.Part[i] = group[q]
	}
	merged := n - int(count) - 1
	if n > 0 && merged > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("merged %s that %s global steps", term.Counted(merged, "partition"), term.Agree(merged, "shares", "share")))
	}
	s.collectRuns(int(count) + min(n, 1))
	s.spanParts()
}

// contract makes partitions of the sets and merges those that precede each
// other both ways, until the partitions form an acyclic graph.
func (s *Structure) contract(set *union) {
	n := s.Len()
	s.Part = make([]int32, n)
	id := make([]int32, n)
	for i := range id {
		id[i] = trace.None
	}
	count := int32(0)
	for i := range int32(n) {
		r := set.find(i)
		if id[r] < 0 {
			id[r] = count
			count++
		}
		s.Part[i] = id[r]
	}
	s.number(int(count))
}

// recontract does the same with sets of partitions.
func (s *Structure) recontract(set *union) {
	for i, q := range s.Part {
		s.Part[i] = set.find(q)
	}
	s.number(len(set.parent))
}

// number merges the strongly connected components of the partition graph and
// gives partitions numbers such that every edge goes upwards. Afterwards the
// operations of a partition on a process are consecutive: A B A would be a
// cycle.
func (s *Structure) number(n int) {
	g := newGraph(s.Start, s.Part, n)
	comp, count := g.components()
	used := make([]bool, count)
	for i, q := range s.Part {
		s.Part[i] = comp[q]
		used[comp[q]] = true
	}
	// Sets that lost all their operations leave gaps.
	dense := make([]int32, count)
	k := int32(0)
	for c, u := range used {
		dense[c] = k
		if u {
			k++
		}
	}
	for i, c := range s.Part {
		s.Part[i] = dense[c]
	}
	s.collectRuns(int(k))
}

// collectRuns lists the stretches of each of n partitions by process.
func (s *Structure) collectRuns(n int) {
	p := &s.Parts
	p.Start = make([]int32, n+1)
	var runs []Run
	for proc := range s.Trace.Procs {
		for i := s.Start[proc]; i < s.Start[proc+1]; {
			j := i + 1
			for j < s.Start[proc+1] && s.Part[j] == s.Part[i] {
				j++
			}
			runs = append(runs, Run{int32(proc), i, j})
			p.Start[s.Part[i]+1]++
			i = j
		}
	}
	for q := range n {
		p.Start[q+1] += p.Start[q]
	}
	next := slices.Clone(p.Start)
	p.Run = make([]Run, len(runs))
	p.Ops = make([]int32, n)
	for _, r := range runs {
		q := s.Part[r.From]
		p.Run[next[q]] = r
		next[q]++
		p.Ops[q] += r.To - r.From
	}
}
