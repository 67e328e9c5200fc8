package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/demo"
	"github.com/isobath/isobath/internal/app/server"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/test"
)

// shapeOf lists the fields of a JSON value by their paths, with the types of
// what they hold. The fields of a tree are those of its root.
func shapeOf(v any, path string, out map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			at := path + "." + name
			switch inner := inner.(type) {
			case nil: // of any type
				if _, known := out[at]; !known {
					out[at] = "null"
				}
			default:
				out[at] = strings.SplitN(fmt.Sprintf("%T", inner), "[", 2)[0]
			}
			shapeOf(inner, at, out)
		}
	case []any:
		for _, inner := range v {
			shapeOf(inner, path+"[]", out)
		}
	}
}

// decodedShape is the shape of a JSON text.
func decodedShape(t *testing.T, text string) map[string]string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %.200s", err, text)
	}
	out := map[string]string{}
	shapeOf(v, "", out)
	return out
}

// TestShapes asks a command and the route of the same analysis the same question:
// a field that the route answers has the name, the place and the type that it has
// in the command's JSON. What only a page needs is listed with its reason. Left out
// are routes that answer in columns of bytes, for pictures, and the lists that the
// page of cycles draws: bars of equal lengths are one there, and loops have the
// course of their trips.
func TestShapes(t *testing.T) {
	test.NoRaces(t, verbsOneByOne)
	stencil := demoRun(t, demo.Open)
	trace := test.Fixture(t, "otf2/halo16/traces.otf2")
	stacks := test.Fixture(t, "perf/local_callgraph.data")
	threads := test.Fixture(t, "locality/traces/share56.csv.gz")
	refs := test.Fixture(t, "refs/traces/bubble_array_reverse.csv")
	tests := []struct {
		file    string
		command []string
		route   string // with GET if it has no body
		body    string
		page    map[string]string // fields for the page alone, with all within, and why
	}{
		{stencil, []string{"metrics"}, "metrics", `{"axis":"time","metric":"latency","windows":64}`, nil},
		{stencil, []string{"clusters"}, "clusters", `{"axis":"time","metric":"imbalance","windows":64}`, nil},
		{stencil, []string{"insights"}, "insights", `{}`, nil},
		{stencil, []string{"search", "beyond L2"}, "search", `{"text":"beyond L2"}`, map[string]string{".complete": "a page that types on shows what is counted so far"}},
		{stencil, []string{"report", "--by", "cacheline"}, "cachelines", `{}`, nil},
		{stencil, []string{"report", "--by", "file,line", "--spread"}, "spread", `{"by":["file","line"]}`, map[string]string{".groups[].label": "texts of what key has as values"}},
		{stencil, []string{"assembly"}, "assembly", `{}`, nil},
		{stencil, []string{"why", "--row", "3"}, "why?row=3", "", nil},
		{stacks, []string{"callers"}, "calls", `{}`, nil},
		{trace, []string{"steps"}, "trace/report", `{}`, nil},
		{trace, []string{"steps"}, "trace/gains", `{}`, map[string]string{".refused": "why a change that was typed is none"}},
		{refs, []string{"reuse"}, "locality/reuse", `{}`, nil},
		{refs, []string{"whatif"}, "locality/whatif", `{}`, nil},
		{refs, []string{"advise"}, "locality/advise", `{}`, nil},
		{threads, []string{"sharing"}, "locality/sharing", `{}`, nil},
	}
	s, err := server.New(server.Options{Token: "x", Assets: fstest.MapFS{}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	opened := map[string]string{}
	for _, tt := range tests {
		t.Run(tt.route, func(t *testing.T) {
			if opened[tt.file] == "" {
				run, err := server.NewLoader(dataset.Options{}).Open(t.Context(), tt.file, func(frame.Progress) {})
				if err != nil {
					t.Fatal(err)
				}
				s.Add(run)
				opened[tt.file] = run.ID
			}
			said, err := isobath(t, append([]string{tt.command[0], tt.file, "--json"}, tt.command[1:]...)...)
			if err != nil {
				t.Fatal(err)
			}
			method := map[bool]string{true: "GET", false: "POST"}[tt.body == ""]
			r := httptest.NewRequest(method, "http://127.0.0.1:7117/api/v1/runs/"+opened[tt.file]+"/"+tt.route, strings.NewReader(tt.body))
			r.Header.Set(server.TokenHeader, "x")
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if w.Code != http.StatusOK {
				t.Fatalf("%s %s: %d %s", method, tt.route, w.Code, w.Body)
			}
			command, route := decodedShape(t, said), decodedShape(t, w.Body.String())
			if len(route) == 0 {
				t.Errorf("nothing was answered")
			}
			for _, field := range slices.Sorted(maps.Keys(route)) {
				if _, page := tt.page[field]; page {
					continue
				}
				// The page asks for the ranking alone; the command prints it with the rest.
				name := strings.TrimPrefix(field, ".ranking")
				has, known := command[name]
				if name == "" {
					continue
				}
				if !known {
					t.Errorf("isobath %s does not print %s", tt.command[0], field)
				} else if has != route[field] && has != "null" && route[field] != "null" {
					t.Errorf("%s is %s in the command's answer and %s in the route's", field, has, route[field])
				}
			}
		})
	}
}
