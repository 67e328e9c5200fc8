package trace

import (
	"errors"
	"sync/atomic"
	"unsafe"

	"github.com/isobath/isobath/internal/data/table"
)

// spillAbove is how many bytes the columns of a trace may have in memory: what is
// more lies in temporary files, whose pages the system takes back. A trace of ten
// million events has about as much.
var spillAbove = int64(192 << 20)

// releaseEvery is after how many bytes of work the pages of such files are given
// back.
const releaseEvery = 64 << 20

// room is where the columns of a trace lie: in memory, or in files if they are too
// many.
type room struct {
	spilled bool
	spills  []*table.Spill
	used    int64
	err     error
}

// makeIn makes a column with room for n values.
func makeIn[T any](r *room, n int) []T {
	if !r.spilled || n == 0 {
		return make([]T, 0, n)
	}
	values, spill, err := table.Room[T](n)
	if err != nil {
		r.err = errors.Join(r.err, err)
		return nil
	}
	r.spills = append(r.spills, spill)
	return values[:0]
}

// use says that so many bytes of the columns were used; now and then their pages
// are given back.
func (r *room) use(bytes int64, also func()) {
	if r.used += bytes; r.used >= releaseEvery {
		r.used = 0
		r.release()
		also()
	}
}

func (r *room) release() {
	if r == nil { // a trace that was not read
		return
	}
	for _, s := range r.spills {
		s.Release()
	}
}

// Release gives back what memory the columns of a large trace take; they are read
// from their files again when they are looked at.
func (t *Trace) Release() { t.room.release() }

// Close frees the files of a large trace. Neither it nor what was made of it is to
// be used afterwards.
func (t *Trace) Close() error {
	if t.room == nil {
		return nil
	}
	var err error
	for _, s := range t.room.spills {
		err = errors.Join(err, s.Close())
	}
	t.room.spills = nil
	return err
}

// shelf is where timelines wait for the others while a large trace is read.
type shelf struct {
	table.Shelf
	held atomic.Int64 // bytes of timelines in memory
}

// keep puts a timeline on the shelf unless there is room for it in memory.
func (s *shelf) keep(l *timeline) error {
	l.line.bare = nil // which only the merging of tests needs
	if s.held.Add(l.bytes()) <= spillAbove {
		return nil
	}
	return s.Put(l.columns()...)
}

// columns are the long parts of a timeline.
func (l *timeline) columns() []table.Shelved {
	var out []table.Shelved
	for _, c := range []*[]int32{
		&l.frames.Region, &l.frames.Parent, &l.ops.Region, &l.ops.Frame, &l.ops.Ref, &l.ops.N, &l.ops.Last, &l.ops.Call, &l.ops.Site,
		&l.sends.Op, &l.sends.Peer, &l.sends.Comm, &l.sends.Match, &l.sends.Wait, &l.sends.Post,
		&l.recvs.Op, &l.recvs.Peer, &l.recvs.Comm, &l.recvs.Match, &l.recvs.Wait, &l.recvs.Post, &l.posts,
		&l.waits.Op, &l.waits.Proc, &l.waits.Region, &l.waits.Call, &l.colls.op, &l.colls.comm, &l.colls.root,
		&l.async.begin, &l.async.done, &l.async.comm, &l.async.root,
		&l.line.region, &l.line.caller, &l.line.site, &l.line.polls,
	} {
		out = append(out, table.Shelve(c))
	}
	for _, c := range []*[]int64{&l.frames.Enter, &l.frames.Exit, &l.ops.Enter, &l.ops.Exit, &l.sends.Bytes, &l.recvs.Bytes,
		&l.waits.Enter, &l.waits.Exit, &l.line.enter, &l.line.exit} {
		out = append(out, table.Shelve(c))
	}
	for _, c := range []*[]uint8{&l.ops.Flags, &l.colls.code, &l.async.code} {
		out = append(out, table.Shelve(c))
	}
	return append(out, table.Shelve(&l.ops.Kind), table.Shelve(&l.sends.Tag), table.Shelve(&l.recvs.Tag), table.Shelve(&l.guesses), table.Shelve(&l.holds))
}

// bytes is about what the long parts of a timeline take.
func (l *timeline) bytes() int64 {
	return opBytes*int64(len(l.ops.Enter)) + endBytes*int64(len(l.sends.Op)+len(l.recvs.Op)) + callBytes*int64(len(l.line.enter)) +
		waitBytes*int64(len(l.waits.Op)) + frameBytes*int64(len(l.frames.Region))
}

// What a row of each kind of column takes.
const (
	opBytes    = 2*8 + 6*4 + int64(unsafe.Sizeof(Kind(0))) + 1
	endBytes   = 8 + 7*4
	callBytes  = 2*8 + 2*4
	waitBytes  = 2*8 + 4*4
	frameBytes = 2*8 + 2*4
)
