package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/loops/tree"
)

func TestTripsText(t *testing.T) {
	tests := []struct {
		trips tree.Trips
		exact bool
		want  string
	}{
		{tree.Trips{Entries: 1, Trips: 1}, true, "1 trip in 1 entry"},
		{tree.Trips{Entries: 2, Trips: 12000}, false, "≈ 12 000 trips in 2 entries"},
		{tree.Trips{Trips: 1, Unknown: tree.Unknown{Entries: true}}, false, "≈ 1 trip, entries are not known"},
		{tree.Trips{Entries: 3, Unknown: tree.Unknown{Trips: true}}, false, "trips are not known, ≈ 3 entries"},
		{tree.Trips{Unknown: tree.Unknown{Entries: true, Trips: true}}, false, "trips and entries are not known"},
	}
	for _, tt := range tests {
		if got := tripsText(&tree.Loop{Trips: tt.trips, Exact: tt.exact}); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// TestTripsOfACutRecording: loops that were under way when it ended have least numbers.
func TestTripsOfACutRecording(t *testing.T) {
	l := &tree.Loop{Kind: tree.Plain, Factor: 1, AtLeast: true, Why: "the recording ended", Trips: tree.Trips{Entries: 2, Trips: 57, Unknown: tree.Unknown{Spread: true}}}
	if got, want := tripsText(l), "at least 57 trips in 2 entries"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := aboutLoop(l, true), []string{"the recording ended"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestAboutLoop: what the compiler made of a loop, where it is left and why a count is
// not certain stand below it.
func TestAboutLoop(t *testing.T) {
	l := &tree.Loop{Kind: tree.Plain, Factor: 4, Irreducible: true, Why: "turns were left out", Exits: []tree.Exit{{Line: 14, Times: 12}, {Line: 12, Condition: true, Times: 1}}}
	want := []string{"left 12 times at line 14, 1 time by its condition", "one turn of the code makes up to 4 turns of the text", "it is entered at more than one place", "≈ turns were left out"}
	if got := aboutLoop(l, true); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := aboutLoop(l, false); !slices.Equal(got, want[:3]) { // said once of all
		t.Errorf("%q, want %q", got, want[:3])
	}
	l = &tree.Loop{Kind: tree.Plain, Factor: 1, Exact: true, Exits: l.Exits[1:]}
	if got := aboutLoop(l, true); got != nil {
		t.Errorf("%q of a plain loop that its condition ends", got)
	}
	l.References, l.Loads, l.Modifies, l.Stores, l.Bytes, l.Lines = 8, 5, 1, 2, 64, 1
	if got, want := costText(l), "8 references (75.0 % loads), 64 bytes, ≈ 1 line"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestLoopPairs: loops of two traces, with the misses of both on one machine.
func TestLoopPairs(t *testing.T) {
	before, after := nestedCSV(t, 9, 7, 1), nestedCSV(t, 4, 5, 1)
	text, err := isobath(t, "loops", before, after, "--machine", "skylake")
	if err != nil {
		t.Fatal(err)
	}
	out, err := isobath(t, "loops", before, after, "--machine", "skylake", "--json")
	if err != nil {
		t.Fatal(err)
	}
	type side struct {
		Trips  uint64
		Misses []uint64
	}
	var doc struct {
		Machine map[string]any
		Pairs   []struct{ Before, After *side }
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Machine) == 0 || len(doc.Pairs) == 0 {
		t.Fatalf("%d pairs on %v", len(doc.Pairs), doc.Machine)
	}
	for _, p := range doc.Pairs {
		if p.Before == nil || p.After == nil || p.Before.Trips <= p.After.Trips || len(p.Before.Misses) < 2 || p.Before.Misses[0] == 0 {
			t.Errorf("before %+v, after %+v", p.Before, p.After)
		}
		for _, of := range []*side{p.Before, p.After} {
			if want := fmt.Sprintf("misses, modelled: L1 %d", of.Misses[0]); !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
	}
}
