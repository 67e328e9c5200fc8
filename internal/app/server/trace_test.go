package server

import (
	"encoding/binary"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/app/server/messages"
	"github.com/isobath/isobath/internal/messages/logical"
	"github.com/isobath/isobath/internal/messages/mpiprog"
	"github.com/isobath/isobath/internal/messages/timeline"
	"github.com/isobath/isobath/internal/messages/trace"
)

// haloServer serves a simulated trace whose rank 4 is 2 ms late in iteration 3.
func haloServer(t testing.TB) (s *Server, id, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "halo.otf2")
	p, err := mpiprog.New(path, 9)
	if err != nil {
		t.Fatal(err)
	}
	p.Halo(3, 3, 6, 4, 3, 2_000_000)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	run, err := NewLoader(dataset.Options{}).Open(t.Context(), path, func(frame.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	s = newTestServer(t, nil)
	s.Add(run)
	return s, run.ID, path
}

func post[T any](t *testing.T, s *Server, path string, ask any) T {
	t.Helper()
	body, err := json.Marshal(ask)
	if err != nil {
		t.Fatal(err)
	}
	w := do(s, "POST", path, string(body), "Content-Type", "application/json")
	if w.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	text := w.Body.Bytes()
	if string(text[:4]) == "ISOB" {
		text = text[8 : 8+binary.LittleEndian.Uint32(text[4:])]
	}
	var answer T
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

// TestTraceInfo: the page hears what `isobath steps` says.
func TestTraceInfo(t *testing.T) {
	s, id, path := haloServer(t)
	info := post[messages.TraceInfo](t, s, "/api/v1/runs/"+id+"/trace", messages.TraceAsk{})
	tr, err := trace.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	direct, err := logical.Analyze(t.Context(), tr, logical.Default())
	if err != nil {
		t.Fatal(err)
	}
	if info.Report.Steps != direct.Steps || info.Report.Operations != direct.Len() || len(info.Processes) != 9 {
		t.Errorf("%d steps, %d operations of %d processes; want %d, %d of 9", info.Report.Steps, info.Report.Operations, len(info.Processes), direct.Steps, direct.Len())
	}
	top := info.Report.Top
	if len(top) == 0 || top[0].Process != 4 || top[0].Amount < 1_900_000 || top[0].Amount > 2_100_000 {
		t.Fatalf("the cause is %+v, want rank 4 with 2 ms", top)
	}

	op := post[timeline.Operation](t, s, "/api/v1/runs/"+id+"/trace/operation", messages.OperationAsk{Op: top[0].Op})
	if op.Rank != 4 || op.Step != top[0].Step || op.BeforeNew != top[0].Amount {
		t.Errorf("the operation is %+v, the cause %+v", op, top[0])
	}
}

// TestTracePicture: both timelines and the overview come in one answer, and
// other options give another analysis.
func TestTracePicture(t *testing.T) {
	s, id, _ := haloServer(t)
	w := &timeline.Window{To: 18, Columns: 900, Lines: 9}
	ask := messages.PictureAsk{Origin: -1, Logical: w, Physical: &timeline.Window{To: 1e7, Columns: 900, Lines: 9}, Overview: 100}
	got := post[messages.PictureAnswer](t, s, "/api/v1/runs/"+id+"/trace/picture", ask)
	if got.Logical == nil || got.Logical.Ops == nil || got.Physical == nil || got.Overview == nil {
		t.Fatalf("the picture lacks parts: %+v", got)
	}
	// 9 ranks, 6 iterations: one joined send, one Waitall, one Allreduce each.
	if n := got.Columns[got.Logical.Ops.ID].Length; n != 162 {
		t.Errorf("%d operations, want 162", n)
	}
	if got.Logical.Sent != 144 { // 24 neighbours, 6 iterations
		t.Errorf("%d messages, want 144", got.Logical.Sent)
	}
	apart := post[messages.TraceInfo](t, s, "/api/v1/runs/"+id+"/trace", messages.TraceAsk{}).Options
	apart.Coalesce = false
	ask.Options = &apart
	w.To = 40
	got = post[messages.PictureAnswer](t, s, "/api/v1/runs/"+id+"/trace/picture", ask)
	if n := got.Columns[got.Logical.Ops.ID].Length; n != 162+144-54 {
		t.Errorf("uncoalesced: %d operations, want 252", n)
	}
}

func TestTraceRefusals(t *testing.T) {
	s, id, _ := haloServer(t)
	for name, c := range map[string]struct{ path, body string }{
		"samples have no trace":  {"/api/v1/runs/six/trace", `{}`},
		"a trace has no samples": {"/api/v1/runs/" + id + "/ask", `{}`},
		"no columns":             {"/api/v1/runs/" + id + "/trace/picture", `{"logical":{"from":3,"to":4,"lines":1}}`},
		"unknown metric":         {"/api/v1/runs/" + id + "/trace/picture", `{"metric":"taste","overview":10}`},
		"no such operation":      {"/api/v1/runs/" + id + "/trace/operation", `{"op":162}`},
		"bad phase":              {"/api/v1/runs/" + id + "/trace", `{"options":{"phases":"[","ratio":10}}`},
	} {
		if w := do(s, "POST", c.path, c.body, "Content-Type", "application/json"); w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

// TestTraceGains: the delay is first, removing it is predicted, the changed run
// can be drawn, and a change that selects nothing is refused.
func TestTraceGains(t *testing.T) {
	s, id, _ := haloServer(t)
	path := "/api/v1/runs/" + id + "/trace/gains"
	a := post[messages.GainsAnswer](t, s, path, messages.GainsAsk{Changes: []string{"cause 1"}})
	g := a.Ranking.Gains
	if len(g) == 0 || g[0].Kind != "compute" || len(g[0].Processes) != 1 || g[0].Processes[0] != 4 || g[0].GainNS < 1_900_000 || g[0].GainNS > 2_000_000 {
		t.Fatalf("gains %+v; want the 2 ms of rank 4", g)
	}
	if w := a.Ranking.WhatIf; w == nil || w.GainNS != g[0].GainNS || w.Provenance != "modelled" {
		t.Errorf("prediction %+v; want the gain of the entry", w)
	}
	if a.Ranking.Run.Difference != 0 {
		t.Errorf("replay differs by %d ns", a.Ranking.Run.Difference)
	}
	window := timeline.Window{Columns: 400, Lines: 20}
	ghost := post[messages.PictureAnswer](t, s, "/api/v1/runs/"+id+"/trace/picture", messages.PictureAsk{Changes: []string{"cause 1"}, Logical: &window, Physical: &window}).Ghost
	if ghost == nil || ghost.Logical == nil || ghost.Physical.Ops == nil || int64(ghost.Recorded-ghost.Span) != g[0].GainNS {
		t.Errorf("ghost %+v; want both timelines and a run shorter by %d ns", ghost, g[0].GainNS)
	}
	a = post[messages.GainsAnswer](t, s, path, messages.GainsAsk{Changes: []string{"rank 99 = median"}})
	if !strings.Contains(a.Refused, "no rank 99") || a.Ranking.WhatIf != nil || len(a.Ranking.Gains) == 0 {
		t.Errorf("rank 99: refused %q, prediction %+v", a.Refused, a.Ranking.WhatIf)
	}
}

// TestTraceLook: operations are found by words, and a window has the numbers of
// its calls.
func TestTraceLook(t *testing.T) {
	s, id, _ := haloServer(t)
	path := "/api/v1/runs/" + id + "/trace/"
	f := post[messages.FindAnswer](t, s, path+"find", messages.FindAsk{Text: "mpi_ took > 1ms", From: -1})
	if f.Found == nil || f.Found.Count == 0 || f.Found.Place.Exit-f.Found.Place.Enter <= 1e6 {
		t.Errorf("found %+v, refused %q", f.Found, f.Refused)
	}
	if f := post[messages.FindAnswer](t, s, path+"find", messages.FindAsk{Text: "no_such_name"}); f.Found != nil || f.Refused == "" {
		t.Errorf("no_such_name: %+v", f)
	}
	whole := post[messages.TraceWindow](t, s, path+"window", messages.TraceWindowAsk{TimeTo: 1e12})
	sent := int64(0)
	for _, b := range whole.Sizes {
		sent += b.Messages
	}
	if sent != 144 || whole.MPI <= 0 || len(whole.Calls) == 0 || whole.LateSender.Time <= 0 {
		t.Errorf("%d messages in %+v", sent, whole)
	}
	if w := do(s, "POST", path+"window", `{"timeFrom":3,"timeTo":3}`, "Content-Type", "application/json"); w.Code != http.StatusBadRequest {
		t.Errorf("an empty window: %d", w.Code)
	}
}
