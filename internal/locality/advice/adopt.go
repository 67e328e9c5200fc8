package advice

import (
	"fmt"
	"maps"
	"slices"

	"github.com/isobath/isobath/internal/locality/layout"
	"github.com/isobath/isobath/internal/locality/replay"
)

const (
	adoptPage  = 4096
	adoptGap   = 4 // pages that nobody touched, from which on memory is apart
	leastAdopt = 32 << 10
)

// adopt makes objects of memory that no object is known for: stretches of touched
// pages that are too large for a stack frame, named for the line that touches
// them most. A trace without objects has advice then too.
func adopt(t *replay.Trace, table *layout.Table) {
	pages := map[uint64]bool{}
	for i := range t.Accesses {
		if a := &t.Accesses[i]; a.Object == 0 {
			pages[a.Addr/adoptPage] = true
		}
	}
	if len(pages)*adoptPage < leastAdopt {
		return
	}
	sorted := make([]uint64, 0, len(pages))
	for p := range pages {
		sorted = append(sorted, p)
	}
	slices.Sort(sorted)
	var found []*layout.Object
	for from := 0; from < len(sorted); {
		to := from + 1
		for to < len(sorted) && sorted[to]-sorted[to-1] <= adoptGap {
			to++
		}
		if (to-from)*adoptPage >= leastAdopt {
			found = append(found, &layout.Object{Start: sorted[from] * adoptPage, Size: (sorted[to-1] + 1 - sorted[from]) * adoptPage, Known: layout.Inferred, Sized: true})
		}
		from = to
	}
	fit(t, table, found)
}

// fit gives the accesses their objects, and the objects their names and the part
// of their pages that is touched.
func fit(t *replay.Trace, table *layout.Table, found []*layout.Object) {
	busiest := make([]map[uint32]int, len(found))
	ends := make([][2]uint64, len(found))
	for i := range t.Accesses {
		a := &t.Accesses[i]
		if a.Object != 0 {
			continue
		}
		k, ok := slices.BinarySearchFunc(found, a.Addr, func(o *layout.Object, addr uint64) int {
			switch {
			case addr < o.Start:
				return 1
			case addr >= o.Start+o.Size:
				return -1
			}
			return 0
		})
		if !ok {
			continue
		}
		if busiest[k] == nil {
			busiest[k] = map[uint32]int{}
			ends[k] = [2]uint64{a.Addr, a.Addr}
		}
		busiest[k][a.Code]++
		ends[k] = [2]uint64{min(ends[k][0], a.Addr), max(ends[k][1], a.Addr+uint64(a.Size))}
		a.Object = uint32(len(table.Objects) + k)
	}
	for k, o := range found {
		o.Number = uint32(len(table.Objects))
		o.Start, o.Size = ends[k][0], ends[k][1]-ends[k][0]
		o.Name = fmt.Sprintf("memory at %#x", o.Start)
		most := -1
		for _, c := range slices.Sorted(maps.Keys(busiest[k])) { // of equal ones always the same
			p, n := t.PlaceOf(c), busiest[k][c]
			if p.Line > 0 && n > most {
				most, o.Name = n, fmt.Sprintf("memory of %s:%d", p.File, p.Line)
			}
		}
		table.Objects = append(table.Objects, o)
	}
}
