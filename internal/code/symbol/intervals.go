package symbol

import (
	"cmp"
	"slices"
	"sort"
)

// interval is a range of addresses that belongs to item.
type interval struct {
	low, high uint64
	item      int32
}

// intervals finds the shortest range around an address. Ranges may nest; reach
// is the highest end of all ranges up to each one, which bounds the search.
type intervals struct {
	sorted []interval
	reach  []uint64
}

func newIntervals(list []interval) intervals {
	list = slices.DeleteFunc(list, func(v interval) bool { return v.low >= v.high })
	slices.SortFunc(list, func(a, b interval) int {
		return cmp.Or(cmp.Compare(a.low, b.low), cmp.Compare(b.high, a.high), cmp.Compare(a.item, b.item))
	})
	reach, top := make([]uint64, len(list)), uint64(0)
	for i, v := range list {
		top = max(top, v.high)
		reach[i] = top
	}
	return intervals{list, reach}
}

// maxNesting bounds how many ranges are looked at for one address. Real symbols
// nest a few deep; beyond that the file is damaged or hostile.
const maxNesting = 64

// find returns the item of the innermost range around a. Among equal ranges the
// last in order wins.
func (v *intervals) find(a uint64) (int32, bool) {
	k := sort.Search(len(v.sorted), func(i int) bool { return v.sorted[i].low > a }) - 1
	for tries := 0; k >= 0 && v.reach[k] > a && tries < maxNesting; k, tries = k-1, tries+1 {
		if a < v.sorted[k].high {
			return v.sorted[k].item, true
		}
	}
	return 0, false
}
