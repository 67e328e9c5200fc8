package views

import (
	"context"
	"fmt"
	"slices"

	"github.com/isobath/isobath/internal/data/refs"
)

// Loops is the innermost loop of every access of a trace. The first is no loop.
type Loops struct {
	Of     []uint32
	Names  []string
	Places []refs.Place
}

// Number finds a loop by its name.
func (l *Loops) Number(name string) (uint32, error) {
	if i := slices.Index(l.Names, name); i >= 0 {
		return uint32(i), nil
	}
	return 0, fmt.Errorf("no loop is called %q", name)
}

// at is the loop of an access; traces may be longer than what was followed.
func (l *Loops) at(i int) uint32 {
	if i < len(l.Of) {
		return l.Of[i]
	}
	return 0
}

// LoopRows counts a study by loop. Every access belongs to its innermost loop.
func (s *Study) LoopRows(ctx context.Context, c *Choice, loops *Loops) ([]MissRow, error) {
	tallies, err := s.tally(ctx, c, len(loops.Names), loops.at)
	if err != nil {
		return nil, err
	}
	g := newGroups(len(s.Levels))
	for n, both := range tallies {
		for which, t := range both {
			if t == nil {
				continue
			}
			g.at(n, func(r *MissRow) {
				at := loops.Places[n]
				r.Name, r.Loop, r.File, r.Line, r.Function = loops.Names[n], loops.Names[n], at.File, at.Line, at.Function
			}).add(t, which == 1)
		}
	}
	return g.sorted(), nil
}
