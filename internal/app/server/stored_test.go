package server

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/demo"
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
