package sharing

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/formats"
	"github.com/isobath/isobath/internal/locality/replay"
)

func read(t testing.TB, path string) *replay.Trace {
	t.Helper()
	src, _, err := formats.OpenRefs(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r := replay.NewReader(func(r *refs.Ref) uint32 { return uint32(r.Object) }, 1<<24)
	if err := refs.Each(src, r.Add); err != nil {
		t.Fatal(err)
	}
	return r.Trace(src.About().Places)
}

type expectedLine struct {
	LineBytes int    `json:"line_bytes"`
	Recorded  Misses `json:"recorded"`
	Turns1    Misses `json:"turns_of_1"`
	Turns16   Misses `json:"turns_of_16"`
	Turns256  Misses `json:"turns_of_256"`
	After     Misses `json:"one_after_another"`
}

// TestExpected compares with shared/data/locality/expected/sharing.json, which a
// plain program made: all schedules, both line sizes, all starts.
func TestExpected(t *testing.T) {
	dir := test.Shared(t, "locality")
	var want struct {
		Traces []struct {
			Trace   string         `json:"trace"`
			Records int            `json:"records"`
			Lines   []expectedLine `json:"lines"`
			Moved   []struct {
				Bytes  uint64 `json:"bytes"`
				Turns1 Misses `json:"turns_of_1"`
			} `json:"moved"`
		} `json:"traces"`
	}
	text, err := os.ReadFile(filepath.Join(dir, "expected", "sharing.json"))
	if err == nil {
		err = json.Unmarshal(text, &want)
	}
	if err != nil || len(want.Traces) < 5 {
		t.Fatal(err, len(want.Traces))
	}
	for _, w := range want.Traces {
		t.Run(w.Trace, func(t *testing.T) {
			tr := read(t, filepath.Join(dir, "traces", w.Trace+".csv.gz"))
			if len(tr.Accesses) != w.Records {
				t.Errorf("%d records", len(tr.Accesses))
			}
			r, err := Analyse(context.Background(), tr, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for i, l := range w.Lines {
				got := r.Total
				if l.LineBytes == 128 {
					got = r.Wide
				}
				for k, m := range []Misses{l.Recorded, l.After, l.Turns1, l.Turns16, l.Turns256} {
					if got[k] != m {
						t.Errorf("lines of %d, %s: %+v, want %+v", w.Lines[i].LineBytes, Schedules[k], got[k], m)
					}
				}
			}
			f := Filter(tr)
			for _, m := range w.Moved {
				if got := f.count(f.turns(1), shift64, m.Bytes, nil); got != m.Turns1 {
					t.Errorf("moved by %d: %+v, want %+v", m.Bytes, got, m.Turns1)
				}
			}
		})
	}
}

func TestKinds(t *testing.T) {
	dir := test.Shared(t, "locality/traces")
	for name, want := range map[string]Kind{"share8": False, "share64": Latent, "share56": Latent, "share128": "", "turns": True} {
		r, err := Analyse(context.Background(), read(t, filepath.Join(dir, name+".csv.gz")), Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := Kind("")
		if len(r.Lines) > 0 {
			got = r.Lines[0].Kind
			if l := r.Lines[0]; l.Kind != True && l.Separate.Coherence > 0 {
				t.Errorf("%s: %d misses are left with lines apart", name, l.Separate.Coherence)
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestSchedulesKeepWaits holds that every schedule is a permutation that keeps
// each thread's order and every wait.
func TestSchedulesKeepWaits(t *testing.T) {
	tr := Filter(read(t, filepath.Join(test.Shared(t, "locality/traces"), "turns.csv.gz")))
	for _, order := range [][]int32{tr.turns(1), tr.turns(7), tr.turns(1 << 20), tr.clocked(shift64, DefaultClock)} {
		if len(order) != len(tr.refs) {
			t.Fatalf("%d of %d accesses", len(order), len(tr.refs))
		}
		done := make([]int32, tr.threads)
		next := append([]int(nil), tr.starts...)
		for _, i := range order {
			k := tr.refs[i].thread
			if tr.by[k][done[k]] != i {
				t.Fatal("a thread's accesses change their order")
			}
			for ; next[k] < tr.starts[k+1] && tr.waits[next[k]].at <= done[k]; next[k]++ {
				if w := tr.waits[next[k]]; done[w.thread] < w.until {
					t.Fatalf("thread %d does not wait for %d accesses of %d", k, w.until, w.thread)
				}
			}
			done[k]++
		}
	}
}

// TestPairs holds that who lost lines to whom adds up to the misses by the clock,
// and that only threads which share a line are a pair.
func TestPairs(t *testing.T) {
	dir := test.Shared(t, "locality/traces")
	for _, name := range []string{"share8", "turns"} {
		r, err := Analyse(context.Background(), read(t, filepath.Join(dir, name+".csv.gz")), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range r.Lines {
			sum := uint64(0)
			for _, p := range l.Pairs {
				sum += p.Misses
				if p.Thread == p.To {
					t.Errorf("%s: thread %d lost a line to itself", name, p.To)
				}
			}
			if sum != l.Clocked.Coherence {
				t.Errorf("%s, line %#x: pairs have %d misses, the clock %d", name, l.Addr, sum, l.Clocked.Coherence)
			}
		}
		if len(r.Lines) == 0 || len(r.Lines[0].Pairs) == 0 {
			t.Errorf("%s: nobody lost a line", name)
		}
	}
}

// TestWriters: a thread that only reads what others counted needs no line of its
// own.
func TestWriters(t *testing.T) {
	l := Line{Users: []User{{Stores: 3}, {Loads: 4}, {Loads: 1, Stores: 1}}}
	if n := l.Writers(); n != 2 {
		t.Errorf("%d of three threads store, want 2", n)
	}
}
