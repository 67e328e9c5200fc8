package whatif

import (
	"cmp"
	"math"
	"slices"

	"github.com/isobath/isobath/internal/messages/trace"
)

// held is how much longer than usual, in ns, a call must stay before a
// dependency that no record names is looked for.
const held = 300_000

// never is the lag of a dependency that was dropped: it sets no exit.
const never = math.MinInt64 / 4

// usual are the ordinary lags and own times by class. Low quantiles on purpose:
// a class that is mostly held up has no usual median.
type usual struct {
	lag    map[lagClass]int64
	own    map[ownClass]int64
	full   map[int32][2]int64 // region of a full collective: 10 and 25 % of exit - node
	line   linear             // of messages by size
	nodeAt []int64            // recorded time of each node

	// Classes of which no call tells: nobody ever waited for such a cause, or
	// never found everything there.
	unseenLag map[lagClass]bool
	unseenOwn map[ownClass]bool
}

type lagClass struct {
	kind   Kind
	size   int   // of messages
	region int32 // of collectives
}

type ownClass struct {
	region int32
	size   int
}

// linear is a time that grows with a length.
type linear struct {
	alpha, beta float64
	sizes       int
	spread      float64 // largest size over smallest
}

func (l linear) at(bytes int64) int64 { return int64(l.alpha + l.beta*float64(bytes)) }

// enoughSamples is how many values of a class say what its quantiles are.
const enoughSamples = 1 << 15

// quantile returns the value of v at q, 0 if it is empty. Of very many values
// every k-th is looked at. It changes the order of v.
func quantile(v []int64, q float64) int64 {
	if len(v) == 0 {
		return 0
	}
	if every := len(v) / enoughSamples; every > 1 {
		for k := range len(v) / every {
			v[k] = v[k*every]
		}
		v = v[:len(v)/every]
	}
	slices.Sort(v)
	return v[int(q*float64(len(v)-1))]
}

func (g *Graph) classOf(i int32, d int32) lagClass {
	k := g.Deps.Kind[d]
	if k == Message || k == Rendezvous || k == Probe {
		return lagClass{kind: k, size: size(g.Deps.Bytes[d])}
	}
	return lagClass{kind: k, region: g.Trace.Calls.Region[i]}
}

func (g *Graph) ownClassOf(i int32) ownClass {
	return ownClass{g.Trace.Calls.Region[i], size(g.Bytes[i])}
}

// unseen changes weights to the least or the most that calls may take of which
// the recording tells nothing; false if there are none. More than held would
// have been noticed as being held up.
func (g *Graph) unseen(w *Weights, most bool) bool {
	if len(g.usual.unseenLag) == 0 && len(g.usual.unseenOwn) == 0 {
		return false
	}
	bound := func(now, recorded int64) int64 {
		if most {
			return max(now, min(recorded, g.Trace.Ticks(held)))
		}
		return min(now, 0)
	}
	for i := range int32(g.Len()) {
		for d := g.First[i]; d < g.First[i+1]; d++ {
			if k := g.Deps.Kind[d]; k != dropped && k != Full && g.usual.unseenLag[g.classOf(i, d)] {
				w.Lag[d] = bound(w.Lag[d], g.Exit[i]-g.causeTime(g.Deps.Cause[d]))
			}
		}
		if g.usual.unseenOwn[g.ownClassOf(i)] {
			w.Own[i] = bound(w.Own[i], g.Exit[i]-g.Enter[i])
		}
	}
	return true
}

// fit finds the constants: everything usual, and what is left over goes to what
// set the exit.
func (b *builder) fit() {
	b.usual.nodeAt = make([]int64, len(b.Prev))
	for n := range b.Prev {
		b.usual.nodeAt[n] = b.nodeTime(int32(n))
	}
	b.usualLags()
	b.usualOwns()
	b.Own, b.UsualOwn = make([]int64, b.Len()), make([]int64, b.Len())
	var found []inference
	for i := range int32(b.Len()) {
		excess, best := b.fitCall(i)
		if excess >= b.Trace.Ticks(held) {
			if f, ok := b.infer(i, excess); ok {
				found = append(found, f)
				b.unload(i, excess, best)
			}
		}
	}
	b.insert(found)
	for d, lag := range b.Deps.Lag {
		if lag < 0 && b.Deps.Kind[d] != dropped {
			b.Negative++
		}
	}
}

// at is the recorded time of a cause, with nodes remembered.
func (b *builder) at(cause int32) int64 {
	if cause >= 0 {
		return b.Enter[cause]
	}
	return b.usual.nodeAt[^cause]
}

// usualLags looks at calls that were already waiting when their cause came: the
// latest cause of each.
func (b *builder) usualLags() {
	samples := map[lagClass][]int64{}
	all := map[lagClass][]int64{} // every exit - cause
	full := map[int32][]int64{}
	smallest := map[int64]int64{} // by exact size: for the fit of latency and bandwidth
	for i := range int32(b.Len()) {
		last, from := int64(math.MinInt64), trace.None
		for d := b.First[i]; d < b.First[i+1]; d++ {
			at := b.at(b.Deps.Cause[d])
			if b.Deps.Kind[d] == Full {
				full[b.Trace.Calls.Region[i]] = append(full[b.Trace.Calls.Region[i]], b.Exit[i]-at)
				continue
			}
			c := b.classOf(i, d)
			all[c] = append(all[c], b.Exit[i]-at)
			if at > last {
				last, from = at, d
			}
		}
		if from < 0 || last <= b.Enter[i] {
			continue
		}
		c, lag := b.classOf(i, from), b.Exit[i]-last
		samples[c] = append(samples[c], lag)
		if c.kind == Message {
			bytes := b.Deps.Bytes[from]
			if old, ok := smallest[bytes]; !ok || lag < old {
				smallest[bytes] = lag
			}
		}
	}
	b.usual.full = map[int32][2]int64{}
	for r, v := range full {
		b.usual.full[r] = [2]int64{quantile(v, 0.10), quantile(v, 0.25)}
	}
	b.usual.line = fitLine(smallest)
	b.usual.lag, b.usual.unseenLag = map[lagClass]int64{}, map[lagClass]bool{}
	var seen []int64
	for c := range all {
		if s := samples[c]; len(s) >= 4 {
			b.usual.lag[c] = quantile(s, 0.10)
			seen = append(seen, b.usual.lag[c])
		}
	}
	typical := b.Trace.Ticks(evidence)
	if len(seen) > 0 {
		typical = quantile(seen, 0.5)
	}
	for c, v := range all {
		if len(samples[c]) < 4 {
			b.usual.lag[c] = b.rareLag(c, quantile(v, 0.05), len(samples[c]) == 0, typical)
		}
	}
}

// rareLag is the usual lag of a class with few samples or none: at most the
// smallest exit - cause, which says nothing where nobody waited; then it is that
// of messages of the length, or of other classes.
func (b *builder) rareLag(c lagClass, least int64, unseen bool, typical int64) int64 {
	if unseen {
		b.usual.unseenLag[c] = true
		least = min(least, typical)
	}
	switch c.kind {
	case Message:
	case Rendezvous, Probe:
		if !unseen {
			return least
		}
	default:
		return least
	}
	if b.usual.line.sizes > 0 {
		least = min(least, b.usual.line.at(int64(1)<<max(c.size-1, 0)))
	}
	return least
}

// fitLine fits latency and time per byte to the smallest lag of each size.
func fitLine(smallest map[int64]int64) linear {
	var l linear
	var n, sx, sy, sxx, sxy float64
	least, most := math.Inf(1), 0.0
	for bytes, lag := range smallest {
		x, y := float64(bytes), float64(lag)
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
		least, most = min(least, x), max(most, x)
	}
	l.sizes = int(n)
	if n == 0 {
		return l
	}
	l.spread = most / max(least, 1)
	l.alpha = sy / n
	if det := n*sxx - sx*sx; n > 1 && det > 0 {
		l.beta = max(0, (n*sxy-sx*sy)/det)
		l.alpha = max(0, (sy-l.beta*sx)/n)
	}
	return l
}

func (b *builder) lagUsual(i, d int32) int64 {
	if b.Deps.Kind[d] == Full {
		return b.usual.full[b.Trace.Calls.Region[i]][0]
	}
	return b.usual.lag[b.classOf(i, d)]
}

// usualOwns looks at calls that found everything there.
func (b *builder) usualOwns() {
	alone, rest := map[ownClass][]int64{}, map[ownClass][]int64{}
	for i := range int32(b.Len()) {
		c := b.ownClassOf(i)
		from, free, full := b.Enter[i], true, false
		for d := b.First[i]; d < b.First[i+1]; d++ {
			at := b.at(b.Deps.Cause[d])
			from = max(from, at)
			free = free && at+b.lagUsual(i, d) <= b.Enter[i]
			full = full || b.Deps.Kind[d] == Full
		}
		switch {
		case full:
		case free:
			alone[c] = append(alone[c], b.oneTest(i))
		default:
			rest[c] = append(rest[c], min(max(0, b.Exit[i]-from), b.oneTest(i)))
		}
	}
	b.usual.own, b.usual.unseenOwn = map[ownClass]int64{}, map[ownClass]bool{}
	for c, v := range rest {
		if len(alone[c]) < 3 {
			b.usual.unseenOwn[c] = len(alone[c]) == 0
			b.usual.own[c] = quantile(append(v, alone[c]...), 0.10)
			for _, d := range alone[c] { // few, but held up by nobody
				b.usual.own[c] = min(b.usual.own[c], d)
			}
		}
	}
	for c, v := range alone {
		if _, ok := b.usual.own[c]; !ok {
			b.usual.own[c] = quantile(v, 0.10)
		}
	}
}

// oneTest is how long a call takes; of a run of tests one, for if everything is
// there the first of them ends it.
func (b *builder) oneTest(i int32) int64 {
	d := b.Exit[i] - b.Enter[i]
	if polls := b.Trace.Calls.Polls; polls != nil && polls[i] > 1 {
		d /= int64(polls[i])
	}
	return d
}

// fitCall sets the constants of a call so that its recorded exit follows, and
// returns what was left over and which term took it: a dependency, or None for
// the call itself.
func (b *builder) fitCall(i int32) (excess int64, best int32) {
	stay := b.Exit[i] - b.Enter[i]
	u := b.usual.own[b.ownClassOf(i)]
	b.UsualOwn[i], b.Own[i] = u, min(u, stay)
	full, alive := trace.None, 0
	latest := b.Enter[i] + b.Own[i]
	best = trace.None
	for d := b.First[i]; d < b.First[i+1]; d++ {
		if b.Deps.Kind[d] == dropped {
			b.Deps.Lag[d] = never
			continue
		}
		alive++
		at := b.at(b.Deps.Cause[d])
		if b.Deps.Kind[d] == Full {
			full = d
		}
		b.Deps.Usual[d] = b.lagUsual(i, d)
		b.Deps.Lag[d] = min(b.Deps.Usual[d], b.Exit[i]-at)
		if t := at + b.Deps.Lag[d]; t > latest {
			latest, best = t, d
		}
	}
	if full >= 0 && alive == 1 { // one constant, whoever comes last
		lag := b.Exit[i] - b.at(b.Deps.Cause[full])
		b.Deps.Lag[full], b.Own[i] = lag, min(max(lag, 0), stay)
		b.UsualOwn[i] = b.Deps.Usual[full]
		return 0, full
	}
	excess = b.Exit[i] - latest
	b.give(i, excess, best)
	return excess, best
}

// give gives the excess of a call to the term that set its exit.
func (b *builder) give(i int32, excess int64, best int32) {
	if best < 0 {
		b.Own[i] += excess
	} else {
		b.Deps.Lag[best] += excess
	}
}

func (b *builder) unload(i int32, excess int64, best int32) { b.give(i, -excess, best) }

// inference is a dependency that was looked for and found.
type inference struct {
	call, cause int32
	kind        Kind
}

// infer looks for what held a call up: a partner that came back to MPI and let
// a transfer go on, the last member of a rooted collective, the partner of an
// epoch.
func (b *builder) infer(i int32, excess int64) (inference, bool) {
	best := trace.None
	kind := Progress
	rooted := false
	for _, q := range b.partners(i, &rooted) {
		if j := b.cameBack(i, q, excess); j >= 0 && (best < 0 || b.Enter[j] > b.Enter[best]) {
			best = j
		}
	}
	for d := b.First[i]; d < b.First[i+1]; d++ {
		if cause := b.Deps.Cause[d]; cause < 0 && b.Deps.Kind[d] == NonBlocking {
			if j := b.memberBack(i, ^cause, excess); j >= 0 && (best < 0 || b.Enter[j] > b.Enter[best]) {
				best = j
			}
		}
	}
	if rooted {
		if j := b.lastMember(i, excess); j >= 0 && (best < 0 || b.Enter[j] > b.Enter[best]) {
			best, kind = j, Tree
		}
	}
	if j := b.epochPartner(i, excess); best < 0 && j >= 0 {
		best, kind = j, Epoch
	}
	if best < 0 {
		return inference{}, false
	}
	switch kind {
	case Progress:
		b.Inferred.Progress++
	case Tree:
		b.Inferred.Tree++
	default:
		b.Inferred.Epochs++
	}
	return inference{i, best, kind}, true
}

// cameBack returns the last call of line q that entered during the excess of i,
// after the line had been outside MPI for at least half of it, soon before i
// left. Without "had been outside" any frequent caller explains anything.
func (b *builder) cameBack(i, q int32, excess int64) int32 {
	from, to := b.Start[q], b.Start[q+1]
	k, _ := slices.BinarySearch(b.Enter[from:to], b.Exit[i]+1)
	for j := from + int32(k) - 1; j >= from && b.Enter[j] > b.Exit[i]-excess; j-- {
		if b.Exit[i]-b.Enter[j] > excess/2 {
			break
		}
		if b.Computation(j) >= excess/2 {
			return j
		}
	}
	return trace.None
}

// insert adds found dependencies to the columns.
func (b *builder) insert(found []inference) {
	if len(found) == 0 {
		return
	}
	b.added = true
	slices.SortFunc(found, func(x, y inference) int { return cmp.Compare(x.call, y.call) })
	m := len(b.Deps.Cause) + len(found)
	old, first := b.Deps, b.First
	b.Deps = Deps{Cause: make([]int32, 0, m), Kind: make([]Kind, 0, m), Lag: make([]int64, 0, m), Usual: make([]int64, 0, m), Bytes: make([]int64, 0, m)}
	b.First = make([]int32, b.Len()+1)
	k := 0
	for i := range int32(b.Len()) {
		for d := first[i]; d < first[i+1]; d++ {
			b.Deps.add(old.Cause[d], old.Kind[d], old.Lag[d], old.Usual[d], old.Bytes[d])
		}
		for ; k < len(found) && found[k].call == i; k++ {
			lag := b.Exit[i] - b.Enter[found[k].cause]
			b.Deps.add(found[k].cause, found[k].kind, lag, lag, 0)
		}
		b.First[i+1] = int32(len(b.Deps.Cause))
	}
}

func (d *Deps) add(cause int32, kind Kind, lag, usual, bytes int64) {
	d.Cause, d.Kind = append(d.Cause, cause), append(d.Kind, kind)
	d.Lag, d.Usual, d.Bytes = append(d.Lag, lag), append(d.Usual, usual), append(d.Bytes, bytes)
}
