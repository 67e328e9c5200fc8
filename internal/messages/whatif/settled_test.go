package whatif

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/messages/mpiprog"
	"github.com/isobath/isobath/internal/messages/trace"
)

// TestSettled: of a run in which ranks waited for a processor, as long as the
// kernel says, the run without it is the one that a quiet machine would have had,
// to the last call, and so are its causes; those of the recording are others.
func TestSettled(t *testing.T) {
	const rounds, runs = 30, 12
	hidden := 0
	for seed := range uint64(runs) {
		rng := rand.New(rand.NewPCG(seed, 9))
		ranks := 3 + int(seed%5)
		noise, work := map[[2]int]float64{}, map[[2]int]float64{}
		for range 12 {
			noise[[2]int{1 + rng.IntN(rounds-1), rng.IntN(ranks)}] = 2 + 20*rng.Float64()
		}
		// Before the first call, too, in half of the runs. A receive that waits for
		// it is taken to last as long as a message at least.
		within := int64(0)
		if seed%2 == 1 {
			noise[[2]int{0, rng.IntN(ranks)}] = 15
			within = 6000
		}
		for round := range rounds {
			for rank := range ranks {
				work[[2]int{round, rank}] = 2 + 0.2*rng.Float64()
			}
		}
		work[[2]int{17, 1}] += 15
		ring := func(noise map[[2]int]float64) *Graph {
			return simulate(t, ranks, func(p *mpiprog.Program) {
				noisyRing(p, rounds, func(round, rank int) float64 { return work[[2]int{round, rank}] + noise[[2]int{round, rank}] })
			})
		}
		quiet, noisy := ring(nil), ring(noise)
		as := ranked(t, noisy).Report(1, Clocks{}).Gains[0]
		for i := range int32(noisy.Len()) {
			if more := noisy.Computation(i) - quiet.Computation(i); more > 0 {
				noisy.Trace.Calls.Ready = append(noisy.Trace.Calls.Ready, trace.Ready{Call: i, Before: more})
			}
		}
		settled, err := noisy.Settled(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		near := func(a, b int64) bool { return max(a-b, b-a) <= within }
		if !slices.EqualFunc(settled.Enter, quiet.Enter, near) || !slices.EqualFunc(settled.Exit, quiet.Exit, near) || !slices.Equal(settled.Begin, quiet.Begin) {
			t.Errorf("run %d: the settled run is not the quiet one", seed)
		}
		r := ranked(t, noisy).Report(1, Clocks{})
		got, want := r.Gains[0], ranked(t, quiet).Report(1, Clocks{}).Gains[0]
		for _, i := range got.Instances {
			if i.Op < 0 || i.Took+i.Ready != noisy.Trace.NS(noisy.Computation(noisy.Trace.Ops.Call[i.Op])) {
				t.Errorf("run %d: %+v is not the recorded computation", seed, i)
			}
		}
		if got.Text != want.Text || got.GainNS != want.GainNS || got.Amount != want.Amount || !slices.Equal(got.Processes, []int32{1}) {
			t.Errorf("run %d: %s, want %s", seed, got.Text, want.Text)
		}
		if as.Text != want.Text {
			hidden++
		}
		if r.Run.Ready == nil || r.Run.Ready.Recorded != noisy.Trace.NS(noisy.Span()) || r.Run.Span != quiet.Trace.NS(quiet.Span()) || !strings.Contains(r.Run.Text, r.Run.Ready.Text) {
			t.Errorf("run %d: %+v: want the recorded and the settled time", seed, r.Run)
		}
	}
	if 2*hidden < runs {
		t.Errorf("waiting for a processor hid the cause in %d of %d runs: the test has too little of it", hidden, runs)
	}
}

// TestSettledCalls: time without a processor inside a call that waits for another
// rank changes nothing, and a call that is slow by itself keeps what is usual.
func TestSettledCalls(t *testing.T) {
	g := simulate(t, 4, func(p *mpiprog.Program) { random(p, 5, 30, nothing) })
	for i := range int32(g.Len()) {
		g.Trace.Calls.Ready = append(g.Trace.Calls.Ready, trace.Ready{Call: i, Inside: 1 << 40})
	}
	settled, err := g.Settled(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range int32(g.Len()) {
		if settled.Own[i] < min(g.Own[i], g.UsualOwn[i]) || settled.Exit[i] < settled.Enter[i] || settled.Computation(i) != g.Computation(i) {
			t.Fatalf("call %d: own %d of %d (usual %d), computation %d of %d", i, settled.Own[i], g.Own[i], g.UsualOwn[i], settled.Computation(i), g.Computation(i))
		}
	}
}

// TestSettledStart: a process that gets no processor begins later than the others,
// and with one it begins as they do, but not before them.
func TestSettledStart(t *testing.T) {
	const late = 10_000_000
	quiet := simulate(t, 4, func(p *mpiprog.Program) {
		noisyRing(p, 5, func(int, int) float64 { return 2 })
	})
	w := quiet.Recorded()
	w.Begin[2] += late
	times := quiet.Replay(w, nil)
	noisy, err := Build(t.Context(), quiet.Trace.Retimed(times.Begin, times.Enter, times.Exit))
	if err != nil {
		t.Fatal(err)
	}
	if noisy.Begin[2] != quiet.Begin[2]+late {
		t.Fatalf("begins at %d, want %d", noisy.Begin[2], quiet.Begin[2]+late)
	}
	started := func(gains []ReportGain) bool {
		return slices.ContainsFunc(gains, func(e ReportGain) bool { return e.Kind == ByStart.String() })
	}
	if !started(ranked(t, noisy).Report(9, Clocks{}).Gains) {
		t.Error("the late start is no cause, where nothing is known of a processor")
	}
	noisy.Trace.Procs[2].Ready = 5 * late
	settled, err := noisy.Settled(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(settled.Begin, quiet.Begin) || !slices.Equal(settled.Enter, quiet.Enter) || !slices.Equal(settled.Exit, quiet.Exit) {
		t.Errorf("begins %v, want %v", settled.Begin, quiet.Begin)
	}
	r := ranked(t, noisy).Report(9, Clocks{})
	if started(r.Gains) {
		t.Errorf("the late start is a cause: %+v", r.Gains)
	}
	if r.Run.Ready == nil || r.Run.Ready.Sum != late || r.Run.Ready.Times != 1 {
		t.Errorf("%+v, want once %d ns without a processor", r.Run.Ready, late)
	}
}
