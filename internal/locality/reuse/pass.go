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
	distance []uint64 // references by exact distance
	first    uint64
	far      [stageRefs]uint32 // distances of the references under way
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
	line         latest
	page         latest
	lastLine     []uint64 // time of the last use of a line, by number
	lastPage     []uint64
	firstTimes   timeBuckets
	reuseTimes   timeBuckets
	usage        *cachesim.Usage
	stores       storeRing
}

// latest is the line or page that a thread used last: the top of its stack.
type latest struct {
	key uint64 // plus one
	id  uint32
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
	far := p.far[:len(batch)]
	for i := range batch {
		r := &batch[i]
		if r.Size == 0 {
			p.unsized++
		}
		d := p.accessLines(p.threadOf(r), p.n+uint64(i)+1, r.Addr>>p.lineShift, lastByte(r)>>p.lineShift)
		p.countDistance(d)
		far[i] = d
	}
	for i := range batch {
		r := &batch[i]
		p.pages.Add(p.accessPages(p.threadOf(r), p.n+uint64(i)+1, r.Addr>>p.pageShift, lastByte(r)>>p.pageShift))
	}
	for i := range batch {
		p.charged(&batch[i], far[i])
	}
	p.n += uint64(len(batch))
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
// returns the largest of their distances.
func (p *Pass) accessLines(t *threadState, now, from, to uint64) (far uint32) {
	if from == to && from+1 == t.line.key {
		at := &t.lastLine[t.line.id]
		if *at < now {
			t.reuseTimes.add(now - *at)
		}
		p.set.add(now, *at)
		*at = now
		return 0
	}
	for line := from; ; line++ {
		d, id := t.lines.Access(line)
		for int(id) >= len(t.lastLine) {
			t.lastLine = append(t.lastLine, make([]uint64, pageLines)...)
		}
		last := t.lastLine[id]
		t.lastLine[id] = now
		switch {
		case last == 0:
			t.firstTimes.add(now)
		case last < now:
			t.reuseTimes.add(now - last)
		}
		p.set.add(now, last)
		if far = max(far, d); line == to {
			t.line = latest{line + 1, id}
			return far
		}
	}
}

func (p *Pass) accessPages(t *threadState, now, from, to uint64) (far uint32) {
	if from == to && from+1 == t.page.key {
		at := &t.lastPage[t.page.id]
		p.pageSet.add(now, *at)
		*at = now
		return 0
	}
	for page := from; ; page++ {
		d, id := t.pages.Access(page)
		for int(id) >= len(t.lastPage) {
			t.lastPage = append(t.lastPage, make([]uint64, pageLines)...)
		}
		p.pageSet.add(now, t.lastPage[id])
		t.lastPage[id] = now
		if far = max(far, d); page == to {
			t.page = latest{page + 1, id}
			return far
		}
	}
}

func (p *Pass) countDistance(d uint32) {
	if d == First {
		p.first++
		return
	}
	for int(d) >= len(p.distance) {
		p.distance = append(p.distance, make([]uint64, max(len(p.distance), 1024))...)
	}
	p.distance[d]++
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
