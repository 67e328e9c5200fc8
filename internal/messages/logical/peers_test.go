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
