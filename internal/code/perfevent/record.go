package perfevent

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// HeaderSize is the size of the header that every record begins with.
const HeaderSize = 8

// Header begins every record. Size includes the header.
type Header struct {
	Type  uint32
	Misc  uint16
	Size  uint16
	Order Order // of the record
}

// ParseHeader reads a header of a record of this machine; b has at least
// HeaderSize bytes.
func ParseHeader(b []byte) Header {
	return Header{Type: binary.LittleEndian.Uint32(b), Misc: binary.LittleEndian.Uint16(b[4:]), Size: binary.LittleEndian.Uint16(b[6:])}
}

// Record types of the kernel. Those from 64 on exist in files only.
const (
	RecordMmap          = 1
	RecordLost          = 2
	RecordComm          = 3
	RecordExit          = 4
	RecordThrottle      = 5
	RecordUnthrottle    = 6
	RecordFork          = 7
	RecordRead          = 8
	RecordSample        = 9
	RecordMmap2         = 10
	RecordAux           = 11
	RecordItraceStart   = 12
	RecordLostSamples   = 13
	RecordSwitch        = 14
	RecordSwitchCPUWide = 15
)

// Bits of Header.Misc.
const (
	MiscCPUModeMask = 7
	MiscKernel      = 1
	MiscUser        = 2
	MiscHypervisor  = 3
	MiscGuestKernel = 4
	MiscGuestUser   = 5

	MiscMmapData    = 1 << 13 // of MMAP and MMAP2
	MiscCommExec    = 1 << 13 // of COMM
	MiscSwitchOut   = 1 << 13 // of SWITCH
	MiscMmapBuildID = 1 << 14 // of MMAP2
	MiscExactIP     = 1 << 14 // of SAMPLE
)

// Mapping is a MMAP or MMAP2 record: a file, or memory without one, that a
// process mapped.
type Mapping struct {
	PID, TID uint32
	Start    uint64
	Len      uint64
	Offset   uint64 // in the file
	Prot     uint32 // of MMAP2
	Flags    uint32 // of MMAP2
	BuildID  []byte
	Name     string
	Data     bool // not executable
}

// ParseMapping reads the body of a MMAP or MMAP2 record.
func ParseMapping(h Header, record []byte) (Mapping, bool) {
	r := Cursor{Order: h.Order, B: record}
	var m Mapping
	m.PID, m.TID = r.U32(), r.U32()
	m.Start, m.Len, m.Offset = r.U64(), r.U64(), r.U64()
	m.Data = h.Misc&MiscMmapData != 0
	if h.Type == RecordMmap2 {
		inode := r.Bytes(24)
		m.Prot, m.Flags = r.U32(), r.U32()
		if h.Misc&MiscMmapBuildID != 0 && !r.Short {
			m.BuildID = bytes.Clone(inode[4 : 4+min(int(inode[0]), 20)])
		}
	}
	m.Name = r.Text()
	return m, !r.Short
}

// Task is a FORK or EXIT record.
type Task struct {
	PID, PPID uint32
	TID, PTID uint32
	Time      uint64
}

// ParseTask reads the body of a FORK or EXIT record.
func ParseTask(h Header, record []byte) (Task, bool) {
	r := Cursor{Order: h.Order, B: record}
	var t Task
	t.PID, t.PPID = r.U32(), r.U32()
	t.TID, t.PTID = r.U32(), r.U32()
	t.Time = r.U64()
	return t, !r.Short
}

// Comm is a COMM record: a new name of a thread, by exec if Exec is set.
type Comm struct {
	PID, TID uint32
	Name     string
	Exec     bool
}

// ParseComm reads the body of a COMM record.
func ParseComm(h Header, record []byte) (Comm, bool) {
	r := Cursor{Order: h.Order, B: record}
	c := Comm{Exec: h.Misc&MiscCommExec != 0}
	c.PID, c.TID = r.U32(), r.U32()
	c.Name = r.Text()
	return c, !r.Short
}

// ParseLost reads the body of a LOST or LOST_SAMPLES record: how many records
// the kernel could not write, and the id of their event if it says so.
func ParseLost(h Header, record []byte) (n, id uint64, ok bool) {
	r := Cursor{Order: h.Order, B: record}
	if h.Type == RecordLost {
		id = r.U64()
	}
	n = r.U64()
	return n, id, !r.Short
}

// Aux is an AUX record: new bytes in the AUX area.
type Aux struct {
	Offset, Size uint64
	Flags        uint64
}

// Flags of an AUX record: its area was full, or the hardware lost something.
const (
	AuxTruncated = 1
	AuxPartial   = 4
)

// ParseAux reads the body of an AUX record.
func ParseAux(h Header, record []byte) (Aux, bool) {
	r := Cursor{Order: h.Order, B: record}
	a := Aux{r.U64(), r.U64(), r.U64()}
	return a, !r.Short
}

// Trailer is what the kernel appends to records other than samples if
// FlagSampleIDAll is set.
type Trailer struct {
	PID, TID uint32
	Time     uint64
	ID       uint64
	StreamID uint64
	CPU      uint32
}

// trailerBits are the sample fields that a trailer has, in its order.
const trailerBits = SampleTID | SampleTime | SampleID | SampleStreamID | SampleCPU | SampleIdentifier

// TrailerSize is how many bytes a trailer has.
func (a *Attr) TrailerSize() int {
	if a.Flags&FlagSampleIDAll == 0 {
		return 0
	}
	return 8 * bits.OnesCount64(a.SampleType&trailerBits)
}

// ParseTrailer splits the body of a record other than a sample into what is its
// own and the trailer.
func (a *Attr) ParseTrailer(record []byte) (own []byte, t Trailer, ok bool) {
	size := a.TrailerSize()
	if len(record) < size {
		return record, t, false
	}
	own = record[:len(record)-size]
	r := Cursor{Order: a.Order, B: record[len(own):]}
	if a.SampleType&SampleTID != 0 {
		t.PID, t.TID = r.U32(), r.U32()
	}
	if a.SampleType&SampleTime != 0 {
		t.Time = r.U64()
	}
	if a.SampleType&SampleID != 0 {
		t.ID = r.U64()
	}
	if a.SampleType&SampleStreamID != 0 {
		t.StreamID = r.U64()
	}
	if a.SampleType&SampleCPU != 0 {
		t.CPU, _ = r.U32(), r.U32()
	}
	if a.SampleType&SampleIdentifier != 0 {
		t.ID = r.U64()
	}
	return own, t, true
}
