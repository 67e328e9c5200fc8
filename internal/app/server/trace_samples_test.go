package server

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/app/server/messages"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/formats/otf2"
	"github.com/isobath/isobath/internal/messages/mpiprog"
	"github.com/isobath/isobath/internal/messages/timeline"
)

// bothFiles writes a trace and samples of the same ranks and clock: one sample
// every 1,000 ns of computing.
func bothFiles(t *testing.T, shift uint64) (archive, csv string) {
	t.Helper()
	dir := t.TempDir()
	archive, csv = filepath.Join(dir, "t.otf2"), filepath.Join(dir, "s.csv")
	p, err := mpiprog.New(archive, 3)
	if err != nil {
		t.Fatal(err)
	}
	var rows strings.Builder
	rows.WriteString("time,cpu,rank,latency\n")
	for i := range 4 {
		for r := range 3 {
			for k := range 10 * (1 + r*(i/3)) {
				fmt.Fprintf(&rows, "%d,0,%d,%d\n", p.Now(r)+shift, r, 10+k)
				p.Compute(r, 1000)
			}
		}
		p.Collective(mpiprog.World, mpiprog.Allreduce)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(csv, []byte(rows.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return archive, csv
}

// bothServer serves a run that holds both.
func bothServer(t *testing.T, shift uint64) (*Server, *frame.Run) {
	t.Helper()
	archive, csv := bothFiles(t, shift)
	folder := filepath.Join(filepath.Dir(csv), "both.isobath")
	set, err := dataset.Open(t.Context(), csv, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	set.Run.Trace = "trace.otf2"
	set.Run.More = func(dir string) error { return otf2.CopyFiles(archive, filepath.Join(dir, "trace.otf2")) }
	if err := set.Run.Write(t.Context(), folder, false); err != nil {
		t.Fatal(err)
	}
	if err := set.Close(); err != nil {
		t.Fatal(err)
	}
	if !run.IsRun(folder) {
		t.Fatal("no run was written")
	}
	r, err := NewLoader(dataset.Options{}).Open(t.Context(), folder, func(frame.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	s := newTestServer(t, nil)
	s.Add(r)
	return s, r
}

// TestTogether: a trace and samples that are opened together are one run with
// linked pages, like one that import has written.
func TestTogether(t *testing.T) {
	archive, csv := bothFiles(t, 0)
	s := newTestServer(t, nil)
	ends := make(chan frame.Job, 1)
	s.ImportBy("t.otf2 + s.csv", NewLoader(dataset.Options{}).Together([]string{archive, csv}), func(j frame.Job) { ends <- j })
	end := <-ends
	if end.State != "done" {
		t.Fatalf("%s: %+v", end.State, end.Failure)
	}
	if runs := get[frame.Home](t, do(s, "GET", "/api/v1/runs", ""), 200); len(runs.Runs) != 2 || runs.Runs[1].Name != "t.otf2 + s.csv" {
		t.Errorf("the runs are %+v", runs.Runs)
	}
	if text, want := s.Describe(end.Run), "t.otf2 + s.csv: 150 samples, 4 columns, 12 operations of 3 processes"; text != want {
		t.Errorf("%q, want %q", text, want)
	}
	checkBoth(t, s, end.Run)

	bad := filepath.Join(t.TempDir(), "bad.csv")
	if err := os.WriteFile(bad, []byte("latency\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	s.ImportBy("bad", NewLoader(dataset.Options{}).Together([]string{archive, bad}), func(j frame.Job) { ends <- j })
	if end := <-ends; end.State != "failed" || end.Failure == nil || !strings.Contains(end.Failure.Error, "bad.csv") {
		t.Errorf("%s: %+v", end.State, end.Failure)
	}
}

// TestSamplesOfOperation counts the samples taken before and in an operation, and
// marks a selection in time.
func TestSamplesOfOperation(t *testing.T) {
	s, r := bothServer(t, 0)
	checkBoth(t, s, r.ID)
}

func checkBoth(t *testing.T, s *Server, id string) {
	t.Helper()
	path := "/api/v1/runs/" + id
	if info := get[frame.Info](t, do(s, "GET", path, ""), 200); !info.Trace || len(info.Columns) == 0 {
		t.Fatalf("the run is %+v", info.RunSummary)
	}
	if info := post[messages.TraceInfo](t, s, path+"/trace", messages.TraceAsk{}); !info.Linked || info.LinkNote != "" {
		t.Fatalf("not linked: %s", info.LinkNote)
	}
	// Operation 11 is the last of rank 2: 30 samples before it, none inside. The
	// first is taken as the last call ends, so that call has it too.
	got := post[messages.SamplesAnswer](t, s, path+"/trace/samples", messages.SamplesAsk{Op: 11, TimeTo: 1e9})
	if got.Before.Samples != 30 || got.Call.Samples != 0 || got.Window.Samples != 150 {
		t.Errorf("%+v before, %+v in the call, %+v in all; want 30, 0 and 150", got.Before, got.Call, got.Window)
	}
	if !strings.HasPrefix(got.Before.Where, "rank = 2 & time in ") {
		t.Errorf("the selection is %q", got.Before.Where)
	}

	ask := messages.PictureAsk{Origin: -1, Physical: &timeline.Window{To: 1e6, Columns: 100, Lines: 10}, Where: &got.Before.Where}
	marks := post[messages.PictureAnswer](t, s, path+"/trace/picture", ask).Physical.Marks
	if marks == nil || marks.All != 30 || marks.Samples != 30 || marks.Last-marks.First != 29_000 {
		t.Errorf("marks are %+v, want 30 over 29 µs", marks)
	}
	early := "rank = 2 & time < 9500"
	ask.Where, ask.Physical = &early, &timeline.Window{From: 5000, To: 1e6, Columns: 100, Lines: 10}
	if marks = post[messages.PictureAnswer](t, s, path+"/trace/picture", ask).Physical.Marks; marks.All != 10 || marks.Samples != 5 {
		t.Errorf("marks of the first samples are %+v, want 10 of which 5 in the window", marks)
	}
	if w := do(s, "POST", path+"/trace/picture", `{"physical":{"to":100,"columns":9,"lines":9},"where":"taste = 3"}`, "Content-Type", "application/json"); w.Code != http.StatusBadRequest {
		t.Errorf("a wrong selection: %d %s", w.Code, w.Body)
	}
}

// TestSamplesOfAnotherTime: clocks that do not meet are not linked, and the page
// hears why.
func TestSamplesOfAnotherTime(t *testing.T) {
	s, r := bothServer(t, 1e12)
	path := "/api/v1/runs/" + r.ID
	if info := post[messages.TraceInfo](t, s, path+"/trace", messages.TraceAsk{}); info.Linked || !strings.Contains(info.LinkNote, "clocks") {
		t.Errorf("linked: %v, %q", info.Linked, info.LinkNote)
	}
	if w := do(s, "POST", path+"/trace/samples", `{"op":1}`, "Content-Type", "application/json"); w.Code != http.StatusBadRequest {
		t.Errorf("samples: %d %s", w.Code, w.Body)
	}
}

// TestTraceAgainst compares two runs that are open.
func TestTraceAgainst(t *testing.T) {
	s, id, path := haloServer(t)
	even := filepath.Join(t.TempDir(), "even.otf2")
	p, err := mpiprog.New(even, 9)
	if err != nil {
		t.Fatal(err)
	}
	p.Halo(3, 3, 6, -1, 0, 0)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	other, err := NewLoader(dataset.Options{}).Open(t.Context(), even, func(frame.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	s.Add(other)
	info := post[messages.TraceInfo](t, s, "/api/v1/runs/"+id+"/trace", messages.TraceAsk{Against: other.ID})
	c := info.Report.Compare
	if c == nil || c.OnlyHere != 0 || c.OnlyThere != 0 || len(c.Top) == 0 || c.Top[0].Process != 4 || c.Top[0].Amount != 2_000_000 {
		t.Fatalf("%s against %s: %+v", path, even, c)
	}
	op := post[timeline.Operation](t, s, "/api/v1/runs/"+id+"/trace/operation", messages.OperationAsk{TraceAsk: messages.TraceAsk{Against: other.ID}, Op: c.Top[0].Op})
	if op.Other == nil || op.Other.Rank != 4 || op.Other.Step != op.Step {
		t.Errorf("the partner is %+v", op.Other)
	}
	for against, code := range map[string]int{"nobody": http.StatusNotFound, id: http.StatusBadRequest, "six": http.StatusBadRequest} {
		if w := do(s, "POST", "/api/v1/runs/"+id+"/trace", fmt.Sprintf(`{"against":%q}`, against), "Content-Type", "application/json"); w.Code != code {
			t.Errorf("against %s: %d %s", against, w.Code, w.Body)
		}
	}
}

// TestTraceSource: a file that a region names is shown if it lies with the trace,
// and no other.
func TestTraceSource(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "heat.c"), []byte("int main;\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	p, err := mpiprog.New(filepath.Join(dir, "t.otf2"), 2)
	if err != nil {
		t.Fatal(err)
	}
	p.Place("solve", "src/heat.c", 1, 1)
	p.Enter(0, "solve")
	p.Send(0, 1, mpiprog.World, 1)
	p.Leave(0, "solve")
	p.Recv(1, 0, mpiprog.World, 1)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := NewLoader(dataset.Options{}).Open(t.Context(), filepath.Join(dir, "t.otf2"), func(frame.Progress) {})
	if err != nil {
		t.Fatal(err)
	}
	s := newTestServer(t, nil)
	s.Add(r)
	op := post[timeline.Operation](t, s, "/api/v1/runs/"+r.ID+"/trace/operation", messages.OperationAsk{Op: 0})
	if op.File != "src/heat.c" || op.Line != 1 || op.Site {
		t.Fatalf("the operation is in %s:%d", op.File, op.Line)
	}
	if text := get[frame.SourceText](t, do(s, "GET", "/api/v1/runs/"+r.ID+"/source?file=src/heat.c", ""), 200); text.Text != "int main;\n" {
		t.Errorf("the source is %q", text.Text)
	}
	if w := do(s, "GET", "/api/v1/runs/"+r.ID+"/source?file=t.otf2", ""); w.Code != http.StatusNotFound {
		t.Errorf("another file: %d", w.Code)
	}
}
