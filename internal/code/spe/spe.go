// Package spe decodes the packets of ARM's Statistical Profiling Extension, from
// files of perf and from the area that the unit fills while a program runs.
package spe

import (
	"encoding/binary"

	"github.com/isobath/isobath/internal/code/datasrc"
	"github.com/isobath/isobath/internal/machine/hw"
)

// Record is one operation that the unit followed. See "Statistical Profiling Extension sample record specification"
// in the Arm Architecture Reference Manual.
type Record struct {
	PC, Target, VA, PA, Previous uint64
	EL                           uint8 // exception level of PC
	Secure                       bool
	Events                       uint64
	Total, Issue, Translation    uint16 // cycles
	Source                       uint16 // its meaning depends on the processor
	Class, Op                    uint8
	Context                      uint32
	Time                         uint64 // ticks of the machine's counter
	Has                          Field
}

// Field says which fields of a record are there.
type Field uint16

// The fields.
const (
	HasPC Field = 1 << iota
	HasTarget
	HasVA
	HasPA
	HasEvents
	HasTotal
	HasIssue
	HasTranslation
	HasSource
	HasOp
	HasContext
	HasTime
)

// Events of a record.
const (
	Retired    = 1 << 1
	L1DAccess  = 1 << 2
	L1DRefill  = 1 << 3
	TLBAccess  = 1 << 4
	TLBWalk    = 1 << 5
	NotTaken   = 1 << 6
	Mispredict = 1 << 7
	LLCAccess  = 1 << 8
	LLCMiss    = 1 << 9
	Remote     = 1 << 10
	Misaligned = 1 << 11
)

const (
	classLoadStore = 1
	headPad        = 0x00
	headEnd        = 0x01
	headTime       = 0x71
)

// Memory reports whether the record is an access.
func (r *Record) Memory() bool { return r.Has&HasOp != 0 && r.Class == classLoadStore }

// Decoder cuts a stream of packets into records. Packets may be cut at the
// end of a piece; the rest of them waits for the next.
type Decoder struct {
	// Bad counts bytes that begin no packet.
	Bad   int
	carry []byte
	rec   Record
}

// Reset forgets what was begun: the next piece does not follow the last.
func (d *Decoder) Reset() { d.carry, d.rec = nil, Record{} }

// Decode reads the packets of a piece. What emit gets is valid during the call.
func (d *Decoder) Decode(b []byte, emit func(*Record)) {
	if len(d.carry) > 0 {
		b = append(d.carry, b...)
	}
	for len(b) > 0 {
		n, ok := d.packet(b, emit)
		if n == 0 {
			break // cut
		}
		if !ok {
			d.Bad++
			d.rec = Record{} // what was read before cannot be trusted
		}
		b = b[n:]
	}
	d.carry = append([]byte(nil), b...)
}

// packet reads one packet and returns its size: 0 if it is cut. A byte that
// begins no packet is skipped.
func (d *Decoder) packet(b []byte, emit func(*Record)) (size int, ok bool) {
	head, index, at := b[0], 0, 1
	if head == headPad {
		return 1, true
	}
	if head == headEnd {
		d.end(emit)
		return 1, true
	}
	if head&0xfc == 0x20 { // extended: the index has more bits
		if len(b) < 2 {
			return 0, true
		}
		index, head, at = int(head&3)<<3, b[1], 2
	}
	width := 1 << (head >> 4 & 3)
	if !isPacket(head) {
		return 1, false
	}
	if len(b) < at+width {
		return 0, true
	}
	var word [8]byte
	copy(word[:], b[at:at+width])
	d.field(head, index, binary.LittleEndian.Uint64(word[:]))
	if head == headTime {
		d.end(emit)
	}
	return at + width, true
}

// isPacket reports whether a byte begins a packet with a payload.
func isPacket(h byte) bool {
	return h == headTime || h&0xcf == 0x42 || h&0xcf == 0x43 || h&0xfc == 0x64 || h&0xfc == 0x48 || h&0xf8 == 0xb0 || h&0xf8 == 0x98
}

func (d *Decoder) field(head byte, index int, v uint64) {
	r := &d.rec
	switch {
	case head == headTime:
		r.Time, r.Has = v, r.Has|HasTime
	case head&0xcf == 0x42:
		r.Events, r.Has = v, r.Has|HasEvents
	case head&0xcf == 0x43:
		r.Source, r.Has = uint16(v), r.Has|HasSource
	case head&0xfc == 0x64:
		r.Context, r.Has = uint32(v), r.Has|HasContext
	case head&0xfc == 0x48:
		r.Class, r.Op, r.Has = head&3, uint8(v), r.Has|HasOp
	case head&0xf8 == 0xb0:
		r.address(index|int(head&7), v)
	default:
		r.counter(index|int(head&7), uint16(v))
	}
}

// address takes an address packet: 56 bits of address below a byte that says
// the exception level, or is a tag.
func (r *Record) address(index int, v uint64) {
	extended := uint64(int64(v<<8) >> 8)
	switch index {
	case 0:
		r.PC, r.Has = extended, r.Has|HasPC
		r.EL, r.Secure = uint8(v>>61&3), v>>63 == 0
	case 1:
		r.Target, r.Has = extended, r.Has|HasTarget
	case 2:
		r.VA, r.Has = extended, r.Has|HasVA
	case 3:
		r.PA, r.Has = v&(1<<56-1), r.Has|HasPA
	case 4:
		r.Previous = extended
	}
}

func (r *Record) counter(index int, v uint16) {
	switch index {
	case 0:
		r.Total, r.Has = v, r.Has|HasTotal
	case 1:
		r.Issue, r.Has = v, r.Has|HasIssue
	case 2:
		r.Translation, r.Has = v, r.Has|HasTranslation
	}
}

// end ends a record.
func (d *Decoder) end(emit func(*Record)) {
	if d.rec.Has&^HasTime != 0 {
		emit(&d.rec)
	}
	d.rec = Record{}
}

// Access decodes what served the access: by the data source where the
// processor's meaning of it is known, else by the events.
func (r *Record) Access(sources map[uint16]Served) datasrc.Access {
	a := datasrc.Access{Op: datasrc.Load, Hit: datasrc.HitLevel}
	if r.Op&1 != 0 {
		a.Op = datasrc.Store
	}
	switch {
	case r.Events&TLBWalk != 0:
		a.TLB = datasrc.TLBWalk
	case r.Events&TLBAccess != 0:
		a.TLB = datasrc.TLBHit
	}
	// Atomic, exclusive and acquire-release accesses have bit 1 set, and of
	// bits 5 to 7 none; bit 2 is the atomic ones.
	if r.Op&0xe2 == 2 && r.Op&4 != 0 {
		a.Lock = datasrc.Locked
	}
	if s, ok := sources[r.Source]; ok && r.Has&HasSource != 0 && a.Op == datasrc.Load {
		a.Level, a.Snoop = s.Level, s.Snoop
		return a
	}
	a.Level, a.Hit = r.levelByEvents()
	return a
}

func (r *Record) levelByEvents() (hw.Level, datasrc.Hit) {
	switch {
	case r.Events&Remote != 0:
		return hw.RemoteCache, datasrc.HitLevel
	case r.Events&LLCMiss != 0:
		return hw.BeyondL3, datasrc.Miss
	case r.Events&LLCAccess != 0:
		return hw.L3, datasrc.HitLevel
	case r.Events&L1DRefill != 0:
		return hw.BeyondL1, datasrc.Miss
	case r.Events&L1DAccess != 0:
		return hw.L1, datasrc.HitLevel
	}
	return hw.NoLevel, 0
}

// Served is a meaning of the data source.
type Served struct {
	Level hw.Level
	Snoop datasrc.Snoop
}

// The meanings by maker, from tools/perf/util/arm-spe.c and the technical
// reference manuals it names.
var (
	arm = map[uint16]Served{
		0x0: {hw.L1, datasrc.SnoopNone}, 0x8: {hw.L2, datasrc.SnoopNone}, 0x9: {hw.LocalPeerCache, datasrc.SnoopPeer}, 0xa: {hw.L3, datasrc.SnoopPeer},
		0xb: {hw.L3, datasrc.SnoopNone}, 0xc: {hw.LocalPeerCache, datasrc.SnoopPeer}, 0xd: {hw.RemoteCache, datasrc.SnoopPeer}, 0xe: {hw.LocalRAM, datasrc.SnoopNone},
	}
	ampereOne = map[uint16]Served{
		0x0: {hw.LocalPeerCache, datasrc.SnoopPeer}, 0x3: {hw.L3, datasrc.SnoopNone}, 0x5: {hw.RemoteCache, datasrc.SnoopPeer},
		0x7: {hw.LocalRAM, datasrc.SnoopNone}, 0x8: {hw.L1, datasrc.SnoopNone}, 0x9: {hw.L2, datasrc.SnoopNone},
	}
	hiSilicon = map[uint16]Served{
		0: {hw.LocalPeerCache, datasrc.SnoopPeer}, 1: {hw.LocalPeerCache, datasrc.SnoopHitM}, 2: {hw.L3, datasrc.SnoopNone}, 3: {hw.L3, datasrc.SnoopHitM},
		4: {hw.LocalPeerCache, datasrc.SnoopPeer}, 5: {hw.LocalPeerCache, datasrc.SnoopHitM}, 6: {hw.RemoteCache, datasrc.SnoopPeer}, 7: {hw.RemoteCache, datasrc.SnoopHitM},
		8: {hw.LocalRAM, datasrc.SnoopNone}, 9: {hw.RemoteRAM, datasrc.SnoopNone}, 13: {hw.IO, 0}, 16: {hw.L2, datasrc.SnoopNone}, 17: {hw.L2, datasrc.SnoopHitM}, 18: {hw.L1, datasrc.SnoopNone},
	}
)

// Sources returns the meaning of the data source on the processor with a
// main ID register; nil if it is not known.
func Sources(midr uint64) map[uint16]Served {
	switch maker, part := midr>>24&0xff, midr>>4&0xfff; {
	case maker == 0x41 && (part == 0xd0c || part == 0xd40 || part == 0xd49 || part == 0xd4f || part >= 0xd80 && part <= 0xd8f):
		return arm // Neoverse N1, V1, N2, V2, and the Cortex and Neoverse cores of 2022 on
	case maker == 0xc0 && (part == 0xac3 || part == 0xac4 || part == 0xac5):
		return ampereOne
	case maker == 0x48 && part == 0xd06:
		return hiSilicon // HIP12
	}
	return nil
}
