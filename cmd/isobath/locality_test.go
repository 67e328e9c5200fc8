package main

import (
	"path/filepath"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
)

// TestLocalityVerbs: every trace of the fixtures has an answer, also those whose
// objects end in the middle of an element.
func TestLocalityVerbs(t *testing.T) {
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
