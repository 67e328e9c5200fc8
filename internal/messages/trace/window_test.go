package trace

import (
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

// TestWindow: the whole run as a window has the numbers of the profile, and two
// halves add up to it.
func TestWindow(t *testing.T) {
	for _, name := range []string{"otf2/ring16", "otf2/halo16"} {
		tr, err := Open(t.Context(), test.Shared(t, name+"/traces.otf2"))
		if err != nil {
			t.Fatal(err)
		}
		whole, profile := tr.Window(tr.First, tr.Last+1), tr.Profile()
		if got, want := whole.Wait, [waitPatterns]int64{profile.Waits.LateSender, profile.Waits.LateReceiver, profile.Waits.Collective}; got != want {
			t.Errorf("%s: waiting %v, want %v", name, got, want)
		}
		messages := func(bins []SizeBin) (n int64) {
			for _, b := range bins {
				n += b.Messages
			}
			return n
		}
		if n := messages(whole.Sizes); n != int64(tr.Messages()) {
			t.Errorf("%s: %d messages, want %d", name, n, tr.Messages())
		}
		middle := tr.First + (tr.Last-tr.First)/3
		a, b := tr.Window(tr.First, middle), tr.Window(middle, tr.Last+1)
		if a.MPI+b.MPI != whole.MPI || a.Computing+b.Computing != whole.Computing || messages(a.Sizes)+messages(b.Sizes) != messages(whole.Sizes) {
			t.Errorf("%s: %d + %d in MPI, %d in all; %d + %d computing, %d in all", name, a.MPI, b.MPI, whole.MPI, a.Computing, b.Computing, whole.Computing)
		}
		for p := range waitPatterns {
			if a.Wait[p]+b.Wait[p] != whole.Wait[p] {
				t.Errorf("%s: waiting %d + %d, %d in all", name, a.Wait[p], b.Wait[p], whole.Wait[p])
			}
		}
	}
}
