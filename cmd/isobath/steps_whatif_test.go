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

// TestStepsOpsPredicted: with --ops every operation says when it would begin and
// end in the changed run, and how much later the computation before it could end:
// without the 4 ms of rank 7 what follows them comes 4 ms earlier, and the others
// could have come that much later to the collective that they hold up.
func TestStepsOpsPredicted(t *testing.T) {
	path := haloTrace(t)
	type op struct {
		Process, Step, Enter, Exit int64
		Kind                       string
		PredictedEnter             *int64 `json:"predicted_enter"`
		PredictedExit              *int64 `json:"predicted_exit"`
		Slack                      *int64
	}
	ops := func(args ...string) []op {
		out, err := stepsOutput(t, append([]string{"--json", "--ops", path}, args...)...)
		if err != nil {
			t.Fatal(err)
		}
		var r struct{ Ops []op }
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatal(err)
		}
		return r.Ops
	}
	for _, o := range ops("--whatif", "rank 7 at step 8 - 4ms") {
		if o.PredictedEnter == nil || o.PredictedExit == nil || o.Slack == nil {
			t.Fatalf("%+v is not whole", o)
		}
		earlier := o.Exit - *o.PredictedExit
		if o.Step < 8 && (earlier != 0 || o.Enter != *o.PredictedEnter) || o.Step > 8 && (earlier < 3_900_000 || earlier > 4_000_000) {
			t.Errorf("%+v ends %d ns earlier", o, earlier)
		}
		if o.Step == 8 && o.Kind == "collective" && (*o.Slack == 0) != (o.Process == 7) || o.Step == 8 && o.Process != 7 && (*o.Slack < 3_900_000 || *o.Slack > 4_100_000) {
			t.Errorf("%+v has %d ns of slack", o, *o.Slack)
		}
	}
	for _, o := range ops() {
		if o.PredictedEnter != nil {
			t.Fatalf("%+v is predicted, though nothing changes", o)
		}
	}
	if out, err := stepsOutput(t, path); err != nil || !strings.Contains(out, "slack: half of the computations could each end") {
		t.Errorf("%v\n%s", err, out)
	}
}
