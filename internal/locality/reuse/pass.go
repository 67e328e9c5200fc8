package reuse

import (
	"math/bits"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/machine/cachesim"
)

// Options say what a pass measures.
type Options struct {
	Line, Page int // bytes, powers of two; 64 and 4096 if zero
	// Cache is where the bytes used of a fetched line are counted: usually the
	// first level. Without a size nothing is counted.
	Cache cachesim.Geometry
	// Shared puts the lines of all threads on one stack, in recorded order, as a
	// cache does that they share. The answer then depends on the schedule.
	Shared bool
	// Member numbers the member of an object that a reference touches; nil
	// numbers objects alone.
	Member func(*refs.Ref) uint32
	// Loop numbers the loop a reference is in, 0 if none; nil without loops.
	Loop func(*refs.Ref) uint32
}

// Code is an instruction at a place in the source, run by a thread.
type Code struct {
	PC     uint64
	Place  uint32
	Thread uint32
}

// Group is what a pass knows of some of the references.
type Group struct {
	Lines   Histogram
	Fetched uint64 // lines fetched into Options.Cache
	Used    uint64 // bytes touched of them
}

// CodeGroup is the references of one instruction.
type CodeGroup struct {
	Code
	Group
	Strides Strides
	next    uint32 // the instruction that came after it last
}

// Pass measures references as they come.
type Pass struct {
	o                    Options
	lineShift, pageShift uint

	n        uint64
	threads  map[uint32]*threadState
	last     *threadState
	codes    *refs.Memo
	groups   []*CodeGroup
	lastCode uint32
	members  []*Group
	loops    []*Group
	distance exactCounts
	far      [stageRefs]uint32 // distances of the references under way
	ids      [stageRefs]uint32 // of their first lines
	read     uint64            // so that what is fetched ahead is not left out
	moved    [stageRefs]uint32 // those of them that may be to another page than the last
	pages    Histogram
	set      *windows
	pageSet  *windows

	fetch fetchers

	loads, aliases, unsized uint64
}

// threadState is what is kept for each thread, or for all of them.
type threadState struct {
	id           uint32
	lines, pages *Stack
	firstTimes   timeBuckets
	reuseTimes   timeBuckets
	usage        *cachesim.Usage
	stores       storeRing
}

// NewPass makes a pass over nothing yet.
func NewPass(o Options) *Pass {
	if o.Line == 0 {
		o.Line = 64
	}
	if o.Page == 0 {
		o.Page = 4096
	}
	return &Pass{o: o, lineShift: uint(bits.TrailingZeros(uint(o.Line))), pageShift: uint(bits.TrailingZeros(uint(o.Page))),
		threads: map[uint32]*threadState{}, codes: refs.NewMemo(), set: newWindows(), pageSet: newWindows(),
		fetch: fetchers{memo: refs.NewMemo()}}
}

// Add takes the next references. Each stack is asked for a whole batch before
// the next one is: its data stay in the nearest caches.
func (p *Pass) Add(batch []refs.Ref) {
	for len(batch) > 0 {
		n := min(len(batch), stageRefs)
		p.add(batch[:n])
		batch = batch[n:]
	}
}

// stageRefs is how many references go through one stage before the next.
const stageRefs = 1024

func (p *Pass) add(batch []refs.Ref) {
	p.fetchAhead(batch)
	far := p.far[:len(batch)]
	moved := p.moved[:0]
	for i := range batch {
		r := &batch[i]
		if r.Size == 0 {
			p.unsized++
		}
		t, now := p.threadOf(r), p.n+uint64(i)+1
		from, to := r.Addr>>p.lineShift, lastByte(r)>>p.lineShift
		if from == to && t.again(from, now) {
			far[i] = 0
			continue
		}
		far[i] = p.accessLines(t, now, from, to, p.ids[i])
		moved = append(moved, uint32(i))
	}
	for _, d := range far {
		p.distance.add(d)
	}
	p.pages.Counts[0] += uint64(len(batch) - len(moved))
	for _, i := range moved {
		r := &batch[i]
		p.pages.Add(p.accessPages(p.threadOf(r), p.n+uint64(i)+1, r.Addr>>p.pageShift, lastByte(r)>>p.pageShift))
	}
	for i := range batch {
		p.charged(&batch[i], far[i])
	}
	p.n += uint64(len(batch))
}

// fetchAhead numbers the first line of every reference, and has what is known of
// it fetched.
func (p *Pass) fetchAhead(batch []refs.Ref) {
	var of *threadState
	var line, read uint64
	var id uint32
	for i := range batch {
		r := &batch[i]
		t, at := p.threadOf(r), r.Addr>>p.lineShift
		if at != line || t != of {
			line, of = at, t
			id = t.lines.number(at)
			read += t.lines.near(id)
		}
		p.ids[i] = id
	}
	p.read = read
}

// again is an access to the line used last, in the same of the shortest windows:
// its distance is 0, and neither its line nor its page is new to any window.
func (t *threadState) again(line, now uint64) bool {
	if t.lines.latest != line+1 {
		return false
	}
	u := &t.lines.uses[t.lines.latestID]
	last := u.time()
	if (now-1)/baseWindow != (last-1)/baseWindow {
		return false
	}
	u.setTime(now)
	t.reuseTimes.add(now - last)
	return true
}

// lastByte is the last address that a reference touches.
func lastByte(r *refs.Ref) uint64 {
	end := r.Addr + uint64(max(r.Size, 1)) - 1
	if end < r.Addr {
		return ^uint64(0)
	}
	return end
}

// charged counts a reference with a distance for its instruction, member and
// loop.
func (p *Pass) charged(r *refs.Ref, d uint32) {
	code := p.code(r)
	g := p.groups[code]
	g.Lines.Add(d)
	g.Strides.Add(r.Addr)
	member := uint32(r.Object)
	if p.o.Member != nil {
		member = p.o.Member(r)
	}
	at(&p.members, member).Lines.Add(d)
	loop := uint32(0)
	if p.o.Loop != nil {
		loop = p.o.Loop(r)
		at(&p.loops, loop).Lines.Add(d)
	}
	t := p.threadOf(r)
	if t.usage != nil && t.usage.Access(r.Addr, r.Size) > 0 {
		t.usage.Own(p.fetcher(code, member, loop))
	}
	p.alias(t, r)
}

// threadOf is what is kept for the thread of a reference.
func (p *Pass) threadOf(r *refs.Ref) *threadState {
	if t := p.last; t != nil && (t.id == r.Thread || p.o.Shared) {
		return t
	}
	return p.thread(r.Thread)
}

// at returns the group with a number, making room for it.
func at(groups *[]*Group, i uint32) *Group {
	for int(i) >= len(*groups) {
		*groups = append(*groups, nil)
	}
	if (*groups)[i] == nil {
		(*groups)[i] = &Group{}
	}
	return (*groups)[i]
}

func (p *Pass) thread(id uint32) *threadState {
	key := id
	if p.o.Shared {
		key = 0
	}
	t := p.threads[key]
	if t == nil {
		t = &threadState{id: id, lines: NewStack(), pages: NewStack()}
		if p.o.Cache.Size > 0 {
			t.usage = cachesim.NewUsage(p.o.Cache, p.left)
		}
		p.threads[key] = t
	}
	p.last = t
	return t
}

// accessLines pushes the lines of the reference at a time, lower first, and
// returns the largest of their distances. The first has a number.
func (p *Pass) accessLines(t *threadState, now, from, to uint64, id uint32) (far uint32) {
	for line := from; ; {
		d, last := t.lines.at(line, id, now)
		switch {
		case last == 0:
			t.firstTimes.add(now)
		case last < now:
			t.reuseTimes.add(now - last)
		}
		p.set.add(now, last)
		if far = max(far, d); line == to {
			return far
		}
		line++
		id = t.lines.number(line)
	}
}

func (p *Pass) accessPages(t *threadState, now, from, to uint64) (far uint32) {
	for page := from; ; page++ {
		id := t.pages.latestID
		if t.pages.latest != page+1 {
			id = t.pages.number(page)
		}
		d, last := t.pages.at(page, id, now)
		p.pageSet.add(now, last)
		if far = max(far, d); page == to {
			return far
		}
	}
}

// code numbers the instruction of a reference: mostly the one that came after
// the last one before.
func (p *Pass) code(r *refs.Ref) uint32 {
	if int(p.lastCode) < len(p.groups) {
		last := p.groups[p.lastCode]
		if g := p.groups[last.next]; g.PC == r.PC && g.Place == r.Place && g.Thread == r.Thread {
			p.lastCode = last.next
			return last.next
		}
	}
	id := p.codes.Number(refs.Key{r.PC, uint64(r.Place) | uint64(r.Thread)<<32})
	if int(id) == len(p.groups) {
		p.groups = append(p.groups, &CodeGroup{Code: Code{r.PC, r.Place, r.Thread}})
	}
	p.groups[p.lastCode].next = id
	p.lastCode = id
	return id
}
