//go:build linux && amd64 && !race

// Replays of whole programs take ten times as long under the race detector, and
// have one goroutine: make test runs them without it.

package advice

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/app/localitytest"
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/locality/platform"
	"github.com/isobath/isobath/internal/locality/replay"
)

func record(t testing.TB, name, flags string) *localitytest.Recorded {
	t.Helper()
	p := localitytest.Program{Source: filepath.Join(test.Shared(t, "locality/programs"), name+".c"), Flags: []string{flags}}
	if strings.HasPrefix(name, "share_") {
		p.Function, p.AllOf = "count", true
	}
	return localitytest.Record(t, p)
}

// twin is a program and the same by hand with a better layout or order, and the
// map from one to the other.
type twin struct{ name, change string }

var twins = []twin{
	{"aos_soa", "object p soa"},
	{"hot_cold", "object r fields key to r.hot; rest to r.cold"},
	{"reorder", "object v fields count,id,name"},
	{"pad_set", "object m element 4096 is 4160"},
	{"hash", "object pool fields key,next,value"},
	{"align", "object c start 0 of 64"},
	{"narrow", "object f element 8 is 1"},
	{"list", "object pool order first-use"},
	{"interchange", "loops order j i"},
	{"matmul", "loops order i/16 j/16 k/16 i j k"},
	{"transpose", "loops order i j/8 k/8 j k"},
	{"huge", "pages 2M for a"},
}

// TestPrograms records every program at one of two levels of optimisation, with
// ISOBATH_ALL_LEVELS=1 at both, as 'make locality' does. It holds what the references must
// lead to: the misses of the twin, the advice that must and must not come, and which
// loops carry its reuses.
func TestPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("records 50 programs")
	}
	expected := readExpected(t)
	carried := readCarried(t)
	all := os.Getenv("ISOBATH_ALL_LEVELS") != ""
	for k, flags := range []string{"-O1", "-O2"} {
		for n, name := range expected.programs() {
			i := slices.IndexFunc(twins, func(w twin) bool { return w.name+"_a" == name })
			share := n % 2
			if carried[name] != nil {
				share = 0 // expected of -O1
			}
			if !all && share != k {
				continue
			}
			t.Run(name+flags, func(t *testing.T) {
				t.Parallel()
				rec := record(t, name, flags)
				t.Run("advice", func(t *testing.T) { expected.hold(t, name, find(t, rec.Again(t))) })
				if i >= 0 {
					t.Run("twin", func(t *testing.T) { twins[i].hold(t, rec.Again(t), record(t, twins[i].name+"_b", flags)) })
				}
				if want := carried[name]; want != nil && flags == "-O1" {
					t.Run("carried", func(t *testing.T) { holdCarried(t, rec.Again(t), want) })
				}
			})
		}
	}
}

// hold predicts the misses of the rewritten program from the first one's
// references, and compares with what the rewritten one does.
func (w twin) hold(t *testing.T, base, rewritten *localitytest.Recorded) {
	m := classic(t)
	plan, err := ReadMap(strings.NewReader(w.change), base.Trace, base.Table)
	if err != nil {
		t.Fatal(err)
	}
	after := *m
	if w.name == "huge" {
		after.Page = 2 << 20
	}
	want := run(t, rewritten.Trace, &after, nil, replay.Kept)
	var then []replay.Counts
	for _, p := range replay.Placements {
		then = append(then, run(t, base.Trace, m, plan, p))
	}
	for i, l := range m.Levels {
		compareTwin(t, l.Name, want.Misses[i], then, func(c replay.Counts) uint64 { return c.Misses[i] })
	}
	if w.name == "huge" {
		compareTwin(t, "walks", want.Walks, then, func(c replay.Counts) uint64 { return c.Walks })
	}
}

func run(t testing.TB, tr *replay.Trace, m *platform.Machine, plan *replay.Plan, p replay.Placement) replay.Counts {
	t.Helper()
	c, err := replay.Run(context.Background(), tr, m, plan, p)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// compareTwin holds that the misses of the twin lie within the range of the
// placements, or within 2 % of it.
func compareTwin(t *testing.T, level string, want uint64, then []replay.Counts, of func(replay.Counts) uint64) {
	t.Helper()
	least, most := of(then[0]), of(then[0])
	for _, c := range then {
		least, most = min(least, of(c)), max(most, of(c))
	}
	t.Logf("%s: twin %d, predicted %d to %d", level, want, least, most)
	if float64(want) < 0.98*float64(least) || float64(want) > 1.02*float64(most) {
		t.Errorf("%s: the twin misses %d, predicted %d to %d", level, want, least, most)
	}
}

// expectedAdvice is which advice must and must not come.
type expectedAdvice struct {
	Expected []struct {
		Program string `json:"program"`
		Accept  []struct {
			Kind   Kind     `json:"kind"`
			Object string   `json:"object"`
			Gain   *float64 `json:"gain"`
		} `json:"accept"`
		Not []Kind `json:"not"`
	} `json:"expected"`
	Silent []string `json:"silent"`
}

func readExpected(t *testing.T) *expectedAdvice {
	t.Helper()
	var want expectedAdvice
	readShared(t, "advice.json", &want)
	if len(want.Expected) < 12 || len(want.Silent) < 3 {
		t.Fatal(len(want.Expected), len(want.Silent))
	}
	return &want
}

func readShared(t *testing.T, name string, to any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(test.Shared(t, "locality/expected"), name))
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// programs are those with expected advice or silence, and the bases of twins.
func (e *expectedAdvice) programs() (names []string) {
	for _, x := range e.Expected {
		names = append(names, x.Program)
	}
	names = append(names, e.Silent...)
	for _, w := range twins {
		if !slices.Contains(names, w.name+"_a") {
			names = append(names, w.name+"_a")
		}
	}
	return names
}

func (e *expectedAdvice) hold(t *testing.T, name string, r *Result) {
	if slices.Contains(e.Silent, name) {
		for _, a := range r.Advice {
			t.Errorf("advises %s", describe(a))
		}
	}
	for _, x := range e.Expected {
		if x.Program != name {
			continue
		}
		if len(r.Advice) == 0 {
			t.Fatal(r.Silence)
		}
		top := r.Advice[0]
		fits := false
		for _, a := range x.Accept {
			same := a.Kind == top.Kind && (a.Object == "" || top.Object != nil && top.Object.Name == a.Object)
			fits = fits || same && (a.Gain == nil || top.Gain[0] > *a.Gain-0.03 && top.Gain[0] < *a.Gain+0.03)
		}
		if !fits {
			t.Errorf("first: %s, want one of %+v", describe(top), x.Accept)
		}
		for _, a := range r.Advice {
			if slices.Contains(x.Not, a.Kind) {
				t.Errorf("advises %s", describe(a))
			}
		}
		if top.Kind == Interchange || top.Kind == Block {
			if top.Why == "" || len(top.Carried) == 0 {
				t.Errorf("%s does not say what carries the reuse", describe(top))
			}
		}
	}
}

// carriedReuses is a row of expected/carried.json.
type carriedReuses struct {
	Object string  `json:"object"`
	By     string  `json:"carried_by"`
	Reuses uint64  `json:"reuses"`
	Mean   float64 `json:"mean_distance"`
	Far    uint64  `json:"at_or_beyond_512_lines"`
}

func readCarried(t *testing.T) map[string][]carriedReuses {
	t.Helper()
	var want struct {
		Programs map[string][]carriedReuses `json:"programs"`
	}
	readShared(t, "carried.json", &want)
	if len(want.Programs) < 2 {
		t.Fatal(len(want.Programs))
	}
	return want.Programs
}

// holdCarried compares the reuses of each object by the loop that carries them.
// The expected ones name loops as the source does, and count what lies before and
// behind the nest too: a handful of references.
func holdCarried(t *testing.T, rec *localitytest.Recorded, want []carriedReuses) {
	nests, _ := replay.FindNests(rec.Trace)
	if len(nests) == 0 {
		t.Fatal("no nest")
	}
	got := map[string][]replay.Carried{}
	for _, c := range nests[0].Carried(rec.Trace, 64, 512) {
		if o := rec.Table.Objects[c.Object]; o != nil {
			got[o.Name] = append(got[o.Name], c)
		}
	}
	compared := 0
	for _, w := range want {
		if w.By == "first" || w.Reuses < 100 {
			continue
		}
		compared++
		if !slices.ContainsFunc(got[w.Object], func(c replay.Carried) bool {
			return (c.Loop == replay.InsideTurn) == (w.By == "inside a turn") && apart(c.Reuses, w.Reuses) <= 2 && apart(c.Far, w.Far) <= 2 && math.Abs(float64(c.Lines)/float64(c.Reuses)-w.Mean) <= 0.06
		}) {
			t.Errorf("want %+v; have %+v", w, got[w.Object])
		}
	}
	if compared == 0 {
		t.Error("nothing is compared")
	}
}

func find(t testing.TB, rec *localitytest.Recorded) *Result {
	t.Helper()
	r, err := Find(context.Background(), rec.Trace, rec.Table, Options{Machine: classic(t), Least: DefaultLeast})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestPlacesOfElements: recorded programs at each level of optimisation, without
// any and with much, that reach elements by stored numbers or compute their
// places.
func TestPlacesOfElements(t *testing.T) {
	if testing.Short() {
		t.Skip("records programs")
	}
	for name, stored := range map[string]bool{"slots": false, "gather": true} {
		for _, flags := range []string{"-O0", "-O1", "-O2"} {
			t.Run(name+flags, func(t *testing.T) {
				rec := localitytest.Record(t, localitytest.Program{Source: filepath.Join("testdata", name+".c"), Flags: []string{flags}})
				r, err := Find(context.Background(), rec.Trace, rec.Table, Options{Machine: classic(t), Least: DefaultLeast, Kinds: []Kind{Order}})
				if err != nil {
					t.Fatal(err)
				}
				if offered := len(r.Advice) > 0; offered != stored {
					t.Errorf("an order of elements is offered: %v, want %v; %s %q", offered, stored, r.Silence, r.Notes)
				}
				if said := strings.Contains(strings.Join(r.Notes, "\n"), "not offered in the order of their first use"); said == stored {
					t.Errorf("places are said to be computed: %v; %q", said, r.Notes)
				}
			})
		}
	}
}
