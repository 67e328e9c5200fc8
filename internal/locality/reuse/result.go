package reuse

import (
	"maps"
	"slices"
)

// Result is what a pass found.
type Result struct {
	References uint64
	LineBytes  int
	PageBytes  int
	Threads    []uint32
	Lines      uint64 // distinct, of each thread where they are apart
	First      uint64 // references with a line not seen before
	// Distances counts references by exact distance.
	Distances  []uint64
	Whole      Histogram
	PageCount  uint64
	Pages      Histogram
	Footprint  []Window
	WorkingSet WorkingSet
	Code       []*CodeGroup
	Members    []*Group // by number; nil where nothing was referenced
	Loops      []*Group
	Fetched    uint64
	Used       uint64
	// Aliases of Loads may wait for an unrelated store.
	Aliases, Loads uint64
	Unsized        uint64
}

// Result ends the pass.
func (p *Pass) Result() *Result {
	p.charge()
	r := &Result{References: p.n, LineBytes: p.o.Line, PageBytes: p.o.Page, First: p.distance.first, Distances: p.distance.all(), Pages: p.pages,
		Code: p.groups, Members: p.members, Loops: p.loops, Aliases: p.aliases, Loads: p.loads, Unsized: p.unsized}
	r.Whole.First = r.First
	for d, n := range r.Distances {
		r.Whole.Counts[Bucket(uint32(d))] += n
	}
	var first, last, reuse timeBuckets
	r.Threads = slices.Sorted(maps.Keys(p.threads))
	for _, id := range r.Threads {
		t := p.threads[id]
		r.Lines += uint64(t.lines.Lines())
		r.PageCount += uint64(t.pages.Lines())
		first.merge(&t.firstTimes)
		reuse.merge(&t.reuseTimes)
		for i := range t.lines.uses {
			if at := t.lines.uses[i].time(); at > 0 {
				last.add(p.n - at + 1)
			}
		}
	}
	r.Footprint = footprint(p.n, r.Lines, &first, &last, &reuse)
	k := max(p.set.first, p.pageSet.first)
	p.set.first, p.pageSet.first = k, k
	r.WorkingSet.Window, r.WorkingSet.Lines = p.set.of(p.n)
	_, r.WorkingSet.Pages = p.pageSet.of(p.n)
	for _, g := range r.Code {
		r.Fetched += g.Fetched
		r.Used += g.Used
	}
	return r
}

// Misses is how many references miss a fully associative LRU cache of so many
// lines: exact for every size.
func (r *Result) Misses(lines uint64) uint64 {
	n := r.First
	for d := lines; d < uint64(len(r.Distances)); d++ {
		n += r.Distances[d]
	}
	return n
}

// Point is one size on the miss curve.
type Point struct {
	Lines, Misses uint64
}

// Curve returns the misses of every size at which a bucket begins, up to one
// that holds every line.
func (r *Result) Curve() []Point {
	var out []Point
	misses := r.References
	d := uint64(0)
	for b := 1; b < Buckets; b++ {
		size := BucketStart(b)
		for ; d < size && d < uint64(len(r.Distances)); d++ {
			misses -= r.Distances[d]
		}
		out = append(out, Point{size, misses})
		if size >= uint64(len(r.Distances)) {
			break
		}
	}
	return out
}
