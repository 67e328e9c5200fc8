package logical

import (
	"context"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"isobath/internal/test/mpiprog"
	"isobath/internal/trace"
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
			r.AddCritical(s, 3)
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
