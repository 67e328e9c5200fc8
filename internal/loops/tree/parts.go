package tree

import "github.com/isobath/isobath/internal/data/refs/flow"

// parts says how the loops of a group share its turns: one after the other, or
// each all turns for a part of the body.
type parts struct{ apart bool }

func (p parts) turns(n turns) uint64 {
	total := uint64(0)
	for _, k := range n {
		if p.apart {
			total = max(total, uint64(k))
		} else {
			total += uint64(k)
		}
	}
	return total
}

// partsOf compares where in the source the accesses and calls of a group's loops
// stand.
func (b *build) partsOf(gr *group) parts {
	if len(gr.machines) < 2 || len(gr.machines) > maxParts {
		return parts{}
	}
	seen := map[position]bool{}
	for _, m := range gr.machines {
		own := map[position]bool{}
		for _, id := range b.loops[m].blocks {
			list := b.listing(id)
			for i := range list {
				if p := positionOf(&list[i]); (list[i].Loads || list[i].Stores || list[i].Ending == flow.Call) && p.line() > 0 {
					own[p] = true
				}
			}
		}
		if len(own) == 0 { // nothing tells it from a copy
			return parts{}
		}
		for p := range own {
			if seen[p] {
				return parts{}
			}
		}
		for p := range own {
			seen[p] = true
		}
	}
	return parts{apart: true}
}
