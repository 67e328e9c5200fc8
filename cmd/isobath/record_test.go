package main

import (
	"testing"

	"github.com/isobath/isobath/internal/data/run"
)

// What a recording says at its end about addresses: how each was found, which are
// missing, and what that hides. The parts make up the whole.
func TestAddressesSaid(t *testing.T) {
	for name, tt := range map[string]struct {
		recording run.Recording
		want      string
	}{
		"all before": {run.Recording{Samples: 40, Addresses: map[string]int{"back 1": 30, "back 2": 10}}, "100.0 % with an address"},
		"every way": {run.Recording{Samples: 200, Addresses: map[string]int{"back 1": 80, "back 3, unverified": 20, "again 4": 40, "direct": 10, "forward 2": 6, "none: clobbered": 24, "none: vector": 6, "none: behind a copy": 10, "none: desync": 4}},
			"78.0 % with an address (50.0 % of the access before the interrupt, 20.0 % of the same instruction's next access, 8.0 % of the access after it); " +
				"20.0 % have the instruction but no address, so their objects look smaller than they are; 2.0 % are lost: no access is near or it is not known which, so some objects may look smaller than they are"},
		"none": {run.Recording{Samples: 5, Addresses: map[string]int{"none: desync": 5}},
			"0.0 % with an address; 100.0 % are lost: no access is near or it is not known which, so some objects may look smaller than they are"},
		"in the kernel": {run.Recording{Samples: 100, Addresses: map[string]int{"back 1": 60, "kernel": 40}, InKernel: map[string]int{"page fault": 40}},
			"40.0 % in the kernel (page fault 40.0 %); of the others 100.0 % with an address"},
	} {
		if got := addresses(&tt.recording); got != tt.want {
			t.Errorf("%s: %q\nwant %q", name, got, tt.want)
		}
	}
}
