package server

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/formats/foreign"
)

func TestDemo(t *testing.T) {
	test.NoRaces(t, requestsOneByOne)
	l := NewLoader(dataset.Options{})
	runs, err := l.Demo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := runs[0]
	s := newTestServer(t, nil)
	s.Add(r)
	info := get[frame.Info](t, do(s, "GET", "/api/v1/runs/"+r.ID, ""), 200)
	if info.Topology == nil || len(info.Caveats) == 0 || info.Saved {
		t.Errorf("topology %v, caveats %q, saved %v", info.Topology != nil, info.Caveats, info.Saved)
	}
	found := 0
	for _, f := range info.Sources {
		if !f.Found {
			continue
		}
		found++
		if text := get[frame.SourceText](t, do(s, "GET", "/api/v1/runs/"+r.ID+"/source?file="+f.File, ""), 200); !strings.Contains(text.Text, "for (") {
			t.Errorf("%s: %.40q", f.File, text.Text)
		}
	}
	if found == 0 {
		t.Errorf("no source of the demo is found: %+v", info.Sources)
	}
	// The same content has the same name wherever it is opened.
	runs, err = l.Demo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again := runs[0]
	defer again.Close()
	if again.ID != r.ID {
		t.Errorf("ids %s and %s", r.ID, again.ID)
	}
}

// TestOpenRun imports text, writes it as a run, and opens that as the page
// would: sources from a folder, and selections that stay.
func TestOpenRun(t *testing.T) {
	dir := t.TempDir()
	csv, folder := filepath.Join(dir, "x.csv"), filepath.Join(dir, "src")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		csv:                             "time,cpu,latency,level,file,line\n10,0,40,L2,heat.c,3\n20,1,300,Local RAM,heat.c,4\n",
		filepath.Join(folder, "heat.c"): "int main;\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	set, err := dataset.Open(context.Background(), csv, dataset.Options{Options: foreign.Options{L1Latency: -1}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "x.isobath")
	if err := set.Run.Write(t.Context(), path, false); err != nil {
		t.Fatal(err)
	}
	set.Close()

	l := NewLoader(dataset.Options{Sources: []string{folder}})
	open := func() (*Server, *frame.Run) {
		r, err := l.Open(context.Background(), path, func(frame.Progress) {})
		if err != nil {
			t.Fatal(err)
		}
		s := newTestServer(t, nil)
		s.Add(r)
		return s, r
	}
	s, r := open()
	url := "/api/v1/runs/" + r.ID
	if text := get[frame.SourceText](t, do(s, "GET", url+"/source?file=heat.c", ""), 200); text.Text != "int main;\n" {
		t.Errorf("source %+v", text)
	}
	get[[]frame.NamedSelection](t, do(s, "PUT", url+"/selections", `[{"name":"slow","where":"latency > 100"},{"name":"all","where":""}]`), 200)

	s, r = open()
	info := get[frame.Info](t, do(s, "GET", "/api/v1/runs/"+r.ID, ""), 200)
	if len(info.Selections) != 2 || info.Selections[1] != (frame.NamedSelection{Name: "slow", Where: "latency > 100"}) || !info.Saved {
		t.Errorf("after opening again: %+v, saved %v", info.Selections, info.Saved)
	}
}

func TestOpenLULESH(t *testing.T) {
	path := test.Shared(t, "samples/lulesh_legacy")
	var last frame.Progress
	r, err := NewLoader(dataset.Options{Options: foreign.Options{L1Latency: foreign.DefaultL1Latency}}).
		Open(context.Background(), path, func(p frame.Progress) { last = p })
	if err != nil {
		t.Fatal(err)
	}
	s := newTestServer(t, nil)
	s.Add(r)
	w := do(s, "POST", "/api/v1/runs/"+r.ID+"/ask", `{"where":"latency >= 100","hover":"cpu = 7","places":true}`)
	if w.Code != 200 {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	// The counts of the picture that the page was designed from.
	a := decode(t, w.Body.Bytes())
	if a.Counts != [3]int{15676, 2147, 98} || a.HoverAll != 566 {
		t.Errorf("counts %v, hover %d", a.Counts, a.HoverAll)
	}
	if last.Rows != 15676 {
		t.Errorf("progress ended at %+v", last)
	}
}
