package timeline

import (
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/messages/logical"
	"github.com/isobath/isobath/internal/messages/trace"
)

func TestFind(t *testing.T) {
	tr, err := trace.Open(t.Context(), test.Shared(t, "otf2/ring16/traces.otf2"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := logical.Analyze(t.Context(), tr, logical.Default())
	if err != nil {
		t.Fatal(err)
	}
	tl := New(s)
	for text, holds := range map[string]func(p Place) bool{
		"rank 11":                   func(p Place) bool { return p.Rank == 11 },
		"mpi_recv":                  func(p Place) bool { return p.Name == "MPI_Recv" },
		"late > 3ms":                func(p Place) bool { return p.Lateness > 3_000_000 },
		"rank 4 MPI_Recv late>=3ms": func(p Place) bool { return p.Rank == 4 && p.Name == "MPI_Recv" && p.Lateness >= 3_000_000 },
		"step 18":                   func(p Place) bool { return p.Step == 18 },
		"took < 100us partition 9":  func(p Place) bool { return p.Exit-p.Enter < 100_000 && p.Partition == 9 },
	} {
		f, err := tl.Finder(text)
		if err != nil {
			t.Fatal(err)
		}
		want := 0
		for op := range int32(s.Len()) {
			if holds(tl.Place(op)) {
				want++
			}
		}
		// Every one is met once, in the order of time, and then the first again;
		// backwards the same.
		first := tl.Find(f, -1, false)
		if first.Count != want || want == 0 {
			t.Errorf("%s: %d operations, want %d", text, first.Count, want)
			continue
		}
		at := first
		for k := range want {
			if !holds(*at.Place) || at.At != k+1 {
				t.Errorf("%s: %+v is number %d, want %d", text, at.Place, at.At, k+1)
			}
			next := tl.Find(f, at.Place.ID, false)
			if back := tl.Find(f, next.Place.ID, true); back.Place.ID != at.Place.ID {
				t.Errorf("%s: before %d comes %d, want %d", text, next.Place.ID, back.Place.ID, at.Place.ID)
			}
			at = next
		}
		if at.Place.ID != first.Place.ID {
			t.Errorf("%s: after the last comes %d, want the first, %d", text, at.Place.ID, first.Place.ID)
		}
	}
	for _, text := range []string{"", "no_such_function", "rank 99999999999"} {
		if f, err := tl.Finder(text); err == nil {
			t.Errorf("%q is understood as %q", text, f.Text)
		}
	}
}
