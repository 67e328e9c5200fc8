package server

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/isobath/isobath/internal/app/dataset"
	"github.com/isobath/isobath/internal/app/server/frame"
	"github.com/isobath/isobath/internal/app/server/references"
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/reftable"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/locality/answer"
	"github.com/isobath/isobath/internal/locality/views"
)

// askedAtOnce is why the race detector leaves out millions of references.
const askedAtOnce = "TestLocalityAskedAtOnce asks the same of a small record"

// TestLocalityAskedAtOnce: pages of several people that ask for the same record at
// once get what one gets who asks alone.
func TestLocalityAskedAtOnce(t *testing.T) {
	var all []refs.Ref
	for i := range uint64(20_000) {
		all = append(all, refs.Ref{Addr: 0x10000 + i*72%65_536, Size: 8, PC: 0x400 + i%3, Thread: uint32(1 + i/10_000)})
	}
	trace, err := reftable.New(all, nil, nil, refs.HasPC|refs.HasThread)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "refs.isobath")
	r := &run.Run{Contents: []*table.Table{trace}, Manifest: run.Manifest{Version: run.Version, Kind: kind.Refs, Format: "refs"}}
	if err := r.Write(t.Context(), folder, false); err != nil {
		t.Fatal(err)
	}
	open := func() (*Server, string) {
		added, err := NewLoader(dataset.Options{}).Open(t.Context(), folder, func(frame.Progress) {})
		if err != nil {
			t.Fatal(err)
		}
		s := newTestServer(t, nil)
		s.Add(added)
		return s, "/api/v1/runs/" + added.ID + "/locality"
	}
	type answers struct {
		page   references.LocalityAnswer
		whatIf answer.WhatIf
		reuse  answer.Reuse
	}
	ask := func(s *Server, path string) answers {
		page := post[references.LocalityAnswer](t, s, path, references.LocalityAsk{Stack: "object", Where: "tid = 2"})
		page.Took = 0
		return answers{page,
			post[answer.WhatIf](t, s, path+"/whatif", references.WhatIfAsk{}),
			post[answer.Reuse](t, s, path+"/reuse", references.ReuseAsk{})}
	}
	alone := ask(open())
	if alone.page.Now.Selected != 10_000 || alone.reuse.References != 20_000 {
		t.Fatalf("%d references selected, want 10000; reuse of %d, want 20000", alone.page.Now.Selected, alone.reuse.References)
	}
	s, path := open()
	got := make([]answers, 4)
	var asking sync.WaitGroup
	for i := range got {
		asking.Go(func() { got[i] = ask(s, path) })
	}
	asking.Wait()
	for i := range got {
		if !reflect.DeepEqual(got[i], alone) {
			t.Errorf("page %d of four: %+v, alone %+v", i, got[i], alone)
		}
	}
}

// TestLocalityDemo holds that the demo is worth improving, and that the page
// counts what the verbs count.
func TestLocalityDemo(t *testing.T) {
	test.NoRaces(t, askedAtOnce)
	if testing.Short() {
		t.Skip("-short: " + askedAtOnce)
	}
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

// TestOneSelectionOfReferences holds that a loop, a field, an object, a line and a
// thread are the same references on the pages of locality and of cycles.
func TestOneSelectionOfReferences(t *testing.T) {
	test.NoRaces(t, askedAtOnce)
	if testing.Short() {
		t.Skip("-short: " + askedAtOnce)
	}
	runs, err := NewLoader(dataset.Options{}).DemoLocality(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := newTestServer(t, nil)
	s.Add(runs[0])
	path := "/api/v1/runs/" + runs[0].ID
	loops := post[references.LoopsInfo](t, s, path+"/loops", references.LoopsAsk{})
	all := post[references.LocalityAnswer](t, s, path+"/locality", references.LocalityAsk{Stack: "none", Loops: true})
	want := map[string]uint64{}
	for _, l := range loops.Loops {
		if l.Kind == "loop" { // of a recursion other things are counted
			want[`rows "loop `+l.Name+`"`] = l.References
		}
	}
	if len(want) < 3 || len(all.Loops) < 3 {
		t.Fatalf("%d loops, %d rows of them", len(want), len(all.Loops))
	}
	for _, f := range all.Now.Fields {
		if f.Field != "" {
			want[`rows "field `+f.Object+"."+f.Field+`"`] = f.References
		}
	}
	for _, o := range all.Now.Objects {
		if o.Object != "" && o.Object[0] != '(' {
			want[`symbol = "`+o.Object+`"`] = o.References
		}
	}
	for _, r := range all.ByThread {
		want[fmt.Sprintf("tid = %d", r.Thread)] = r.References
	}
	want[`order in 1000..1999`] = 1000
	for where, n := range want {
		a := post[references.LocalityAnswer](t, s, path+"/locality", references.LocalityAsk{Stack: "none", Where: where})
		if a.Now.Selected != n {
			t.Errorf("locality, %s: %d references, want %d", where, a.Now.Selected, n)
		}
		head := spiralOf(t, s, path, where)
		if head.Unknown != "" || uint64(head.Selected) != n {
			t.Errorf("cycles, %s: %d references (%s), want %d", where, head.Selected, head.Unknown, n)
		}
	}
	head := spiralOf(t, s, path, `rows "loop none"`)
	if !strings.Contains(head.Unknown, `no loop is called "none"`) || uint64(head.Selected) != all.Now.References {
		t.Errorf("a loop that is none: %d selected, %q", head.Selected, head.Unknown)
	}
}

// spiralOf draws the first class of a run with some references selected.
func spiralOf(t *testing.T, s *Server, path, where string) (head references.SpiralAnswer) {
	t.Helper()
	class := references.ClassAsk{CyclesAsk: references.CyclesAsk{Thread: -1}, Other: -1, Where: where}
	postColumns(t, s, path+"/cycles/spiral", references.SpiralAsk{ClassAsk: class, Radii: 100, Angles: 360, Columns: 100}, &head)
	return head
}

// TestPairedRows holds that rows of two runs are paired across an edit: lines by
// their text, a function that was renamed by its body, fields by their object.
func TestPairedRows(t *testing.T) {
	s := newTestServer(t, nil)
	var ids []string
	var edited *frame.Run
	for i := range 2 {
		runs, err := NewLoader(dataset.Options{}).DemoCycles(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		runs[0].ID += fmt.Sprint(i)
		s.Add(runs[0])
		ids, edited = append(ids, runs[0].ID), runs[0]
	}
	before := post[references.LocalityAnswer](t, s, "/api/v1/runs/"+ids[0]+"/locality", references.LocalityAsk{Stack: "object"})
	var a, b []references.PlaceKey
	file, removed := before.Now.Places[0].File, before.Now.Places[0].Line
	for _, p := range before.Now.Places {
		a = append(a, references.PlaceKey{File: p.File, Line: p.Line})
		switch {
		case p.Line < removed:
			b = append(b, references.PlaceKey{File: p.File, Line: p.Line + 2})
		case p.Line > removed:
			b = append(b, references.PlaceKey{File: p.File, Line: p.Line + 1})
		}
	}
	renamed := before.Now.Functions[0].Function
	a = append(a, references.PlaceKey{Function: renamed}, references.PlaceKey{Object: "p", Other: "x"}, references.PlaceKey{Object: "p", Other: "y"})
	b = append(b, references.PlaceKey{Function: "another"}, references.PlaceKey{Object: "p", Other: "x"})

	text := edited.SourceLines(file)
	lines := slices.Delete(slices.Clone(text), removed-1, removed)
	edited.Texts = map[string][]byte{file: []byte("/* more */\n/* lines */\n" + strings.ReplaceAll(strings.Join(lines, "\n"), renamed+"(", "another("))}
	got := post[references.Paired](t, s, "/api/v1/runs/"+ids[1]+"/locality/paired", references.PairedAsk{Before: ids[0], A: a, B: b})
	at := 0
	for i, k := range a {
		want := at
		if k.Line == removed || k.Other == "y" {
			want = -1
		} else {
			at++
		}
		if k.Line > 0 && strings.TrimSpace(text[k.Line-1]) == "}" {
			continue // nothing to be known by
		}
		if got.Rows[i] != want {
			t.Errorf("%+v is row %d, want %d", k, got.Rows[i], want)
		}
	}
	if len(got.Unmatched) > 0 {
		t.Errorf("lines of %v were compared by number", got.Unmatched)
	}
}
