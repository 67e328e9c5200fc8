package server

import (
	"encoding/binary"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/app/server/memory"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/engine/query/naive"
	"github.com/isobath/isobath/internal/machine/hw"
	"github.com/isobath/isobath/internal/memory/cacheline"
)

// demoPair serves the built-in example and its repaired form.
func demoPair(t *testing.T) (s *Server, a, b *frame.Run) {
	t.Helper()
	runs, err := NewLoader(dataset.Options{}).DemoCompare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s = newTestServer(t, nil)
	for _, r := range runs {
		s.Add(r)
	}
	return s, runs[0], runs[1]
}

// TestPair asks about two runs as one: one selection, the same bins, and what
// changed.
func TestPair(t *testing.T) {
	s, a, b := demoPair(t)
	base := "/api/v1/runs/" + a.ID + "," + b.ID
	info := get[frame.Info](t, do(s, "GET", base, ""), http.StatusOK)
	if info.Pair == nil || info.Pair.A.ID != a.ID || info.Pair.B.ID != b.ID || info.Rows != info.Pair.A.Rows+info.Pair.B.Rows || info.Topology == nil {
		t.Fatalf("%+v", info.RunSummary)
	}
	if home := get[frame.Home](t, do(s, "GET", "/api/v1/runs", ""), http.StatusOK); len(home.Runs) != 3 || home.Compare != "" {
		t.Errorf("the pair is listed: %+v", home.Runs)
	}
	s.CompareFirst(a.ID, b.ID)
	if home := get[frame.Home](t, do(s, "GET", "/api/v1/runs", ""), http.StatusOK); home.Compare != a.ID+","+b.ID {
		t.Errorf("first is %q", home.Compare)
	}
	found := get[memory.WhatChanged](t, do(s, "POST", base+"/changes", `{}`), http.StatusOK)
	if len(found.Changes) < 3 || !found.Modelled || !strings.Contains(found.Sentence, "37.8 % less") {
		t.Fatalf("%+v", found)
	}
	for _, c := range found.Changes {
		t.Logf("%-12s %.2f %v %s [%s]", c.Kind, c.Score, c.Sure, c.Text, c.Where)
		if c.Where == "" && c.Kind != "rebalanced" {
			t.Errorf("%s selects nothing", c.Text)
		}
		if w := do(s, "POST", base+"/ask", `{"where":`+strconv.Quote(c.Where)+`}`); w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", c.Where, w.Code, w.Body)
		}
	}
	// The same numbers as of the runs by themselves.
	alone := get[memory.Compared](t, do(s, "POST", "/api/v1/runs/"+a.ID+"/compare", `{"with":"`+b.ID+`","by":["file","line"]}`), http.StatusOK)
	both := get[memory.Compared](t, do(s, "POST", base+"/compare", `{"by":["file","line"]}`), http.StatusOK)
	if alone.Sentence != both.Sentence || len(alone.Groups) != len(both.Groups) {
		t.Errorf("alone %q, %d groups; as a pair %q, %d", alone.Sentence, len(alone.Groups), both.Sentence, len(both.Groups))
	}
	for i := range alone.Groups {
		if x, y := alone.Groups[i], both.Groups[i]; x.Label != y.Label || x.A != y.A && x.A.Cost != y.A.Cost || x.B.Cost != y.B.Cost || x.Verdict != y.Verdict {
			t.Errorf("%+v as a pair %+v", x, y)
		}
	}
	some := get[memory.Compared](t, do(s, "POST", base+"/compare", `{"by":["level"],"where":"line = 104"}`), http.StatusOK)
	if some.Whole.A.Samples != 13359 || some.Whole.B.Samples != 13361 {
		t.Errorf("line 104: %+v", some.Whole)
	}
	lines := get[memory.MatchedLines](t, do(s, "GET", base+"/matched?file=stencil.c", ""), http.StatusOK)
	if len(lines.Lines) < 104 || lines.Lines[103] != 104 || lines.How[103] != "equal" || len(lines.Gone) != 0 {
		t.Errorf("%d lines, %v gone", len(lines.Lines), lines.Gone)
	}
	if n := strings.Count(lines.TextA, "\n") + 1; n != len(lines.Lines) { // both were built from one file
		t.Errorf("A has %d lines, B %d", n, len(lines.Lines))
	}
	// A pair ends with either of its runs.
	do(s, "DELETE", "/api/v1/runs/"+a.ID, "")
	if w := do(s, "GET", base, ""); w.Code != http.StatusNotFound {
		t.Errorf("after A is closed: %d", w.Code)
	}
}

// TestPairIsForeseen joins the runs that the page begins with before it asks, and
// again when one of them is replaced; the server ends after that.
func TestPairIsForeseen(t *testing.T) {
	s, a, b := demoPair(t)
	if s.foreseen != nil {
		t.Error("runs are joined that nobody compares")
	}
	joined := func() bool {
		<-s.foreseen.Done()
		run, release := s.heldPair(a.ID + "," + b.ID)
		if run != nil {
			release()
		}
		return run != nil
	}
	s.CompareFirst(a.ID, b.ID)
	if !joined() {
		t.Error("the pair is not made before it is asked for")
	}
	runs, err := NewLoader(dataset.Options{}).DemoCompare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		s.Add(r)
	}
	if !joined() {
		t.Error("the pair is not made anew after its runs were opened again")
	}
	s.Add(runs[1]) // a join is under way while the server ends
	if err := s.Close(); err != nil || len(s.pairs) > 0 {
		t.Errorf("%v, %d pairs left", err, len(s.pairs))
	}
}

func TestPairIsRefused(t *testing.T) {
	s, a, b := demoPair(t)
	for path, status := range map[string]int{
		a.ID + "," + a.ID:              http.StatusBadRequest,
		a.ID + ",nothing":              http.StatusNotFound,
		"," + b.ID:                     http.StatusNotFound,
		a.ID + "," + b.ID + "," + b.ID: http.StatusNotFound,
	} {
		if w := do(s, "GET", "/api/v1/runs/"+path, ""); w.Code != status {
			t.Errorf("%s: %d %s, want %d", path, w.Code, w.Body, status)
		}
	}
	if w := do(s, "POST", "/api/v1/runs/"+a.ID+"/changes", `{}`); w.Code != http.StatusBadRequest {
		t.Errorf("changes of one run: %d", w.Code)
	}
	// Both samples together are no run: to compare them with one of the two would
	// find twice its cost.
	if w := do(s, "POST", "/api/v1/runs/"+a.ID+","+b.ID+"/compare", `{"with":"`+a.ID+`","by":["symbol"]}`); w.Code != http.StatusBadRequest {
		t.Errorf("a pair compared with a run of it: %d", w.Code)
	}
}

// TestPairOneSide asks views of one run of a pair: rows of a heat map are those of
// both, and cache lines have a place in their object in place of an address.
func TestPairOneSide(t *testing.T) {
	s, a, b := demoPair(t)
	base := "/api/v1/runs/" + a.ID + "," + b.ID
	if info := get[frame.Info](t, do(s, "GET", base, ""), http.StatusOK); info.Pair.Allowance != 0 {
		t.Errorf("two simulated runs differ by %v", info.Pair.Allowance)
	}
	var rows []string
	for _, side := range []string{"A", "B"} {
		var heads []string
		for _, body := range []string{`{"by":"symbol","windows":10,"rows":3,"side":"` + side + `"}`, `{"by":"symbol","along":"iteration","windows":8,"rows":3,"side":"` + side + `"}`} {
			head := heatmapHead(t, do(s, "POST", base+"/heatmap", body))
			var names []string
			for _, r := range head.Rows {
				names = append(names, r.Name)
			}
			heads = append(heads, strings.Join(names, " "))
		}
		rows = append(rows, strings.Join(heads, " | "))
		lines := get[cacheline.CacheLines](t, do(s, "POST", base+"/cachelines", `{"side":"`+side+`","top":20}`), http.StatusOK)
		if len(lines.Lines) == 0 || lines.Addressed == 0 || lines.Addressed > 93000 {
			t.Fatalf("side %s: %d lines of %d samples", side, len(lines.Lines), lines.Addressed)
		}
		for _, l := range lines.Lines {
			if len(l.Symbols) == 1 && (l.ObjectOffset == nil || *l.ObjectOffset < 0 || *l.ObjectOffset%64 != 0) {
				t.Errorf("side %s, %s of %v has no place", side, l.Addr, l.Symbols)
			}
		}
	}
	if rows[0] != rows[1] || rows[0] == "" {
		t.Errorf("rows of A %q, of B %q", rows[0], rows[1])
	}
	for _, bad := range []string{base + "/heatmap", base + "/cachelines"} {
		if w := do(s, "POST", bad, `{"by":"symbol","windows":10,"rows":3,"side":"C"}`); w.Code != http.StatusBadRequest {
			t.Errorf("%s of side C: %d", bad, w.Code)
		}
	}
}

// TestPairOfTwoMachines has the samples of each run on a machine of its own: one
// tree, whose hosts are A and B.
func TestPairOfTwoMachines(t *testing.T) {
	a := sixSamples(t)
	a.ID = "large"
	memory.Of(a).Manifest = &run.Manifest{}
	b := &frame.Run{ID: "small", Name: "three.csv", Kind: "samples", Format: "test"}
	tab, err := table.New("samples", []*table.Column{
		{Name: "cpu", Kind: table.Number, Data: []int32{1, 1, 0}},
		{Name: "level", Kind: table.Category, Provenance: table.Measured, Data: []uint32{0, 0, 0}, Dict: []string{"L1"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	small, err := hw.Build(hw.Spec{Name: "small", Objects: []hw.Object{
		{Kind: hw.Machine, OS: -1, CPUs: hw.NewCPUs([]int{0, 1})},
		{Kind: hw.Cache1, OS: -1, CPUs: hw.NewCPUs([]int{0})}, {Kind: hw.CPU, OS: 0, CPUs: hw.NewCPUs([]int{0})},
		{Kind: hw.Cache1, OS: -1, CPUs: hw.NewCPUs([]int{1})}, {Kind: hw.CPU, OS: 1, CPUs: hw.NewCPUs([]int{1})},
	}})
	if err != nil {
		t.Fatal(err)
	}
	data := query.Data{Table: tab}
	b.Put(&memory.Samples{Run: b, Data: data, Engine: naive.New(data), Topology: small, Manifest: &run.Manifest{}})
	s := newTestServer(t, nil)
	s.Add(a)
	s.Add(b)
	base := "/api/v1/runs/large,small"
	info := get[frame.Info](t, do(s, "GET", base, ""), http.StatusOK)
	if info.Pair == nil || info.Pair.Apart != "different machines: 4 CPUs, 2 nodes against 2 CPUs, 0 nodes" || info.TopologyNote != "" || info.Topology == nil {
		t.Fatalf("pair %+v, note %q", info.Pair, info.TopologyNote)
	}
	// By hand, see sixSamples and above; what no CPU issued has no place here.
	want := map[string]map[string]int{
		"A": {"Host:0": 6, "CPU:0@Host:0": 2, "CPU:1@Host:0": 1, "CPU:2@Host:0": 2, "CPU:3@Host:0": 1, "Host:1": 0, "CPU:0@Host:1": 0},
		"B": {"Host:0": 0, "CPU:0@Host:0": 0, "Host:1": 3, "CPU:0@Host:1": 1, "CPU:1@Host:1": 2},
	}
	for side, counts := range want {
		answer := decode(t, do(s, "POST", base+"/ask", `{"places":true,"filter":"side = `+side+`"}`).Body.Bytes())
		samples := answer.u32(answer.Places.Samples[0])
		found := 0
		for i, r := range info.Topology.Resources {
			if n, asked := counts[r.Name]; asked {
				found++
				if samples[i] != n {
					t.Errorf("side %s: %s has %d samples, want %d", side, r.Name, samples[i], n)
				}
			}
		}
		if found != len(counts) {
			t.Errorf("side %s: %d of %d resources are in the tree", side, found, len(counts))
		}
	}
	// A resource is of one machine; a CPU by its load is of both.
	for where, n := range map[string]int{"at CPU:0@Host:0": 2, "at CPU:1@Host:1": 2, "cpu = 0": 4} {
		if answer := decode(t, do(s, "POST", base+"/ask", `{"where":`+strconv.Quote(where)+`}`).Body.Bytes()); answer.Counts[1] != n {
			t.Errorf("%s selects %d samples, want %d", where, answer.Counts[1], n)
		}
	}
}

// heatmapHead reads the header of a heat map.
func heatmapHead(t *testing.T, w *httptest.ResponseRecorder) memory.Heatmap {
	t.Helper()
	message := w.Body.Bytes()
	if w.Code != http.StatusOK || len(message) < 8 {
		t.Fatalf("status %d: %s", w.Code, message)
	}
	var head memory.Heatmap
	if err := json.Unmarshal(message[8:8+binary.LittleEndian.Uint32(message[4:])], &head); err != nil {
		t.Fatal(err)
	}
	return head
}
