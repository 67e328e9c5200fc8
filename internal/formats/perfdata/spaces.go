package perfdata

import (
	"cmp"
	"slices"
)

// region is a file mapped into an address space.
type region struct {
	start, end uint64
	offset     uint64
	module     uint32
}

// space is the address space of one process: regions that do not overlap, in
// order.
type space struct{ regions []region }

// insert adds a region; it replaces the parts of older ones that it covers.
func (s *space) insert(r region) {
	if r.end <= r.start {
		return
	}
	from, _ := slices.BinarySearchFunc(s.regions, r.start, func(o region, at uint64) int { return cmp.Compare(o.end, at+1) })
	to := from
	var parts []region
	for ; to < len(s.regions) && s.regions[to].start < r.end; to++ {
		o := s.regions[to]
		if o.start < r.start {
			left := o
			left.end = r.start
			parts = append(parts, left)
		}
		if o.end > r.end {
			right := o
			right.start, right.offset = r.end, o.offset+r.end-o.start
			parts = append(parts, right)
		}
	}
	parts = append(parts, r)
	slices.SortFunc(parts, func(a, b region) int { return cmp.Compare(a.start, b.start) })
	s.regions = slices.Replace(s.regions, from, to, parts...)
}

// find returns the region that holds an address.
func (s *space) find(at uint64) (region, bool) {
	i, _ := slices.BinarySearchFunc(s.regions, at, func(o region, at uint64) int { return cmp.Compare(o.end, at+1) })
	if i < len(s.regions) && s.regions[i].start <= at {
		return s.regions[i], true
	}
	return region{}, false
}
