package run

import (
	"fmt"
	"time"

	"github.com/isobath/isobath/internal/base/term"
	"github.com/isobath/isobath/internal/data/samples"
)

// MessageClocks is what the messages between ranks tell of the clocks of their runs:
// the recorder of a message trace measured each against that of the first rank.
type MessageClocks struct {
	Behind []int64 // by run: what to add to its times, in ns
	First  int     // the run whose clock that is; -1 if it is not among them
	// Drift is how much the clocks move against each other while there are samples, at
	// most; OfDay how far their times of day are from what messages say.
	Drift, OfDay time.Duration
}

// clocks is whether the clocks of several hosts can be brought together: by messages,
// or by the time of day if every run says that. One that does not would lie decades
// away from the others.
type clocks struct {
	hosts    int   // 1: there is one clock
	unknown  []int // ranks that say no time of day
	messages *MessageClocks
}

func clocksOf(runs []*Run, machines *cluster, messages *MessageClocks) *clocks {
	c := &clocks{hosts: max(1, len(machines.hosts)), messages: messages}
	timed := false
	for i, r := range runs {
		if t := r.Table(samples.Table); t == nil || t.Column(samples.Time) == nil {
			continue
		}
		timed = true
		if d := r.Recording; d == nil || d.ClockOffset == 0 && !d.Since1970 {
			c.unknown = append(c.unknown, r.rank(i))
		}
	}
	if !timed {
		c.hosts = 1
	}
	return c
}

func (c *clocks) together() bool {
	return c.hosts > 1 && (c.messages != nil || len(c.unknown) == 0)
}

// behind is what to add to the times of a run.
func (c *clocks) behind(i int, r *Run) int64 {
	if c.messages != nil {
		return c.messages.Behind[i]
	}
	return r.Recording.ClockOffset
}

// note says in a merged recording which clock its times are of.
func (c *clocks) note(d *Recording, runs []*Run) {
	switch {
	case !c.together():
	case c.messages == nil:
		d.ClockOffset, d.Since1970 = 0, true
	case c.messages.First < 0: // nobody here knows what time of day it was by that clock
		d.ClockOffset, d.Since1970 = 0, false
	default:
		d.ClockOffset, d.Since1970 = runs[c.messages.First].Recording.ClockOffset, false
	}
}

// clocksOfHosts begins what is said of clocks.
const clocksOfHosts = "the clocks of the "

func (c *clocks) said() []string {
	switch {
	case c.hosts == 1:
		return nil
	case c.messages != nil:
		text := fmt.Sprintf(clocksOfHosts+"%d hosts are brought together by the messages of the trace; they drift by up to %s meanwhile", c.hosts, term.Duration(c.messages.Drift.Nanoseconds()))
		if c.messages.OfDay > 0 {
			text += ", and their times of day differ by up to " + term.Duration(c.messages.OfDay.Nanoseconds())
		}
		return []string{text}
	case c.together():
		return []string{fmt.Sprintf(clocksOfHosts+"%d hosts are brought together by their times of day; how far those differ is not known", c.hosts)}
	}
	says := "say"
	if len(c.unknown) == 1 {
		says = "says"
	}
	return []string{fmt.Sprintf(clocksOfHosts+"%d hosts are not brought together, because %s %s no time of day: times of different hosts do not compare", c.hosts, ranksText(c.unknown), says)}
}
