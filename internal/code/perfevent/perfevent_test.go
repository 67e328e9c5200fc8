package perfevent

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

func TestAttrRoundTrip(t *testing.T) {
	want := Attr{Type: 1, Size: AttrSize8, Config: 2, Period: 3, SampleType: 4, ReadFormat: 5, Flags: 6, Wakeup: 7, BPType: 8, Config1: 9, Config2: 10,
		BranchSampleType: 11, SampleRegsUser: 12, SampleStackUser: 13, ClockID: -1, SampleRegsIntr: 14, AuxWatermark: 15, SampleMaxStack: 16,
		AuxSampleSize: 17, AuxAction: 18, SigData: 19, Config3: 20}
	got, err := ParseAttr(false, want.Bytes())
	if err != nil || got != want {
		t.Errorf("got %+v, %v\nwant %+v", got, err, want)
	}
	short := want
	short.Size = 96
	got, err = ParseAttr(false, append(short.Bytes(), 1, 2, 3))
	if err != nil || got.ClockID != -1 || got.SampleRegsIntr != 0 {
		t.Errorf("96 bytes: %+v, %v", got, err)
	}
	if _, err := ParseAttr(false, make([]byte, 63)); err == nil {
		t.Error("63 bytes are accepted")
	}
}

// builder writes a sample as the kernel does, field by field in the order of
// the header file.
type builder struct{ bytes.Buffer }

func (b *builder) u64(v uint64) {
	var w [8]byte
	binary.LittleEndian.PutUint64(w[:], v)
	b.Write(w[:])
}

func TestDecode(t *testing.T) {
	a := Attr{SampleType: SampleIdentifier | SampleIP | SampleTID | SampleTime | SampleAddr | SampleCPU | SamplePeriod | SampleRead | SampleCallchain |
		SampleRaw | SampleBranchStack | SampleRegsUser | SampleStackUser | SampleWeightStruct | SampleDataSrc | SamplePhysAddr,
		ReadFormat: ReadGroup | ReadEnabled | ReadID, BranchSampleType: branchIndex, SampleRegsUser: 0b1010_0001}
	var b builder
	b.u64(77)         // identifier
	b.u64(0x401000)   // ip
	b.u64(5<<32 | 4)  // pid, tid
	b.u64(1000)       // time
	b.u64(0x7f00)     // addr
	b.u64(99<<32 | 3) // cpu
	b.u64(10)         // period
	b.u64(2)          // read: two events
	b.u64(1)
	for range 4 {
		b.u64(1)
	}
	b.u64(2) // call chain
	b.u64(0xfffffffffffffe00)
	b.u64(0x401000)
	b.Write([]byte{4, 0, 0, 0, 'a', 'b', 'c', 'd'})
	b.u64(1) // branches
	b.u64(0)
	for range 3 {
		b.u64(6)
	}
	b.u64(2) // registers
	b.u64(100)
	b.u64(105)
	b.u64(107)
	b.u64(8) // stack
	b.u64(42)
	b.u64(4)
	b.u64(3<<48 | 2<<32 | 1)
	b.u64(0x68100142)
	b.u64(0x1234)

	var s Sample
	if err := a.Decode(b.Bytes(), &s); err != nil {
		t.Fatal(err)
	}
	if s.Identifier != 77 || s.IP != 0x401000 || s.PID != 4 || s.TID != 5 || s.Time != 1000 || s.Addr != 0x7f00 || s.CPU != 3 || s.Period != 10 {
		t.Errorf("head: %+v", s)
	}
	if s.Callchain.Len() != 2 || s.Callchain.At(1) != 0x401000 || string(s.Raw) != "abcd" || !bytes.Equal(s.StackUser, []byte{42, 0, 0, 0}) {
		t.Errorf("middle: %+v", s)
	}
	for bit, want := range map[int]uint64{0: 100, 5: 105, 7: 107} {
		if got, ok := s.RegsUser.Get(bit); !ok || got != want {
			t.Errorf("register %d is %d, %v; want %d", bit, got, ok, want)
		}
	}
	if _, ok := s.RegsUser.Get(1); ok {
		t.Error("a register that was not sampled has a value")
	}
	if s.Weight != 1|2<<32|3<<48 || s.DataSrc != 0x68100142 || s.PhysAddr != 0x1234 {
		t.Errorf("tail: %+v", s)
	}
	for n := range b.Len() {
		if err := a.Decode(b.Bytes()[:n], &s); err == nil {
			t.Fatalf("the first %d of %d bytes are accepted", n, b.Len())
		}
	}
	if err := a.Decode(append(b.Bytes(), 0), &s); err == nil {
		t.Error("a byte too many is accepted")
	}
}

func TestTrailer(t *testing.T) {
	a := Attr{Flags: FlagSampleIDAll, SampleType: SampleIP | SampleTID | SampleTime | SampleCPU}
	var b builder
	b.u64(9)
	b.u64(12)
	b.u64(2<<32 | 1)
	b.u64(500)
	b.u64(7)
	own, tr, ok := a.ParseTrailer(b.Bytes())
	if !ok || len(own) != 16 || tr.PID != 1 || tr.TID != 2 || tr.Time != 500 || tr.CPU != 7 {
		t.Errorf("own %d bytes, trailer %+v, %v", len(own), tr, ok)
	}
	if lost, _, ok := ParseLost(Header{Type: RecordLost}, own); !ok || lost != 12 {
		t.Errorf("lost %d, %v", lost, ok)
	}
}

func TestMapping(t *testing.T) {
	var b builder
	b.u64(2<<32 | 1)
	b.u64(0x1000)
	b.u64(0x2000)
	b.u64(0x3000)
	b.Write([]byte{3, 0, 0, 0, 0xaa, 0xbb, 0xcc})
	b.Write(make([]byte, 17))
	b.u64(2<<32 | 5)
	b.WriteString("/bin/x\x00\x00")
	m, ok := ParseMapping(Header{Type: RecordMmap2, Misc: MiscMmapBuildID}, b.Bytes())
	if !ok || m.Name != "/bin/x" || !bytes.Equal(m.BuildID, []byte{0xaa, 0xbb, 0xcc}) || m.Start != 0x1000 || m.Len != 0x2000 || m.Offset != 0x3000 || m.Prot != 5 {
		t.Errorf("%+v, %v", m, ok)
	}
}

// FuzzDecode checks that no record of any event leads out of its bytes.
func FuzzDecode(f *testing.F) {
	f.Add(uint64(SampleIP|SampleCallchain|SampleRaw|SampleRegsUser), uint64(0xff), uint64(0), []byte("0123456789abcdef0123456789abcdef"))
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		b := make([]byte, 200)
		for i := range b {
			b[i] = byte(r.IntN(4))
		}
		f.Add(r.Uint64()&SampleKnown, r.Uint64(), r.Uint64()&31, b)
	}
	f.Fuzz(func(t *testing.T, sampleType, regs, read uint64, record []byte) {
		a := Attr{SampleType: sampleType, SampleRegsUser: regs, SampleRegsIntr: regs, ReadFormat: read, BranchSampleType: regs, Flags: FlagSampleIDAll}
		var s Sample
		if a.Decode(record, &s) == nil {
			for bit := range 64 {
				s.RegsUser.Get(bit)
			}
		}
		own, _, _ := a.ParseTrailer(record)
		ParseMapping(Header{Type: RecordMmap2, Misc: MiscMmapBuildID}, own)
		ParseComm(Header{}, own)
		ParseTask(Header{}, own)
		ParseLost(Header{Type: RecordLost}, own)
		ParseAux(Header{}, own)
	})
}
