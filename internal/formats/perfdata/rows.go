package perfdata

import (
	"math"

	"github.com/isobath/isobath/internal/code/perfevent"
	"github.com/isobath/isobath/internal/data/table"
)

// rows are the samples. They are queued in the order of the file, leave the
// queue in the order of time, and are then kept in columns of their own; see
// queue.go.
type rows struct {
	queue
	n int // all of them

	event table.Growing[uint8] // index of the event, below maxEventRows
	mode  table.Growing[uint8]
	pid   table.Growing[int32]
	tid   table.Growing[int32]
	// source numbers the distinct accesses in accesses.
	source table.Growing[uint32]
	stack  table.Growing[uint32]
	cpu    table.Growing[int32]
	hasIBS table.Growing[uint8]
	// Parts of the weight besides the latency.
	insLat, retireLat table.Growing[int32]

	chains, cpuUsed, parted bool // some sample has them
	parts                   bool // one of them is not zero

	time, ip, addr, phys, period        field
	weight                              field
	transaction, cgroup, dataPage, code field
	counting                            field // per mille of the time the counter ran

	ibs  *[ibsRegisters]field // nil without IBS
	spe  *speRows             // nil without SPE
	regs [2]*registers        // of the user and at the interrupt; nil if not recorded

	byEvent [maxEventRows]int
	shared  int // samples whose counter did not run all the time
}

// smallFields are what every row has, in one place so that a sample touches few
// cache lines.
type smallFields struct {
	pid, tid, cpu     int32
	source, stack     uint32
	insLat, retireLat uint16
	event, mode, ibs  uint8
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
	for _, set := range r.regs {
		if set != nil {
			out = append(out, &set.abi)
			for i := range set.values {
				out = append(out, &set.values[i])
			}
		}
	}
	return out
}

func newRows() *rows {
	r := &rows{}
	for _, f := range []*field{&r.period, &r.weight, &r.transaction, &r.cgroup, &r.dataPage, &r.code} {
		f.number = true
	}
	return r
}

// maxEventRows bounds the events that samples may have: their index is kept in
// a byte. perf mem opens four, perf stat -record a few dozen.
const maxEventRows = 256

// maxRows is what row numbers of 32 bits can tell apart.
const maxRows = math.MaxUint32

// add queues a decoded sample.
func (r *rows) add(s *decodedSample, source, stack uint32) {
	if len(r.small) == maxQueue {
		r.overflow()
	}
	n, st := len(r.small), s.Type
	r.n++
	r.byEvent[s.Event]++
	small := smallFields{pid: int32(s.PID), tid: int32(s.TID), source: source, stack: stack, event: uint8(s.Event), mode: s.Mode}
	if st&perfevent.SampleIP != 0 {
		r.ip.put(n, s.IP)
	}
	if st&perfevent.SampleTime != 0 {
		r.time.put(n, s.Time)
		r.newest = max(r.newest, s.Time)
	}
	if st&perfevent.SampleAddr != 0 {
		r.addr.put(n, s.Addr)
	}
	if st&perfevent.SampleCPU != 0 {
		small.cpu = int32(s.CPU)
		r.cpuUsed = true
	}
	if st&perfevent.SamplePeriod != 0 {
		r.period.put(n, s.Period)
	}
	switch {
	case st&perfevent.SampleWeightStruct != 0:
		r.weight.put(n, s.Weight&math.MaxUint32)
		small.insLat, small.retireLat = uint16(s.Weight>>32), uint16(s.Weight>>48)
		r.parted = true
		r.parts = r.parts || s.Weight>>32 != 0
	case st&perfevent.SampleWeight != 0:
		r.weight.put(n, s.Weight)
	}
	if st&perfevent.SamplePhysAddr != 0 {
		r.phys.put(n, s.PhysAddr)
	}
	r.small = append(r.small, small)
	if st&rareFields != 0 {
		r.addRare(n, s)
	}
}

const rareFields = perfevent.SampleTransaction | perfevent.SampleCgroup | perfevent.SampleDataPageSize | perfevent.SampleCodePageSize |
	perfevent.SampleRead | perfevent.SampleCallchain | perfevent.SampleRegsUser | perfevent.SampleRegsIntr

func (r *rows) addRare(n int, s *decodedSample) {
	if s.Type&(perfevent.SampleCallchain|perfevent.SampleStackUser) != 0 {
		r.chains = true
	}
	if s.Type&perfevent.SampleTransaction != 0 {
		r.transaction.put(n, s.Transaction)
	}
	if s.Type&perfevent.SampleCgroup != 0 {
		r.cgroup.put(n, s.Cgroup)
	}
	if s.Type&perfevent.SampleDataPageSize != 0 {
		r.dataPage.put(n, s.DataPageSize)
	}
	if s.Type&perfevent.SampleCodePageSize != 0 {
		r.code.put(n, s.CodePageSize)
	}
	if s.Enabled > 0 {
		r.counting.put(n, 1+min(1000*s.Running/s.Enabled, 1000))
		if s.Running < s.Enabled {
			r.shared++
		}
	}
	if s.Type&perfevent.SampleStackUser == 0 { // with a stack they serve unwinding only
		r.addRegisters(0, n, &s.RegsUser)
	}
	r.addRegisters(1, n, &s.RegsIntr)
}
