package tree_test

import (
	"path/filepath"
	"testing"

	"github.com/isobath/isobath/internal/record/reftrace"
)

// TestLeftOut holds that counts are not shown as exact where the compiler kept
// nothing of a turn or of an entry: gcc begins drawn41008's 'c[v9 & 63] -= v9' with
// the second turn, the first of which does nothing, and in drawn41001 only the test
// is left of a copy of h0's loop, right before the code of another. In drawn52005 two
// copies of a loop that only calls are not two parts of its body. The loop that ends
// queues is left by what its only statement calls, at the end of the turn before. Of
// a loop of drawn330052 only the test at the end of a turn is left, which looks like
// the one at its beginning. Turns of leftearly end before its loop, by their break.
func TestLeftOut(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles and steps programs")
	}
	for _, at := range []struct{ name, level string }{{"drawn41008", "-O2"}, {"drawn41008", "-O3"}, {"drawn41001", "-O3"}, {"drawn52005", "-O1"}, {"queues", "-O2"}, {"drawn330052", "-O3"}, {"leftearly", "-O2"}} {
		t.Run(at.name+" "+at.level, func(t *testing.T) {
			sources, err := filepath.Glob(filepath.Join("testdata/programs", at.name+".c*"))
			if err != nil || len(sources) != 1 {
				t.Fatal(sources, err)
			}
			program, want := compile(t, sources[0], at.level)
			checkLoops(t, at.name+" "+at.level, recordTree(t, program, reftrace.Step), want, uncertain(t))
		})
	}
}
