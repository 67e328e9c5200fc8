package whatif

import (
	"testing"

	"github.com/isobath/isobath/internal/messages/mpiprog"
)

// FuzzApply: a change in words is refused, or can be replayed in order.
func FuzzApply(f *testing.F) {
	for _, text := range []string{
		"rank 3 = median", "rank 1*0.5", "ranks 0-2 = 0", "step 3..5 * 2", "partition 1 = median", "function work * 0.5", "latency * 2", "bandwidth * 0",
		"network = ideal", "messages * 1e300", "eager 64K", "no imbalance", "undisturbed", "map 0,1,2,3", "cause 1", "cause -1", "rank 99999999999 = nan",
	} {
		f.Add(text)
	}
	g := simulate(f, 5, func(p *mpiprog.Program) { random(p, 1, 30, nothing) })
	c := ranked(f, g)
	f.Fuzz(func(t *testing.T, text string) {
		s := c.NewScenario()
		if err := s.Apply(t.Context(), text); err != nil {
			return
		}
		r := g.Replay(s.W, nil)
		for i := range r.Enter {
			if r.Exit[i] < r.Enter[i] {
				t.Fatalf("%q: operation %d ends at %v, before it begins at %v", text, i, r.Exit[i], r.Enter[i])
			}
		}
	})
}
