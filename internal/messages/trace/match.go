package trace

import (
	"fmt"
	"slices"
)

// resolveComms replaces home rows by process numbers: in the peers of message
// ends, and as the rank lists of the communicators.
func (t *Trace) resolveComms(n *names, h *homes) {
	for _, e := range []*Ends{&t.Sends, &t.Recvs} {
		for i, row := range e.Peer {
			if row >= 0 {
				e.Peer[i] = h.proc[row]
			}
		}
	}
	ranks := n.perGroup(func(ids []uint64) []int32 {
		rows := h.rows(ids)
		for k, row := range rows {
			if row >= 0 {
				rows[k] = h.proc[row]
			}
		}
		return rows
	})
	for i := range t.Comms {
		t.Comms[i].Ranks = ranks[i]
	}
}

// channel is what MPI orders messages by.
type channel struct {
	comm, from, to int32
	tag            uint32
}

// matchMessages pairs the i-th send of a channel with the i-th receive, where
// receives count in the order they were posted: MPI's rule that messages do
// not overtake. Lengths are no part of it; a receive may be shorter than its
// buffer.
func (t *Trace) matchMessages(posts []int32) {
	ids := map[channel]int32{}
	var count []int32
	sendID := make([]int32, len(t.Sends.Op))
	t.eachHome(&t.Sends, nil, func(row, home int32) {
		sendID[row] = None
		if t.Sends.Match[row] == cancelled || t.Sends.Peer[row] < 0 {
			return
		}
		key := channel{t.Sends.Comm[row], home, t.Sends.Peer[row], t.Sends.Tag[row]}
		id, ok := ids[key]
		if !ok {
			id = int32(len(count))
			ids[key] = id
			count = append(count, 0)
		}
		sendID[row] = id
		count[id]++
	})
	start := make([]int32, len(count)+1)
	for i, n := range count {
		start[i+1] = start[i] + n
	}
	queue := make([]int32, start[len(count)])
	next := slices.Clone(start)
	t.eachHome(&t.Sends, nil, func(row, _ int32) {
		if id := sendID[row]; id >= 0 {
			queue[next[id]] = row
			next[id]++
		}
	})
	copy(next, start)
	t.eachHome(&t.Recvs, posts, func(row, home int32) {
		if t.Recvs.Peer[row] < 0 {
			return
		}
		id, ok := ids[channel{t.Recvs.Comm[row], t.Recvs.Peer[row], home, t.Recvs.Tag[row]}]
		if !ok || next[id] == start[id+1] {
			return
		}
		send := queue[next[id]]
		next[id]++
		t.Sends.Match[send], t.Recvs.Match[row] = row, send
		if t.Sends.Bytes[send] != t.Recvs.Bytes[row] {
			t.Repairs.LengthDiffer++
		}
	})
}

// eachHome visits the rows of e home by home: in the order of posts (or of
// the rows if posts is nil) where a home is one process, else by time of the
// operation, which is all that orders threads.
func (t *Trace) eachHome(e *Ends, posts []int32, visit func(row, home int32)) {
	ends := make([]int32, len(t.Procs)+1) // rows of each process
	for p := range t.Procs {
		first, _ := slices.BinarySearch(e.Op, t.Ops.Start[p+1])
		ends[p+1] = int32(first)
	}
	threads := map[int32][]int32{}
	for p := range t.Procs {
		if h := t.Procs[p].Home; int(h) != p {
			threads[h] = append(threads[h], int32(p))
		}
	}
	var rows []int32
	for p := range t.Procs {
		home := t.Procs[p].Home
		if int(home) != p {
			continue
		}
		rows = appendRange(rows[:0], ends[p], ends[p+1])
		if posts != nil && !slices.IsSorted(posts[ends[p]:ends[p+1]]) {
			slices.SortStableFunc(rows, func(a, b int32) int { return int(posts[a]) - int(posts[b]) })
		}
		if others := threads[home]; others != nil {
			for _, q := range others {
				rows = appendRange(rows, ends[q], ends[q+1])
			}
			slices.SortStableFunc(rows, func(a, b int32) int { return compare(t.Ops.Enter[e.Op[a]], t.Ops.Enter[e.Op[b]]) })
		}
		for _, row := range rows {
			visit(row, home)
		}
	}
}

func appendRange(rows []int32, from, to int32) []int32 {
	for i := from; i < to; i++ {
		rows = append(rows, i)
	}
	return rows
}

func compare(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// instanceKey names the k-th collective of a communicator. Every process has
// its own MPI_COMM_SELF.
type instanceKey struct {
	comm, home, k int32
}

// instances numbers collectives: the k-th of a communicator on each member is
// the same instance.
type instances struct {
	ids  map[instanceKey]int32
	seen map[[2]int32]int32 // how many a home has had on a communicator
}

func newInstances() *instances {
	return &instances{ids: map[instanceKey]int32{}, seen: map[[2]int32]int32{}}
}

func (in *instances) next(c *Comm, comm, home int32) (id int32, fresh bool) {
	k := in.seen[[2]int32{comm, home}]
	in.seen[[2]int32{comm, home}]++
	key := instanceKey{comm: comm, k: k}
	if c.Self {
		key.home = home
	}
	id, ok := in.ids[key]
	if !ok {
		id = int32(len(in.ids))
		in.ids[key] = id
	}
	return id, !ok
}

func (t *Trace) matchCollectives(lines []*timeline, order []int32) {
	c := &t.Colls
	in := newInstances()
	var ids, ops []int32
	for p, row := range order {
		l := lines[row]
		for i, local := range l.colls.op {
			comm := l.colls.comm[i]
			id, fresh := in.next(&t.Comms[comm], comm, t.Procs[p].Home)
			if fresh {
				c.Comm, c.Code, c.Root = append(c.Comm, comm), append(c.Code, l.colls.code[i]), append(c.Root, l.colls.root[i])
			} else if c.Code[id] != l.colls.code[i] || c.Root[id] != l.colls.root[i] {
				t.Repairs.Disagree++
			}
			op := local + t.Ops.Start[p]
			t.Ops.Ref[op] = id
			ids, ops = append(ids, id), append(ops, op)
		}
		l.colls = localColls{}
	}
	c.Start, c.Member = grouped(ids, ops, len(c.Comm))
	for i, comm := range c.Comm {
		if n := int(c.Start[i+1] - c.Start[i]); n < t.size(comm) {
			t.Repairs.Incomplete++
		}
	}
}

// size is the number of members a collective of a communicator needs.
func (t *Trace) size(comm int32) int {
	if t.Comms[comm].Self {
		return 1
	}
	return len(t.Comms[comm].Ranks)
}

// grouped sorts rows by id, keeping their order inside each.
func grouped(ids, rows []int32, n int) (start, out []int32) {
	start = make([]int32, n+1)
	for _, id := range ids {
		start[id+1]++
	}
	for i := range n {
		start[i+1] += start[i]
	}
	out = make([]int32, len(rows))
	next := slices.Clone(start)
	for i, id := range ids {
		out[next[id]] = rows[i]
		next[id]++
	}
	return start, out
}

// matchAsync numbers non-blocking collectives by the order of their starts,
// apart from the blocking ones: MPI does not match one with the other.
func (t *Trace) matchAsync(lines []*timeline, order []int32) {
	a := &t.Async
	in := newInstances()
	var ids, begins, dones, ranks []int32
	rankOf := map[[2]int32]int32{} // of a home in a communicator
	known := map[int32]bool{}
	for p, row := range order {
		l := &lines[row].async
		for i, comm := range l.comm {
			if comm < 0 {
				continue // never completed: its communicator is unknown
			}
			id, fresh := in.next(&t.Comms[comm], comm, t.Procs[p].Home)
			if fresh {
				a.Comm, a.Code, a.Root = append(a.Comm, comm), append(a.Code, l.code[i]), append(a.Root, l.root[i])
			} else if a.Code[id] != l.code[i] || a.Root[id] != l.root[i] {
				t.Repairs.Disagree++
			}
			ids = append(ids, id)
			begins = append(begins, l.begin[i]+t.Ops.Start[p])
			dones = append(dones, shifted(l.done[i], t.Ops.Start[p]))
			if !known[comm] {
				known[comm] = true
				for r, home := range t.Comms[comm].Ranks {
					rankOf[[2]int32{comm, home}] = int32(r)
				}
			}
			ranks = append(ranks, rankOf[[2]int32{comm, t.Procs[p].Home}])
		}
	}
	a.Start, a.Begin = grouped(ids, begins, len(a.Comm))
	_, a.Done = grouped(ids, dones, len(a.Comm))
	_, a.Rank = grouped(ids, ranks, len(a.Comm))
	for i, comm := range a.Comm {
		if n := int(a.Start[i+1] - a.Start[i]); n < t.size(comm) {
			t.Repairs.Incomplete++
		}
	}
}

// list describes the repairs as sentences.
func (r *Repairs) list() []string {
	var out []string
	add := func(n int, text string) {
		if n > 0 {
			out = append(out, fmt.Sprintf("%d %s", n, text))
		}
	}
	add(r.Nesting, "leaves did not fit the open region")
	add(r.Unclosed, "regions were still open at the end and are closed there")
	add(r.Backwards, "events are earlier than the one before them on their location; their durations are cut at 0")
	add(r.Reused, "requests were reused while still open")
	add(r.Orphans, "completions name no open request")
	add(r.BadPeers, "messages name a peer outside their communicator")
	add(r.LengthDiffer, "matched messages differ in length between sender and receiver")
	add(r.Disagree, "members of collectives disagree on kind or root")
	add(r.Incomplete, "collectives lack members")
	add(r.NoComm, "non-blocking collectives never completed")
	add(r.Cancelled, "sends were cancelled")
	return out
}
