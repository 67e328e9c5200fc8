package perfdata

import (
	"github.com/isobath/isobath/internal/data/gaps"
	"github.com/isobath/isobath/internal/data/table"
)

// losses relates what was lost to the samples around it.
type losses struct{ *gaps.Log }

func newLosses() losses { return losses{gaps.NewLog()} }

// take notes a loss.
func (l losses) take(n *fileNote) {
	switch n.Kind {
	case Lost:
		if n.N > 0 {
			l.Lose(gaps.Lost, n.CPU, n.Time, n.N)
		}
	case AuxLost:
		if n.N > 0 {
			l.Lose(gaps.Cut, n.CPU, n.Time, n.N)
		}
	case Throttle:
		l.Pause(n.CPU, n.Time)
	case Unthrottle:
		l.Resume(n.CPU, n.Time)
	}
}

// sample marks the first sample after a loss on its CPU.
func (l losses) sample(b *builder, i int, now uint64) {
	cpu := int32(-1)
	if b.r.cpuUsed {
		cpu = b.cpu.v[i]
	}
	l.Sample(i, cpu, now)
}

// finish ends what never ended.
func (l losses) finish(b *builder) {
	end := uint64(0)
	if b.n > 0 {
		end = b.at(b.n - 1)
	}
	l.Finish(end)
}

// columns adds what views show along the time axis.
func (l losses) columns(b *builder) {
	for _, c := range l.Columns(b.n) {
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

// table returns the gaps as a table of their own; nil if there are none.
func (l losses) table(b *builder) (*table.Table, error) {
	if !b.r.time.used {
		return nil, nil
	}
	return l.Table(b.base)
}
