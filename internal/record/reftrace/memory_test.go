//go:build linux && amd64

package reftrace

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/isobath/isobath/internal/data/refs/flow"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/record/target"
)

// branchy takes one of two ways at random in every turn: each costs an event.
const branchy = `
#include <stdlib.h>
static int odd[64], even[64];
void work(long n) {
	unsigned s = 1;
	for (long i = 0; i < n; i++) {
		s = s * 1664525u + 1013904223u;
		if (s >> 31) odd[i & 63]++; else even[i & 63] = i;
	}
}
int main(int argc, char **argv) { work(atol(argv[1])); return 0; }
`

// TestMemoryOfRecording holds that what a recording takes does not grow with its
// length: all that is allocated while it is made and written is counted, and of a
// longer one it is only a few bytes a reference more.
func TestMemoryOfRecording(t *testing.T) {
	file := filepath.Join(t.TempDir(), "branchy.c")
	if err := os.WriteFile(file, []byte(branchy), 0o666); err != nil {
		t.Fatal(err)
	}
	exe := hooked(t, "gcc", "gcc", "-O1", file)
	taken := func(turns int) (references int, events int, allocated uint64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		rec := record(t, Options{Command: []string{exe, strconv.Itoa(turns)}, Region: target.Region{Function: "work"}, Backend: Instrument, Thread: FirstThread, Flow: true})
		references = len(rec.Refs)
		r, err := rec.Run()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "a.isobath")
		if err := r.Write(t.Context(), path, false); err != nil {
			t.Fatal(err)
		}
		events = r.Table(flow.EventTable).Rows()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if err := rec.Close(); err != nil {
			t.Error(err)
		}
		runtime.ReadMemStats(&after)
		opened, err := run.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer opened.Close()
		if n := opened.Table("refs").Rows(); n != references {
			t.Errorf("%d references written, want %d", n, references)
		}
		return references, events, after.TotalAlloc - before.TotalAlloc
	}
	few, fewEvents, little := taken(400_000)
	many, manyEvents, much := taken(1_600_000)
	if many-few < 1_200_000 || manyEvents-fewEvents < 400_000 {
		t.Fatalf("%d and %d references, %d and %d events: the program is not what the test is about", few, many, fewEvents, manyEvents)
	}
	// Held in memory a reference took more than a hundred bytes.
	each := float64(int64(much-little)) / float64(many-few)
	t.Logf("%.1f bytes for each reference more", each)
	if each > 10 {
		t.Errorf("%.1f bytes of memory for each reference more: %d bytes for %d, %d for %d", each, little, few, much, many)
	}
}
