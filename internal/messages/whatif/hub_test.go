package whatif

import "testing"

// TestHub: in the farm tasks change hands when a slow worker is repaired.
func TestHub(t *testing.T) {
	for _, p := range pairs(t) {
		g := buildPair(t, p.Program, "with")
		if p.Program != "farm" {
			if len(g.hubs) > 0 {
				t.Errorf("%s has a hub", p.Program)
			}
			continue
		}
		if len(g.hubs) != 1 || g.hubs[0].line != 0 {
			t.Fatalf("%d hubs, want one at process 0", len(g.hubs))
		}
		base := g.ReplayByArrival(g.Recorded(), nil)
		recorded := programTime(g, base.Enter, base.Exit)
		w := g.Recorded()
		apply(t, g, w, p.Edit)
		r := g.ReplayByArrival(w, nil)
		got := programTime(g, r.Enter, r.Exit)
		t.Logf("by arrival %.3f and %.3f ms; expected %.3f; recorded %.3f, re-run %.3f", recorded, got, p.Arrival.Predicted, p.Measured.With.Quietest, p.Measured.Without.Quietest)
		if !near(recorded, p.Measured.With.Quietest, 1) || !near(got, p.Arrival.Predicted, 1) {
			t.Errorf("unchanged %.3f ms, recorded %.3f; changed %.3f, want %.3f", recorded, p.Measured.With.Quietest, got, p.Arrival.Predicted)
		}
	}
}
