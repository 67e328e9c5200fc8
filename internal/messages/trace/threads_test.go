package trace

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/isobath/isobath/internal/formats/otf2"
)

// TestThreads: messages belong to processes, whichever thread sends and
// receives; a thread that never communicates is no process of the trace, but
// its time counts. Every process has its own MPI_COMM_SELF.
func TestThreads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "threads.otf2")
	w, err := otf2.Create(path, otf2.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	node := w.Node("host", "node", otf2.None)
	var at [2][3]*otf2.EventWriter
	for p := range at {
		g := w.Process(fmt.Sprintf("MPI Rank %d", p), node)
		for th := range at[p] {
			at[p][th] = w.Location(fmt.Sprintf("thread %d", th), g)
		}
	}
	w.CommLocations([]uint64{at[0][0].ID, at[1][0].ID})
	world := uint64(w.Comm("MPI_COMM_WORLD", []uint64{0, 1}, otf2.None))
	self := uint64(w.Comm("MPI_COMM_SELF", nil, otf2.None))
	send, recv, work := uint64(w.Region(otf2.RegionInfo{Name: "MPI_Send"})), uint64(w.Region(otf2.RegionInfo{Name: "MPI_Recv"})), uint64(w.Region(otf2.RegionInfo{Name: "work"}))
	call := func(e *otf2.EventWriter, time, region uint64, ev otf2.Event) {
		ev.Time = time + 1
		for _, ev := range []otf2.Event{{Kind: otf2.Enter, Time: time, F: [6]uint64{region}}, ev, {Kind: otf2.Leave, Time: time + 2, F: [6]uint64{region}}} {
			if err := e.Write(&ev); err != nil {
				t.Fatal(err)
			}
		}
	}
	message := func(kind otf2.Kind, peer, length uint64) otf2.Event {
		return otf2.Event{Kind: kind, F: [6]uint64{peer, world, 7, length}}
	}
	// Two threads of rank 0 send alternately; thread 1 of rank 1 receives.
	call(at[0][0], 10, send, message(otf2.MPISend, 1, 100))
	call(at[0][1], 20, send, message(otf2.MPISend, 1, 200))
	call(at[0][0], 30, send, message(otf2.MPISend, 1, 300))
	for i := range uint64(3) {
		call(at[1][1], 50+10*i, recv, message(otf2.MPIRecv, 0, 100*(i+1)))
	}
	for p := range at {
		for k := range uint64(2) {
			call(at[p][0], 100+10*k, recv, otf2.Event{Kind: otf2.MPICollectiveEnd, F: [6]uint64{11, self, otf2.RootNone, 8, 8}})
		}
		call(at[p][2], 5, work, otf2.Event{Kind: otf2.Enter, F: [6]uint64{work}})
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	tr, err := Open(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	if tr.Messages() != 3 || tr.Repairs.LengthDiffer != 0 {
		t.Errorf("%d messages, %d of other length; want 3 in the order of time", tr.Messages(), tr.Repairs.LengthDiffer)
	}
	if len(tr.Procs) != 4 || tr.Procs[1].Home != 0 || tr.Procs[3].Home != 2 || tr.Procs[2].Rank != 1 {
		t.Errorf("processes %+v; want two threads of each rank", tr.Procs)
	}
	if len(tr.Colls.Comm) != 4 || tr.Repairs.Incomplete != 0 {
		t.Errorf("%d collectives, %d incomplete; want 4 on MPI_COMM_SELF, whole", len(tr.Colls.Comm), tr.Repairs.Incomplete)
	}
	if len(tr.Threads) != 2 || tr.Threads[0].Process != 0 || tr.Threads[1].Process != 2 || tr.Threads[1].Name != "thread 2" {
		t.Errorf("threads %+v; want the third of each rank", tr.Threads)
	}
	stacks, err := tr.Stacks(t.Context(), []int32{int32(len(tr.Procs) + 1)})
	if err != nil || len(stacks[0].Region) != 2 || tr.Regions[stacks[0].Region[0]].Name != "work" {
		t.Errorf("stack of a thread: %+v, %v", stacks, err)
	}
	found := 0
	for _, rt := range tr.Times {
		if tr.Regions[rt.Region].Name == "work" {
			found++
		}
	}
	if found != 2 {
		t.Errorf("%d threads have time in work, want 2", found)
	}
}
