package logical

import (
	"context"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/messages/mpiprog"
	"github.com/isobath/isobath/internal/messages/trace"
)

// FuzzAnalyze replaces the event files of two ranks of a small program and
// runs everything on what comes out.
func FuzzAnalyze(f *testing.F) {
	dir := f.TempDir()
	path := filepath.Join(dir, "p.otf2")
	p, err := mpiprog.New(path, 3)
	if err != nil {
		f.Fatal(err)
	}
	random(p, rand.New(rand.NewPCG(6, 6)), 40)
	if err := p.Close(); err != nil {
		f.Fatal(err)
	}
	var files [2][]byte
	for r, name := range []string{"0.evt", "1.evt"} {
		if files[r], err = os.ReadFile(filepath.Join(dir, "p", name)); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(files[0], files[1])
	f.Add(files[1], files[0])
	f.Fuzz(func(t *testing.T, a, b []byte) {
		for r, data := range [][]byte{a, b} {
			if err := os.WriteFile(filepath.Join(dir, "p", []string{"0.evt", "1.evt"}[r]), data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		ctx := context.Background()
		tr, err := trace.Open(ctx, path)
		if err != nil {
			t.Fatalf("event files alone must not fail the archive: %v", err)
		}
		saveAgain(t, tr)
		for _, o := range []Options{Default(), with(func(o *Options) { o.Leaps, o.Force, o.Calls, o.Reorder = true, true, true, true })} {
			s, err := Analyze(ctx, tr, o)
			if err != nil {
				t.Fatal(err)
			}
			c, err := s.Causes(ctx, CauseOptions{Threshold: s.Threshold()})
			if err != nil {
				t.Fatal(err)
			}
			r := s.NewReport(c, 3)
			r.AddProfile(tr)
			if err := s.WriteJSON(io.Discard, true); err != nil {
				t.Fatal(err)
			}
			// A program that happens before itself has no order to hold.
			if s.Cyclic == 0 && !o.Reorder {
				for _, check := range []func(*Structure) error{verifyCollectives, verifyPartitions, verifyOrder, verifyMessages} {
					if err := check(s); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	})
}

// saveAgain: what is exported reads as what it was exported from. Times before
// the start of the trace may be refused: they cannot be written in order.
func saveAgain(t *testing.T, tr *trace.Trace) {
	t.Helper()
	ctx := context.Background()
	s, err := Analyze(ctx, tr, Default())
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out.otf2")
	if err := s.Save(ctx, out); err != nil {
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(out), "*")); len(left) > 0 {
			t.Errorf("%v; %v are left", err, left)
		}
		return
	}
	got, err := trace.Open(ctx, out)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tr.Ops, got.Ops); diff != "" || got.Events != tr.Events || got.Messages() != tr.Messages() {
		t.Errorf("%d events and %d messages, want %d and %d; operations (-want +got):\n%.1000s", got.Events, got.Messages(), tr.Events, tr.Messages(), diff)
	}
}
