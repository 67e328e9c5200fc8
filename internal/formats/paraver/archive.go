package paraver

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/isobath/isobath/internal/formats/otf2"
	"github.com/isobath/isobath/internal/formats/tracecopy"
)

// archive writes what was read as OTF2.
func (t *reader) archive(path string) (*otf2.Archive, error) {
	t.close()
	t.classify()
	t.attach()
	roots := t.roots()
	length := uint64(0)
	for _, th := range t.threads {
		length = max(length, th.last)
	}
	m, err := tracecopy.New(otf2.WriterOptions{Creator: "Paraver", Resolution: 1e9 / t.scale, Length: length})
	if err != nil {
		return nil, err
	}
	if err := t.fill(m, roots); err != nil {
		return nil, fmt.Errorf("%w (%v)", err, m.Abandon())
	}
	for _, text := range slices.Sorted(maps.Keys(t.notes)) {
		if n := t.notes[text]; n > 1 {
			text = fmt.Sprintf("%s (%d)", text, n)
		}
		m.Note("%s", text)
	}
	return m.Finish(path)
}

// close ends calls that are open where the trace ends: innermost first.
func (t *reader) close() {
	for _, th := range t.threads {
		for _, typ := range slices.SortedFunc(maps.Keys(th.open), func(a, b int64) int { return cmp.Compare(th.open[b], th.open[a]) }) {
			th.end(th.open[typ], th.last)
		}
		for i := len(th.stack) - 1; i >= 0; i-- {
			th.end(th.stack[i], th.last)
		}
	}
}

// starting returns the call of MPI that is open at a time, and has begun last.
func (th *thread) starting(time uint64) *call {
	i := sort.Search(len(th.mpi), func(i int) bool { return th.calls[th.mpi[i]].enter > time }) - 1
	if i < 0 || th.calls[th.mpi[i]].leave < time {
		return nil
	}
	return &th.calls[th.mpi[i]]
}

// ending returns the first call of MPI in which a receive may be complete at a
// time. Calls of other kinds that only touch that time are passed over.
func (th *thread) ending(time uint64) *call {
	i := sort.Search(len(th.mpi), func(i int) bool { return th.calls[th.mpi[i]].leave >= time })
	var any *call
	for ; i < len(th.mpi) && th.calls[th.mpi[i]].enter <= time; i++ {
		c := &th.calls[th.mpi[i]]
		if c.completes() {
			return c
		}
		if any == nil {
			any = c
		}
	}
	return any
}

// completes reports whether receives are completed by such a call.
func (c *call) completes() bool {
	name := strings.ToLower(c.name)
	for _, word := range []string{"_recv", "_mrecv", "sendrecv", "_wait", "_test"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// channel is who sends to whom with which tag.
type channel struct {
	from, to place
	tag      uint32
}

// maxClasses bounds the communicators that a channel is taken for: programs have
// a few.
const maxClasses = 16

// classify tells messages apart that overtake each other. The format has no
// communicators of messages, and within one they do not overtake: those that
// seem to are of another, which gets a number for each order they come in.
func (t *reader) classify() {
	slices.SortStableFunc(t.messages, func(a, b message) int { return cmp.Compare(a.sent, b.sent) })
	last := map[channel][]uint64{} // when the last receive of each class was posted
	for i := range t.messages {
		m := &t.messages[i]
		key := channel{m.from, m.to, m.tag}
		posted := last[key]
		for m.class < len(posted) && posted[m.class] > m.posted && m.class < maxClasses-1 {
			m.class++
		}
		if m.class == len(posted) {
			last[key] = append(posted, m.posted)
		} else {
			posted[m.class] = m.posted
		}
		t.groups = max(t.groups, m.class+1)
	}
}

// attach gives messages to the calls that send, post and receive them.
func (t *reader) attach() {
	request := uint64(0)
	for _, m := range t.messages {
		from, _ := t.taskNumber(m.from.appl, m.from.task)
		to, _ := t.taskNumber(m.to.appl, m.to.task)
		send, receive := t.threads[m.from].starting(m.sent), t.threads[m.to].ending(m.arrived)
		if send == nil || receive == nil {
			t.notes["messages outside calls of MPI are left out"]++
			continue
		}
		request++
		send.ends = append(send.ends, end{sends, to, m.tag, m.bytes, request, m.class, m.left})
		request++
		post := t.threads[m.to].starting(m.posted)
		if post == nil || post == receive || post.completes() {
			receive.ends = append(receive.ends, end{receives, from, m.tag, m.bytes, 0, m.class, 0})
			continue
		}
		post.ends = append(post.ends, end{posts, from, m.tag, m.bytes, request, m.class, 0})
		receive.ends = append(receive.ends, end{completes, from, m.tag, m.bytes, request, m.class, 0})
	}
}

// instance is the k-th collective of a communicator.
type instance struct {
	comm int32
	k    int
}

// roots finds who the root of each collective is: the task that says so.
func (t *reader) roots() map[instance]int32 {
	out := map[instance]int32{}
	for _, at := range t.places {
		task, _ := t.taskNumber(at.appl, at.task)
		seen := map[int32]int{}
		th := t.threads[at]
		for _, row := range th.mpi {
			c := &th.calls[row]
			if _, ok := tracecopy.Collectives[c.name]; !ok {
				continue
			}
			if c.root {
				out[instance{c.comm, seen[c.comm]}] = task
			}
			seen[c.comm]++
		}
	}
	return out
}

// fill writes definitions and events.
func (t *reader) fill(m *tracecopy.Maker, roots map[instance]int32) error {
	slices.SortFunc(t.places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.appl, b.appl), cmp.Compare(a.task, b.task), cmp.Compare(a.thread, b.thread))
	})
	nodes := map[int32]uint32{}
	node := func(number int32) uint32 {
		id, ok := nodes[number]
		if !ok {
			name := fmt.Sprintf("node %d", number)
			if number >= 1 && int(number) <= len(t.nodes) {
				name = t.nodes[number-1]
			}
			id = m.Node(name, "node", otf2.None)
			nodes[number] = id
		}
		return id
	}
	// Every task of the header is a rank, also one that did nothing.
	var groups []uint32
	for a, on := range t.onNode {
		for i, number := range on {
			name := fmt.Sprintf("Rank %d", i)
			if len(t.onNode) > 1 {
				name = fmt.Sprintf("Application %d rank %d", a+1, i)
			}
			groups = append(groups, m.Process(name, node(number)))
		}
	}
	out := make([]*otf2.EventWriter, len(t.places))
	world := make([]uint64, len(groups))
	for i := range world {
		world[i] = otf2.Undefined
	}
	for i, at := range t.places {
		task, _ := t.taskNumber(at.appl, at.task)
		out[i] = m.Location(fmt.Sprintf("Thread %d", at.thread), groups[task])
		if world[task] == otf2.Undefined {
			world[task] = out[i].ID
		}
	}
	for i, id := range world {
		if id == otf2.Undefined {
			world[i] = m.Location("Thread 1", groups[i]).ID
		}
	}
	m.CommLocations(world)
	comms := t.communicators(m, len(world))
	for i, at := range t.places {
		task, _ := t.taskNumber(at.appl, at.task)
		if err := t.write(m, out[i], t.threads[at], task, comms, roots); err != nil {
			return err
		}
	}
	return nil
}

// defined is a communicator of the archive; rank is the number of each task in it.
type defined struct {
	id   uint64
	rank map[int32]uint64
}

// communicators defines them. Number 0 is all tasks: messages do not say theirs.
func (t *reader) communicators(m *tracecopy.Maker, tasks int) map[int32]defined {
	all := make([]uint64, tasks)
	world := defined{rank: map[int32]uint64{}}
	for i := range all {
		all[i] = uint64(i)
		world.rank[int32(i)] = uint64(i)
	}
	world.id = uint64(m.Comm("MPI_COMM_WORLD", all, otf2.None))
	out := map[int32]defined{0: world}
	t.classes = []uint64{world.id}
	for len(t.classes) < t.groups {
		t.classes = append(t.classes, uint64(m.Comm(fmt.Sprintf("messages that overtake %d", len(t.classes)), all, otf2.None)))
	}
	for _, c := range t.comms {
		if _, twice := out[c.id]; twice {
			continue
		}
		d := defined{rank: map[int32]uint64{}}
		members := make([]uint64, len(c.tasks))
		same := len(c.tasks) == tasks
		for i, task := range c.tasks {
			members[i] = uint64(task)
			d.rank[task] = uint64(i)
			same = same && int(task) == i
		}
		if same && len(out) == 1 { // the first of all tasks is the world itself
			out[c.id] = world
			continue
		}
		d.id = uint64(m.Comm(fmt.Sprintf("communicator %d", c.id), members, otf2.None))
		out[c.id] = d
	}
	return out
}

// write writes the events of a thread: calls in the order they began and ended,
// with their records inside.
func (t *reader) write(m *tracecopy.Maker, out *otf2.EventWriter, th *thread, task int32, comms map[int32]defined, roots map[instance]int32) error {
	now := uint64(0)
	put := func(time uint64, kind otf2.Kind, fields ...uint64) error {
		now = max(now, time)
		ev := otf2.Event{Kind: kind, Time: now}
		copy(ev.F[:], fields)
		return out.Write(&ev)
	}
	seen := map[int32]int{}
	for _, row := range th.order {
		if row >= 0 {
			c := &th.calls[row]
			if err := put(c.enter, otf2.Enter, m.Named(c.name)); err != nil {
				return err
			}
			if err := t.begin(c, put); err != nil {
				return err
			}
			continue
		}
		c := &th.calls[-1-row]
		if err := t.finish(c, task, comms, roots, seen, put); err != nil {
			return err
		}
		if err := put(c.leave, otf2.Leave, m.Named(c.name)); err != nil {
			return err
		}
	}
	return out.Close()
}

type putter func(time uint64, kind otf2.Kind, fields ...uint64) error

// begin writes what happens when a call begins: sends and posted receives. All
// tasks have their number in the communicators of messages. A call that receives
// too sends when its message leaves.
func (t *reader) begin(c *call, put putter) error {
	for _, e := range c.ends {
		var err error
		at := c.enter
		if c.completes() {
			at = min(max(at, e.time), c.leave)
		}
		switch {
		case e.kind == sends && nonBlocking(c.name):
			err = put(at, otf2.MPIIsend, uint64(e.peer), t.classes[e.class], uint64(e.tag), e.bytes, e.req)
		case e.kind == sends:
			err = put(at, otf2.MPISend, uint64(e.peer), t.classes[e.class], uint64(e.tag), e.bytes)
		case e.kind == posts:
			err = put(c.enter, otf2.MPIIrecvRequest, e.req)
		}
		if err != nil {
			return err
		}
	}
	if _, ok := tracecopy.Collectives[c.name]; ok {
		return put(c.enter, otf2.MPICollectiveBegin)
	}
	return nil
}

// nonBlocking reports whether a send returns before it is done.
func nonBlocking(name string) bool {
	name = strings.ToLower(strings.TrimPrefix(name, "MPI_"))
	return strings.HasPrefix(name, "i") || strings.HasPrefix(name, "start")
}

// finish writes what has happened when a call ends: receives and collectives.
func (t *reader) finish(c *call, task int32, comms map[int32]defined, roots map[instance]int32, seen map[int32]int, put putter) error {
	for _, e := range c.ends {
		var err error
		switch e.kind {
		case receives:
			err = put(c.leave, otf2.MPIRecv, uint64(e.peer), t.classes[e.class], uint64(e.tag), e.bytes)
		case completes:
			err = put(c.leave, otf2.MPIIrecv, uint64(e.peer), t.classes[e.class], uint64(e.tag), e.bytes, e.req)
		}
		if err != nil {
			return err
		}
	}
	code, ok := tracecopy.Collectives[c.name]
	if !ok {
		return nil
	}
	d, known := comms[c.comm]
	if !known {
		d = comms[0]
	}
	if _, member := d.rank[task]; !member {
		t.notes["collectives of communicators that do not have the task are left out"]++
		return nil
	}
	root := uint64(otf2.RootNone)
	if tracecopy.Rooted(code) {
		if task, ok := roots[instance{c.comm, seen[c.comm]}]; ok {
			root = d.rank[task]
		}
	}
	seen[c.comm]++
	return put(c.leave, otf2.MPICollectiveEnd, code, d.id, root, c.sent, c.got)
}
