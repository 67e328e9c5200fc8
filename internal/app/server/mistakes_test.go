package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/test"
)

// mistakes are bodies that a client might send in place of a value of that type:
// each field alone, of another type, beyond every bound, or naming what is not there.
func mistakes(t reflect.Type) []string {
	all := []string{"", "{", "null", "[]", `"text"`, "7", `{"unknown":1}`}
	fields(t, 0, func(path []string, value string) {
		body := value
		for i := len(path) - 1; i >= 0; i-- {
			if path[i] == "" {
				body = "[" + body + "]"
			} else {
				body = fmt.Sprintf("{%q:%s}", path[i], body)
			}
		}
		all = append(all, body)
	})
	return all
}

// fields visits the fields of a type with wrong values, two levels deep.
func fields(t reflect.Type, depth int, visit func(path []string, value string)) {
	below := func(name string) func([]string, string) {
		return func(path []string, value string) { visit(append([]string{name}, path...), value) }
	}
	switch t.Kind() {
	case reflect.Pointer:
		fields(t.Elem(), depth, visit)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case f.Anonymous && name == "":
				fields(f.Type, depth, visit)
			case f.IsExported() && name != "-" && depth < 3:
				if name == "" {
					name = f.Name
				}
				fields(f.Type, depth+1, below(name))
			}
		}
	case reflect.Slice, reflect.Array:
		visit(nil, "{}")
		visit(nil, "[]")
		visit(nil, "[null]")
		fields(t.Elem(), depth+1, below(""))
	case reflect.String:
		for _, s := range []string{`"\u0000"`, `"none"`, `"a & (("`, `"../../etc/passwd"`, "1"} {
			visit(nil, s)
		}
	case reflect.Bool:
		visit(nil, `"yes"`)
	case reflect.Map, reflect.Interface:
		for _, s := range []string{`{"none":{}}`, `{"none":-1}`, "[]"} {
			visit(nil, s)
		}
	default:
		for _, s := range []string{"-1", "1e15", "4611686018427387904", "-1e300", `"7"`} {
			visit(nil, s)
		}
	}
}

// mistaken is one request.
type mistaken struct{ method, path, body string }

func mistakesOf(route *frame.Route, id string) []mistaken {
	path := prefix + strings.NewReplacer("{id}", id, "{job}", "none", "{link}", "none").Replace(route.Path)
	var out []mistaken
	if route.Takes != nil {
		for _, body := range mistakes(reflect.TypeOf(route.Takes)) {
			out = append(out, mistaken{route.Method, path, body})
		}
	}
	for _, name := range route.Query {
		for _, value := range []string{"", "-1", "1e300", "none", "../..", "\x00", strings.Repeat("(", 2000)} {
			out = append(out, mistaken{route.Method, path + "?" + url.Values{name: {value}}.Encode(), "{}"})
		}
	}
	return append(out, mistaken{route.Method, path, "\xff\xfe"}, mistaken{route.Method, path + "?x=%zz", "{}"})
}

// ask sends a request and takes it back after a while: what is answerable may take
// long, and what is a mistake must not.
func (m *mistaken) ask(s *Server) *httptest.ResponseRecorder {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	r := httptest.NewRequestWithContext(ctx, m.method, "http://127.0.0.1:7117/", strings.NewReader(m.body))
	r.URL.Path, r.URL.RawQuery, _ = strings.Cut(m.path, "?")
	r.Header.Set(TokenHeader, testToken)
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// requestsOneByOne says why the race detector has nothing to watch there.
const requestsOneByOne = "requests one by one; TestManyClients and TestLocalityAskedAtOnce ask at once"

// TestMistakesAreTheClients asks every route of every kind of run what cannot be
// answered: what is refused is refused as the client's mistake, with a sentence.
func TestMistakesAreTheClients(t *testing.T) {
	test.NoRaces(t, requestsOneByOne)
	six := newTestServer(t, nil)
	mesh, meshRun, _ := demoMeshServer(t)
	trace, traceRun, _ := haloServer(t)
	cycles, cyclesRuns := demoCycles(t)
	for _, at := range []struct {
		kind, id string
		server   *Server
	}{{"memory", "six", six}, {"mesh", meshRun.ID, mesh}, {"messages", traceRun, trace}, {"references", cyclesRuns[0].ID, cycles}} {
		t.Run(at.kind, func(t *testing.T) {
			asked, refused := 0, 0
			for _, route := range at.server.Table() {
				if route.Method == "DELETE" || strings.HasSuffix(route.Path, "mesh/link") || strings.HasSuffix(route.Path, "events") {
					continue // nothing to ask wrongly
				}
				if route.Kind != at.kind && at.id != "six" {
					continue // asked of the samples
				}
				for _, m := range mistakesOf(&route, at.id) {
					w := m.ask(at.server)
					asked++
					if w.Code >= 500 {
						t.Errorf("%s %s with %.200q: %d %s", m.method, m.path, m.body, w.Code, w.Body)
					}
					if w.Code < 400 {
						continue
					}
					refused++
					var f frame.Failure
					if err := json.Unmarshal(w.Body.Bytes(), &f); err != nil || f.Error == "" || len(f.Error+f.Hint) < 12 {
						t.Errorf("%s %s with %.200q: %d without a sentence: %s", m.method, m.path, m.body, w.Code, w.Body)
					}
				}
			}
			t.Logf("%d questions, %d refused", asked, refused)
			if refused < 50 {
				t.Errorf("only %d of %d were refused", refused, asked)
			}
		})
	}
}

// FuzzBodies sends any body to every route that a viewer may ask of samples, a mesh
// or messages: an answer, or a refusal with a sentence. Cycles take seconds, and are
// left to TestMistakesAreTheClients.
func FuzzBodies(f *testing.F) {
	type asked struct {
		server *Server
		id     string
	}
	mesh, meshRun, _ := demoMeshServer(f)
	trace, traceRun, _ := haloServer(f)
	of := map[string]asked{"memory": {newTestServer(f, nil), "six"}, "mesh": {mesh, meshRun.ID}, "messages": {trace, traceRun}}
	var routes []frame.Route
	for _, r := range mesh.Table() {
		if r.Takes != nil && r.Access == frame.Viewer && of[r.Kind].server != nil {
			routes = append(routes, r)
		}
	}
	for i := range routes {
		for k, body := range mistakes(reflect.TypeOf(routes[i].Takes)) {
			if k%5 == 0 {
				f.Add(uint(i), body)
			}
		}
	}
	f.Fuzz(func(t *testing.T, which uint, body string) {
		route := routes[which%uint(len(routes))]
		at := of[route.Kind]
		m := mistaken{route.Method, prefix + strings.NewReplacer("{id}", at.id, "{link}", "none").Replace(route.Path), body}
		w := m.ask(at.server)
		if w.Code < 400 {
			return
		}
		var failure frame.Failure
		if err := json.Unmarshal(w.Body.Bytes(), &failure); w.Code >= 500 || err != nil || failure.Error == "" {
			t.Errorf("%s %s with %.300q: %d %s", m.method, m.path, body, w.Code, w.Body)
		}
	})
}

// Every answer to POST and PUT has a type, or none at all by intention.
func TestAnswersAreTyped(t *testing.T) {
	s := newTestServer(t, nil)
	for _, route := range s.Table() {
		if route.Method != "POST" && route.Method != "PUT" || route.Answers != nil {
			continue
		}
		if name := route.Method + " " + route.Path; name != "POST runs/{id}/prepare" || route.Success() != http.StatusNoContent {
			t.Errorf("%s answers %d with something that no type describes", name, route.Success())
		}
	}
}
