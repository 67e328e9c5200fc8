package server

import (
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/server/references"
	"github.com/isobath/isobath/internal/locality/answer"
	"github.com/isobath/isobath/internal/locality/views"
)

// TestLocalityDemo holds that the demo is worth improving, and that the page
// counts what the verbs count.
func TestLocalityDemo(t *testing.T) {
	runs, err := NewLoader(dataset.Options{}).DemoLocality(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := newTestServer(t, nil)
	s.Add(runs[0])
	path := "/api/v1/runs/" + runs[0].ID + "/locality"
	ask := references.LocalityAsk{Stack: "object", Where: "symbol = p"}
	a := post[references.LocalityAnswer](t, s, path, ask)
	w := post[answer.WhatIf](t, s, path+"/whatif", references.WhatIfAsk{By: "object"})
	for i, l := range a.Now.Levels {
		base := w.Levels[i].Base
		if l.Misses != base.Misses || l.First != base.First || int64(l.Misses)-int64(l.Full) != base.Conflict || l.Hidden != base.Prefetchable {
			t.Errorf("%s: the page counts %+v, whatif %+v", l.Level, l, *base)
		}
	}
	r := post[answer.Reuse](t, s, path+"/reuse", references.ReuseAsk{})
	if a.Now.Lines != r.Lines || a.Now.Footprint != r.Bytes {
		t.Errorf("the page counts %d lines of %d bytes, reuse %d of %d", a.Now.Lines, a.Now.Footprint, r.Lines, r.Bytes)
	}
	for i, size := range a.Now.Curve.Sizes {
		for _, p := range r.Curve {
			if p.Bytes == size && p.Misses != a.Now.Curve.Total[i] {
				t.Errorf("%d bytes: the page counts %d misses, reuse %d", size, a.Now.Curve.Total[i], p.Misses)
			}
		}
	}
	for _, g := range w.Groups {
		i := slices.IndexFunc(a.Now.Objects, func(r views.MissRow) bool { return r.Object == g.Key.String() })
		if i < 0 || !slices.Equal(a.Now.Objects[i].Misses, g.Base) {
			t.Errorf("object %s: whatif counts %v, the page row %d", g.Key, g.Base, i)
		}
	}
	if a.Struct == nil || len(a.Struct.Parts) != 1 || len(a.Struct.Parts[0].Fields) != 17 {
		t.Fatalf("structure of p: %+v", a.Struct)
	}
	if share := a.Struct.Parts[0].Fields[0].Share; share == nil || *share < 0.99 {
		t.Errorf("x is touched in %v of the fetches of its line, want all", share)
	}
	if share := a.Struct.Parts[0].Fields[2].Share; share == nil || *share != 0 {
		t.Errorf("x0 is touched in %v of the fetches of its line, want none", share)
	}
}
