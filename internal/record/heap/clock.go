package heap

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// both is one moment by the processor's counter and by the clock, in ns.
type both struct{ ticks, time uint64 }

// clock says which times counts are; in order of the counts.
type clock []both

// steady is how many ticks lie between moments that say well how fast the counter
// goes: a fifth of a second, more or less, over which a few ns of error are nothing.
const steady = 1 << 29

// at returns the time of a count: between two moments in proportion, outside of them at
// the pace of the nearest ones.
func (c clock) at(ticks uint64) uint64 {
	i, _ := slices.BinarySearchFunc(c, ticks, func(b both, t uint64) int { return cmp.Compare(b.ticks, t) })
	from, to := max(i-1, 0), min(max(i, 1), len(c)-1)
	switch last := len(c) - 1; i {
	case 0:
		for to < last && c[to].ticks-c[from].ticks < steady {
			to++
		}
	case len(c):
		from, to = last-1, last
		for from > 0 && c[to].ticks-c[from].ticks < steady {
			from--
		}
	}
	pace := float64(c[to].time-c[from].time) / float64(c[to].ticks-c[from].ticks)
	near := c[to]
	if i < len(c) {
		near = c[from]
	}
	return near.time + uint64(int64(math.Round(pace*float64(int64(ticks-near.ticks)))))
}

// tellTime puts times in the place of counts.
func (l *Log) tellTime(c clock) error {
	slices.SortFunc(c, func(a, b both) int { return cmp.Compare(a.ticks, b.ticks) })
	var last both
	c = slices.DeleteFunc(c, func(b both) bool {
		stands := b.ticks <= last.ticks || b.time <= last.time
		if !stands {
			last = b
		}
		return stands
	})
	if len(c) < 2 {
		return errors.New("it does not say what its times mean")
	}
	for i := range l.Events {
		l.Events[i].Time = c.at(l.Events[i].Time)
	}
	for _, s := range l.Stacks {
		s.Time = c.at(s.Time)
	}
	if l.Ended > 1 { // 1 is before all
		l.Ended = c.at(l.Ended)
	}
	return nil
}
