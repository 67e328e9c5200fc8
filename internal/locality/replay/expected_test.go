//go:build linux && amd64 && !race

package replay_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/isobath/isobath/internal/app/localitytest"
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/locality/replay"
	"github.com/isobath/isobath/internal/machine/cachesim"
)

// expectedCaches is expected/whatif.json: programs on one cache alone, by an
// independent program.
type expectedCaches struct {
	Programs []struct {
		Program    string
		References uint64
		Caches     []struct {
			Size, Ways int
			Line       int    `json:"line_bytes"`
			Missing    uint64 `json:"missing_references"`
			Fetched    uint64 `json:"lines_fetched"`
		}
	}
}

// comparedPrograms are short ones, and how far they may be off: what is
// allocated lies elsewhere in another process, and meets other sets.
var comparedPrograms = map[string]float64{"aos_soa_a": 0, "pad_set_a": 0, "list_a": 0, "hot_cold_a": 0.01, "hash_a": 0.01, "narrow_a": 0.01}

// TestExpectedCaches replays recorded programs on seven caches each, of lines of
// 64 to 256 bytes, and compares what misses with the expected results. They hold
// for one compiler: another makes other references, and then says so.
func TestExpectedCaches(t *testing.T) {
	if testing.Short() {
		t.Skip("records programs")
	}
	shared := test.Shared(t, "locality")
	text, err := os.ReadFile(filepath.Join(shared, "expected", "whatif.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want expectedCaches
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	for _, p := range want.Programs {
		off, compared := comparedPrograms[p.Program]
		if !compared {
			continue
		}
		t.Run(p.Program, func(t *testing.T) {
			t.Parallel()
			r := localitytest.Record(t, localitytest.Program{Source: filepath.Join(shared, "programs", p.Program+".c"), Flags: []string{"-O1"}})
			if n := uint64(len(r.Trace.Accesses)); n != p.References {
				t.Skipf("%d references, the expected results are of %d: another compiler", n, p.References)
			}
			for _, c := range p.Caches {
				m := replay.Alone(cachesim.Geometry{Size: c.Size, Ways: c.Ways, Line: c.Line})
				if err := m.Check(); err != nil {
					t.Fatal(err)
				}
				s := replay.NewSurvey(m, replay.Policy{Kind: replay.FirstTouch}, nil)
				for i := range r.Trace.Accesses {
					s.Access(&r.Trace.Accesses[i], 0)
				}
				s.Finish()
				if l := s.Levels[0]; !near(l.Misses, c.Fetched, off) || !near(l.MissingReferences, c.Missing, off) {
					t.Errorf("%d bytes, %d ways, lines of %d: %d lines fetched by %d references, want %d by %d", c.Size, c.Ways, c.Line, l.Misses, l.MissingReferences, c.Fetched, c.Missing)
				}
			}
		})
	}
}

// near reports whether a count is as expected, or off by so small a part.
func near(got, want uint64, off float64) bool {
	return max(got, want)-min(got, want) <= uint64(off*float64(want))
}
