package mpitrace

import (
	"fmt"

	"github.com/isobath/isobath/internal/formats/otf2"
)

// window is a window of one-sided communication as all its processes know it.
type window struct {
	id   uint32
	comm *comm
}

// handle is a file as the processes that opened it together know it.
type handle struct {
	id   uint32
	path string
	comm *comm
}

// sides are windows and files of all processes.
type sides struct {
	windows    map[uint64]*window // by key
	winOrder   []*window
	winLocal   [][]*window // by rank and local number
	handles    map[uint64]*handle
	fileOrder  []*handle
	fileLocal  [][]*handle
	paths      map[string]uint32 // numbers of files
	pathOrder  []string
	name       []byte // of the file that comes next
	nameOfRank int
}

func newSides(ranks int) *sides {
	return &sides{windows: map[uint64]*window{}, handles: map[uint64]*handle{}, paths: map[string]uint32{}, winLocal: make([][]*window, ranks), fileLocal: make([][]*handle, ranks)}
}

// maxPath bounds the name of a file in a damaged recording.
const maxPath = 1 << 16

// take collects a piece of a name. Pieces stand directly before what they belong
// to; the end of a process's file ends them too.
func (s *sides) take(rank int, r *record) {
	if rank != s.nameOfRank {
		s.name, s.nameOfRank = s.name[:0], rank
	}
	if len(s.name) < maxPath {
		s.name = append(s.name, r.text...)
	}
}

// path ends a name and returns it.
func (s *sides) path(rank int) string {
	text := string(s.name)
	if rank != s.nameOfRank {
		text = ""
	}
	s.name = s.name[:0]
	return text
}

// survey notes what is defined by a record.
func (s *sides) survey(c *converter, rank int, r *record) error {
	switch r.kind {
	case kFileName:
		s.take(rank, r)
	case kFileDeleted:
		s.file(s.path(rank))
	case kWin:
		if int(r.comm) != len(s.winLocal[rank]) {
			return fmt.Errorf("rank %d: window %d comes after %d", rank, r.comm, len(s.winLocal[rank]))
		}
		w := s.windows[r.req]
		if w == nil {
			w = &window{id: uint32(len(s.winOrder)), comm: c.commOf(rank, uint32(r.tag))}
			s.windows[r.req] = w
			s.winOrder = append(s.winOrder, w)
		}
		s.winLocal[rank] = append(s.winLocal[rank], w)
	case kFileOpened:
		if int(r.comm) != len(s.fileLocal[rank]) {
			return fmt.Errorf("rank %d: file %d comes after %d", rank, r.comm, len(s.fileLocal[rank]))
		}
		path := s.path(rank)
		s.file(path)
		h := s.handles[r.req]
		if h == nil {
			h = &handle{id: uint32(len(s.fileOrder)), path: path, comm: c.commOf(rank, r.a)}
			s.handles[r.req] = h
			s.fileOrder = append(s.fileOrder, h)
		}
		s.fileLocal[rank] = append(s.fileLocal[rank], h)
	}
	return nil
}

// file numbers a path.
func (s *sides) file(path string) {
	if _, ok := s.paths[path]; !ok {
		s.paths[path] = uint32(len(s.pathOrder))
		s.pathOrder = append(s.pathOrder, path)
	}
}

// define writes the definitions, in the order of the numbers that events hold.
func (s *sides) define(out *otf2.Writer, machine uint32) {
	for _, w := range s.winOrder {
		out.Window(fmt.Sprintf("window %d", w.id), w.comm.id)
	}
	if len(s.pathOrder) == 0 {
		return
	}
	paradigm := out.IOParadigm("MPI-IO")
	for _, p := range s.pathOrder {
		out.File(p, machine)
	}
	for _, h := range s.fileOrder {
		out.FileHandle(h.path, s.paths[h.path], paradigm, h.comm.id)
	}
}

// commOf is a communicator by its number in a process; the first of all if the
// process does not have it.
func (c *converter) commOf(rank int, local uint32) *comm {
	if int(local) < len(c.local[rank]) {
		return c.local[rank][local]
	}
	if len(c.order) == 0 {
		return &comm{id: otf2.None}
	}
	return c.order[0]
}

// sided writes the events of windows and files. What refers to none that is
// known is left out.
func (s *stream) sided(r *record) error {
	switch r.kind {
	case kRMABegin:
		return s.put(otf2.RMACollectiveBegin)
	case kRMAGot:
		s.got = r.len
		return nil
	case kFileName:
		s.sides.take(s.rank, r)
		return nil
	case kFileDeleted:
		return s.put(otf2.IODeleteFile, 0, uint64(s.sides.paths[s.sides.path(s.rank)]))
	case kFileOpened, kFileClosed, kFileSeek, kIOBegin, kIOIssued, kIODone:
		return s.fileEvent(r)
	}
	local := r.comm
	if r.kind == kWinFreed {
		local = r.a
	}
	if int(local) >= len(s.sides.winLocal[s.rank]) {
		return nil
	}
	return s.windowEvent(r, uint64(s.sides.winLocal[s.rank][local].id))
}

// How processes of a window synchronise: each other and their memory.
const syncAll = 3

func (s *stream) windowEvent(r *record, win uint64) error {
	target := uint64(r.a)
	switch r.kind {
	case kWin:
		return s.put(otf2.RMAWinCreate, win)
	case kWinFreed:
		return s.put(otf2.RMAWinDestroy, win)
	case kRMAEnd:
		return s.put(otf2.RMACollectiveEnd, uint64(r.op), syncAll, win, otf2.RootNone, 0, 0)
	case kRMAPut:
		return s.put(otf2.RMAPut, win, target, r.len, r.req)
	case kRMAGet:
		return s.put(otf2.RMAGet, win, target, r.len, r.req)
	case kRMAAtomic:
		return s.put(otf2.RMAAtomic, win, target, uint64(r.op), r.len, s.got, r.req)
	case kRMADone:
		if r.op == 0 {
			return s.put(otf2.RMAOpCompleteNonBlocking, win, r.req)
		}
		return s.put(otf2.RMAOpCompleteRemote, win, r.req)
	case kRMALock:
		return s.put(otf2.RMARequestLock, win, target, 0, uint64(r.op)) // a window has one lock at each process
	case kRMAUnlock:
		return s.put(otf2.RMAReleaseLock, win, target, 0)
	case kEpoch:
		members := s.groups.members(s.rank, r.a)
		if len(members) == 0 {
			return nil
		}
		return s.put(otf2.RMAGroupSync, syncAll, win, uint64(s.groups.id(members)))
	case kRMASync:
		return s.put(otf2.RMASync, win, target, 0) // of memory
	}
	return nil
}

func (s *stream) fileEvent(r *record) error {
	local := r.comm
	if r.kind == kFileClosed {
		local = r.a
	}
	if r.kind == kFileOpened {
		s.sides.path(s.rank)
	}
	if int(local) >= len(s.sides.fileLocal[s.rank]) {
		return nil
	}
	file := uint64(s.sides.fileLocal[s.rank][local].id)
	switch r.kind {
	case kFileOpened:
		return s.put(otf2.IOCreateHandle, file, uint64(r.op), uint64(uint32(r.tag)), r.len&0xffffffff)
	case kFileClosed:
		return s.put(otf2.IODestroyHandle, file)
	case kFileSeek:
		return s.put(otf2.IOSeek, file, r.len, uint64(r.op), r.req)
	case kIOBegin:
		return s.put(otf2.IOOperationBegin, file, uint64(r.op), uint64(r.a), r.len, r.req)
	case kIOIssued:
		return s.put(otf2.IOOperationIssued, file, r.req)
	case kIODone:
		return s.put(otf2.IOOperationComplete, file, r.len, r.req)
	}
	return nil
}
