package heap

import "slices"

// Tally is what places allocated, summed over processes.
type Tally struct {
	Calls, Bytes uint64 // logged one by one
	Freed        uint64 // of these calls
	// Peak is the most bytes that lived at once in one process, in PeakCalls
	// allocations. AtPeak are the bytes at the moment of the summary's peak, and AtEnd
	// what was never freed.
	Peak, PeakCalls, AtPeak, AtEnd uint64
	// Lifetime is the median in ns: half of the allocations lived no longer. An
	// allocation that was never freed counts as the longest, and if those are more
	// than half there is none.
	Lifetime  uint64
	HasMedian bool
	Processes int
	Unlogged  Sums
}

// Summary is what all places together come to.
type Summary struct {
	// Peak is the most that lived at once in one process, PeakTime when.
	Peak, PeakTime uint64
	PeakPID        int
}

// Tally sums up logs that were replayed. site says which tally a place belongs to; 0 is the place of
// what nobody knows.
func (c *Callers) Tally(logs []*Log, sites int, site func(place int) int) ([]Tally, Summary) {
	out := make([]Tally, sites)
	lived := make([][]uint64, sites)
	var all Summary
	var largest map[int]*siteSums // of the process with the peak
	for _, l := range logs {
		p := process{log: l, live: map[uint64]block{}, sites: map[int]*siteSums{}}
		p.replay(c, site)
		if p.peak > all.Peak {
			all, largest = Summary{p.peak, p.peakTime, l.PID}, p.sites
		}
		for _, s := range l.Stacks {
			if s.Unlogged != (Sums{}) {
				p.at(site(c.at(l, s))).unlogged.add(&s.Unlogged)
			}
		}
		p.at(site(0)).unlogged.add(&l.Unplaced)
		for i, s := range p.sites {
			s.addTo(&out[i])
			lived[i] = append(lived[i], s.lived...)
		}
	}
	for i, s := range largest {
		out[i].AtPeak = s.atPeak
	}
	for i := range out {
		out[i].median(lived[i])
	}
	return out, all
}

// process is one log on its way through Tally.
type process struct {
	log            *Log
	live           map[uint64]block
	sites          map[int]*siteSums
	now            uint64 // bytes that live
	peak, peakTime uint64
}

// block is a live allocation.
type block struct {
	size, time uint64
	site       int
}

// siteSums are the allocations of one site in one process.
type siteSums struct {
	calls, bytes, freed uint64
	now, blocks         uint64 // that live
	peak, peakBlocks    uint64
	atPeak              uint64
	lived               []uint64
	unlogged            Sums
}

func (p *process) at(site int) *siteSums {
	s := p.sites[site]
	if s == nil {
		s = &siteSums{}
		p.sites[site] = s
	}
	return s
}

// replay goes through the log twice: first to find when most is in use, then to
// see by whom. Entries are in the order in which things happened: an end is
// written down before the memory is given back.
func (p *process) replay(c *Callers, site func(place int) int) {
	top := 0
	p.each(c, site, func(i int) {
		if p.now > p.peak {
			p.peak, p.peakTime, top = p.now, p.log.Events[i].Time, i
		}
	})
	clear(p.live)
	clear(p.sites)
	p.now = 0
	p.each(c, site, func(i int) {
		if i == top && p.peak > 0 {
			for _, s := range p.sites {
				s.atPeak = s.now
			}
		}
	})
}

func (p *process) each(c *Callers, site func(place int) int, after func(i int)) {
	for i := range p.log.Events {
		e := &p.log.Events[i]
		if p.log.after(e) {
			continue
		}
		switch e.Kind {
		case Free:
			p.free(e.Addr, e.Time)
		case Start: // another program; nobody freed these
			for addr := range p.live {
				p.drop(addr)
			}
		case Allocate:
			p.drop(e.Addr) // its end was not logged
			place, _ := c.of(p.log, e)
			p.allocate(e, site(place))
		}
		after(i)
	}
}

func (p *process) allocate(e *Event, site int) {
	s := p.at(site)
	p.live[e.Addr] = block{e.Size, e.Time, site}
	s.calls++
	s.bytes += e.Size
	s.blocks++
	s.now += e.Size
	p.now += e.Size
	if s.now > s.peak {
		s.peak, s.peakBlocks = s.now, s.blocks
	}
}

func (p *process) free(addr, time uint64) {
	b, ok := p.live[addr]
	if !ok {
		return // its parent's, or from before the log
	}
	p.drop(addr)
	s := p.at(b.site)
	s.freed++
	s.lived = append(s.lived, time-min(time, b.time))
}

// drop takes an allocation out of what lives.
func (p *process) drop(addr uint64) {
	b, ok := p.live[addr]
	if !ok {
		return
	}
	delete(p.live, addr)
	s := p.at(b.site)
	s.blocks--
	s.now -= b.size
	p.now -= b.size
}

func (s *siteSums) addTo(t *Tally) {
	t.Calls, t.Bytes, t.Freed = t.Calls+s.calls, t.Bytes+s.bytes, t.Freed+s.freed
	if s.peak > t.Peak {
		t.Peak, t.PeakCalls = s.peak, s.peakBlocks
	}
	t.AtEnd += s.now
	t.Unlogged.add(&s.unlogged)
	if s.calls > 0 || s.unlogged != (Sums{}) {
		t.Processes++
	}
}

func (t *Tally) median(lived []uint64) {
	// Of an even number it is the lower of the two in the middle.
	middle := (int(t.Calls)+1)/2 - 1
	if middle >= 0 && middle < len(lived) {
		slices.Sort(lived)
		t.Lifetime, t.HasMedian = lived[middle], true
	}
}
