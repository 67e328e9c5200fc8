package replay

import (
	"math/rand/v2"
	"testing"

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
