package refset

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/app/demo"
	"github.com/isobath/isobath/internal/base/test"
	"github.com/isobath/isobath/internal/data/kind"
	"github.com/isobath/isobath/internal/data/refs"
	"github.com/isobath/isobath/internal/data/refs/reftable"
	"github.com/isobath/isobath/internal/data/run"
	"github.com/isobath/isobath/internal/data/table"
	"github.com/isobath/isobath/internal/locality/answer"
	"github.com/isobath/isobath/internal/locality/layout"
)

// TestExampleHasItsTypes: the unpacked example has the objects and fields that its
// page has.
func TestExampleHasItsTypes(t *testing.T) {
	test.NoRaces(t, "reads two million references in one goroutine")
	path, err := demo.Unpack(t.Context(), "locality", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	src, err := demo.Particles.Open()
	if err != nil {
		t.Fatal(err)
	}
	objects, err := demo.Particles.Objects()
	if err != nil {
		t.Fatal(err)
	}
	fields := func(s *Set, err error) map[string]uint64 {
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		found, _, err := s.Reuse(t.Context(), ReuseAsk{By: string(answer.ByField), Machine: demo.Particles.Machine})
		if err != nil {
			t.Fatal(err)
		}
		of := map[string]uint64{}
		for _, g := range found.Groups {
			of[g.Key.String()] = g.References
		}
		return of
	}
	want := fields(Known(src, objects, demo.Particles.Machine, nil), nil)
	if got := fields(Open(t.Context(), path, Options{})); len(want) < 8 || !maps.Equal(got, want) {
		t.Errorf("references by field %v, the page has %v", got, want)
	}
	all := uint64(0)
	for name, n := range want {
		if strings.HasPrefix(name, "p.") {
			all += n
		}
	}
	chosen := uint64(0)
	for _, n := range fields(Open(t.Context(), path, Options{Where: "symbol = p"})) {
		chosen += n
	}
	if chosen != all || all == 0 {
		t.Errorf("%d references are to p, its fields have %d", chosen, all)
	}
}

// TestTypesTravel: the fields of objects are known from what a run keeps, also of a
// copy of it and where the user says more; types that cannot be read cost their
// fields, and are a note.
func TestTypesTravel(t *testing.T) {
	objects := []refs.Object{{}, {Name: "cells", Start: 0x4000}}
	rows, err := reftable.New([]refs.Ref{{Addr: 0x4000, Size: 8, PC: 0x400, Object: 1}, {Addr: 0x4048, Size: 8, PC: 0x404, Object: 1}}, nil, objects, refs.HasPC|refs.HasObject)
	if err != nil {
		t.Fatal(err)
	}
	fields := []layout.Field{{Name: "x", Size: 8, Type: "double"}, {Name: "tag", Offset: 8, Size: 4, Type: "int"}}
	types, err := layout.Keep([]layout.Object{{Name: "cells", Start: 0x4000, Size: 6400, Sized: true, Elem: 64, Type: "cell[100]", Known: layout.ByType, Fields: fields}})
	if err != nil {
		t.Fatal(err)
	}
	write := func(types []byte) string {
		path := filepath.Join(t.TempDir(), "a.isobath")
		r := &run.Run{Types: types, Contents: []*table.Table{rows}, Manifest: run.Manifest{Version: run.Version, Kind: kind.Refs, Format: "step"}}
		if err := r.Write(t.Context(), path, false); err != nil {
			t.Fatal(err)
		}
		return path
	}
	first := write(types)
	r, err := run.Open(first)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	copied := filepath.Join(t.TempDir(), "b.isobath")
	if err := r.Write(t.Context(), copied, false); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		path, note string
		fields     []string
	}{
		"kept": {first, "", []string{"tag", "x"}}, "copied": {copied, "", []string{"tag", "x"}},
		"none": {write(nil), "", []string{""}}, "damaged": {write([]byte("{")), "types of objects that the run keeps cannot be read", []string{""}},
	} {
		s, err := Open(t.Context(), tt.path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		found, _, err := s.Reuse(t.Context(), ReuseAsk{By: string(answer.ByField), Machine: "classic"})
		s.Close()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, g := range found.Groups {
			got = append(got, g.Key.Field)
		}
		slices.Sort(got)
		if said := strings.Join(found.Notes, "\n"); !slices.Equal(got, tt.fields) || !strings.Contains(said, tt.note) || tt.note == "" && strings.Contains(said, "types") {
			t.Errorf("%s: fields %q, want %q; notes %q", name, got, tt.fields, said)
		}
	}
}
