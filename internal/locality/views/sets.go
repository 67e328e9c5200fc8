package views

import (
	"context"
	"fmt"

	"github.com/isobath/isobath/internal/locality/replay"
)

// SetUse is the lines that one pass of an innermost loop puts into each set of a
// level.
type SetUse struct {
	Level  int      `json:"level"`
	Ways   int      `json:"ways"`
	Counts []uint32 `json:"counts"` // distinct lines by set
	Lines  int      `json:"lines"`
	Used   int      `json:"used"` // sets with at least one line
	Place  string   `json:"place"`
	From   int      `json:"from"` // references of the pass
	To     int      `json:"to"`
	Stride int64    `json:"stride"` // bytes between turns, of the instruction with the largest
	Why    string   `json:"why"`    // why there is no pass; empty if there is
}

// maxSets bounds the sets that are told apart.
const maxSets = 1 << 16

// Pass finds the pass of an innermost loop with the most misses of the
// selection at a level, among the loops that the addresses show.
func (s *Study) Pass(c *Choice, level int) (from, to int, stride int64, why string) {
	var best *replay.Nest
	most := uint64(0)
	for _, n := range s.nests {
		misses := uint64(0)
		for i := n.From(); i < n.To(); i++ {
			if o := &s.Levels[level][i]; o.Misses > 0 && n.Has(s.Trace.Accesses[i].Code) && s.has(c, i) {
				misses += uint64(o.Misses)
			}
		}
		if misses > most {
			best, most = n, misses
		}
	}
	if best == nil {
		return 0, 0, 0, "no loop of the selected references walks its addresses in even steps"
	}
	from, to = best.InnerPass()
	for _, d := range best.Strides[len(best.Strides)-1] {
		if max(d, -d) > max(stride, -stride) {
			stride = d
		}
	}
	return from, to, stride, ""
}

// Sets counts the lines of a pass at positions from and to in the order of the
// study.
func (s *Study) Sets(ctx context.Context, level, from, to int) (*SetUse, error) {
	m := &s.Machine.Levels[level]
	sets := m.Size / m.Ways / m.Line
	out := &SetUse{Level: level, Ways: m.Ways, From: from, To: to, Counts: []uint32{}}
	if sets > maxSets {
		out.Why = fmt.Sprintf("%s has %d sets, more than can be drawn", m.Name, sets)
		return out, nil
	}
	out.Counts = make([]uint32, sets)
	seen := map[uint64]bool{}
	position := 0
	err := s.Trace.Each(ctx, s.plan, replay.Kept, func(_ int, pieces []replay.Piece) {
		if position++; position <= from || position > to {
			return
		}
		for _, p := range pieces {
			for line := p.Addr / uint64(m.Line); line <= (p.Addr+uint64(max(p.Size, 1))-1)/uint64(m.Line); line++ {
				if !seen[line] {
					seen[line] = true
					out.Counts[line%uint64(sets)]++
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	out.Lines = len(seen)
	for _, n := range out.Counts {
		if n > 0 {
			out.Used++
		}
	}
	if from < len(s.Trace.Accesses) {
		if p := s.place(&s.Trace.Accesses[from]); p.Line > 0 {
			out.Place = fmt.Sprintf("%s:%d", p.File, p.Line)
		}
	}
	return out, nil
}
