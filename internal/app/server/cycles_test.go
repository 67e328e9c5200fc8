package server

import (
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/app/server/references"
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/kind"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/reftable"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/loops/spiral"
)

func demoCycles(t *testing.T) (*Server, []*frame.Run) {
	t.Helper()
	runs, err := NewLoader(dataset.Options{}).DemoCycles(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := newTestServer(t, nil)
	for _, r := range runs {
		s.Add(r)
	}
	return s, runs
}

// TestDemoCycles: the recordings hold, under the names they carry, what the
// paper describes for its figures 7 to 10, on our own programs.
func TestDemoCycles(t *testing.T) {
	test.NoRaces(t, requestsOneByOne)
	s, runs := demoCycles(t)
	if len(runs) != 9 {
		t.Errorf("%d runs, want 9", len(runs))
	}
	for name, want := range map[string][]int64{ // turns that must be found
		"bubble sort, reversed":             {10, 4, 6}, // comparisons; passes; 6 + 4 are duals
		"bubble sort, sorted":               {4},
		"bubble sort, shuffled":             {6, 4},
		"bubble sort of a vector, reversed": {10, 4, 14},
		"bubble sort of a vector, sorted":   {4},
		"bubble sort of a vector, shuffled": {6, 10, 4},
		"matrix multiplication":             {64, 16, 4}, // k, j, i
		"matrix multiplication, blocked":    {64, 32, 16},
		"particles to grid":                 {96, 24},
	} {
		i := slices.IndexFunc(runs, func(r *frame.Run) bool { return r.Name == name })
		if i < 0 {
			t.Fatalf("no run %q", name)
		}
		path := "/api/v1/runs/" + runs[i].ID + "/cycles"
		info := post[references.CyclesInfo](t, s, path, references.CyclesAsk{Thread: -1})
		for _, turns := range want {
			if !slices.ContainsFunc(info.Classes, func(c references.CyclesClass) bool { return c.Exact && c.Turns == turns }) {
				t.Errorf("%s: no class has %d turns", name, turns)
			}
		}
		if !info.HasLines || len(infoOf(t, runs[i]).Sources) == 0 || !infoOf(t, runs[i]).Sources[0].Found {
			t.Errorf("%s: lines %v, sources %v", name, info.HasLines, infoOf(t, runs[i]).Sources)
		}
		if len(info.Named) == 0 {
			t.Errorf("%s: nothing is named", name)
		}
		for k, n := range info.Named {
			there := post[references.CyclesInfo](t, s, path, references.CyclesAsk{Thread: -1, Symbol: n.Symbol, Window: n.Window}).Named[k]
			if there.Class < 0 {
				t.Errorf("%s: no class is %q by %s in windows of %d", name, n.Name, n.Symbol, n.Window)
			}
		}
	}
}

// TestDuals: of five shuffled numbers six comparisons swap and four do not, and
// both are found, as each other's dual.
func TestDuals(t *testing.T) {
	s, runs := demoCycles(t)
	i := slices.IndexFunc(runs, func(r *frame.Run) bool { return r.Name == "bubble sort, shuffled" })
	info := post[references.CyclesInfo](t, s, "/api/v1/runs/"+runs[i].ID+"/cycles", references.CyclesAsk{Thread: -1, Symbol: "line"})
	six, four := info.Classes[info.Named[0].Class], info.Classes[info.Named[1].Class]
	if six.Turns != 6 || four.Turns != 4 || six.Dual != info.Named[1].Class || four.Dual != info.Named[0].Class {
		t.Errorf("%d turns with dual %d, %d turns with dual %d", six.Turns, six.Dual, four.Turns, four.Dual)
	}
}

func TestSpiral(t *testing.T) {
	s, runs := demoCycles(t)
	path := "/api/v1/runs/" + runs[0].ID + "/cycles"
	class := references.ClassAsk{CyclesAsk: references.CyclesAsk{Thread: -1}, Class: 0, Other: 1}
	ask := references.SpiralAsk{ClassAsk: class, Radii: 100, Angles: 360, Columns: 200}
	a := post[references.SpiralAnswer](t, s, path+"/spiral", ask)
	if !a.Whole || a.Columns[a.Lift].Length != 288 || a.Columns[a.Turns].Length != 10 || a.Columns[a.Passes].Length != 4 {
		t.Errorf("lift of %d windows, %d turns, %d passes; want 288, 10, 4", a.Columns[a.Lift].Length, a.Columns[a.Turns].Length, a.Columns[a.Passes].Length)
	}
	list := post[[]spiral.Reference](t, s, path+"/references", references.ReferencesAsk{CyclesAsk: references.CyclesAsk{Thread: -1}, First: 10, Last: 20})
	if len(list) != 10 || list[0].Record != 10 || list[0].File != "bubble_array.c" || list[0].Object == "" {
		t.Errorf("references %+v", list)
	}
	sampled := post[[]spiral.Reference](t, s, path+"/references", references.ReferencesAsk{CyclesAsk: references.CyclesAsk{Thread: -1, Every: 2, From: 6}, First: 1, Last: 3})
	if len(sampled) != 2 || sampled[0].Order != 8 || sampled[1].Order != 10 || sampled[1].Address != list[0].Address {
		t.Errorf("sampled references %+v", sampled)
	}
	cloud := post[references.ProjectionAnswer](t, s, path+"/projection", references.ProjectionAsk{ClassAsk: class, Method: "mds"})
	if len(cloud.X) != 49 {
		t.Errorf("%d points, want 49", len(cloud.X))
	}
	other := post[references.CyclesInfo](t, s, path, references.CyclesAsk{Thread: -1, Symbol: "addr", Window: 6})
	if other.Symbol != "addr" || other.Window != 6 {
		t.Errorf("asked for addresses in windows of 6, got %s in %d", other.Symbol, other.Window)
	}
}

// TestColourings: what a walk is coloured by, with every reference in a group.
func TestColourings(t *testing.T) {
	s, runs := demoCycles(t)
	path := "/api/v1/runs/" + runs[0].ID + "/cycles/spiral"
	ask := references.SpiralAsk{ClassAsk: references.ClassAsk{CyclesAsk: references.CyclesAsk{Thread: -1}, Other: -1}, Radii: 100, Angles: 360, Columns: 200}
	for by, want := range map[string]map[string]int{
		"op":       {"load": 229, "store": 44, "modify": 24},
		"object":   {"stack": 237, "value": 60},
		"function": {"sort": 294, "main": 3},
	} {
		ask.Colour = by
		a := post[references.SpiralAnswer](t, s, path, ask)
		got := map[string]int{}
		for _, g := range a.Groups {
			got[g.Label] = g.Count
		}
		if !maps.Equal(got, want) {
			t.Errorf("by %s: %v, want %v", by, got, want)
		}
	}
	ask.Colour, ask.Toggled = "function", []string{"sort"}
	if a := post[references.SpiralAnswer](t, s, path, ask); len(a.Groups) < 9 || a.Structures[slices.IndexFunc(a.Structures, func(k spiral.Structure) bool { return k.Function == "sort" })].Folded {
		t.Errorf("sort is not opened: %+v %+v", a.Groups, a.Structures)
	}
}

// TestSector: a part of a walk is the windows of that part.
func TestSector(t *testing.T) {
	s, runs := demoCycles(t)
	path := "/api/v1/runs/" + runs[0].ID + "/cycles/sector"
	a := post[references.SectorAnswer](t, s, path, references.SectorAsk{ClassAsk: references.ClassAsk{CyclesAsk: references.CyclesAsk{Thread: -1}, Other: -1}, First: 30, Last: 60, From: 0.5, Span: 0.25, Radii: 10, Angles: 10})
	if !a.Whole || a.First != 30 || a.Columns[a.Lift].Length != 30 || a.Columns[a.Colour].Length != 30 {
		t.Errorf("%+v", a)
	}
}

// TestRefsBesideSamples: a run that has both shows samples in the memory views
// and the references as cycles.
func TestRefsBesideSamples(t *testing.T) {
	samples, err := table.New("samples", []*table.Column{table.Ints("latency", "cycles", table.Measured, []int64{5, 90}, nil)})
	if err != nil {
		t.Fatal(err)
	}
	var all []refs.Ref
	for i := range 200 {
		all = append(all, refs.Ref{Addr: uint64(i % 20), PC: uint64(1 + i%20), Thread: 1})
	}
	trace, err := reftable.New(all, nil, nil, refs.HasPC|refs.HasThread)
	if err != nil {
		t.Fatal(err)
	}
	r := &run.Run{Contents: []*table.Table{samples, trace}, Manifest: run.Manifest{Version: run.Version, Kind: kind.Samples, Format: "timer"}}
	folder := filepath.Join(t.TempDir(), "both.isobath")
	if err := r.Write(t.Context(), folder, false); err != nil {
		t.Fatal(err)
	}
	both, err := NewLoader(dataset.Options{}).Open(t.Context(), folder, func(frame.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	s := newTestServer(t, nil)
	s.Add(both)
	if info := get[frame.Info](t, do(s, "GET", "/api/v1/runs/"+both.ID, ""), http.StatusOK); !info.Refs || info.Kind != "samples" || info.Rows != 2 {
		t.Errorf("refs %v, kind %s, %d rows", info.Refs, info.Kind, info.Rows)
	}
	if info := post[references.CyclesInfo](t, s, "/api/v1/runs/"+both.ID+"/cycles", references.CyclesAsk{Thread: -1}); info.Records != 200 {
		t.Errorf("%d references, want 200", info.Records)
	}
}

// TestCyclesProgress: an analysis says how far it is.
func TestCyclesProgress(t *testing.T) {
	s, runs := demoCycles(t)
	path := "/api/v1/runs/" + runs[0].ID + "/cycles"
	w := do(s, "POST", path, `{"thread":-1,"window":9}`, "Content-Type", "application/json", "Accept", "text/event-stream")
	if body := w.Body.String(); !strings.Contains(body, "event: progress") || !strings.Contains(body, "event: done") {
		t.Errorf("events: %s", body)
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
		"unknown colouring":         {path + "/spiral", `{"thread":-1,"colour":"taste","radii":10,"angles":10,"columns":10}`},
		"sector beyond the end":     {path + "/sector", `{"thread":-1,"first":0,"last":1000000,"radii":10,"angles":10}`},
		"sector of no angle":        {path + "/sector", `{"thread":-1,"first":0,"last":10,"span":0,"radii":10,"angles":10}`},
		"unknown projection":        {path + "/projection", `{"thread":-1,"method":"guess"}`},
	} {
		if w := do(s, "POST", c.path, c.body, "Content-Type", "application/json"); w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}
