package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/messages/mpiprog"
)

// haloTrace simulates 12 ranks; rank 7 is late by 4 ms in the third of five
// iterations.
func haloTrace(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "halo.otf2")
	p, err := mpiprog.New(path, 12)
	if err != nil {
		t.Fatal(err)
	}
	p.Halo(3, 4, 5, 7, 2, 4_000_000)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func stepsOutput(t *testing.T, args ...string) (string, error) {
	t.Helper()
	root := newRoot()
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetArgs(append([]string{"steps"}, args...))
	err := root.ExecuteContext(context.Background())
	return out.String(), err
}

func TestStepsJSON(t *testing.T) {
	path := haloTrace(t)
	out, err := stepsOutput(t, "--json", "--ops", "--critical", "--clusters", "--profile", path)
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Processes, Operations, Messages, Collectives, Partitions, Steps int
		Options                                                         map[string]any
		Top                                                             []struct {
			Process, Amount, Waiting int
			Kind                     string
		}
		Ops []struct {
			Process, Enter, Exit, Partition, Step int
			Name, Kind                            string
			Lateness, Differential                int
			GlobalLateness                        int `json:"global_lateness"`
			GlobalDifferential                    int `json:"global_differential"`
		}
		Critical map[string]any `json:"critical_path"`
		Clusters map[string]any
		Profile  map[string]any
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	got := []int{r.Processes, r.Operations, r.Messages, r.Collectives, r.Partitions, r.Steps, len(r.Ops)}
	want := []int{12, 180, 170, 5, 10, 15, 180}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("counts %v, want %v", got, want)
	}
	if len(r.Top) == 0 || r.Top[0].Process != 7 || r.Top[0].Kind != "compute" || r.Top[0].Amount != 4_000_000 || r.Top[0].Waiting != 11 {
		t.Errorf("top %+v; want rank 7, compute, 4000000, 11 waiting", r.Top)
	}
	kinds := map[string]int{}
	for _, op := range r.Ops {
		kinds[op.Kind]++
	}
	if kinds["send"] != 60 || kinds["recv"] != 60 || kinds["collective"] != 60 {
		t.Errorf("kinds %v, want 60 of each", kinds)
	}
	if r.Critical == nil || r.Clusters == nil || r.Profile == nil || r.Options["coalesce"] != true {
		t.Errorf("parts are missing: %v", out[:400])
	}
}

func TestStepsTSV(t *testing.T) {
	out, err := stepsOutput(t, "--tsv", "--all", haloTrace(t))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 1+180+168 { // a computation before every operation but the first of each rank
		t.Errorf("%d lines, want 349", len(lines))
	}
	head := strings.Split(lines[0], "\t")
	for _, l := range lines {
		if n := len(strings.Split(l, "\t")); n != len(head) {
			t.Fatalf("%d columns in %q, want %d", n, l, len(head))
		}
	}
}

// TestStepsText: the list fits a terminal and begins with the late rank.
func TestStepsText(t *testing.T) {
	out, err := stepsOutput(t, "--critical", "--clusters", "--profile", haloTrace(t))
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(out) {
		if n := len([]rune(strings.TrimRight(l, "\n"))); n > 80 {
			t.Errorf("%d columns: %s", n, l)
		}
	}
	for _, want := range []string{"10 partitions, 15 steps", "stencil on a 3 x 4 grid", "rank 7 before MPI_Allreduce in main at step 8: 4.00 ms more", "11 other ranks wait less"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestStepsErrors(t *testing.T) {
	path := haloTrace(t)
	for _, tt := range []struct {
		args  []string
		usage bool
		want  string
	}{
		{nil, true, "want one TRACE"},
		{[]string{"--range", "9:3", path}, true, "want A:B"},
		{[]string{"--phases", "nowhere", path}, false, "no process enters"},
		{[]string{filepath.Join(t.TempDir(), "none.otf2")}, false, "no such file"},
	} {
		_, err := stepsOutput(t, tt.args...)
		if err == nil || !strings.Contains(err.Error(), tt.want) || errors.As(err, new(usageError)) != tt.usage {
			t.Errorf("steps %v: %v; want %q, usage %v", tt.args, err, tt.want, tt.usage)
		}
	}
}

// TestStepsCompare: the delay is the one change against a run without it, as text
// and as JSON.
func TestStepsCompare(t *testing.T) {
	late, even := haloTrace(t), filepath.Join(t.TempDir(), "even.otf2")
	p, err := mpiprog.New(even, 12)
	if err != nil {
		t.Fatal(err)
	}
	p.Halo(3, 4, 5, -1, 0, 0)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := stepsOutput(t, "--json", "--compare", even, late)
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Merges  []struct{ Name string }
		Compare struct {
			Matched, Moved int
			OnlyHere       int `json:"only_here"`
			OnlyThere      int `json:"only_there"`
			Span           int
			Top            []struct {
				Process, Amount int
				Kind            string
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	c := r.Compare
	if c.OnlyHere+c.OnlyThere+c.Moved != 0 || c.Span < 3_990_000 || c.Span > 4_000_000 || len(c.Top) != 1 || c.Top[0].Process != 7 || c.Top[0].Amount != 4_000_000 || c.Top[0].Kind != "compute" {
		t.Errorf("compared: %+v", c)
	}
	if len(r.Merges) == 0 {
		t.Error("no merge is told")
	}
	if out, err = stepsOutput(t, "--compare", even, late); err != nil || !strings.Contains(out, "rank 7 computed 4.00 ms longer before") {
		t.Errorf("%v: %s", err, out)
	}
	cmd := newDiff()
	var same bytes.Buffer
	cmd.SetOut(&same)
	cmd.SetArgs([]string{even, late})
	if err := cmd.Execute(); err != nil || !strings.HasSuffix(out, same.String()) || same.Len() == 0 {
		t.Errorf("diff says otherwise (%v): %s", err, same.String())
	}
	if _, err = stepsOutput(t, "--compare", filepath.Join(t.TempDir(), "none.otf2"), late); err == nil {
		t.Error("a trace that is not there is compared with")
	}
	if _, err = stepsOutput(t, "--phases", "step:3,time:soon", late); err == nil || !strings.Contains(err.Error(), "time:1.5ms") {
		t.Errorf("a wrong phase: %v", err)
	}
}
