//go:build linux && amd64 && !race

// Replays of whole programs take ten times as long under the race detector, and
// have one goroutine: make test runs them without it.

package advice

import (
	"context"
	"encoding/json"
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

// twins are pairs of a program and the same by hand with a better layout or
// order, and the map from one to the other.
var twins = []struct{ name, change string }{
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

// TestTwins predicts the misses of the rewritten program from the first one's
// references, and compares with what the rewritten one does.
func TestTwins(t *testing.T) {
	if testing.Short() {
		t.Skip("records 48 programs")
	}
	m := classic(t)
	for _, flags := range []string{"-O1", "-O2"} {
		for _, w := range twins {
			t.Run(w.name+flags, func(t *testing.T) {
				base := record(t, w.name+"_a", flags)
				plan, err := ReadMap(strings.NewReader(w.change), base.Trace, base.Table)
				if err != nil {
					t.Fatal(err)
				}
				twin := record(t, w.name+"_b", flags)
				after := *m
				if w.name == "huge" {
					after.Page = 2 << 20
				}
				want := run(t, twin.Trace, &after, nil, replay.Kept)
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
			})
		}
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

// TestExpectedAdvice holds which advice must and must not come.
func TestExpectedAdvice(t *testing.T) {
	if testing.Short() {
		t.Skip("records 36 programs")
	}
	var want struct {
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
	text, err := os.ReadFile(filepath.Join(test.Shared(t, "locality/expected"), "advice.json"))
	if err == nil {
		err = json.Unmarshal(text, &want)
	}
	if err != nil || len(want.Expected) < 12 {
		t.Fatal(err, len(want.Expected))
	}
	for _, flags := range []string{"-O1", "-O2"} {
		for _, e := range want.Expected {
			t.Run(e.Program+flags, func(t *testing.T) {
				r := find(t, record(t, e.Program, flags))
				if len(r.Advice) == 0 {
					t.Fatal(r.Silence)
				}
				top := r.Advice[0]
				fits := false
				for _, a := range e.Accept {
					same := a.Kind == top.Kind && (a.Object == "" || top.Object != nil && top.Object.Name == a.Object)
					fits = fits || same && (a.Gain == nil || top.Gain[0] > *a.Gain-0.03 && top.Gain[0] < *a.Gain+0.03)
				}
				if !fits {
					t.Errorf("first: %s, want one of %+v", describe(top), e.Accept)
				}
				for _, a := range r.Advice {
					if slices.Contains(e.Not, a.Kind) {
						t.Errorf("advises %s", describe(a))
					}
				}
			})
		}
		for _, name := range want.Silent {
			t.Run(name+flags, func(t *testing.T) {
				for _, a := range find(t, record(t, name, flags)).Advice {
					t.Errorf("advises %s", describe(a))
				}
			})
		}
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
