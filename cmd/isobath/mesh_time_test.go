package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestMeshInTime: the five samples of small in space and time, added up by hand.
func TestMeshInTime(t *testing.T) {
	samples, dumps := small(t)
	out, err := meshOutput(t, samples, "--mesh", dumps, "--mode", "only", "--over-time", "--by", "rho", "--line", "-1,0.5,0.5:4,0.5,0.5",
		"--correlate", "rho", "--min-samples", "9", "--json")
	if err == nil {
		t.Fatalf("three cells are correlated: %s", out)
	}
	out, err = meshOutput(t, samples, "--mesh", dumps, "--mode", "only", "--over-time", "--by", "rho", "--line", "-1,0.5,0.5:4,0.5,0.5", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var a struct {
		OverTime struct {
			Iterations []int64 `json:"iterations"`
			After      int     `json:"after"`
			Rows       []struct {
				Label   string     `json:"label"`
				Values  []*float64 `json:"values"`
				Samples []int      `json:"samples"`
			} `json:"rows"`
		} `json:"over_time"`
		Line []struct {
			Cell  int      `json:"cell"`
			Value *float64 `json:"value"`
		} `json:"line"`
	}
	if err := json.Unmarshal([]byte(out), &a); err != nil {
		t.Fatal(err)
	}
	o := a.OverTime
	// Samples 10 and 30 of cell 0 up to dump 5, 50 of cell 2 up to dump 10; 90 is later.
	if len(o.Rows) != 3 || o.After != 1 || o.Rows[0].Values[0] == nil || *o.Rows[0].Values[0] != 20 || o.Rows[0].Samples[0] != 2 ||
		o.Rows[0].Values[1] != nil || o.Rows[1].Values[0] != nil || o.Rows[2].Values[1] == nil || *o.Rows[2].Values[1] != 50 {
		t.Errorf("over time: %s", out)
	}
	if len(a.Line) != 3 || a.Line[0].Cell != 0 || a.Line[2].Cell != 2 || a.Line[2].Value == nil || *a.Line[2].Value != 50 || a.Line[0].Value != nil {
		t.Errorf("line: %s", out)
	}
	for name, tt := range map[string]struct {
		args []string
		want string
	}{
		"change needs only": {[]string{"--change-from", "5"}, "--mode only"},
		"change of no dump": {[]string{"--mode", "only", "--change-from", "6"}, "no dump of that iteration"},
		"front of a sum":    {[]string{"--field", "latency_sum", "--front", "rho"}, "average"},
		"half a line":       {[]string{"--line", "0,0,0"}, "two points"},
		"no such cell":      {[]string{"--over-time", "--cells", "3"}, "3 cells"},
		"no such variable":  {[]string{"--over-time", "--by", "p"}, "rho"},
	} {
		if out, err := meshOutput(t, append([]string{samples, "--mesh", dumps}, tt.args...)...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v %s; want %q", name, err, out, tt.want)
		}
	}
	for _, args := range [][]string{{"--over-time"}, {"--over-time", "--cells", "0,2"}, {"--front", "rho"}, {"--mode", "only", "--change-from", "5"}} {
		out, err := meshOutput(t, append([]string{samples, "--mesh", dumps}, args...)...)
		if err != nil || strings.Contains(out, "NaN") {
			t.Errorf("%v: %v %s", args, err, out)
		}
	}
}
