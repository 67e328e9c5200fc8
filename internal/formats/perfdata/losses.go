package perfdata

import (
	"cmp"
	"slices"

	"isobath/internal/table"
)

// gap is a stretch of time on a CPU in which samples are missing.
type gap struct {
	kind     Kind
	cpu      int32 // -1 if not said
	from, to uint64
	records  uint64
}

// losses relates what was lost to the samples around it.
type losses struct {
	gaps []gap
	last map[int32]uint64 // time of the last sample of each CPU
	// Since the last sample of each CPU:
	lost      map[int32]uint64
	throttled map[int32]uint64 // when it began
	slow      map[int32]bool

	before map[int]uint64 // records lost before a row
	slowed table.Bits
	any    bool // a row is slowed
}

func newLosses(rows int) losses {
	return losses{
		last: map[int32]uint64{}, lost: map[int32]uint64{}, throttled: map[int32]uint64{}, slow: map[int32]bool{},
		before: map[int]uint64{}, slowed: table.NewBits(rows),
	}
}

// take notes a loss.
func (l *losses) take(n *Note) {
	switch n.Kind {
	case Lost, AuxLost:
		if n.N == 0 {
			return
		}
		from, ok := l.last[n.CPU]
		if !ok || from > n.Time {
			from = n.Time
		}
		l.gaps = append(l.gaps, gap{n.Kind, n.CPU, from, n.Time, n.N})
		if n.Kind == Lost {
			l.lost[n.CPU] += n.N
		}
	case Throttle:
		l.slow[n.CPU] = true
		l.throttled[n.CPU] = n.Time
	case Unthrottle:
		l.slow[n.CPU] = true
		if from, ok := l.throttled[n.CPU]; ok {
			l.gaps = append(l.gaps, gap{Throttle, n.CPU, from, n.Time, 0})
			delete(l.throttled, n.CPU)
		}
	}
}

// sample marks the first sample after a loss on its CPU.
func (l *losses) sample(b *builder, i int, now uint64) {
	cpu := int32(-1)
	if b.r.cpuUsed {
		cpu = b.cpu.v[i]
	}
	if len(l.lost)+len(l.slow) > 0 {
		for _, c := range [2]int32{cpu, -1} {
			if n := l.lost[c]; n > 0 {
				l.before[i] += n
				delete(l.lost, c)
			}
			if l.slow[c] {
				l.slowed.Set(i)
				l.any = true
				delete(l.slow, c)
			}
		}
	}
	l.last[cpu] = now
}

// finish ends what never ended.
func (l *losses) finish(b *builder) {
	end := uint64(0)
	if b.n > 0 {
		end = b.at(b.n - 1)
	}
	for cpu, from := range l.throttled {
		l.gaps = append(l.gaps, gap{Throttle, cpu, from, max(from, end), 0})
	}
	slices.SortStableFunc(l.gaps, func(x, y gap) int {
		return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.to, y.to), cmp.Compare(x.cpu, y.cpu))
	})
}

// columns adds what views show along the time axis.
func (l *losses) columns(b *builder) {
	if len(l.before) > 0 {
		values := make([]int64, b.n)
		for i, n := range l.before {
			values[i] = int64(min(n, 1<<62))
		}
		c := table.Ints("lost", "", table.Measured, values, nil)
		c.Note = "records the kernel lost between the sample before on this CPU and this one"
		b.add(c, nil)
	}
	if l.any {
		values := make([]uint8, b.n)
		for i := range l.slowed.All() {
			values[i] = 1
		}
		c := table.Flags("throttled", table.Measured, values, nil)
		c.Note = "the kernel throttled sampling between the sample before on this CPU and this one"
		b.add(c, nil)
	}
	if r := b.r; r.shared > 0 {
		v := b.words(&r.counting).v
		out := make([]float64, b.n)
		valid := table.NewBits(b.n)
		for i := range out {
			if x := v[i]; x > 0 {
				out[i] = float64(x-1) / 1000
				valid.Set(i)
			}
		}
		c := table.Floats("counting", "", table.Measured, out, valid)
		c.Note = "share of the time in which the counter of this event ran; below 1 it was shared with other events"
		b.add(c, nil)
	}
}

var gapNames = []string{"lost", "throttled", "trace cut"}

// table returns the gaps as a table of their own; nil if there are none.
func (l *losses) table(b *builder) (*table.Table, error) {
	if len(l.gaps) == 0 || !b.r.time.used {
		return nil, nil
	}
	n := len(l.gaps)
	from, to, records, cpus := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	kinds := make([]uint32, n)
	hasCPU, counted := table.NewBits(n), table.NewBits(n)
	for i, g := range l.gaps {
		from[i], to[i] = int64(g.from-b.base), int64(g.to-b.base)
		if g.cpu >= 0 {
			cpus[i] = int64(g.cpu)
			hasCPU.Set(i)
		}
		switch g.kind {
		case Throttle:
			kinds[i] = 1
		case AuxLost:
			kinds[i] = 2
		default:
			records[i] = int64(min(g.records, 1<<62))
			counted.Set(i)
		}
	}
	end := &table.Column{Name: "end", Kind: table.Time, Unit: "ns", Provenance: table.Measured, Base: b.base, Data: to}
	return table.New("gaps", []*table.Column{
		{Name: "time", Kind: table.Time, Unit: "ns", Provenance: table.Measured, Base: b.base, Data: from}, end,
		table.Categories("kind", table.Measured, kinds, gapNames, nil),
		table.Ints("cpu", "", said(hasCPU, table.Measured), cpus, hasCPU),
		table.Ints("records", "", said(counted, table.Measured), records, counted),
	})
}
