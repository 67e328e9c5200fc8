package logical

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/messages/mpiprog"
	"github.com/isobath/isobath/internal/messages/trace"
)

// files lists the archive's files by path relative to its folder.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch filepath.Ext(path) {
		case ".otf2", ".def", ".evt":
			rel, _ := filepath.Rel(dir, path)
			out = append(out, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// size sums the files of an archive.
func size(t *testing.T, dir string, list []string) (sum int64) {
	t.Helper()
	for _, name := range list {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		sum += info.Size()
	}
	return sum
}

// layout makes a copy of an archive out of links.
func layout(t *testing.T, dir string, list []string) string {
	t.Helper()
	out := t.TempDir()
	for _, name := range list {
		to := filepath.Join(out, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(dir, name), to); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// damaged puts data in the place of one file of a layout while f runs.
func damaged(t *testing.T, out, victim string, data []byte, f func()) {
	t.Helper()
	path := filepath.Join(out, victim)
	link, err := os.Readlink(path)
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(path)
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	f()
	os.Remove(path)
	if err := os.Symlink(link, path); err != nil {
		t.Fatal(err)
	}
}

// survive runs the whole analysis on a damaged archive and returns whether it
// said that something is wrong.
func survive(t *testing.T, path string, analyze bool) bool {
	t.Helper()
	ctx := context.Background()
	tr, err := trace.Open(ctx, path)
	if err != nil {
		return true
	}
	options := []Options{Default(), with(func(o *Options) { o.Leaps, o.Force, o.Reorder, o.Calls = true, true, true, true })}
	if !analyze {
		options = options[:0]
	}
	for _, o := range options {
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
		if err := r.AddClusters(ctx, s, ClusterOptions{Part: None}); err != nil {
			t.Fatal(err)
		}
		if s.Len() < 1000 {
			if err := s.WriteTSV(io.Discard, true); err != nil {
				t.Fatal(err)
			}
		}
	}
	return len(tr.Warnings) > 0
}

// TestDamaged cuts each archive at 50 random places and flips bytes at 50:
// a cut gives an error or a marked result, a flip anything but a crash.
func TestDamaged(t *testing.T) {
	test.NoRaces(t, "the archives that are whole are read by the same goroutines")
	archives := map[string]string{"simulated": t.TempDir()}
	p, err := mpiprog.New(filepath.Join(archives["simulated"], "p.otf2"), 6)
	if err != nil {
		t.Fatal(err)
	}
	random(p, rand.New(rand.NewPCG(4, 4)), 500)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"amg8", "binomial16", "commtag8", "dissem16", "halo16", "halo16_skew", "halo64_big", "lu8", "lulesh8", "mergetree64",
		"mg16", "ring16", "thirdparty/pipit-ping-pong-otf2", "thirdparty/sst-elements-emberotf2", "eztrace/halo16/halo_trace"} {
		if strings.Contains(name, "/") { // other people's
			if dir := filepath.Join(test.Root(), "..", "shared", "data", "otf2", name); exists(dir) {
				archives[name] = dir
			}
			continue
		}
		archives[name] = test.Fixture(t, "otf2/"+name)
	}
	for name, dir := range archives {
		t.Run(name, func(t *testing.T) {
			list := files(t, dir)
			// What a large archive adds is reading; the analysis of damage is
			// exercised by the small ones and a part of the copies here.
			large := size(t, dir, list) > 300_000
			out := layout(t, dir, list)
			rng := rand.New(rand.NewPCG(uint64(len(name)), 7))
			cuts := 20
			if testing.Short() {
				cuts = 5
			}
			for k := range cuts {
				victim := list[rng.IntN(len(list))]
				data, err := os.ReadFile(filepath.Join(dir, victim))
				if err != nil {
					t.Fatal(err)
				}
				cut := rng.IntN(len(data) - 3)
				marked, analyze := false, !large || k%10 == 0
				within(t, fmt.Sprintf("%s cut at %d", victim, cut), func() {
					damaged(t, out, victim, data[:cut], func() { marked = survive(t, out, analyze) })
				})
				if !marked {
					t.Errorf("%s cut at %d of %d bytes: no error and no warning", victim, cut, len(data))
				}
				for range 1 + k%8 {
					data[rng.IntN(len(data))] = byte(rng.Uint32())
				}
				if large && k%5 > 0 {
					continue
				}
				within(t, fmt.Sprintf("%s with flipped bytes, turn %d", victim, k), func() {
					damaged(t, out, victim, data, func() { survive(t, out, analyze) })
				})
			}
		})
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// within names the damage if the analysis panics.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("%s: panic: %v", what, r)
		}
	}()
	f()
}

// TestUnsupported: archives of a kind that is not read say so in one sentence.
func TestUnsupported(t *testing.T) {
	dir := t.TempDir()
	p, err := mpiprog.New(filepath.Join(dir, "p.otf2"), 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	anchor, err := os.ReadFile(filepath.Join(dir, "p.otf2"))
	if err != nil {
		t.Fatal(err)
	}
	out := layout(t, dir, files(t, dir))
	const substrate, compression = 28, 29
	for at, want := range map[int]string{substrate: "SION", compression: "zlib"} {
		data := append([]byte(nil), anchor...)
		data[at] = 2
		damaged(t, out, "p.otf2", data, func() {
			if _, err := trace.Open(context.Background(), out); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("byte %d = 2: error %v, want one that names %s", at, err, want)
			}
		})
	}
}
