package logical

import (
	"testing"

	"github.com/isobath/isobath/internal/messages/mpiprog"
)

// TestUnevenSharesAndOneDelay: ranks with shares of 2, 4 and 6 ms, one of which
// is held up once: it is late by what held it up, whatever its share, and what a
// rank always takes more than others stays an excess.
func TestUnevenSharesAndOneDelay(t *testing.T) {
	const ms, held, late = 1_000_000, 30 * 1_000_000, 7
	for rank := range int32(6) {
		s := simulate(t, 6, Default(), func(p *mpiprog.Program) {
			for k := range 12 {
				for r := range 6 {
					p.Compute(r, uint64(2*(1+r%3))*ms)
					if k == late && int32(r) == rank {
						p.Compute(r, held)
					}
				}
				p.Collective(mpiprog.World, mpiprog.Allreduce)
			}
		})
		p := s.Peers()
		for line := range int32(6) {
			calls := s.Trace.Calls.Start[line]
			for k := range int32(12) {
				want := int64(max(0, 2*(line%3)-2)) * ms
				if line == rank && k == late {
					want = held
				}
				if got := p.Excess(calls + k); got < want-ms/10 || got > want+ms/10 {
					t.Errorf("rank %d held up: %d ns too much on rank %d in iteration %d, want %d", rank, got, line, k, want)
				}
			}
		}
	}
}

// TestPeersOfOneLine: a value goes around four ranks, each of which sends it to
// another side and too seldom to be compared with itself. What holds one of them
// up is told by others that send from the same line of the source, and not if no
// line is known.
func TestPeersOfOneLine(t *testing.T) {
	const ms, held, late, rounds = 1_000_000, 30 * 1_000_000, 2, 3
	next := []int{1, 3, 0, 2}
	for _, known := range []bool{true, false} {
		s := simulate(t, 4, Default(), func(p *mpiprog.Program) {
			for k := range rounds {
				r := 0
				for range next {
					p.Compute(r, 5*ms)
					if k == 1 && r == late {
						p.Compute(r, held)
					}
					p.Send(r, next[r], mpiprog.World, 1)
					p.Recv(next[r], r, mpiprog.World, 1)
					r = next[r]
				}
			}
		})
		if known {
			s.Trace.Calls.Site = make([]int32, len(s.Trace.Calls.Enter))
		}
		most, on := int64(0), int32(0)
		for i := range int32(len(s.Trace.Calls.Enter)) {
			if x := s.Peers().Excess(i); x > most {
				most, on = x, s.lineOf(i)
			}
		}
		if known && (on != late || most < held-ms || most > held+ms) || !known && most > ms {
			t.Errorf("line known %v: %d ns too much on rank %d, want %d on rank %d", known, most, on, held, late)
		}
	}
}
