package server

import (
	"net/http"
	"testing"

	"isobath/internal/guide"
)

func TestGuide(t *testing.T) {
	s := newTestServer(t, nil)
	const runs = "/api/v1/runs/six/"
	info := get[guide.GuideInfo](t, do(s, "GET", runs+"guide", ""), http.StatusOK)
	if len(info.Metrics) == 0 || len(info.Depths) == 0 || len(info.Axes) == 0 {
		t.Errorf("guide %+v", info)
	}

	strip := get[guide.StripAnswer](t, do(s, "POST", runs+"metrics", `{"axis":"time","metric":"imbalance","depth":"CPU","windows":3}`), http.StatusOK)
	n := 0
	for _, w := range strip.Windows {
		n += w.Samples
	}
	if n != 6 || len(strip.Windows) != 3 {
		t.Errorf("strip %+v; want three windows of six samples in all", strip)
	}

	tree := get[guide.TreeAnswer](t, do(s, "POST", runs+"clusters", `{"axis":"time","metric":"imbalance","window":2,"slide":2,"cut":2}`), http.StatusOK)
	if tree.Leaves != 3 || len(tree.Merges) != 2 || len(tree.Clusters) != 2 {
		t.Errorf("tree %+v; want three leaves in two clusters", tree)
	}

	if found := get[guide.InsightsAnswer](t, do(s, "POST", runs+"insights", `{}`), http.StatusOK); found.Insights == nil || len(found.Insights) > 0 {
		t.Errorf("insights of six samples: %+v", found)
	}

	for path, body := range map[string]string{
		"metrics":  `{"axis":"level","metric":"mean","windows":3}`,
		"clusters": `{"axis":"latency","metric":"none such"}`,
		"insights": `{"where":"latancy > 3"}`,
	} {
		if f := get[Failure](t, do(s, "POST", runs+path, body), http.StatusBadRequest); f.Error == "" {
			t.Errorf("%s %s: no sentence", path, body)
		}
	}
}
