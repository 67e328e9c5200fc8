package refset

import (
	"path/filepath"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/locality/answer"
)

// TestByLoop: the groups of loops hold every reference once, in a pass over
// distances and in a replay, also of a part of the trace.
func TestByLoop(t *testing.T) {
	path := filepath.Join(test.Fixture(t, "locality"), "traces", "matmul.csv.gz")
	for _, o := range []Options{{}, {From: 1000, To: 21_000}} {
		s, err := Open(t.Context(), path, o)
		if err != nil {
			t.Fatal(err)
		}
		r, _, err := s.Reuse(t.Context(), ReuseAsk{By: string(answer.ByLoop), Machine: "classic"})
		s.Close()
		if err != nil {
			t.Fatal(err)
		}
		n, inside := uint64(0), uint64(0)
		for _, g := range r.Groups {
			n += g.References
			if g.Key.Loop != noLoop {
				inside += g.References
			}
		}
		if n != r.References || 10*inside < 9*n {
			t.Errorf("%+v: loops hold %d of %d references, %d in a loop; want all, and nine tenths", o, n, r.References, inside)
		}
		if s, err = Open(t.Context(), path, o); err != nil {
			t.Fatal(err)
		}
		w, err := s.WhatIf(t.Context(), WhatIfAsk{By: string(answer.ByLoop), Base: "classic"})
		s.Close()
		if err != nil {
			t.Fatal(err)
		}
		misses := uint64(0)
		for _, g := range w.Groups {
			misses += g.Base[0]
		}
		if misses != w.Levels[0].Base.Misses {
			t.Errorf("%+v: loops miss %d times, want %d", o, misses, w.Levels[0].Base.Misses)
		}
	}
}
