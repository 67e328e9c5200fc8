package cycle

import (
	"context"
	"fmt"
)

// useLandmarks replaces the points by a subset that covers them: each window
// then stands at its nearest landmark. Landmarks are chosen one after the
// other, always the point farthest from those chosen. With cover radius r every
// bar longer than 4r survives, moved by at most 2r; shorter ones may be lost.
func (a *analysis) useLandmarks(ctx context.Context) error {
	var err error
	p := a.Points
	n := p.Len()
	symbols := p.symbols()
	my := newMyers(symbols, p.Window, p.Window)
	nearest := make([]uint8, n)
	owner := make([]uint32, n)
	for i := range nearest {
		nearest[i] = 255
	}
	var chosen []int
	radius := 255
	for next := 0; len(chosen) < a.opts.Landmarks && radius > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		a.report("landmarks", len(chosen), a.opts.Landmarks)
		k := uint32(len(chosen))
		chosen = append(chosen, next)
		my.set(p.At(next))
		radius = 0
		for i := range n {
			if nearest[i] > 0 {
				if d := uint8(my.distance(p.At(i))); d < nearest[i] {
					nearest[i], owner[i] = d, k
				}
			}
			if int(nearest[i]) > radius {
				radius, next = int(nearest[i]), i
			}
		}
		my.clear(p.At(chosen[k]))
	}
	if radius > maxCover {
		return fmt.Errorf("%d landmarks cover %d points only within %d edits; beyond %d no bar can be trusted: use more --landmarks, or --symbol pc",
			len(chosen), n, radius, maxCover)
	}
	if a.Points, err = p.onto(chosen, owner); err != nil {
		return err
	}
	a.CoverRadius = radius
	a.note("%d of %d points were used as landmarks with cover radius %d: bars of persistence above %d are kept, moved by at most %d; shorter ones may be missing",
		len(chosen), n, radius, 4*radius, 2*radius)
	return nil
}

// maxCover is the largest cover radius that leaves anything of bars which end
// at 10: 4r must stay below the longest possible bar of 8.
const maxCover = 2

// onto moves every window to the landmark that owns its point.
func (p *Points) onto(chosen []int, owner []uint32) (*Points, error) {
	q := &Points{Window: p.Window, Syms: p.Syms, Visits: make([]uint32, len(chosen)), files: p.files}
	for _, c := range chosen {
		q.First = append(q.First, p.First[c])
	}
	var err error
	q.Index, err = p.files.fill(len(p.Index), func(from int, index []uint32) error {
		for i, u := range p.Index[from : from+len(index)] {
			index[i] = owner[u]
			q.Visits[owner[u]]++
		}
		return nil
	})
	return q, err
}
