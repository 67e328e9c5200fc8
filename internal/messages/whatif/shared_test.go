package whatif

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/messages/trace"
)

// pair is a program of the shared data: recorded with and without a delay.
type pair struct {
	Program  string
	Without  string
	Measured struct {
		With, Without struct{ Quietest float64 }
	} `json:"measured_ms"`
	Edit         []edit
	Predicted    float64                                      `json:"predicted_ms"`
	Undisturbed  float64                                      `json:"undisturbed_ms"`
	Insert       float64                                      `json:"insert_predicted_ms"`
	WaitingShare struct{ Predicted, Recorded, Rerun float64 } `json:"waiting_percent"`
	Eager        int64                                        `json:"largest_eager_bytes"`
	Rendezvous   int64                                        `json:"smallest_rendezvous_bytes"`
	Span         int64                                        `json:"span_ns"`
	Efficiency   map[string]float64
	Arrival      struct {
		Predicted float64 `json:"predicted_ms"`
		Insert    float64 `json:"insert_predicted_ms"`
	} `json:"arrival_order"`
	Entries []struct {
		Kind      string
		Process   int32
		Operation string
		Count     int
		Amount    int64   `json:"amount_ns"`
		Gain      int64   `json:"gain_ns"`
		Waiting   float64 `json:"waiting_change_percent"`
	}
}

// edit shortens the computation of a process before a call.
type edit struct {
	Process  int32
	Before   string
	Enter    int64 `json:"enter_ns"`
	Subtract int64 `json:"subtract_ns"`
}

func pairs(t testing.TB) []pair {
	t.Helper()
	data, err := os.ReadFile(test.Shared(t, "whatif/expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []pair
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func build(t testing.TB, path string) *Graph {
	t.Helper()
	tr, err := trace.Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	g, err := Build(context.Background(), tr)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func buildPair(t testing.TB, program, variant string) *Graph {
	t.Helper()
	return build(t, test.Shared(t, "whatif/traces/"+program+"/"+variant+".otf2"))
}

// sharedTraces are all archives of the fixtures and, where there is any, of
// other people's data.
func sharedTraces(t testing.TB) []string {
	t.Helper()
	whatif, outside := test.Fixture(t, "whatif"), filepath.Join(test.Root(), "..", "shared", "data", "otf2")
	patterns := []string{
		filepath.Join(whatif, "traces/*/*.otf2"), filepath.Join(whatif, "disturbed/*.otf2"), filepath.Join(whatif, "simulated/*.otf2"),
		filepath.Join(outside, "thirdparty/*/*.otf2"),
	}
	for _, name := range []string{"amg8", "binomial16", "commtag8", "dissem16", "halo16", "halo16_skew", "halo64_big", "lu8", "lulesh8", "mergetree64", "mg16", "ring16"} {
		patterns = append(patterns, filepath.Join(test.Fixture(t, "otf2/"+name), "traces.otf2"))
	}
	var paths []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	if len(paths) < 60 {
		t.Fatalf("%d traces in the shared data, want at least 60", len(paths))
	}
	return paths
}

// programTime is T as the programs measure it: from the exit of a line's second
// call to the enter of its last, the largest over the lines.
func programTime(g *Graph, enter, exit []int64) float64 {
	most := int64(0)
	for p := range g.Lines() {
		if g.Start[p]+1 < g.Start[p+1] {
			most = max(most, enter[g.Start[p+1]-1]-exit[g.Start[p]+1])
		}
	}
	return float64(g.Trace.NS(most)) / 1e6
}

// apply shortens what the edits name.
func apply(t testing.TB, g *Graph, w *Weights, edits []edit) {
	t.Helper()
	for _, e := range edits {
		k, ok := slices.BinarySearch(g.Enter[g.Start[e.Process]:g.Start[e.Process+1]], g.Trace.Ticks(e.Enter))
		i := g.Start[e.Process] + int32(k)
		if !ok || g.Trace.Regions[g.Trace.Calls.Region[i]].Name != e.Before {
			t.Fatalf("no call %s of process %d at %d ns", e.Before, e.Process, e.Enter)
		}
		w.Comp[i] -= e.Subtract
	}
}

func TestReplayGivesTheRecordingBack(t *testing.T) {
	for _, path := range sharedTraces(t) {
		g := build(t, path)
		checkRecording(t, path, g)
	}
}

func checkRecording(t testing.TB, name string, g *Graph) {
	t.Helper()
	r := g.Replay(g.Recorded(), nil)
	for i := range g.Enter {
		if r.Enter[i] != g.Enter[i] || r.Exit[i] != g.Exit[i] {
			t.Errorf("%s: call %d is replayed at %d to %d, recorded %d to %d", name, i, r.Enter[i], r.Exit[i], g.Enter[i], g.Exit[i])
			return
		}
	}
	if r.Span != g.Span() || r.Waiting < 0 {
		t.Errorf("%s: span %d, recorded %d; waiting %d", name, r.Span, g.Span(), r.Waiting)
	}
}

func near(got, want, percent float64) bool { return math.Abs(got-want) <= percent/100*math.Abs(want) }

func TestPredictions(t *testing.T) {
	for _, p := range pairs(t) {
		t.Run(p.Program, func(t *testing.T) {
			g := buildPair(t, p.Program, "with")
			if g.Eager != p.Eager || g.Rendez != p.Rendezvous {
				t.Errorf("eager up to %d, rendezvous from %d; want %d, %d", g.Eager, g.Rendez, p.Eager, p.Rendezvous)
			}
			if g.Trace.NS(g.Span()) != p.Span {
				t.Errorf("span %d, want %d", g.Span(), p.Span)
			}
			if len(p.Edit) == 0 {
				return
			}
			w := g.Recorded()
			apply(t, g, w, p.Edit)
			r := g.Replay(w, nil)
			got := programTime(g, r.Enter, r.Exit)
			t.Logf("predicted %.3f, expected %.3f, re-run %.3f", got, p.Predicted, p.Measured.Without.Quietest)
			if !near(got, p.Predicted, 1) {
				t.Errorf("predicted %.3f ms, want %.3f", got, p.Predicted)
			}
			if p.Program != "farm" && !near(got, p.Measured.Without.Quietest, 3) {
				t.Errorf("predicted %.3f ms, re-run took %.3f", got, p.Measured.Without.Quietest)
			}
		})
	}
}

// Span returns the recorded run time.
func (g *Graph) Span() int64 {
	last := g.First0
	for p := range g.Begin {
		last = max(last, g.lineEnd(int32(p)))
	}
	return last - g.First0
}
