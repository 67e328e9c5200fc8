package dataset

import (
	"math"
	"time"

	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/samples"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/formats/otf2"
)

// messageClocks is what the message trace of several hosts tells of the clocks of
// their samples; nil unless it tells all of them. The recorder of messages reads the
// clock that samples are timed with, and measures it against that of rank 0 at the
// beginning and at the end.
func messageClocks(archive string, runs []*run.Run) *run.MessageClocks {
	if archive == "" || !severalHosts(runs) {
		return nil
	}
	a, _, err := formats.OpenTrace(archive)
	if err != nil || a.Defs.Clock.Resolution != 1e9 { // who opens the trace says what is wrong with it
		return nil
	}
	c := &run.MessageClocks{Behind: make([]int64, len(runs)), First: -1}
	for i, r := range runs {
		d := r.Recording
		if d == nil || d.Rank == nil {
			return nil
		}
		clock, first, last := clockOf(a, r, *d.Rank)
		if clock == nil {
			return nil
		}
		middle := first + (last-first)/2
		c.Behind[i] = clock.Behind(middle)
		for _, t := range []uint64{first, last} {
			c.Drift = max(c.Drift, time.Duration(clock.Behind(t)-c.Behind[i]).Abs())
		}
		if *d.Rank == 0 {
			c.First = i
		}
	}
	if c.First >= 0 {
		here := runs[c.First].Recording.ClockOffset
		for i, r := range runs {
			if there := r.Recording.ClockOffset; here != 0 && there != 0 {
				c.OfDay = max(c.OfDay, time.Duration(there-here-c.Behind[i]).Abs())
			}
		}
	}
	return c
}

func severalHosts(runs []*run.Run) bool {
	for _, r := range runs {
		if r.Origin.Host != runs[0].Origin.Host {
			return true
		}
	}
	return false
}

// clockOf is the clock of a rank, with the times of its first and last sample by that
// clock; nil if the trace does not have it, or nothing of the samples lies between its
// measurements: then they are of another execution, or timed otherwise.
func clockOf(a *otf2.Archive, r *run.Run, rank int) (clock *otf2.LocationClock, first, last uint64) {
	ranks := a.Defs.CommLocations[otf2.ParadigmMPI]
	t := r.Table(samples.Table)
	if rank < 0 || rank >= len(ranks) || t == nil {
		return nil, 0, 0
	}
	at := t.Column(samples.Time)
	if at == nil || at.Kind != table.Time {
		return nil, 0, 0
	}
	first = math.MaxUint64
	for i := range at.Len() {
		if at.Has(i) {
			v := at.Base + uint64(at.Float(i))
			first, last = min(first, v), max(last, v)
		}
	}
	clock, err := a.Clock(ranks[rank])
	if err != nil {
		return nil, 0, 0
	}
	from, to, ok := clock.Measured()
	if !ok || first > to || last < from {
		return nil, 0, 0
	}
	return clock, first, last
}
