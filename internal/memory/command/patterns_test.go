package command

import (
	"slices"
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/table"
)

// What names begin with, end in, contain or lack is selected, and a part of a name that
// none has is said to be in none.
func TestPartsOfNames(t *testing.T) {
	valid := table.NewBits(5)
	for _, row := range []int{0, 1, 2, 3} {
		valid.Set(row)
	}
	tab, err := table.New("samples", []*table.Column{
		table.Ints("latency", "cycles", table.Measured, []int64{4, 40, 400, 4, 9}, nil),
		table.Categories("symbol", table.Derived, []uint32{0, 1, 2, 0, 0}, []string{"grid_new", "grid_old", "halo"}, valid),
		table.Categories("function", table.Derived, []uint32{0, 1, 1, 0, 0}, []string{"sweep", "exchange_halo"}, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	s := searcher(t, tab)
	s.catalogue = NewCatalogue(tab, nil)
	for text, rows := range map[string]int{
		"objects that start with grid": 3, "symbols starting with GRID": 3, "names ending in old": 1, "functions containing halo": 2, "containing halo": 1,
		"samples without a symbol": 1, "unknown object": 1, "not symbols starting with grid": 2, "latency over 5 without a symbol": 1,
	} {
		list, err := s.Search(t.Context(), text, shown)
		if err != nil {
			t.Fatal(err)
		}
		if first := list[0]; first.Samples == nil || *first.Samples != rows || !first.Selects {
			t.Errorf("%q: first is %q where %s, want one that selects %d samples", text, first.Text, first.Where, rows)
		}
	}
	for text, why := range map[string]string{"symbols starting with zz": "no symbol starting with zz", "samples without a function": "every sample has a value of the column function"} {
		list, err := s.Search(t.Context(), text, shown)
		if err != nil {
			t.Fatal(err)
		}
		if first := list[0]; !strings.Contains(first.Missing, why) {
			t.Errorf("%q: first is %q (%s), want %q", text, first.Text, first.Missing, why)
		}
	}
}

// Several axes are added at once, those that are there left as they are.
func TestSeveralAxes(t *testing.T) {
	s := luleshSearcher(t)
	for _, tt := range []struct {
		shown []string
		want  Action
		axes  []string
	}{
		{nil, Show, []string{"time", "cpu"}},
		{[]string{"time"}, Show, []string{"cpu"}},
		{[]string{"cpu", "latency", "time"}, Correlate, []string{"time", "cpu"}},
	} {
		list, err := s.Search(t.Context(), "show time and cpu", Context{Shown: tt.shown})
		if err != nil {
			t.Fatal(err)
		}
		if first := list[0]; first.Action != tt.want || !slices.Equal(first.Axes, tt.axes) {
			t.Errorf("with %v shown: %s of %v, want %s of %v", tt.shown, first.Action, first.Axes, tt.want, tt.axes)
		}
	}
}
