package clickhouse

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/isobath/isobath/internal/engine/clickhouse/clickhousetest"
	"github.com/isobath/isobath/internal/engine/kernel"
	"github.com/isobath/isobath/internal/engine/query"
	"github.com/isobath/isobath/internal/engine/query/enginetest"
)

// TestOlderSchema opens a run as the first schema kept it, every column in the type of
// its values. It is that run: importing it again changes nothing.
func TestOlderSchema(t *testing.T) {
	s := dial(t, clickhousetest.Start(t, 2)[0].Address(""))
	r := rand.New(rand.NewPCG(21, 22))
	d := enginetest.Data(r, 3000)
	want := kernel.New(d, kernel.Options{})
	defer want.Close()
	if err := s.createRuns(t.Context()); err != nil {
		t.Fatal(err)
	}
	older, err := s.newDocument(t.Context(), "run", contents(d))
	if err != nil {
		t.Fatal(err)
	}
	older.Schema = 1
	if err := s.fill(t.Context(), older, contents(d), Import{BlockRows: 100}); err != nil {
		t.Fatal(err)
	}
	if stored, err := s.Store(t.Context(), "run", contents(d), Import{}); stored || err != nil {
		t.Errorf("the same run again: stored %v, %v", stored, err)
	}
	o, err := s.open(t.Context(), "run")
	if err != nil {
		t.Fatal(err)
	}
	defer o.Run.Close()
	if o.Engine.document.Schema != 1 || o.Engine.document.Stored != nil {
		t.Fatalf("schema %d, narrow columns %v", o.Engine.document.Schema, o.Engine.document.Stored)
	}
	o.Engine.data.Placing, o.Engine.data.RowSets = d.Placing, d.RowSets
	for range 30 {
		enginetest.Check(t, t.Context(), d, enginetest.Request(r, d), want, o.Engine)
	}
	wantFirsts, err := query.Distant(o.Engine).Firsts(t.Context(), "line", "level")
	if err != nil {
		t.Fatal(err)
	}
	e := stored(t, s, "now", d)
	gotFirsts, err := e.Firsts(t.Context(), "line", "level")
	if err != nil {
		t.Fatal(err)
	}
	order := func(a, b query.First) int { return a.Row - b.Row }
	slices.SortFunc(wantFirsts, order)
	slices.SortFunc(gotFirsts, order)
	if len(gotFirsts) == 0 || !slices.EqualFunc(gotFirsts, wantFirsts, func(a, b query.First) bool { return a.Row == b.Row && slices.Equal(a.Keys, b.Keys) }) {
		t.Errorf("first rows of the one %v, of the other %v", gotFirsts, wantFirsts)
	}
}

// TestNarrowColumns: what is stored of a column has room for its values and no more.
func TestNarrowColumns(t *testing.T) {
	s := dial(t, "clickhouse://"+clickhousetest.Start(t, 1)[0].Host()+"/default")
	d := enginetest.Data(rand.New(rand.NewPCG(23, 24)), 2000)
	e := stored(t, s, "run", d)
	got := map[string]string{}
	for i := range e.document.Columns {
		f := &e.document.Columns[i]
		if f.stored != "" {
			got[f.Name] = f.stored
		}
	}
	want := map[string]string{
		"time": "UInt32", "cpu": "UInt8", "latency": "UInt16", "line": "UInt16", "same": "UInt8", "void": "UInt8",
		"level": "UInt8", "symbol": "UInt16", "unused": "UInt8",
	}
	if !maps.Equal(got, want) || e.document.Stored[placeColumn] != "UInt8" {
		t.Errorf("narrow columns: %v, places %q; want %v", got, e.document.Stored[placeColumn], want)
	}
	if d := (&document{Schema: 2, Run: "run", Attempt: "a", Shards: 1, Stored: map[string]string{"c0": "String) x"}}); d.check() == nil {
		t.Error("a type that is none was taken")
	}
}

// Rows without a value are 0 on the server whatever the memory holds, since sums are of
// all rows.
func TestAbsentAreZero(t *testing.T) {
	values, present := []int32{9, 7, 8, 300, 5}, []uint8{1, 0, 1}
	parts := [][2]int{{0, 2}, {4, 5}}
	for stored, want := range map[string][]byte{
		"":       {9, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0},
		"UInt8":  {9, 0, 5},
		"UInt16": {9, 0, 0, 0, 5, 0},
	} {
		got := valuesIn(values, "Int32", stored, parts, 3, present).(raw)
		if !slices.Equal(slices.Concat(got.parts...), want) || got.kind == "" {
			t.Errorf("as %q: %v, want %v", stored, got, want)
		}
	}
	if got := valuesIn(values, "Int32", "", parts, 3, []uint8{1, 1, 1}).(raw); len(got.parts) != 2 {
		t.Errorf("rows that all have values were copied: %v", got)
	}
}
