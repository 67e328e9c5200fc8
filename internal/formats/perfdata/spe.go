package perfdata

import (
	"encoding/binary"

	"isobath/internal/datasrc"
	"isobath/internal/hw"
)

// speRecord is one operation that ARM's statistical profiling extension
// followed. See "Statistical Profiling Extension sample record specification"
// in the Arm Architecture Reference Manual.
type speRecord struct {
	pc, target, va, pa, previous uint64
	el                           uint8 // exception level of pc
	secure                       bool
	events                       uint64
	total, issue, translation    uint16
	source                       uint16
	class, op                    uint8
	context                      uint32
	time                         uint64
	has                          speField
}

type speField uint16

const (
	spePC speField = 1 << iota
	speTarget
	speVA
	spePA
	speEvents
	speTotal
	speIssue
	speTranslation
	speSource
	speOp
	speContext
	speTime
)

// Events of a record.
const (
	speRetired    = 1 << 1
	speL1DAccess  = 1 << 2
	speL1DRefill  = 1 << 3
	speTLBAccess  = 1 << 4
	speTLBWalk    = 1 << 5
	speNotTaken   = 1 << 6
	speMispredict = 1 << 7
	speLLCAccess  = 1 << 8
	speLLCMiss    = 1 << 9
	speRemote     = 1 << 10
	speAlignment  = 1 << 11
	speClassLS    = 1 // load or store
	spePad        = 0x00
	speEnd        = 0x01
	speTimestamp  = 0x71
)

// memory reports whether the record is an access.
func (r *speRecord) memory() bool { return r.has&speOp != 0 && r.class == speClassLS }

// speDecoder cuts a stream of packets into records. Packets may be cut at the
// end of a piece; the rest of them waits for the next.
type speDecoder struct {
	carry []byte
	rec   speRecord
	bad   int // bytes that begin no packet
}

// decode reads the packets of a piece.
func (d *speDecoder) decode(b []byte, emit func(*speRecord)) {
	if len(d.carry) > 0 {
		b = append(d.carry, b...)
	}
	for len(b) > 0 {
		n, ok := d.packet(b, emit)
		if n == 0 {
			break // cut
		}
		if !ok {
			d.bad++
			d.rec = speRecord{} // what was read before cannot be trusted
		}
		b = b[n:]
	}
	d.carry = append([]byte(nil), b...)
}

// packet reads one packet and returns its size: 0 if it is cut. A byte that
// begins no packet is skipped.
func (d *speDecoder) packet(b []byte, emit func(*speRecord)) (size int, ok bool) {
	head, index, at := b[0], 0, 1
	if head == spePad {
		return 1, true
	}
	if head == speEnd {
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
	if !spePacket(head) {
		return 1, false
	}
	if len(b) < at+width {
		return 0, true
	}
	var word [8]byte
	copy(word[:], b[at:at+width])
	d.field(head, index, binary.LittleEndian.Uint64(word[:]))
	if head == speTimestamp {
		d.end(emit)
	}
	return at + width, true
}

// spePacket reports whether a byte begins a packet with a payload.
func spePacket(h byte) bool {
	return h == speTimestamp || h&0xcf == 0x42 || h&0xcf == 0x43 || h&0xfc == 0x64 || h&0xfc == 0x48 || h&0xf8 == 0xb0 || h&0xf8 == 0x98
}

func (d *speDecoder) field(head byte, index int, v uint64) {
	r := &d.rec
	switch {
	case head == speTimestamp:
		r.time, r.has = v, r.has|speTime
	case head&0xcf == 0x42:
		r.events, r.has = v, r.has|speEvents
	case head&0xcf == 0x43:
		r.source, r.has = uint16(v), r.has|speSource
	case head&0xfc == 0x64:
		r.context, r.has = uint32(v), r.has|speContext
	case head&0xfc == 0x48:
		r.class, r.op, r.has = head&3, uint8(v), r.has|speOp
	case head&0xf8 == 0xb0:
		r.address(index|int(head&7), v)
	default:
		r.counter(index|int(head&7), uint16(v))
	}
}

// address takes an address packet: 56 bits of address below a byte that says
// the exception level, or is a tag.
func (r *speRecord) address(index int, v uint64) {
	extended := uint64(int64(v<<8) >> 8)
	switch index {
	case 0:
		r.pc, r.has = extended, r.has|spePC
		r.el, r.secure = uint8(v>>61&3), v>>63 == 0
	case 1:
		r.target, r.has = extended, r.has|speTarget
	case 2:
		r.va, r.has = extended, r.has|speVA
	case 3:
		r.pa, r.has = v&(1<<56-1), r.has|spePA
	case 4:
		r.previous = extended
	}
}

func (r *speRecord) counter(index int, v uint16) {
	switch index {
	case 0:
		r.total, r.has = v, r.has|speTotal
	case 1:
		r.issue, r.has = v, r.has|speIssue
	case 2:
		r.translation, r.has = v, r.has|speTranslation
	}
}

// end ends a record.
func (d *speDecoder) end(emit func(*speRecord)) {
	if d.rec.has&^speTime != 0 {
		emit(&d.rec)
	}
	d.rec = speRecord{}
}

// access decodes what served the access: by the data source where the
// processor's meaning of it is known, else by the events.
func (r *speRecord) access(sources map[uint16]speServed) datasrc.Access {
	a := datasrc.Access{Op: datasrc.Load, Hit: datasrc.HitLevel}
	if r.op&1 != 0 {
		a.Op = datasrc.Store
	}
	switch {
	case r.events&speTLBWalk != 0:
		a.TLB = datasrc.TLBWalk
	case r.events&speTLBAccess != 0:
		a.TLB = datasrc.TLBHit
	}
	// Atomic, exclusive and acquire-release accesses have bit 1 set, and of
	// bits 5 to 7 none; bit 2 is the atomic ones.
	if r.op&0xe2 == 2 && r.op&4 != 0 {
		a.Lock = datasrc.Locked
	}
	if s, ok := sources[r.source]; ok && r.has&speSource != 0 && a.Op == datasrc.Load {
		a.Level, a.Snoop = s.level, s.snoop
		return a
	}
	a.Level, a.Hit = r.levelByEvents()
	return a
}

func (r *speRecord) levelByEvents() (hw.Level, datasrc.Hit) {
	switch {
	case r.events&speRemote != 0:
		return hw.RemoteCache, datasrc.HitLevel
	case r.events&speLLCMiss != 0:
		return hw.BeyondL3, datasrc.Miss
	case r.events&speLLCAccess != 0:
		return hw.L3, datasrc.HitLevel
	case r.events&speL1DRefill != 0:
		return hw.BeyondL1, datasrc.Miss
	case r.events&speL1DAccess != 0:
		return hw.L1, datasrc.HitLevel
	}
	return hw.NoLevel, 0
}

// speServed is a meaning of the data source.
type speServed struct {
	level hw.Level
	snoop datasrc.Snoop
}

// The meanings by maker, from tools/perf/util/arm-spe.c and the technical
// reference manuals it names.
var (
	speArm = map[uint16]speServed{
		0x0: {hw.L1, datasrc.SnoopNone}, 0x8: {hw.L2, datasrc.SnoopNone}, 0x9: {hw.LocalPeerCache, datasrc.SnoopPeer}, 0xa: {hw.L3, datasrc.SnoopPeer},
		0xb: {hw.L3, datasrc.SnoopNone}, 0xc: {hw.LocalPeerCache, datasrc.SnoopPeer}, 0xd: {hw.RemoteCache, datasrc.SnoopPeer}, 0xe: {hw.LocalRAM, datasrc.SnoopNone},
	}
	speAmpereOne = map[uint16]speServed{
		0x0: {hw.LocalPeerCache, datasrc.SnoopPeer}, 0x3: {hw.L3, datasrc.SnoopNone}, 0x5: {hw.RemoteCache, datasrc.SnoopPeer},
		0x7: {hw.LocalRAM, datasrc.SnoopNone}, 0x8: {hw.L1, datasrc.SnoopNone}, 0x9: {hw.L2, datasrc.SnoopNone},
	}
	speHiSilicon = map[uint16]speServed{
		0: {hw.LocalPeerCache, datasrc.SnoopPeer}, 1: {hw.LocalPeerCache, datasrc.SnoopHitM}, 2: {hw.L3, datasrc.SnoopNone}, 3: {hw.L3, datasrc.SnoopHitM},
		4: {hw.LocalPeerCache, datasrc.SnoopPeer}, 5: {hw.LocalPeerCache, datasrc.SnoopHitM}, 6: {hw.RemoteCache, datasrc.SnoopPeer}, 7: {hw.RemoteCache, datasrc.SnoopHitM},
		8: {hw.LocalRAM, datasrc.SnoopNone}, 9: {hw.RemoteRAM, datasrc.SnoopNone}, 13: {hw.IO, 0}, 16: {hw.L2, datasrc.SnoopNone}, 17: {hw.L2, datasrc.SnoopHitM}, 18: {hw.L1, datasrc.SnoopNone},
	}
)

// speSources returns the meaning of the data source on the processor with a
// main ID register; nil if it is not known.
func speSources(midr uint64) map[uint16]speServed {
	switch maker, part := midr>>24&0xff, midr>>4&0xfff; {
	case maker == 0x41 && (part == 0xd0c || part == 0xd40 || part == 0xd49 || part == 0xd4f || part >= 0xd80 && part <= 0xd8f):
		return speArm // Neoverse N1, V1, N2, V2, and the Cortex and Neoverse cores of 2022 on
	case maker == 0xc0 && (part == 0xac3 || part == 0xac4 || part == 0xac5):
		return speAmpereOne
	case maker == 0x48 && part == 0xd06:
		return speHiSilicon // HIP12
	}
	return nil
}
