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
	if f.all == 0 {
		return // zeros so far: what is missing is padded when something else comes
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
	cpu    table.Growing[uint32]
	// Parts of the weight besides the latency.
	insLat, retireLat table.Growing[uint32]

	chains, cpuUsed, parted bool // some sample has them
	parts                   bool // one of them is not zero

	time, ip, addr, phys, period        field
	weight                              field
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
	pid, tid, cpu, source, stack uint32
	insLat, retireLat            uint16
	event, mode, ibs             uint8
}

// fields are all fields of 64 bits.
func (r *rows) fields() []*field {
	out := []*field{&r.time, &r.ip, &r.addr, &r.phys, &r.period, &r.weight,
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
	small := r.small[:k]
	each(&r.event, small, func(s *smallFields) uint8 { return s.event })
	each(&r.mode, small, func(s *smallFields) uint8 { return s.mode })
	each(&r.pid, small, func(s *smallFields) uint32 { return s.pid })
	each(&r.tid, small, func(s *smallFields) uint32 { return s.tid })
	each(&r.source, small, func(s *smallFields) uint32 { return s.source })
	if r.cpuUsed {
		r.cpu.Pad(n)
		each(&r.cpu, small, func(s *smallFields) uint32 { return s.cpu })
	}
	if r.chains {
		r.stack.Pad(n)
		each(&r.stack, small, func(s *smallFields) uint32 { return s.stack })
	}
	if r.ibs != nil {
		r.hasIBS.Pad(n)
		each(&r.hasIBS, small, func(s *smallFields) uint8 { return s.ibs })
	}
	if r.parts {
		r.insLat.Pad(n)
		each(&r.insLat, small, func(s *smallFields) uint32 { return uint32(s.insLat) })
		r.retireLat.Pad(n)
		each(&r.retireLat, small, func(s *smallFields) uint32 { return uint32(s.retireLat) })
	}
	clear(small)
}

// each appends one part of the rows of a block.
func each[T table.Fixed](g *table.Growing[T], rows []smallFields, of func(*smallFields) T) {
	for len(rows) > 0 {
		block := g.Room(len(rows))
		for i := range block {
			block[i] = of(&rows[i])
		}
		rows = rows[len(block):]
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
		r.small[n].cpu = s.CPU
		r.cpuUsed = true
	}
	if st&samplePeriod != 0 {
		r.period.put(n, s.Period)
	}
	switch {
	case st&sampleWeightStruct != 0:
		r.weight.put(n, s.Weight&math.MaxUint32)
		r.small[n].insLat, r.small[n].retireLat = uint16(s.Weight>>32), uint16(s.Weight>>48)
		r.parted = true
		r.parts = r.parts || s.Weight>>32 != 0
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
	if s.Type&samplePhysAddr != 0 {
		r.phys.put(n, s.Phys)
	}
	if s.Type&sampleTransaction != 0 {
		r.transaction.put(n, s.Transaction)
	}
	if s.Type&sampleCgroup != 0 {
		r.cgroup.put(n, s.Cgroup)
	}
	if s.Type&sampleDataPageSize != 0 {
		r.dataPage.put(n, s.DataPageSize)
	}
	if s.Type&sampleCodePageSize != 0 {
		r.code.put(n, s.CodePageSize)
	}
	if s.Enabled > 0 {
		r.counting.put(n, 1+min(1000*s.Running/s.Enabled, 1000))
		if s.Running < s.Enabled {
			r.shared++
		}
	}
}
