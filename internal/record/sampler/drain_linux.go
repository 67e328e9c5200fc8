package sampler

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/isobath/isobath/internal/base/parallel"
	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/record/pmu"
)

// drainer empties the rings in one goroutine and orders and hands on their
// records in another, so that a slow sink does not make the kernel wait.
type drainer struct {
	s      *session
	sink   Sink
	rounds chan round
	stop   [2]int      // a pipe; closing its end wakes the drainer
	last   atomic.Bool // the next look at the rings is the last one

	draining, handing *parallel.Task

	losses  Losses
	pending []item
	horizon uint64 // no record before this time can still arrive
	latest  uint64
	trailer *perfevent.Attr
	sample  perfevent.Sample

	// known are the processes that the sink was told of; nil where it knows all by
	// their parents.
	known map[uint32]bool

	instants Instants
	latestOf map[uint32]sampleBody // of each thread, in one look at the rings
	found    round                 // what was taken out and not handed over
	handed   time.Time             // when that was last done

	auxEvent *pmu.Event
	aux      auxLosses // of the goroutine that empties the rings
}

// round is what one look at all rings finds.
type round struct {
	records []byte
	pieces  []piece
	clock   tickClock
}

// item is a record that waits for its turn.
type item struct {
	time   uint64
	header perfevent.Header
	body   []byte
}

// newDrainer returns a drainer that waits for start. Both its goroutines end with
// finish: records that are lost because a context ended would be lost for good.
func newDrainer(s *session, sink Sink, instants Instants) *drainer {
	d := &drainer{s: s, sink: sink, instants: instants, latestOf: map[uint32]sampleBody{}, rounds: make(chan round, 64), stop: [2]int{-1, -1}, trailer: &s.events[0].Attr, auxEvent: auxEvent(s.events)}
	if unix.Pipe2(d.stop[:], unix.O_CLOEXEC) != nil {
		d.stop = [2]int{-1, -1} // it is then up to restMillis late to see that it is to stop
	}
	d.handing = parallel.Start(context.Background(), func(context.Context) error {
		defer func() { // a failed sink must not leave the drainer waiting
			for range d.rounds {
			}
		}()
		d.handOn()
		return nil
	})
	return d
}

// Milliseconds between looks at the rings when they are nearly empty. Longer
// would show nothing new; shorter would disturb the program more.
const restMillis = 100

// closeTogether is the same where threads are looked at when they were sampled: less
// than the time between two samples of a thread.
const closeTogether = 400 * time.Microsecond

// start begins to empty the rings.
func (d *drainer) start() {
	d.draining = parallel.Start(context.Background(), func(context.Context) error {
		d.run()
		return nil
	})
}

// run empties the rings until finish is called.
func (d *drainer) run() {
	defer close(d.rounds)
	if d.instants != nil {
		runtime.LockOSThread() // it ends with us, which lets all threads go that it holds
		defer d.instants.Done()
		beSoon()
	}
	fds := []unix.PollFd{{Fd: int32(d.stop[0]), Events: unix.POLLIN}}
	for _, r := range d.s.rings {
		fds = append(fds, unix.PollFd{Fd: int32(r.fd), Events: unix.POLLIN})
	}
	for {
		rest := restMillis * time.Millisecond
		if d.instants != nil && d.instants.Looks() {
			rest = closeTogether
		}
		timeout := unix.NsecToTimespec(int64(rest))
		_, _ = unix.Ppoll(fds, &timeout, nil)
		d.collect()
		if fds[0].Revents != 0 || d.last.Load() {
			d.handOver()
			d.collect() // what came while the first pass ran
			d.handOver()
			return
		}
		if rest != closeTogether || len(d.found.records) >= wakeup || time.Since(d.handed) >= restMillis*time.Millisecond {
			d.handOver()
		}
		for i := 1; i < len(fds); i++ {
			if fds[i].Revents&(unix.POLLHUP|unix.POLLERR) != 0 {
				fds[i].Fd = -1 // its threads have ended; polling it would spin
			}
		}
	}
}

// beSoon asks the kernel to let this thread run soon after it wakes, for short slices:
// its share of the processor stays what it is. Since Linux 6.12; before, nothing changes.
func beSoon() {
	attr, err := unix.SchedGetAttr(0, 0)
	if err == nil && (attr.Policy == unix.SCHED_NORMAL || attr.Policy == unix.SCHED_BATCH) {
		attr.Runtime = uint64(shortest)
		_ = unix.SchedSetAttr(0, attr, 0)
	}
}

// shortest is the shortest slice of the kernel.
const shortest = 100 * time.Microsecond

// collect takes everything out of the rings.
func (d *drainer) collect() {
	from := len(d.found.records)
	for _, r := range d.s.rings {
		before := len(d.found.records)
		d.found.records = r.drain(d.found.records)
		if r.aux != nil {
			d.found.pieces = append(d.found.pieces, r.takeAux(d.found.records[before:], d.trailer, &d.aux)...)
		}
	}
	if d.instants != nil {
		d.look(d.found.records[from:])
	}
}

// handOver gives what was taken out to whoever orders it.
func (d *drainer) handOver() {
	if len(d.found.pieces) > 0 {
		d.found.clock = tickClock{ticks: counter(), nano: monotonic(), hz: counterFrequency()}
	}
	d.rounds <- d.found
	d.found, d.handed = round{}, time.Now()
}

// finish stops draining, and returns when everything has been handed on.
func (d *drainer) finish() (Losses, error) {
	d.last.Store(true)
	if d.stop[1] >= 0 {
		_ = unix.Close(d.stop[1])
	}
	err := errors.Join(d.draining.Wait(), d.handing.Wait())
	if d.stop[0] >= 0 {
		_ = unix.Close(d.stop[0])
	}
	d.losses.Truncated += d.aux.truncated
	d.losses.Damaged += d.aux.damaged
	return d.losses, err
}

// handOn orders records by time. The rings of several CPUs are each in order,
// and what has been written before a pass began is found by it: a record older
// than the newest of the pass before the last cannot arrive any more.
func (d *drainer) handOn() {
	for found := range d.rounds {
		before := d.latest
		records(found.records, d.add)
		d.operations(found.pieces, found.clock)
		d.flush(d.horizon)
		d.horizon = before
		d.sink.Drained()
	}
	d.flush(^uint64(0))
	d.sink.Drained()
}

func (d *drainer) add(h perfevent.Header, body []byte) {
	it := item{header: h, body: body}
	if h.Type == perfevent.RecordSample {
		if len(body) < 32 {
			d.losses.Damaged++
			return
		}
		it.time = binary.LittleEndian.Uint64(body[24:]) // identifier, ip, tid, time
	} else {
		_, tr, ok := d.trailer.ParseTrailer(body)
		if !ok {
			d.losses.Damaged++
			return
		}
		it.time = tr.Time
	}
	d.latest = max(d.latest, it.time)
	d.pending = append(d.pending, it)
}

// flush hands on the records up to a time.
func (d *drainer) flush(until uint64) {
	slices.SortStableFunc(d.pending, func(a, b item) int { return cmp.Compare(a.time, b.time) })
	n, found := slices.BinarySearchFunc(d.pending, until, func(it item, t uint64) int { return cmp.Compare(it.time, t) })
	for found && n < len(d.pending) && d.pending[n].time == until {
		n++
	}
	for i := range d.pending[:n] {
		d.dispatch(&d.pending[i])
	}
	d.pending = slices.Delete(d.pending, 0, n)
}

func (d *drainer) dispatch(it *item) {
	if it.header.Type == perfevent.RecordSample {
		d.dispatchSample(it)
		return
	}
	own, tr, _ := d.trailer.ParseTrailer(it.body)
	ok := true
	switch it.header.Type {
	case perfevent.RecordMmap, perfevent.RecordMmap2:
		var m perfevent.Mapping
		if m, ok = perfevent.ParseMapping(it.header, own); ok {
			d.sink.Mapping(it.time, &m)
		}
	case perfevent.RecordFork:
		var t perfevent.Task
		if t, ok = perfevent.ParseTask(it.header, own); ok {
			t.Time = it.time // its own is a little later: what lies between the two comes after it
			if d.known != nil {
				d.known[t.PID] = d.known[t.PPID] // of one that nobody knows there is nothing to copy
			}
			d.sink.Fork(&t)
		}
	case perfevent.RecordComm:
		var c perfevent.Comm
		if c, ok = perfevent.ParseComm(it.header, own); ok {
			d.sink.Comm(it.time, &c)
		}
	default:
		ok = d.dispatchLoss(it.header, own, Loss{CPU: tr.CPU, Time: it.time})
	}
	if !ok {
		d.losses.Damaged++
	}
}

// dispatchLoss counts what is missing, and tells the sink if samples are.
func (d *drainer) dispatchLoss(h perfevent.Header, own []byte, l Loss) bool {
	switch h.Type {
	case perfevent.RecordLost, perfevent.RecordLostSamples:
		n, id, ok := perfevent.ParseLost(h, own)
		if !ok || n == 0 {
			return ok
		}
		if _, apart := d.s.first[output{int(l.CPU), true}]; apart && d.s.touches(id) {
			d.losses.Touches += n
			return true
		}
		d.losses.Lost += n
		l.Records = n
	case perfevent.RecordThrottle:
		d.losses.Throttled++
		l.Why = Paused
	case perfevent.RecordUnthrottle:
		l.Why = Resumed
	case perfevent.RecordAux:
		a, ok := perfevent.ParseAux(h, own)
		if !ok || a.Flags&auxIncomplete == 0 {
			return true // who copies the area counts the damaged ones
		}
		l.Why = AreaFull
	default:
		return true
	}
	d.sink.Loss(&l)
	return true
}

func (d *drainer) dispatchSample(it *item) {
	e := d.s.byID[binary.LittleEndian.Uint64(it.body)]
	if e == nil || e.Attr.Decode(it.body, &d.sample) != nil {
		d.losses.Damaged++
		return
	}
	if e.Use == pmu.Silent {
		return
	}
	// A process may come into a control group that was born outside it.
	if pid := d.sample.PID; d.known != nil && !d.known[pid] {
		d.known[pid] = true
		_ = present(int(pid), it.time, d.sink) // or it has ended
	}
	d.sink.Sample(e, &d.sample)
}
