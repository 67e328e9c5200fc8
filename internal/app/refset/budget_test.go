package refset

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/isobath/isobath/internal/base/budget"
	"github.com/isobath/isobath/internal/base/test"
)

// TestWithinBudget: what replays a trace claims its references from the budget of
// the process, is refused what does not fit, and gives everything back.
func TestWithinBudget(t *testing.T) {
	path := filepath.Join(test.Fixture(t, "locality"), "traces", "share8.csv.gz")
	for name, ask := range map[string]func(context.Context, *Set) error{
		"whatif": func(ctx context.Context, s *Set) error {
			_, err := s.WhatIf(ctx, WhatIfAsk{Base: "classic"})
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
