package server

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/isobath/isobath/bench/synth"
	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/demo"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/engine/clickhouse"
	"github.com/isobath/isobath/internal/engine/clickhouse/clickhousetest"
)

// TestStoredRuns shows two runs that are kept on two shards beside the same ones in
// folders: guided analysis and comparison give the same answers, and what needs
// single rows says so.
func TestStoredRuns(t *testing.T) {
	servers := clickhousetest.Start(t, 2)
	s, loader := newTestServer(t, nil), NewLoader(dataset.Options{})
	var local, stored [2]string
	for i, open := range []func() (*demo.Run, error){demo.Open, demo.OpenFixed} {
		d, err := open()
		if err != nil {
			t.Fatal(err)
		}
		bundle, err := d.Bundle()
		if err != nil {
			t.Fatal(err)
		}
		name := []string{"first", "second"}[i]
		folder := filepath.Join(t.TempDir(), name+".isobath")
		if err := bundle.Write(t.Context(), folder, true); err != nil {
			t.Fatal(err)
		}
		to, err := clickhouse.ParseAddress(servers[0].Address(name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dataset.Store(t.Context(), bundle, to, name, clickhouse.Import{BlockRows: 5000}); err != nil {
			t.Fatal(err)
		}
		for k, path := range []string{folder, servers[0].Address(name)} {
			r, err := loader.Open(t.Context(), path, nil)
			if err != nil {
				t.Fatal(err)
			}
			s.Add(r)
			[]*[2]string{&local, &stored}[k][i] = r.ID
		}
	}
	ask := func(runs [2]string, what, body string) string {
		t.Helper()
		method := "POST"
		if body == "" {
			method = "GET"
		}
		w := do(s, method, "/api/v1/runs/"+runs[0]+"/"+what, strings.ReplaceAll(body, "OTHER", runs[1]))
		if w.Code != http.StatusOK {
			t.Fatalf("%s %s: %d %s", what, body, w.Code, w.Body)
		}
		return w.Body.String()
	}
	for _, q := range [][2]string{
		{"guide", ""},
		{"metrics", `{"axis":"time","metric":"latency","depth":"CPU","windows":60}`},
		{"metrics", `{"axis":"z","metric":"imbalance","depth":"L3","windows":20,"equalCount":true,"where":"function = sweep"}`},
		{"metrics", `{"axis":"latency","metric":"remote","windows":9,"lo":10,"hi":500}`},
		{"clusters", `{"axis":"time","metric":"latency","depth":"NUMA","cut":5,"top":20}`},
		{"insights", `{}`},
		{"insights", `{"filter":"latency > 20","where":"cpu < 20"}`},
		{"spread", `{"by":["file","line"]}`},
		{"spread", `{"by":["symbol","level"],"filter":"cpu < 20","where":"latency > 10"}`},
		{"compare", `{"with":"OTHER","by":["file","line"]}`},
		{"compare", `{"with":"OTHER","by":["function"]}`},
		{"compare", `{"with":"OTHER","by":["tid"],"where":"latency > 100"}`},
	} {
		if want, got := ask(local, q[0], q[1]), ask(stored, q[0], q[1]); want != got || len(want) < 100 {
			t.Errorf("%s %s:\nlocal  %.2000s\nstored %.2000s", q[0], q[1], want, got)
		}
	}
	for _, query := range []string{"", "?where=latency+%3E+100&columns=addr,latency,level", "?filter=function+%3D+sweep&where=latency+%3E+1e12"} {
		if want, got := ask(local, "rows.csv"+query, ""), ask(stored, "rows.csv"+query, ""); want != got || len(want) < 10 {
			t.Errorf("rows.csv%s: %d bytes of the folder, %d of ClickHouse differ", query, len(want), len(got))
		}
	}
	refused := func(method, path, body string) {
		t.Helper()
		if w := do(s, method, path, body); w.Code == http.StatusOK || !strings.Contains(w.Body.String(), "single rows, which are kept in ClickHouse") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	for _, what := range []string{"cachelines", "resources"} {
		refused("POST", "/api/v1/runs/"+stored[0]+"/"+what, `{}`)
	}
	refused("GET", "/api/v1/runs/"+stored[0]+","+stored[1], "")
}

// moreAsked is asked of routes beside what an empty body asks.
var moreAsked = map[string][]string{
	"POST runs/{id}/ask": {
		`{"axes":[{"column":"time"},{"column":"latency"},{"column":"host"}],"pairs":[[0,1],[1,2]],"groups":[{"by":["host"],"sum":"latency","top":5}],"stats":[{"column":"latency","quantiles":[0.5]}],"places":true}`,
		`{"filter":"latency > 20","where":"level = L3","hover":"cpu = 1","axes":[{"column":"latency"}],"rows":{"offset":2,"count":7,"sort":"latency","down":true}}`,
		`{"where":"latency > 1e12","groups":[{"by":["level"],"sum":"latency"}],"places":true}`,
		`{"where":"at Host:1","groups":[{"by":["cpu"],"distinct":"level"}]}`, `{"where":"nothing = 1"}`,
	},
	"POST runs/{id}/prepare":       {`{"axes":[{"column":"time"}],"axis":{"column":"time"}}`},
	"POST runs/{id}/metrics":       {`{"axis":"latency","metric":"imbalance","depth":"L3","windows":11}`},
	"POST runs/{id}/clusters":      {`{"axis":"latency","metric":"cpus","cut":4}`},
	"POST runs/{id}/spread":        {`{"by":["level"]}`, `{"by":["host"],"where":"latency > 100"}`},
	"POST runs/{id}/search":        {`{"text":"slowest host"}`, `{"text":"latency 100-200"}`},
	"POST runs/{id}/heatmap":       {`{"by":["host"]}`, `{"by":["level"],"where":"latency > 20"}`},
	"POST runs/{id}/calls":         {`{"function":"sweep"}`},
	"POST runs/{id}/assembly":      {`{"function":"sweep"}`},
	"POST runs/{id}/compare":       {`{"with":"ID","by":["level"]}`},
	"POST runs/{id}/changes":       {`{"with":"ID"}`},
	"POST runs/{id}/trace/samples": {`{"from":0,"to":1000}`},
	"GET runs/{id}/why":            {"?row=3"},
	"GET runs/{id}/rows.csv":       {"?where=latency+%3E+100&columns=latency,level"},
	"GET runs/{id}/source":         {"?file=heat.c"},
}

// apartFromOthers are routes that ask nothing of a run, or change what is open.
var apartFromOthers = []string{"DELETE runs/{id}", "GET runs/{id}", "POST runs/{id}/again", "POST runs/{id}/mesh/link", "PUT runs/{id}/names", "PUT runs/{id}/selections", "POST runs/{id}/sources", "GET runs/{id}/columns", "GET runs/{id}/names"}

// TestStoredRoutes asks every route of the page the same of a run of several hosts in a
// folder and on two shards: the answers are equal, or one sentence says that it needs
// rows that are here.
func TestStoredRoutes(t *testing.T) {
	servers := clickhousetest.Start(t, 2)
	dir := t.TempDir()
	hosts := 5
	if text := os.Getenv("ISOBATH_STORED_HOSTS"); text != "" { // make bench has 256
		var err error
		if hosts, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	paths, err := synth.WriteHosts(t.Context(), dir, hosts, 300)
	if err != nil {
		t.Fatal(err)
	}
	all, err := dataset.Join(t.Context(), paths, false, func(ctx context.Context, path string) (*run.Run, error) {
		return dataset.Load(ctx, path, dataset.Options{})
	})
	if err != nil {
		t.Fatal(err)
	}
	defer all.Close()
	folder, address := filepath.Join(dir, "kept-run.isobath"), servers[0].Address("kept-run")
	if err := all.Write(t.Context(), folder, true); err != nil {
		t.Fatal(err)
	}
	to, err := clickhouse.ParseAddress(address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dataset.Store(t.Context(), all.Run, to, to.Run, clickhouse.Import{BlockRows: 100}); err != nil {
		t.Fatal(err)
	}
	s, loader := newTestServer(t, nil), NewLoader(dataset.Options{})
	var ids [2]string
	for i, path := range []string{folder, address} {
		r, err := loader.Open(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.Add(r)
		ids[i] = r.ID
	}
	took := regexp.MustCompile(`"took":[0-9.e+-]+|}\s*\x00*`) // and what fills a header up
	ask := func(route *frame.Route, id, with string) (int, string) {
		path, body := strings.Replace(prefix+route.Path, "{id}", id, 1), "{}"
		if route.Method == "GET" {
			path += with
		} else if with != "" {
			body = strings.ReplaceAll(with, "ID", id)
		}
		w := do(s, route.Method, path, body)
		text := w.Body.String()
		if head, ok := strings.CutPrefix(text, "ISOB"); ok { // the length of a header that says how long it took
			text = head[4:]
		}
		text = strings.NewReplacer(id, "ID", folder, "PATH", address, "PATH", "kept-run.isobath", "NAME", "kept-run", "NAME").Replace(text)
		return w.Code, took.ReplaceAllString(text, "")
	}
	answers, refusals := 0, []string{}
	for _, route := range s.Table() {
		name := route.Method + " " + route.Path
		if !strings.Contains(route.Path, "{id}") || slices.Contains(apartFromOthers, name) {
			continue
		}
		for _, with := range append([]string{""}, moreAsked[name]...) {
			code, want := ask(&route, ids[0], with)
			storedCode, got := ask(&route, ids[1], with)
			switch {
			case code == storedCode && want == got:
				if code == http.StatusOK {
					answers++
				}
			case storedCode == http.StatusUnprocessableEntity && strings.Contains(got, "kept in ClickHouse"):
				refusals = append(refusals, name)
			default:
				t.Errorf("%s %s\nlocal  %d %.1500s\nstored %d %.1500s", name, with, code, want, storedCode, got)
			}
		}
	}
	t.Logf("%d answers are the same; refused: %s", answers, strings.Join(slices.Compact(refusals), ", "))
	if answers < 15 {
		t.Errorf("only %d were answered", answers)
	}
}

// Two runs that are called alike and have as many rows, in two databases, are two.
func TestStoredNamesakes(t *testing.T) {
	servers := clickhousetest.Start(t, 1)
	if _, err := servers[0].Do(t.Context(), "CREATE DATABASE other"); err != nil {
		t.Fatal(err)
	}
	loader := NewLoader(dataset.Options{})
	ids := map[string]bool{}
	for i, database := range []string{"default", "other"} {
		file := filepath.Join(t.TempDir(), "a.csv")
		if err := os.WriteFile(file, fmt.Appendf(nil, "cpu,latency\n0,%d\n1,7\n", 5+i), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := dataset.Load(t.Context(), file, dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		address := fmt.Sprintf("clickhouse://%s/%s/all", servers[0].Host(), database)
		to, err := clickhouse.ParseAddress(address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dataset.Store(t.Context(), r, to, "all", clickhouse.Import{}); err != nil {
			t.Fatal(err)
		}
		for _, option := range []string{"", "?timeout=7s"} { // which make no other run of it
			shown, err := loader.Open(t.Context(), address+option, nil)
			if err != nil {
				t.Fatal(err)
			}
			ids[shown.ID] = true
			shown.Close()
		}
	}
	if len(ids) != 2 {
		t.Errorf("two runs have ids %v", ids)
	}
}

// A run whose message trace lies beside its samples is shown without it, and says so.
func TestStoredWithTrace(t *testing.T) {
	servers := clickhousetest.Start(t, 1)
	file := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(file, []byte("cpu,latency\n0,5\n1,7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := dataset.Load(t.Context(), file, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.Trace = "trace.otf2"
	to, err := clickhouse.ParseAddress("clickhouse://" + servers[0].Host() + "/default/both")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dataset.Store(t.Context(), r, to, "both", clickhouse.Import{}); err != nil {
		t.Fatal(err)
	}
	shown, err := NewLoader(dataset.Options{}).Open(t.Context(), to.String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer shown.Close()
	if all := strings.Join(shown.Warnings, "|"); !strings.Contains(all, "message trace of this execution is not here") {
		t.Errorf("warnings %q", all)
	}
}
