package mpitrace

import (
	"maps"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/messages/whatif"
)

// TestCallSites: every call names the function and the line it came from.
func TestCallSites(t *testing.T) {
	cc := test.Peer(t, "mpicc", "libopenmpi-dev")
	exe := filepath.Join(t.TempDir(), "sites")
	if out, err := exec.Command(cc, "-g", "-O0", "testdata/sites.c", "-o", exe).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	archive, _ := traced(t, nil, launch(t, "2", exe)...)
	printed(t, archive)
	tr := open(t, archive)
	type place struct {
		call, caller string
		line         uint32
	}
	found := map[place]int{}
	for i, region := range tr.Calls.Region {
		p := place{call: tr.Regions[region].Name}
		if caller := tr.Calls.Caller[i]; caller >= 0 {
			p.caller = tr.Regions[caller].Name
		}
		if site := tr.Calls.Site[i]; site >= 0 {
			p.line = tr.Sites[site].Line
			if filepath.Base(tr.Sites[site].File) != "sites.c" {
				t.Errorf("call %d is from %s", i, tr.Sites[site].File)
			}
		}
		found[p]++
	}
	for _, want := range []place{{"MPI_Sendrecv", "left", 6}, {"MPI_Allreduce", "all", 11}} {
		if found[want] != 6 {
			t.Errorf("%d calls %+v, want 6; there are %v", found[want], want, found)
		}
	}
}

// TestCausesByLine: equal delays before calls of one function on two lines are two
// causes, each with its own line.
func TestCausesByLine(t *testing.T) {
	cc := test.Peer(t, "mpicc", "libopenmpi-dev")
	exe := filepath.Join(t.TempDir(), "lines")
	if out, err := exec.Command(cc, "-g", "-O1", "testdata/lines.c", "-o", exe).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	archive, _ := traced(t, nil, launch(t, "3", exe)...)
	count := map[uint32]int{}
	for _, e := range causes(t, archive, 5) {
		if e.Kind == whatif.ByComputation.String() && e.Amount.Median > 50e6 {
			count[e.Line] += e.Count
		}
	}
	if want := map[uint32]int{19: 4, 23: 4}; !maps.Equal(count, want) {
		t.Errorf("delays by line: %v, want %v", count, want)
	}
}
