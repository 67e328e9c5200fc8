package tree_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/loops/tree"
	"github.com/isobath/isobath/internal/record/reftrace"
	"github.com/isobath/isobath/internal/record/target"
)

// A recording that ends at its limit says so: no loop that was under way is shown as
// exact, none has more turns than in the whole, and those whose loops around them
// have all come to their end have as many.
func TestLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles and steps programs")
	}
	for _, name := range []string{"matmul.c -O0", "matmul.c -O2", "quicksort.c -O1", "nested.c -O2", "saxpys.c -O3"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, level, _ := strings.Cut(name, " ")
			program, want := compile(t, filepath.Join("testdata/programs", source), level)
			whole := recordTree(t, program, reftrace.Step)
			if whole.Stopped {
				t.Error("the whole recording is said to have been cut")
			}
			for i := range whole.Loops {
				if whole.Loops[i].AtLeast {
					t.Errorf("line %d: at least, in the whole recording", whole.Loops[i].Line)
				}
			}
			seen := 0
			for _, part := range []uint64{1, 2, 5, 7} {
				limit := whole.References*part/8 + part
				got := recordTreeWith(t, program, reftrace.Options{Region: target.Region{Function: "run"}, Backend: reftrace.Step, Limit: limit})
				if !got.Stopped || !slices.ContainsFunc(got.Notes, func(s string) bool { return strings.Contains(s, "ended before") }) {
					t.Errorf("%d references: not said to have been cut: %q", limit, got.Notes)
				}
				seen += checkCut(t, got, want, limit)
			}
			if seen == 0 {
				t.Error("no loop has a least number of turns")
			}
		})
	}
}

// checkCut returns how many loops have least numbers.
func checkCut(t *testing.T, got *tree.Tree, want []truth, limit uint64) (least int) {
	t.Helper()
	checkAgree(t, got)
	for i := range got.Loops {
		l := &got.Loops[i]
		at := slices.IndexFunc(want, func(w truth) bool { return w.line == l.Line })
		if at < 0 || l.Kind != tree.Plain {
			continue
		}
		w := want[at]
		if l.AtLeast {
			least++
			if l.Exact {
				t.Errorf("%d references, line %d: exact and at least", limit, l.Line)
			}
		}
		if (l.Exact || l.AtLeast) && (l.Entries > w.entries || l.Trips.Trips > w.turns) {
			t.Errorf("%d references, line %d: %d entries, %d trips, and the whole has %d and %d", limit, l.Line, l.Entries, l.Trips.Trips, w.entries, w.turns)
		}
		if p := l.Parent; l.Exact && p >= 0 && got.Loops[p].Exact && got.Loops[p].Entries == 1 && (l.Entries != w.entries || l.Trips.Trips != w.turns) {
			t.Errorf("%d references, line %d: %d entries, %d trips, want %d and %d: all around it has ended", limit, l.Line, l.Entries, l.Trips.Trips, w.entries, w.turns)
		}
	}
	return least
}
