package server

import (
	"fmt"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/scratch"
	"github.com/isobath/isobath/internal/base/test"
)

// TestExamples opens examples of each kind of data by the paths that the start
// page has. A shared server offers none; what does not exist is said.
func TestExamples(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Cleanup(scratch.Leave)
	loader := NewLoader(dataset.Options{})
	s := newTestServer(t, func(o *Options) { o.Open = loader.Open })
	offered := map[string]bool{}
	for _, e := range get[frame.Home](t, do(s, "GET", "/api/v1/runs", ""), 200).Examples {
		offered[e.Path] = e.About != ""
	}
	for path, kind := range map[string]string{"demo:fixed": "samples", "demo:messages": "trace", "demo:mesh": "mesh"} {
		job := wait(t, s, get[frame.Job](t, do(s, "POST", "/api/v1/open", fmt.Sprintf(`{"path":%q}`, path)), 202))
		if job.State != "done" || !offered[path] {
			t.Errorf("%s: %+v %+v, offered: %v", path, job, job.Failure, offered[path])
			continue
		}
		found := false
		for _, r := range get[frame.Home](t, do(s, "GET", "/api/v1/runs", ""), 200).Runs {
			found = found || r.ID == job.Run && r.Kind == kind
		}
		if !found {
			t.Errorf("%s is no open run of %s", path, kind)
		}
	}
	if job := wait(t, s, get[frame.Job](t, do(s, "POST", "/api/v1/open", `{"path":"demo:none"}`), 202)); job.State != "failed" {
		t.Errorf("an example that is not there: %+v", job)
	}
	shared := newTestServer(t, func(o *Options) { o.Shared = true })
	if home := get[frame.Home](t, do(shared, "GET", "/api/v1/runs", ""), 200); len(home.Examples) != 0 {
		t.Errorf("a shared server offers %v", home.Examples)
	}
	if w := do(shared, "POST", "/api/v1/open", `{"path":"demo:fixed"}`); w.Code < 400 {
		t.Errorf("a shared server opens an example: %d", w.Code)
	}
}

// TestExampleCompared opens two runs with one path, which are shown as one until
// one of them is opened for itself; both are on their mesh.
func TestExampleCompared(t *testing.T) {
	test.NoRaces(t, requestsOneByOne)
	t.Setenv("TMPDIR", t.TempDir())
	t.Cleanup(scratch.Leave)
	loader := NewLoader(dataset.Options{})
	s := newTestServer(t, func(o *Options) { o.Open = loader.Open })
	opened := func(path string) frame.Home {
		t.Helper()
		if job := wait(t, s, get[frame.Job](t, do(s, "POST", "/api/v1/open", fmt.Sprintf(`{"path":%q}`, path)), 202)); job.State != "done" {
			t.Fatalf("%s: %+v", path, job)
		}
		return get[frame.Home](t, do(s, "GET", "/api/v1/runs", ""), 200)
	}
	both := opened("demo:compare")
	if len(both.Runs) < 2 || both.Compare != both.Runs[len(both.Runs)-2].ID+","+both.Runs[len(both.Runs)-1].ID {
		t.Fatalf("%q of %+v", both.Compare, both.Runs)
	}
	for _, r := range both.Runs[len(both.Runs)-2:] {
		if !slices.Contains(r.Parts, "mesh") {
			t.Errorf("%s has no mesh: %v", r.Name, r.Parts)
		}
	}
	if alone := opened("demo:stencil"); alone.Compare != "" {
		t.Errorf("the run is still shown beside %s", alone.Compare)
	}
}
