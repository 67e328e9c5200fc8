package mpitrace

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/messages/whatif"
)

// TestOtherThreads: calls of other threads than the first are counted, also those
// made while the first is inside MPI, and whoever reads the trace is told.
func TestOtherThreads(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "threads")
	if out, err := exec.Command(test.Peer(t, "mpicc", "libopenmpi-dev"), "-pthread", "testdata/threads.c", "-o", exe).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	archive, res := traced(t, nil, launch(t, "2", exe)...)
	if res.Exit != 0 {
		t.Fatalf("exit %d", res.Exit)
	}
	g, clocks, err := whatif.Repaired(t.Context(), open(t, archive))
	if err != nil {
		t.Fatal(err)
	}
	c := g.Coverage(clocks)
	if want := "12 calls of other threads than the first of their rank are not recorded"; c.Unrecorded != 12 || !c.Low || !strings.Contains(c.Text, want) {
		t.Errorf("%+v, want 12 calls: %s", c, want)
	}
}
