package whatif

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/messages/mpiprog"
)

// TestIntervalOfDisturbedRun: where nearly all of a recording is disturbance, the
// answer says why its interval is wide.
func TestIntervalOfDisturbedRun(t *testing.T) {
	predict := func(disturbed func() uint64) *ReportWhatIf {
		c := ranked(t, simulate(t, 4, func(p *mpiprog.Program) {
			for round := range 40 {
				for r := range 4 {
					p.Compute(r, 10_000)
					if r == 2 && round == 20 {
						p.Compute(r, 400_000)
					}
					p.Send(r, (r+1)%4, mpiprog.World, 0)
				}
				for r := range 4 {
					p.Compute(r, 1000)
					p.Enter(r, "MPI_File_read") // a call that may lose its core
					p.Compute(r, 1000+disturbed())
					p.Leave(r, "MPI_File_read")
					p.Recv(r, (r+3)%4, mpiprog.World, 0)
				}
			}
		}))
		s := c.NewScenario()
		if err := s.Apply(t.Context(), "rank 2 = median"); err != nil {
			t.Fatal(err)
		}
		r, _ := s.Predict()
		return r
	}
	said := func(r *ReportWhatIf) bool {
		return strings.Contains(strings.Join(r.Assumptions, "; "), "as disturbed as the recording")
	}
	rng := rand.New(rand.NewPCG(1, 1))
	wide := predict(func() uint64 {
		if rng.IntN(4) > 0 {
			return 0
		}
		return 200_000
	})
	if wide.Low > wide.Span || wide.Span > wide.High {
		t.Errorf("%d to %d around %d", wide.Low, wide.High, wide.Span)
	}
	if !said(wide) {
		t.Errorf("%q: nothing says why %d to %d", wide.Assumptions, wide.Low, wide.High)
	}
	if narrow := predict(func() uint64 { return 0 }); said(narrow) {
		t.Errorf("%q of an undisturbed run of %d, %d to %d", narrow.Assumptions, narrow.Span, narrow.Low, narrow.High)
	}
}
