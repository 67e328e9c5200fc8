package replay

import (
	"math/rand/v2"
	"testing"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/locality/platform"
)

// TestFramesOfHugePages: which frame a page of 2 MiB has chooses no set of a cache
// whose ways are no larger, so a plan that has everything on such pages leaves no
// band there; on pages of the machine there is one. All replays say the same.
func TestFramesOfHugePages(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 1))
	tr := &Trace{Threads: []uint32{1}, Codes: []Code{{PC: 16}}}
	for range 40_000 {
		tr.Accesses = append(tr.Accesses, Access{Addr: 1<<30 + 8*uint64(r.IntN(1<<18)), Object: 1, Size: 8})
	}
	m, _ := platform.Preset("classic") // 2 MiB in 16 ways, pages of 4 KiB
	for _, tt := range []struct {
		name string
		plan *Plan
		band bool
	}{{"as recorded", &Plan{}, true}, {"huge", &Plan{Huge: map[uint32]bool{1: true}}, false}} {
		weighed, err := Weigh(t.Context(), tr, m, tt.plan, Kept)
		if err != nil {
			t.Fatal(err)
		}
		s := NewSurvey(m, Policy{Kind: FirstTouch}, tt.plan)
		for i := range tr.Accesses {
			s.Access(&tr.Accesses[i], 0)
		}
		s.Finish()
		d, err := NewDetail(t.Context(), tr, m, tt.plan, Kept, nil)
		if err != nil {
			t.Fatal(err)
		}
		kept := NewTally(len(m.Levels))
		for i := range tr.Accesses {
			for l := range d.Levels {
				kept.Count(l, uint64(d.Levels[l][i].Misses), false)
			}
		}
		for i := range d.Framed {
			kept.CountFramed(&d.Framed[i])
		}
		if d.Counts.Walks != s.Walks {
			t.Errorf("%s: %d page walks access by access, %d in the survey", tt.name, d.Counts.Walks, s.Walks)
		}
		for what, tally := range map[string]*Tally{"weighed": weighed, "surveyed": &s.All, "kept by access": &kept} {
			for level := 1; level < len(m.Levels); level++ {
				if f := tally.Frames(m)[level]; (f[0] < f[1]) != tt.band {
					t.Errorf("%s, %s: %d misses of %s are %v by frames", tt.name, what, tally.Misses[level], m.Levels[level].Name, f)
				}
			}
		}
	}
}

// TestFramesByThePageOfTheMachine: the larger its pages, the fewer caches have sets
// that a frame chooses.
func TestFramesByThePageOfTheMachine(t *testing.T) {
	r := rand.New(rand.NewPCG(24, 2))
	var all []refs.Ref
	for range 40_000 {
		all = append(all, refs.Ref{Addr: 1<<30 + 8*uint64(r.IntN(1<<18)), Size: 8, PC: 16, Thread: 1})
	}
	for page, want := range map[string][]bool{"4K": {false, true, true}, "64K": {false, false, true}, "2M": {false, false, false}} {
		m, _ := platform.Preset("classic") // 32 KiB ways in L2, 128 KiB in L3
		if err := m.Set("page=" + page); err != nil {
			t.Fatal(err)
		}
		l := NewLoopMisses(m)
		for i := range all {
			l.Visit(&all[i], []int{0})
		}
		for level, f := range l.All().Frames(m) {
			if (f[0] < f[1]) != want[level] {
				t.Errorf("pages of %s: misses of %s are %v by frames", page, m.Levels[level].Name, f)
			}
		}
	}
}
