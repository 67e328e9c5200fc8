package replay

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/locality/platform"
)

// TestDetailAgreesWithSurvey: what is kept access by access adds up to what a
// survey counts, on machines of every policy.
func TestDetailAgreesWithSurvey(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	tr := &Trace{Threads: []uint32{1, 2}}
	for c := range 6 {
		tr.Codes = append(tr.Codes, Code{PC: uint64(16 * c)})
	}
	for i := range 60_000 {
		a := Access{Addr: 1<<20 + uint64(r.IntN(1<<19)), Code: uint32(r.IntN(6)), Object: uint32(1 + r.IntN(3)), Size: uint16(1 + r.IntN(16)), Thread: uint16(r.IntN(2))}
		if i%3 > 0 {
			a.Addr = 1<<22 + uint64(i*8%(1<<18))
		}
		tr.Accesses = append(tr.Accesses, a)
	}
	for _, name := range []string{"classic", "zen3", "skylake", "a64fx"} {
		m, _ := platform.Preset(name)
		d, err := NewDetail(t.Context(), tr, m, &Plan{}, Kept, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := NewSurvey(m, Policy{Kind: FirstTouch}, nil)
		for i := range tr.Accesses {
			s.Access(&tr.Accesses[i], 0)
		}
		s.Finish()
		weighed, err := Weigh(t.Context(), tr, m, nil, Kept)
		if err != nil {
			t.Fatal(err)
		}
		loops := NewLoopMisses(m)
		for i := range tr.Accesses {
			a := &tr.Accesses[i]
			loops.Visit(&refs.Ref{Addr: a.Addr, Size: uint32(a.Size), PC: tr.Codes[a.Code].PC, Thread: tr.Threads[a.Thread]}, []int{0})
		}
		kept := NewTally(len(m.Levels))
		framed := d.Framed
		for i := range tr.Accesses {
			for l := range d.Levels {
				kept.Count(l, uint64(d.Levels[l][i].Misses), d.Hidden[i])
			}
			if len(framed) > 0 && framed[0].Access == i {
				kept.CountFramed(&framed[0])
				framed = framed[1:]
			}
		}
		for what, got := range map[string]*Tally{"weighed": weighed, "of loops": loops.All(), "of one loop": loops.Of(0), "kept by access": &kept, "of one group": &s.Groups[0]} {
			if !reflect.DeepEqual(got.Bands(m), s.All.Bands(m)) {
				t.Errorf("%s: the bands %s are %v, the survey has %v", name, what, got.Bands(m), s.All.Bands(m))
			}
		}
		used := uint64(0)
		for _, n := range d.Used {
			used += uint64(n)
		}
		if used != s.Used {
			t.Errorf("%s: %d bytes used, the survey has %d", name, used, s.Used)
		}
		for l := range m.Levels {
			var misses, first, full, hidden uint64
			for i, o := range d.Levels[l] {
				misses += uint64(o.Misses)
				first += uint64(o.First)
				full += uint64(o.Full)
				if d.Hidden[i] {
					hidden += uint64(o.Misses)
				}
			}
			want := &s.Levels[l]
			if misses != want.Misses || first != want.First || full != want.Full || hidden != want.Prefetchable {
				t.Errorf("%s %s: misses %d, first %d, full %d, hidden %d; the survey has %+v", name, m.Levels[l].Name, misses, first, full, hidden, *want)
			}
		}
	}
}
