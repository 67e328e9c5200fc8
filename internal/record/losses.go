package record

import (
	"github.com/isobath/isobath/internal/data/gaps"
	"github.com/isobath/isobath/internal/record/sampler"
)

// lossLog relates what was lost to the rows, which are in order of time.
func (c *collector) lossLog() *gaps.Log {
	log, next := gaps.NewLog(), 0
	until := func(time uint64) {
		for ; next < len(c.losses) && c.losses[next].Time <= time; next++ {
			note(log, &c.losses[next])
		}
	}
	end := uint64(0)
	for i := range c.rows {
		r := &c.rows[i]
		until(r.time)
		log.Sample(i, int32(r.cpu), r.time)
		end = r.time
	}
	until(^uint64(0))
	log.Finish(end)
	return log
}

func note(log *gaps.Log, l *sampler.Loss) {
	cpu := int32(l.CPU)
	switch l.Why {
	case sampler.Full:
		log.Lose(gaps.Lost, cpu, l.Time, l.Records)
	case sampler.AreaFull:
		log.Lose(gaps.Cut, cpu, l.Time, 0)
	case sampler.Paused:
		log.Pause(cpu, l.Time)
	case sampler.Resumed:
		log.Resume(cpu, l.Time)
	}
}
