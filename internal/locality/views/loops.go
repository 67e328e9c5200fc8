package views

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/table"
)

// Loops is which loops every access of a trace is in. The first is no loop.
type Loops struct {
	Names  []string
	Places []refs.Place

	of     []uint32   // nest of each access
	nests  [][]uint32 // loops around, innermost first; the first nest is empty
	number map[string]uint32
}

// Add says which loops are around the next access, innermost first, counted
// without the one that is no loop.
func (l *Loops) Add(around []int) {
	if len(l.of) > 0 && l.alike(l.of[len(l.of)-1], around) {
		l.of = append(l.of, l.of[len(l.of)-1])
		return
	}
	nest := make([]uint32, len(around))
	var key []byte
	for i, n := range around {
		nest[i] = uint32(n) + 1
		key = binary.AppendUvarint(key, uint64(n))
	}
	n, known := l.number[string(key)]
	if !known {
		if l.number == nil {
			l.number = map[string]uint32{}
		}
		n = uint32(len(l.nests))
		l.number[string(key)], l.nests = n, append(l.nests, nest)
	}
	l.of = append(l.of, n)
}

func (l *Loops) alike(nest uint32, around []int) bool {
	return slices.EqualFunc(l.nests[nest], around, func(a uint32, b int) bool { return a == uint32(b)+1 })
}

// Len is how many accesses were followed.
func (l *Loops) Len() int { return len(l.of) }

// Rows are the first n accesses that a loop is around, at any depth and through
// calls.
func (l *Loops) Rows(loop uint32, n int) table.Bits {
	inside := make([]bool, len(l.nests))
	for i, nest := range l.nests {
		inside[i] = slices.Contains(nest, loop)
	}
	rows := table.NewBits(n)
	for i, nest := range l.of[:min(n, len(l.of))] {
		if inside[nest] {
			rows.Set(i)
		}
	}
	return rows
}

// Number finds a loop by its name.
func (l *Loops) Number(name string) (uint32, error) {
	if i := slices.Index(l.Names, name); i >= 0 {
		return uint32(i), nil
	}
	return 0, fmt.Errorf("no loop is called %q", name)
}

// at is the innermost loop of an access; traces may be longer than what was
// followed.
func (l *Loops) at(i int) uint32 {
	if i < len(l.of) {
		if nest := l.nests[l.of[i]]; len(nest) > 0 {
			return nest[0]
		}
	}
	return 0
}

// LoopRows counts a study by loop. Every access belongs to its innermost loop.
func (s *Study) LoopRows(ctx context.Context, c *Choice, loops *Loops) ([]MissRow, error) {
	return s.rows(ctx, c, len(loops.Names), loops.at, func(n int, r *MissRow) {
		at := loops.Places[n]
		r.Name, r.Loop, r.File, r.Line, r.Function = loops.Names[n], loops.Names[n], at.File, at.Line, at.Function
	})
}

// ThreadRows counts a study by thread.
func (s *Study) ThreadRows(ctx context.Context, c *Choice) ([]MissRow, error) {
	of := func(i int) uint32 { return uint32(s.Trace.Accesses[i].Thread) }
	return s.rows(ctx, c, len(s.Trace.Threads), of, func(n int, r *MissRow) {
		r.Thread = s.Trace.Threads[n]
		r.Name = fmt.Sprintf("thread %d", r.Thread)
	})
}

// rows counts a study by one of n kinds, each with its name.
func (s *Study) rows(ctx context.Context, c *Choice, n int, kind func(i int) uint32, name func(n int, r *MissRow)) ([]MissRow, error) {
	tallies, err := s.tally(ctx, c, n, kind)
	if err != nil {
		return nil, err
	}
	g := newGroups(s.Machine)
	for n, both := range tallies {
		for which, t := range both {
			if t != nil {
				g.at(n, func(r *MissRow) { name(n, r) }).add(t, which == 1)
			}
		}
	}
	return g.sorted(), nil
}
