package server

import (
	"net/http"
	"slices"
	"testing"

	"isobath/internal/dataset"
	"isobath/internal/spiral"
)

func demoCycles(t *testing.T) (*Server, []*Run) {
	t.Helper()
	runs, err := NewLoader(dataset.Options{}).DemoCycles()
	if err != nil {
		t.Fatal(err)
	}
	s := newTestServer(t, nil)
	for _, r := range runs {
		s.Add(r)
	}
	return s, runs
}

// TestDemoCycles: the recordings hold what the paper describes for its figures
// 7 to 9, on our own programs.
func TestDemoCycles(t *testing.T) {
	s, runs := demoCycles(t)
	for name, want := range map[string][]int64{ // turns that must be found
		"bubble sort, reversed":             {10, 4, 6}, // comparisons; passes; 6 + 4 are duals
		"bubble sort, sorted":               {4},
		"bubble sort, shuffled":             {5, 3},
		"bubble sort of a vector, reversed": {10, 4, 14},
		"bubble sort of a vector, sorted":   {4},
		"matrix multiplication":             {64, 16, 4}, // k, j, i
		"matrix multiplication, blocked":    {64, 32, 16},
		"particles to grid":                 {96, 24},
	} {
		i := slices.IndexFunc(runs, func(r *Run) bool { return r.Name == name })
		if i < 0 {
			t.Fatalf("no run %q", name)
		}
		info := post[CyclesInfo](t, s, "/api/v1/runs/"+runs[i].ID+"/cycles", CyclesAsk{Thread: -1})
		for _, turns := range want {
			if !slices.ContainsFunc(info.Classes, func(c CyclesClass) bool { return c.Exact && c.Turns == turns }) {
				t.Errorf("%s: no class has %d turns", name, turns)
			}
		}
		if !info.HasLines || len(runs[i].sources()) == 0 || !runs[i].sources()[0].Found {
			t.Errorf("%s: lines %v, sources %v", name, info.HasLines, runs[i].sources())
		}
	}
}

func TestSpiral(t *testing.T) {
	s, runs := demoCycles(t)
	path := "/api/v1/runs/" + runs[0].ID + "/cycles"
	ask := SpiralAsk{CyclesAsk: CyclesAsk{Thread: -1}, Class: 0, Other: 1, Radii: 100, Angles: 360, Columns: 200}
	a := post[SpiralAnswer](t, s, path+"/spiral", ask)
	if !a.Whole || a.Columns[a.Lift].Length != 288 || a.Columns[a.Turns].Length != 10 || a.Columns[a.Passes].Length != 4 {
		t.Errorf("lift of %d windows, %d turns, %d passes; want 288, 10, 4", a.Columns[a.Lift].Length, a.Columns[a.Turns].Length, a.Columns[a.Passes].Length)
	}
	list := post[[]spiral.Reference](t, s, path+"/references", ReferencesAsk{CyclesAsk: CyclesAsk{Thread: -1}, First: 10, Last: 20})
	if len(list) != 10 || list[0].Record != 10 || list[0].File != "bubble_array.c" {
		t.Errorf("references %+v", list)
	}
	cloud := post[ProjectionAnswer](t, s, path+"/projection", ProjectionAsk{CyclesAsk: CyclesAsk{Thread: -1}, Method: "mds"})
	if len(cloud.X) != 49 {
		t.Errorf("%d points, want 49", len(cloud.X))
	}
	other := post[CyclesInfo](t, s, path, CyclesAsk{Thread: -1, Symbol: "addr", Window: 6})
	if other.Symbol != "addr" || other.Window != 6 {
		t.Errorf("asked for addresses in windows of 6, got %s in %d", other.Symbol, other.Window)
	}
}

func TestCyclesRefusals(t *testing.T) {
	s, runs := demoCycles(t)
	path := "/api/v1/runs/" + runs[0].ID + "/cycles"
	for name, c := range map[string]struct{ path, body string }{
		"samples are no references": {"/api/v1/runs/six/cycles", `{}`},
		"window too long":           {path, `{"thread":-1,"window":65}`},
		"unknown symbol":            {path, `{"thread":-1,"symbol":"taste"}`},
		"no such thread":            {path, `{"thread":12345678}`},
		"range backwards":           {path, `{"thread":-1,"from":9,"to":3}`},
		"no such class":             {path + "/spiral", `{"thread":-1,"class":99,"radii":10,"angles":10,"columns":10}`},
		"huge spiral":               {path + "/spiral", `{"thread":-1,"radii":1000000,"angles":10,"columns":10}`},
		"too many references":       {path + "/references", `{"thread":-1,"first":0,"last":1000000}`},
		"unknown projection":        {path + "/projection", `{"thread":-1,"method":"guess"}`},
	} {
		if w := do(s, "POST", c.path, c.body, "Content-Type", "application/json"); w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}
