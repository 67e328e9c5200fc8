package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/messages/whatif"
)

// TestStepsWhatIf: every kind of change on a halo exchange whose rank 7 computes
// 4 ms longer once.
func TestStepsWhatIf(t *testing.T) {
	path := haloTrace(t)
	tests := []struct {
		changes  []string
		min, max int64 // of the gain, ns
	}{
		{[]string{"cause 1"}, 3_900_000, 4_000_000},
		{[]string{"rank 7 = median"}, 3_900_000, 4_000_000},
		{[]string{"rank 7 at step 8 - 1ms"}, 1_000_000, 1_000_000},
		{[]string{"rank 7 at step 8 + 1ms"}, -1_000_000, -1_000_000},
		{[]string{"step 8 = median"}, 3_900_000, 4_000_000},
		{[]string{"function main * 0"}, 4_000_000, 5_000_000},
		{[]string{"rank 7 * 0.5"}, 2_000_000, 2_100_000},
		{[]string{"no MPI_Allreduce", "undisturbed"}, 0, 1_000_000},
		{[]string{"network = ideal"}, 10_000, 1_000_000},
		{[]string{"latency * 2"}, -1_000_000, -10_000},
	}
	for _, tt := range tests {
		args := []string{"--json", path}
		for _, c := range tt.changes {
			args = append(args, "--whatif", c)
		}
		out, err := stepsOutput(t, args...)
		if err != nil {
			t.Fatalf("%v: %v", tt.changes, err)
		}
		var r whatif.Ranking
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatal(err)
		}
		if w := r.WhatIf; w.GainNS < tt.min || w.GainNS > tt.max || w.GainNS != w.Recorded-w.Span || w.Low > w.Span || w.High < w.Span {
			t.Errorf("%v gains %d ns (%d between %d and %d), want %d to %d", tt.changes, w.GainNS, w.Span, w.Low, w.High, tt.min, tt.max)
		}
	}
	for change, want := range map[string]string{
		"rank 40 = median":   "there is no rank 40",
		"function mian * 2":  "has no function",
		"step 99 = median":   "steps 0 to 14",
		"cause 0":            "causes",
		"faster":             "want cause, rank",
		"no MPI_Bcast":       "no MPI_Bcast there",
		"map 0,1":            "want 12 places",
		"eager = lots":       "want a size",
		"rank 3 = 7":         "want = median",
		"latency":            "latency * 2",
		"partition 99 * 0.5": "partitions 0 to",
	} {
		_, err := stepsOutput(t, "--whatif", change, path)
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, new(usageError)) {
			t.Errorf("%q: %v; want %q", change, err, want)
		}
	}
	if out, err := stepsOutput(t, "--whatif", "cause 1", path); err != nil || !strings.Contains(out, "cause 1: ≈ ") {
		t.Errorf("%v\n%s", err, out)
	}
}
