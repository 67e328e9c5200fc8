package perfevent

import (
	"encoding/binary"
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
	Callchain    Words
	Raw          []byte
	RegsUser     Regs
	StackUser    []byte
	Weight       uint64 // WEIGHT, or WEIGHT_STRUCT: see Weights
	DataSrc      uint64
	Transaction  uint64
	RegsIntr     Regs
	PhysAddr     uint64
	Cgroup       uint64
	DataPageSize uint64
	CodePageSize uint64
	Aux          []byte
}

// Weights splits a WEIGHT_STRUCT: cache latency, instruction latency and retire
// latency on Intel.
func (s *Sample) Weights() (var1 uint32, var2, var3 uint16) {
	return uint32(s.Weight), uint16(s.Weight >> 32), uint16(s.Weight >> 48)
}

// Words are 64-bit words in a record, which need not be aligned.
type Words []byte

// Len returns their number.
func (w Words) Len() int { return len(w) / 8 }

// At returns word i.
func (w Words) At(i int) uint64 { return binary.LittleEndian.Uint64(w[8*i:]) }

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

// body reads fields of one record one after the other. After a read beyond the
// end it stays short, and all reads give zero.
type body struct {
	b     []byte
	short bool
}

func (r *body) u64() uint64 {
	if len(r.b) < 8 {
		r.short = true
		return 0
	}
	v := binary.LittleEndian.Uint64(r.b)
	r.b = r.b[8:]
	return v
}

func (r *body) pair() (uint32, uint32) {
	v := r.u64()
	return uint32(v), uint32(v >> 32)
}

// take returns the next n bytes.
func (r *body) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.short = true
		return nil
	}
	out := r.b[:n:n]
	r.b = r.b[n:]
	return out
}

// words returns the next n words.
func (r *body) words(n uint64) Words {
	if n > uint64(len(r.b))/8 {
		r.short = true
		return nil
	}
	return r.take(8 * n)
}

// Decode reads the body of a SAMPLE record, without its header, of an event. It
// overwrites s. A sample must be consumed exactly: anything else is ErrLength.
func (a *Attr) Decode(record []byte, s *Sample) error {
	if unknown := a.SampleType &^ sampleKnown; unknown != 0 {
		return fmt.Errorf("samples have fields this program does not know (%#x)", unknown)
	}
	*s = Sample{}
	r := &body{b: record}
	a.head(r, s)
	a.middle(r, s)
	a.tail(r, s)
	if r.short || len(r.b) != 0 {
		return ErrLength
	}
	return nil
}

// head reads the fields of fixed size at the start.
func (a *Attr) head(r *body, s *Sample) {
	t := a.SampleType
	if t&SampleIdentifier != 0 {
		s.Identifier = r.u64()
	}
	if t&SampleIP != 0 {
		s.IP = r.u64()
	}
	if t&SampleTID != 0 {
		s.PID, s.TID = r.pair()
	}
	if t&SampleTime != 0 {
		s.Time = r.u64()
	}
	if t&SampleAddr != 0 {
		s.Addr = r.u64()
	}
	if t&SampleID != 0 {
		s.ID = r.u64()
	}
	if t&SampleStreamID != 0 {
		s.StreamID = r.u64()
	}
	if t&SampleCPU != 0 {
		s.CPU, _ = r.pair()
	}
	if t&SamplePeriod != 0 {
		s.Period = r.u64()
	}
}

// middle reads the fields of variable size.
func (a *Attr) middle(r *body, s *Sample) {
	t := a.SampleType
	if t&SampleRead != 0 {
		a.skipRead(r)
	}
	if t&SampleCallchain != 0 {
		s.Callchain = r.words(r.u64())
	}
	if t&SampleRaw != 0 {
		s.Raw = raw(r)
	}
	if t&SampleBranchStack != 0 {
		a.skipBranches(r)
	}
	if t&SampleRegsUser != 0 {
		s.RegsUser = regs(r, a.SampleRegsUser)
	}
	if t&SampleStackUser != 0 {
		if n := r.u64(); n != 0 {
			s.StackUser = r.take(n)
			if used := r.u64(); used < n {
				s.StackUser = s.StackUser[:min(used, uint64(len(s.StackUser)))]
			}
		}
	}
}

// tail reads what newer kernels added.
func (a *Attr) tail(r *body, s *Sample) {
	t := a.SampleType
	if t&(SampleWeight|SampleWeightStruct) != 0 {
		s.Weight = r.u64()
	}
	if t&SampleDataSrc != 0 {
		s.DataSrc = r.u64()
	}
	if t&SampleTransaction != 0 {
		s.Transaction = r.u64()
	}
	if t&SampleRegsIntr != 0 {
		s.RegsIntr = regs(r, a.SampleRegsIntr)
	}
	if t&SamplePhysAddr != 0 {
		s.PhysAddr = r.u64()
	}
	if t&SampleCgroup != 0 {
		s.Cgroup = r.u64()
	}
	if t&SampleDataPageSize != 0 {
		s.DataPageSize = r.u64()
	}
	if t&SampleCodePageSize != 0 {
		s.CodePageSize = r.u64()
	}
	if t&SampleAux != 0 {
		s.Aux = r.take(r.u64())
	}
}

func regs(r *body, mask uint64) Regs {
	abi := r.u64()
	if abi == 0 {
		return Regs{}
	}
	return Regs{ABI: abi, Mask: mask, Values: r.words(uint64(bits.OnesCount64(mask)))}
}

// raw reads a 32-bit size and that many bytes, which together fill words.
func raw(r *body) []byte {
	if len(r.b) < 4 {
		r.short = true
		return nil
	}
	n := binary.LittleEndian.Uint32(r.b)
	r.b = r.b[4:]
	return r.take(uint64(n))
}

// skipRead passes over counter values, which nothing here uses.
func (a *Attr) skipRead(r *body) {
	f := a.ReadFormat
	each := uint64(1 + bits.OnesCount64(f&(ReadID|ReadLost)))
	times := uint64(bits.OnesCount64(f & (ReadEnabled | ReadRunning)))
	n := uint64(1)
	if f&ReadGroup != 0 {
		if n = r.u64(); n > uint64(len(r.b)) {
			r.short = true
			return
		}
	}
	r.words(times + n*each)
}

// Bits of Attr.BranchSampleType that change the layout.
const (
	branchIndex    = 1 << 17
	branchCounters = 1 << 19
)

// skipBranches passes over the branch stack.
func (a *Attr) skipBranches(r *body) {
	n := r.u64()
	if n > uint64(len(r.b))/24 {
		r.short = true
		return
	}
	words := 3 * n
	if a.BranchSampleType&branchIndex != 0 {
		words++
	}
	if a.BranchSampleType&branchCounters != 0 {
		words += n
	}
	r.words(words)
}
