package command

import (
	"strings"
	"testing"

	"github.com/isobath/isobath/internal/data/table"
)

// What a table of another tool does not have is said, whatever else resembles the
// words.
func TestSearchWithoutCPU(t *testing.T) {
	tab, err := table.New("samples", []*table.Column{
		table.Ints("latency", "cycles", table.Unknown, []int64{4, 40, 400, 4}, nil),
		table.Categories("level", table.Unknown, []uint32{0, 1, 2, 0}, []string{"L1", "L3", "Local RAM"}, nil),
		table.Categories("symbol", table.Unknown, []uint32{0, 1, 1, 0}, []string{"grid", "weights"}, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	s := searcher(t, tab)
	s.catalogue = NewCatalogue(tab, nil)
	for text, why := range map[string]string{
		"cpu 0": "no column cpu", "slowest cpu": "no column cpu", "socket 1": "no topology", "thread 1": "no column tid", "numa node 0": "no topology",
		"core 3": "no topology", "line 20-30": "no column line", "hottest function": "no column function", "grid cpu 3": "no column cpu", "odd cpus": "no column cpu", "unusual threads": "no column tid",
	} {
		list, err := s.Search(t.Context(), text, shown)
		if err != nil {
			t.Fatal(err)
		}
		if first := list[0]; !strings.Contains(first.Missing, why) || first.Selects {
			t.Errorf("%q: first is %q (%s), want %q", text, first.Text, first.Missing, why)
		}
	}
	for text, want := range map[string]is{"weights": selects("symbol = weights"), "latencies over 100": selects("latency > 100"), "hottest objekt": selects("symbol = weights")} {
		if p := position(s, t, text, want); p != 1 {
			t.Errorf("%q: position %d in %q", text, p, texts(s, t, text))
		}
	}
}
