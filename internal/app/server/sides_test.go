package server

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/app/server/memory"
	"github.com/isobath/isobath/internal/app/sides"
	"github.com/isobath/isobath/internal/memory/compare"
)

// TestSides opens three runs of A beside three of B: what is said of the change is
// what a comparison of the six by themselves says, and every run has its own cost.
func TestSides(t *testing.T) {
	random := rand.New(rand.NewPCG(25, 4))
	folder := t.TempDir()
	var paths [2][]string
	for side, slower := range []float64{1, 2} {
		for i := range 3 {
			own := 1 + .05*float64(i)
			main := 4000 + 10*i + side // what the system calls threads is other in every run
			var text strings.Builder
			fmt.Fprintln(&text, "time,cpu,pid,tid,latency,function,symbol")
			for k := range 600 {
				thread := main + k%2
				fmt.Fprintf(&text, "%d,%d,%d,%d,%d,%s,stack %d\n", k, k%2, main, thread, int(own*slower*float64(20+random.IntN(100))), []string{"solve", "pack", "copy"}[k%3], thread)
			}
			path := filepath.Join(folder, fmt.Sprintf("%c%d.csv", 'a'+side, i))
			if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			paths[side] = append(paths[side], path)
		}
	}
	runs, err := NewLoader(dataset.Options{}).Sides(t.Context(), paths[0], paths[1])
	if err != nil {
		t.Fatal(err)
	}
	s := newTestServer(t, nil)
	for _, r := range runs {
		s.Add(r)
	}
	base := "/api/v1/runs/" + runs[0].ID + "," + runs[1].ID
	if info := get[frame.Info](t, do(s, "GET", base, ""), http.StatusOK); info.Pair == nil || info.Pair.Each != 3 || info.Pair.A.Name != "a0.csv and 2 more" || info.Rows != 6*600 {
		t.Fatalf("%+v", info)
	}

	var apart [2][]compare.Run
	for i := range paths {
		for _, path := range paths[i] {
			set, err := dataset.Open(t.Context(), path, dataset.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer set.Close()
			apart[i] = append(apart[i], sides.Run(filepath.Base(path), set, nil))
		}
	}
	costs := map[string]float64{}
	for _, by := range []string{"function", "symbol", "tid"} {
		want, err := compare.Runs(t.Context(), apart[0], apart[1], compare.Options{Questions: []compare.Question{{By: []string{by}, Metric: compare.Cost}}})
		if err != nil {
			t.Fatal(err)
		}
		got := get[memory.Compared](t, do(s, "POST", base+"/compare", `{"by":["`+by+`"]}`), http.StatusOK)
		if got.Design != string(compare.Sides) || len(got.Groups) != len(want.Groups) || len(got.Groups) < 2 {
			t.Fatalf("by %s: design %s, %d groups, want %d", by, got.Design, len(got.Groups), len(want.Groups))
		}
		rows := []struct {
			got  memory.ComparedRow
			want compare.Row
		}{{got.Whole, want.Whole}}
		for i := range got.Groups {
			rows = append(rows, struct {
				got  memory.ComparedRow
				want compare.Row
			}{got.Groups[i], want.Groups[i]})
		}
		for _, r := range rows {
			near := func(x, y float64) bool { return math.Abs(x-y) <= 1e-9*math.Abs(y) }
			if r.got.Label != r.want.Label || !near(r.got.A.Cost, r.want.A.Cost) || !near(r.got.B.Cost, r.want.B.Cost) || !near(*r.got.Low, *r.want.Low) || !near(*r.got.High, *r.want.High) || r.got.Verdict != string(r.want.Verdict) {
				t.Errorf("by %s: %+v, want %+v", by, r.got, r.want)
			}
		}
		for _, c := range slices.Concat(got.RunsA, got.RunsB) {
			costs[c.Name] = c.Cost
		}
		for i, c := range got.RunsB {
			if c.Name != filepath.Base(paths[1][i]) || c.Cost != want.B.Costs[i] {
				t.Errorf("run %d of B is %+v, want %v", i, c, want.B.Costs[i])
			}
		}
		if len(got.RunsA) != 3 || len(got.RunsB) != 3 {
			t.Errorf("%d and %d runs have a cost of their own", len(got.RunsA), len(got.RunsB))
		}
	}
	// A selection that names runs is about these: one of either side is one run a side.
	for _, tt := range []struct {
		where  string
		a, b   int
		design compare.Design
	}{
		{"run = a1.csv | run = b2.csv", 1, 1, compare.One},
		{"run in (a0.csv, a1.csv, b0.csv, b2.csv) & function = solve", 2, 2, compare.Sides},
		{"!(run = a1.csv) & latency > 30", 2, 3, compare.Sides},
		{"run ~ nothing", 3, 3, compare.Sides},
		{"run = a1.csv | function = solve", 3, 3, compare.Sides},
	} {
		got := get[memory.Compared](t, do(s, "POST", base+"/compare", `{"by":["function"],"where":`+strconv.Quote(tt.where)+`}`), http.StatusOK)
		if a, b := max(len(got.RunsA), 1), max(len(got.RunsB), 1); a != tt.a || b != tt.b || got.Design != string(tt.design) {
			t.Errorf("%s: %d runs against %d, %s", tt.where, a, b, got.Design)
		}
	}
	two := get[memory.Compared](t, do(s, "POST", base+"/compare", `{"by":["function"],"where":"run = a1.csv | run = b2.csv"}`), http.StatusOK)
	if two.Whole.A.Cost != costs["a1.csv"] || two.Whole.B.Cost != costs["b2.csv"] || two.Whole.A.Cost == 0 {
		t.Errorf("%+v", two.Whole)
	}
	found := get[memory.WhatChanged](t, do(s, "POST", base+"/changes", `{}`), http.StatusOK)
	if !strings.Contains(found.Sentence, "3 runs against 3") || len(found.Changes) == 0 || !found.Changes[0].Sure {
		t.Errorf("%+v", found)
	}
	// One run of a side is a selection as any other.
	one := get[memory.Compared](t, do(s, "POST", "/api/v1/runs/"+runs[0].ID+"/compare", `{"with":`+strconv.Quote(runs[1].ID)+`,"by":["function"]}`), http.StatusOK)
	if one.Design != string(compare.Sides) || len(one.RunsA) != 3 {
		t.Errorf("compared with another run that is open: %s, %v", one.Design, one.RunsA)
	}

	alone, err := NewLoader(dataset.Options{}).Open(t.Context(), paths[1][0], func(frame.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	s.Add(alone)
	if w := do(s, "GET", "/api/v1/runs/"+runs[0].ID+","+alone.ID, ""); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "A is 3 runs and B 1 run") {
		t.Errorf("three runs beside one: %d %s", w.Code, w.Body)
	}
}
