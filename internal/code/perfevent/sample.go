package perfevent

import (
	"errors"
	"fmt"
	"math/bits"
)

// Sample is one SAMPLE record. Which fields were sampled is in the event's
// Attr.SampleType; the others are zero. Slices point into the record.
type Sample struct {
	Identifier   uint64
	IP           uint64
	PID, TID     uint32
	Time         uint64
	Addr         uint64
	ID           uint64
	StreamID     uint64
	CPU          uint32
	Period       uint64
	Weight       uint64 // WEIGHT, or WEIGHT_STRUCT: see Weights
	DataSrc      uint64
	Transaction  uint64
	PhysAddr     uint64
	Cgroup       uint64
	DataPageSize uint64
	CodePageSize uint64

	Enabled, Running uint64 // how long the counter was wanted and counted; 0 if not recorded
	Values           Words  // of the counters; see Readings
	Callchain        Words
	Raw              []byte
	RegsUser         Regs
	StackUser        []byte
	RegsIntr         Regs
	Aux              []byte

	filled uint64 // the fields that are not zero, as bits of a sample type
}

// ABI64 is the ABI of the registers of a 64-bit program.
const ABI64 = 2

// Regs are sampled registers: those of Mask in ascending order of their bits.
type Regs struct {
	ABI    uint64 // 0 none, 1 32-bit, 2 64-bit
	Mask   uint64
	Values Words
}

// Get returns the register of a bit of the mask.
func (r *Regs) Get(bit int) (uint64, bool) {
	if r.ABI == 0 || bit < 0 || bit > 63 || r.Mask>>bit&1 == 0 {
		return 0, false
	}
	return r.Values.At(bits.OnesCount64(r.Mask & (1<<bit - 1))), true
}

// ErrLength is returned for a sample that is longer or shorter than its event
// says. Nothing of it can be trusted.
var ErrLength = errors.New("the sample does not have the length its event says")

// Fields of eight bytes at the start of a sample, and those whose size is in
// the sample.
const (
	headFields = SampleIdentifier | SampleIP | SampleTID | SampleTime | SampleAddr | SampleID | SampleStreamID | SampleCPU | SamplePeriod
	longFields = SampleRead | SampleCallchain | SampleRaw | SampleBranchStack | SampleRegsUser | SampleStackUser | SampleRegsIntr | SampleAux
)

// Decode reads the body of a SAMPLE record, without its header, of an event. It
// overwrites s. A sample must be consumed exactly: one field misread makes all
// that follow it wrong, so anything else is ErrLength.
func (a *Attr) Decode(record []byte, s *Sample) error {
	t := a.SampleType
	if t&^SampleKnown != 0 {
		return fmt.Errorf("samples have fields this program does not know (%#x)", t&^SampleKnown)
	}
	if s.filled != t || t&longFields != 0 {
		// The fields of a short sample overwrite those of the one before.
		*s = Sample{filled: t}
	}
	c := Cursor{a.Order, a.head(record, s), false}
	if c.B == nil {
		return ErrLength
	}
	if t&longFields != 0 {
		a.middle(&c, s)
	}
	a.tail(&c, s)
	if c.Short || len(c.B) != 0 {
		return ErrLength
	}
	return nil
}

// head reads the fields of fixed size at the start and returns what follows
// them; nil if the record is shorter.
func (a *Attr) head(b []byte, s *Sample) []byte {
	t, o := a.SampleType, a.Order
	size := 8 * bits.OnesCount64(t&headFields)
	if size > len(b) || b == nil {
		return nil
	}
	rest := b[size:]
	if t&SampleIdentifier != 0 {
		s.Identifier, b = o.U64(b), b[8:]
	}
	if t&SampleIP != 0 {
		s.IP, b = o.U64(b), b[8:]
	}
	if t&SampleTID != 0 {
		s.PID, s.TID, b = o.U32(b), o.U32(b[4:]), b[8:]
	}
	if t&SampleTime != 0 {
		s.Time, b = o.U64(b), b[8:]
	}
	if t&SampleAddr != 0 {
		s.Addr, b = o.U64(b), b[8:]
	}
	if t&SampleID != 0 {
		s.ID, b = o.U64(b), b[8:]
	}
	if t&SampleStreamID != 0 {
		s.StreamID, b = o.U64(b), b[8:]
	}
	if t&SampleCPU != 0 {
		s.CPU, b = o.U32(b), b[8:]
	}
	if t&SamplePeriod != 0 {
		s.Period = o.U64(b)
	}
	return rest
}

// middle reads the fields of variable size.
func (a *Attr) middle(c *Cursor, s *Sample) {
	t := a.SampleType
	if t&SampleRead != 0 {
		a.counters(c, s)
	}
	if t&SampleCallchain != 0 {
		s.Callchain = c.words(c.U64())
	}
	if t&SampleRaw != 0 {
		s.Raw = c.Bytes(uint64(c.U32()))
	}
	if t&SampleBranchStack != 0 {
		a.skipBranches(c)
	}
	if t&SampleRegsUser != 0 {
		s.RegsUser = regs(c, a.SampleRegsUser)
	}
	if t&SampleStackUser != 0 {
		if n := c.U64(); n != 0 {
			s.StackUser = c.Bytes(n)
			if used := c.U64(); used < n {
				s.StackUser = s.StackUser[:min(used, uint64(len(s.StackUser)))]
			}
		}
	}
}

// tail reads what stands behind the fields of variable size.
func (a *Attr) tail(c *Cursor, s *Sample) {
	t := a.SampleType
	if t&(SampleWeight|SampleWeightStruct) != 0 {
		s.Weight = c.U64()
	}
	if t&SampleDataSrc != 0 {
		s.DataSrc = c.U64()
	}
	if t&SampleTransaction != 0 {
		s.Transaction = c.U64()
	}
	if t&SampleRegsIntr != 0 {
		s.RegsIntr = regs(c, a.SampleRegsIntr)
	}
	if t&SamplePhysAddr != 0 {
		s.PhysAddr = c.U64()
	}
	if t&SampleCgroup != 0 {
		s.Cgroup = c.U64()
	}
	if t&SampleDataPageSize != 0 {
		s.DataPageSize = c.U64()
	}
	if t&SampleCodePageSize != 0 {
		s.CodePageSize = c.U64()
	}
	if t&SampleAux != 0 {
		s.Aux = c.Bytes(c.U64())
	}
}

func regs(c *Cursor, mask uint64) Regs {
	abi := c.U64()
	if abi == 0 {
		return Regs{}
	}
	return Regs{ABI: abi, Mask: mask, Values: c.words(uint64(bits.OnesCount64(mask)))}
}

// counters reads how long the counter ran, and the values of the event or of
// all events of its group.
func (a *Attr) counters(c *Cursor, s *Sample) {
	f := a.ReadFormat
	each := uint64(a.readingWords())
	single := c.B
	members := c.U64() // or the value
	if f&ReadEnabled != 0 {
		s.Enabled = c.U64()
	}
	if f&ReadRunning != 0 {
		s.Running = c.U64()
	}
	if f&ReadGroup != 0 {
		s.Values = c.words(each * uint64(c.Count(members, int(8*each))))
		return
	}
	c.Bytes(8 * (each - 1))
	if !c.Short {
		s.Values = Words{single[:len(single)-len(c.B)], c.Order}
	}
}

// readingWords is how many words there are for each counter.
func (a *Attr) readingWords() int { return 1 + bits.OnesCount64(a.ReadFormat&(ReadID|ReadLost)) }

// Readings calls yield with the id and the value of each counter that the
// sample read. Ids are 0 if the event does not record them.
func (a *Attr) Readings(s *Sample, yield func(id, value uint64)) {
	f, w := a.ReadFormat, s.Values
	if f&ReadGroup == 0 {
		if w.Len() > 0 {
			id := uint64(0)
			if f&ReadID != 0 {
				id = w.At(1 + bits.OnesCount64(f&(ReadEnabled|ReadRunning)))
			}
			yield(id, w.At(0))
		}
		return
	}
	for i, each := 0, a.readingWords(); i < w.Len(); i += each {
		id := uint64(0)
		if f&ReadID != 0 {
			id = w.At(i + 1)
		}
		yield(id, w.At(i))
	}
}

// Bits of Attr.BranchSampleType that change the layout.
const (
	branchIndex    = 1 << 17
	branchCounters = 1 << 19
)

// skipBranches passes over the branch stack.
func (a *Attr) skipBranches(c *Cursor) {
	members := c.U64()
	if a.BranchSampleType&branchIndex != 0 {
		c.U64()
	}
	n := uint64(c.Count(members, 24))
	c.Bytes(24 * n)
	if a.BranchSampleType&branchCounters != 0 {
		c.Bytes(8 * n)
	}
}
