package trace

import (
	"math"
	"slices"
	"strings"

	"github.com/isobath/isobath/internal/formats/otf2"
)

// Calls are the outermost MPI calls of all processes that may wait for others,
// also those without communication records: probes, tests, fences, calls that
// make communicators. A run of unsuccessful tests and the call that ends it are
// one. Calls that only look something up are left to the computation around
// them. Calls of process p are Start[p] to Start[p+1], in order of time and
// without overlap.
type Calls struct {
	Start       []int32
	Enter, Exit []int64
	Region      []int32
	Caller      []int32 // the region around the call, None outside any
	Site        []int32 // row of Sites; nil if the trace has none
	Polls       []int32 // rows of merged tests, as the number of tests in each call; nil if no call holds one

	// Ready are the calls before or in which the process was ready to run without
	// a processor; nil if the recording does not say.
	Ready []Ready
}

// Ready is how long a process at least waited for a processor, because others had
// them: in the computation before a call, and inside it.
type Ready struct {
	Call           int32
	Before, Inside int64
}

// lineCalls are the calls of one location while it is read.
type lineCalls struct {
	enter, exit    []int64
	region, caller []int32
	site           []int32
	polls          []int32
	bare           []bool  // no record was seen inside
	ready          []Ready // in the order of their calls
}

// localCalls only look something up or build something of their own: nobody is
// waited for in them.
var localPrefixes = []string{"comm_rank", "comm_size", "comm_group", "comm_compare", "comm_get", "comm_set", "comm_test_inter", "comm_remote", "comm_call", "comm_create_keyval", "comm_free_keyval",
	"comm_create_errhandler", "comm_delete_attr", "wtime", "wtick", "type_", "get_", "op_", "group_", "info_", "error_", "errhandler", "initialized", "finalized", "attr_", "keyval_", "status_", "pack", "unpack",
	"address", "aint_", "cart_rank", "cart_coords", "cart_shift", "cart_get", "cartdim", "dims_", "topo_test", "graph_get", "graphdims", "graph_neighbors", "dist_graph_neighbors",
	"query_thread", "is_thread", "buffer_", "pcontrol", "alloc_mem", "free_mem", "file_get", "file_set_info", "win_get", "win_set", "t_", "request_get"}

// isLocal reports whether a call of MPI never waits for another process.
func isLocal(region string) bool {
	name, ok := strings.CutPrefix(strings.ToLower(region), "mpi_")
	if !ok {
		return false
	}
	for _, p := range localPrefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// isPoll reports whether a call of this name returns at once if nothing is there.
func isPoll(region string) bool {
	name := strings.TrimPrefix(strings.ToLower(region), "mpi_")
	return strings.HasPrefix(name, "test") && !strings.HasPrefix(name, "test_cancelled") || name == "iprobe" || name == "improbe"
}

// beginCall opens the call that the region at the top of the stack is, or is
// the first around a record to be.
func (w *walker) beginCall() {
	top := len(w.stack) - 1
	f := &w.stack[top]
	c := &w.line
	enter := f.enter
	if n := len(c.exit); n > 0 {
		enter = max(enter, c.exit[n-1])
	}
	caller := f.caller
	if caller < 0 && top > 0 {
		caller = w.stack[top-1].region
	}
	w.call = c.add(enter, enter, f.region, caller)
	if w.ready > 0 {
		c.ready = append(c.ready, Ready{Call: w.call, Before: w.ready})
		w.ready = 0
	}
	if len(w.names.sites) > 0 {
		c.site = append(c.site, f.site)
	}
	f.call = w.call
}

func (c *lineCalls) add(enter, exit int64, region, caller int32) int32 {
	c.enter, c.exit = append(c.enter, enter), append(c.exit, exit)
	c.region, c.caller = append(c.region, region), append(c.caller, caller)
	c.bare = append(c.bare, true)
	return int32(len(c.enter) - 1)
}

// inCall notes that the current call holds a record and returns it. Outside any
// region it makes a call without duration.
func (w *walker) inCall() int32 {
	if w.call < 0 && len(w.stack) > 0 {
		w.beginCall()
	}
	if w.call >= 0 {
		w.line.bare[w.call] = false
		return w.call
	}
	c := w.line.add(w.now, w.now, w.names.outside, None)
	w.line.bare[c] = false
	if len(w.names.sites) > 0 {
		w.line.site = append(w.line.site, None)
	}
	return c
}

// readyWithout notes that the process had waited for a processor before an event
// of the current call, or before the call that comes next.
func (w *walker) readyWithout(list []otf2.AttributeValue) {
	for i := range list {
		if list[i].ID != w.names.ready || list[i].Value.Type != typeUint64 {
			continue
		}
		ticks := w.ticks(int64(min(list[i].Value.Bits, math.MaxInt64)))
		c := &w.line
		if w.now == w.first && len(c.enter) == 0 {
			w.begun = ticks
			continue
		}
		if w.call < 0 {
			began := w.first
			if n := len(c.exit); n > 0 {
				began = c.exit[n-1]
			}
			w.ready = addWithin(w.ready, ticks, w.now-began)
			continue
		}
		if n := len(c.ready); n == 0 || c.ready[n-1].Call != w.call {
			c.ready = append(c.ready, Ready{Call: w.call})
		}
		inside := &c.ready[len(c.ready)-1].Inside
		*inside = addWithin(*inside, ticks, w.now-c.enter[w.call])
	}
}

// addWithin adds to a part of a stretch of time, which is not longer than that.
func addWithin(part, more, stretch int64) int64 {
	if more >= stretch-part {
		return max(part, stretch)
	}
	return part + more
}

// longGap is the median time between unsuccessful tests above which they are
// calls of their own: the program works between them.
const longGap = 2_000_000 // ns

// mergePolls joins runs of unsuccessful tests with the successful one that ends
// them, and renumbers what points at calls.
func (w *walker) mergePolls() {
	c := &w.line
	poll := make([]bool, len(w.names.regions))
	any := false
	for _, r := range c.region {
		if !poll[r] && isPoll(w.names.regions[r].Name) {
			poll[r], any = true, true
		}
	}
	if !any {
		return
	}
	to := make([]int32, len(c.enter))
	polls := []int32{}
	n := int32(0)
	for i := 0; i < len(c.enter); {
		j := w.pollRun(i, poll)
		c.enter[n], c.exit[n] = c.enter[i], c.exit[j-1]
		c.region[n], c.caller[n], c.bare[n] = c.region[j-1], c.caller[j-1], c.bare[j-1]
		if c.site != nil {
			c.site[n] = c.site[j-1]
		}
		tests := int32(0)
		if poll[c.region[j-1]] || j > i+1 {
			tests = int32(j - i)
		}
		polls = append(polls, tests)
		for ; i < j; i++ {
			to[i] = n
		}
		n++
	}
	c.enter, c.exit, c.region, c.caller, c.bare, c.polls = c.enter[:n], c.exit[:n], c.region[:n], c.caller[:n], c.bare[:n], polls
	if c.site != nil {
		c.site = c.site[:n]
	}
	c.mergeReady(to)
	for _, col := range [][]int32{w.ops.Call, w.recvs.Post, w.waits.Call} {
		for i, k := range col {
			if k >= 0 {
				col[i] = to[k]
			}
		}
	}
}

// mergeReady renumbers the calls; what was waited for a processor between tests
// that are one call now is inside it.
func (c *lineCalls) mergeReady(to []int32) {
	n := 0
	for _, r := range c.ready {
		first := r.Call == 0 || to[r.Call-1] != to[r.Call]
		call := to[r.Call]
		if !first {
			r.Before, r.Inside = 0, r.Before+r.Inside
		}
		if r.Call = call; n > 0 && c.ready[n-1].Call == call {
			c.ready[n-1].Inside += r.Inside
			continue
		}
		c.ready[n] = r
		n++
	}
	c.ready = c.ready[:n]
}

// pollRun returns the end of the run of tests that begins at call i: the
// unsuccessful ones, and the successful one that follows. Where the median gap
// between them is long, each is a run of its own.
func (w *walker) pollRun(i int, poll []bool) int {
	c := &w.line
	j := i
	for j < len(c.enter) && c.bare[j] && poll[c.region[j]] && c.caller[j] == c.caller[i] {
		j++
	}
	if j > i && j < len(c.enter) && poll[c.region[j]] && c.caller[j] == c.caller[i] {
		j++
	}
	if j <= i+1 {
		return i + 1
	}
	gaps := make([]int64, 0, j-i-1)
	for k := i + 1; k < j; k++ {
		gaps = append(gaps, c.enter[k]-c.exit[k-1])
	}
	slices.Sort(gaps)
	if gaps[len(gaps)/2] > w.ticks(longGap) {
		return i + 1
	}
	return j
}

// ticks converts nanoseconds for a walker, which has no trace yet.
func (w *walker) ticks(ns int64) int64 {
	t := Trace{Resolution: w.resolution}
	return t.Ticks(ns)
}

// windowSync is a fence, or the making or end of a window: a collective of the
// window's processes.
func (w *walker) windowSync(ev *otf2.Event) {
	w.inCall()
	if comm, ok := w.names.windows[ev.F[2]]; ok {
		w.together(comm, uint8(ev.F[0]), None)
	}
}

// Flags of operations on files.
const (
	ioNonBlocking = 1
	ioCollective  = 2
)

// fileDone ends an operation on a file: if all processes of its handle take part
// and wait for it, it is a collective of theirs.
func (w *walker) fileDone(ev *otf2.Event) {
	flags := w.sided.event(ev)
	if comm, ok := w.names.handles[ev.F[0]]; ok && flags&(ioCollective|ioNonBlocking) == ioCollective {
		w.together(comm, CodeFile, None)
	}
}

// joinCalls lays the calls of the processes one after another.
func (t *Trace) joinCalls(lines []*timeline, order []int32, waiting *shelf) {
	n := 0
	for _, row := range order {
		n += len(lines[row].line.enter)
	}
	c := &t.Calls
	c.Start = make([]int32, 1, len(order)+1)
	c.Enter, c.Exit = makeIn[int64](t.room, n), makeIn[int64](t.room, n)
	c.Region, c.Caller = makeIn[int32](t.room, n), makeIn[int32](t.room, n)
	if t.room.err != nil {
		return
	}
	polls := slices.ContainsFunc(order, func(row int32) bool { return lines[row].line.polls != nil })
	for p, row := range order {
		l := &lines[row].line
		for _, r := range l.ready {
			r.Call += int32(len(c.Enter))
			c.Ready = append(c.Ready, r)
		}
		c.Enter, c.Exit = append(c.Enter, l.enter...), append(c.Exit, l.exit...)
		c.Region, c.Caller = append(c.Region, l.region...), append(c.Caller, l.caller...)
		if len(t.Sites) > 0 {
			c.Site = append(c.Site, l.site...)
		}
		if polls {
			c.Polls = append(c.Polls, l.polls...)
			c.Polls = append(c.Polls, make([]int32, len(c.Enter)-len(c.Polls))...)
		}
		c.Start = append(c.Start, int32(len(c.Enter)))
		t.Procs[p].First, t.Procs[p].Last, t.Procs[p].Ready = lines[row].first, lines[row].last, lines[row].begun
		t.room.use(callBytes*int64(len(l.enter)), waiting.Release)
		*l = lineCalls{}
	}
}
