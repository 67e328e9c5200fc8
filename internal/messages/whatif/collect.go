package whatif

import (
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/messages/trace"
)

// builder holds what only the making of a graph needs.
type builder struct {
	*Graph
	of     []int32 // call of each dependency found so far
	cause  []int32
	kind   []Kind
	bytes  []int64
	load   []int32 // per call: how many sends and receives it completes
	talk   *partnerIndex
	synced []bool // calls that a node explains
	added  bool   // dependencies were inferred

	check *clockCheck // dependencies are compared with the clocks and not kept; nil: they are kept
}

// clockCheck finds out whether a dependency contradicts the times of its ends.
type clockCheck struct {
	latest       []int64 // enter of each node and those before it
	contradicted bool
}

// contradicted tells whether Clocks would find a violation, without keeping the
// dependencies: those of a large trace are more than the trace.
func (b *builder) contradicted() bool {
	b.check = &clockCheck{}
	b.synced = make([]bool, b.Len())
	b.messages()
	b.signals()
	b.collectives()
	b.async()
	b.nameless()
	return b.check.contradicted
}

// collect finds every dependency that records name, and those that follow from
// their order.
func (b *builder) collect() {
	n := len(b.Trace.Recvs.Op) + len(b.Trace.Colls.Member) + len(b.Trace.Async.Begin)
	b.of, b.cause = make([]int32, 0, n), make([]int32, 0, n)
	b.kind, b.bytes = make([]Kind, 0, n), make([]int64, 0, n)
	b.NodeStart = []int32{0}
	b.load = make([]int32, b.Len())
	b.synced = make([]bool, b.Len())
	b.Bytes = make([]int64, b.Len())
	b.messages()
	b.sizes()
	b.signals()
	b.collectives()
	b.async()
	b.nameless()
	b.probes()
	b.rendezvous()
	for _, p := range b.Trace.Calls.Polls {
		if p > 1 {
			b.Inferred.Polls++
		}
	}
	b.settle()
}

// depend notes that the exit of a call needs a cause.
func (b *builder) depend(call, cause int32, kind Kind, bytes int64) {
	if cause == call {
		return
	}
	if c := b.check; c != nil {
		at := int64(0)
		if cause >= 0 {
			at = b.Enter[cause]
		} else {
			at = c.latest[^cause]
		}
		c.contradicted = c.contradicted || b.certain(kind) && at > b.Exit[call]
		return
	}
	b.of, b.cause = append(b.of, call), append(b.cause, cause)
	b.kind, b.bytes = append(b.kind, kind), append(b.bytes, bytes)
}

// settle brings the dependencies into the order of their calls.
func (b *builder) settle() {
	b.First = make([]int32, b.Len()+1)
	for _, c := range b.of {
		b.First[c+1]++
	}
	for i := range b.Len() {
		b.First[i+1] += b.First[i]
	}
	m := len(b.of)
	b.Deps = Deps{Cause: make([]int32, m), Kind: make([]Kind, m), Lag: make([]int64, m), Usual: make([]int64, m), Bytes: make([]int64, m)}
	next := slices.Clone(b.First)
	for k, c := range b.of {
		d := next[c]
		next[c]++
		b.Deps.Cause[d], b.Deps.Kind[d], b.Deps.Bytes[d] = b.cause[k], b.kind[k], b.bytes[k]
	}
	b.of, b.cause, b.kind, b.bytes = nil, nil, nil, nil
}

func (b *builder) node(members []int32, prev int32) int32 {
	if c := b.check; c != nil {
		at := b.latest(members)
		if prev >= 0 {
			at = max(at, c.latest[prev])
		}
		c.latest = append(c.latest, at)
		return int32(len(c.latest) - 1)
	}
	b.Member = append(b.Member, members...)
	b.NodeStart = append(b.NodeStart, int32(len(b.Member)))
	b.Prev = append(b.Prev, prev)
	return int32(len(b.Prev) - 1)
}

func (b *builder) messages() {
	t := b.Trace
	for r, m := range t.Recvs.Match {
		if t.Signal(t.Recvs.Comm[r]) {
			continue
		}
		if m >= 0 {
			b.depend(t.Ops.Call[t.Recvs.Op[r]], t.Ops.Call[t.Sends.Op[m]], Message, t.Recvs.Bytes[r])
		}
	}
}

// sizes counts what calls complete, and the bytes they move.
func (b *builder) sizes() {
	t := b.Trace
	for r, op := range t.Recvs.Op {
		if !t.Signal(t.Recvs.Comm[r]) {
			b.load[t.Ops.Call[op]]++
			b.Bytes[t.Ops.Call[op]] += t.Recvs.Bytes[r]
		}
	}
	for s, op := range t.Sends.Op {
		if t.Signal(t.Sends.Comm[s]) {
			continue
		}
		b.Bytes[t.Ops.Call[op]] += t.Sends.Bytes[s]
		if done := b.doneCall(int32(s)); done >= 0 {
			b.load[done]++
		}
	}
}

// doneCall is the call in which a send completes: itself if it blocks.
func (b *builder) doneCall(s int32) int32 {
	t := b.Trace
	if w := t.Sends.Wait[s]; w >= 0 {
		return t.Waits.Call[w]
	}
	op := t.Sends.Op[s]
	if t.Ops.Flags[op]&trace.Blocks != 0 {
		return t.Ops.Call[op]
	}
	return trace.None
}

func (b *builder) collectives() {
	t := b.Trace
	c := &t.Colls
	var calls []int32
	for id := range c.Comm {
		members := c.Member[c.Start[id]:c.Start[id+1]]
		calls = calls[:0]
		for _, op := range members {
			calls = append(calls, t.Ops.Call[op])
			b.synced[t.Ops.Call[op]] = true
		}
		if c.Code[id] == trace.CodeFile && b.leftEarly(calls) {
			continue
		}
		if strings.HasPrefix(t.Regions[t.Calls.Region[calls[0]]].Name, "MPI_Win_") {
			b.Inferred.Fences++
		}
		b.instance(c.Code[id], b.rootIn(c.Comm[id], c.Root[id], calls), calls, calls, b.ranksOf(c.Code[id], c.Comm[id], calls), Full, Rooted)
	}
}

// leftEarly tells whether a member left before another came: MPI lets collectives
// on files do so.
func (b *builder) leftEarly(calls []int32) bool {
	first, last := int64(1)<<62, int64(-1)<<62
	for _, c := range calls {
		first, last = min(first, b.Exit[c]), max(last, b.Enter[c])
	}
	return first < last
}

// rootIn returns the position of the root among the members, or None.
func (b *builder) rootIn(comm, root int32, calls []int32) int {
	ranks := b.Trace.Comms[comm].Ranks
	if root < 0 || int(root) >= len(ranks) {
		return -1
	}
	for k, c := range calls {
		if b.Trace.Procs[b.Line[c]].Home == ranks[root] {
			return k
		}
	}
	return -1
}

// ranksOf orders the members of a scan by their rank.
func (b *builder) ranksOf(code uint8, comm int32, calls []int32) []int {
	if code != trace.CodeScan && code != trace.CodeExscan {
		return nil
	}
	at := map[int32]int{}
	for r, home := range b.Trace.Comms[comm].Ranks {
		at[home] = r
	}
	order := make([]int, len(calls))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(x, y int) int {
		return at[b.Trace.Procs[b.Line[calls[x]]].Home] - at[b.Trace.Procs[b.Line[calls[y]]].Home]
	})
	return order
}

// instance adds the dependencies of one collective: begin are the calls in which
// members take part, done those that wait for it (None if never).
func (b *builder) instance(code uint8, root int, begin, done []int32, byRank []int, all, rooted Kind) {
	wait := func(k int, cause int32, kind Kind) {
		if done[k] >= 0 {
			b.depend(done[k], cause, kind, 0)
		}
	}
	switch code {
	case trace.CodeScan, trace.CodeExscan:
		prev := trace.None
		for _, k := range byRank {
			prev = b.node(begin[k:k+1], prev)
			wait(k, ^prev, rooted)
		}
	case trace.CodeBcast, trace.CodeScatter, trace.CodeScatterv:
		if root < 0 {
			return
		}
		for k := range begin {
			if k != root {
				wait(k, begin[root], rooted)
			}
		}
	case trace.CodeGather, trace.CodeGatherv, trace.CodeReduce:
		if root >= 0 {
			wait(root, ^b.node(begin, trace.None), rooted)
		}
	default:
		n := b.node(begin, trace.None)
		for k := range begin {
			wait(k, ^n, all)
		}
	}
}

func (b *builder) async() {
	t := b.Trace
	a := &t.Async
	var begin, done []int32
	for id := range a.Comm {
		begin, done = begin[:0], done[:0]
		for row := a.Start[id]; row < a.Start[id+1]; row++ {
			begin = append(begin, t.Ops.Call[a.Begin[row]])
			d := trace.None
			if a.Done[row] >= 0 {
				d = t.Ops.Call[a.Done[row]]
			}
			done = append(done, d)
		}
		b.instance(a.Code[id], b.rootIn(a.Comm[id], a.Root[id], begin), begin, done, b.ranksOf(a.Code[id], a.Comm[id], begin), NonBlocking, NonBlocking)
	}
}

// namelessCalls are collectives of which some tracers record nothing but the
// time; those of files only where no trace record tells of them.
func isNameless(name string) bool {
	n := strings.ToLower(strings.TrimPrefix(name, "MPI_"))
	for _, p := range []string{"comm_split", "comm_dup", "comm_create", "comm_free", "comm_disconnect", "cart_create", "cart_sub", "graph_create", "dist_graph_create", "intercomm_", "win_create", "win_allocate", "win_free", "win_fence",
		"file_open", "file_close", "file_set_view", "file_set_size", "file_sync", "finalize"} {
		if strings.HasPrefix(n, p) {
			return n != "win_create_keyval"
		}
	}
	return strings.HasPrefix(n, "file_") && (strings.HasSuffix(n, "_all") || strings.HasSuffix(n, "_all_end") || strings.HasSuffix(n, "_ordered"))
}

// nameless finds collectives without records: the k-th call of a name on every
// line, if all have the same number and none leaves before the last has come.
func (b *builder) nameless() {
	t := b.Trace
	byRegion := map[int32][][]int32{} // region to the calls of each line
	wanted := make([]bool, len(t.Regions))
	any := false
	for r := range t.Regions {
		wanted[r] = isNameless(t.Regions[r].Name)
		any = any || wanted[r]
	}
	if !any {
		return
	}
	for i, r := range t.Calls.Region {
		if !wanted[r] || b.synced[i] {
			continue
		}
		if byRegion[r] == nil {
			byRegion[r] = make([][]int32, b.Lines())
		}
		byRegion[r][b.Line[i]] = append(byRegion[r][b.Line[i]], int32(i))
	}
	regions := make([]int32, 0, len(byRegion))
	for r := range byRegion {
		regions = append(regions, r)
	}
	slices.Sort(regions)
	for _, r := range regions {
		b.namelessOf(byRegion[r])
	}
}

func (b *builder) namelessOf(lines [][]int32) {
	n := -1
	for p, calls := range lines {
		if b.Trace.Procs[p].Home != int32(p) && len(calls) == 0 {
			continue // a thread that leaves this to the first
		}
		if n >= 0 && len(calls) != n || len(calls) == 0 {
			return
		}
		n = len(calls)
	}
	var members []int32
	for k := range max(n, 0) {
		members = members[:0]
		for _, calls := range lines {
			if len(calls) > 0 {
				members = append(members, calls[k])
			}
		}
		if len(members) < 2 || b.leftEarly(members) {
			continue
		}
		node := b.node(members, trace.None)
		for _, c := range members {
			b.synced[c] = true
			b.depend(c, ^node, Full, 0)
		}
		b.Inferred.Communicators++
	}
}

// probes depend on the send of the message that the line receives next.
func (b *builder) probes() {
	t := b.Trace
	probe := make([]bool, len(t.Regions))
	for r := range t.Regions {
		switch strings.ToLower(t.Regions[r].Name) {
		case "mpi_probe", "mpi_mprobe", "mpi_iprobe", "mpi_improbe":
			probe[r] = true
		}
	}
	for p := range t.Procs {
		op := t.Ops.Start[p]
		for i := b.Start[p]; i < b.Start[p+1]; i++ {
			if !probe[t.Calls.Region[i]] {
				continue
			}
			for op < t.Ops.Start[p+1] && (t.Ops.Call[op] <= i || t.Ops.Kind[op] != trace.Recv || t.Ops.N[op] == 0) {
				op++
			}
			if op == t.Ops.Start[p+1] {
				break
			}
			s := t.Recvs.Match[t.Ops.Ref[op]]
			if s < 0 {
				continue
			}
			if from := t.Ops.Call[t.Sends.Op[s]]; b.Enter[from] <= b.Exit[i] {
				b.depend(i, from, Probe, t.Sends.Bytes[s])
				b.Inferred.Probe++
			}
		}
	}
}

// evidence is how far apart, in ns, two times must be to tell that one did not
// wait for the other.
const evidence = 50_000

// rendezvous finds from which size on sends wait for their receive: the largest
// that did not, and the smallest above it that did.
func (b *builder) rendezvous() {
	t := b.Trace
	gap := t.Ticks(evidence)
	var waited []int64
	eager := int64(-1)
	b.eachSend(func(s, send, done, post int32) {
		bytes := t.Sends.Bytes[s]
		at := b.Enter[post]
		switch {
		case b.Exit[done]+gap < at:
			eager = max(eager, bytes)
		case b.Enter[send]+gap < at && at <= b.Exit[done] && b.load[done] == 1:
			waited = append(waited, bytes)
		}
	})
	b.Eager = eager
	for _, bytes := range waited {
		if bytes > eager && (b.Rendez < 0 || bytes < b.Rendez) {
			b.Rendez = bytes
		}
	}
	synchronous := make([]bool, len(t.Regions))
	for r := range t.Regions {
		name := strings.ToLower(t.Regions[r].Name)
		synchronous[r] = strings.HasPrefix(name, "mpi_ssend") || strings.HasPrefix(name, "mpi_issend")
	}
	b.eachSend(func(s, send, done, post int32) {
		if b.Rendez >= 0 && t.Sends.Bytes[s] >= b.Rendez || synchronous[t.Calls.Region[send]] {
			b.depend(done, post, Rendezvous, t.Sends.Bytes[s])
			b.Inferred.Rendezvous++
		}
	})
}

// eachSend visits the matched sends with the calls they begin and complete in
// and the call that posted their receive.
func (b *builder) eachSend(visit func(s, send, done, post int32)) {
	t := b.Trace
	for s, m := range t.Sends.Match {
		if m < 0 || t.Signal(t.Sends.Comm[s]) {
			continue
		}
		if done := b.doneCall(int32(s)); done >= 0 {
			visit(int32(s), t.Ops.Call[t.Sends.Op[s]], done, t.Recvs.Post[m])
		}
	}
}
