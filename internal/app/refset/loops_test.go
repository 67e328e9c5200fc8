package refset

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/budget"
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
		cold, warm := missesByLoop(t, path, o, false), missesByLoop(t, path, o, true)
		if len(cold) != len(r.Groups) || len(warm) != len(cold) {
			t.Errorf("%+v: %d loops in a pass, %d read, %d kept", o, len(r.Groups), len(cold), len(warm))
		}
	}
}

// missesByLoop replays a trace as it is read, or kept and twice.
func missesByLoop(t *testing.T, path string, o Options, warm bool) map[string]uint64 {
	s, err := Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	room := budget.New(1 << 30)
	w, err := s.WhatIf(budget.With(t.Context(), room), WhatIfAsk{By: string(answer.ByLoop), Base: "classic", Warm: warm})
	if err != nil {
		t.Fatal(err)
	}
	misses, of := uint64(0), map[string]uint64{}
	for _, g := range w.Groups {
		misses += g.Base[0]
		of[g.Key.Loop] = g.References
	}
	if misses != w.Levels[0].Base.Misses || room.Used() != 0 {
		t.Errorf("%+v, warm %v: loops miss %d times, want %d; %d bytes are still claimed", o, warm, misses, w.Levels[0].Base.Misses, room.Used())
	}
	return of
}

// TestLoopsWithinBudget: the loops of a long trace are claimed, and refused where
// they do not fit.
func TestLoopsWithinBudget(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(test.Fixture(t, "locality"), "traces", "matmul.csv.gz"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	room := budget.New(4)
	_, _, err = s.Reuse(budget.With(t.Context(), room), ReuseAsk{By: string(answer.ByLoop), Machine: "classic"})
	if !errors.As(err, new(*budget.Exceeded)) || !strings.Contains(err.Error(), "--range") || room.Used() != 0 {
		t.Errorf("within 4 bytes: %v, %d bytes are still claimed", err, room.Used())
	}
}

// TestLoopRuns holds that runs give back what was added, and that a trace which
// stays in its loops takes a small part of a byte a record.
func TestLoopRuns(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, long := range []int{1, 3, 1000} {
		var r loopRuns
		var want []uint32
		for range 50_000 / long {
			loop := uint32(rng.IntN(300))
			for range 1 + rng.IntN(long) {
				r.add(uint64(loop))
				want = append(want, loop)
			}
		}
		r.end()
		for i, n := range want {
			if got := r.next(); got != n {
				t.Fatalf("runs of up to %d: record %d in loop %d, want %d", long, i, got, n)
			}
		}
		if r.next() != 0 || long == 1000 && len(r.bytes) > len(want)/100 {
			t.Errorf("runs of up to %d: %d bytes for %d records", long, len(r.bytes), len(want))
		}
	}
}
