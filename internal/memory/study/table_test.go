package study

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/run"
)

func rowsOf(n int, edit func(i int, r *Row)) []*Row {
	var out []*Row
	for i := range n {
		r := &Row{Name: fmt.Sprintf("run-%03d", i), Manifest: &run.Manifest{Origin: kind.Origin{Host: "h", Command: []string{"./p", fmt.Sprint(1000 << (i % 5)), "same"}}, Recording: &run.Recording{}}}
		edit(i, r)
		out = append(out, r)
	}
	return out
}

func TestParameters(t *testing.T) {
	given, err := ReadParameters(strings.NewReader("run,threads,note\nrun-000.isobath,4,a\nrun-001,8,\n"))
	if err != nil {
		t.Fatal(err)
	}
	rows := rowsOf(2, func(i int, r *Row) {
		r.Manifest.Recording.Environment = map[string]string{"OMP_NUM_THREADS": fmt.Sprint(i), "HOME": "x"}
	})
	SetParameters(rows, given, []Pattern{{"id", regexp.MustCompile(`run-(\d+)`)}})
	want := "map[OMP_NUM_THREADS:1 arg1:2000 id:1 threads:8]"
	if got := fmt.Sprint(rows[1].Parameters); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if rows[0].Parameters["note"] != "a" {
		t.Errorf("%v", rows[0].Parameters)
	}
	for _, bad := range []string{"", "run", "run,n\na,1\na,2\n", "run,n\na,1,2\n", "run,n\n\"a"} {
		if _, err := ReadParameters(strings.NewReader(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}

// TestLook finds a law for each value of another parameter, and a step.
func TestLook(t *testing.T) {
	rows := rowsOf(40, func(i int, r *Row) {
		n, threads := float64(int(1000)<<(i%5)), float64(1+i/20)
		r.Parameters = map[string]any{"n": n, "threads": threads, "when": float64(i)}
		wobble := 1 + .01*float64(i*7%5-2)
		r.Set("cpu", n*n/threads*wobble, nil)
		step := 1.0
		if i >= 24 {
			step = 1.2
		}
		r.Set("cost of f", 100*step*wobble, map[string]any{"function": "f"})
	})
	for _, r := range rows {
		delete(r.Parameters, "when")
	}
	s, err := Look(rows, Options{Parameter: "n", Order: InOrder})
	if err != nil {
		t.Fatal(err)
	}
	squares := 0
	for _, l := range s.Laws {
		if l.Metric == "cpu" && l.Law.Text == "c + n^2" && len(l.Fixed) == 1 {
			squares++
		}
	}
	if squares != 2 {
		t.Errorf("laws %+v", s.Laws)
	}
	found := false
	for _, c := range s.Changes {
		if c.Metric == "cost of f" {
			found = c.At == 24 && c.Before == "run-023" && c.After == "run-024" && c.Low < .2 && c.High > .2 && c.Key["function"] == "f"
		}
	}
	if !found {
		t.Errorf("changes %+v", s.Changes)
	}
	if _, err := Look(rows, Options{Parameter: "colour"}); err == nil {
		t.Error("an unknown parameter is taken")
	}
	against := rowsOf(40, func(i int, r *Row) { *r = *rows[i] })
	if s, err = Look(rows, Options{Order: InOrder, Against: against}); err != nil || len(s.Changes) != 0 {
		t.Errorf("against itself: %+v, %v", s.Changes, err)
	}
}

// TestLookAtEndlessValues: runs whose metric is no number are left out of a series;
// the ratio of two endless ones is none either.
func TestLookAtEndlessValues(t *testing.T) {
	of := func(i int) float64 {
		if i%9 == 4 {
			return math.Inf(1)
		}
		return 100 + 30*float64(i/20) + float64(i%3)
	}
	rows := rowsOf(40, func(i int, r *Row) { r.Set("cpu", of(i), nil) })
	for _, against := range [][]*Row{nil, rowsOf(40, func(i int, r *Row) { r.Set("cpu", of(i%20), nil) })} {
		s, err := Look(rows, Options{Order: InOrder, Against: against})
		if err != nil || len(s.Changes) != 1 || s.Changes[0].After != "run-020" || !(s.Changes[0].Low > .25 && s.Changes[0].High < .35) {
			t.Errorf("%+v, %v", s.Changes, err)
		}
	}
}

func FuzzReadParameters(f *testing.F) {
	f.Add("run,n\na,1\n")
	f.Add("run,n\n\"a\nb\",1e999\n")
	f.Add("run,\"n\n")
	f.Fuzz(func(t *testing.T, text string) {
		g, err := ReadParameters(strings.NewReader(text))
		if err != nil {
			return
		}
		if len(g.Order) != len(g.Rows) {
			t.Errorf("%q: %d names, %d rows", text, len(g.Order), len(g.Rows))
		}
		rows := []*Row{{Name: "a", Manifest: &run.Manifest{}}}
		SetParameters(rows, g, nil)
	})
}

// TestOneParameterUnderTwoNames: a word of the command and what a pattern takes
// from the name are one parameter, and do not hold each other fixed.
func TestOneParameterUnderTwoNames(t *testing.T) {
	rows := rowsOf(15, func(i int, r *Row) {
		n := 100 << (i % 5)
		r.Name = fmt.Sprintf("grow-%d-%d", n, i/5)
		r.Manifest.Origin.Command = []string{"./p", fmt.Sprint(n), fmt.Sprint(n * n)}
		r.Set("cpu", float64(n)*(1+.01*float64(i%3)), nil)
	})
	SetParameters(rows, nil, []Pattern{{"n", regexp.MustCompile(`grow-(\d+)`)}})
	if got := fmt.Sprint(rows[1].Parameters); got != "map[arg2:40000 n:200]" {
		t.Errorf("parameters %s", got)
	}
	s, err := Look(rows, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, l := range s.Laws {
		got[l.Parameter] = l.Law.Text
	}
	if got["n"] != "c + n" || got["arg2"] != "c + n^(1/2)" {
		t.Errorf("laws %v", got)
	}
}

// FuzzRead: whatever a file says, it is refused or can be looked at and kept again.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"runs":[{"name":"a","parameters":{"n":1,"m":"x"},"metrics":{"cpu":1}}],"order":"n"}`))
	f.Add([]byte(`{"runs":[{},{},{},{},{},{},{},{},{},{}],"order":"given","parameter":"n"}`))
	f.Add([]byte(`{"runs":[{"metrics":{"a":1}}],"against":[{"metrics":{"a":0}},null]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Read(text)
		if err != nil {
			return
		}
		kept, err := json.Marshal(s)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if again, err := Read(kept); err != nil || len(again.Runs) != len(s.Runs) || len(again.Laws) != len(s.Laws) || len(again.Changes) != len(s.Changes) {
			t.Errorf("%s comes back as %s: %v", text, kept, err)
		}
	})
}
