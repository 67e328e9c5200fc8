package main

import (
	"path/filepath"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/locality/answer"
)

// TestLocalityVerbs: every trace of the fixtures has an answer, also those whose
// objects end in the middle of an element.
func TestLocalityVerbs(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	traces, err := filepath.Glob(filepath.Join(test.Fixture(t, "locality"), "traces", "*.csv*"))
	if err != nil || len(traces) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	for _, trace := range traces {
		for _, args := range [][]string{{"reuse", "--machine", "classic"}, {"whatif", "--topology", "zen3"}, {"advise", "--machine", "classic"}} {
			if err := runVerb(append(args, "--json", trace)...); err != nil {
				t.Errorf("%s %s: %v", args[0], filepath.Base(trace), err)
			}
		}
	}
}

func TestShownAdvice(t *testing.T) {
	all := make([]answer.Advice, 3)
	for top, want := range map[int]int{0: 3, 2: 2, 9: 3} {
		if got := len(shownAdvice(all, top)); got != want {
			t.Errorf("--top %d shows %d of 3, want %d", top, got, want)
		}
	}
}
