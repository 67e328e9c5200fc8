package trace

import (
	"context"
	"math"

	"github.com/isobath/isobath/internal/formats/otf2"
)

// timeline collects what one location did. Indices in it are local; join
// makes them global.
type timeline struct {
	loc     otf2.Location
	events  int
	metrics int
	seen    map[uint32]bool // classes and instances of metrics that have a value
	sided   sided
	partial bool
	mpi     bool
	first   int64
	last    int64
	begun   int64 // ticks without a processor just before the first event
	repairs Repairs

	frames Frames
	ops    Ops
	sends  Ends
	recvs  Ends
	posts  []int32 // per receive: position of its posting among the events
	waits  Waits
	colls  localColls
	async  localAsync
	times  []RegionTime
	line   lineCalls
	holds  []hold // of locks

	completions int     // recorded completions of sends
	guesses     []guess // what completes where nothing is recorded
}

// guess says that a call which waits for all requests, but recorded none,
// completes the sends from one row to another.
type guess struct {
	wait     int32
	from, to int32
}

type localColls struct {
	op   []int32
	comm []int32
	code []uint8
	root []int32
}

// localAsync has one row per started non-blocking collective; communicator
// and kind are known only from the completion.
type localAsync struct {
	begin, done []int32
	comm        []int32
	code        []uint8
	root        []int32
}

// open is an open region of the walk.
type open struct {
	region  int32
	frame   int32 // row in frames once it holds communication
	enter   int64
	seq     int32 // event number of the enter
	records int   // first pending record
	wait    int32 // row in waits, or None
	site    int32 // where it was called from, or None
	inside  int64 // time in regions called from here
	caller  int32 // the function that called it, if an attribute says so
	call    int32 // row of the call this region is, or None
}

// pending is a communication record of a region that is still open.
type pending struct {
	class uint8 // a Kind, with blocking and non-blocking starts apart
	async bool
	block bool // an MPI_SEND: not part of a run of non-blocking sends
	row   int32
	time  int64
	call  int32
}

// request is an open request of a location.
type request struct {
	row  int32 // send, posted receive (event number) or collective
	kind otf2.Kind
	call int32 // that posted a receive
}

// walker reads one location.
type walker struct {
	*timeline
	names      *names
	home       func(comm int32, rank uint64, loc uint64) int32
	origin     uint64
	stack      []open
	records    []pending
	requests   map[uint64]request
	opened     []int32 // per region: how many instances are open
	counts     []int64
	call       int32 // the call that is open, or None
	ready      int64 // time without a processor before the call that comes next
	resolution uint64
	incl       []int64
	excl       []int64
	isend      bool  // the last region closed was a non-blocking send
	signals    int   // ends of signals
	loose      int32 // first send since the last receive, collective, wait or test
	now        int64
}

// walk reads all events of r.
func (w *walker) walk(ctx context.Context, r *otf2.EventReader) error {
	var ev otf2.Event
	for r.Next(&ev) {
		if w.requests == nil {
			w.prepare()
		}
		if w.events&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		w.event(&ev)
		w.events++
	}
	w.repairs.Unclosed += len(w.stack)
	for len(w.stack) > 0 {
		w.close()
	}
	w.partial = r.Partial()
	for _, q := range w.requests {
		if q.kind == otf2.NBCRequest {
			w.repairs.NoComm++
		}
	}
	w.saveTimes()
	return nil
}

// prepare makes the tables of a location that has events: a definition file
// may name any number of locations and regions.
func (w *walker) prepare() {
	w.requests = map[uint64]request{}
	n := len(w.names.regions)
	w.opened, w.counts = make([]int32, n), make([]int64, n)
	w.incl, w.excl = make([]int64, n), make([]int64, n)
}

func (w *walker) saveTimes() {
	for i, n := range w.counts {
		if n > 0 {
			w.times = append(w.times, RegionTime{Region: int32(i), Calls: n, Incl: w.incl[i], Excl: w.excl[i]})
		}
	}
}

// since is the time after the origin, or before it. What is too far for the type
// is as far as the type goes: cast, a time of 2^64-1 ticks would be -1.
func since(origin, time uint64) int64 {
	if time < origin {
		return -int64(min(origin-time, math.MaxInt64))
	}
	return int64(min(time-origin, math.MaxInt64))
}

func (w *walker) clock(ev *otf2.Event) {
	t := since(w.origin, ev.Time)
	if w.events == 0 {
		w.first, w.last, w.now = t, t, t
		return
	}
	if t < w.now {
		w.repairs.Backwards++
		t = w.now // durations never fall below zero
	}
	w.now, w.last = t, t
}

func (w *walker) event(ev *otf2.Event) {
	w.clock(ev)
	switch ev.Kind {
	case otf2.Enter:
		site, caller := None, None
		if ev.Attributes != nil {
			site, caller = w.names.caller(ev.Attributes)
			w.readyWithout(ev.Attributes)
		}
		w.enter(w.names.region(ev.F[0]), site, caller)
	case otf2.Leave:
		if ev.Attributes != nil {
			w.neighbours(ev.Attributes)
			w.readyWithout(ev.Attributes)
		}
		w.leave(w.names.region(ev.F[0]))
	case otf2.CallingEnter:
		w.enter(w.names.context(ev.F[0]), w.names.site(ev.F[0]), None)
	case otf2.CallingLeave:
		w.leave(w.names.context(ev.F[0]))
	case otf2.MPISend, otf2.MPIIsend:
		w.send(ev)
	case otf2.MPIRecv, otf2.MPIIrecv:
		w.recv(ev)
	case otf2.MPIIrecvRequest:
		w.mpi = true
		w.begin(ev.F[0], request{int32(w.events), ev.Kind, w.inCall()})
	case otf2.MPIIsendComplete:
		w.sendDone(ev.F[0])
	case otf2.MPIRequestCancelled:
		w.cancel(ev.F[0])
	case otf2.MPICollectiveEnd:
		w.collective(ev)
	case otf2.NBCRequest, otf2.NBCComplete:
		w.nonBlocking(ev)
	case otf2.Metric:
		w.metrics++
		if id := uint32(ev.F[0]); !w.seen[id] {
			if w.seen == nil {
				w.seen = map[uint32]bool{}
			}
			w.seen[id] = true
		}
	case otf2.RMACollectiveEnd:
		w.windowSync(ev)
	case otf2.IOOperationComplete:
		w.fileDone(ev)
	case otf2.RMAGroupSync:
		w.groupSync(ev)
	case otf2.RMARequestLock, otf2.RMAAcquireLock:
		w.lock(ev)
	case otf2.RMAReleaseLock:
		w.unlock(ev)
	default:
		w.sided.event(ev)
	}
}

func (w *walker) enter(region, site, caller int32) {
	w.stack = append(w.stack, open{region: region, frame: None, enter: w.now, seq: int32(w.events), records: len(w.records), wait: None, site: site, caller: caller, call: None})
	w.opened[region]++
	if w.call < 0 && w.names.regions[region].MPI && !w.names.local[region] {
		w.beginCall()
	}
}

// leave closes the innermost instance of region. A leave that does not fit
// closes what is open above, or is ignored if nothing fits.
func (w *walker) leave(region int32) {
	n := len(w.stack)
	if n > 0 && w.stack[n-1].region == region {
		w.close()
		return
	}
	w.repairs.Nesting++
	if w.opened[region] == 0 {
		return
	}
	for w.stack[len(w.stack)-1].region != region {
		w.close()
	}
	w.close()
}

// close ends the innermost region and turns its records into operations.
func (w *walker) close() {
	top := len(w.stack) - 1
	f := &w.stack[top]
	w.isend = w.flush(top)
	w.guess(f)
	if f.wait >= 0 {
		w.waits.Exit[f.wait] = w.now
	}
	if f.frame >= 0 {
		w.frames.Exit[f.frame] = w.now
	}
	if f.call >= 0 {
		w.line.exit[f.call], w.call = w.now, None
	}
	d := w.now - f.enter
	w.counts[f.region]++
	w.excl[f.region] += d - f.inside
	w.opened[f.region]--
	if w.opened[f.region] == 0 { // recursion counts once
		w.incl[f.region] += d
	}
	w.stack = w.stack[:top]
	if top > 0 {
		w.stack[top-1].inside += d
	}
}

// guess applies the paper's rule for traces without completion records: the
// sends since the last receive, collective, wait or test belong to the next
// call that waits for all. Whether the guesses are used is decided when all
// locations are read.
func (w *walker) guess(f *open) {
	role := w.names.roles[f.region]
	if role == roleWaitAll && f.wait < 0 && w.loose < int32(len(w.sends.Op)) {
		w.guesses = append(w.guesses, guess{w.newWait(f), w.loose, int32(len(w.sends.Op))})
	}
	if role != roleOther {
		w.loose = int32(len(w.sends.Op))
	}
}

// newWait makes the row of a call in which sends complete.
func (w *walker) newWait(f *open) int32 {
	f.wait = int32(len(w.waits.Op))
	w.waits.Op = append(w.waits.Op, None)
	w.waits.Region = append(w.waits.Region, f.region)
	w.waits.Enter = append(w.waits.Enter, f.enter)
	w.waits.Exit = append(w.waits.Exit, f.enter)
	w.waits.Call = append(w.waits.Call, w.call)
	return f.wait
}

// flush makes operations of the records of the region at depth top: one for
// each run of records of a class, each collective by itself. It reports
// whether the region was one non-blocking send.
func (w *walker) flush(top int) bool {
	f := &w.stack[top]
	recs := w.records[f.records:]
	if len(recs) == 0 {
		return false
	}
	frame := None
	if top > 0 {
		frame = w.frame(top - 1)
	}
	enter := f.enter
	only := true
	for i := 0; i < len(recs); {
		j := i + 1
		for j < len(recs) && recs[j].class == recs[i].class && Kind(recs[i].class) != Collective {
			j++
		}
		exit := w.now
		if j < len(recs) {
			exit = recs[j-1].time
			only = false
		}
		w.emit(recs[i:j], f, frame, enter, exit)
		enter = exit
		i = j
	}
	only = only && Kind(recs[0].class) == Send
	for _, r := range recs {
		only = only && !r.block && !r.async
	}
	if only && w.isend {
		w.ops.Flags[len(w.ops.Flags)-1] |= Joins
	}
	w.records = w.records[:f.records]
	return only
}

// frame returns the row of the region at depth d, making it and its parents.
func (w *walker) frame(d int) int32 {
	if f := w.stack[d].frame; f >= 0 {
		return f
	}
	// Parents get their rows first; the walk down is a loop because nesting
	// in a hostile file may be as deep as the file is long.
	from := d
	for from > 0 && w.stack[from-1].frame < 0 {
		from--
	}
	for i := from; i <= d; i++ {
		parent := None
		if i > 0 {
			parent = w.stack[i-1].frame
		}
		w.stack[i].frame = int32(len(w.frames.Region))
		w.frames.Region = append(w.frames.Region, w.stack[i].region)
		w.frames.Parent = append(w.frames.Parent, parent)
		w.frames.Enter = append(w.frames.Enter, w.stack[i].enter)
		w.frames.Exit = append(w.frames.Exit, w.stack[i].enter)
	}
	return w.stack[d].frame
}

// emit appends one operation.
func (w *walker) emit(recs []pending, f *open, frame int32, enter, exit int64) {
	o := &w.ops
	op := int32(len(o.Enter))
	kind, flags := Kind(recs[0].class), uint8(0)
	ref, n := None, int32(0)
	for _, r := range recs {
		if r.block {
			flags |= Blocks
		}
		if r.async {
			if kind == Send {
				w.async.begin[r.row] = op
				flags |= Starts
			} else {
				w.async.done[r.row] = op
				flags |= Completes
			}
			continue
		}
		if n == 0 {
			ref = r.row
		}
		n++
		switch kind {
		case Send:
			w.sends.Op[r.row] = op
		case Recv:
			w.recvs.Op[r.row] = op
		default:
			w.colls.op[r.row] = op
		}
	}
	if f.wait >= 0 && kind == Recv {
		w.waits.Op[f.wait] = op
	}
	o.Enter, o.Exit = append(o.Enter, enter), append(o.Exit, exit)
	o.Region, o.Frame = append(o.Region, f.region), append(o.Frame, frame)
	o.Kind, o.Flags = append(o.Kind, kind), append(o.Flags, flags)
	o.Ref, o.N = append(o.Ref, ref), append(o.N, n)
	o.Last = append(o.Last, int32(w.events))
	o.Call = append(o.Call, recs[0].call)
	if len(w.names.sites) > 0 {
		o.Site = append(o.Site, f.site)
	}
}

// record notes a communication record of the innermost region; outside any
// region it becomes an operation without duration.
func (w *walker) record(p pending) {
	w.mpi = true
	p.time, p.call = w.now, w.inCall()
	if len(w.stack) > 0 {
		w.records = append(w.records, p)
		return
	}
	w.emit([]pending{p}, &open{region: w.names.outside, wait: None, site: None, call: None}, None, w.now, w.now)
	w.isend = false
}

func (w *walker) end(e *Ends, ev *otf2.Event) int32 {
	comm := w.names.comm(ev.F[1])
	peer := w.home(comm, ev.F[0], w.loc.ID)
	if peer < 0 {
		w.repairs.BadPeers++
	}
	e.Op = append(e.Op, None)
	e.Peer = append(e.Peer, peer)
	e.Comm = append(e.Comm, comm)
	e.Tag = append(e.Tag, uint32(ev.F[2]))
	e.Bytes = append(e.Bytes, int64(ev.F[3]&(1<<62-1)))
	return int32(len(e.Op) - 1)
}

func (w *walker) send(ev *otf2.Event) {
	row := w.end(&w.sends, ev)
	w.sends.Match = append(w.sends.Match, None)
	w.sends.Wait = append(w.sends.Wait, None)
	if ev.Kind == otf2.MPIIsend {
		w.begin(ev.F[4], request{row: row, kind: ev.Kind})
	}
	w.record(pending{class: uint8(Send), row: row, block: ev.Kind == otf2.MPISend})
}

func (w *walker) recv(ev *otf2.Event) {
	row := w.end(&w.recvs, ev)
	post, call := int32(w.events), w.inCall()
	if ev.Kind == otf2.MPIIrecv {
		if q, ok := w.requests[ev.F[4]]; ok && q.kind == otf2.MPIIrecvRequest {
			post, call = q.row, q.call
			delete(w.requests, ev.F[4])
		} else {
			w.repairs.Orphans++
		}
	} else if n := len(w.stack); n > 0 {
		post = w.stack[n-1].seq
	}
	w.posts = append(w.posts, post)
	w.recvs.Post = append(w.recvs.Post, call)
	w.loose = int32(len(w.sends.Op))
	w.record(pending{class: uint8(Recv), row: row})
}

// begin opens a request. An id that is still open was reused by the tracer:
// the old request is given up.
func (w *walker) begin(id uint64, q request) {
	if old, ok := w.requests[id]; ok {
		w.repairs.Reused++
		if old.kind == otf2.NBCRequest {
			w.repairs.NoComm++
		}
	}
	w.requests[id] = q
}

func (w *walker) sendDone(id uint64) {
	q, ok := w.requests[id]
	if !ok || q.kind != otf2.MPIIsend {
		w.repairs.Orphans++
		return
	}
	delete(w.requests, id)
	if len(w.stack) == 0 {
		return
	}
	w.inCall()
	f := &w.stack[len(w.stack)-1]
	if f.wait < 0 {
		w.newWait(f)
	}
	w.completions++
	w.sends.Wait[q.row] = f.wait
}

// cancelled marks a send that was cancelled and so matches nothing.
const cancelled = int32(-2)

func (w *walker) cancel(id uint64) {
	q, ok := w.requests[id]
	if !ok {
		w.repairs.Orphans++
		return
	}
	delete(w.requests, id)
	if q.kind == otf2.MPIIsend {
		w.repairs.Cancelled++
		w.sends.Match[q.row] = cancelled
	}
}

func (w *walker) collective(ev *otf2.Event) {
	w.together(w.names.comm(ev.F[1]), uint8(ev.F[0]), rank(ev.F[2]))
}

// together notes a collective of a communicator.
func (w *walker) together(comm int32, code uint8, root int32) {
	w.loose = int32(len(w.sends.Op))
	c := &w.colls
	row := int32(len(c.op))
	c.op = append(c.op, None)
	c.code = append(c.code, code)
	c.comm = append(c.comm, comm)
	c.root = append(c.root, root)
	w.record(pending{class: uint8(Collective), row: row})
}

// rank turns a root field into a rank, or None for the special values.
func rank(v uint64) int32 {
	if v >= 1<<31 {
		return None
	}
	return int32(v)
}

func (w *walker) nonBlocking(ev *otf2.Event) {
	a := &w.async
	if ev.Kind == otf2.NBCRequest {
		row := int32(len(a.begin))
		a.begin, a.done = append(a.begin, None), append(a.done, None)
		a.comm, a.code, a.root = append(a.comm, None), append(a.code, 0), append(a.root, None)
		w.begin(ev.F[0], request{row: row, kind: ev.Kind})
		w.record(pending{class: uint8(Send), async: true, row: row})
		return
	}
	q, ok := w.requests[ev.F[5]]
	if !ok || q.kind != otf2.NBCRequest {
		w.repairs.Orphans++
		return
	}
	delete(w.requests, ev.F[5])
	a.code[q.row], a.comm[q.row], a.root[q.row] = uint8(ev.F[0]), w.names.comm(ev.F[1]), rank(ev.F[2])
	w.record(pending{class: uint8(Recv), async: true, row: q.row})
}
