// Package drmemtrace reads the final traces of DynamoRIO's drmemtrace: packed
// records of 12 bytes, in a file, an archive of chunks or a folder with one
// file per thread.
package drmemtrace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats/foreign"
)

// Format recognises and opens drmemtrace traces.
var Format = foreign.Format{
	Name:  "drmemtrace",
	Kind:  kind.Refs,
	Sniff: sniff,
	Refs:  open,
}

// recordSize is 12 on 64-bit machines: u16 type, u16 size, u64 address, packed
// (trace_entry_t in DynamoRIO's clients/drcachesim/common/trace_entry.h).
const recordSize = 12

// The record types that matter here, numbered as in the same header.
const (
	typeRead        = 0
	typeWrite       = 1
	typeInstr       = 10
	typeReturn      = 16
	typeThread      = 22
	typeThreadExit  = 23
	typePID         = 24
	typeHeader      = 25
	typeFooter      = 26
	typeMarker      = 28
	typeInstrRepeat = 29 // a rep string instruction that is not fetched again
	typeEncoding    = 47
	typeTaken       = 48
	typeUntaken     = 49
	typeLast        = 60 // beyond every type of the versions read here
)

// maxVersion is far above the versions that exist (9 in 2025); a larger number
// means this is not a header.
const maxVersion = 64

func looksLike(head []byte) bool {
	if len(head) < 2*recordSize {
		return false
	}
	typ, version := binary.LittleEndian.Uint16(head), binary.LittleEndian.Uint64(head[4:])
	next := binary.LittleEndian.Uint16(head[recordSize:])
	return typ == typeHeader && version > 0 && version < maxVersion && next < typeLast
}

func sniff(in *foreign.Input) bool {
	if in.Dir() {
		return sniffDir(in)
	}
	return looksLike(in.Head) || sniffZip(in)
}

// Reader reads one stream of records.
type Reader struct {
	r       io.Reader
	buf     []byte
	lo, hi  int
	off     int64 // bytes before buf[lo]
	end     error
	about   refs.About
	thread  uint32
	pcs     map[uint32]uint64 // the last instruction of each thread
	pc      uint64
	started bool
	kinds   [typeLast]uint64
}

// NewReader reads the unpacked records of r.
func NewReader(r io.Reader) *Reader {
	return &Reader{
		r:     r,
		buf:   make([]byte, 0, recordSize*8192),
		pcs:   map[uint32]uint64{},
		about: refs.About{Has: refs.HasPC | refs.HasSize | refs.HasThread},
	}
}

// About implements refs.Source.
func (r *Reader) About() *refs.About { return &r.about }

// Read implements refs.Source.
func (r *Reader) Read(dst []refs.Ref) (int, error) {
	n := 0
	for n < len(dst) {
		rec, err := r.next()
		if err != nil {
			if errors.Is(err, io.EOF) {
				r.finish()
			}
			return n, err
		}
		typ := binary.LittleEndian.Uint16(rec)
		size := binary.LittleEndian.Uint16(rec[2:])
		addr := binary.LittleEndian.Uint64(rec[4:])
		if err := r.check(typ, addr); err != nil {
			return n, err
		}
		if typ < typeLast {
			r.kinds[typ]++
		}
		switch {
		case typ == typeRead || typ == typeWrite:
			dst[n] = refs.Ref{Addr: addr, Size: uint32(size), PC: r.pc, Thread: r.thread, Op: refs.Op(typ)}
			n++
		case isInstr(typ):
			r.about.Instructions++
			r.pc = addr
		case typ == typeThread:
			r.pcs[r.thread] = r.pc
			r.thread = uint32(addr)
			r.pc = r.pcs[r.thread]
		default:
			r.about.Skipped++
		}
	}
	return n, nil
}

func isInstr(typ uint16) bool {
	return typ >= typeInstr && typ <= typeReturn || typ == typeInstrRepeat || typ == typeTaken || typ == typeUntaken
}

// check refuses what is not a final trace before its records mean nonsense.
func (r *Reader) check(typ uint16, addr uint64) error {
	if r.started {
		return nil
	}
	r.started = true
	if typ != typeHeader || addr == 0 || addr >= maxVersion {
		return fmt.Errorf("the first record has type %d, value %d; want a header (type 25). "+
			"Files of a raw/ folder and 32-bit traces are not read: run drraw2trace, or drrun -t drcachesim once on the folder", typ, addr)
	}
	return nil
}

func (r *Reader) next() ([]byte, error) {
	if r.hi-r.lo < recordSize {
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
	rec := r.buf[r.lo : r.lo+recordSize]
	r.lo += recordSize
	return rec, nil
}

func (r *Reader) fill() error {
	if r.end != nil {
		return r.end
	}
	r.off += int64(r.lo)
	left := copy(r.buf[:cap(r.buf)], r.buf[r.lo:r.hi])
	n, err := io.ReadAtLeast(r.r, r.buf[left:cap(r.buf)], recordSize-left)
	r.buf, r.lo, r.hi = r.buf[:left+n], 0, left+n
	if err == nil {
		return nil
	}
	if (err == io.EOF || err == io.ErrUnexpectedEOF) && r.hi > 0 {
		err = fmt.Errorf("byte %d: %d bytes of a record of %d: %w", r.off, r.hi, recordSize, io.ErrUnexpectedEOF)
	}
	r.end = err
	return err
}

func (r *Reader) finish() {
	if r.about.Notes != nil {
		return
	}
	r.about.Notes = []string{}
	if r.kinds[typeRead]+r.kinds[typeWrite] == 0 {
		r.about.Notes = append(r.about.Notes, fmt.Sprintf(
			"the trace has %d instructions and no data references: it was recorded or filtered without them", r.about.Instructions))
	}
}
