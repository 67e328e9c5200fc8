package server

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/base/budget"
)

// What a server keeps through a rest is what was asked for shortly before, however
// much was asked for before that: its memory does not tell how long it has been used.
func TestOldAnswersGoAtRest(t *testing.T) {
	room := budget.New(1 << 30)
	s := newTestServer(t, func(o *Options) { o.Budget = room })
	runs, err := (&Loader{}).Demo(budget.With(t.Context(), room))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		s.Add(r)
	}
	random := rand.New(rand.NewPCG(7, 11))
	ask := func() {
		t.Helper()
		from := 900 * random.Float64()
		zoomed := map[string]any{"column": "latency", "lo": from, "hi": from + 100}
		where := fmt.Sprintf("line >= %d & cpu != %d", random.IntN(200), random.IntN(32))
		for path, question := range map[string]any{
			"ask": map[string]any{
				"where": where, "hover": fmt.Sprintf("cpu = %d", random.IntN(32)),
				"axes":  []any{zoomed, map[string]any{"column": "cpu"}, map[string]any{"column": "function"}},
				"pairs": [][2]int{{0, 1}, {1, 2}},
			},
			"prepare":  map[string]any{"where": where, "axes": []any{zoomed}, "axis": zoomed},
			"clusters": map[string]any{"where": where, "axis": "time", "metric": "latency"},
		} {
			body, err := json.Marshal(question)
			if err != nil {
				t.Fatal(err)
			}
			if w := do(s, "POST", "/api/v1/runs/"+runs[0].ID+"/"+path, string(body)); w.Code >= http.StatusBadRequest {
				t.Fatalf("%s: %d, %s", path, w.Code, get[frame.Failure](t, w, w.Code).Error)
			}
		}
	}
	played := func(questions int) (before, after int64) {
		t.Helper()
		for range questions {
			ask()
		}
		moment := time.Now()
		ask()
		before = room.Used()
		s.idle.rest(moment)
		return before, room.Used()
	}
	_, few := played(5)
	most, many := played(40)
	if most < 2*few {
		t.Errorf("%d bytes are kept of 40 questions, %d of one: there is nothing to drop", most, few)
	}
	// What is kept of one selection differs a little from that of another.
	if many > few+few/4 {
		t.Errorf("after a rest %d bytes are kept of 40 questions, %d of 5", many, few)
	}
}
