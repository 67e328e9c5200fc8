package refset

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/refs"
)

// TestWithinBudget: what replays a trace claims its references from the budget of
// the process, is refused what does not fit, and gives everything back.
func TestWithinBudget(t *testing.T) {
	path := filepath.Join(test.Fixture(t, "locality"), "traces", "share8.csv.gz")
	for name, ask := range map[string]func(context.Context, *Set) error{
		"whatif": func(ctx context.Context, s *Set) error {
			_, err := s.WhatIf(ctx, WhatIfAsk{Base: "classic", Warm: true})
			return err
		},
		"sharing": func(ctx context.Context, s *Set) error { _, err := s.Sharing(ctx, 0, 5, nil); return err },
		"advise": func(ctx context.Context, s *Set) error {
			_, err := s.Advise(ctx, AdviseAsk{Machine: "classic", Kinds: []string{"align"}})
			return err
		},
	} {
		for bytes, fits := range map[int64]bool{1000: false, 100 << 20: true} {
			s, err := Open(t.Context(), path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			room := budget.New(bytes)
			err = ask(budget.With(t.Context(), room), s)
			s.Close()
			if refused := errors.As(err, new(*budget.Exceeded)); refused == fits || fits && err != nil {
				t.Errorf("%s within %d bytes: %v", name, bytes, err)
			}
			if room.Used() != 0 {
				t.Errorf("%s keeps %d bytes of the budget", name, room.Used())
			}
		}
	}
}

// endless makes references to the same 32 KiB, and looks at the memory in use
// at the end, while everything that was made of them is still there.
type endless struct {
	about  refs.About
	left   int
	random uint64
	inUse  uint64
}

func (e *endless) About() *refs.About { return &e.about }
func (e *endless) Close() error       { return nil }

func (e *endless) Read(out []refs.Ref) (int, error) {
	n := min(len(out), e.left)
	for i := range n {
		e.random = e.random*6364136223846793005 + 1442695040888963407
		out[i] = refs.Ref{Addr: 0x10000000 + e.random>>49, Size: 8, PC: 0x400000 + e.random>>60*4, Place: 1, Thread: uint32(e.random >> 63)}
	}
	if e.left -= n; e.left == 0 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		e.inUse = m.HeapAlloc
		return n, io.EOF
	}
	return n, nil
}

// TestMemoryStays holds that the memory for a trace does not grow with its
// references: 400 000 more take a megabyte more at most, where keeping them would
// take ten.
func TestMemoryStays(t *testing.T) {
	for name, ask := range map[string]func(context.Context, *Set) ([]string, error){
		"reuse": func(ctx context.Context, s *Set) ([]string, error) {
			_, _, err := s.Reuse(ctx, ReuseAsk{Machine: "classic"})
			return nil, err
		},
		"whatif": func(ctx context.Context, s *Set) ([]string, error) {
			a, err := s.WhatIf(ctx, WhatIfAsk{Base: "classic"})
			if err != nil {
				return nil, err
			}
			return a.Notes, nil
		},
		"advise": func(ctx context.Context, s *Set) ([]string, error) {
			a, err := s.Advise(ctx, AdviseAsk{Machine: "classic", Kinds: []string{"align"}})
			if err != nil {
				return nil, err
			}
			return a.Answer.Notes, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			var inUse [2]uint64
			few, room := 100_000, int64(2<<20)
			if name == "advise" { // keeps a million, whatever comes behind them
				few, room = 1_150_000, accessBytes*1_100_000
			}
			for i, n := range []int{few, few + 400_000} {
				src := &endless{left: n, random: 7, about: refs.About{Has: refs.HasPC | refs.HasPlace, Places: []refs.Place{{}, {Function: "work", File: "a.c", Line: 7}}}}
				notes, err := ask(budget.With(t.Context(), budget.New(room)), Known(src, nil, "", nil))
				if err != nil {
					t.Fatal(err)
				}
				if name != "reuse" && !strings.Contains(strings.Join(notes, "\n"), "memory allowed") {
					t.Errorf("nothing is said of references that do not fit: %q", notes)
				}
				inUse[i] = src.inUse
			}
			if inUse[1] > inUse[0]+1<<20 {
				t.Errorf("%d bytes in use with %d references, %d with 400 000 more", inUse[0], few, inUse[1])
			}
		})
	}
}
