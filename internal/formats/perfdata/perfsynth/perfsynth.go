// Package perfsynth writes perf.data files whose contents are known, for tests
// and benchmarks: hardware that no machine at hand has, and damage no perf
// would write.
//
// It shares nothing with the reader, so that a misreading in one is not
// repeated in the other.
package perfsynth

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"

	"github.com/klauspost/compress/zstd"
)

// Bits of Event.SampleType.
const (
	IP = 1 << iota
	TID
	Time
	Addr
	Read
	Callchain
	ID
	CPU
	Period
	StreamID
	Raw
	BranchStack
	RegsUser
	StackUser
	Weight
	DataSrc
	Identifier
	Transaction
	RegsIntr
	PhysAddr
	Aux
	Cgroup
	DataPageSize
	CodePageSize
	WeightStruct
)

// SampleIDAll is the flag that gives other records a trailer.
const SampleIDAll = 1 << 18

// Event is a perf_event_attr with its name and ids.
type Event struct {
	Name                     string
	Type                     uint32
	Config, Config1, Config2 uint64
	Period                   uint64
	SampleType, ReadFormat   uint64
	Flags                    uint64
	BranchType               uint64
	RegsUser, RegsIntr       uint64
	IDs                      []uint64
	Size                     int // of the attr; 0 means 136
}

// Sample is the fields of one sample; those its event does not record are not
// written.
type Sample struct {
	Event                                 int
	Misc                                  uint16 // 0 means user space
	ID, IP, Time, Addr, StreamID, Period  uint64
	PID, TID, CPU                         uint32
	Read                                  []uint64 // as its read format says
	Chain                                 []uint64
	Raw                                   []byte // a multiple of 8 bytes, less 4
	Branches                              []uint64
	RegsUser, RegsIntr                    []uint64 // nil for ABI 0
	Stack                                 []byte
	Weight, DataSrc, Transaction          uint64
	Phys, Cgroup, DataPageSize, CodePages uint64
	Aux                                   []byte
}

// Options say what kind of file to write.
type Options struct {
	Big  bool // big endian
	Pipe bool
	// Zstd compresses records: 0 not, 81 as COMPRESSED, 83 as COMPRESSED2.
	Zstd uint32
}

// Writer writes one file. Errors are kept until Close.
type Writer struct {
	opt    Options
	order  binary.AppendByteOrder
	w      io.Writer
	n      int64
	events []Event
	feats  map[int][]byte
	start  int64
	err    error

	zip     *zstd.Encoder
	zipped  bytes.Buffer
	pending []byte
	buf     []byte
}

// New begins a file. In file mode, w must also be an io.WriterAt.
func New(w io.Writer, opt Options, events ...Event) *Writer {
	s := &Writer{opt: opt, w: w, order: binary.LittleEndian, events: events, feats: map[int][]byte{}}
	if opt.Big {
		s.order = binary.BigEndian
	}
	if opt.Zstd != 0 {
		s.zip, s.err = zstd.NewWriter(&s.zipped, zstd.WithEncoderConcurrency(1))
	}
	s.begin()
	return s
}

func (s *Writer) put(b []byte) {
	if s.err == nil {
		_, s.err = s.w.Write(b)
		s.n += int64(len(b))
	}
}

func (s *Writer) u32(b []byte, v uint32) []byte { return s.order.AppendUint32(b, v) }
func (s *Writer) u64(b []byte, v ...uint64) []byte {
	for _, x := range v {
		b = s.order.AppendUint64(b, x)
	}
	return b
}

func (s *Writer) magic() []byte {
	if s.opt.Big {
		return []byte("2ELIFREP")
	}
	return []byte("PERFILE2")
}

const headerSize = 104

func (s *Writer) begin() {
	if s.opt.Pipe {
		s.put(s.u64(s.magic(), 16))
		for _, e := range s.events {
			body := s.attr(e)
			s.Record(64, 0, s.u64(body, e.IDs...))
		}
		return
	}
	s.put(make([]byte, headerSize))
	at := make([]int64, len(s.events))
	for i, e := range s.events {
		at[i] = s.n
		s.put(s.u64(nil, e.IDs...))
	}
	for i, e := range s.events {
		s.put(s.u64(s.attr(e), uint64(at[i]), uint64(8*len(e.IDs))))
	}
	s.start = s.n
}

// attr lays out a perf_event_attr.
func (s *Writer) attr(e Event) []byte {
	size := e.Size
	if size == 0 {
		size = 136
	}
	b := s.u32(nil, e.Type)
	b = s.u32(b, uint32(size))
	b = s.u64(b, e.Config, e.Period, e.SampleType, e.ReadFormat)
	flags := e.Flags
	if s.opt.Big {
		// Bit fields fill each byte from the top on these machines, and the
		// two bits of precise_ip have their higher one first.
		p := flags >> 15 & 3
		flags = flags&^(3<<15) | (p>>1|p<<1&2)<<15
		flags = bits.Reverse64(flags)
		b = binary.BigEndian.AppendUint64(b, flags)
	} else {
		b = binary.LittleEndian.AppendUint64(b, flags)
	}
	b = s.u64(b, 0, e.Config1, e.Config2, e.BranchType, e.RegsUser, 0, e.RegsIntr)
	b = append(b, make([]byte, max(size-len(b), 0))...)
	return b[:size]
}

// Record writes a record of any type.
func (s *Writer) Record(typ uint32, misc uint16, body []byte) {
	size := 8 + len(body)
	if size > 65535 && s.err == nil {
		s.err = fmt.Errorf("record of %d bytes", size)
		return
	}
	b := s.u32(s.buf[:0], typ)
	b = s.order.AppendUint16(b, misc)
	b = s.order.AppendUint16(b, uint16(size))
	b = append(b, body...)
	s.buf = b
	if s.zip != nil && typ < 64 {
		s.pending = append(s.pending, b...)
		if len(s.pending) > 20000 {
			s.FlushZstd()
		}
		return
	}
	s.put(b)
}

// FlushZstd writes what is waiting as one compressed record. Records may be cut
// at its end.
func (s *Writer) FlushZstd() {
	if s.zip == nil || len(s.pending) == 0 || s.err != nil {
		return
	}
	if _, s.err = s.zip.Write(s.pending); s.err == nil {
		s.err = s.zip.Flush()
	}
	s.pending = s.pending[:0]
	data := bytes.Clone(s.zipped.Bytes())
	s.zipped.Reset()
	var b []byte
	if s.opt.Zstd == 83 {
		b = s.u64(b, uint64(len(data)))
		data = append(data, make([]byte, -len(data)&7)...)
	}
	b = append(b, data...)
	s.Record(s.opt.Zstd, 0, b)
}

// CutZstd writes the first n waiting bytes only, so that a record is cut.
func (s *Writer) CutZstd(n int) {
	n = min(n, len(s.pending))
	rest := bytes.Clone(s.pending[n:])
	s.pending = s.pending[:n]
	s.FlushZstd()
	s.pending = append(s.pending[:0], rest...)
}

// Trailer is what sample_id_all appends for an event.
func (s *Writer) Trailer(event int, pid, tid uint32, time uint64, cpu uint32) []byte {
	e := &s.events[event]
	if e.Flags&SampleIDAll == 0 {
		return nil
	}
	var id uint64
	if len(e.IDs) > 0 {
		id = e.IDs[0]
	}
	var b []byte
	if e.SampleType&TID != 0 {
		b = s.u32(s.u32(b, pid), tid)
	}
	if e.SampleType&Time != 0 {
		b = s.u64(b, time)
	}
	if e.SampleType&ID != 0 {
		b = s.u64(b, id)
	}
	if e.SampleType&StreamID != 0 {
		b = s.u64(b, id)
	}
	if e.SampleType&CPU != 0 {
		b = s.u32(s.u32(b, cpu), 0)
	}
	if e.SampleType&Identifier != 0 {
		b = s.u64(b, id)
	}
	return b
}

// text appends a string, its zero byte and padding to 8.
func text(b []byte, t string) []byte {
	b = append(b, t...)
	return append(b, make([]byte, 8-len(t)%8)...)
}

// Mmap writes MMAP2 for a mapped file.
func (s *Writer) Mmap(time uint64, pid, tid uint32, start, size, offset uint64, name string) {
	b := s.u32(s.u32(nil, pid), tid)
	b = s.u64(b, start, size, offset, 0, 0, 0)
	b = s.u32(s.u32(b, 5), 2)
	s.Record(10, 2, append(text(b, name), s.Trailer(0, pid, tid, time, 0)...))
}

// Comm writes the name of a thread.
func (s *Writer) Comm(time uint64, pid, tid uint32, name string, exec bool) {
	misc := uint16(0)
	if exec {
		misc = 1 << 13
	}
	b := text(s.u32(s.u32(nil, pid), tid), name)
	s.Record(3, misc, append(b, s.Trailer(0, pid, tid, time, 0)...))
}

// Fork writes that a thread began another.
func (s *Writer) Fork(time uint64, pid, ppid, tid, ptid uint32) {
	b := s.u32(s.u32(s.u32(s.u32(nil, pid), ppid), tid), ptid)
	s.Record(7, 0, append(s.u64(b, time), s.Trailer(0, pid, tid, time, 0)...))
}

// Lost writes that n records were lost.
func (s *Writer) Lost(time uint64, cpu uint32, n uint64) {
	s.Record(2, 0, append(s.u64(nil, 1, n), s.Trailer(0, 0, 0, time, cpu)...))
}

// Throttle writes that sampling was slowed down, or no longer is.
func (s *Writer) Throttle(time uint64, cpu uint32, on bool) {
	typ := uint32(6)
	if on {
		typ = 5
	}
	s.Record(typ, 0, append(s.u64(nil, time, 1, 1), s.Trailer(0, 0, 0, time, cpu)...))
}

// Round writes FINISHED_ROUND.
func (s *Writer) Round() { s.Record(68, 0, nil) }

// Auxtrace writes a piece of a hardware trace.
func (s *Writer) Auxtrace(offset uint64, idx, tid, cpu uint32, data []byte) {
	b := s.u64(nil, uint64(len(data)), offset, 0)
	b = s.u32(s.u32(s.u32(s.u32(b, idx), tid), cpu), 0)
	s.Record(71, 0, b)
	s.put(data)
}

// Feature adds a feature section.
func (s *Writer) Feature(id int, body []byte) {
	if s.opt.Pipe {
		s.Record(80, 0, append(s.u64(nil, uint64(id)), body...))
		return
	}
	s.feats[id] = body
}

// Strings is a feature that is a list of texts.
func (s *Writer) Strings(texts ...string) []byte {
	b := s.u32(nil, uint32(len(texts)))
	for _, t := range texts {
		b = append(b, s.String(t)...)
	}
	return b
}

// String is a feature that is one text.
func (s *Writer) String(t string) []byte {
	padded := text(nil, t)
	return append(s.u32(nil, uint32(len(padded))), padded...)
}

// PMUs is the feature that names the types of events.
func (s *Writer) PMUs(names map[uint32]string, order ...uint32) []byte {
	b := s.u32(nil, uint32(len(order)))
	for _, t := range order {
		b = append(s.u32(b, t), s.String(names[t])...)
	}
	return b
}

// Names is the feature that names the events.
func (s *Writer) Names() []byte {
	b := s.u32(s.u32(nil, uint32(len(s.events))), 136)
	for _, e := range s.events {
		full := e
		full.Size = 136
		b = append(b, s.attr(full)...)
		b = s.u32(b, uint32(len(e.IDs)))
		b = append(b, s.String(e.Name)...)
		b = s.u64(b, e.IDs...)
	}
	return b
}

// Close writes features and header.
func (s *Writer) Close() error {
	s.FlushZstd()
	if s.err != nil || s.opt.Pipe {
		return s.err
	}
	at, ok := s.w.(io.WriterAt)
	if !ok {
		return fmt.Errorf("a file needs WriteAt")
	}
	end := s.n
	var bitmap [4]uint64
	var list, bodies []byte
	for id := range 256 {
		body, ok := s.feats[id]
		if !ok {
			continue
		}
		bitmap[id/64] |= 1 << (id % 64)
		list = s.u64(list, uint64(end)+uint64(16*len(s.feats)+len(bodies)), uint64(len(body)))
		bodies = append(bodies, body...)
	}
	s.put(list)
	s.put(bodies)
	entry := 136
	if len(s.events) > 0 && s.events[0].Size != 0 {
		entry = s.events[0].Size
	}
	entry += 16
	attrs := uint64(len(s.events) * entry)
	head := s.u64(s.magic(), headerSize, uint64(entry), uint64(s.start)-attrs, attrs, uint64(s.start), uint64(end-s.start), 0, 0)
	head = s.u64(head, bitmap[:]...)
	if s.err == nil {
		_, s.err = at.WriteAt(head, 0)
	}
	return s.err
}

// Buffer is a file in memory.
type Buffer struct{ B []byte }

func (b *Buffer) Write(p []byte) (int, error) {
	b.B = append(b.B, p...)
	return len(p), nil
}

// WriteAt changes what has been written.
func (b *Buffer) WriteAt(p []byte, off int64) (int, error) { return copy(b.B[off:], p), nil }
