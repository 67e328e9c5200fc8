package mpitrace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// The layout of a process's file; see c/shim.c.
const (
	rankMagic  = "isompi01"
	windowSize = 1 << 20
	headSize   = 4096
	shortSize  = 16
	longSize   = 40
	perMembers = 6
)

type kind uint8

const (
	kEnd kind = iota
	kEnter
	kLeave
	kSend
	kIsend
	kIsendDone
	kRecvPosted
	kRecv
	kIrecv
	kTested
	kCancelled
	kCollBegin
	kCollEnd
	kNBCRequest
	kNBCGot
	kNBCDone
	kFlush
	kComm
	kMembers
	kCommFreed
	kWin
	kWinFreed
	kRMABegin
	kRMAEnd
	kRMAPut
	kRMAGet
	kRMAGot
	kRMAAtomic
	kRMADone
	kRMALock
	kRMAUnlock
	kRMASync
	kFileName
	kFileOpened
	kFileClosed
	kFileDeleted
	kFileSeek
	kIOBegin
	kIOIssued
	kIODone
	kSite
	kGroup
	kEpoch
	kNear
	kThread // the records that follow are of thread a of the process
	kReady  // before the entry or exit that follows, len ns at least were spent ready to run, without a processor
	kindCount
)

// record is one record of a process's file.
type record struct {
	time  uint64
	kind  kind
	op    uint8
	a     uint32
	comm  uint32
	tag   int32
	len   uint64
	req   uint64
	ranks []uint32 // of kMembers and kGroup; valid until the next record
	text  []byte   // of kFileName; the same
	site  uint16   // of kEnter: number of the place it was called from, 0 for none
}

// short reports whether a record of this kind has no second part.
func (k kind) short() bool {
	return k == kEnter || k == kLeave || k == kCollBegin || k == kCommFreed || k == kWinFreed || k == kRMABegin || k == kFileClosed || k == kThread
}

// rankFile is the file of one process.
type rankFile struct {
	f          *os.File
	path       string
	rank, size uint32
	realtime   uint64
	origin     uint64
	time       [2]uint64
	offset     [2]int64
	missed     uint64
	complete   bool
	pid        int // as the process itself knows it
	host       string
	windows    int64
	regions    int // how many there are
	good       int // records before any damage; all if negative
}

func openRank(path string) (*rankFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r := &rankFile{f: f, path: path, regions: len(regions()), good: -1}
	if err := r.head(); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

var errHead = errors.New("not a file of our MPI library")

// maxThreads is how many threads of a process are recorded; THREADS in c/shim.c.
const maxThreads = 1 << 12

// maxRanks bounds the size a file may claim, so that a damaged one costs little.
const maxRanks = 1 << 24

func (r *rankFile) head() error {
	b := make([]byte, 256)
	if _, err := io.ReadFull(io.NewSectionReader(r.f, 0, int64(len(b))), b); err != nil || !bytes.HasPrefix(b, []byte(rankMagic)) {
		return errHead
	}
	u64 := func(at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
	r.rank, r.size = binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:])
	r.origin, r.realtime = u64(16), u64(24)
	r.time = [2]uint64{u64(32), u64(40)}
	r.offset = [2]int64{int64(u64(48)), int64(u64(56))}
	r.missed = u64(64)
	r.complete = binary.LittleEndian.Uint32(b[80:]) != 0
	r.pid = int(binary.LittleEndian.Uint32(b[84:]))
	host, _, _ := bytes.Cut(b[88:216], []byte{0})
	r.host = string(host)
	info, err := r.f.Stat()
	if err != nil {
		return err
	}
	r.windows = info.Size() / windowSize
	if r.size == 0 || r.size > maxRanks || r.rank >= r.size {
		return fmt.Errorf("rank %d of %d: %w", r.rank, r.size, errHead)
	}
	return nil
}

// each visits the records in order. What is damaged ends the file there.
func (r *rankFile) each(visit func(*record) error) error {
	buf := make([]byte, windowSize)
	var rec record
	ranks := make([]uint32, 0, perMembers)
	seen, threads := 0, uint32(1)
	for w := range r.windows {
		if _, err := r.f.ReadAt(buf, w*windowSize); err != nil && err != io.EOF {
			return err
		}
		b := buf
		if w == 0 {
			b = buf[headSize:]
		}
		for len(b) >= shortSize && kind(b[8]) != kEnd {
			if seen == r.good {
				return nil
			}
			n := rec.decode(b, ranks)
			if n == 0 || (rec.kind == kEnter || rec.kind == kLeave) && int(rec.a) >= r.regions || rec.kind == kThread && rec.a > min(threads, maxThreads-1) {
				return fmt.Errorf("%s: damaged record %d", r.path, seen)
			}
			seen++
			if rec.kind == kThread && rec.a == threads { // they are numbered as they come
				threads++
			}
			if err := visit(&rec); err != nil {
				return err
			}
			b = b[n:]
		}
	}
	return nil
}

// decode reads one record and returns its size, 0 if it is none.
func (r *record) decode(b []byte, ranks []uint32) int {
	*r = record{time: binary.LittleEndian.Uint64(b), kind: kind(b[8]), op: b[9], a: binary.LittleEndian.Uint32(b[12:])}
	switch {
	case r.kind >= kindCount:
		return 0
	case r.kind.short():
		r.site = binary.LittleEndian.Uint16(b[10:])
		return shortSize
	case len(b) < longSize:
		return 0
	}
	if r.kind == kFileName {
		n := int(binary.LittleEndian.Uint16(b[10:]))
		if n > longSize-shortSize {
			return 0
		}
		r.text = b[shortSize : shortSize+n]
		return longSize
	}
	if r.kind == kMembers || r.kind == kGroup {
		n := int(binary.LittleEndian.Uint16(b[10:]))
		if n > perMembers {
			return 0
		}
		for i := range n {
			ranks = append(ranks, binary.LittleEndian.Uint32(b[shortSize+4*i:]))
		}
		r.ranks = ranks
		return longSize
	}
	r.comm, r.tag = binary.LittleEndian.Uint32(b[16:]), int32(binary.LittleEndian.Uint32(b[20:]))
	r.len, r.req = binary.LittleEndian.Uint64(b[24:]), binary.LittleEndian.Uint64(b[32:])
	return longSize
}
