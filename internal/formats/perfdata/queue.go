package perfdata

import (
	"errors"
	"math"
	"slices"
	"sort"

	"github.com/isobath/isobath/internal/data/table"
)

// queue holds the rows whose place in the order of time is not certain yet.
//
// perf empties the ring buffers of all CPUs in turn and ends each turn with
// FINISHED_ROUND: nothing that comes afterwards is older than the newest sample
// of the turn before. So a queue of about two turns puts a file in order while
// it is read, and its columns are written once. A file that breaks the rule, or
// has no such records, is put in order afterwards.
type queue struct {
	small   []smallFields
	newest  uint64 // time of all samples so far
	settled uint64 // nothing older than this will come
	sorter  sorter

	spare      []uint64
	spareSmall []smallFields
	parting    *scratch

	emitted    int    // rows that left the queue
	base       uint64 // time of the first that left
	last       uint64 // time of the last that left
	disordered bool   // a row came too late
}

const (
	// maxQueue bounds the queue where no round ends; minQueue is what is worth
	// emptying.
	maxQueue   = 1 << 17
	minQueue   = 1 << 13
	gatherRows = 1 << 10
)

// field is one value of every sample that has it. Samples that do not have it
// leave a gap of zeros.
type field struct {
	queued []uint64
	all    uint64 // every bit that was set in some value
	used   bool   // some sample has it
	zeros  int    // rows that left the queue with zero, or without a value

	// What left the queue: whole numbers if number is set, else words. Times
	// count from the first that left.
	number bool
	words  table.Growing[uint64]
	whole  table.GrowingInts
	times  table.Growing[int64]
	err    error
}

// put sets the value of a queued row.
func (f *field) put(k int, v uint64) {
	if k >= len(f.queued) {
		f.grow(k)
	}
	f.queued[k] = v
	f.all |= v
}

func (f *field) grow(k int) {
	f.used = true
	f.queued = append(f.queued, make([]uint64, max(2*len(f.queued), k+1, 64)-len(f.queued))...)
}

// round is told that a round has ended.
func (r *rows) round() {
	if len(r.small) >= minQueue {
		r.emit(r.settled)
	}
	r.settled = r.newest
}

// overflow makes room in a queue that no round has emptied: the older half
// leaves.
func (r *rows) overflow() {
	if !r.time.used {
		r.leave(nil, len(r.small))
		return
	}
	times := r.time.queued[:len(r.small)]
	order := timeOrder(&r.sorter, times)
	middle := len(times) / 2
	limit := times[middle]
	if order != nil {
		limit = times[order[middle]]
	}
	r.emit(limit)
}

// finish empties the queue.
func (r *rows) finish() { r.emit(math.MaxUint64) }

// emit lets the rows up to a time leave the queue.
func (r *rows) emit(limit uint64) {
	n := len(r.small)
	if !r.time.used {
		r.leave(nil, n)
		return
	}
	if n > len(r.time.queued) {
		r.time.grow(n - 1) // the last rows have no time
	}
	times := r.time.queued[:n]
	order := timeOrder(&r.sorter, times)
	at := func(i int) uint64 {
		if order != nil {
			return times[order[i]]
		}
		return times[i]
	}
	leaving := sort.Search(n, func(i int) bool { return at(i) > limit })
	if leaving == 0 {
		return
	}
	if r.emitted == 0 {
		r.base = at(0)
	}
	r.disordered = r.disordered || at(0) < r.last
	r.last = at(leaving - 1)
	r.leave(order, leaving)
}

// leave appends the first k rows, in the given order, to their columns and
// keeps the others. A nil order is that of the queue.
func (r *rows) leave(order []uint32, k int) {
	n := len(r.small)
	r.leaveSmall(order, k)
	for _, f := range r.fields() {
		if !f.used {
			continue
		}
		if n > len(f.queued) {
			f.grow(n - 1)
		}
		if f == &r.time {
			f.leaveTimes(order, k, r.base)
		} else {
			f.leave(order, k, r.emitted)
		}
		r.spare = keep(f.queued[:n], r.spare, order, k)
	}
	r.emitted += k
}

// keep moves what order[k:] names to the front and clears the rest.
func keep(queued, spare []uint64, order []uint32, k int) []uint64 {
	m := len(queued) - k
	if order == nil {
		copy(queued, queued[k:])
	} else {
		spare = slices.Grow(spare[:0], m)[:m]
		for i, row := range order[k:] {
			spare[i] = queued[row]
		}
		copy(queued, spare)
	}
	clear(queued[m:])
	return spare
}

// leave appends k queued values, which belong at row n.
func (f *field) leave(order []uint32, k, n int) {
	if f.all == 0 {
		f.zeros += k
		return // zeros so far: what is missing is padded when something else comes
	}
	if f.number && f.all <= math.MaxInt64 {
		if !table.Fits32(f.all) {
			f.whole.Widen()
		}
		f.whole.Pad(n)
		for at := 0; at < k; {
			narrow, wide := f.whole.Room(k - at)
			f.zeros += take(narrow, f.queued, order, at) + take(wide, f.queued, order, at)
			at += len(narrow) + len(wide)
		}
		return
	}
	f.toWords()
	f.words.Pad(n)
	for at := 0; at < k; {
		block := f.words.Room(k - at)
		f.zeros += take(block, f.queued, order, at)
		at += len(block)
	}
}

// toWords gives up on whole numbers: some value is above 2^63, a mark or
// garbage.
func (f *field) toWords() {
	if !f.number {
		return
	}
	f.number = false
	values, spill, err := f.whole.Values()
	switch v := values.(type) {
	case []int32:
		for _, x := range v {
			f.words.Append(uint64(x))
		}
	case []int64:
		for _, x := range v {
			f.words.Append(uint64(x))
		}
	}
	f.err = errors.Join(f.err, err, spill.Close())
}

func (f *field) leaveTimes(order []uint32, k int, base uint64) {
	for at := 0; at < k; {
		block := f.times.Room(k - at)
		take(block, f.queued, order, at)
		for i := range block {
			block[i] -= int64(base)
		}
		at += len(block)
	}
}

// take fills a block with queued values and returns how many are zero.
func take[T int32 | int64 | uint64](block []T, queued []uint64, order []uint32, at int) (zeros int) {
	if order == nil {
		for i, v := range queued[at : at+len(block)] {
			block[i] = T(v)
			if v == 0 {
				zeros++
			}
		}
		return zeros
	}
	for i, row := range order[at : at+len(block)] {
		v := queued[row]
		block[i] = T(v)
		if v == 0 {
			zeros++
		}
	}
	return zeros
}

// scratch is where the small fields of some rows are taken apart.
type scratch struct {
	event, mode, ibs  [gatherRows]uint8
	pid, tid, cpu     [gatherRows]int32
	source, stack     [gatherRows]uint32
	insLat, retireLat [gatherRows]int32
}

// leaveSmall appends the small fields of k rows and keeps the others.
func (r *rows) leaveSmall(order []uint32, k int) {
	if r.parting == nil {
		r.parting = new(scratch)
	}
	c := r.parting
	rare := r.ibs != nil || r.chains || r.parts
	for at := 0; at < k; at += gatherRows {
		n := min(gatherRows, k-at)
		for i := range n {
			row := at + i
			if order != nil {
				row = int(order[row])
			}
			s := &r.small[row]
			c.event[i], c.mode[i] = s.event, s.mode
			c.pid[i], c.tid[i], c.cpu[i] = s.pid, s.tid, s.cpu
			c.source[i] = s.source
			if rare {
				c.ibs[i], c.stack[i] = s.ibs, s.stack
				c.insLat[i], c.retireLat[i] = int32(s.insLat), int32(s.retireLat)
			}
		}
		r.appendSmall(n, r.emitted+at)
	}
	rest := r.small[k:]
	if order != nil {
		rest = r.spareSmall[:0]
		for _, row := range order[k:] {
			rest = append(rest, r.small[row])
		}
		r.spareSmall = rest
	}
	r.small = r.small[:copy(r.small, rest)]
}

// appendSmall appends the n rows that were taken apart, which belong at row at.
func (r *rows) appendSmall(n, at int) {
	c := r.parting
	r.event.AppendAll(c.event[:n])
	r.mode.AppendAll(c.mode[:n])
	r.pid.AppendAll(c.pid[:n])
	r.tid.AppendAll(c.tid[:n])
	r.source.AppendAll(c.source[:n])
	if r.cpuUsed {
		r.cpu.Pad(at)
		r.cpu.AppendAll(c.cpu[:n])
	}
	if r.chains {
		r.stack.Pad(at)
		r.stack.AppendAll(c.stack[:n])
	}
	if r.ibs != nil {
		r.hasIBS.Pad(at)
		r.hasIBS.AppendAll(c.ibs[:n])
	}
	if r.parts {
		r.insLat.Pad(at)
		r.insLat.AppendAll(c.insLat[:n])
		r.retireLat.Pad(at)
		r.retireLat.AppendAll(c.retireLat[:n])
	}
}
