package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/base/test"
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

// TestMeshOfTrace: the lateness of ranks lies on the cells that they own, and is the mean
// over the operations that the verb steps lists.
func TestMeshOfTrace(t *testing.T) {
	archive := test.Fixture(t, "otf2/ring16")
	list, err := stepsOutput(t, archive, "--tsv", "--clocks", "recorded")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(list), "\n")
	head := strings.Split(lines[0], "\t")
	rankAt, lateAt := slices.Index(head, "process"), slices.Index(head, "lateness")
	if rankAt < 0 || lateAt < 0 {
		t.Fatalf("columns %q", head)
	}
	sum, count := map[int]float64{}, map[int]float64{}
	for _, l := range lines[1:] {
		f := strings.Split(l, "\t")
		rank, _ := strconv.Atoi(f[rankAt])
		late, err := strconv.ParseFloat(f[lateAt], 64)
		if err != nil {
			t.Fatal(err)
		}
		sum[rank] += late
		count[rank]++
	}
	if len(sum) != 16 {
		t.Fatalf("%d ranks", len(sum))
	}
	var rows strings.Builder
	fmt.Fprintln(&rows, "x,y,z,rank,latency")
	for c := range 64 { // a rank owns four cells beside each other
		fmt.Fprintf(&rows, "%d,%d,%d,%d,%d\n", c%16, c/16%2, c/32, c%16, 100+c%7)
	}
	file := filepath.Join(t.TempDir(), "ranks.csv")
	if err := os.WriteFile(file, []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := meshOutput(t, file, "--dims", "16x2x2", "--trace", archive, "--line", "0,0.5,0.5:16,0.5,0.5", "--correlate", "lateness of its rank", "--rank", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var a struct {
		Line []struct {
			Cell      int                 `json:"cell"`
			Variables map[string]*float64 `json:"variables"`
		} `json:"line"`
		Ranked []struct {
			Variable string `json:"variable"`
			Subject  string `json:"subject"`
		} `json:"ranked"`
	}
	if err := json.Unmarshal([]byte(out), &a); err != nil {
		t.Fatal(err)
	}
	if len(a.Line) != 16 {
		t.Fatalf("%d cells on the line", len(a.Line))
	}
	for _, p := range a.Line {
		rank := p.Cell % 16
		want, got := sum[rank]/count[rank], p.Variables["lateness of its rank"]
		if got == nil || math.Abs(*got-want) > 1e-6*max(1, want) {
			t.Fatalf("cell %d of rank %d: %v, want %v ns", p.Cell, rank, got, want)
		}
	}
	subjects := map[string]string{}
	for _, r := range a.Ranked {
		subjects[r.Variable] = r.Subject
	}
	if subjects["owner rank"] != "placement" || subjects["lateness of its rank"] != "communication" || subjects["index x"] != "layers" {
		t.Errorf("subjects %v", subjects)
	}
}
