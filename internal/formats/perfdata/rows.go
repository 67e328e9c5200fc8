package perfdata

import (
	"math"

	"isobath/internal/table"
)

// blockRows is how many rows are gathered before they are appended to their
// columns.
const blockRows = 1024

// field is one value of every sample that has it. Samples that do not have it
// leave a gap of zeros.
type field struct {
	block  [blockRows]uint64
	values table.Growing[uint64]
	all    uint64 // every bit that was set in some value
	used   bool   // some sample has it
}

// put sets the value of a row of the block.
func (f *field) put(k int, v uint64) {
	f.block[k&(blockRows-1)] = v
	f.all |= v
	f.used = true
}

// flush appends the first k rows of the block, which belong at row n.
func (f *field) flush(n, k int) {
	if !f.used {
		return
	}
	f.values.Pad(n)
	f.values.AppendAll(f.block[:k])
	clear(f.block[:k])
}

// rows are the samples as they were read, in the order of the file.
type rows struct {
	n     int
	small [blockRows]smallFields
	event table.Growing[uint8] // index of the event, below maxEventRows
	mode  table.Growing[uint8]
	pid   table.Growing[uint32]
	tid   table.Growing[uint32]
	// source numbers the distinct accesses in accesses.
	source table.Growing[uint32]
	stack  table.Growing[uint32]
	chains bool // some sample has a call chain

	time, ip, addr, phys, cpu, period   field
	weight, insLat, retireLat, dataSrc  field
	transaction, cgroup, dataPage, code field
	counting                            field // per mille of the time the counter ran

	ibs    *[ibsRegisters]field // nil without IBS
	hasIBS table.Growing[uint8]
	spe    *speRows // nil without SPE

	byEvent [maxEventRows]int
	shared  int // samples whose counter did not run all the time
}

// smallFields are what every row has, in one place so that a sample touches few
// cache lines.
type smallFields struct {
	pid, tid, source, stack uint32
	event, mode             uint8
	ibs                     bool
}

// fields are all fields of 64 bits.
func (r *rows) fields() []*field {
	out := []*field{&r.time, &r.ip, &r.addr, &r.phys, &r.cpu, &r.period, &r.weight, &r.insLat, &r.retireLat, &r.dataSrc,
		&r.transaction, &r.cgroup, &r.dataPage, &r.code, &r.counting}
	if r.ibs != nil {
		for i := range r.ibs {
			out = append(out, &r.ibs[i])
		}
	}
	if r.spe != nil {
		out = append(out, &r.spe.events, &r.spe.issue, &r.spe.translation, &r.spe.source, &r.spe.op, &r.spe.level)
	}
	return out
}

// flush appends the block to the columns. It is called when the block is full,
// before the next row is added, and at the end.
func (r *rows) flush() {
	k := (r.n-1)&(blockRows-1) + 1
	if r.n == 0 {
		return
	}
	n := r.n - k
	for _, f := range r.fields() {
		f.flush(n, k)
	}
	for i := range r.small[:k] {
		s := &r.small[i]
		r.event.Append(s.event)
		r.mode.Append(s.mode)
		r.pid.Append(s.pid)
		r.tid.Append(s.tid)
		r.source.Append(s.source)
		if r.chains {
			r.stack.Pad(n + i)
			r.stack.Append(s.stack)
		}
		if r.ibs != nil {
			r.hasIBS.Pad(n + i)
			ibs := uint8(0)
			if s.ibs {
				ibs = 1
			}
			r.hasIBS.Append(ibs)
		}
	}
}

// maxEventRows bounds the events that samples may have: their index is kept in
// a byte. perf mem opens four, perf stat -record a few dozen.
const maxEventRows = 256

// maxRows is what row numbers of 32 bits can tell apart.
const maxRows = math.MaxUint32

// add appends a decoded sample.
func (r *rows) add(s *Sample, source, stack uint32) {
	if r.n > 0 && r.n&(blockRows-1) == 0 {
		r.flush()
	}
	n, st := r.n&(blockRows-1), s.Type
	r.n++
	r.byEvent[s.Event]++
	r.small[n] = smallFields{pid: s.PID, tid: s.TID, source: source, stack: stack, event: uint8(s.Event), mode: s.Mode}
	if st&sampleIP != 0 {
		r.ip.put(n, s.IP)
	}
	if st&sampleTime != 0 {
		r.time.put(n, s.Time)
	}
	if st&sampleAddr != 0 {
		r.addr.put(n, s.Addr)
	}
	if st&sampleCPU != 0 {
		r.cpu.put(n, uint64(s.CPU))
	}
	if st&samplePeriod != 0 {
		r.period.put(n, s.Period)
	}
	if st&sampleDataSrc != 0 {
		r.dataSrc.put(n, s.DataSrc)
	}
	switch {
	case st&sampleWeightStruct != 0:
		r.weight.put(n, s.Weight&math.MaxUint32)
		r.insLat.put(n, s.Weight>>32&math.MaxUint16)
		r.retireLat.put(n, s.Weight>>48)
	case st&sampleWeight != 0:
		r.weight.put(n, s.Weight)
	}
	if st&sampleCallchain != 0 {
		r.chains = true
	}
	if st&rareFields != 0 {
		r.addRare(n, s)
	}
}

const rareFields = samplePhysAddr | sampleTransaction | sampleCgroup | sampleDataPageSize | sampleCodePageSize | sampleRead

func (r *rows) addRare(n int, s *Sample) {
	for _, v := range []struct {
		bit   uint64
		to    *field
		value uint64
	}{
		{samplePhysAddr, &r.phys, s.Phys}, {sampleTransaction, &r.transaction, s.Transaction}, {sampleCgroup, &r.cgroup, s.Cgroup},
		{sampleDataPageSize, &r.dataPage, s.DataPageSize}, {sampleCodePageSize, &r.code, s.CodePageSize},
	} {
		if s.Type&v.bit != 0 {
			v.to.put(n, v.value)
		}
	}
	if s.Enabled > 0 {
		r.counting.put(n, 1+min(1000*s.Running/s.Enabled, 1000))
		if s.Running < s.Enabled {
			r.shared++
		}
	}
}
