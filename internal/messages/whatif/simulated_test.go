package whatif

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

// simulated is a program run by a simulator: no noise, exact re-runs.
type simulated struct {
	Program string
	Edit    string
	With    float64 `json:"with_ms"`
	Without float64 `json:"without_ms"`
	Network []struct {
		Latency  float64 `json:"latency_factor"`
		ByteTime float64 `json:"byte_time_factor"`
		Measured float64 `json:"measured_ms"`
	}
}

func simulatedPrograms(t testing.TB) []simulated {
	t.Helper()
	data, err := os.ReadFile(test.Shared(t, "whatif/simulated/expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []simulated
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestSimulatedNetwork: other networks are predicted within 1 %; in rendez, whose
// messages have one size, the truth lies in the interval.
func TestSimulatedNetwork(t *testing.T) {
	for _, p := range simulatedPrograms(t) {
		g := build(t, test.Shared(t, "whatif/simulated/"+p.Program+".otf2"))
		c := ranked(t, g)
		for _, n := range p.Network {
			s := c.NewScenario()
			change := fmt.Sprintf("latency * %g", n.Latency)
			changes := []string{change}
			switch {
			case n.Latency == n.ByteTime:
				changes = []string{fmt.Sprintf("messages * %g", n.Latency)}
			case n.Latency == 1:
				changes = []string{fmt.Sprintf("bandwidth * %g", 1/n.ByteTime)}
			}
			for _, change := range changes {
				if err := s.Apply(context.Background(), change); err != nil {
					t.Fatal(err)
				}
			}
			r := g.Replay(s.W, nil)
			got := programTime(g, r.Enter, r.Exit)
			if s.Other != nil {
				r = g.Replay(s.Other, r)
				other := programTime(g, r.Enter, r.Exit)
				if n.Measured < min(got, other) || n.Measured > max(got, other) {
					t.Errorf("%s, %v: between %.3f and %.3f ms, simulated %.3f", p.Program, changes, got, other, n.Measured)
				}
				continue
			}
			if !near(got, n.Measured, 1) {
				t.Errorf("%s, %v: predicted %.3f ms, simulated %.3f (%+.2f %%)", p.Program, changes, got, n.Measured, 100*(got/n.Measured-1))
			}
		}
	}
}

// TestSimulatedRemoval takes the delay out that was put in: the same as the
// simulator says to 0.01 %.
func TestSimulatedRemoval(t *testing.T) {
	for _, p := range simulatedPrograms(t) {
		var rank int32
		var step int
		var ms float64
		if _, err := fmt.Sscan(p.Edit, &rank, &step, &ms); err != nil {
			t.Fatal(err)
		}
		g := build(t, test.Shared(t, "whatif/simulated/"+p.Program+".otf2"))
		w := g.Recorded()
		delay := g.Trace.Ticks(int64(ms * 1e6))
		switch step {
		case -1: // at every step: every computation that is as long
			for i := g.Start[rank]; i < g.Start[rank+1]; i++ {
				if w.Comp[i] >= delay {
					w.Comp[i] -= delay
				}
			}
		case -3: // each rank in turn works 12 ms or 12 ms and the delay
			for i := range w.Comp {
				if w.Comp[i] > delay+delay/2 {
					w.Comp[i] -= delay
				}
			}
		default:
			most := g.Start[rank]
			for i := g.Start[rank]; i < g.Start[rank+1]; i++ {
				if w.Comp[i] > w.Comp[most] {
					most = i
				}
			}
			w.Comp[most] -= delay
		}
		r := g.Replay(g.Recorded(), nil)
		if got := programTime(g, r.Enter, r.Exit); !near(got, p.With, 0.01) {
			t.Errorf("%s: recorded %.3f ms, simulated %.3f", p.Program, got, p.With)
		}
		r = g.Replay(w, r)
		if got := programTime(g, r.Enter, r.Exit); !near(got, p.Without, 0.01) {
			t.Errorf("%s: predicted %.3f ms, simulated %.3f", p.Program, got, p.Without)
		}
	}
}
