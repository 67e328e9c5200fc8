package perfdata

import (
	"fmt"
	"math/bits"
)

// Attr is struct perf_event_attr: how one event was opened. Fields that an
// older perf did not know are zero.
type Attr struct {
	Type         uint32
	Config       uint64
	Period       uint64 // or frequency
	SampleType   uint64
	ReadFormat   uint64
	Flags        uint64
	BPType       uint32
	Config1      uint64
	Config2      uint64
	BranchType   uint64
	RegsUser     uint64
	RegsIntr     uint64
	StackUser    uint32
	ClockID      int32
	Config3      uint64
	registerBits [2]int // number of user and interrupt registers
	fixedSize    int    // bytes of the fields at the start of a sample
}

// Flag bits of an attr that matter to a reader.
const (
	flagExcludeUser   = 1 << 4
	flagExcludeKernel = 1 << 5
	flagExcludeHV     = 1 << 6
	flagFreq          = 1 << 10
	flagSampleIDAll   = 1 << 18
	flagExcludeHost   = 1 << 19
	flagExcludeGuest  = 1 << 20
	flagUseClockID    = 1 << 25
)

// preciseIP is how close to the sampled instruction ip must be, 0 to 3.
func (a *Attr) preciseIP() int { return int(a.Flags >> 15 & 3) }

// Bits of Attr.SampleType: PERF_SAMPLE_*.
const (
	sampleIP = 1 << iota
	sampleTID
	sampleTime
	sampleAddr
	sampleRead
	sampleCallchain
	sampleID
	sampleCPU
	samplePeriod
	sampleStreamID
	sampleRaw
	sampleBranchStack
	sampleRegsUser
	sampleStackUser
	sampleWeight
	sampleDataSrc
	sampleIdentifier
	sampleTransaction
	sampleRegsIntr
	samplePhysAddr
	sampleAux
	sampleCgroup
	sampleDataPageSize
	sampleCodePageSize
	sampleWeightStruct
	sampleKnown = 1<<iota - 1
)

// Bits of Attr.ReadFormat.
const (
	readEnabled = 1 << iota
	readRunning
	readID
	readGroup
	readLost
)

const (
	minAttrSize = 64 // PERF_ATTR_SIZE_VER0
	// maxAttrSize is far above the 136 bytes of 2024; more is not an attr.
	maxAttrSize = 4096
)

// parseAttr reads an attr of any size: an unknown tail is ignored, a missing
// one is zero.
func parseAttr(o order, b []byte) (Attr, error) {
	if len(b) < minAttrSize {
		return Attr{}, fmt.Errorf("event attribute of %d bytes, at least %d needed: %w", len(b), minAttrSize, errDamaged)
	}
	var full [136]byte
	copy(full[:], b[:min(len(b), len(full))])
	a := Attr{
		Type: o.u32(full[0:]), Config: o.u64(full[8:]), Period: o.u64(full[16:]), SampleType: o.u64(full[24:]),
		ReadFormat: o.u64(full[32:]), Flags: o.bitfield(full[40:]), BPType: o.u32(full[52:]),
		Config1: o.u64(full[56:]), Config2: o.u64(full[64:]), BranchType: o.u64(full[72:]), RegsUser: o.u64(full[80:]),
		StackUser: o.u32(full[88:]), ClockID: int32(o.u32(full[92:])), RegsIntr: o.u64(full[96:]), Config3: o.u64(full[128:]),
	}
	if o {
		// precise_ip is a field of two bits, whose order reversing turned.
		p := a.Flags >> 15 & 3
		a.Flags = a.Flags&^(3<<15) | (p>>1|p<<1&2)<<15
	}
	a.registerBits = [2]int{bits.OnesCount64(a.RegsUser), bits.OnesCount64(a.RegsIntr)}
	a.fixedSize = 8 * bits.OnesCount64(a.SampleType&fixedFields)
	return a, nil
}

// idOffset is where a sample has the id of its event, counted from the end of
// the record header; -1 if it has none.
func (a *Attr) idOffset() int {
	switch {
	case a.SampleType&sampleIdentifier != 0:
		return 0
	case a.SampleType&sampleID != 0:
		return 8 * bits.OnesCount64(a.SampleType&(sampleIP|sampleTID|sampleTime|sampleAddr))
	}
	return -1
}

// trailer is the size of what sample_id_all appends to records that are not
// samples.
func (a *Attr) trailer() int {
	if a.Flags&flagSampleIDAll == 0 {
		return 0
	}
	return 8 * bits.OnesCount64(a.SampleType&(sampleTID|sampleTime|sampleID|sampleStreamID|sampleCPU|sampleIdentifier))
}

// Event is an attr with what the file says about it.
type Event struct {
	Attr
	Name string
	IDs  []uint64
	// PMU is the name of the device the attr's type stands for, if the file
	// lists devices.
	PMU string

	kind  kind
	extra uint64 // fields its samples have from elsewhere, as bits of SampleType
}
