package perfdata

import (
	"math"

	"isobath/internal/table"
)

// field is one value of every sample that has it. Samples that do not have it
// leave a gap of zeros.
type field struct {
	values table.Growing[uint64]
	// all is every bit that was set in some value.
	all  uint64
	used bool // some sample has it
}

// put sets the value of row n, which is the newest.
func (f *field) put(n int, v uint64) {
	if f.values.Len() < n {
		f.values.Pad(n)
	}
	f.values.Append(v)
	f.all |= v
	f.used = true
}

// rows are the samples as they were read, in the order of the file.
type rows struct {
	n     int
	event table.Growing[uint8] // index of the event, below maxEventRows
	mode  table.Growing[uint8]
	pid   table.Growing[uint32]
	tid   table.Growing[uint32]
	// source numbers the distinct accesses in accesses.
	source table.Growing[uint32]
	stack  table.Growing[uint32]

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

// maxEventRows bounds the events that samples may have: their index is kept in
// a byte. perf mem opens four, perf stat -record a few dozen.
const maxEventRows = 256

// maxRows is what row numbers of 32 bits can tell apart.
const maxRows = math.MaxUint32

// add appends a decoded sample.
func (r *rows) add(s *Sample, source, stack uint32) {
	n, st := r.n, s.Type
	r.n++
	r.byEvent[s.Event]++
	r.event.Append(uint8(s.Event))
	r.mode.Append(s.Mode)
	r.pid.Append(s.PID)
	r.tid.Append(s.TID)
	r.source.Append(source)
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
		r.stack.Pad(n)
		r.stack.Append(stack)
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
