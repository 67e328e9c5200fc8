package mpitrace

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/messages/trace"
	"github.com/isobath/isobath/internal/messages/whatif"
)

// TestReady: a rank that shares its processor with another thread is recorded with
// the time it waited for it, as its own clocks have it, and that is taken from the
// computation in which causes are looked for.
func TestReady(t *testing.T) {
	if _, err := os.Stat("/proc/thread-self/schedstat"); err != nil {
		t.Skip("this kernel does not count how long a thread is ready to run without a processor")
	}
	exe := filepath.Join(t.TempDir(), "ready")
	if out, err := exec.Command(test.Peer(t, "mpicc", "libopenmpi-dev"), "-pthread", "testdata/ready.c", "-o", exe).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	told := filepath.Join(t.TempDir(), "told")
	archive, res := traced(t, nil, launch(t, "2", exe, told)...)
	if res.Exit != 0 {
		t.Fatalf("exit %d", res.Exit)
	}
	text, err := os.ReadFile(told)
	if err != nil {
		t.Fatal(err)
	}
	var want [4]float64
	if _, err := fmt.Sscan(string(text), &want[0], &want[1], &want[2], &want[3]); err != nil {
		t.Fatal(err)
	}
	g, _, err := whatif.Repaired(t.Context(), open(t, archive))
	if err != nil {
		t.Fatal(err)
	}
	settled, err := g.Settled(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var barriers []int32
	for i := g.Start[0]; i < g.Start[1]; i++ {
		if g.Trace.Regions[g.Trace.Calls.Region[i]].Name == "MPI_Barrier" {
			barriers = append(barriers, i)
		}
	}
	if len(barriers) != 5 {
		t.Fatalf("%d barriers, want 5", len(barriers))
	}
	for k, i := range barriers[1:] {
		got := 0.0
		if at := slices.IndexFunc(g.Trace.Calls.Ready, func(r trace.Ready) bool { return r.Call == i }); at >= 0 {
			got = float64(g.Trace.NS(g.Trace.Calls.Ready[at].Before)) / 1e6
		}
		// Joining the thread and what little is not counted are outside its clocks.
		if math.Abs(got-want[k]) > 2+0.1*want[k] {
			t.Errorf("computation %d: %.2f ms without a processor, want %.2f", k, got, want[k])
		}
		if comp := float64(g.Trace.NS(settled.Computation(i))) / 1e6; comp < 38 || comp > 50 {
			t.Errorf("computation %d: %.2f ms of work, want 40 (%.2f recorded)", k, comp, float64(g.Trace.NS(g.Computation(i)))/1e6)
		}
	}
	if want[1] < 10 {
		t.Errorf("the other thread took %.2f ms: nothing was tried", want[1])
	}
}

// TestReadyRecords: what is said before an entry belongs to the computation, what
// is said before an exit to the call, and neither is longer than that; before the
// first event it belongs to the beginning.
func TestReadyRecords(t *testing.T) {
	dir := t.TempDir()
	ready := func(time, ns uint64) []byte { return long(time, kReady, 0, 0, 0, 0, ns, 0) }
	region := uint32(slices.Index(regions(), "MPI_Barrier"))
	write(t, dir, "rank.0", rankBytes(0, 1, world, ready(1100, 700), short(1100, kEnter, 0),
		short(2000, kEnter, region), short(2100, kLeave, region),
		ready(4000, 1500), short(4000, kEnter, region), short(4100, kLeave, region),
		short(5000, kEnter, region), ready(8000, 2000), short(8000, kLeave, region),
		ready(8100, math.MaxUint64), short(8100, kEnter, region), ready(8300, math.MaxUint64), short(8300, kLeave, region)))
	archive := filepath.Join(dir, "a.otf2")
	if _, err := Convert(dir, archive); err != nil {
		t.Fatal(err)
	}
	printed(t, archive)
	want := []trace.Ready{{Call: 1, Before: 1500}, {Call: 2, Inside: 2000}, {Call: 3, Before: 100, Inside: 200}}
	got := open(t, archive)
	if d := cmp.Diff(want, got.Calls.Ready); d != "" {
		t.Error(d)
	}
	if got := got.Procs[0].Ready; got != 700 {
		t.Errorf("%d ns without a processor before the first event, want 700", got)
	}
}

// TestEntry: ranks wait for each other before the first event, and that is no
// computation of those that were there first.
func TestEntry(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "entry")
	if out, err := exec.Command(test.Peer(t, "mpicc", "libopenmpi-dev"), "-rdynamic", "testdata/entry.c", "-o", exe).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	archive, res := traced(t, nil, launch(t, "3", exe)...)
	if res.Exit != 0 {
		t.Fatalf("exit %d", res.Exit)
	}
	g, _, err := whatif.Repaired(t.Context(), open(t, archive))
	if err != nil {
		t.Fatal(err)
	}
	for p, first := range g.Start[:len(g.Start)-1] {
		if before := float64(g.Trace.NS(g.Computation(first))) / 1e6; before > 150 {
			t.Errorf("rank %d computes for %.1f ms before its first call, where it waited for rank 1 to be recorded", p, before)
		}
	}
}
