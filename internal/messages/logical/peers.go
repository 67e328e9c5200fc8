package logical

import (
	"math/bits"
	"slices"

	"github.com/isobath/isobath/internal/messages/trace"
)

// Rule says what a computation is compared with.
type Rule uint8

// The rules, in the order they are tried.
const (
	NoPeers   Rule = iota // nothing like it: no excess can be told
	SameStep              // others at the same step, before the same call
	SameSite              // the same place on other processes: the median of their medians
	SameTimes             // the same place at other times of its process
	OwnShare              // others, and by how much the process differs from them at other times
)

var ruleText = [...]string{"", "at the same step", "at the same place on other ranks", "at the same place at other times", "for it there, by others and by its other times"}

// String says with what is compared.
func (r Rule) String() string { return ruleText[r] }

// Peers are the computations before calls and what is usual for each. Columns
// are those of the trace's calls.
type Peers struct {
	s     *Structure
	Usual []int64 // what like computations take, 0 without peers
	Rule  []Rule
	Step  []int32 // of the operation in the call, or of the next one; None after the last
	sites sites
	// sends of wait w: waitSends[waitAt[w]:waitAt[w+1]]
	waitAt, waitSends []int32
}

// sites number the places computations end at: narrow ones by everything that
// is known of the call, wide ones by call, line, caller and call before.
type sites struct {
	wide, narrow []int32
	wides        int
	narrows      int
}

// Computation returns the time between a call and the one before it.
func (p *Peers) Computation(i int32) int64 { return p.s.computation(i, p.s.lineOf(i)) }

// Excess is what the computation before a call took beyond the usual.
func (p *Peers) Excess(i int32) int64 {
	if p.Rule[i] == NoPeers {
		return 0
	}
	return max(0, p.Computation(i)-p.Usual[i])
}

func (s *Structure) computation(i, line int32) int64 {
	c := &s.Trace.Calls
	if i == c.Start[line] {
		return c.Enter[i] - s.Trace.Procs[line].First
	}
	return c.Enter[i] - c.Exit[i-1]
}

func (s *Structure) lineOf(call int32) int32 {
	k, _ := slices.BinarySearch(s.Trace.Calls.Start, call+1)
	return int32(k) - 1
}

// Peers compares every computation with those like it: a place is the same call
// from the same function after the same call before, on the same communicator
// with like sizes and partners. The call before matters: the second of two sends
// follows the first at once, and is no measure for the first.
func (s *Structure) Peers() *Peers { return s.peers() }

func (s *Structure) findPeers() *Peers {
	n := len(s.Trace.Calls.Enter)
	p := &Peers{s: s, Usual: make([]int64, n), Rule: make([]Rule, n)}
	p.Step = s.callSteps()
	p.findSites()
	p.byStep()
	p.eachSite(p.sites.narrow, p.sites.narrows, p.compareLines)
	if s.Trace.Calls.Site != nil {
		p.eachSite(p.sites.wide, p.sites.wides, p.comparePlace)
	}
	p.findWaits()
	return p
}

// callSteps gives each call the step of its first operation, or of the next one
// of its process.
func (s *Structure) callSteps() []int32 {
	t := s.Trace
	steps := make([]int32, len(t.Calls.Enter))
	for p := range t.Procs {
		op := t.Ops.Start[p]
		for i := t.Calls.Start[p]; i < t.Calls.Start[p+1]; i++ {
			for op < t.Ops.Start[p+1] && t.Ops.Call[op] < i {
				op++
			}
			steps[i] = trace.None
			if op < t.Ops.Start[p+1] {
				steps[i] = s.Step[s.of[op]]
			}
		}
	}
	return steps
}

type wideKey struct{ call, caller, before, source int32 }

type narrowKey struct {
	wide    int32
	comm    int32
	partner int32
	size    int8
	kind    int8
}

// findSites numbers the places. A partner counts relative to the process or by
// its number, whichever more processes share: the first finds neighbours, the
// second hubs.
func (p *Peers) findSites() {
	t := p.s.Trace
	c := &t.Calls
	n := len(c.Enter)
	x := &p.sites
	x.wide, x.narrow = make([]int32, n), make([]int32, n)
	wides := newNumbering[wideKey]()
	relative, absolute := newNumbering[narrowKey](), newNumbering[narrowKey]()
	other := make([]int32, n)
	op := int32(0)
	for line := range int32(len(t.Procs)) {
		before := trace.None
		op = t.Ops.Start[line]
		for i := c.Start[line]; i < c.Start[line+1]; i++ {
			source := trace.None
			if c.Site != nil {
				source = c.Site[i]
			}
			x.wide[i] = wides.of(wideKey{c.Region[i], c.Caller[i], before, source}, line)
			before = c.Region[i]
			key := narrowKey{wide: x.wide[i], comm: trace.None, partner: trace.None, kind: -1}
			for op < t.Ops.Start[line+1] && t.Ops.Call[op] < i {
				op++
			}
			peer := trace.None
			if op < t.Ops.Start[line+1] && t.Ops.Call[op] == i {
				peer = p.describe(op, &key)
			}
			key.partner = peer
			other[i] = absolute.of(key, line)
			if peer >= 0 {
				key.partner = peer - t.Procs[line].Home
			}
			x.narrow[i] = relative.of(key, line)
		}
	}
	for i := range x.narrow {
		if absolute.lines[other[i]] > relative.lines[x.narrow[i]] {
			x.narrow[i] = int32(len(relative.lines)) + other[i]
		}
	}
	x.wides, x.narrows = len(wides.lines), len(relative.lines)+len(absolute.lines)
}

// describe fills in what an operation says of its call and returns its partner.
func (p *Peers) describe(op int32, key *narrowKey) int32 {
	t := p.s.Trace
	key.kind = int8(t.Ops.Kind[op])
	var e *trace.Ends
	switch t.Ops.Kind[op] {
	case trace.Collective:
		key.comm = t.Colls.Comm[t.Ops.Ref[op]]
		return trace.None
	case trace.Send:
		e = &t.Sends
	default:
		e = &t.Recvs
	}
	if t.Ops.N[op] == 0 {
		return trace.None
	}
	row := t.Ops.Ref[op]
	key.comm, key.size = e.Comm[row], int8(bits.Len64(uint64(e.Bytes[row])))
	if t.Ops.N[op] > 1 {
		return trace.None
	}
	return e.Peer[row]
}

// numbering numbers keys and counts the lines each is seen on; lines must come
// one after another.
type numbering[K comparable] struct {
	id    map[K]int32
	lines []int32
	last  []int32
}

func newNumbering[K comparable]() *numbering[K] { return &numbering[K]{id: map[K]int32{}} }

func (x *numbering[K]) of(key K, line int32) int32 {
	id, ok := x.id[key]
	if !ok {
		id = int32(len(x.lines))
		x.id[key] = id
		x.lines, x.last = append(x.lines, 0), append(x.last, trace.None)
	}
	if x.last[id] != line {
		x.last[id] = line
		x.lines[id]++
	}
	return id
}

// sorted returns the calls ordered by a column of small numbers, keeping the
// order inside each, and where each number begins.
func sorted(calls []int32, key func(int32) int32, n int) (order, start []int32) {
	start = make([]int32, n+1)
	for _, i := range calls {
		start[key(i)+1]++
	}
	for k := range n {
		start[k+1] += start[k]
	}
	order = make([]int32, len(calls))
	next := slices.Clone(start)
	for _, i := range calls {
		order[next[key(i)]] = i
		next[key(i)]++
	}
	return order, start
}

// Numbers of like computations from which on a median means something.
const (
	enoughAtStep = 4
	enoughLines  = 3
	enoughTimes  = 4
)

// ofLine are the computations of one process at one place.
type ofLine struct {
	calls  []int32
	median int64
}

// eachSite visits the places that a column numbers, with the computations of each
// process there and the median of the processes' medians.
func (p *Peers) eachSite(place []int32, places int, visit func(lines []ofLine, all int64)) {
	order, start := sorted(upTo(len(p.Usual)), func(i int32) int32 { return place[i] }, places)
	var times, medians []int64
	var lines []ofLine
	for k := range places {
		calls := order[start[k]:start[k+1]] // by line and time
		medians, lines = medians[:0], lines[:0]
		for from := 0; from < len(calls); {
			line := p.s.lineOf(calls[from])
			times = times[:0]
			to := from
			for ; to < len(calls) && calls[to] < p.s.Trace.Calls.Start[line+1]; to++ {
				times = append(times, p.s.computation(calls[to], line))
			}
			m := median(times)
			medians, lines = append(medians, m), append(lines, ofLine{calls[from:to], m})
			from = to
		}
		visit(lines, median(medians))
	}
}

// comparePlace compares what has no peers among calls with its partner,
// communicator and size with the others from the same line of the source: ranks
// in the four corners of a grid begin a sweep with a send each, all to another
// side.
func (p *Peers) comparePlace(lines []ofLine, all int64) {
	if p.s.Trace.Calls.Site[lines[0].calls[0]] < 0 {
		return
	}
	for _, l := range lines {
		for _, i := range l.calls {
			switch {
			case p.Rule[i] != NoPeers:
			case len(lines) >= enoughLines:
				p.Usual[i], p.Rule[i] = all, SameSite
			case len(l.calls) >= enoughTimes:
				p.Usual[i], p.Rule[i] = l.median, SameTimes
			}
		}
	}
}

// compareLines compares with the same place on other processes or at other times
// what has no peers at its step; and tells what is usual for a process by itself
// from what came once.
func (p *Peers) compareLines(lines []ofLine, all int64) {
	for _, l := range lines {
		for _, i := range l.calls {
			switch {
			case p.Rule[i] == SameStep:
			case len(lines) >= enoughLines:
				p.Usual[i], p.Rule[i] = all, SameSite
			case len(l.calls) >= enoughTimes:
				p.Usual[i], p.Rule[i] = l.median, SameTimes
			}
			if len(lines) >= enoughLines && len(l.calls) >= enoughTimes {
				p.ownShare(i, l.median-all)
			}
		}
	}
	p.mostHeldUp(lines)
}

// A computation is held up if it takes heldOver times what is usual for its
// process at its place, and free if it takes up to a quarter more.
const heldOver = 3

// mostHeldUp compares with other times of the process where the median of a step
// is no measure, because most who compute there are held up too. Somebody must be
// free there: a step at which all have more to do is no delay.
func (p *Peers) mostHeldUp(lines []ofLine) {
	held := func(i int32, usual int64) bool {
		return p.Rule[i] == SameStep && usual > 0 && p.Usual[i] >= heldOver*usual && p.Computation(i) >= heldOver*usual
	}
	free := map[int32]bool{} // by step, of those with held ones
	for _, l := range lines {
		if len(l.calls) < enoughTimes {
			continue
		}
		for _, i := range l.calls {
			if held(i, l.median) {
				free[p.Step[i]] = false
			}
		}
	}
	if len(free) == 0 {
		return
	}
	for _, l := range lines {
		for _, i := range l.calls {
			if _, asked := free[p.Step[i]]; asked && len(l.calls) >= enoughTimes && 4*p.Computation(i) <= 5*l.median {
				free[p.Step[i]] = true
			}
		}
	}
	for _, l := range lines {
		for _, i := range l.calls {
			if len(l.calls) >= enoughTimes && free[p.Step[i]] && held(i, l.median) {
				p.Usual[i], p.Rule[i] = l.median, SameTimes
			}
		}
	}
}

// onceOver is how many times the difference that a process always has must fit
// into a delay that came once; above notWorth times it changes nothing that a
// reader would see.
const (
	onceOver = 4
	notWorth = 50
)

// ownShare moves what is usual for a computation by what its process always
// takes more or less than others at this place, if the computation is far from
// that: a rank with twice the work of others that is held up once is late by
// what held it up, and not by its share of the work too.
func (p *Peers) ownShare(i int32, share int64) {
	usual := max(0, p.Usual[i]+share)
	beyond, always := p.Computation(i)-usual, max(share, -share)
	if always > 0 && beyond >= onceOver*always && beyond <= notWorth*always {
		p.Usual[i], p.Rule[i] = usual, OwnShare
	}
}

// byStep compares with others at the same step, where there are enough.
func (p *Peers) byStep() {
	calls := make([]int32, 0, len(p.Usual))
	for i, step := range p.Step {
		if step >= 0 {
			calls = append(calls, int32(i))
		}
	}
	calls, _ = sorted(calls, func(i int32) int32 { return p.Step[i] }, p.s.Steps)
	order, start := sorted(calls, func(i int32) int32 { return p.sites.wide[i] }, p.sites.wides)
	var times []int64
	for k := range p.sites.wides {
		for from := start[k]; from < start[k+1]; {
			to := from
			times = times[:0]
			for ; to < start[k+1] && p.Step[order[to]] == p.Step[order[from]]; to++ {
				times = append(times, p.Computation(order[to]))
			}
			if to-from >= enoughAtStep {
				p.set(order[from:to], median(times), SameStep)
			}
			from = to
		}
	}
}

func (p *Peers) set(calls []int32, usual int64, rule Rule) {
	for _, i := range calls {
		p.Usual[i], p.Rule[i] = usual, rule
	}
}

func upTo(n int) []int32 {
	v := make([]int32, n)
	for i := range v {
		v[i] = int32(i)
	}
	return v
}

// median sorts v and returns the middle, the lower of two.
func median(v []int64) int64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[(len(v)-1)/2]
}

// Wide returns the number of the place a computation ends at: call, caller and
// call before.
func (p *Peers) Wide(i int32) int32 { return p.sites.wide[i] }

// findWaits lists the sends that complete in each wait.
func (p *Peers) findWaits() {
	t := p.s.Trace
	var sends []int32
	for i, w := range t.Sends.Wait {
		if w >= 0 {
			sends = append(sends, int32(i))
		}
	}
	p.waitSends, p.waitAt = sorted(sends, func(i int32) int32 { return t.Sends.Wait[i] }, len(t.Waits.Op))
}
