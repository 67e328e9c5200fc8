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
	// first level. Its lines are those of the pass. Without a size, or with more
	// than MaxWays, nothing is counted.
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
	id      uint32
	next    *CodeGroup // the instruction that came after it last
	Strides Strides
	Group
}

// Pass measures references as they come.
type Pass struct {
	o                    Options
	lineShift, pageShift uint
	smallPages           bool // a line has several, so that the same line may be another page

	n        uint64
	threads  map[uint32]*threadState
	last     *threadState
	codes    *refs.Memo
	groups   []*CodeGroup
	lastCode *CodeGroup
	members  []*Group
	loops    []*Group
	distance exactCounts
	under    underWay
	read     uint64 // so that what is fetched ahead is not left out
	pages    Histogram
	set      *windows
	pageSet  *windows

	fetch fetchers

	loads, aliases, unsized uint64
}

// stageRefs is how many references go through one stage before the next.
const stageRefs = 1024

// underWay is what one stage tells the next about each reference.
type underWay struct {
	code, member, loop [stageRefs]uint32
	line               [stageRefs]uint32 // number of its first line
	far                [stageRefs]uint32 // its distance
	moved              [stageRefs]uint32 // those that may be to another page than the last
}

// threadState is what is kept for each thread, or for all of them.
type threadState struct {
	id           uint32
	lines, pages *Stack
	firstTimes   timeBuckets
	reuseTimes   timeBuckets
	cache        *residents // nil if nothing is counted in it
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
	o.Cache.Line = o.Line
	if o.Cache.Ways > MaxWays {
		o.Cache.Size = 0
	}
	return &Pass{o: o, smallPages: o.Page < o.Line, lineShift: uint(bits.TrailingZeros(uint(o.Line))), pageShift: uint(bits.TrailingZeros(uint(o.Page))),
		threads: map[uint32]*threadState{}, codes: refs.NewMemo(), lastCode: &CodeGroup{}, set: newWindows(), pageSet: newWindows(),
		fetch: fetchers{memo: refs.NewMemo()}}
}

// Add takes the next references. Each stage takes a whole batch before the next
// one does: its data stay in the nearest caches.
func (p *Pass) Add(batch []refs.Ref) {
	for len(batch) > 0 {
		n := min(len(batch), stageRefs)
		p.add(batch[:n])
		batch = batch[n:]
	}
}

func (p *Pass) add(batch []refs.Ref) {
	p.identify(batch)
	p.fetchAhead(batch)
	moved := p.throughLines(batch)
	p.distance.zeros += uint64(len(batch) - len(moved))
	for _, i := range moved {
		p.distance.add(p.under.far[i])
	}
	p.pages.Counts[0] += uint64(len(batch) - len(moved))
	p.throughPages(batch, moved)
	p.count(len(batch))
	p.n += uint64(len(batch))
}

// identify numbers the instruction, the member and the loop of every reference,
// and counts what needs no distance.
func (p *Pass) identify(batch []refs.Ref) {
	u := &p.under
	t := p.threadOf(&batch[0])
	for i := range batch {
		r := &batch[i]
		t = p.follow(t, r)
		if r.Size == 0 {
			p.unsized++
		}
		g := p.code(r)
		g.Strides.Add(r.Addr)
		member := r.Object
		if p.o.Member != nil {
			member = p.o.Member(r)
		}
		u.code[i&(stageRefs-1)], u.member[i&(stageRefs-1)] = g.id, member
		p.alias(t, r)
	}
	if p.o.Loop == nil {
		return
	}
	for i := range batch {
		u.loop[i] = p.o.Loop(&batch[i])
	}
}

// follow is threadOf where t is that of the reference before.
func (p *Pass) follow(t *threadState, r *refs.Ref) *threadState {
	if t.id == r.Thread || p.o.Shared {
		return t
	}
	return p.thread(r.Thread)
}

// fetchAhead numbers the first line of every reference, and has what is known of
// it fetched.
func (p *Pass) fetchAhead(batch []refs.Ref) {
	t := p.threadOf(&batch[0])
	of := t
	line, read := ^uint64(0), uint64(0)
	var id uint32
	for i := range batch {
		r := &batch[i]
		t = p.follow(t, r)
		if at := r.Addr >> p.lineShift; at != line || t != of {
			line, of = at, t
			id = t.lines.number(at)
			read += t.lines.near(id)
		}
		p.under.line[i&(stageRefs-1)] = id
	}
	p.read = read
}

// throughLines finds the distance of every reference, and returns those that are
// not to the line used last.
func (p *Pass) throughLines(batch []refs.Ref) (moved []uint32) {
	u := &p.under
	moved = u.moved[:0]
	t := p.threadOf(&batch[0])
	for i := range batch {
		r := &batch[i]
		t = p.follow(t, r)
		now := p.n + uint64(i) + 1
		last := lastByte(r)
		from, to := r.Addr>>p.lineShift, last>>p.lineShift
		if from == to && !p.smallPages && t.again(from, now) {
			u.far[i&(stageRefs-1)] = 0
			if t.cache != nil {
				t.cache.mark(t.cache.latest, p.inLine(r.Addr), p.inLine(last))
			}
			continue
		}
		u.far[i&(stageRefs-1)] = p.accessLines(t, now, r.Addr, last, i)
		moved = append(moved, uint32(i))
	}
	return moved
}

// throughPages counts the references among moved by their distance in pages.
func (p *Pass) throughPages(batch []refs.Ref, moved []uint32) {
	t := p.threadOf(&batch[0])
	for _, i := range moved {
		r := &batch[i]
		t = p.follow(t, r)
		p.pages.Add(p.accessPages(t, p.n+uint64(i)+1, r.Addr>>p.pageShift, lastByte(r)>>p.pageShift))
	}
}

// count counts the references by distance for their instructions, members and
// loops.
func (p *Pass) count(n int) {
	u := &p.under
	for i, d := range u.far[:n] {
		b := Bucket(d)
		p.groups[u.code[i]].Lines.Counts[b]++
		at(&p.members, u.member[i]).Lines.Counts[b]++
	}
	if p.o.Loop == nil {
		return
	}
	for i, d := range u.far[:n] {
		at(&p.loops, u.loop[i]).Lines.Counts[Bucket(d)]++
	}
}

// again is an access to the line used last, in the same of the shortest windows:
// its distance is 0, and neither its line nor its page is new to any window.
func (t *threadState) again(line, now uint64) bool {
	if t.lines.latest != line+1 {
		return false
	}
	u := &t.lines.uses[t.lines.latestID]
	last := u.time()
	if last <= (now-1)&^(baseWindow-1) {
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

// inLine is where in its line an address is.
func (p *Pass) inLine(addr uint64) uint { return uint(addr) & uint(p.o.Line-1) }

// threadOf is what is kept for the thread of a reference.
func (p *Pass) threadOf(r *refs.Ref) *threadState {
	if t := p.last; t != nil && (t.id == r.Thread || p.o.Shared) {
		return t
	}
	return p.thread(r.Thread)
}

// at returns the group with a number, making room for it.
func at(groups *[]*Group, i uint32) *Group {
	if int(i) < len(*groups) && (*groups)[i] != nil {
		return (*groups)[i]
	}
	return room(groups, i)
}

func room(groups *[]*Group, i uint32) *Group {
	for int(i) >= len(*groups) {
		*groups = append(*groups, nil)
	}
	(*groups)[i] = &Group{}
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
			t.cache = newResidents(p.o.Cache)
		}
		p.threads[key] = t
	}
	p.last = t
	return t
}

// accessLines pushes the lines of reference i of those under way, lower first,
// and returns the largest of their distances. The first has a number.
func (p *Pass) accessLines(t *threadState, now, addr, end uint64, i int) (far uint32) {
	id := p.under.line[i]
	for line := addr >> p.lineShift; ; {
		d, last := t.lines.at(line, id, now)
		switch {
		case last == 0:
			t.firstTimes.add(now)
		case last < now:
			t.reuseTimes.add(now - last)
		}
		p.set.add(now, last)
		to := min(end, line<<p.lineShift|uint64(p.o.Line-1))
		if t.cache != nil {
			if !t.cache.use(&t.lines.uses[id], line) {
				p.left(t.cache.replace(t.lines.uses, id, line, p.fetcher(p.under.code[i], p.under.member[i], p.under.loop[i])))
			}
			t.cache.mark(t.cache.latest, p.inLine(addr), p.inLine(to))
		}
		if far = max(far, d); to == end {
			return far
		}
		line++
		addr = line << p.lineShift
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

// code is the instruction of a reference: mostly the one that came after the
// last one before.
func (p *Pass) code(r *refs.Ref) *CodeGroup {
	if g := p.lastCode.next; g != nil && g.PC == r.PC && g.Place == r.Place && g.Thread == r.Thread {
		p.lastCode = g
		return g
	}
	return p.otherCode(r)
}

func (p *Pass) otherCode(r *refs.Ref) *CodeGroup {
	id := p.codes.Number(refs.Key{r.PC, uint64(r.Place) | uint64(r.Thread)<<32})
	if int(id) == len(p.groups) {
		p.groups = append(p.groups, &CodeGroup{Code: Code{r.PC, r.Place, r.Thread}, id: id})
	}
	g := p.groups[id]
	p.lastCode.next, p.lastCode = g, g
	return g
}
