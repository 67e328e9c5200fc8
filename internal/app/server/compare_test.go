package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/server/memory"
	"github.com/isobath/isobath/internal/base/test"
)

// TestCompare asks how the repaired demo differs from the first.
func TestCompare(t *testing.T) {
	test.NoRaces(t, requestsOneByOne)
	runs, err := NewLoader(dataset.Options{}).DemoCompare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := newTestServer(t, nil)
	for _, r := range runs {
		s.Add(r)
	}
	path := "/api/v1/runs/" + runs[0].ID + "/compare"
	got := get[memory.Compared](t, do(s, "POST", path, `{"with":"`+runs[1].ID+`","by":["file","line"],"top":2}`), http.StatusOK)
	if len(got.Groups) != 2 || got.Count < 10 || got.Unit != "cycles" || !got.Modelled || got.Whole.A.Cost != 3590347 || got.Whole.B.Cost != 2232835 || !strings.Contains(got.Sentence, "37.8 % less") {
		t.Errorf("%+v", got)
	}
	if g := got.Groups[0]; g.Label != "stencil.c:104" || g.Verdict != "less" || g.Matched != "equal" || g.KeyA[1] != "104" || g.KeyB[1] != "104" || *g.High >= 1 {
		t.Errorf("%+v", g)
	}
	some := get[memory.Compared](t, do(s, "POST", path, `{"with":"`+runs[1].ID+`","by":["level"],"where":"function = sweep","metric":"mean"}`), http.StatusOK)
	if some.Metric != "mean" || some.Whole.A.Samples != 74005 {
		t.Errorf("%+v", some)
	}
	for body, status := range map[string]int{
		`{"with":"nothing","by":["line"]}`:                                          http.StatusNotFound,
		`{"with":"` + runs[0].ID + `","by":["line"]}`:                               http.StatusBadRequest,
		`{"with":"` + runs[1].ID + `","by":[]}`:                                     http.StatusBadRequest,
		`{"with":"` + runs[1].ID + `","by":["addr"]}`:                               http.StatusUnprocessableEntity,
		`{"with":"` + runs[1].ID + `","by":["colour"]}`:                             http.StatusUnprocessableEntity,
		`{"with":"` + runs[1].ID + `","by":["line"],"where":"latency >"}`:           http.StatusBadRequest,
		`{"with":"` + runs[1].ID + `","by":["line"],"metric":"no level of theirs"}`: http.StatusOK,
	} {
		if w := do(s, "POST", path, body); w.Code != status {
			t.Errorf("%s: %d %s, want %d", body, w.Code, w.Body, status)
		}
	}
}
