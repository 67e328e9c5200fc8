package whatif

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/isobath/isobath/internal/messages/logical"
	"github.com/isobath/isobath/internal/messages/trace"
)

// CauseKind is what took longer than usual.
type CauseKind uint8

// The kinds of causes.
const (
	ByComputation CauseKind = iota
	ByMessage
	ByCall
	ByCollective
	ByStart
	causeKinds
)

var causeNames = [...]string{"compute", "message", "call", "collective", "startup"}
var causeClasses = [...]string{"program", "network", "unexplained", "unexplained", "startup"}

func (k CauseKind) String() string { return causeNames[k] }

// Class says who can change it.
func (k CauseKind) Class() string { return causeClasses[k] }

// element is one thing that took longer than usual: the computation before a
// call, its own time, the lag of a dependency, or the late beginning of a line.
type element struct {
	call, dep int32 // dep is None but for lags; call is the line of a late beginning
	amount    int64
	kind      CauseKind
}

// Entry is a cause: everything of one kind at one place with one pattern.
type Entry struct {
	Kind     CauseKind
	Call     int32 // one of its calls: names operation, caller and site
	Lines    []int32
	Count    int
	Sum      int64
	elements []int32 // the largest first, as many as are listed
	wide     int32
	single   bool // belongs to one line
	pattern  bool // comes again and again in the same size
	noise    bool // what is left of the place of a pattern

	OnPath      int64   // amount that lies on the longest path: what it can gain at most
	Gain        int64   // run time saved if this alone were gone
	Exact       bool    // Gain and Waiting were found by replay
	Waiting     int64   // change of waiting and idle time of all lines
	Helped      int     // other lines that wait less without it
	Undisturbed int64   // gain in the run without disturbances
	Next        int32   // entry on the path that is longest without this one, or None
	After       []int32 // entries that must be gone before this one gains; empty for most
}

// Causes is everything that took longer than usual, grouped and ranked by what
// removing it gains, in the run without the time that processes waited for a
// processor.
type Causes struct {
	*Graph
	S       *logical.Structure
	Peers   *logical.Peers
	Base    *Weights
	Times   *Times  // of the unchanged settled run
	Entries []Entry // ranked
	Closing Closing
	Then    []Round
	Replays int
	Share   map[string]int64 // excess on the longest path, by class

	elements []element
	entry    []int32 // element to entry
	ofComp   []int32 // call to element, or None
	ofOwn    []int32
	ofLag    []int32
	recorded *Graph // the run as it was; Graph is of the settled one
	scratch  *Times
	arrival  *Times // the unchanged run with tasks that go to who is free; nil without a hub
	path     []Edge
	after    []int64          // bounds of a changed run
	slack    []int64          // of the computation before each call; nil if unknown
	names    map[int32]string // of the entries that the report speaks of
}

// Closing is what the last collective of the run took on its way out; nothing
// follows it, so it is outside the ranking.
type Closing struct {
	Call  int32 // None if there is none
	Lines int
	Most  int64
	Sum   int64
}

// Round is the run after the best entries are gone, one more each time.
type Round struct {
	Remove  []int32
	Span    int64
	Waiting int64 // and idle
	Next    int32 // the best of what is left, or None
}

// Rank finds the causes of a run. top is how many entries at the head of the
// list must be exact.
func Rank(ctx context.Context, g *Graph, s *logical.Structure, top int) (*Causes, error) {
	recorded := g
	g, err := recorded.Settled(ctx)
	if err != nil {
		return nil, err
	}
	if g != recorded {
		s = s.Retimed(g.Trace)
	}
	c := &Causes{Graph: g, S: s, Peers: s.Peers(), Base: g.Recorded(), Share: map[string]int64{}, recorded: recorded}
	c.Closing.Call = trace.None
	c.Times = g.Replay(c.Base, nil)
	c.collect()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c.group()
	if err := c.rank(ctx, top); err != nil {
		return nil, err
	}
	if err := c.rounds(ctx); err != nil {
		return nil, err
	}
	c.sort() // what gains after others is worth a line now
	return c, nil
}

// collect lists every excess. The computation before a call is compared with its
// peers, calls and messages with what is usual for their class.
func (c *Causes) collect() {
	n := c.Len()
	c.ofComp, c.ofOwn, c.ofLag = none(n), none(n), none(len(c.Deps.Cause))
	// Each call and dependency is late in a noisy run; of room that is not used no
	// page is touched.
	c.elements = make([]element, 0, n+len(c.Deps.Cause)+c.Lines())
	add := func(e element) int32 {
		c.elements = append(c.elements, e)
		return int32(len(c.elements) - 1)
	}
	for p := range int32(c.Lines()) {
		last := c.Start[p+1] - 1
		for i := c.Start[p]; i <= last; i++ {
			if x := c.Peers.Excess(i); x > 0 {
				c.ofComp[i] = add(element{i, trace.None, x, ByComputation})
			}
			c.excessOf(i, i == last, add)
		}
		if late := c.Begin[p] - c.First0; late > 0 {
			add(element{p, trace.None, late, ByStart})
		}
	}
}

// excessOf lists what a call and its messages took beyond the usual.
func (c *Causes) excessOf(i int32, last bool, add func(element) int32) {
	full := false
	for d := c.First[i]; d < c.First[i+1]; d++ {
		x := c.Deps.Lag[d] - c.Deps.Usual[d]
		switch c.Deps.Kind[d] {
		case dropped, Progress, Tree, Epoch:
			continue
		case Full:
			full = true
			if x <= 0 {
				continue
			}
			if c.First[i+1]-c.First[i] > 1 { // not its only constant
				break
			}
			if last {
				c.close(i, x)
				continue
			}
			e := add(element{i, d, x, ByCollective})
			c.ofLag[d], c.ofOwn[i] = e, e
			continue
		}
		if x > 0 {
			c.ofLag[d] = add(element{i, d, x, ByMessage})
		}
	}
	if x := c.Own[i] - c.UsualOwn[i]; x > 0 && !full {
		c.ofOwn[i] = add(element{i, trace.None, x, ByCall})
	}
}

func (c *Causes) close(i int32, x int64) {
	c.Closing.Lines++
	c.Closing.Sum += x
	if x > c.Closing.Most || c.Closing.Call < 0 {
		c.Closing.Most, c.Closing.Call = x, i
	}
}

func none(n int) []int32 {
	v := make([]int32, n)
	for i := range v {
		v[i] = trace.None
	}
	return v
}

func (c *Causes) lineOfElement(e *element) int32 {
	if e.kind == ByStart {
		return e.call
	}
	return c.Line[e.call]
}

func (c *Causes) stepOf(e *element) int32 {
	if e.kind == ByStart {
		return trace.None
	}
	return c.Peers.Step[e.call]
}

// group makes entries of the elements: by kind and place, with what stands out
// apart.
func (c *Causes) group() {
	places := int32(1)
	for k := range c.elements {
		if e := &c.elements[k]; e.kind != ByStart {
			places = max(places, c.Peers.Wide(e.call)+1)
		}
	}
	key := func(e *element) int32 {
		if e.kind == ByStart {
			return int32(ByStart) * places
		}
		return int32(e.kind)*places + c.Peers.Wide(e.call)
	}
	start := make([]int32, int(causeKinds)*int(places)+1)
	for k := range c.elements {
		start[key(&c.elements[k])+1]++
	}
	for k := 1; k < len(start); k++ {
		start[k] += start[k-1]
	}
	order := make([]int32, len(c.elements))
	next := slices.Clone(start)
	for k := range c.elements {
		at := key(&c.elements[k])
		order[next[at]] = int32(k)
		next[at]++
	}
	for k := range int32(len(start) - 1) {
		if from, to := start[k], start[k+1]; from < to {
			c.split(order[from:to], k%places)
		}
	}
	c.join()
	c.entry = none(len(c.elements))
	for k := range c.Entries {
		c.finish(&c.Entries[k])
		for _, e := range c.Entries[k].elements {
			c.entry[e] = int32(k)
		}
	}
}

// Where groups are divided: from enoughMembers on, what is above outlying times
// the 90 % quantile is a one-off if it holds a share of the sum.
const (
	enoughMembers = 8
	outlying      = 5
	outlierShare  = 20 // one twentieth
)

// split makes entries of the elements of one place: one-offs by line and size,
// a line that holds half of the rest, lines that are slower than others, and the
// rest.
func (c *Causes) split(members []int32, wide int32) {
	kind := c.elements[members[0]].kind
	rest := members
	if len(members) >= enoughMembers {
		rest = c.oneOffs(members, wide)
	}
	if len(rest) == 0 {
		return
	}
	sum := int64(0)
	byLine := map[int32]int64{}
	for _, k := range rest {
		e := &c.elements[k]
		byLine[c.lineOfElement(e)] += e.amount
		sum += e.amount
	}
	heavy := trace.None
	for line, part := range byLine {
		if kind != ByCollective && 2*part >= sum && (heavy < 0 || line < heavy) {
			heavy = line
		}
	}
	apart := []int32{heavy}
	if heavy < 0 {
		if apart = c.slowLines(kind, byLine); len(apart) == 0 {
			c.patterns(Entry{Kind: kind, wide: wide, elements: slices.Clone(rest)})
			return
		}
	}
	own := make([][]int32, len(apart))
	var others []int32
	for _, k := range rest {
		if n := slices.Index(apart, c.lineOfElement(&c.elements[k])); n >= 0 {
			own[n] = append(own[n], k)
		} else {
			others = append(others, k)
		}
	}
	for _, elements := range own {
		c.patterns(Entry{Kind: kind, wide: wide, elements: elements, single: true})
	}
	if len(others) > 0 {
		c.split(others, wide) // which has a line less
	}
}

// A line that loses more than the others by slowOver of what is usual among them,
// and by slowSpread times as much as they differ, is slow and not just disturbed
// as they are. Of more than a part of the lines that cannot be said, and how much
// few lines differ says little.
const (
	slowOver    = 0.5
	slowSpread  = 4
	slowPart    = 4
	enoughLines = 12
)

// slowLines are the lines whose computations lose far more in sum than those of
// others, and by what is worth a line: where all are disturbed a little, a slow one
// does not hold half of the sum.
func (c *Causes) slowLines(kind CauseKind, byLine map[int32]int64) []int32 {
	if kind != ByComputation || len(byLine) < enoughLines {
		return nil
	}
	middle := func(values []int64) int64 {
		slices.Sort(values)
		return values[(len(values)-1)/2]
	}
	sums := make([]int64, 0, len(byLine))
	for _, sum := range byLine {
		sums = append(sums, sum)
	}
	usual := middle(sums)
	for n, sum := range sums {
		sums[n] = max(sum-usual, usual-sum)
	}
	least := max(c.worthAlone(), int64(slowOver*float64(usual)), slowSpread*middle(sums))
	var slow []int32
	for line, sum := range byLine {
		if sum-usual >= least {
			slow = append(slow, line)
		}
	}
	if slowPart*len(slow) > len(byLine) {
		return nil
	}
	slices.Sort(slow)
	return slow
}

// A pattern is at least patternMembers computations, alike within alike times,
// above the rest by patternGap and with half of the whole sum.
const (
	patternMembers = 3
	patternGap     = 3
	alike          = 3
)

// patterns makes an entry of what comes again and again in the same size, and
// another of the noise of the same place, so that neither is told with the
// numbers of the other.
func (c *Causes) patterns(e Entry) {
	if e.Kind != ByComputation {
		c.Entries = append(c.Entries, e)
		return
	}
	sum, largest := int64(0), int64(0)
	for _, k := range e.elements {
		sum, largest = sum+c.elements[k].amount, max(largest, c.elements[k].amount)
	}
	if n := c.again(e.elements, sum, largest); n > 0 {
		again := e
		again.elements, again.pattern = e.elements[:n:n], true
		e.elements, e.noise = e.elements[n:], true
		c.Entries = append(c.Entries, again, e)
		return
	}
	if out, rest := c.apart(e.elements, sum); e.single && len(out) > 0 && !c.mostOf(e.elements) {
		for _, same := range c.chains(out) {
			alone := e
			alone.elements = same
			c.Entries = append(c.Entries, alone)
		}
		e.elements, e.noise = rest, true
	}
	c.Entries = append(c.Entries, e)
}

// again brings those of a pattern to the front, the largest first, and returns
// how many they are, 0 if there is none. Only what is alike can be in one, so the
// rest need not be sorted.
func (c *Causes) again(members []int32, sum, largest int64) int {
	like, next := 0, int64(0)
	for n, k := range members {
		if amount := c.elements[k].amount; alike*amount < largest {
			next = max(next, amount)
		} else {
			members[n], members[like] = members[like], k
			like++
		}
	}
	slices.SortFunc(members[:like], c.larger)
	upper := int64(0)
	for n := 1; n <= like && n < len(members); n++ {
		last, below := c.elements[members[n-1]].amount, next
		if n < like {
			below = c.elements[members[n]].amount
		}
		upper += last
		if n >= patternMembers && patternGap*below < last && 2*upper >= sum {
			return n
		}
	}
	return 0
}

// oneOffs makes entries of what stands far above the rest and returns the rest.
func (c *Causes) oneOffs(members []int32, wide int32) []int32 {
	amounts := make([]int64, 0, len(members))
	sum := int64(0)
	for _, k := range members {
		amounts = append(amounts, c.elements[k].amount)
		sum += c.elements[k].amount
	}
	limit := outlying * quantile(amounts, 0.9)
	out, rest := c.above(members, limit+1)
	outSum := int64(0)
	for _, k := range out {
		outSum += c.elements[k].amount
	}
	if outSum*outlierShare < sum {
		out, rest = c.above(members, max(limit+1, c.worthAlone()))
	}
	if len(out) == 0 {
		if out, rest = c.apart(members, sum); len(out) == 0 {
			return members
		}
	}
	lineOf := func(e *element) int32 {
		if e.kind == ByCollective { // members of one instance stay together
			return trace.None
		}
		return c.lineOfElement(e)
	}
	byLine := map[int32][]int32{}
	var lines []int32
	for _, k := range out {
		line := lineOf(&c.elements[k])
		if byLine[line] == nil {
			lines = append(lines, line)
		}
		byLine[line] = append(byLine[line], k)
	}
	for _, line := range lines {
		for _, same := range c.chains(byLine[line]) {
			kind := c.elements[same[0]].kind
			c.Entries = append(c.Entries, Entry{Kind: kind, wide: wide, single: kind != ByCollective, elements: same})
		}
	}
	return rest
}

// An amount is told together with the next larger one if it is at least
// chainLink of it: 40 delays of about 2 ms are one thing, one of 60 ms and one
// of 50 ms are two.
const chainLink = 0.85

// chains divides elements of a line into runs of like amounts, the largest
// first. A line that is late every other time is slow, however much each time.
// Members of a collective stay one run down to a third of the largest: how late
// each of them leaves differs by itself.
func (c *Causes) chains(list []int32) [][]int32 {
	list = slices.Clone(list)
	slices.SortFunc(list, c.larger)
	if c.mostOf(list) {
		return [][]int32{list}
	}
	var out [][]int32
	from := 0
	for k := 1; k <= len(list); k++ {
		if k < len(list) {
			e, before := &c.elements[list[k]], &c.elements[list[k-1]]
			if e.kind == ByCollective && alike*e.amount >= c.elements[list[from]].amount || float64(e.amount) >= chainLink*float64(before.amount) {
				continue
			}
		}
		out = append(out, list[from:k:k])
		from = k
	}
	return out
}

// trifle is which part of the largest excess of a line is too small to call the
// line slow: every other computation takes more than the median by a little.
const trifle = 10

// mostOf tells whether computations of a line, without trifles, are at least half
// of those it has at their place, and at least patternMembers.
func (c *Causes) mostOf(list []int32) bool {
	first := &c.elements[list[0]]
	if first.kind != ByComputation {
		return false
	}
	largest, counted := int64(0), 0
	for _, k := range list {
		largest = max(largest, c.elements[k].amount)
	}
	for _, k := range list {
		if trifle*c.elements[k].amount >= largest {
			counted++
		}
	}
	if counted < patternMembers {
		return false
	}
	wide, line, all := c.Peers.Wide(first.call), c.Line[first.call], 0
	for i := c.Start[line]; i < c.Start[line+1]; i++ {
		if c.Peers.Wide(i) == wide {
			all++
		}
	}
	return 2*counted >= all
}

// larger orders elements by amount, the largest first.
func (c *Causes) larger(a, b int32) int {
	return cmp.Or(cmp.Compare(c.elements[b].amount, c.elements[a].amount), cmp.Compare(a, b))
}

// worthAlone is the amount from which on one delay is told by itself, however
// much the noise of all ranks sums up to: a hundredth of the run.
func (c *Causes) worthAlone() int64 { return max(1, c.Times.Span/100) }

// apart splits off what stands above a gap: the largest few, if the next is not
// half of them and they hold a fifth of the sum or are worth a line each. Noise of
// the size of a quantile hides such a delay from a rule of quantiles.
func (c *Causes) apart(members []int32, sum int64) (out, rest []int32) {
	amounts := make([]int64, len(members))
	for n, k := range members {
		amounts[n] = c.elements[k].amount
	}
	slices.Sort(amounts)
	part := int64(0)
	for n := len(amounts) - 1; n > 0 && n >= len(amounts)-max(1, len(amounts)/8); n-- {
		part += amounts[n]
		if 2*amounts[n-1] < amounts[n] && (5*part >= sum || amounts[n] >= c.worthAlone()) {
			return c.above(members, amounts[n])
		}
	}
	return nil, members
}

// above divides members by amount.
func (c *Causes) above(members []int32, least int64) (out, rest []int32) {
	for _, k := range members {
		if c.elements[k].amount >= least {
			out = append(out, k)
		} else {
			rest = append(rest, k)
		}
	}
	return out, rest
}

// join puts delays of one line together that differ in nothing but the call
// before: those of one size to the largest entry that has it. Then it adds a
// single delay to the pattern that it is the first or the last of.
func (c *Causes) join() {
	type key struct {
		kind CauseKind
		call place
		line int32
	}
	same := map[key][]int{}
	var keys []key
	for id := range c.Entries {
		e := &c.Entries[id]
		if !e.single || e.noise || e.Kind == ByStart {
			continue
		}
		first := &c.elements[e.elements[0]]
		k := key{e.Kind, c.placeOf(first.call), c.lineOfElement(first)}
		if same[k] == nil {
			keys = append(keys, k)
		}
		same[k] = append(same[k], id)
	}
	for _, k := range keys {
		c.joinLine(same[k])
	}
	c.Entries = c.joinPatterns(slices.DeleteFunc(c.Entries, func(e Entry) bool { return len(e.elements) == 0 }))
}

// joinLine moves delays between entries of one line at one place: each to those
// that come again and again in one size, and entries whose ranges meet to each
// other.
func (c *Causes) joinLine(ids []int) {
	if len(ids) == 1 {
		return
	}
	spans := make(map[int]amounts, len(ids))
	again := func(id int) bool { return spans[id].alike() && len(c.Entries[id].elements) >= patternMembers }
	for _, id := range ids {
		spans[id] = c.amountsOf(&c.Entries[id])
	}
	slices.SortStableFunc(ids, func(a, b int) int {
		if is := again(a); is != again(b) {
			if is {
				return -1
			}
			return 1
		}
		return cmp.Compare(len(c.Entries[b].elements), len(c.Entries[a].elements))
	})
	for n, id := range ids {
		from := &c.Entries[id]
		move := func(elements []int32, like func(id int) bool) bool {
			for _, id := range ids[:n] {
				if to := &c.Entries[id]; to.wide != from.wide && len(to.elements) > 0 && like(id) {
					to.elements = append(to.elements, elements...)
					return true
				}
			}
			return false
		}
		from.elements = slices.DeleteFunc(slices.Clone(from.elements), func(k int32) bool {
			amount := c.elements[k].amount
			return move([]int32{k}, func(to int) bool { return again(to) && spans[to].meet(amounts{amount, amount}) })
		})
		rest := c.amountsOf(from)
		if move(from.elements, func(to int) bool { return spans[to].meet(rest) }) {
			from.elements = nil
		}
	}
}

// place is where a call is made, whatever came before it.
type place struct{ region, caller, source int32 }

func (c *Causes) placeOf(call int32) place {
	calls := &c.Trace.Calls
	p := place{calls.Region[call], calls.Caller[call], trace.None}
	if calls.Site != nil {
		p.source = calls.Site[call]
	}
	return p
}

// amounts is the range of those of an entry.
type amounts struct{ least, most int64 }

func (c *Causes) amountsOf(e *Entry) amounts {
	a := amounts{math.MaxInt64, 0}
	for _, k := range e.elements {
		a = amounts{min(a.least, c.elements[k].amount), max(a.most, c.elements[k].amount)}
	}
	return a
}

// alike tells whether they are of one size.
func (a amounts) alike() bool { return a.most <= alike*a.least }

// meet tells whether two ranges do, about.
func (a amounts) meet(b amounts) bool {
	return float64(b.most) >= chainLink*float64(a.least) && float64(a.most) >= chainLink*float64(b.least)
}

// joinPatterns adds a delay that stands alone to a pattern of the same call that
// has another call before it: the first of many iterations follows what came
// before the loop.
func (c *Causes) joinPatterns(entries []Entry) []Entry {
	same := func(a, b *Entry) bool {
		x, y := &c.elements[a.elements[0]], &c.elements[b.elements[0]]
		return a.Kind == b.Kind && a.wide != b.wide && c.placeOf(x.call) == c.placeOf(y.call)
	}
	like := func(pattern, other *Entry) bool {
		amount := c.elements[other.elements[0]].amount
		largest, least := c.elements[pattern.elements[0]].amount, c.elements[pattern.elements[len(pattern.elements)-1]].amount
		return len(other.elements) == 1 && amount <= 2*largest && 2*amount >= least
	}
	taken := make([]bool, len(entries))
	for p := range entries {
		if !entries[p].pattern || entries[p].single {
			continue
		}
		for o := range entries {
			if !taken[o] && !entries[o].pattern && same(&entries[p], &entries[o]) && like(&entries[p], &entries[o]) {
				entries[p].elements = append(entries[p].elements, entries[o].elements...)
				taken[o] = true
			}
		}
	}
	kept := entries[:0]
	for k, e := range entries {
		if !taken[k] {
			kept = append(kept, e)
		}
	}
	return kept
}

// largestFirst brings the largest elements to the front, in order; the rest
// follows in any.
func (c *Causes) largestFirst(list []int32) {
	before := c.larger
	head := list[:min(len(list), instances)]
	slices.SortFunc(head, before)
	for k := len(head); k < len(list); k++ {
		last := len(head) - 1
		if before(list[k], head[last]) >= 0 {
			continue
		}
		list[k], head[last] = head[last], list[k]
		for ; last > 0 && before(head[last], head[last-1]) < 0; last-- {
			head[last], head[last-1] = head[last-1], head[last]
		}
	}
}

// finish counts what an entry holds.
func (c *Causes) finish(e *Entry) {
	c.largestFirst(e.elements)
	e.Call, e.Next = c.elements[e.elements[0]].call, trace.None
	e.Count = len(e.elements)
	seen := map[int32]bool{}
	for _, k := range e.elements {
		e.Sum += c.elements[k].amount
		if line := c.lineOfElement(&c.elements[k]); !seen[line] {
			seen[line] = true
			e.Lines = append(e.Lines, line)
		}
	}
	slices.Sort(e.Lines)
}

// remove takes the excess of an entry away from weights; with sign -1 it comes
// back.
func (c *Causes) remove(k int32, w *Weights, sign int64) {
	for _, id := range c.Entries[k].elements {
		e := &c.elements[id]
		x := sign * e.amount
		switch e.kind {
		case ByComputation:
			w.Comp[e.call] -= x
		case ByCall:
			w.Own[e.call] -= x
		case ByStart:
			w.Begin[e.call] -= x
		case ByMessage:
			w.Lag[e.dep] -= x
		default:
			w.Lag[e.dep] -= x
			// The own time of a member is its lag, but never below zero.
			w.Own[e.call] = min(max(w.Lag[e.dep], 0), c.Exit[e.call]-c.Enter[e.call])
		}
	}
}

// bounds sums for each entry what lies on the longest path of a run: it can gain
// no more than that.
func (c *Causes) bounds(w *Weights, t *Times, to []int64) {
	clear(to)
	c.path = c.LongestPath(w, t, c.path)
	for _, edge := range c.path {
		k := trace.None
		switch edge.Kind {
		case Compute:
			k = c.ofComp[edge.Index]
		case OwnTime:
			k = c.ofOwn[edge.Index]
		case Lag:
			k = c.ofLag[edge.Index]
		}
		if k >= 0 && c.entry[k] >= 0 {
			to[c.entry[k]] += c.elements[k].amount
		}
	}
	if p := c.path[0]; p.Kind == Start {
		for k := range c.Entries {
			e := &c.Entries[k]
			if e.Kind == ByStart && slices.Contains(e.Lines, p.Index) {
				to[k] += c.Begin[p.Index] - c.First0
			}
		}
	}
}
