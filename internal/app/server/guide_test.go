package server

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/memory/guide"
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

	// The same as a stream: progress, then the answer.
	w := do(s, "POST", runs+"clusters", `{"axis":"time","metric":"peak","window":2,"slide":2,"cut":2,"top":1}`, "Accept", "text/event-stream")
	stream := w.Body.String()
	// How often it says progress, and of which stage first, depends on how long
	// it takes: a reader gets the newest, not all.
	progress, last, done := strings.Cut(stream, "event: done\ndata: ")
	if w.Header().Get("Content-Type") != "text/event-stream" || !strings.HasPrefix(progress, "event: progress\ndata: {\"stage\":\"") || !done {
		t.Errorf("stream %q; want progress, then done", stream)
	}
	var streamed guide.TreeAnswer
	if err := json.Unmarshal([]byte(last), &streamed); err != nil || len(streamed.Nodes) != 3 || len(streamed.Clusters) != 2 {
		t.Errorf("streamed %+v (%v); want the root, its parts and two clusters", streamed, err)
	}
	w = do(s, "POST", runs+"insights", `{}`, "Accept", "text/event-stream")
	if got := w.Body.String(); !strings.HasSuffix(got, "event: done\ndata: {\"insights\":[]}\n\n") {
		t.Errorf("stream of insights %q", got)
	}
	w = do(s, "POST", runs+"clusters", `{"axis":"latency","metric":"none such"}`, "Accept", "text/event-stream")
	if got := w.Body.String(); !strings.HasPrefix(got, "event: failed\ndata: {\"error\":\"metric \\\"none such") {
		t.Errorf("stream of a wrong question %q", got)
	}

	for path, body := range map[string]string{
		"metrics":  `{"axis":"level","metric":"mean","windows":3}`,
		"clusters": `{"axis":"latency","metric":"none such"}`,
		"insights": `{"where":"latancy > 3"}`,
	} {
		if f := get[frame.Failure](t, do(s, "POST", runs+path, body), http.StatusBadRequest); f.Error == "" {
			t.Errorf("%s %s: no sentence", path, body)
		}
	}
}
