// Package perfevent knows the bytes that Linux exchanges with profilers: the
// description of an event (perf_event_attr) and the records that the kernel
// writes, which are the same in a ring buffer and in a perf.data file.
//
// The layouts follow include/uapi/linux/perf_event.h. Recorders meet the
// order of their own machine; files may come from any.
package perfevent

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// Sizes of perf_event_attr, by the kernel release that made it longer.
const (
	AttrSize0 = 64
	AttrSize7 = 128
	AttrSize8 = 136 // config3
)

// Attr describes an event. Fields keep their kernel names; Period is the
// frequency if FlagFreq is set.
type Attr struct {
	Type             uint32
	Size             uint32
	Config           uint64
	Period           uint64
	SampleType       uint64
	ReadFormat       uint64
	Flags            uint64
	Wakeup           uint32
	BPType           uint32
	Config1          uint64
	Config2          uint64
	BranchSampleType uint64
	SampleRegsUser   uint64
	SampleStackUser  uint32
	ClockID          int32
	SampleRegsIntr   uint64
	AuxWatermark     uint32
	SampleMaxStack   uint16
	AuxSampleSize    uint32
	AuxAction        uint32
	SigData          uint64
	Config3          uint64

	Order Order // of the records of the event
}

// Flag bits of Attr.Flags.
const (
	FlagDisabled      = 1 << 0
	FlagInherit       = 1 << 1
	FlagPinned        = 1 << 2
	FlagExclusive     = 1 << 3
	FlagExcludeUser   = 1 << 4
	FlagExcludeKernel = 1 << 5
	FlagExcludeHV     = 1 << 6
	FlagExcludeIdle   = 1 << 7
	FlagMmap          = 1 << 8
	FlagComm          = 1 << 9
	FlagFreq          = 1 << 10
	FlagEnableOnExec  = 1 << 12
	FlagTask          = 1 << 13
	FlagWatermark     = 1 << 14
	PreciseShift      = 15 // two bits
	FlagMmapData      = 1 << 17
	FlagSampleIDAll   = 1 << 18
	FlagExcludeHost   = 1 << 19
	FlagExcludeGuest  = 1 << 20
	// FlagExcludeCallchainUser leaves the program's own callers out of call chains.
	FlagExcludeCallchainUser = 1 << 22
	FlagMmap2                = 1 << 23
	FlagCommExec             = 1 << 24
	FlagUseClockID           = 1 << 25
	FlagContextSwitch        = 1 << 26
	FlagWriteBackward        = 1 << 27
	FlagBuildID              = 1 << 34
	// FlagInheritThread follows threads and no processes; since Linux 5.13.
	FlagInheritThread = 1 << 35
)

// Precise returns precise_ip.
func (a *Attr) Precise() int { return int(a.Flags >> PreciseShift & 3) }

// Event types that have a fixed number; those of PMUs come from sysfs.
const (
	TypeHardware   = 0
	TypeSoftware   = 1
	TypeTracepoint = 2
	TypeCache      = 3
	TypeRaw        = 4
	TypeBreakpoint = 5
)

// Software events.
const (
	SoftwareCPUClock   = 0
	SoftwareTaskClock  = 1
	SoftwarePageFaults = 2
	SoftwareDummy      = 9
)

// Bits of Attr.SampleType.
const (
	SampleIP           = 1 << 0
	SampleTID          = 1 << 1
	SampleTime         = 1 << 2
	SampleAddr         = 1 << 3
	SampleRead         = 1 << 4
	SampleCallchain    = 1 << 5
	SampleID           = 1 << 6
	SampleCPU          = 1 << 7
	SamplePeriod       = 1 << 8
	SampleStreamID     = 1 << 9
	SampleRaw          = 1 << 10
	SampleBranchStack  = 1 << 11
	SampleRegsUser     = 1 << 12
	SampleStackUser    = 1 << 13
	SampleWeight       = 1 << 14
	SampleDataSrc      = 1 << 15
	SampleIdentifier   = 1 << 16
	SampleTransaction  = 1 << 17
	SampleRegsIntr     = 1 << 18
	SamplePhysAddr     = 1 << 19
	SampleAux          = 1 << 20
	SampleCgroup       = 1 << 21
	SampleDataPageSize = 1 << 22
	SampleCodePageSize = 1 << 23
	SampleWeightStruct = 1 << 24

	SampleKnown = 1<<25 - 1 // all of them
)

// Bits of Attr.ReadFormat.
const (
	ReadEnabled = 1 << 0
	ReadRunning = 1 << 1
	ReadID      = 1 << 2
	ReadGroup   = 1 << 3
	ReadLost    = 1 << 4
)

// ParseAttr reads an attr of any size the kernel has had. Fields beyond its
// end are zero, bytes beyond what is known are ignored. Of one that says it is
// longer than b, what is there is read.
func ParseAttr(o Order, b []byte) (Attr, error) {
	if len(b) < AttrSize0 {
		return Attr{}, fmt.Errorf("event description of %d bytes; the shortest has %d", len(b), AttrSize0)
	}
	size := o.U32(b[4:])
	if size == 0 {
		size = AttrSize0 // written by the first kernels
	}
	if size < AttrSize0 {
		return Attr{}, fmt.Errorf("event description says %d bytes; the shortest has %d", size, AttrSize0)
	}
	var full [AttrSize8]byte
	copy(full[:], b[:min(uint64(size), uint64(len(b)))])
	u32 := func(at int) uint32 { return o.U32(full[at:]) }
	u64 := func(at int) uint64 { return o.U64(full[at:]) }
	return Attr{
		Type: u32(0), Size: size, Config: u64(8), Period: u64(16), SampleType: u64(24), ReadFormat: u64(32), Flags: o.flags(full[40:]),
		Wakeup: u32(48), BPType: u32(52), Config1: u64(56), Config2: u64(64), BranchSampleType: u64(72),
		SampleRegsUser: u64(80), SampleStackUser: u32(88), ClockID: int32(u32(92)), SampleRegsIntr: u64(96),
		AuxWatermark: u32(104), SampleMaxStack: o.U16(full[108:]),
		AuxSampleSize: u32(112), AuxAction: u32(116), SigData: u64(120), Config3: u64(128),
		Order: o,
	}, nil
}

// flags reads the flag bits of an attr.
func (o Order) flags(b []byte) uint64 {
	flags := o.bitfield(b)
	if o {
		// precise_ip is a field of two bits, whose order reversing turned.
		p := flags >> PreciseShift & 3
		flags = flags&^(3<<PreciseShift) | (p>>1|p<<1&2)<<PreciseShift
	}
	return flags
}

// IDOffset is where a sample has the id of its event, counted from the end of
// the record header; -1 if it has none.
func (a *Attr) IDOffset() int {
	switch {
	case a.SampleType&SampleIdentifier != 0:
		return 0
	case a.SampleType&SampleID != 0:
		return 8 * bits.OnesCount64(a.SampleType&(SampleIP|SampleTID|SampleTime|SampleAddr))
	}
	return -1
}

// Bytes returns the attr as the kernel reads it. Size 0 means the size that
// holds all fields that are set: kernels refuse a longer one than they know
// only if what they do not know is not zero, but some refuse it outright.
func (a *Attr) Bytes() []byte {
	size := a.Size
	if size == 0 {
		size = AttrSize7
		if a.Config3 != 0 {
			size = AttrSize8
		}
	}
	var full [AttrSize8]byte
	u32 := func(at int, v uint32) { binary.LittleEndian.PutUint32(full[at:], v) }
	u64 := func(at int, v uint64) { binary.LittleEndian.PutUint64(full[at:], v) }
	u32(0, a.Type)
	u32(4, size)
	u64(8, a.Config)
	u64(16, a.Period)
	u64(24, a.SampleType)
	u64(32, a.ReadFormat)
	u64(40, a.Flags)
	u32(48, a.Wakeup)
	u32(52, a.BPType)
	u64(56, a.Config1)
	u64(64, a.Config2)
	u64(72, a.BranchSampleType)
	u64(80, a.SampleRegsUser)
	u32(88, a.SampleStackUser)
	u32(92, uint32(a.ClockID))
	u64(96, a.SampleRegsIntr)
	u32(104, a.AuxWatermark)
	binary.LittleEndian.PutUint16(full[108:], a.SampleMaxStack)
	u32(112, a.AuxSampleSize)
	u32(116, a.AuxAction)
	u64(120, a.SigData)
	u64(128, a.Config3)
	out := make([]byte, size)
	copy(out, full[:])
	return out
}
