package guide

import (
	"fmt"
	"math"
	"slices"

	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/machine/hw"
)

// This file finds how samples of neighbouring indices lie on the machine.

// scattered is an index along which neighbours are worked on in distant parts of
// the machine although each index belongs to one part: an index of the domain, or
// the elements of one object.
//
// Two numbers tell it: how often two samples of one index come from the same
// part, and how often two samples of neighbouring indices do. Both are unbiased
// for few samples; they are equal where CPUs do not depend on the index, and
// nearly equal where neighbours are on neighbouring CPUs.
func scattered(l *insightSearch) ([]Insight, error) {
	depth, parts := l.farParts()
	if parts == nil {
		return nil, nil
	}
	var found []Insight
	var told []string
	for _, name := range domainIndices {
		if c := l.data.Table.Column(name); c == nil || c.Kind != table.Number {
			continue
		}
		like := l.servedAlike(name)
		like.slots = append(like.slots, parts)
		of, err := l.over(like)
		if err != nil {
			return nil, err
		}
		c := of.data.Table.Column(name)
		_, here := of.farParts()
		a, ok := of.agreement(c, here)
		if !ok || a.within-a.across < limit.scatter {
			continue
		}
		told = append(told, name)
		stake, why, where := of.distantCost(c.Has, query.Missing{Column: name, Not: true})
		found = append(found, Insight{
			Text: fmt.Sprintf("Neighbouring %s are worked on in different parts of the machine: two samples of one %s share a %s in %s of cases, of neighbouring %s in %s; %s take %s of the %s",
				name, name, partName(depth), shareText(a.within), name, shareText(a.across), why, l.share(stake), l.costs()),
			Stake: stake, Surprise: a.within - a.across,
			Where: l.within(where), View: AxisView, Axis: name, Metric: "imbalance", Depth: "CPU",
			subject: "scattered " + name,
		})
	}
	objects, err := l.scatteredObjects(depth, parts, told)
	if err != nil {
		return nil, err
	}
	return append(found, objects...), l.ctx.Err()
}

// element is the index of an object while it is looked at.
type element struct {
	group
	lo, hi float64
	told   int   // samples that an index of the domain has told of already
	size   int64 // elements of a block
	counts []float64
}

// scatteredObjects looks at the elements of each object in blocks: samples are
// too few to know each element, and work is dealt out in chunks of an unknown
// size. Objects whose samples have an index of the domain that is scattered are
// left out: it says the same, and in the words of the program.
func (l *insightSearch) scatteredObjects(depth hw.Kind, parts *slotting, told []string) ([]Insight, error) {
	objects, err := l.elements(told)
	if err != nil || len(objects) == 0 {
		return nil, err
	}
	k := parts.count
	for _, o := range objects {
		for o.size = 1; int64(o.hi-o.lo)/o.size >= maxBlocks; o.size *= 2 {
		}
		o.counts = make([]float64, (int64(o.hi-o.lo)/o.size+1)*int64(k))
	}
	if err := l.countBlocks(objects, parts); err != nil {
		return nil, err
	}
	of, err := l.over(l.servedAlike("symbol"))
	if err != nil {
		return nil, err
	}
	symbol := of.data.Table.Column("symbol")
	var found []Insight
	for _, g := range of.groups(nil, "symbol") {
		code := symbol.Data.([]uint32)[g.row]
		o := objects[code]
		if o == nil {
			continue
		}
		best, size := o.scatter(k)
		if best.within-best.across < limit.scatter {
			continue
		}
		name := symbol.Text(g.row)
		is := func(row int) bool { return symbol.Has(row) && symbol.Data.([]uint32)[row] == code }
		stake, why, where := of.distantCost(is, equals(of.data.Table, g.row, "symbol"))
		same := "one element"
		if size > 1 {
			same = fmt.Sprintf("the same %d elements", size)
		}
		found = append(found, Insight{
			Text: fmt.Sprintf("Neighbouring elements of %s are worked on in different parts of the machine: two samples of %s share a %s in %s of cases, of neighbouring ones in %s; %s take %s of the %s",
				name, same, partName(depth), shareText(best.within), shareText(best.across), why, l.share(stake), l.costs()),
			Stake: stake, Surprise: best.within - best.across,
			Where: l.within(where), View: AxisView, Axis: "index", Metric: "imbalance", Depth: "CPU",
			subject: "scattered elements of " + name,
		})
	}
	return found, nil
}

const (
	maxBlocks  = 1 << 14 // of one object
	maxObjects = 64      // looked at, those with the most cost
)

// elements returns the objects that are worth looking at by the code of their name.
func (l *insightSearch) elements(told []string) (map[uint32]*element, error) {
	objects := map[uint32]*element{}
	index := l.data.Table.Column("index")
	if l.category("symbol") == nil || index == nil || index.Kind != table.Number || index.Provenance == table.Absent {
		return objects, nil
	}
	of, err := l.over(alike{columns: []string{"symbol"}})
	if err != nil {
		return nil, err
	}
	codes := of.data.Table.Column("symbol").Data.([]uint32)
	for _, g := range of.groups(nil, "symbol") {
		if g.n >= limit.samples && g.cost >= limit.score*l.cost && len(objects) < maxObjects {
			objects[codes[g.row]] = &element{group: g, lo: math.Inf(1), hi: math.Inf(-1)}
		}
	}
	if err := l.extents(objects, told); err != nil {
		return nil, err
	}
	for code, o := range objects {
		// Beyond 2^53 neighbours are no longer told apart.
		if 2*o.told > o.n || o.hi-o.lo < float64(limit.indices-1) || !(o.hi-o.lo < 1<<53) {
			delete(objects, code)
		}
	}
	return objects, nil
}

// extents finds the least and the greatest index of objects, and how many of their samples
// have one of some other columns.
func (l *insightSearch) extents(objects map[uint32]*element, others []string) error {
	if l.far != nil {
		return l.extentsElsewhere(objects, others)
	}
	symbol, index := l.data.Table.Column("symbol"), l.data.Table.Column("index")
	codes := symbol.Data.([]uint32)
	told := make([]*table.Column, len(others))
	for i, name := range others {
		told[i] = l.data.Table.Column(name)
	}
	for row := range l.rows {
		if !symbol.Has(row) || !index.Has(row) {
			continue
		}
		o := objects[codes[row]]
		if o == nil {
			continue
		}
		v := index.Float(row)
		o.lo, o.hi = min(o.lo, v), max(o.hi, v)
		if slices.ContainsFunc(told, func(c *table.Column) bool { return c.Has(row) }) {
			o.told++
		}
	}
	return nil
}

// countBlocks counts the samples of objects by block and part of the machine.
func (l *insightSearch) countBlocks(objects map[uint32]*element, parts *slotting) error {
	if l.far != nil {
		return l.blocksElsewhere(objects, parts)
	}
	symbol, index := l.data.Table.Column("symbol"), l.data.Table.Column("index")
	codes := symbol.Data.([]uint32)
	for row := range l.rows {
		if !symbol.Has(row) || !index.Has(row) {
			continue
		}
		o := objects[codes[row]]
		if p := int(parts.of(row)); o != nil && p < parts.count {
			o.counts[int(int64(index.Float(row)-o.lo)/o.size)*parts.count+p]++
		}
	}
	return nil
}

// scatter finds the size of blocks at which elements are most scattered.
func (o *element) scatter(parts int) (best agree, size int64) {
	counts := o.counts
	for at := o.size; len(counts) >= limit.indices*parts; at *= 2 {
		if a, ok := agreementOf(counts, parts); ok && a.within-a.across > best.within-best.across {
			best, size = a, at
		}
		counts = paired(counts, parts)
	}
	return best, size
}

// paired adds up the counts of every two blocks.
func paired(counts []float64, parts int) []float64 {
	out := make([]float64, (len(counts)/parts+1)/2*parts)
	for i, n := range counts {
		out[i/(2*parts)*parts+i%parts] += n
	}
	return out
}

func partName(k hw.Kind) string {
	switch k {
	case hw.Package:
		return "package"
	case hw.NUMA:
		return "NUMA node"
	}
	return k.String()
}

// farParts are the parts of the machine between which data is slow to move.
func (l *insightSearch) farParts() (hw.Kind, *slotting) {
	k, at := farKind(l.topology())
	if at == nil {
		return 0, nil
	}
	return k, byHolder(l.places, at)
}

// farKind is what such parts of a machine are, and which there are; nil if it is
// one part.
func farKind(t *hw.Topology) (hw.Kind, []int) {
	if t == nil || len(t.Hosts()) > 0 { // between hosts data does not move at all
		return 0, nil
	}
	for _, k := range []hw.Kind{hw.Package, hw.NUMA, hw.Cache3} {
		if at := t.At(k); len(at) > 1 {
			return k, at
		}
	}
	return 0, nil
}

func (g *Guide) topology() *hw.Topology {
	if g.places == nil {
		return nil
	}
	return g.places.Coder.Placer.Topology
}

// agree is how often two samples come from the same part of the machine.
type agree struct{ within, across float64 }

// maxIndices bounds the indices told apart; a column of more is not one.
const maxIndices = 1 << 16

func (l *insightSearch) agreement(c *table.Column, parts *slotting) (agree, bool) {
	lo, hi, any := extent(c, l.selected)
	if !any || hi-lo+1 < float64(limit.indices) || hi-lo >= maxIndices {
		return agree{}, false
	}
	k := parts.count
	counts := make([]float64, (int(hi-lo)+1)*k)
	for row := range l.rows {
		if p := int(parts.of(row)); p < k && c.Has(row) {
			counts[int(c.Float(row)-lo)*k+p] += float64(l.samplesOf(row))
		}
	}
	return agreementOf(counts, k)
}

// agreementOf compares each index with the next; counts has k parts for each.
// False if there are too few indices, or the difference may be chance.
func agreementOf(counts []float64, k int) (agree, bool) {
	var a agree
	var pairs, squares float64
	for i := k; i < len(counts); i += k {
		one, two := counts[i-k:i], counts[i:i+k]
		in1, ok1 := pairWithin(one)
		in2, ok2 := pairWithin(two)
		if !ok1 || !ok2 {
			continue
		}
		in, across := (in1+in2)/2, pairAcross(one, two)
		a.within += in
		a.across += across
		squares += (in - across) * (in - across)
		pairs++
	}
	if pairs < float64(limit.indices-1) {
		return agree{}, false
	}
	a.within /= pairs
	a.across /= pairs
	d := a.within - a.across
	deviation := math.Sqrt(max(squares/pairs-d*d, 0) / pairs)
	return a, d > limit.sigmas*deviation
}

// pairWithin is the chance that two different samples are of the same part.
func pairWithin(n []float64) (float64, bool) {
	var total, same float64
	for _, v := range n {
		total += v
		same += v * (v - 1)
	}
	if total < 4 {
		return 0, false
	}
	return same / (total * (total - 1)), true
}

func pairAcross(a, b []float64) float64 {
	var x, y, same float64
	for i := range a {
		x += a[i]
		y += b[i]
		same += a[i] * b[i]
	}
	return same / (x * y)
}

// distantCost is the share of the cost that moving data between parts can
// explain: remote samples where the data knows them, else those of indexed data
// that the caches of a core did not serve. Only rows of a kind count, which has
// selects.
func (l *insightSearch) distantCost(of func(row int) bool, has query.Expr) (share float64, why string, where query.Expr) {
	if remote, e := l.isRemote(); remote != nil {
		if cost := l.costWhere(func(row int) bool { return of(row) && remote.of(row) == 0 }); cost > 0 {
			return cost / l.cost, "samples of it served by another node", all(has, e)
		}
	}
	level := l.category("level")
	if level == nil {
		return 0, "", nil
	}
	var names []query.Value
	far := make([]bool, len(level.Dict))
	for i, name := range level.Dict {
		if v, err := hw.ParseLevel(name); err == nil && v > hw.L2 && v != hw.Unknown && v != hw.BeyondL1 {
			far[i] = true
			names = append(names, query.TextValue(name))
		}
	}
	if names == nil {
		return 0, "", nil
	}
	codes := level.Data.([]uint32)
	cost := l.costWhere(func(row int) bool { return of(row) && level.Has(row) && far[codes[row]] })
	return cost / l.cost, "samples of it beyond L2", all(has, query.In{Column: "level", Values: names})
}

func (l *insightSearch) costWhere(of func(row int) bool) float64 {
	cost := 0.0
	for row := range l.rows {
		if of(row) {
			cost += l.costOf(row)
		}
	}
	return cost
}
