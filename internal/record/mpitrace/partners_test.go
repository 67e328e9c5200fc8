package mpitrace

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/messages/logical"
	"github.com/isobath/isobath/internal/messages/trace"
	"github.com/isobath/isobath/internal/messages/whatif"
)

// signal is a signal between two processes, by the calls at its ends.
type signal struct {
	from, to string
	distance int // of the ranks, around the ring
}

// partnerSignals are the signals of partners.c with n processes. MPI_Wait and
// MPI_Waitall end what was begun without waiting.
func partnerSignals(n int) map[signal]int {
	want := map[signal]int{{"MPI_Win_unlock", "MPI_Win_lock", 1}: n - 1}
	for _, by := range []int{1, n - 1} {
		want[signal{"MPI_Win_post", "MPI_Win_complete", by}] = 3 * n
		want[signal{"MPI_Win_complete", "MPI_Win_wait", by}] = 3 * n
		want[signal{"MPI_Neighbor_alltoall", "MPI_Neighbor_alltoall", by}] = n
		want[signal{"MPI_Ineighbor_alltoall", "MPI_Wait", by}] = n
		want[signal{"MPI_Neighbor_allgather", "MPI_Neighbor_allgather", by}] = n + n - 1 // the graph, and the open line
	}
	want[signal{"MPI_Ineighbor_allgather", "MPI_Waitall", 1}] = n
	want[signal{"MPI_Ineighbor_alltoall", "MPI_Waitall", 1}] = n
	return want
}

func checkPartners(t *testing.T, archive string, n int) {
	t.Helper()
	if got := printed(t, archive)["RMA_GROUP_SYNC"]; got != 4*3*n {
		t.Errorf("otf2-print has %d records of epochs, want %d", got, 4*3*n)
	}
	tr := open(t, archive)
	got := map[signal]int{}
	for s, m := range tr.Sends.Match {
		if m < 0 || !tr.Signal(tr.Sends.Comm[s]) {
			continue
		}
		a, b := tr.Sends.Op[s], tr.Recvs.Op[m]
		from, to := tr.ProcOf(a), tr.ProcOf(b)
		got[signal{tr.Regions[tr.Ops.Region[a]].Name, tr.Regions[tr.Ops.Region[b]].Name, (int(to-from) + n) % n}]++
	}
	if d := cmp.Diff(partnerSignals(n), got, cmp.AllowUnexported(signal{})); d != "" {
		t.Error(d)
	}
	g, err := whatif.Build(t.Context(), tr)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range g.Coverage(g.Clocks()).Missing {
		switch m.What {
		case "MPI_Win_post", "MPI_Win_start", "MPI_Win_complete", "MPI_Win_wait", "MPI_Win_lock", "MPI_Neighbor_alltoall", "MPI_Neighbor_allgather":
			t.Errorf("%s is not analysed: %s", m.What, m.Why)
		}
	}
	s, err := logical.Analyze(t.Context(), tr, logical.Default())
	if err != nil {
		t.Fatal(err)
	}
	for op, kind := range tr.Ops.Kind {
		if row := s.Of(int32(op)); kind != trace.Collective && (row < 0 || s.Step[row] < 0) {
			t.Errorf("operation %d, %s, has no step", op, tr.Regions[tr.Ops.Region[op]].Name)
			break
		}
	}
}

// TestPartners: who a call of an epoch, a lock or a collective of neighbours waits
// for is recorded, and such calls are operations with steps.
func TestPartners(t *testing.T) {
	t.Run("Open MPI", func(t *testing.T) {
		exe := compile(t, "mpicc", "libopenmpi-dev", "testdata/partners.c")
		archive, res := traced(t, nil, launch(t, "5", exe)...)
		if res.Exit != 0 || len(res.Notes) > 0 {
			t.Fatalf("%+v", res)
		}
		checkPartners(t, archive, 5)
	})
	t.Run("MPICH", func(t *testing.T) {
		test.Peer(t, "mpirun.mpich", "mpich")
		exe := compile(t, "mpicc.mpich", "libmpich-dev", "testdata/partners.c")
		archive, res := traced(t, nil, "mpirun.mpich", "-n", "3", exe) // its ranks spin while they wait
		if res.Exit != 0 || len(res.Notes) > 0 {
			t.Fatalf("%+v", res)
		}
		checkPartners(t, archive, 3)
	})
}
