package perfdata

// Sample is one decoded sample. Its slices point into the record and are valid
// until the next one is read.
type Sample struct {
	Event int32 // index of file.events
	Mode  uint8 // misc & miscModeMask: kernel, user …
	Type  uint64

	IP, Time, Addr, ID, Period         uint64
	PID, TID, CPU                      uint32
	Weight, DataSrc, Transaction, Phys uint64
	Cgroup, DataPageSize, CodePageSize uint64
	Enabled, Running                   uint64 // of the counter; 0 if not recorded
	Chain, Raw                         []byte
}

// fault says why a sample could not be decoded.
type fault uint8

const (
	faultNone fault = iota
	faultEvent
	faultSize
)

// eventOf finds the event of a sample record by its id.
func (f *file) eventOf(b []byte) int32 {
	if len(f.events) == 1 {
		return 0
	}
	at := f.events[0].idOffset()
	if at < 0 {
		return 0
	}
	if recordHeader+at+8 > len(b) {
		return -1
	}
	id := f.u64(b[recordHeader+at:])
	if id == 0 {
		return 0
	}
	near := &f.recent[id%uint64(len(f.recent))]
	if near.id != id {
		i, ok := f.byID[id]
		if !ok {
			return -1
		}
		*near = recentID{id, i}
	}
	return near.event
}

// recentID remembers the event of an id; id 0 is none.
type recentID struct {
	id    uint64
	event int32
}

// sample decodes a sample record into s. Every byte must be accounted for: one
// field misread makes all that follow it wrong.
func (f *file) sample(r record, s *Sample) fault {
	if len(f.events) == 0 {
		return faultEvent
	}
	i := f.eventOf(r.b)
	if i < 0 {
		return faultEvent
	}
	attr := &f.events[i].Attr
	*s = Sample{Event: i, Mode: uint8(r.misc & miscModeMask), Type: attr.SampleType}
	b := s.fixed(f.order, attr, r.b[recordHeader:])
	if b != nil && attr.SampleType&variableFields != 0 {
		c := cursor{order: f.order, b: b}
		s.variable(&c, attr)
		if b = c.b; c.short {
			return faultSize
		}
	}
	if b == nil {
		return faultSize
	}
	return s.tail(f.order, attr.SampleType, attr.registerBits[1], b)
}

const (
	fixedFields    = sampleIdentifier | sampleIP | sampleTID | sampleTime | sampleAddr | sampleID | sampleStreamID | sampleCPU | samplePeriod
	variableFields = sampleRead | sampleCallchain | sampleRaw | sampleBranchStack | sampleRegsUser | sampleStackUser
)

// fixed reads the fields of eight bytes at the start of a sample and returns
// what follows, or nil if the record is too short.
func (s *Sample) fixed(o order, attr *Attr, b []byte) []byte {
	st := attr.SampleType
	if attr.fixedSize > len(b) {
		return nil
	}
	rest := b[attr.fixedSize:]
	if st&sampleIdentifier != 0 {
		s.ID, b = o.u64(b), b[8:]
	}
	if st&sampleIP != 0 {
		s.IP, b = o.u64(b), b[8:]
	}
	if st&sampleTID != 0 {
		s.PID, s.TID, b = o.u32(b), o.u32(b[4:]), b[8:]
	}
	if st&sampleTime != 0 {
		s.Time, b = o.u64(b), b[8:]
	}
	if st&sampleAddr != 0 {
		s.Addr, b = o.u64(b), b[8:]
	}
	if st&sampleID != 0 {
		s.ID, b = o.u64(b), b[8:]
	}
	if st&sampleStreamID != 0 {
		b = b[8:]
	}
	if st&sampleCPU != 0 {
		s.CPU, b = o.u32(b), b[8:]
	}
	if st&samplePeriod != 0 {
		s.Period = o.u64(b)
	}
	return rest
}

// variable reads the fields whose size is in the sample.
func (s *Sample) variable(c *cursor, attr *Attr) {
	st := attr.SampleType
	if st&sampleRead != 0 {
		s.counters(c, attr.ReadFormat)
	}
	if st&sampleCallchain != 0 {
		n := c.count(c.u64(), 8)
		s.Chain = c.bytes(uint64(n) * 8)
	}
	if st&sampleRaw != 0 {
		s.Raw = c.bytes(uint64(c.u32()))
	}
	if st&sampleBranchStack != 0 {
		branches(c, attr.BranchType)
	}
	if st&sampleRegsUser != 0 {
		registers(c, attr.registerBits[0])
	}
	if st&sampleStackUser != 0 {
		if n := c.u64(); n != 0 {
			c.bytes(n)
			c.u64() // how much of it is in use
		}
	}
}

// counters reads the values of the event, or of all events of its group.
func (s *Sample) counters(c *cursor, format uint64) {
	size := 8
	if format&readID != 0 {
		size += 8
	}
	if format&readLost != 0 {
		size += 8
	}
	if format&readGroup == 0 {
		c.u64() // the value
	}
	var members uint64
	if format&readGroup != 0 {
		members = c.u64()
	}
	if format&readEnabled != 0 {
		s.Enabled = c.u64()
	}
	if format&readRunning != 0 {
		s.Running = c.u64()
	}
	if format&readGroup == 0 {
		c.bytes(uint64(size - 8))
		return
	}
	c.bytes(uint64(c.count(members, size) * size))
}

// Bits of branch_sample_type that change the layout.
const (
	branchHardwareIndex = 1 << 17
	branchCounters      = 1 << 19
)

// branches steps over the branches before the sample.
func branches(c *cursor, branchType uint64) {
	members := c.u64()
	if branchType&branchHardwareIndex != 0 {
		c.u64()
	}
	n := uint64(c.count(members, 24))
	c.bytes(n * 24)
	if branchType&branchCounters != 0 {
		c.bytes(n * 8)
	}
}

// registers steps over register values, which are there unless the ABI is 0.
func registers(c *cursor, n int) {
	if abi := c.u64(); abi != 0 {
		c.bytes(uint64(8 * n))
	}
}

// tail reads the fields that stand behind the variable ones.
func (s *Sample) tail(o order, st uint64, intr int, b []byte) fault {
	c := cursor{order: o, b: b}
	if st&(sampleWeight|sampleWeightStruct) != 0 {
		s.Weight = c.u64()
	}
	if st&sampleDataSrc != 0 {
		s.DataSrc = c.u64()
	}
	if st&sampleTransaction != 0 {
		s.Transaction = c.u64()
	}
	if st&sampleRegsIntr != 0 {
		registers(&c, intr)
	}
	if st&samplePhysAddr != 0 {
		s.Phys = c.u64()
	}
	if st&sampleCgroup != 0 {
		s.Cgroup = c.u64()
	}
	if st&sampleDataPageSize != 0 {
		s.DataPageSize = c.u64()
	}
	if st&sampleCodePageSize != 0 {
		s.CodePageSize = c.u64()
	}
	if st&sampleAux != 0 {
		c.bytes(c.u64())
	}
	if c.short || len(c.b) != 0 {
		return faultSize
	}
	return faultNone
}
