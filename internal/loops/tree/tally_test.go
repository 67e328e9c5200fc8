package tree

import "testing"

// Estimates come from different places, and are taken back where one contradicts
// another: a loop that turned was entered.
func TestTripsAgree(t *testing.T) {
	tests := []struct {
		name       string
		trips      Trips
		references uint64
		want       Trips
	}{
		{"agree", Trips{Entries: 2, Trips: 7, Min: 3, Median: 3, Max: 4}, 9, Trips{Entries: 2, Trips: 7, Min: 3, Median: 3, Max: 4}},
		{"turns without entries", Trips{Trips: 1}, 4, Trips{Trips: 1, Unknown: Unknown{Entries: true, Spread: true}}},
		{"references without turns", Trips{Entries: 3, Skipped: 3}, 11, Trips{Entries: 3, Unknown: Unknown{Trips: true, Spread: true}}},
		{"references alone", Trips{}, 11, Trips{Unknown: Unknown{Entries: true, Trips: true, Spread: true}}},
		{"entries without turns", Trips{Entries: 37, Skipped: 37}, 0, Trips{Entries: 37, Unknown: Unknown{Trips: true, Spread: true}}},
		{"nothing", Trips{}, 0, Trips{}},
		{"too many at least", Trips{Entries: 5, Trips: 12, Min: 4, Median: 4, Max: 4}, 1, Trips{Entries: 5, Trips: 12, Unknown: Unknown{Spread: true}}},
		{"too few at most", Trips{Entries: 3, Trips: 5, Min: 1, Median: 1, Max: 1}, 1, Trips{Entries: 3, Trips: 5, Unknown: Unknown{Spread: true}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.trips.agree(tt.references); tt.trips != tt.want {
				t.Errorf("%+v, want %+v", tt.trips, tt.want)
			}
		})
	}
}
