package mpitrace

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/messages/logical"
	"github.com/isobath/isobath/internal/messages/timeline"
	"github.com/isobath/isobath/internal/messages/whatif"
)

// TestOtherThreads: every thread that calls MPI is a row below its rank, also
// where it calls while the first is inside MPI and where another completes what it
// began; nothing is left out, and a delay in a second thread is a cause.
func TestOtherThreads(t *testing.T) {
	const delay = 150 // ms
	exe := filepath.Join(t.TempDir(), "threads")
	if out, err := exec.Command(test.Peer(t, "mpicc", "libopenmpi-dev"), "-pthread", "testdata/threads.c", "-o", exe).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	archive, res := traced(t, nil, append(launch(t, "2", exe), fmt.Sprint(delay))...)
	if res.Exit != 0 {
		t.Fatalf("exit %d", res.Exit)
	}
	g, clocks, err := whatif.Repaired(t.Context(), open(t, archive))
	if err != nil {
		t.Fatal(err)
	}
	tr := g.Trace
	if len(tr.Procs) != 4 || tr.Procs[1].Home != 0 || tr.Procs[3].Home != 2 || tr.Procs[3].Rank != 1 || tr.Procs[3].Thread != "thread 1" {
		t.Errorf("%+v, want a second thread of each rank", tr.Procs)
	}
	if sends, recvs := tr.Unmatched(); tr.Messages() != 12 || sends+recvs != 0 {
		t.Errorf("%d messages, %d sends and %d receives without partner; want 12, all whole", tr.Messages(), sends, recvs)
	}
	for p, calls := range []int32{2, 6, 2, 6} { // besides those that ask for rank and size
		n := int32(0)
		for i := tr.Calls.Start[p]; i < tr.Calls.Start[p+1]; i++ {
			if name := tr.Regions[tr.Calls.Region[i]].Name; !strings.HasPrefix(name, "MPI_Comm_") {
				n++
			}
		}
		if n != calls {
			t.Errorf("%d calls in row %d, want %d", n, p, calls)
		}
	}
	if c := g.Coverage(clocks); c.Unrecorded != 0 || c.Low || c.Threads != 2 || !strings.Contains(c.Text, "2 threads besides the first of a rank") {
		t.Errorf("%+v: want two threads more, and nothing left out", c)
	}
	s, err := logical.Analyze(t.Context(), tr, logical.Default())
	if err != nil {
		t.Fatal(err)
	}
	rows, err := timeline.New(s).Rows(t.Context(), timeline.RowOrder{By: "rank"})
	if err != nil || len(rows) != 4 || rows[1].Rank != 0 || rows[1].Name != "thread 1" || rows[2].Name != "" || rows[3].Name != "thread 1" {
		t.Errorf("rows %+v, %v; want each thread below its rank", rows, err)
	}
	c, err := whatif.Rank(t.Context(), g, s, 5)
	if err != nil {
		t.Fatal(err)
	}
	// On a busy machine a message may be held up for longer than that.
	gains := c.Report(5, clocks).Gains
	if !slices.ContainsFunc(gains, func(e whatif.ReportGain) bool {
		return strings.HasPrefix(e.Text, "rank 1 (thread 1) before MPI_Sendrecv in second") && e.Amount.Max >= 0.9*delay*1e6 && e.Amount.Max <= 1.3*delay*1e6
	}) {
		t.Errorf("%+v: want the %d ms of the second thread of rank 1 among them", gains, delay)
	}
}
