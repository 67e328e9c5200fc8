package main

import (
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
