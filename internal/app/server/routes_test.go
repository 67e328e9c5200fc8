package server

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/app/server/frame"
)

// address fills in the names of a path: the run is there, other things are not.
func address(r *frame.Route) string {
	return prefix + strings.NewReplacer("{id}", "six", "{job}", "none", "{link}", "none").Replace(r.Path)
}

// TestAccess walks the table: what is the owner's is refused on a shared server
// and to who has no token; what is not is answered.
func TestAccess(t *testing.T) {
	shared := newTestServer(t, func(o *Options) { o.Shared = true })
	owners := []string{
		"DELETE jobs/{job}", "DELETE runs/{id}", "GET jobs/{job}/columns", "GET runs/{id}/columns", "POST jobs/{job}/again", "POST live", "POST open",
		"POST runs/{id}/again", "POST runs/{id}/mesh/attach", "POST runs/{id}/mesh/link", "POST runs/{id}/sources", "POST upload",
		"PUT runs/{id}/names", "PUT runs/{id}/selections",
	}
	var found []string
	for _, route := range shared.Table() {
		name := route.Method + " " + route.Path
		if route.Access == frame.Owner {
			found = append(found, name)
		}
		w := do(shared, route.Method, address(&route), "{}")
		if refused := w.Code == http.StatusForbidden; refused != (route.Access == frame.Owner) {
			t.Errorf("%s of a %s answers a viewer %d %s", name, route.Access, w.Code, w.Body)
		}
		if w := do(shared, route.Method, address(&route), "{}", TokenHeader, "wrong"); w.Code != http.StatusUnauthorized {
			t.Errorf("%s without a token: %d", name, w.Code)
		}
	}
	slices.Sort(found)
	if !slices.Equal(found, owners) {
		t.Errorf("only the owner may\n%s\nwant\n%s", strings.Join(found, "\n"), strings.Join(owners, "\n"))
	}
}

// TestTable holds that a route can be described, and that its mistakes are the
// client's.
func TestTable(t *testing.T) {
	s := newTestServer(t, nil)
	seen := map[string]bool{}
	for _, route := range s.Table() {
		name := route.Method + " " + route.Path
		if seen[name] || route.Does == "" || route.Kind == "" || route.Access != frame.Owner && route.Access != frame.Viewer {
			t.Errorf("%s: twice, or without a description, a kind or who may call it", name)
		}
		seen[name] = true
		if (route.Handle == nil) == (route.OfRun == nil) || (route.OfRun != nil) != strings.HasPrefix(route.Path, "runs/{id}") && name != "DELETE runs/{id}" && name != "PUT runs/{id}/names" {
			t.Errorf("%s: has no handler, two, or one that does not hold its run", name)
		}
		if w := do(s, route.Method, strings.Replace(address(&route), "six", "none", 1), `{"text":""}`); strings.Contains(route.Path, "{id}") && w.Code != http.StatusNotFound {
			t.Errorf("%s of a run that is not open: %d %s", name, w.Code, w.Body)
		}
		if route.Takes != nil {
			if w := do(s, route.Method, address(&route), "{"); w.Code < 400 || w.Code >= 500 {
				t.Errorf("%s with half a body: %d %s", name, w.Code, w.Body)
			}
		}
		if w := do(s, route.Method, address(&route), "{}"); w.Code >= 500 {
			t.Errorf("%s with an empty question: %d %s", name, w.Code, w.Body)
		}
		if len(s.runs) == 0 {
			s.Add(sixSamples(t)) // it was closed
		}
	}
}

func TestWrongMethod(t *testing.T) {
	s := newTestServer(t, nil)
	for path, allowed := range map[string]string{"runs": "GET", "runs/six": "DELETE, GET", "runs/six/ask": "POST", "runs/six/selections": "GET, PUT", "links": "POST"} {
		w := do(s, "PATCH", prefix+path, "{}")
		f := get[frame.Failure](t, w, http.StatusMethodNotAllowed)
		if w.Header().Get("Allow") != allowed || !strings.Contains(f.Error, "PATCH") || f.Hint == "" {
			t.Errorf("PATCH %s: allows %q, says %+v", path, w.Header().Get("Allow"), f)
		}
	}
	get[frame.Failure](t, do(s, "GET", "/api/v1/nothing", ""), http.StatusNotFound)
}

// A fault of ours is answered with a sentence and logged with its place; other
// requests go on.
func TestPanic(t *testing.T) {
	var log strings.Builder
	s := newTestServer(t, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	h := s.answering(frame.Route{Handle: func(http.ResponseWriter, *http.Request) error { panic("the third wheel") }})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/x", nil))
	f := get[frame.Failure](t, w, http.StatusInternalServerError)
	if !strings.Contains(f.Error, "GET /api/v1/x: the third wheel") || f.Hint == "" {
		t.Errorf("%+v", f)
	}
	if !strings.Contains(log.String(), "the third wheel") || !strings.Contains(log.String(), "routes_test.go") {
		t.Errorf("the log: %s", log.String())
	}
	late := s.answering(frame.Route{Handle: func(w http.ResponseWriter, _ *http.Request) error {
		fmt.Fprint(w, "half an answer")
		panic("too late")
	}})
	defer func() {
		if p := recover(); p != http.ErrAbortHandler {
			t.Errorf("an answer that is cut ends with %v", p)
		}
	}()
	late.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/api/v1/x", nil))
}
