package server

import (
	"net/http"
	"testing"

	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/app/server/memory"
)

func TestSearch(t *testing.T) {
	s := newTestServer(t, nil)
	const path = "/api/v1/runs/six/search"
	ask := func(body string) memory.Found { return get[memory.Found](t, do(s, "POST", path, body), http.StatusOK) }

	if got := ask(`{"text":"slowest","shown":[]}`); got.Complete || len(got.Suggestions) == 0 || got.Suggestions[0].Samples != nil {
		t.Errorf("before anything was counted: %+v", got)
	}
	whole := ask(`{"text":"slowest","shown":[],"complete":true}`)
	if !whole.Complete || whole.Suggestions[0].Samples == nil || *whole.Suggestions[0].Samples != 1 || whole.Suggestions[0].Where == "" {
		t.Errorf("with counts: %+v", whole)
	}
	if got := ask(`{"text":"slowest","shown":[]}`); !got.Complete || got.Suggestions[0].Where != whole.Suggestions[0].Where {
		t.Errorf("afterwards: %+v", got)
	}
	if got := ask(`{"text":"cpu","shown":["cpu"],"most":1}`); len(got.Suggestions) != 1 || got.Suggestions[0].Action != "hide" {
		t.Errorf("an axis on screen: %+v", got)
	}
	if got := ask(`{"text":"","shown":[]}`); got.Complete || len(got.Suggestions) == 0 {
		t.Errorf("an empty box before insights are known: %+v", got)
	}
	if got := ask(`{"text":"","shown":[],"complete":true}`); !got.Complete {
		t.Errorf("an empty box: %+v", got)
	}
	if f := get[frame.Failure](t, do(s, "POST", path, `{`), http.StatusBadRequest); f.Error == "" {
		t.Error("no sentence for a broken body")
	}
}
