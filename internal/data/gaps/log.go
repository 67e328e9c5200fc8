package gaps

import (
	"cmp"
	"slices"

	"github.com/isobath/isobath/internal/data/table"
)

// Loss is why samples are missing in a stretch of time.
type Loss uint8

// The losses.
const (
	Lost      Loss = iota // records found the buffer full
	Throttled             // the kernel paused sampling
	Cut                   // a unit's own area was full
)

var lossNames = []string{"lost", "throttled", "trace cut"}

// stretch is a time on a CPU in which samples are missing.
type stretch struct {
	loss     Loss
	cpu      int32 // -1 if not said
	from, to uint64
	records  uint64
}

// Log relates what a recording lost to the samples around it. It is told of
// losses and samples in order of time; a CPU of -1 is not known.
type Log struct {
	stretches []stretch
	last      map[int32]uint64 // time of the last sample of each CPU
	// Since the last sample of each CPU:
	lost   map[int32]uint64
	paused map[int32]uint64 // when it began
	slow   map[int32]bool

	before map[int]uint64 // records lost before a row
	slowed map[int]bool   // rows that follow a pause
}

// NewLog returns an empty log.
func NewLog() *Log {
	return &Log{
		last: map[int32]uint64{}, lost: map[int32]uint64{}, paused: map[int32]uint64{}, slow: map[int32]bool{},
		before: map[int]uint64{}, slowed: map[int]bool{},
	}
}

// Lose notes that records are missing between the last sample of a CPU and a
// time; those that were lost are counted.
func (l *Log) Lose(why Loss, cpu int32, at, records uint64) {
	from, ok := l.last[cpu]
	if !ok || from > at {
		from = at
	}
	l.stretches = append(l.stretches, stretch{why, cpu, from, at, records})
	if why == Lost {
		l.lost[cpu] += records
	}
}

// Pause notes that the kernel paused sampling on a CPU.
func (l *Log) Pause(cpu int32, at uint64) {
	l.slow[cpu] = true
	if _, already := l.paused[cpu]; !already {
		l.paused[cpu] = at
	}
}

// Resume notes that sampling goes on.
func (l *Log) Resume(cpu int32, at uint64) {
	l.slow[cpu] = true
	if from, ok := l.paused[cpu]; ok {
		l.stretches = append(l.stretches, stretch{Throttled, cpu, from, at, 0})
		delete(l.paused, cpu)
	}
}

// Sample notes a sample; the first after a loss on its CPU says so.
func (l *Log) Sample(row int, cpu int32, at uint64) {
	if len(l.lost)+len(l.slow) > 0 {
		for _, c := range [2]int32{cpu, -1} {
			if n := l.lost[c]; n > 0 {
				l.before[row] += n
				delete(l.lost, c)
			}
			if l.slow[c] {
				l.slowed[row] = true
				delete(l.slow, c)
			}
		}
	}
	l.last[cpu] = at
}

// Finish ends what never ended.
func (l *Log) Finish(end uint64) {
	for cpu, from := range l.paused {
		l.stretches = append(l.stretches, stretch{Throttled, cpu, from, max(from, end), 0})
	}
	l.paused = map[int32]uint64{}
	slices.SortStableFunc(l.stretches, func(x, y stretch) int {
		return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.to, y.to), cmp.Compare(x.cpu, y.cpu), cmp.Compare(x.loss, y.loss))
	})
}

// Columns are what each of so many rows says about losses before it; none if
// there are no losses.
func (l *Log) Columns(rows int) []*table.Column {
	var out []*table.Column
	if len(l.before) > 0 {
		values := make([]int64, rows)
		for i, n := range l.before {
			values[i] = int64(min(n, 1<<62))
		}
		c := table.Ints("lost", "", table.Measured, values, nil)
		c.Note = "records the kernel lost between the sample before on this CPU and this one"
		out = append(out, c)
	}
	if len(l.slowed) > 0 {
		values := make([]uint8, rows)
		for i := range l.slowed {
			values[i] = 1
		}
		c := table.Flags("throttled", table.Measured, values, nil)
		c.Note = "the kernel throttled sampling between the sample before on this CPU and this one"
		out = append(out, c)
	}
	return out
}

// Table returns the losses as a table of their own, with times from a base on;
// nil if there are none.
func (l *Log) Table(base uint64) (*table.Table, error) {
	n := len(l.stretches)
	if n == 0 {
		return nil, nil
	}
	from, to, records, cpus := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	kinds := make([]uint32, n)
	hasCPU, counted := table.NewBits(n), table.NewBits(n)
	for i, s := range l.stretches {
		from[i], to[i], kinds[i] = int64(s.from-base), int64(s.to-base), uint32(s.loss)
		if s.cpu >= 0 {
			cpus[i] = int64(s.cpu)
			hasCPU.Set(i)
		}
		if s.loss == Lost {
			records[i] = int64(min(s.records, 1<<62))
			counted.Set(i)
		}
	}
	return table.New("gaps", []*table.Column{
		{Name: "time", Kind: table.Time, Unit: "ns", Provenance: table.Measured, Base: base, Data: from},
		{Name: "end", Kind: table.Time, Unit: "ns", Provenance: table.Measured, Base: base, Data: to},
		table.Categories("kind", table.Measured, kinds, lossNames, nil),
		table.Ints("cpu", "", measuredIf(hasCPU), cpus, hasCPU),
		table.Ints("records", "", measuredIf(counted), records, counted),
	})
}

// measuredIf is the provenance of a column some rows of which may have a value.
func measuredIf(has table.Bits) table.Provenance {
	if has.Count() == 0 {
		return table.Absent
	}
	return table.Measured
}
